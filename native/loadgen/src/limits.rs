//! What a peer may make loadgen hold, read or wait for. The Python side is core/limits.py; both: docs/child-contract.md.

/// Heads of all kinds: one that is longer is no head.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// Interim responses (1xx) before the one that answers.
pub const MAX_INTERIM: u32 = 16;
/// Bytes of one chunk's size line with its extensions, and of all trailers together.
pub const MAX_CHUNK_LINE_BYTES: u32 = 16 * 1024;
/// A body that is only counted.
pub const MAX_BODY_BYTES: u64 = 1 << 30;
/// A body that is kept because a count has to be found in it, in a frame or by HTTP.
pub const MAX_KEPT_BYTES: u64 = 1 << 20;
/// A body by HTTP/2, which is held until it is whole.
pub const MAX_HTTP2_BODY_BYTES: usize = 32 << 20;
/// Headers of a request or a response.
pub const MAX_HEADERS: usize = 96;
/// Reads of one connection in a row, each of up to 256 KiB: then the others, the deadlines and the signals have their turn.
pub const MAX_READS_AT_ONCE: u32 = 8;

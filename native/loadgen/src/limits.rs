//! What a peer may make loadgen hold, read or wait for. A test holds these numbers and the table in
//! docs/child-contract.md to core/wire.py, where each limit is explained.

pub const MAX_HEAD_BYTES: usize = 64 << 10;
pub const MAX_HEADERS: usize = 96;
pub const MAX_INTERIM: u32 = 16;
pub const MAX_CHUNK_LINE_BYTES: u32 = 16 << 10;
pub const MAX_FRAMING_BYTES: u64 = 8 << 20;
pub const MAX_ANSWER_BYTES: u64 = 1 << 20;
pub const MAX_BODY_BYTES: u64 = 32 << 20;
pub const MAX_ROUTES: usize = 256;
/// Only here: a body that loadgen counts, for others than a user's service.
pub const MAX_COUNTED_BYTES: u64 = 1 << 30;
/// Only here: reads of one connection in a row, each of up to 256 KiB. Then others, deadlines and signals have their turn.
pub const MAX_READS_AT_ONCE: u32 = 8;

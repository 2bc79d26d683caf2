//! Event loops for native servers, without a runtime: each thread has its own epoll and its own connections.
//!
//! A server is a `Protocol`, which turns bytes into bytes, and `Settings`. Nothing here ever blocks on a peer: one
//! that stops in the middle, does not read, or says nothing costs a connection and nothing else.

mod accepting;
mod connection;
mod counters;
mod deadlines;
mod epoll;
mod protocol;
mod server;
mod serving;
mod shared;
mod worker;

pub use protocol::{Fed, Protocol, Then};
pub use server::Server;
pub use shared::Settings;

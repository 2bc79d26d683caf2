//! Sockets, connections, and a timer for the event loop.

pub mod connection;
pub mod http2;
pub mod socket;
pub mod timer;
pub mod tls;

//! Sockets, connections, and a timer for the event loop.

pub mod connection;
pub mod socket;
pub mod timer;
pub mod tls;

//! What all threads of a server see, and what the tokens of their epolls mean.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use contract::SocketOptions;
use socket2::Socket;

use crate::counters::Counters;
use crate::epoll::Epoll;

/// Marks the token of a listening socket; the rest is its number. Other tokens: its number << 32 | file descriptor.
pub const LISTENER: u64 = 1 << 63;

/// The token of a connection that came in by a listening socket.
pub fn token(fd: RawFd, listener: usize) -> u64 {
    (listener as u64) << 32 | fd as u64
}

/// How connections are kept.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub threads: usize,
    /// Connections held at once, none for no limit; one more is refused and closed.
    pub max_conns: Option<usize>,
    /// A peer must have sent its first request whole within this; 0 for no deadline.
    pub read_deadline_ns: u64,
    /// Whether connections stay: then they are dealt out to the threads in turn. Those of one request are served by
    /// the thread that accepts them.
    pub connections_stay: bool,
    pub sockets: SocketOptions,
}

/// What all threads see.
pub struct Shared<P> {
    pub protocol: P,
    pub settings: Settings,
    pub listeners: Vec<Socket>,
    pub epolls: Vec<Epoll>,
    pub counters: Vec<Counters>,
    pub held: AtomicUsize,
    pub dealt: AtomicUsize,
}

impl<P> Shared<P> {
    /// Take a place for a connection if there is one.
    pub fn admit(&self) -> bool {
        let limit = self.settings.max_conns.unwrap_or(usize::MAX);
        let taken = self
            .held
            .fetch_update(SeqCst, SeqCst, |held| (held < limit).then_some(held + 1));
        taken.is_ok()
    }

    /// Give the place back.
    pub fn release(&self) {
        self.held.fetch_sub(1, SeqCst);
    }
}

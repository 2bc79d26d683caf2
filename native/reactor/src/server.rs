//! A server: its listening sockets, its threads, and what they share.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use contract::SocketOptions;
use socket2::Socket;

use crate::counters::Counters;
use crate::epoll::{Epoll, READ_BY_ONE};
use crate::protocol::Protocol;
use crate::worker::{LISTENER, Worker};

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

/// A server that runs until the process ends.
pub struct Server<P>(Arc<Shared<P>>);

impl<P: Protocol> Server<P> {
    /// Start the threads on sockets that listen already.
    pub fn start(protocol: P, settings: Settings, listeners: Vec<Socket>) -> io::Result<Self> {
        let threads = settings.threads.max(1);
        let epolls = (0..threads)
            .map(|_| Epoll::new())
            .collect::<io::Result<Vec<_>>>()?;
        for epoll in &epolls {
            for (number, listener) in listeners.iter().enumerate() {
                epoll.add(listener.as_raw_fd(), READ_BY_ONE, LISTENER | number as u64)?;
            }
        }
        let counters = (0..threads).map(|_| Counters::new(listeners.len())).collect();
        let shared = Arc::new(Shared {
            protocol,
            settings,
            listeners,
            epolls,
            counters,
            held: AtomicUsize::new(0),
            dealt: AtomicUsize::new(0),
        });
        for number in 0..threads {
            let worker = Worker::new(Arc::clone(&shared), number);
            thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn(move || worker.run())?;
        }
        Ok(Self(shared))
    }

    /// Count from nought.
    pub fn reset(&self) {
        self.0.counters.iter().for_each(Counters::reset);
    }

    /// Requests answered, by thread.
    pub fn requests_by_worker(&self) -> Vec<u64> {
        self.0.counters.iter().map(Counters::total).collect()
    }

    /// Requests answered, by listening socket.
    pub fn requests_by_socket(&self) -> Vec<u64> {
        let answered = |socket| self.0.counters.iter().map(|one| one.socket(socket)).sum();
        (0..self.0.listeners.len()).map(answered).collect()
    }
}

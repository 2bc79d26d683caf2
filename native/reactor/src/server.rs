//! A server: its listening sockets and its threads.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::thread;

use contract::Counted;
use serde_json::{Map, Value, json};
use socket2::Socket;

use crate::counters::Counters;
use crate::epoll::{Epoll, READ_BY_ONE};
use crate::protocol::Protocol;
use crate::serving::Serving;
use crate::shared::{LISTENER, Settings, Shared};
use crate::worker;

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
            let serving = Serving::new(Arc::clone(&shared), number);
            thread::Builder::new()
                .name(format!("worker {number}"))
                .spawn(move || worker::run(serving))?;
        }
        Ok(Self(shared))
    }
}

impl<P: Protocol> Counted for Server<P> {
    fn reset(&self) {
        self.0.counters.iter().for_each(Counters::reset);
    }

    fn counters(&self) -> Map<String, Value> {
        let counters = &self.0.counters;
        let by_worker: Vec<u64> = counters.iter().map(Counters::total).collect();
        let of_socket = |socket| counters.iter().map(|thread| thread.socket(socket)).sum();
        let by_socket: Vec<u64> = (0..self.0.listeners.len()).map(of_socket).collect();
        Map::from_iter([
            ("requests".to_owned(), json!(by_worker.iter().sum::<u64>())),
            ("requests_by_worker".to_owned(), json!(by_worker)),
            ("requests_by_socket".to_owned(), json!(by_socket)),
        ])
    }
}

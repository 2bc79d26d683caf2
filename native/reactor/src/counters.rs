//! What the threads have answered. Each writes its own, others read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One thread's. On cache lines of its own: nobody else's writes slow it down.
#[repr(align(128))]
pub struct Counters {
    by_socket: Vec<AtomicU64>,
}

impl Counters {
    pub fn new(sockets: usize) -> Self {
        Self {
            by_socket: (0..sockets).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Only the thread itself calls this: there is one writer, so no locked instruction is needed.
    pub fn add(&self, socket: usize, answered: u64) {
        let count = &self.by_socket[socket];
        count.store(count.load(Relaxed) + answered, Relaxed);
    }

    /// Start again at 0. No request is in flight.
    pub fn reset(&self) {
        self.by_socket.iter().for_each(|count| count.store(0, Relaxed));
    }

    /// Answered on one listening socket.
    pub fn socket(&self, socket: usize) -> u64 {
        self.by_socket[socket].load(Relaxed)
    }

    /// Answered in all.
    pub fn total(&self) -> u64 {
        self.by_socket.iter().map(|count| count.load(Relaxed)).sum()
    }
}

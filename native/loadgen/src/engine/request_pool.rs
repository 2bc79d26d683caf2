//! A number of requests that all threads share: whichever has a free user sends the next one.

use std::sync::atomic::{AtomicU64, Ordering};

/// Requests that no user owns; threads take them in batches.
pub struct RequestPool {
    left: AtomicU64,
    batch: u64,
}

impl RequestPool {
    /// Batches are small enough that all threads end together.
    pub fn new(requests: u64, threads: usize) -> Self {
        let batch = (requests / (threads as u64 * 200)).clamp(1, 256);
        Self {
            left: AtomicU64::new(requests),
            batch,
        }
    }

    /// How many there are left.
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }

    /// Take a batch; 0 when nothing is left.
    pub fn take(&self) -> u64 {
        let taken = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                Some(left - left.min(self.batch))
            })
            .unwrap_or(0);
        taken.min(self.batch)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestPool;

    #[test]
    fn a_pool_gives_out_what_is_in_it_and_no_more() {
        let pool = RequestPool::new(1_001, 2);
        let taken: u64 = std::iter::from_fn(|| Some(pool.take()).filter(|batch| *batch > 0)).sum();
        assert_eq!((taken, pool.take()), (1_001, 0));
    }
}

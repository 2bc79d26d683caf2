//! A lane: requests one after the other, over one connection or over one of several that is picked each time.

use std::sync::atomic::{AtomicU64, Ordering};

use socket2::SockAddr;

/// What a lane is made of.
#[derive(Debug, Clone)]
pub struct LaneSpec {
    /// It has a connection to each; each request goes to one that is picked at random.
    pub addresses: Vec<SockAddr>,
    /// Its place among the `of` lanes that divide a number of requests among themselves.
    pub rank: u64,
    pub of: u64,
    pub seed: u64,
}

impl LaneSpec {
    /// Its share of the requests; the first ones take the remainder.
    pub fn share(&self, requests: u64) -> u64 {
        requests / self.of + u64::from(self.rank < requests % self.of)
    }
}

/// A lane while it runs.
pub struct Lane {
    pub spec: LaneSpec,
    /// Number of its first connection; the others follow.
    pub first: usize,
    /// Requests that it has sent in this phase, and that it may still send (u64::MAX: as many as there is time for).
    pub asked: u64,
    pub left: u64,
    /// When it is to stop, ns on the monotonic clock.
    pub until_ns: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Whether it has neither ended nor still to begin.
    pub active: bool,
    random: u64,
}

impl Lane {
    /// One that has not begun.
    pub fn new(spec: LaneSpec, first: usize) -> Self {
        let random = spec.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Self {
            spec,
            first,
            asked: 0,
            left: 0,
            until_ns: u64::MAX,
            failures: 0,
            active: false,
            random,
        }
    }

    /// The connection for the next request, each as likely as the others.
    ///
    /// Source: xorshift64*, S. Vigna, An experimental exploration of Marsaglia's xorshift generators.
    #[inline]
    pub fn pick(&mut self) -> usize {
        let connections = self.spec.addresses.len();
        if connections == 1 {
            return self.first;
        }
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        let high = self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        self.first + ((high * connections as u64) >> 32) as usize
    }
}

/// Requests that belong to whoever asks next; threads take them in batches.
pub struct Pool {
    left: AtomicU64,
    batch: u64,
}

impl Pool {
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
    use super::{Lane, LaneSpec, Pool};
    use crate::target::Target;

    fn spec(addresses: usize, rank: u64, of: u64) -> LaneSpec {
        let address = Target::from_address("127.0.0.1:1").unwrap().address;
        LaneSpec {
            addresses: vec![address; addresses],
            rank,
            of,
            seed: 5,
        }
    }

    #[test]
    fn the_first_lanes_take_the_remainder() {
        let shares: Vec<u64> = (0..3).map(|rank| spec(1, rank, 3).share(11)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }

    #[test]
    fn each_connection_is_picked_about_as_often() {
        let mut lane = Lane::new(spec(4, 0, 1), 10);
        let mut picked = [0; 4];
        (0..40_000).for_each(|_| picked[lane.pick() - 10] += 1);
        assert!(
            picked.iter().all(|number| (9_500..10_500).contains(number)),
            "{picked:?}"
        );
    }

    #[test]
    fn a_pool_gives_out_what_is_in_it_and_no_more() {
        let pool = Pool::new(1_001, 2);
        let taken: u64 = std::iter::from_fn(|| Some(pool.take()).filter(|batch| *batch > 0)).sum();
        assert_eq!((taken, pool.take()), (1_001, 0));
    }
}

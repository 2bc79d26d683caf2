//! Until when file descriptors wait: for a peer, or for a second look.

use std::collections::BTreeSet;
use std::os::fd::RawFd;

/// Deadlines in ns of the monotonic clock, soonest first. Each file descriptor has one at most.
#[derive(Default)]
pub struct Deadlines(BTreeSet<(u64, RawFd)>);

impl Deadlines {
    pub fn insert(&mut self, until_ns: u64, fd: RawFd) {
        self.0.insert((until_ns, fd));
    }

    pub fn remove(&mut self, until_ns: u64, fd: RawFd) {
        self.0.remove(&(until_ns, fd));
    }

    /// How long to wait for the soonest, ms rounded up; -1 if there is none.
    pub fn timeout_ms(&self, now_ns: impl Fn() -> u64) -> i32 {
        self.0.first().map_or(-1, |(until_ns, _)| {
            let left_ns = until_ns.saturating_sub(now_ns());
            i32::try_from(left_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX)
        })
    }

    /// One that is over, taken out.
    pub fn pop_over(&mut self, now_ns: u64) -> Option<RawFd> {
        let (until_ns, _) = *self.0.first()?;
        if until_ns > now_ns {
            return None;
        }
        self.0.pop_first().map(|(_, fd)| fd)
    }
}

#[cfg(test)]
mod tests {
    use super::Deadlines;

    #[test]
    fn the_soonest_deadline_is_waited_for_and_over_first() {
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.timeout_ms(|| 0), -1);
        deadlines.insert(5_000_001, 7);
        deadlines.insert(3_000_000, 8);
        deadlines.insert(2_000_000, 9);
        deadlines.remove(2_000_000, 9);
        assert_eq!(deadlines.timeout_ms(|| 1_000_000), 2);
        assert_eq!(deadlines.pop_over(2_999_999), None);
        assert_eq!(deadlines.pop_over(3_000_000), Some(8));
        assert_eq!(deadlines.timeout_ms(|| 0), 6);
        assert_eq!(deadlines.timeout_ms(|| 9_000_000), 0);
    }
}

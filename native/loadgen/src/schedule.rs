//! Open loop: when each request is meant to be sent, whatever became of those before.

/// The arrivals of one thread: every `threads`-th of arrivals that are spaced evenly at `rate` in total.
#[derive(Debug, Clone)]
pub struct Schedule {
    start_ns: u64,
    interval_ns: f64,
    next: u64,
    step: u64,
}

impl Schedule {
    /// rate: requests per second of all threads together, above 0. thread: 0 to threads - 1.
    pub fn new(start_ns: u64, rate: f64, thread: usize, threads: usize) -> Self {
        Self {
            start_ns,
            interval_ns: 1e9 / rate,
            next: thread as u64,
            step: threads as u64,
        }
    }

    /// When the next request is meant to be sent, ns on the monotonic clock.
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.start_ns + (self.next as f64 * self.interval_ns) as u64
    }

    /// The next request has been sent.
    #[inline]
    pub fn advance(&mut self) {
        self.next += self.step;
    }

    /// How many were due before `now_ns` and have not been sent.
    pub fn overdue(&self, now_ns: u64) -> u64 {
        let mut ahead = self.clone();
        let since_ns = now_ns.saturating_sub(self.due_ns()) as f64;
        let steps = (since_ns / (self.interval_ns * self.step as f64)) as u64;
        ahead.next += steps * self.step;
        steps + u64::from(ahead.due_ns() < now_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;

    #[test]
    fn the_threads_together_send_at_even_distances() {
        let mut all = Vec::new();
        for thread in 0..3 {
            let mut schedule = Schedule::new(1_000, 1000.0, thread, 3);
            for _ in 0..4 {
                all.push(schedule.due_ns());
                schedule.advance();
            }
        }
        all.sort_unstable();
        let expected: Vec<u64> = (0..12).map(|number| 1_000 + number * 1_000_000).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn the_ten_millionth_arrival_is_where_it_belongs() {
        let mut schedule = Schedule::new(0, 3.0, 0, 1);
        schedule.next = 10_000_000;
        assert!(schedule.due_ns().abs_diff(3_333_333_333_333_333) < 2);
    }

    #[test]
    fn what_was_due_and_was_not_sent_is_counted() {
        let mut schedule = Schedule::new(0, 1000.0, 1, 2); // 1, 3, 5, ... ms
        assert_eq!(schedule.overdue(1_000_000), 0);
        assert_eq!(schedule.overdue(1_000_001), 1);
        assert_eq!(schedule.overdue(6_000_000), 3);
        schedule.advance();
        assert_eq!(schedule.overdue(6_000_000), 2);
    }
}

//! Open loop: when each request is due, whatever happened to those before.

use std::sync::atomic::{AtomicU64, Ordering};

use contract::Random;

/// Moments that all threads share: whoever has a free connection takes the next one.
///
/// They have even distances, or the random ones of a Poisson process.
///
/// No moment belongs to a thread or a connection, so one that stalls delays no other request: whatever is sent late
/// is late because no connection was free.
pub struct Arrivals {
    start_ns: u64,
    interval_ns: f64,
    /// How many there are in all.
    pub number: u64,
    next: AtomicU64,
    /// Poisson: each moment, ns after the first; otherwise empty.
    moments: Vec<u64>,
}

impl Arrivals {
    /// rate: requests per second in all, above 0. number: how many.
    pub fn new(start_ns: u64, rate: f64, number: u64) -> Self {
        Self {
            start_ns,
            interval_ns: 1e9 / rate,
            number,
            next: AtomicU64::new(0),
            moments: Vec::new(),
        }
    }

    /// As many as a Poisson process of this rate has before so many ns have passed.
    pub fn poisson_within(start_ns: u64, rate: f64, duration_ns: u64) -> Self {
        let (mut random, mut passed_ns, mut moments) = (Random::new(start_ns), 0.0, Vec::new());
        loop {
            passed_ns += random.exponential() * 1e9 / rate;
            if passed_ns >= duration_ns as f64 {
                break;
            }
            moments.push(passed_ns as u64);
        }
        Self {
            moments,
            ..Self::new(start_ns, rate, 0)
        }
        .counted()
    }

    fn counted(mut self) -> Self {
        self.number = self.moments.len() as u64;
        self
    }

    /// As many as are due before so many ns have passed.
    pub fn within(start_ns: u64, rate: f64, duration_ns: u64) -> Self {
        Self::new(start_ns, rate, due_before(duration_ns as f64, 1e9 / rate))
    }

    /// Take the next one: when it is due, ns on the monotonic clock; none when all are taken.
    ///
    /// Only for a connection that is free now: it waits for this moment, so nobody else has to.
    #[inline]
    pub fn take(&self) -> Option<u64> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.number).then(|| self.start_ns + self.moment(number))
    }

    #[inline]
    fn moment(&self, number: u64) -> u64 {
        match self.moments.get(number as usize) {
            Some(moment) => *moment,
            None => (number as f64 * self.interval_ns) as u64,
        }
    }

    /// How many were due before `end_ns` and are not among the `sent`.
    pub fn unsent(&self, sent: u64, end_ns: u64) -> u64 {
        let passed_ns = end_ns.saturating_sub(self.start_ns);
        let due = if self.moments.is_empty() {
            due_before(passed_ns as f64, self.interval_ns).min(self.number)
        } else {
            self.moments.partition_point(|moment| *moment < passed_ns) as u64
        };
        due.saturating_sub(sent)
    }

    /// Requests per second that were sent, the last of them at `last_ns`: the requested rate if none was late.
    pub fn offered_per_s(&self, sent: u64, last_ns: u64) -> f64 {
        let spread_ns = last_ns.saturating_sub(self.start_ns) as f64 + self.interval_ns;
        sent as f64 * 1e9 / spread_ns
    }
}

fn due_before(passed_ns: f64, interval_ns: f64) -> u64 {
    (passed_ns / interval_ns).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::Arrivals;

    #[test]
    fn each_moment_is_taken_once_by_whoever_comes() {
        let arrivals = Arrivals::new(1_000, 1000.0, 12);
        let mut all = std::thread::scope(|scope| {
            let take = || std::iter::from_fn(|| arrivals.take()).collect::<Vec<u64>>();
            let threads = [scope.spawn(take), scope.spawn(take), scope.spawn(take)];
            threads.map(|thread| thread.join().unwrap()).concat()
        });
        all.sort_unstable();
        let expected: Vec<u64> = (0..12).map(|number| 1_000 + number * 1_000_000).collect();
        assert_eq!((all, arrivals.take()), (expected, None));
    }

    #[test]
    fn a_poisson_process_has_about_as_many_as_its_rate_says_and_counts_those_not_sent() {
        let arrivals = Arrivals::poisson_within(1_000, 1000.0, 10_000_000_000);
        assert!((9_400..10_600).contains(&arrivals.number), "{}", arrivals.number); // six standard deviations
        let all: Vec<u64> = std::iter::from_fn(|| arrivals.take()).collect();
        assert!(all.is_sorted() && all[0] >= 1_000 && all[all.len() - 1] < 10_000_001_000);
        assert_eq!(arrivals.unsent(0, u64::MAX), arrivals.number);
        assert_eq!(arrivals.unsent(0, all[99] + 1), 100);
    }

    #[test]
    fn the_ten_millionth_is_where_it_belongs() {
        let arrivals = Arrivals::new(0, 3.0, u64::MAX);
        arrivals
            .next
            .store(10_000_000, std::sync::atomic::Ordering::Relaxed);
        assert!(arrivals.take().unwrap().abs_diff(3_333_333_333_333_333) < 2);
    }

    #[test]
    fn a_time_holds_those_that_are_due_before_its_end() {
        assert_eq!(Arrivals::within(5, 300.0, 1_500_000_000).number, 450);
        assert_eq!(Arrivals::within(5, 1000.0, 1_000_001).number, 2); // at 0 and at 1 ms
        assert_eq!(Arrivals::within(5, 1000.0, 1).number, 1);
    }

    #[test]
    fn what_was_due_and_was_not_sent_is_counted() {
        let arrivals = Arrivals::new(0, 1000.0, 10); // 0, 1, 2, ... 9 ms
        assert_eq!(arrivals.unsent(1, 1_000_000), 0);
        assert_eq!(arrivals.unsent(1, 1_000_001), 1);
        assert_eq!(arrivals.unsent(4, u64::MAX), 6);
        assert_eq!(arrivals.unsent(10, u64::MAX), 0);
    }

    #[test]
    fn the_offered_rate_is_the_asked_one_unless_requests_were_late() {
        let arrivals = Arrivals::new(0, 1000.0, 10);
        assert_eq!(arrivals.offered_per_s(10, 9_000_000), 1000.0);
        assert_eq!(arrivals.offered_per_s(10, 19_000_000), 500.0);
    }
}

//! The slowest requests with their times, so that what held them up can be laid beside them: as clients/tally.py.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde_json::{Value, json};

const MOST: usize = 512;

/// At most MOST requests: latency and start in ns, and the number of the service. The fastest of them is on top.
#[derive(Clone, Default)]
pub struct Slowest {
    noted: BinaryHeap<Reverse<(u64, u64, u64)>>,
    /// All requests that took longer were noted; what did not need not be.
    above_ns: u64,
}

impl Slowest {
    /// One more request.
    #[inline]
    pub fn note(&mut self, latency_ns: u64, start_ns: u64, service: u64) {
        if latency_ns > self.above_ns {
            self.keep((latency_ns, start_ns, service));
        }
    }

    fn keep(&mut self, request: (u64, u64, u64)) {
        self.noted.push(Reverse(request));
        if self.noted.len() > MOST {
            self.noted.pop();
        }
        if self.noted.len() == MOST {
            let fastest_ns = self.noted.peek().map_or(0, |Reverse(request)| request.0);
            self.above_ns = self.above_ns.max(fastest_ns);
        }
    }

    /// Add what another has noted.
    pub fn merge(&mut self, other: &Self) {
        for Reverse((latency_ns, start_ns, service)) in &other.noted {
            self.note(*latency_ns, *start_ns, *service);
        }
        self.above_ns = self.above_ns.max(other.above_ns);
    }

    /// As a client's last line has it: [start, latency, service] of each request. None without any.
    pub fn to_json(&self) -> Option<Value> {
        let request = |Reverse((latency_ns, start_ns, service)): &_| json!([start_ns, latency_ns, service]);
        let requests: Vec<Value> = self.noted.iter().map(request).collect();
        (!requests.is_empty()).then(|| json!({"above_ns": self.above_ns, "requests": requests}))
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Slowest};

    fn latencies(slowest: &Slowest) -> Vec<u64> {
        let value = slowest.to_json().expect("some were noted");
        let requests = value["requests"].as_array().expect("a list");
        let mut latencies: Vec<u64> = requests
            .iter()
            .filter_map(|request| request[1].as_u64())
            .collect();
        latencies.sort_unstable();
        latencies
    }

    #[test]
    fn of_many_requests_the_slowest_are_kept_and_all_that_took_longer_than_above_are_among_them() {
        let mut slowest = Slowest::default();
        (0..2000_u64).for_each(|number| slowest.note(number * 7 % 2000 + 1, number, 3));
        assert_eq!(
            latencies(&slowest),
            (2001 - MOST as u64..=2000).collect::<Vec<_>>()
        );
        assert_eq!(slowest.to_json().expect("some")["above_ns"], 2001 - MOST as u64);
    }

    #[test]
    fn of_two_threads_the_slowest_of_both_are_kept() {
        let (mut slow, mut fast) = (Slowest::default(), Slowest::default());
        (1..=MOST as u64).for_each(|number| slow.note(10_000 + number, 0, 0));
        (1..=10).for_each(|number| fast.note(number, 0, 1));
        fast.note(20_000, 5, 1);
        fast.merge(&slow);
        let kept = latencies(&fast);
        assert_eq!((kept.len(), kept.last()), (MOST, Some(&20_000)));
        assert_eq!(fast.to_json().expect("some")["above_ns"], 10_002);
    }

    #[test]
    fn nothing_is_said_of_no_request() {
        assert_eq!(Slowest::default().to_json(), None);
    }
}

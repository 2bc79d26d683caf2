//! How many workers there are, and how much each asks.

use contract::{Cell, CellError, Flags, Warmup, now_ns};
use std::time::Duration;

use crate::worker::{Quota, Target};

const EXPECTED_BYTES: usize = 13;
const TIMEOUT_S: f64 = 5.0;

/// What this client is to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// One for each service.
    pub targets: Vec<Target>,
    /// Workers for each service.
    pub workers: u64,
    /// Requests to each service.
    pub requests: u64,
    pub warmup: Warmup,
    pub duration_s: f64,
}

impl Plan {
    /// By the cell and the flags.
    pub fn new(cell: &Cell, flags: &Flags) -> Result<Self, CellError> {
        let timeout_s: f64 = flags.value("timeout", TIMEOUT_S, "seconds, above 0")?;
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|_| CellError::new(format!("--timeout is {timeout_s}; it must be seconds, above 0")))?;
        let expected_bytes = flags.value("expect-length", EXPECTED_BYTES, "a whole number of bytes")?;
        let target = |addresses: &Vec<String>| match addresses.first() {
            Some(address) => Ok(Target {
                address: address.clone(),
                timeout,
                expected_bytes,
            }),
            None => Err(CellError::new("a service has no address; each needs one")),
        };
        Ok(Self {
            targets: cell.addresses.iter().map(target).collect::<Result<_, _>>()?,
            workers: cell.params.whole("NUM_CONNECTIONS_PER_CLIENT", 1)?.max(1),
            requests: cell.params.whole("NUM_REQUESTS_PER_CLIENT", 1000)?,
            warmup: cell.method.warmup,
            duration_s: cell.method.duration_s,
        })
    }

    /// Whom each worker asks.
    pub fn each_target(&self) -> impl Iterator<Item = &Target> {
        self.targets
            .iter()
            .flat_map(|target| (0..self.workers).map(move |_| target))
    }

    /// What each worker asks in the warm-up, which begins now.
    pub fn warmup_quotas(&self) -> Vec<Quota> {
        let requests = (self.requests as f64 * self.warmup.share).ceil() as u64;
        self.quotas(requests, self.warmup.seconds)
    }

    /// What each worker asks when timed, which begins now.
    pub fn timed_quotas(&self) -> Vec<Quota> {
        self.quotas(self.requests, self.duration_s)
    }

    fn quotas(&self, requests: u64, seconds: f64) -> Vec<Quota> {
        let until_ns = now_ns() + (seconds * 1e9) as u64;
        let one = |worker| match seconds > 0.0 {
            true => Quota::Until(until_ns),
            false => Quota::Requests(share(requests, self.workers, worker)),
        };
        self.targets
            .iter()
            .flat_map(|_| (0..self.workers).map(one))
            .collect()
    }
}

/// The requests divided among the workers; what is left over goes to the first ones.
fn share(requests: u64, workers: u64, worker: u64) -> u64 {
    requests / workers + u64::from(worker < requests % workers)
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn requests_are_divided_and_the_first_workers_take_the_rest() {
        let shares: Vec<u64> = (0..3).map(|worker| share(20, 3, worker)).collect();
        assert_eq!(shares, [7, 7, 6]);
        assert_eq!(share(2, 3, 2), 0);
    }
}

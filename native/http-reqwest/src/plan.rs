//! How many workers there are, and how much each asks.

use contract::{Cell, CellError, Flags, Warmup, now_ns};
use std::time::Duration;

use crate::worker::{Quota, Target};

const EXPECTED_BYTES: usize = 13;
const TIMEOUT_S: f64 = 5.0;

/// What this client is to do.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whom each worker asks.
    pub targets: Vec<Target>,
    /// Requests of all workers together.
    pub requests: u64,
    pub warmup: Warmup,
    pub duration_s: f64,
}

impl Plan {
    /// By the cell and the flags.
    pub fn new(cell: &Cell, flags: &Flags) -> Result<Self, CellError> {
        let requests = cell.params.whole("NUM_REQUESTS_PER_CLIENT", 1000)?;
        Ok(Self {
            targets: targets(cell, flags)?,
            requests: requests * cell.addresses.len() as u64,
            warmup: cell.method.warmup,
            duration_s: cell.method.duration_s,
        })
    }

    /// What each worker asks in the warm-up, which begins now: at least one request.
    pub fn warmup_quotas(&self) -> Vec<Quota> {
        let Warmup { share, mut seconds } = self.warmup;
        if self.duration_s > 0.0 && seconds == 0.0 {
            seconds = share * self.duration_s;
        }
        let requests = (self.requests as f64 * share).round() as u64;
        self.quotas(requests.max(self.targets.len() as u64), seconds)
    }

    /// What each worker asks when timed, which begins now.
    pub fn timed_quotas(&self) -> Vec<Quota> {
        self.quotas(self.requests, self.duration_s)
    }

    fn quotas(&self, requests: u64, seconds: f64) -> Vec<Quota> {
        let until_ns = now_ns() + (seconds * 1e9) as u64;
        let workers = self.targets.len() as u64;
        let one = |worker| match seconds > 0.0 {
            true => Quota::Until(until_ns),
            false => Quota::Requests(share(requests, workers, worker)),
        };
        (0..workers).map(one).collect()
    }
}

/// The workers of all clients, one after the other, go round the services.
fn targets(cell: &Cell, flags: &Flags) -> Result<Vec<Target>, CellError> {
    let (timeout, expected_bytes) = (timeout(flags)?, expected_bytes(flags)?);
    let services = cell.addresses.len() as u64;
    if services == 0 {
        return Err(CellError::new(
            "addresses is []; it must have a list for each service",
        ));
    }
    let workers = cell.params.whole("NUM_CONNECTIONS_PER_CLIENT", 1)?.max(1);
    let first = cell.client_id.unwrap_or(0) * workers;
    let one = |worker| {
        let service = &cell.addresses[((first + worker) % services) as usize];
        let address = service
            .first()
            .ok_or_else(|| CellError::new("a service has no address; each needs one"))?;
        Ok(Target {
            address: address.clone(),
            timeout,
            expected_bytes,
        })
    };
    (0..workers).map(one).collect()
}

fn timeout(flags: &Flags) -> Result<Duration, CellError> {
    let timeout_s: f64 = flags.value("timeout", TIMEOUT_S, "seconds, above 0")?;
    Duration::try_from_secs_f64(timeout_s)
        .map_err(|_| CellError::new(format!("--timeout is {timeout_s}; it must be seconds, above 0")))
}

fn expected_bytes(flags: &Flags) -> Result<usize, CellError> {
    flags.value("expect-length", EXPECTED_BYTES, "a whole number of bytes")
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

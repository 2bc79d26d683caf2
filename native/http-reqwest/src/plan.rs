//! How many workers there are, and how much each asks.

use std::time::Duration;

use clap::Parser;
use contract::{Cell, CellError, Warmup, now_ns, share, whole_number};

use crate::worker::{Quota, Target};

/// A client of the HTTP client experiment with reqwest. It reads its cell from stdin: docs/child-contract.md.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Flags {
    /// Read the cell from stdin; it always does
    #[arg(long)]
    pub child: bool,
    /// Seconds that a request may take
    #[arg(long, default_value = "5", value_name = "SECONDS", value_parser = timeout)]
    pub timeout: Duration,
    /// Bytes in the body of a right answer
    #[arg(long, default_value = "13", value_name = "BYTES", value_parser = whole_number::<usize>(0, u64::MAX))]
    pub expect_length: usize,
}

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
    /// From the cell and the flags.
    pub fn new(cell: &Cell, flags: &Flags) -> Result<Self, CellError> {
        let requests = cell.params.whole("NUM_REQUESTS_PER_CLIENT", 1000)?;
        Ok(Self {
            targets: targets(cell, flags)?,
            requests: requests * cell.addresses.len() as u64,
            warmup: cell.method.warmup,
            duration_s: cell.method.duration_s,
        })
    }

    /// What each worker sends in the warm-up, which begins now: at least one request.
    pub fn warmup_quotas(&self) -> Vec<Quota> {
        let Warmup { share, mut seconds } = self.warmup;
        if self.duration_s > 0.0 && seconds == 0.0 {
            seconds = share * self.duration_s;
        }
        let requests = (self.requests as f64 * share).round() as u64;
        self.quotas(requests.max(self.targets.len() as u64), seconds)
    }

    /// What each worker sends when timed, which begins now.
    pub fn timed_quotas(&self) -> Vec<Quota> {
        self.quotas(self.requests, self.duration_s)
    }

    fn quotas(&self, requests: u64, seconds: f64) -> Vec<Quota> {
        let until_ns = now_ns() + (seconds * 1e9) as u64;
        let workers = self.targets.len() as u64;
        let quota = |worker| match seconds > 0.0 {
            true => Quota::Until(until_ns),
            false => Quota::Requests(share(requests, workers, worker)),
        };
        (0..workers).map(quota).collect()
    }
}

/// The workers of all clients, one after the other, go round the services.
fn targets(cell: &Cell, flags: &Flags) -> Result<Vec<Target>, CellError> {
    let services = cell.addresses.len() as u64;
    if services == 0 {
        return Err(CellError::new(
            "addresses is []; it must have a list for each service",
        ));
    }
    let workers = cell.params.whole("NUM_CONNECTIONS_PER_CLIENT", 1)?.max(1);
    let first = cell.client_id.unwrap_or(0) * workers;
    let target = |worker| {
        let service = &cell.addresses[((first + worker) % services) as usize];
        let address = service
            .first()
            .ok_or_else(|| CellError::new("a service has no address; each needs one"))?;
        Ok(Target {
            address: address.clone(),
            timeout: flags.timeout,
            expected_bytes: flags.expect_length,
        })
    };
    (0..workers).map(target).collect()
}

fn timeout(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    timeout
        .filter(|timeout| !timeout.is_zero())
        .ok_or_else(|| "it must be a number of seconds above 0".to_owned())
}

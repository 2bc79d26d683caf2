//! One worker: one reqwest client with one connection, one request after the other.

use std::collections::BTreeMap;
use std::time::Duration;

use contract::{WireHistogram, now_ns};
use reqwest::Client;

use crate::outcome::{Outcome, before_the_head, in_the_body};

/// How many requests of a worker have their times recorded one by one.
const TIMELINE: usize = 100;
/// Failures in a row after which the service is given up.
const MAX_FAILURES: usize = 10;

/// Whom to ask, and what is expected.
#[derive(Debug, Clone)]
pub struct Target {
    /// A Unix path, or host:port.
    pub address: String,
    pub timeout: Duration,
    pub expected_bytes: usize,
}

/// When a worker is done.
#[derive(Debug, Clone, Copy)]
pub enum Quota {
    Requests(u64),
    /// Until then, ns of the monotonic clock.
    Until(u64),
}

impl Quota {
    fn is_open(self, sent: u64) -> bool {
        match self {
            Self::Requests(requests) => sent < requests,
            Self::Until(until_ns) => now_ns() < until_ns,
        }
    }
}

/// What a worker counted.
#[derive(Debug, Default)]
pub struct Tally {
    pub sent: u64,
    pub answered: u64,
    pub wrong: u64,
    pub errors: BTreeMap<String, u64>,
    pub latency: WireHistogram,
    /// The time of its loop.
    pub loop_ns: u64,
    /// Start and end of its first answered requests, ns from the start of all.
    pub timeline: Vec<[u64; 2]>,
}

/// A worker between its phases.
pub struct Worker {
    client: Client,
    url: String,
    target: Target,
}

impl Worker {
    /// A worker without a connection.
    pub fn new(target: Target) -> reqwest::Result<Self> {
        let mut client = Client::builder()
            .http1_only()
            .no_proxy()
            .tcp_nodelay(true)
            .pool_max_idle_per_host(1)
            .pool_idle_timeout(None)
            .redirect(reqwest::redirect::Policy::none())
            .timeout(target.timeout);
        let mut url = format!("http://{}/", target.address);
        if target.address.starts_with('/') {
            client = client.unix_socket(target.address.as_str());
            "http://localhost/".clone_into(&mut url);
        }
        Ok(Self {
            client: client.build()?,
            url,
            target,
        })
    }

    /// Open the connection by a first request; how long that took, or none if there was no answer.
    pub async fn open(&self) -> Option<u64> {
        let start_ns = now_ns();
        self.ask().await.is_answer().then(|| now_ns() - start_ns)
    }

    /// Ask until the quota is reached or the service given up.
    pub async fn run(&self, quota: Quota, origin_ns: u64) -> Tally {
        let mut tally = Tally {
            timeline: Vec::with_capacity(TIMELINE),
            ..Tally::default()
        };
        let (begun_ns, mut failures) = (now_ns(), 0);
        while failures < MAX_FAILURES && quota.is_open(tally.sent) {
            let start_ns = now_ns();
            let outcome = self.ask().await;
            let end_ns = now_ns();
            failures = if outcome.is_answer() { 0 } else { failures + 1 };
            tally.note(&outcome, start_ns, end_ns, origin_ns);
        }
        tally.loop_ns = now_ns() - begun_ns;
        if let Quota::Requests(requests) = quota {
            tally.sent = requests; // those that were not sent to a service that was given up are not answered
        }
        tally
    }

    /// One request, to the end of its body.
    async fn ask(&self) -> Outcome {
        let response = match self.client.get(&self.url).send().await {
            Ok(response) => response,
            Err(error) => return Outcome::Failed(before_the_head(&error)),
        };
        let status = response.status().as_u16();
        match response.bytes().await {
            Ok(body) => Outcome::of_answer(status, body.len(), self.target.expected_bytes),
            Err(error) => Outcome::Failed(in_the_body(&error)),
        }
    }
}

impl Tally {
    fn note(&mut self, outcome: &Outcome, start_ns: u64, end_ns: u64, origin_ns: u64) {
        self.sent += 1;
        if outcome.is_answer() {
            self.answered += 1;
            self.latency.record(end_ns - start_ns);
            if self.timeline.len() < TIMELINE {
                self.timeline.push([start_ns - origin_ns, end_ns - origin_ns]);
            }
        }
        self.wrong += u64::from(*outcome == Outcome::Wrong);
        if let Some(code) = outcome.code() {
            *self.errors.entry(code).or_default() += 1;
        }
    }
}

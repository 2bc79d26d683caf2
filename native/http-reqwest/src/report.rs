//! The result: the keys of docs/child-contract.md, and those of the HTTP client experiment.

use std::collections::BTreeMap;

use contract::{WireHistogram, object};
use serde_json::{Map, Value, json};

use crate::worker::Tally;

/// What was timed, ns of the monotonic clock.
pub struct Timed {
    /// Before the first worker was spawned.
    pub started_ns: u64,
    /// After the last was joined.
    pub joined_ns: u64,
    pub tallies: Vec<Tally>,
}

/// All keys but those of usage.
///
/// workers_ns: each worker's loop; bench_ns: from spawning the workers to the last join; timeline: for each worker
/// start and end of its first 100 answered requests, ns from started_ns.
pub fn result(timed: &Timed, connect: &WireHistogram) -> Map<String, Value> {
    let sum = |key: fn(&Tally) -> u64| timed.tallies.iter().map(key).sum::<u64>();
    let bench_ns = timed.joined_ns - timed.started_ns;
    let mut latency = WireHistogram::default();
    timed
        .tallies
        .iter()
        .for_each(|tally| latency.merge(&tally.latency));
    object(json!({
        "started_ns": timed.started_ns,
        "finished_ns": timed.joined_ns,
        "completion_ns": bench_ns,
        "bench_ns": bench_ns,
        "requests": sum(|tally| tally.sent),
        "answered": sum(|tally| tally.answered),
        "wrong": sum(|tally| tally.wrong),
        "errors": errors(timed),
        "latency": latency.to_json(),
        "connect": connect.to_json(),
        "worker": "task",
        "workers_ns": timed.tallies.iter().map(|tally| tally.loop_ns).collect::<Vec<_>>(),
        "timeline": timed.tallies.iter().map(|tally| &tally.timeline).collect::<Vec<_>>(),
    }))
}

fn errors(timed: &Timed) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    for (code, count) in timed.tallies.iter().flat_map(|tally| &tally.errors) {
        *errors.entry(code.clone()).or_default() += count;
    }
    errors
}

//! The result: the keys of docs/child-contract.md, and those of the HTTP client experiment.

use std::collections::BTreeMap;

use contract::Histogram;
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

/// All keys but those of usage. A worker whose connection could not be opened counts as an error `connect`.
///
/// workers_ns: each worker's loop; bench_ns: from spawning the workers to the last join; timeline: for each worker
/// start and end of its first 100 requests, ns from started_ns.
pub fn result(timed: &Timed, connect: &Histogram) -> Map<String, Value> {
    let sum = |key: fn(&Tally) -> u64| timed.tallies.iter().map(key).sum::<u64>();
    let last_ns = timed.tallies.iter().map(|one| one.finished_ns).max().unwrap_or(0);
    let finished_ns = last_ns.max(timed.started_ns);
    let mut latency = Histogram::default();
    timed.tallies.iter().for_each(|one| latency.merge(&one.latency));
    let keys = json!({
        "started_ns": timed.started_ns,
        "finished_ns": finished_ns,
        "completion_ns": finished_ns - timed.started_ns,
        "bench_ns": timed.joined_ns - timed.started_ns,
        "requests": sum(|one| one.asked),
        "answered": sum(|one| one.answered),
        "wrong": sum(|one| one.wrong),
        "errors": errors(timed, timed.tallies.len() as u64 - connect.count()),
        "latency": latency.to_json(),
        "connect": connect.to_json(),
        "workers_ns": timed.tallies.iter().map(|one| one.loop_ns).collect::<Vec<_>>(),
        "timeline": timed.tallies.iter().map(|one| &one.timeline).collect::<Vec<_>>(),
    });
    match keys {
        Value::Object(keys) => keys,
        _ => unreachable!("json! of braces is an object"),
    }
}

fn errors(timed: &Timed, not_opened: u64) -> BTreeMap<String, u64> {
    let mut errors = BTreeMap::new();
    if not_opened > 0 {
        errors.insert("connect".to_owned(), not_opened);
    }
    for (code, count) in timed.tallies.iter().flat_map(|one| &one.errors) {
        *errors.entry(code.clone()).or_default() += count;
    }
    errors
}

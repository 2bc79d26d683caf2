//! Everything, for programs. Times in whole nanoseconds.

use contract::{FineHistogram, object};
use serde_json::{Map, Value, json};

use crate::cli::flags::{Flags, Protocol};
use crate::report::finished::Finished;
use crate::response::reader::Expect;

/// A percentile, its share, and how many requests it needs to be one.
const SHARES: [(&str, f64, u64); 9] = [
    ("p25_ns", 0.25, 1),
    ("p50_ns", 0.5, 1),
    ("p75_ns", 0.75, 1),
    ("p90_ns", 0.9, 10),
    ("p95_ns", 0.95, 20),
    ("p98_ns", 0.98, 50),
    ("p99_ns", 0.99, 100),
    ("p999_ns", 0.999, 10_000),
    ("p9999_ns", 0.9999, 100_000),
];

/// One JSON object in one line.
pub fn text(finished: &Finished, flags: &Flags) -> String {
    let mut all = Map::new();
    all.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    all.insert("flags".to_owned(), settings(finished, flags));
    all.extend(counts(finished));
    all.extend(finished.usage.clone());
    let tally = &finished.tally;
    for (name, histogram) in [
        ("latency", &tally.latency),
        ("latency_corrected", &tally.corrected),
        ("first_byte", &tally.first_byte),
        ("connect", &finished.connects()),
        ("total", &tally.total),
    ] {
        if histogram.count() > 0 {
            all.insert(name.to_owned(), summary(histogram));
        }
    }
    format!("{}\n", Value::Object(all))
}

fn settings(finished: &Finished, flags: &Flags) -> Value {
    let protocol = match flags.protocol {
        Protocol::Http => "http",
        Protocol::Framed => "framed",
        Protocol::Echo => "echo",
    };
    let actual = finished.job.actual.get();
    json!({
        "protocol": protocol,
        "target": flags.target,
        "connections": flags.connections,
        "threads": finished.threads,
        "requests": flags.requests,
        "duration_s": flags.duration.map(|time| time.as_secs_f64()),
        "rate": flags.rate,
        "timeout_s": flags.timeout.as_secs_f64(),
        "fresh": finished.job.fresh,
        "nodelay": finished.job.options.nodelay,
        "buffer_bytes": finished.job.options.buffer_bytes,
        "send_buffer_bytes": actual.map(|actual| actual.send_bytes),
        "receive_buffer_bytes": actual.map(|actual| actual.receive_bytes),
        "message_bytes": finished.job.kinds[0].message.len(),
    })
}

fn counts(finished: &Finished) -> Map<String, Value> {
    let tally = &finished.tally;
    let server = match finished.job.expect() {
        Expect::Http(expect) => expect.server.get(),
        _ => None,
    };
    object(json!({
        "server": server,
        "stopped_by_signal": finished.stopped_by,
        "wall_ns": finished.wall_ns,
        "sent": tally.sent,
        "answered": tally.answered,
        "wrong": tally.wrong,
        "errors": tally.errors,
        "given_up": tally.given_up,
        "unanswered": tally.unanswered,
        "offered_rate": finished.open_loop.map(|open_loop| open_loop.offered_per_s),
        "overdue": finished.open_loop.map_or(0, |open_loop| open_loop.overdue),
        "kept": tally.kept,
        "calc_ns": tally.calc_ns,
        "sent_bytes": tally.sent_bytes,
        "received_bytes": tally.received_bytes,
        "body_bytes": tally.body_bytes,
        "requests_per_s": finished.answers_per_s(),
    }))
}

/// Exact count, bounds and mean, the percentiles that the count can bear, and the histogram.
fn summary(histogram: &FineHistogram) -> Value {
    let mut keys = Map::new();
    let mut put = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    put("count", json!(histogram.count()));
    put("min_ns", json!(histogram.min_ns()));
    put("mean_ns", json!(histogram.mean_ns()));
    put("std_ns", json!(histogram.deviation_ns()));
    put("max_ns", json!(histogram.max_ns()));
    for (name, share, _) in SHARES
        .iter()
        .filter(|(_, _, needed)| histogram.count() >= *needed)
    {
        put(name, json!(histogram.quantile_ns(*share)));
    }
    put("counts", json!(bucket_counts(histogram)));
    Value::Object(keys)
}

/// (lowest value of a bucket, its count) for each bucket that is not empty, lowest first.
fn bucket_counts(histogram: &FineHistogram) -> Vec<(u64, u64)> {
    histogram
        .filled()
        .map(|(low_ns, _, count)| (low_ns, count))
        .collect()
}

//! The report of vmbench's echo client, in which the sister record of network libraries is written.

use super::lines::{errors, ms, open_loop, options, unanswered};
use crate::cli::flags::{Flags, Protocol};
use crate::report::finished::Finished;
use contract::FineHistogram;

/// A percentile, its share, and how many requests it needs to be one.
const SHARES: [(&str, f64, u64); 6] = [
    ("25", 0.25, 1),
    ("50", 0.5, 1),
    ("75", 0.75, 1),
    ("90", 0.9, 10),
    ("99", 0.99, 100),
    ("99.99", 0.9999, 100_000),
];

/// The whole report.
pub fn text(finished: &Finished, flags: &Flags) -> String {
    let tally = &finished.tally;
    let mut lines = vec![
        format!(
            "{} {} messages in {} seconds",
            tally.answered,
            size(message_bytes(finished, flags)),
            rounded(finished.wall_s())
        ),
        latency("Latency", &tally.latency),
        distribution("Latency distribution", &tally.latency),
    ];
    if tally.corrected.count() > 0 {
        lines.push(latency("Corrected latency", &tally.corrected));
        lines.push(distribution("Corrected latency distribution", &tally.corrected));
    }
    lines.push(format!("Requests/sec: {}", rounded(finished.answers_per_s())));
    lines.push(format!(
        "Transfer/sec: {}MiB",
        rounded(transfer_mib_per_s(finished, flags))
    ));
    lines.push(product(finished, flags));
    lines.push(options(finished));
    lines.extend(open_loop(finished, flags));
    lines.extend(unanswered(finished));
    if finished.failed() > 0 {
        lines.push(format!("Errors: {}", errors(finished)));
    }
    lines.join("\n") + "\n"
}

/// Closed loop: this is the concurrency, or requests were not one after the other on each connection (Little's law).
fn product(finished: &Finished, flags: &Flags) -> String {
    let busy = finished.answers_per_s() * finished.tally.latency.mean_ns() / 1e9;
    format!(
        "Requests/sec x mean latency = {busy:.2} (concurrency {})",
        flags.connections
    )
}

fn latency(name: &str, histogram: &FineHistogram) -> String {
    let (mean_ns, deviation_ns) = (histogram.mean_ns(), histogram.deviation_ns());
    format!(
        "{name}: min {}ms; max {}ms; mean {}ms; std: {}ms ({:.2}%)",
        ms(histogram.min_ns() as f64),
        ms(histogram.max_ns() as f64),
        ms(mean_ns),
        ms(deviation_ns),
        100.0 * deviation_ns / mean_ns.max(1.0),
    )
}

fn distribution(name: &str, histogram: &FineHistogram) -> String {
    let shown: Vec<String> = SHARES
        .iter()
        .filter(|(_, _, needed)| histogram.count() >= *needed)
        .map(|(percent, share, _)| format!("{percent}% under {}ms", ms(histogram.quantile_ns(*share) as f64)))
        .collect();
    format!("{name}: {}", shown.join("; "))
}

/// One direction: an echo as it is, other requests by what was received for each.
fn message_bytes(finished: &Finished, flags: &Flags) -> f64 {
    match flags.protocol {
        Protocol::Echo => flags.message_bytes as f64,
        _ => finished.tally.received_bytes as f64 / finished.tally.answered.max(1) as f64,
    }
}

fn transfer_mib_per_s(finished: &Finished, flags: &Flags) -> f64 {
    finished.answers_per_s() * message_bytes(finished, flags) / f64::from(1 << 20)
}

/// As the record has it: 1000 bytes are 0.98KiB, 10240 are 10.0KiB.
fn size(bytes: f64) -> String {
    format!("{}KiB", rounded(bytes / 1024.0))
}

/// One or two decimals: 58389.3, 0.98, 10.0.
fn rounded(value: f64) -> String {
    let text = format!("{value:.2}");
    text.strip_suffix('0').map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{distribution, rounded, size};
    use contract::FineHistogram;

    #[test]
    fn a_percentile_needs_ten_requests_above_it() {
        let mut histogram = FineHistogram::default();
        histogram.record_n(1_000_000, 99_999);
        assert!(!distribution("L", &histogram).contains("99.99%"));
        histogram.record(1_000_000);
        assert!(distribution("L", &histogram).ends_with("; 99.99% under 1.000ms"));
    }

    #[test]
    fn sizes_are_written_as_in_the_record() {
        assert_eq!(
            [size(1000.0), size(10240.0), size(102_400.0)],
            ["0.98KiB", "10.0KiB", "100.0KiB"]
        );
        assert_eq!(
            [rounded(58389.3), rounded(55.68), rounded(0.5)],
            ["58389.3", "55.68", "0.5"]
        );
    }
}

//! The report of ApacheBench, field by field. Times in ms with three decimals, where ab has none.

use super::failures::Failures;
use super::lines::{errors, ms, open_loop, options, unanswered};
use crate::cli::flags::{Flags, Protocol};
use crate::report::finished::Finished;
use crate::response::reader::Expect;
use contract::FineHistogram;

const SHARES: [(u32, f64); 8] = [
    (50, 0.5),
    (66, 0.66),
    (75, 0.75),
    (80, 0.8),
    (90, 0.9),
    (95, 0.95),
    (98, 0.98),
    (99, 0.99),
];

/// The line before the run, on stderr.
pub fn announce(flags: &Flags) {
    eprintln!(
        "Benchmarking {} (be patient)",
        flags.target.as_deref().unwrap_or_default()
    );
}

/// The whole report.
pub fn text(finished: &Finished, flags: &Flags) -> String {
    let mut lines = Vec::new();
    if finished.stopped_by.is_none() && flags.requests.is_some() {
        eprintln!("Finished {} requests", finished.tally.answered);
    }
    lines.extend(server(finished, flags));
    lines.push(String::new());
    lines.extend(totals(finished, flags));
    lines.extend(rates(finished, flags));
    lines.push(String::new());
    lines.extend(options_and_errors(finished, flags));
    lines.push(String::new());
    lines.extend(times(finished));
    for (title, histogram) in served(finished) {
        lines.push(String::new());
        lines.extend(percentages(title, histogram));
    }
    lines.join("\n") + "\n"
}

fn field(name: &str, value: impl std::fmt::Display) -> String {
    format!("{:<24}{value}", format!("{name}:"))
}

fn server(finished: &Finished, flags: &Flags) -> Vec<String> {
    let software = match finished.job.expect() {
        Expect::Http(expect) => expect.server.get().cloned().unwrap_or_default(),
        _ => String::new(),
    };
    let path = match (flags.protocol, flags.calc_target) {
        (Protocol::Http, None) => finished.target.path.as_str(),
        (Protocol::Http, Some(_)) | (Protocol::Framed, _) => "/calc",
        (Protocol::Echo, _) => "",
    };
    vec![
        field("Server Software", software),
        field("Server Hostname", &finished.target.host),
        field("Server Port", finished.target.port),
        String::new(),
        field("Document Path", path),
        field("Document Length", format!("{} bytes", document_bytes(finished))),
    ]
}

/// The length that is expected, or else the mean of those that came.
fn document_bytes(finished: &Finished) -> u64 {
    let tally = &finished.tally;
    let expected = match finished.job.expect() {
        Expect::Http(expect) => expect.length.get().copied(),
        _ => None,
    };
    expected.unwrap_or(tally.body_bytes / tally.answered.max(1))
}

fn totals(finished: &Finished, flags: &Flags) -> Vec<String> {
    let tally = &finished.tally;
    let mut lines = vec![
        field("Concurrency Level", flags.connections),
        field("Threads", finished.threads),
        field(
            "Time taken for tests",
            format!("{:.3} seconds", finished.wall_s()),
        ),
        field("Complete requests", tally.answered),
    ];
    lines.extend(failed(&Failures::of(finished)));
    lines.push(field("Keep-Alive requests", tally.kept));
    lines.push(field(
        "Total transferred",
        format!("{} bytes", tally.received_bytes),
    ));
    if sends_bodies(flags) {
        lines.push(field("Total body sent", tally.sent_bytes));
    }
    lines.push(field("HTML transferred", format!("{} bytes", tally.body_bytes)));
    lines
}

fn failed(failures: &Failures) -> Vec<String> {
    let mut lines = vec![field("Failed requests", failures.sum())];
    if failures.sum() > 0 {
        lines.push(format!(
            "   (Connect: {}, Receive: {}, Length: {}, Exceptions: {})",
            failures.connect, failures.receive, failures.length, failures.exceptions
        ));
    }
    if failures.non_2xx > 0 {
        lines.push(field("Non-2xx responses", failures.non_2xx));
    }
    lines
}

fn sends_bodies(flags: &Flags) -> bool {
    flags.protocol != Protocol::Http || !flags.body_bytes.is_empty() || flags.calc_target.is_some()
}

fn rates(finished: &Finished, flags: &Flags) -> Vec<String> {
    let tally = &finished.tally;
    let per_request_ms = finished.wall_s() * 1e3 / tally.answered.max(1) as f64;
    let kbytes_per_s = |bytes: u64| bytes as f64 / 1024.0 / finished.wall_s();
    let received = kbytes_per_s(tally.received_bytes);
    let mut lines = vec![
        field(
            "Requests per second",
            format!("{:.2} [#/sec] (mean)", finished.answers_per_s()),
        ),
        field(
            "Time per request",
            format!("{:.3} [ms] (mean)", per_request_ms * flags.connections as f64),
        ),
        field(
            "Time per request",
            format!("{per_request_ms:.3} [ms] (mean, across all concurrent requests)"),
        ),
        field("Transfer rate", format!("{received:.2} [Kbytes/sec] received")),
    ];
    if sends_bodies(flags) {
        let sent = kbytes_per_s(tally.sent_bytes);
        lines.push(format!("{:<24}{sent:.2} kb/s sent", ""));
        lines.push(format!("{:<24}{:.2} kb/s total", "", sent + received));
    }
    lines
}

/// What happened to the connections, whatever the flags say: a server may close them.
fn connections(finished: &Finished) -> String {
    let (kept, answered) = (finished.tally.kept, finished.tally.answered);
    if finished.job.fresh {
        "a connection for each request".to_owned()
    } else if kept == answered {
        "kept".to_owned()
    } else {
        format!("kept after {kept} of {answered} answers")
    }
}

fn options_and_errors(finished: &Finished, flags: &Flags) -> Vec<String> {
    let cpu_ns = |key: &str| finished.usage[key].as_f64().unwrap_or(0.0);
    let cpu_us = (cpu_ns("cpu_user_ns") + cpu_ns("cpu_system_ns")) / 1e3;
    let per_request_us = cpu_us / finished.tally.answered.max(1) as f64;
    let mut lines = vec![
        field("Connections", connections(finished)),
        field("Options", options(finished)),
        field("Client CPU", format!("{per_request_us:.2} [us] per request")),
    ];
    lines.extend(open_loop(finished, flags));
    lines.extend(unanswered(finished));
    if finished.failed() > 0 {
        lines.push(field("Errors", errors(finished)));
    }
    lines
}

fn times(finished: &Finished) -> Vec<String> {
    let mut connect = finished.connects();
    // a request on a connection that was kept has a connect time of 0, as in ab
    connect.record_n(0, finished.tally.answered.saturating_sub(connect.count()));
    let tally = &finished.tally;
    let mut lines = vec![
        "Connection Times (ms)".to_owned(),
        row("", ["min", "mean", "[+/-sd]", "median", "max"]),
    ];
    lines.push(figures("Connect", &connect));
    lines.push(figures("Processing", &tally.latency));
    lines.push(figures("Waiting", &tally.first_byte));
    lines.push(figures("Total", total(finished)));
    if tally.corrected.count() > 0 {
        lines.push(figures("Corrected", &tally.corrected));
    }
    lines
}

fn row(name: &str, cells: [&str; 5]) -> String {
    let [min, mean, deviation, median, max] = cells;
    format!("{name:<12}{min:>10}{mean:>10} {deviation:>9}{median:>10}{max:>11}")
}

fn figures(name: &str, histogram: &FineHistogram) -> String {
    let shown = [
        histogram.min_ns() as f64,
        histogram.mean_ns(),
        histogram.deviation_ns(),
        histogram.quantile_ns(0.5) as f64,
        histogram.max_ns() as f64,
    ]
    .map(ms);
    row(&format!("{name}:"), shown.each_ref().map(String::as_str))
}

/// Connect and processing together; on connections that are kept that is the processing alone.
fn total(finished: &Finished) -> &FineHistogram {
    if finished.job.fresh {
        &finished.tally.total
    } else {
        &finished.tally.latency
    }
}

fn served(finished: &Finished) -> Vec<(&'static str, &FineHistogram)> {
    let corrected = &finished.tally.corrected;
    if corrected.count() == 0 {
        return vec![(
            "Percentage of the requests served within a certain time (ms)",
            total(finished),
        )];
    }
    vec![
        (
            "Percentage of the requests served within a certain time (ms), from the intended send",
            corrected,
        ),
        (
            "Percentage of the requests served within a certain time (ms), from the actual send",
            total(finished),
        ),
    ]
}

fn percentages(title: &str, histogram: &FineHistogram) -> Vec<String> {
    let mut lines = vec![title.to_owned()];
    for (percent, share) in SHARES {
        lines.push(format!(
            "{percent:>4}% {:>10}",
            ms(histogram.quantile_ns(share) as f64)
        ));
    }
    lines.push(format!(
        " 100% {:>10} (longest request)",
        ms(histogram.max_ns() as f64)
    ));
    lines
}

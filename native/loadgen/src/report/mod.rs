//! What came of a run, for people and for programs.

pub mod ab;
mod failures;
mod json;
mod vmbench;

use std::io::Write;

use crate::flags::{Flags, Report};
use crate::run::Finished;

/// Print the report that the flags ask for on stdout.
pub fn print(finished: &Finished, flags: &Flags) {
    let text = match flags.report {
        Report::Ab => ab::text(finished, flags),
        Report::Vmbench => vmbench::text(finished, flags),
        Report::Json | Report::Child => json::text(finished, flags),
    };
    let _ = std::io::stdout().write_all(text.as_bytes()); // nobody is left to tell of a closed pipe
}

/// Milliseconds with three decimals.
fn ms(value_ns: f64) -> String {
    format!("{:.3}", value_ns / 1e6)
}

/// The connection's options, which change results and so are part of each report.
fn options(finished: &Finished) -> String {
    let options = finished.job.options;
    let nodelay = if finished.target.address.is_unix() {
        "none (Unix socket)".to_owned()
    } else {
        options.nodelay.to_string()
    };
    format!("TCP_NODELAY {nodelay}; socket buffers {}", buffers(finished))
}

/// Asked and actual: the kernel doubles what it is asked for, and bounds it.
fn buffers(finished: &Finished) -> String {
    let asked = match finished.job.options.buffer_bytes {
        0 => "kernel default".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    finished.job.actual.get().map_or(asked.clone(), |actual| {
        format!(
            "{asked} (actual: send {}, receive {})",
            actual.send_bytes, actual.receive_bytes
        )
    })
}

/// `3 x closed, 1 x 503`; empty if there were none.
fn errors(finished: &Finished) -> String {
    let tally = &finished.tally;
    let mut all: Vec<String> = tally
        .errors
        .iter()
        .map(|(code, number)| format!("{number} x {code}"))
        .collect();
    if tally.wrong > 0 {
        all.push(format!("{} x wrong", tally.wrong));
    }
    if tally.given_up > 0 {
        all.push(format!("{} connections given up", tally.given_up));
    }
    all.join(", ")
}

/// What is to be known about an open loop; empty for a closed one.
fn open_loop(finished: &Finished, flags: &Flags) -> Vec<String> {
    let (Some(rate), Some(open_loop)) = (flags.rate, finished.open_loop) else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "Open loop: {rate} requests/s were to be sent, {:.2} were",
        open_loop.offered_per_s
    )];
    if open_loop.overdue > 0 {
        lines.push(format!(
            "Overdue: {} requests were due and never sent: corrected figures are lower bounds",
            open_loop.overdue
        ));
    }
    lines
}

/// What failures do to latencies; empty where there were none.
fn unanswered(finished: &Finished) -> Vec<String> {
    let number = finished.tally.unanswered;
    if number == 0 {
        return Vec::new();
    }
    let corrected = if finished.open_loop.is_some() {
        "; in corrected latencies they count until they failed, so these are lower bounds"
    } else {
        ""
    };
    vec![format!(
        "Unanswered: {number} requests failed and are in no raw latency{corrected}"
    )]
}

//! What came of a run, for people and for programs.

pub mod ab;
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
    let buffer = match options.buffer_bytes {
        0 => "kernel default".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    let nodelay = if finished.target.address.is_unix() {
        "none (Unix socket)".to_owned()
    } else {
        options.nodelay.to_string()
    };
    format!("TCP_NODELAY {nodelay}; socket buffers {buffer}")
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
    let Some(rate) = flags.rate else {
        return Vec::new();
    };
    let mut lines = vec![format!("Open loop: {rate} requests/s were to be sent")];
    if finished.tally.overdue > 0 {
        lines.push(format!(
            "Overdue: {} requests were due and not sent when time was over: corrected figures are lower bounds",
            finished.tally.overdue
        ));
    }
    lines
}

//! Lines of the report for people that ApacheBench does not have.

use super::finished::Finished;
use crate::cli::flags::Flags;

/// Milliseconds with three decimals.
pub fn ms(value_ns: f64) -> String {
    format!("{:.3}", value_ns / 1e6)
}

/// The connection's options, which change results and so are part of each report.
pub fn options(finished: &Finished) -> String {
    let options = finished.job.options;
    let nodelay = if finished.target.address.is_unix() {
        "none (Unix socket)".to_owned()
    } else {
        options.nodelay.to_string()
    };
    format!("TCP_NODELAY {nodelay}; socket buffers {}", buffers(finished))
}

/// Requested and actual sizes: the kernel doubles a size that is set, and bounds it.
fn buffers(finished: &Finished) -> String {
    let requested = match finished.job.options.buffer_bytes {
        0 => "kernel default".to_owned(),
        bytes => format!("{bytes} bytes"),
    };
    finished.job.actual.get().map_or(requested.clone(), |actual| {
        format!(
            "{requested} (actual: send {}, receive {})",
            actual.send_bytes, actual.receive_bytes
        )
    })
}

/// `3 x closed, 1 x 503`; empty if there were none.
pub fn errors(finished: &Finished) -> String {
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

/// Offered and overdue requests of an open loop; empty for a closed one.
pub fn open_loop(finished: &Finished, flags: &Flags) -> Vec<String> {
    let (Some(rate), Some(open_loop)) = (flags.rate, finished.open_loop) else {
        return Vec::new();
    };
    let mut lines = vec![format!(
        "Open loop: {:.2} of {rate} requests/s were sent",
        open_loop.offered_per_s
    )];
    if open_loop.overdue > 0 {
        lines.push(format!(
            "Overdue: {} requests were due and never sent, so corrected figures are lower bounds",
            open_loop.overdue
        ));
    }
    lines
}

/// What failures mean for latencies; empty where there were none.
pub fn unanswered(finished: &Finished) -> Vec<String> {
    let number = finished.tally.unanswered;
    if number == 0 {
        return Vec::new();
    }
    let corrected = if finished.open_loop.is_some() {
        "; corrected latencies include them up to their failure and are lower bounds"
    } else {
        ""
    };
    vec![format!(
        "Unanswered: {number} requests failed; raw latencies do not include them{corrected}"
    )]
}

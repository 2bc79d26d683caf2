//! The outcome of a run, for people and for programs.

pub mod ab;
mod failures;
pub mod finished;
mod json;
mod lines;

use std::io::Write;

use crate::cli::flags::{Flags, Report};
use crate::report::finished::Finished;

/// Print the report that the flags ask for on stdout.
pub fn print(finished: &Finished, flags: &Flags) {
    let text = match flags.report {
        Report::Ab => ab::text(finished, flags),
        Report::Json | Report::Child => json::text(finished, flags),
    };
    let _ = std::io::stdout().write_all(text.as_bytes()); // the reader may have closed the pipe
}

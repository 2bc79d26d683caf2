//! loadgen: a load generator for HTTP/1.1, frames and raw echo. docs/experiments.md says how to use it.
//!
//! cli: the command line. request, response: what is sent, and how an answer is read and checked. net: sockets.
//! limits: what a peer may make it hold, read or wait for.
//! engine: threads, their event loops and what they count. report: the outcome for people and programs.
//! run and child: the two ways to be started, by hand and by the orchestrator.

mod child;
mod cli;
mod engine;
mod limits;
mod net;
mod open_files;
mod report;
mod request;
mod response;
mod run;
mod stop_signal;

use std::process::ExitCode;

use crate::cli::flags::{Flags, Report};

/// 0: every answer was right. 1: some were not, or nothing could be sent. 130, 143: ended by a signal.
fn main() -> ExitCode {
    let flags = cli::read();
    open_files::raise_limit();
    let status = if flags.report == Report::Child {
        child::call(&flags).map(|()| 0)
    } else {
        by_hand(&flags)
    };
    match status {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            eprintln!("loadgen: {error}");
            ExitCode::from(1)
        }
    }
}

fn by_hand(flags: &Flags) -> Result<u8, String> {
    stop_signal::listen().map_err(|error| format!("signals cannot be caught: {error}"))?;
    if flags.report == Report::Ab {
        report::ab::announce(flags);
    }
    let finished = run::run(flags)?;
    report::print(&finished, flags);
    Ok(match finished.stopped_by {
        Some(signal) => 128 + signal as u8,
        None => u8::from(finished.failed() > 0 || finished.tally.answered == 0),
    })
}

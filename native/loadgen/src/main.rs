//! loadgen: a load generator for HTTP/1.1, frames and raw echo. docs/loadgen.md says how to use it.

mod answer;
mod asked;
mod child;
mod connection;
mod crew;
mod exchange;
mod flags;
mod job;
mod lane;
mod limits;
mod message;
mod opening;
mod parent;
mod progress;
mod reader;
mod recorder;
mod report;
mod run;
mod schedule;
mod socket;
mod stop;
mod tally;
mod target;
mod timer;
mod unread;
mod values;
mod worker;

use std::process::ExitCode;

use flags::{Flags, Report};

/// 0: every answer was right. 1: some were not, or nothing could be asked. 130, 143: ended by a signal.
fn main() -> ExitCode {
    let flags = Flags::read();
    limits::raise_open_files();
    let status = if flags.report == Report::Child {
        child::call(&flags).map(|()| 0)
    } else {
        alone(&flags)
    };
    match status {
        Ok(status) => ExitCode::from(status),
        Err(wrong) => {
            eprintln!("loadgen: {wrong}");
            ExitCode::from(1)
        }
    }
}

fn alone(flags: &Flags) -> Result<u8, String> {
    stop::listen().map_err(|error| format!("signals cannot be caught: {error}"))?;
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

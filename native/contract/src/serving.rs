//! The life of a server: as a child, or started by hand.

use std::error::Error;
use std::process::ExitCode;

use serde_json::{Map, Value};

use crate::affinity::stay_on;
use crate::cell::{Cell, CellError, read_cell};
use crate::lines::{next_word, say_done, say_ready, say_result};
use crate::peers::{serve_only, strangers};
use crate::program::{Program, exit_status};
use crate::stop::StopSignals;
use crate::usage::Usage;

/// What a service counts while other threads serve.
pub trait Counted {
    /// Start again at 0: the warm-up is over and no request is in flight.
    fn reset(&self);
    /// `requests`, answered since the reset, and whatever else is counted.
    fn counters(&self) -> Map<String, Value>;
}

/// A service that serves, and its addresses.
pub type Started<S> = Result<(S, Vec<String>), Box<dyn Error>>;

/// A server's main: options from its flags or, with `--child`, from its cell; then it serves until it is stopped.
pub fn run_server<O, S: Counted>(
    program: &Program,
    is_child: bool,
    from_flags: impl FnOnce() -> O,
    from_cell: impl FnOnce(&Cell) -> Result<O, CellError>,
    start: impl FnOnce(O) -> Started<S>,
) -> ExitCode {
    let run = || -> Result<(), Box<dyn Error>> {
        if !is_child {
            return serve_by_hand(|| start(from_flags()));
        }
        let cell = read_cell()?;
        stay_on(&cell.cpus)?;
        serve_only(&cell.peers);
        let (service, addresses) = start(from_cell(&cell)?)?;
        serve_until_stopped(&service, &addresses, program);
        Ok(())
    };
    exit_status(program, run())
}

fn serve_by_hand<S: Counted>(start: impl FnOnce() -> Started<S>) -> Result<(), Box<dyn Error>> {
    let signals = StopSignals::hold_back();
    let (service, addresses) = start()?;
    eprintln!("listening on {}", addresses.join(" "));
    signals.wait();
    remove_files(&addresses);
    eprintln!("{}", Value::Object(service.counters()));
    Ok(())
}

/// Say ready, obey `reset`, and at end of file on stdin remove the socket files and say the result.
fn serve_until_stopped(service: &impl Counted, addresses: &[String], program: &Program) {
    let mut usage = Usage::start();
    say_ready(addresses, program);
    while let Some(word) = next_word() {
        if word == "reset" {
            service.reset();
            usage = Usage::start();
            say_done(&word);
        }
    }
    let mut result = usage.to_json();
    result.extend(service.counters());
    result.extend(strangers().map(|count| ("strangers".to_owned(), count.into())));
    remove_files(addresses);
    say_result(result);
}

/// Remove the files of the addresses that are Unix paths.
fn remove_files(addresses: &[String]) {
    for path in addresses.iter().filter(|address| !address.contains(':')) {
        let _ = std::fs::remove_file(path);
    }
}

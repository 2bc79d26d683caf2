//! Why a request failed, in the codes of docs/child-contract.md.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter::successors;

/// The code of an error: connect, closed, reset, timeout or garbled.
pub fn code_of(error: &reqwest::Error) -> &'static str {
    if error.is_connect() {
        return if error.is_timeout() { "timeout" } else { "connect" };
    }
    if error.is_timeout() {
        return "timeout";
    }
    chain(error).find_map(code_of_source).unwrap_or("garbled")
}

/// The error and all its sources, as one line.
pub fn text_of(error: &reqwest::Error) -> String {
    chain(error)
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    successors(Some(error as &(dyn Error + 'static)), |&error| error.source())
}

fn code_of_source(source: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = source.downcast_ref::<hyper::Error>() {
        return (error.is_incomplete_message() || error.is_closed()).then_some("closed");
    }
    match source.downcast_ref::<io::Error>()?.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => Some("reset"),
        ErrorKind::UnexpectedEof => Some("closed"),
        ErrorKind::TimedOut => Some("timeout"),
        _ => None,
    }
}

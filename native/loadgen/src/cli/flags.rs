//! The command line.

use std::time::Duration;

use clap::{ArgAction, Parser, ValueEnum};
use contract::{MAX_BUFFER_BYTES, MAX_THREADS, whole_number};

use crate::cli::values::{self, MAX_CONNECTIONS, MAX_MESSAGE_BYTES, MAX_PAYLOAD_BYTES, Warmup};

/// The protocol.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Protocol {
    /// HTTP/1.1
    Http,
    /// 4-byte big-endian length and JSON: POST /calc of docs/child-contract.md
    Framed,
    /// Messages of a fixed size that come back as they are
    Echo,
}

/// The form of the report.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Report {
    /// The fields of ApacheBench
    Ab,
    /// Everything, including histograms
    Json,
    /// Speak the child contract as a client: the cell on stdin, the result on stdout
    Child,
}

/// A load generator for HTTP/1.1, frames and raw echo, in closed and open loop. Every answer is checked.
#[derive(Debug, Parser)]
#[command(name = "loadgen", version, max_term_width = 100)]
pub struct Flags {
    /// http://host:port/path or unix:/path.sock:/path; framed and echo: host:port or /path.sock
    pub target: Option<String>,
    #[arg(long, value_enum, default_value_t = Protocol::Http)]
    pub protocol: Protocol,
    #[arg(long, value_enum, default_value_t = Report::Ab)]
    pub report: Report,
    /// Connections; each has at most one request in flight
    #[arg(short, long, default_value = "1", value_parser = whole_number::<u64>(1, MAX_CONNECTIONS))]
    pub connections: u64,
    /// Threads [default: one per core, at most one per connection]
    #[arg(short, long, value_parser = whole_number::<usize>(1, MAX_THREADS))]
    pub threads: Option<usize>,
    /// Requests in total
    #[arg(short = 'n', long, value_parser = whole_number::<u64>(1, u64::MAX))]
    pub requests: Option<u64>,
    /// Send for this long, such as 30, 30s or 500ms, instead of a number of --requests
    #[arg(short, long, value_parser = values::duration, conflicts_with = "requests")]
    pub duration: Option<Duration>,
    /// Open loop: total requests per second, sent when due; latency is also measured from when each was due
    #[arg(short, long, value_parser = values::rate)]
    pub rate: Option<f64>,
    /// Requests (1000) or time (2s) before anything is counted
    #[arg(long, value_parser = values::warmup)]
    pub warmup: Option<Warmup>,
    /// A request that takes longer counts as an error
    #[arg(long, value_parser = values::duration, default_value = "30s")]
    pub timeout: Duration,
    /// HTTP method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS [default: GET, or POST with a body]
    #[arg(short, long, value_parser = values::method)]
    pub method: Option<String>,
    /// HTTP header `Name: value`; may be repeated
    #[arg(short = 'H', long = "header", value_parser = values::header)]
    pub headers: Vec<String>,
    /// HTTP body
    #[arg(long)]
    pub body: Option<String>,
    /// File with the HTTP body
    #[arg(long, conflicts_with = "body")]
    pub body_file: Option<std::path::PathBuf>,
    /// HTTP path for --report child to GET instead of sending POST /calc
    #[arg(long, value_parser = values::path)]
    pub path: Option<String>,
    /// false: a new connection for each HTTP request, with `Connection: close`
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub keep_alive: bool,
    /// A new connection for each request, whatever the protocol
    #[arg(long)]
    pub fresh: bool,
    /// HTTP status of a right answer
    #[arg(long, default_value_t = 200, value_name = "STATUS")]
    pub expect_status: u16,
    /// Length of a right answer's body in bytes [default: that of the first answer]
    #[arg(long)]
    pub expect_length: Option<u64>,
    /// How far /calc counts [default for framed: 1000]; with HTTP: send POST /calc and check the count
    #[arg(long)]
    pub calc_target: Option<u64>,
    /// Filler text in each /calc request
    #[arg(long, default_value = "0", value_parser = whole_number::<usize>(0, MAX_PAYLOAD_BYTES))]
    pub payload_bytes: usize,
    /// Size of an echo message
    #[arg(long, default_value = "1000", value_parser = whole_number::<usize>(1, MAX_MESSAGE_BYTES))]
    pub message_bytes: usize,
    /// TCP_NODELAY
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel
    #[arg(long, default_value = "0", value_parser = whole_number::<usize>(0, MAX_BUFFER_BYTES))]
    pub buffer_bytes: usize,
    /// The bytes of body or body_file.
    #[arg(skip)]
    pub body_bytes: Vec<u8>,
}

impl Flags {
    /// The flags in these words; for tests.
    #[cfg(test)]
    pub fn from_words(words: &[&str]) -> Self {
        let mut flags = Self::parse_from(std::iter::once(&"loadgen").chain(words));
        flags.complete().expect("the words are a test's own");
        flags
    }

    /// The method that was given; otherwise GET, or POST with a body.
    pub fn method(&self) -> &str {
        let default = if self.body_bytes.is_empty() { "GET" } else { "POST" };
        self.method.as_deref().unwrap_or(default)
    }

    pub fn timeout_ns(&self) -> u64 {
        u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX / 2)
    }

    /// Read the body, and check that there is a target and an amount. Fails with what is missing.
    pub fn complete(&mut self) -> Result<(), String> {
        if let Some(path) = &self.body_file {
            self.body_bytes =
                std::fs::read(path).map_err(|error| format!("--body-file is {}: {error}", path.display()))?;
        } else if let Some(body) = &self.body {
            self.body_bytes = body.clone().into_bytes();
        }
        if self.report == Report::Child {
            return Ok(());
        }
        if self.target.is_none() {
            return Err(
                "the target is missing: give http://host:port/path or unix:/path.sock:/path, \
                        or for frames and echo host:port or /path.sock"
                    .to_owned(),
            );
        }
        if self.requests.is_none() && self.duration.is_none() {
            return Err("the amount is missing: give --requests 10000 or --duration 10s".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Flags;
    use clap::Parser;

    #[test]
    fn a_body_makes_a_post_and_an_amount_is_needed() {
        assert_eq!(
            Flags::from_words(&["-n", "1", "--body", "x", "http://h:1/"]).method(),
            "POST"
        );
        assert_eq!(Flags::from_words(&["-n", "1", "http://h:1/"]).method(), "GET");
        let mut without_amount = Flags::parse_from(["loadgen", "http://h:1/"]);
        assert!(without_amount.complete().unwrap_err().contains("--requests"));
    }
}

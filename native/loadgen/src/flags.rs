//! The command line.

use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::unread;
use crate::values::{self, Warmup};

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Protocol {
    /// HTTP/1.1
    Http,
    /// 4-byte big-endian length and JSON: POST /calc of docs/child-contract.md
    Framed,
    /// Messages of a fixed size that come back as they are
    Echo,
}

/// How the outcome is told.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub enum Report {
    /// The fields of ApacheBench
    Ab,
    /// The form of vmbench: a line for latency, one for its distribution
    Vmbench,
    /// Everything, histograms too
    Json,
    /// Be a client of the child contract: the cell on stdin, the result on stdout
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
    /// Connections, each with one request under way at most
    #[arg(short, long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub connections: u64,
    /// Threads [default: as many as cores, at most one for each connection]
    #[arg(short, long, value_parser = values::threads)]
    pub threads: Option<usize>,
    /// How many requests in all
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// How long, such as 30, 30s or 500ms, in place of --requests
    #[arg(short, long, value_parser = values::duration, conflicts_with = "requests")]
    pub duration: Option<Duration>,
    /// Open loop: so many requests per second in all, sent when due; latency also from when they were due
    #[arg(short, long, value_parser = values::rate)]
    pub rate: Option<f64>,
    /// So many requests (1000) or so long (2s) before anything is counted
    #[arg(long, value_parser = values::warmup)]
    pub warmup: Option<Warmup>,
    /// A request that takes longer is an error
    #[arg(long, value_parser = values::duration, default_value = "30s")]
    pub timeout: Duration,
    /// HTTP method: GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS [default: GET, with a body POST]
    #[arg(short, long, value_parser = values::method)]
    pub method: Option<String>,
    /// HTTP header `Name: value`; may be given several times
    #[arg(short = 'H', long = "header", value_parser = values::header)]
    pub headers: Vec<String>,
    /// HTTP body
    #[arg(long)]
    pub body: Option<String>,
    /// File with the HTTP body
    #[arg(long, conflicts_with = "body")]
    pub body_file: Option<std::path::PathBuf>,
    /// HTTP path that --report child asks for with GET, in place of POST /calc
    #[arg(long, value_parser = values::path)]
    pub path: Option<String>,
    /// false: a connection for each HTTP request, with `Connection: close`
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub keep_alive: bool,
    /// A connection for each request, whatever the protocol
    #[arg(long)]
    pub fresh: bool,
    /// HTTP status of a right answer
    #[arg(long, default_value_t = 200, value_name = "STATUS")]
    pub expect_status: u16,
    /// Bytes of a right answer's body [default: those of the first answer]
    #[arg(long)]
    pub expect_length: Option<u64>,
    /// How far /calc is to count [default of framed: 1000]; with HTTP: POST /calc and check the count
    #[arg(long)]
    pub calc_target: Option<u64>,
    /// Filler text in each /calc request
    #[arg(long, default_value_t = 0, value_parser = values::payload)]
    pub payload_bytes: usize,
    /// Size of an echo message
    #[arg(long, default_value_t = 1000, value_parser = values::message)]
    pub message_bytes: usize,
    /// TCP_NODELAY
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel
    #[arg(long, default_value_t = 0, value_parser = values::buffer)]
    pub buffer_bytes: usize,
    /// What body or body_file says.
    #[arg(skip)]
    pub body_bytes: Vec<u8>,
}

impl Flags {
    /// The flags of this process. Ends it with status 2 if they cannot be.
    pub fn read() -> Self {
        let given = Self::command().get_matches();
        let mut flags = Self::from_arg_matches(&given).unwrap_or_else(|wrong| wrong.exit());
        if let Err(wrong) = unread::refuse(&flags, &given).and_then(|()| flags.complete()) {
            Self::command().error(ErrorKind::ValueValidation, wrong).exit();
        }
        flags
    }

    /// What they make of these words; for tests.
    #[cfg(test)]
    pub fn from_words(words: &[&str]) -> Self {
        let mut flags = Self::parse_from(std::iter::once(&"loadgen").chain(words));
        flags.complete().expect("the words are a test's own");
        flags
    }

    /// GET, or with a body POST, unless it is given.
    pub fn method(&self) -> &str {
        let usual = if self.body_bytes.is_empty() { "GET" } else { "POST" };
        self.method.as_deref().unwrap_or(usual)
    }

    pub fn timeout_ns(&self) -> u64 {
        u64::try_from(self.timeout.as_nanos()).unwrap_or(u64::MAX / 2)
    }

    fn complete(&mut self) -> Result<(), String> {
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
                "there is no target; give http://host:port/path, unix:/path.sock:/path, \
                        or for frames and echo host:port or /path.sock"
                    .to_owned(),
            );
        }
        if self.requests.is_none() && self.duration.is_none() {
            return Err("how much is not said; give --requests 10000 or --duration 10s".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Flags;
    use clap::Parser;

    #[test]
    fn a_body_makes_a_post_and_what_is_not_said_is_refused() {
        assert_eq!(
            Flags::from_words(&["-n", "1", "--body", "x", "http://h:1/"]).method(),
            "POST"
        );
        assert_eq!(Flags::from_words(&["-n", "1", "http://h:1/"]).method(), "GET");
        let mut silent = Flags::parse_from(["loadgen", "http://h:1/"]);
        assert!(silent.complete().unwrap_err().contains("--requests"));
    }
}

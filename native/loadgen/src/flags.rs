//! The command line.

use std::time::Duration;

use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory, Parser, ValueEnum};

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

/// What is asked before anything is counted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Warmup {
    Requests(u64),
    Time(Duration),
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
    #[arg(short, long, value_parser = threads)]
    pub threads: Option<usize>,
    /// How many requests in all
    #[arg(short = 'n', long, value_parser = clap::value_parser!(u64).range(1..))]
    pub requests: Option<u64>,
    /// How long, such as 30, 30s or 500ms, in place of --requests
    #[arg(short, long, value_parser = duration, conflicts_with = "requests")]
    pub duration: Option<Duration>,
    /// Open loop: so many requests per second in all, sent when due; latency also from when they were due
    #[arg(short, long, value_parser = rate)]
    pub rate: Option<f64>,
    /// So many requests (1000) or so long (2s) before anything is counted
    #[arg(long, value_parser = warmup)]
    pub warmup: Option<Warmup>,
    /// A request that takes longer is an error
    #[arg(long, value_parser = duration, default_value = "30s")]
    pub timeout: Duration,
    /// HTTP method [default: GET, with a body POST]
    #[arg(short, long)]
    pub method: Option<String>,
    /// HTTP header `Name: value`; may be given several times
    #[arg(short = 'H', long = "header", value_parser = header)]
    pub headers: Vec<String>,
    /// HTTP body
    #[arg(long)]
    pub body: Option<String>,
    /// File with the HTTP body
    #[arg(long, conflicts_with = "body")]
    pub body_file: Option<std::path::PathBuf>,
    /// HTTP path that --report child asks for with GET, in place of POST /calc
    #[arg(long)]
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
    #[arg(long, default_value_t = 0)]
    pub payload_bytes: usize,
    /// Size of an echo message
    #[arg(long, default_value_t = 1000, value_parser = size)]
    pub message_bytes: usize,
    /// TCP_NODELAY
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel
    #[arg(long, default_value_t = 0)]
    pub buffer_bytes: usize,
    /// What body or body_file says.
    #[arg(skip)]
    pub body_bytes: Vec<u8>,
}

impl Flags {
    /// The flags of this process. Ends it with status 2 if they cannot be.
    pub fn read() -> Self {
        let mut flags = Self::parse();
        if let Err(wrong) = flags.complete() {
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

fn threads(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1024).contains(number));
    number.ok_or_else(|| "it must be a whole number from 1 to 1024".to_owned())
}

fn size(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=1 << 30).contains(number));
    number.ok_or_else(|| "it must be a whole number from 1 to 1073741824".to_owned())
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (1e-3..=1e8).contains(number));
    number.ok_or_else(|| "it must be requests per second, a number from 0.001 to 100000000".to_owned())
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit_s) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let seconds = number.parse::<f64>().ok().map(|number| number * unit_s);
    seconds
        .filter(|seconds| (1e-3..=86_400.0).contains(seconds))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "it must be a time from 1ms to 86400s, such as 30, 30s or 500ms".to_owned())
}

fn warmup(text: &str) -> Result<Warmup, String> {
    match text.parse::<u64>() {
        Ok(0) | Err(_) => duration(text).map(Warmup::Time).map_err(|_| {
            "it must be a number of requests such as 1000, or a time such as 2s or 500ms".to_owned()
        }),
        Ok(requests) => Ok(Warmup::Requests(requests)),
    }
}

fn header(text: &str) -> Result<String, String> {
    let (name, value) = text.split_once(':').ok_or("it must be `Name: value`")?;
    let plain = |part: &str| !part.contains(['\r', '\n']);
    if name.trim().is_empty() || !plain(name) || !plain(value) {
        return Err("it must be `Name: value` in one line".to_owned());
    }
    Ok(format!("{}: {}", name.trim(), value.trim()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Flags, Warmup, duration, header, warmup};
    use clap::Parser;

    #[test]
    fn times_and_numbers_are_told_apart() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2"), Ok(Duration::from_secs(2)));
        assert!(duration("0").is_err() && duration("2m").is_err() && duration("NaN").is_err());
        assert_eq!(warmup("1000"), Ok(Warmup::Requests(1000)));
        assert_eq!(warmup("1.5s"), Ok(Warmup::Time(Duration::from_millis(1500))));
        assert!(warmup("0").is_err());
    }

    #[test]
    fn a_header_is_one_line_with_a_name() {
        assert_eq!(header("A:b:c"), Ok("A: b:c".to_owned()));
        assert!(header("A").is_err() && header(": b").is_err() && header("A: b\r\nC: d").is_err());
    }

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

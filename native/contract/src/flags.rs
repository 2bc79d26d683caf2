//! The flags of a server that is started by hand, and where a server listens: by its flags or by its cell.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::cell::{Cell, CellError};
use crate::listen::{Endpoint, SocketOptions};

const LOOPBACK: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 25_000;
const MOST_THREADS: u64 = 1000;
const MOST_BUFFER_BYTES: u64 = i32::MAX as u64;
const SERVER_VALUES: [&str; 6] = ["host", "port", "socket", "threads", "nodelay", "buffer-bytes"];

/// Flags as they were given: `--name value`, or `--name` alone for a switch.
#[derive(Debug, Default)]
pub struct Flags(BTreeMap<String, String>);

impl Flags {
    /// The flags of a server: `--child`, those that all servers have, and `more` that take a value.
    pub fn of_server(arguments: impl Iterator<Item = String>, more: &[&str]) -> Result<Self, CellError> {
        let names: Vec<&str> = SERVER_VALUES.iter().chain(more).copied().collect();
        Self::read(arguments, &["child"], &names)
    }

    /// Flags of which `switches` stand alone and `values` take one.
    pub fn read(
        mut arguments: impl Iterator<Item = String>,
        switches: &[&str],
        values: &[&str],
    ) -> Result<Self, CellError> {
        let mut flags = BTreeMap::new();
        while let Some(argument) = arguments.next() {
            let name = argument.strip_prefix("--").unwrap_or("");
            if switches.contains(&name) {
                flags.insert(name.to_owned(), "true".to_owned());
            } else if values.contains(&name) {
                let value = arguments
                    .next()
                    .ok_or_else(|| CellError::new(format!("--{name} has no value; give one after it")))?;
                flags.insert(name.to_owned(), value);
            } else {
                let known: Vec<String> = switches
                    .iter()
                    .chain(values)
                    .map(|name| format!("--{name}"))
                    .collect();
                let accepted = known.join(", ");
                return Err(CellError::new(format!(
                    "{argument} is no flag; accepted: {accepted}"
                )));
            }
        }
        Ok(Self(flags))
    }

    /// Whether a switch was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The text after a flag.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The value after a flag, read as `T`.
    pub fn value<T: FromStr>(&self, name: &str, default: T, accepted: &str) -> Result<T, CellError> {
        self.text(name).map_or(Ok(default), |text| {
            text.parse()
                .map_err(|_| CellError::new(format!("--{name} is {text}; it must be {accepted}")))
        })
    }

    /// The whole number after a flag, within bounds.
    pub fn whole(&self, name: &str, bounds: RangeInclusive<u64>, default: usize) -> Result<usize, CellError> {
        self.text(name).map_or(Ok(default), |text| {
            let number = text.parse().ok().filter(|number| bounds.contains(number));
            number.map(|number| number as usize).ok_or_else(|| {
                let (low, high) = bounds.into_inner();
                CellError::new(format!(
                    "--{name} is {text}; it must be a whole number from {low} to {high}"
                ))
            })
        })
    }
}

/// Where a server listens and with what.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub endpoints: Vec<Endpoint>,
    pub threads: usize,
    pub sockets: SocketOptions,
}

impl ServerOptions {
    /// By hand: one endpoint.
    pub fn from_flags(flags: &Flags) -> Result<Self, CellError> {
        let endpoint = match flags.text("socket") {
            Some(path) => Endpoint::Unix(path.into()),
            None => Endpoint::Tcp(
                flags.text("host").unwrap_or(LOOPBACK).to_owned(),
                flags.value("port", DEFAULT_PORT, "a port from 0 to 65535")?,
            ),
        };
        let sockets = SocketOptions {
            nodelay: flags.value("nodelay", true, "true or false")?,
            buffer_bytes: flags.whole("buffer-bytes", 0..=MOST_BUFFER_BYTES, 0)?,
        };
        Ok(Self {
            endpoints: vec![endpoint],
            threads: flags.whole("threads", 1..=MOST_THREADS, 1)?,
            sockets,
        })
    }

    /// By a cell: `sockets` endpoints over its TRANSPORT, a Unix socket if it says none.
    pub fn from_cell(cell: &Cell, sockets: u64) -> Result<Self, CellError> {
        Self::over(cell, sockets, &cell.params.text("TRANSPORT", "unix")?)
    }

    /// By a cell, for a server of HTTP: like system 3 it is on TCP, unless TRANSPORT is among its parameters.
    pub fn from_http_cell(cell: &Cell) -> Result<Self, CellError> {
        Self::over(cell, 1, &cell.params.text("TRANSPORT", "tcp")?)
    }

    fn over(cell: &Cell, sockets: u64, transport: &str) -> Result<Self, CellError> {
        let service_id = cell.service_id.unwrap_or(0);
        let endpoint = |number| match transport {
            "unix" => Ok(Endpoint::Unix(cell.folder.join(format!("{service_id}.{number}")))),
            "tcp" => Ok(Endpoint::Tcp(LOOPBACK.to_owned(), 0)),
            other => Err(CellError::new(format!(
                "TRANSPORT is {other}; it must be unix or tcp"
            ))),
        };
        Ok(Self {
            endpoints: (0..sockets.max(1)).map(endpoint).collect::<Result<_, _>>()?,
            threads: cell.params.within("NUM_SERVER_THREADS", 1..=MOST_THREADS, 1)? as usize,
            sockets: SocketOptions {
                nodelay: cell.params.truth("NODELAY", true)?,
                buffer_bytes: cell.params.within("BUFFER_BYTES", 0..=MOST_BUFFER_BYTES, 0)? as usize,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Flags, ServerOptions};
    use crate::cell::parse_cell;
    use crate::listen::Endpoint;

    fn words(line: &str) -> impl Iterator<Item = String> {
        line.split(' ').map(str::to_owned).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn flags_say_where_to_listen() {
        let flags = Flags::of_server(words("--port 80 --threads 2 --nodelay false"), &[]).unwrap();
        let options = ServerOptions::from_flags(&flags).unwrap();
        assert_eq!(options.endpoints, [Endpoint::Tcp("127.0.0.1".to_owned(), 80)]);
        assert_eq!((options.threads, options.sockets.nodelay), (2, false));
    }

    #[test]
    fn a_flag_that_is_none_is_named_with_those_there_are() {
        let error = Flags::read(words("--prot 80"), &["child"], &["port"]).unwrap_err();
        assert_eq!(error.to_string(), "--prot is no flag; accepted: --child, --port");
    }

    #[test]
    fn threads_and_buffers_have_bounds() {
        for (line, wrong) in [
            (
                "--threads 0",
                "--threads is 0; it must be a whole number from 1 to 1000",
            ),
            (
                "--buffer-bytes -1",
                "--buffer-bytes is -1; it must be a whole number from 0 to 2147483647",
            ),
        ] {
            let flags = Flags::of_server(words(line), &[]).unwrap();
            assert_eq!(ServerOptions::from_flags(&flags).unwrap_err().to_string(), wrong);
        }
        let cell = parse_cell(r#"{"params": {"NUM_SERVER_THREADS": 0}}"#).unwrap();
        let wrong = ServerOptions::from_cell(&cell, 1).unwrap_err().to_string();
        assert_eq!(
            wrong,
            "NUM_SERVER_THREADS is 0; it must be a whole number from 1 to 1000"
        );
    }

    #[test]
    fn a_cell_without_a_transport_means_unix_and_over_http_tcp() {
        let cell = parse_cell(r#"{"folder": "/tmp/x"}"#).unwrap();
        let unix = ServerOptions::from_cell(&cell, 1).unwrap();
        assert_eq!(unix.endpoints, [Endpoint::Unix("/tmp/x/0.0".into())]);
        let tcp = ServerOptions::from_http_cell(&cell).unwrap();
        assert_eq!(tcp.endpoints, [Endpoint::Tcp("127.0.0.1".to_owned(), 0)]);
        assert!(tcp.sockets.nodelay);
    }

    #[test]
    fn a_cell_says_how_many_unix_sockets_there_are() {
        let cell =
            parse_cell(r#"{"params": {"TRANSPORT": "unix"}, "folder": "/tmp/x", "service_id": 3}"#).unwrap();
        let options = ServerOptions::from_cell(&cell, 2).unwrap();
        let expected = ["/tmp/x/3.0", "/tmp/x/3.1"].map(|path| Endpoint::Unix(path.into()));
        assert_eq!(options.endpoints, expected);
    }
}

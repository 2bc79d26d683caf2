//! The flags of a server that is started by hand, and where a server listens: by its flags or by its cell.

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::cell::{Cell, CellError};
use crate::listen::{Endpoint, SocketOptions};

const LOOPBACK: &str = "127.0.0.1";
const DEFAULT_PORT: u16 = 25_000;
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
            buffer_bytes: flags.value("buffer-bytes", 0, "a whole number of at least 0")?,
        };
        let threads: usize = flags.value("threads", 1, "a whole number of at least 1")?;
        Ok(Self {
            endpoints: vec![endpoint],
            threads: threads.max(1),
            sockets,
        })
    }

    /// By a cell: `sockets` endpoints over its TRANSPORT.
    pub fn from_cell(cell: &Cell, sockets: u64) -> Result<Self, CellError> {
        let transport = cell.params.text("TRANSPORT", "tcp")?;
        let service_id = cell.service_id.unwrap_or(0);
        let endpoint = |number| match transport.as_str() {
            "unix" => Ok(Endpoint::Unix(cell.folder.join(format!("{service_id}.{number}")))),
            "tcp" => Ok(Endpoint::Tcp(LOOPBACK.to_owned(), 0)),
            other => Err(CellError::new(format!(
                "TRANSPORT is {other}; it must be unix or tcp"
            ))),
        };
        Ok(Self {
            endpoints: (0..sockets.max(1)).map(endpoint).collect::<Result<_, _>>()?,
            threads: cell.params.whole("NUM_SERVER_THREADS", 1)?.max(1) as usize,
            sockets: SocketOptions {
                nodelay: cell.params.truth("NODELAY", true)?,
                buffer_bytes: cell.params.whole("BUFFER_BYTES", 0)? as usize,
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
    fn a_cell_says_how_many_unix_sockets_there_are() {
        let cell =
            parse_cell(r#"{"params": {"TRANSPORT": "unix"}, "folder": "/tmp/x", "service_id": 3}"#).unwrap();
        let options = ServerOptions::from_cell(&cell, 2).unwrap();
        let expected = ["/tmp/x/3.0", "/tmp/x/3.1"].map(|path| Endpoint::Unix(path.into()));
        assert_eq!(options.endpoints, expected);
    }
}

//! The flags that all servers have, and where a server listens: by its flags or by its cell.

use std::path::PathBuf;

use clap::{ArgAction, Args};

use crate::cell::{Cell, CellError};
use crate::listen::{Endpoint, SocketOptions};

const LOOPBACK: &str = "127.0.0.1";
pub const MAX_THREADS: u64 = 1000;
/// A socket buffer: setsockopt(2) takes an int.
pub const MAX_BUFFER_BYTES: u64 = i32::MAX as u64;

/// A parser for clap: whole numbers from `low` to `high`, which may be u64::MAX for no limit.
pub fn whole_number<T: TryFrom<u64>>(
    low: u64,
    high: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse::<u64>().ok();
        let number = number.filter(|number| (low..=high).contains(number));
        number
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| match high {
                u64::MAX => format!("it must be a whole number of at least {low}"),
                _ => format!("it must be a whole number from {low} to {high}"),
            })
    }
}

/// Where a server listens and with what, unless --child has it read a cell from stdin.
#[derive(Debug, Clone, Args)]
pub struct ServerFlags {
    /// Read the cell from stdin and speak the child contract: docs/child-contract.md
    #[arg(long)]
    pub child: bool,
    /// Address to listen on
    #[arg(long, default_value = LOOPBACK)]
    pub host: String,
    /// Port to listen on; 0 for any free port
    #[arg(long, default_value = "25000", value_parser = whole_number::<u16>(0, 65_535))]
    pub port: u16,
    /// Unix socket to listen on, in place of TCP
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Event-loop threads
    #[arg(long, value_parser = whole_number::<usize>(1, MAX_THREADS))]
    pub threads: Option<usize>,
    /// TCP_NODELAY of each connection
    #[arg(long, default_value_t = true, action = ArgAction::Set, value_name = "true|false")]
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF of each connection; 0 leaves them to the kernel
    #[arg(long, default_value = "0", value_parser = whole_number::<usize>(0, MAX_BUFFER_BYTES))]
    pub buffer_bytes: usize,
}

/// Where a server listens and with what.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub endpoints: Vec<Endpoint>,
    pub threads: usize,
    pub sockets: SocketOptions,
}

impl ServerOptions {
    /// From the command line: one endpoint, and one thread unless --threads is given.
    pub fn from_flags(flags: &ServerFlags) -> Self {
        let tcp = || Endpoint::Tcp(flags.host.clone(), flags.port);
        Self {
            endpoints: vec![flags.socket.clone().map_or_else(tcp, Endpoint::Unix)],
            threads: flags.threads.unwrap_or(1),
            sockets: SocketOptions {
                nodelay: flags.nodelay,
                buffer_bytes: flags.buffer_bytes,
            },
        }
    }

    /// From a cell: `sockets` endpoints over its TRANSPORT, Unix sockets if it has none.
    pub fn from_cell(cell: &Cell, sockets: u64) -> Result<Self, CellError> {
        Self::over(cell, sockets, &cell.params.text("TRANSPORT", "unix")?)
    }

    /// From a cell, for an HTTP server: like system 3 it is on TCP, unless TRANSPORT is among its parameters.
    pub fn from_http_cell(cell: &Cell) -> Result<Self, CellError> {
        Self::over(cell, 1, &cell.params.text("TRANSPORT", "tcp")?)
    }

    fn over(cell: &Cell, sockets: u64, transport: &str) -> Result<Self, CellError> {
        let service_id = cell.service_id.unwrap_or(0);
        let address = cell.address.clone().unwrap_or_else(|| LOOPBACK.to_owned());
        let endpoint = |number| match transport {
            "unix" => Ok(Endpoint::Unix(cell.folder.join(format!("{service_id}.{number}")))),
            "tcp" => Ok(Endpoint::Tcp(address.clone(), 0)),
            other => Err(CellError::new(format!(
                "TRANSPORT is {other}; it must be unix or tcp"
            ))),
        };
        Ok(Self {
            endpoints: (0..sockets.max(1)).map(endpoint).collect::<Result<_, _>>()?,
            threads: cell.params.within("NUM_SERVER_THREADS", 1..=MAX_THREADS, 1)? as usize,
            sockets: SocketOptions {
                nodelay: cell.params.truth("NODELAY", true)?,
                buffer_bytes: cell.params.within("BUFFER_BYTES", 0..=MAX_BUFFER_BYTES, 0)? as usize,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{ServerFlags, ServerOptions};
    use crate::cell::parse_cell;
    use crate::listen::Endpoint;

    #[derive(Debug, Parser)]
    struct Flags {
        #[command(flatten)]
        server: ServerFlags,
    }

    fn parsed(line: &str) -> Result<Flags, clap::Error> {
        Flags::try_parse_from(std::iter::once("server").chain(line.split(' ')))
    }

    #[test]
    fn flags_say_where_to_listen() {
        let flags = parsed("--port 80 --threads 2 --nodelay false").unwrap();
        let options = ServerOptions::from_flags(&flags.server);
        assert_eq!(options.endpoints, [Endpoint::Tcp("127.0.0.1".to_owned(), 80)]);
        assert_eq!((options.threads, options.sockets.nodelay), (2, false));
        let unix = ServerOptions::from_flags(&parsed("--socket /tmp/s").unwrap().server);
        assert_eq!(unix.endpoints, [Endpoint::Unix("/tmp/s".into())]);
    }

    #[test]
    fn numbers_out_of_bounds_are_refused_with_the_bounds() {
        for (line, bounds) in [
            ("--threads 0", "from 1 to 1000"),
            ("--buffer-bytes=-1", "from 0 to 2147483647"),
            ("--port 70000", "from 0 to 65535"),
        ] {
            let error = parsed(line).unwrap_err().to_string();
            assert!(
                error.contains(&format!("it must be a whole number {bounds}")),
                "{error}"
            );
        }
        let cell = parse_cell(r#"{"params": {"NUM_SERVER_THREADS": 0}}"#).unwrap();
        assert_eq!(
            ServerOptions::from_cell(&cell, 1).unwrap_err().to_string(),
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

//! http-echo: the same server for every load generator.

mod protocol;
mod request;

use std::process::ExitCode;

use clap::Parser;
use contract::{Cell, CellError, Program, ServerFlags, ServerOptions, Started};
use contract::{listen_all, program, run_server};
use reactor::{Server, Settings};

use crate::protocol::Http;

const PROGRAM: Program = program!("http-echo", "httparse");

/// An HTTP server: GET answers 13 bytes, POST answers its body.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(flatten)]
    server: ServerFlags,
}

struct Options {
    server: ServerOptions,
    /// Whether clients keep their connections.
    connections_stay: bool,
}

fn main() -> ExitCode {
    let flags = Flags::parse().server;
    let from_flags = || Options {
        server: ServerOptions::from_flags(&flags),
        connections_stay: true,
    };
    run_server(&PROGRAM, flags.child, from_flags, from_cell, |options| {
        start(&options)
    })
}

fn from_cell(cell: &Cell) -> Result<Options, CellError> {
    Ok(Options {
        server: ServerOptions::from_http_cell(cell)?,
        connections_stay: cell.params.truth("KEEP_ALIVE", true)?,
    })
}

fn start(options: &Options) -> Started<Server<Http>> {
    let server = &options.server;
    let (listeners, addresses) = listen_all(&server.endpoints, server.sockets)?;
    let settings = Settings {
        threads: server.threads,
        max_conns: None,
        read_deadline_ns: 0,
        connections_stay: options.connections_stay,
        sockets: server.sockets,
    };
    Ok((Server::start(Http, settings, listeners)?, addresses))
}

//! calc-service: systems 1, 2 and 4 as fast as this machine can serve them.
//!
//! `calc-service --child` is told its cell on stdin (docs/child-contract.md). By hand:
//! `calc-service [--host H --port P | --socket PATH] [--threads N] [--fresh] [--max-conns N]`.

mod frames;
mod protocol;
mod work;

use std::process::ExitCode;

use contract::{
    Cell, CellError, Counted, Flags, Program, ServerOptions, Started, listen_all, program, run_server,
    usable_cpus,
};
use reactor::{Server, Settings};
use serde_json::{Map, Value, json};

use crate::protocol::Framed;

const PROGRAM: Program = program!("calc-service", "serde_json");
/// System 1 closes a connection that has not sent its request whole by then.
const READ_DEADLINE_NS: u64 = 5_000_000_000;
const FLAGS: [&str; 7] = [
    "host",
    "port",
    "socket",
    "threads",
    "nodelay",
    "buffer-bytes",
    "max-conns",
];

struct Options {
    server: ServerOptions,
    fresh: bool,
    /// Whether clients keep their connections.
    reused: bool,
    max_conns: Option<usize>,
}

struct Service(Server<Framed>);

impl Counted for Service {
    fn reset(&self) {
        self.0.reset();
    }

    fn counters(&self) -> Map<String, Value> {
        let by_worker = self.0.requests_by_worker();
        let mut counted = Map::new();
        counted.insert("requests".to_owned(), json!(by_worker.iter().sum::<u64>()));
        counted.insert("requests_by_worker".to_owned(), json!(by_worker));
        counted.insert(
            "requests_by_socket".to_owned(),
            json!(self.0.requests_by_socket()),
        );
        counted
    }
}

fn main() -> ExitCode {
    let flags = Flags::read(std::env::args().skip(1), &["child", "fresh"], &FLAGS);
    let fresh = flags.as_ref().is_ok_and(|flags| flags.has("fresh"));
    run_server(
        &PROGRAM,
        flags,
        by_hand,
        |cell| by_cell(cell, fresh),
        |options| start(&options),
    )
}

fn by_hand(flags: &Flags) -> Result<Options, CellError> {
    let fresh = flags.has("fresh");
    let limit: usize = flags.value("max-conns", usize::MAX, "a whole number of at least 0")?;
    Ok(Options {
        server: ServerOptions::from_flags(flags)?,
        fresh,
        reused: !fresh,
        max_conns: Some(limit),
    })
}

/// Threads: one for each worker, but no more than there are cores, for they never wait for a peer.
fn by_cell(cell: &Cell, fresh: bool) -> Result<Options, CellError> {
    let mut server = ServerOptions::from_cell(cell, cell.params.whole("NUM_MULTI_SOCKET", 1)?)?;
    let workers = cell.params.whole("NUM_WORKERS_PER_API_SERVICE", 1)? as usize;
    server.threads = workers.clamp(1, usable_cpus());
    let fresh = fresh || cell.system == "1";
    let max_conns = cell
        .params
        .optional_whole("NUM_MAX_CONNS")?
        .map(|limit| limit as usize);
    let reused = !fresh && cell.params.truth("REUSE_CLIENT", true)?;
    Ok(Options {
        server,
        fresh,
        reused,
        max_conns,
    })
}

fn start(options: &Options) -> Started<Service> {
    let ServerOptions {
        endpoints,
        threads,
        sockets,
    } = &options.server;
    let (listeners, addresses) = listen_all(endpoints, *sockets)?;
    let settings = Settings {
        threads: *threads,
        max_conns: options.max_conns,
        read_deadline_ns: if options.fresh { READ_DEADLINE_NS } else { 0 },
        connections_stay: options.reused,
        sockets: *sockets,
    };
    Ok((
        Service(Server::start(
            Framed { fresh: options.fresh },
            settings,
            listeners,
        )?),
        addresses,
    ))
}

//! calc-service: systems 1, 2 and 4 as fast as this machine can serve them.

mod frames;
mod protocol;
mod work;

use std::process::ExitCode;

use clap::Parser;
use contract::{Cell, CellError, Program, ServerFlags, ServerOptions, Started};
use contract::{listen_all, program, run_server, usable_cpus, whole_number};
use reactor::{Server, Settings};

use crate::protocol::Framed;

const PROGRAM: Program = program!("calc-service", "serde_json");
/// System 1 closes a connection that has not sent its whole request by then.
const READ_DEADLINE_NS: u64 = 5_000_000_000;

/// Counts on request, over frames: systems 1, 2 and 4 as fast as this machine can serve them.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(flatten)]
    server: ServerFlags,
    /// Close each connection after its first answer, as system 1 does
    #[arg(long)]
    fresh: bool,
    /// Connections held at once [default: no limit]
    #[arg(long, value_parser = whole_number::<usize>(0, u64::MAX))]
    max_conns: Option<usize>,
}

struct Options {
    server: ServerOptions,
    fresh: bool,
    /// Whether clients keep their connections.
    reused: bool,
    max_conns: Option<usize>,
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let from_flags = || Options {
        server: ServerOptions::from_flags(&flags.server),
        fresh: flags.fresh,
        reused: !flags.fresh,
        max_conns: flags.max_conns,
    };
    let from_cell = |cell: &Cell| from_cell(cell, flags.fresh);
    run_server(&PROGRAM, flags.server.child, from_flags, from_cell, |options| {
        start(&options)
    })
}

/// Threads: one for each worker, but no more than there are cores, for they never wait for a peer.
fn from_cell(cell: &Cell, fresh: bool) -> Result<Options, CellError> {
    let params = &cell.params;
    let mut server = ServerOptions::from_cell(cell, params.whole("NUM_MULTI_SOCKET", 1)?)?;
    let workers = params.whole("NUM_WORKERS_PER_API_SERVICE", 1)? as usize;
    server.threads = workers.clamp(1, usable_cpus());
    let fresh = fresh || cell.system == "1";
    let max_conns = params.optional_whole("NUM_MAX_CONNS")?;
    Ok(Options {
        server,
        fresh,
        reused: !fresh && params.truth("REUSE_CLIENT", true)?,
        max_conns: max_conns.map(|limit| limit as usize),
    })
}

fn start(options: &Options) -> Started<Server<Framed>> {
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
    let protocol = Framed { fresh: options.fresh };
    Ok((Server::start(protocol, settings, listeners)?, addresses))
}

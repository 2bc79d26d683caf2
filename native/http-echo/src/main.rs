//! http-echo: GET answers 13 bytes, POST answers its body; the same server for every load generator.
//!
//! `http-echo --child` is told its cell on stdin (docs/child-contract.md). By hand:
//! `http-echo [--host H --port P | --socket PATH] [--threads N] [--nodelay BOOL] [--buffer-bytes N]`.

mod protocol;
mod request;

use std::process::ExitCode;

use contract::{Counted, Flags, Program, ServerOptions, Started, listen_all, program, run_server};
use reactor::{Server, Settings};
use serde_json::{Map, Value, json};

use crate::protocol::Http;

const PROGRAM: Program = program!("http-echo", "httparse");

/// Options, and whether clients keep their connections.
struct Options(ServerOptions, bool);

struct Service(Server<Http>);

impl Counted for Service {
    fn reset(&self) {
        self.0.reset();
    }

    fn counters(&self) -> Map<String, Value> {
        let by_worker = self.0.requests_by_worker();
        let mut counted = Map::new();
        counted.insert("requests".to_owned(), json!(by_worker.iter().sum::<u64>()));
        counted.insert("requests_by_worker".to_owned(), json!(by_worker));
        counted
    }
}

fn main() -> ExitCode {
    let flags = Flags::of_server(std::env::args().skip(1), &[]);
    run_server(
        &PROGRAM,
        flags,
        |flags| Ok(Options(ServerOptions::from_flags(flags)?, true)),
        |cell| {
            Ok(Options(
                ServerOptions::from_http_cell(cell)?,
                cell.params.truth("KEEP_ALIVE", true)?,
            ))
        },
        start,
    )
}

fn start(Options(server, connections_stay): Options) -> Started<Service> {
    let (listeners, addresses) = listen_all(&server.endpoints, server.sockets)?;
    let settings = Settings {
        threads: server.threads,
        max_conns: None,
        read_deadline_ns: 0,
        connections_stay,
        sockets: server.sockets,
    };
    Ok((Service(Server::start(Http, settings, listeners)?), addresses))
}

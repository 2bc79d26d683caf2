//! axum-server: one server for all clients of the HTTP client experiment.

mod app;
mod delay;

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use async_serving::serve_beside;
use clap::Parser;
use contract::{Cell, CellError, Counted, Endpoint, Program, ServerFlags, ServerOptions, Started};
use contract::{listen, program, run_server, usable_cpus, whole_number};
use serde_json::{Map, Value, json};
use socket2::Socket;
use tokio::net::{TcpListener, UnixListener};

use crate::app::{App, router};

const PROGRAM: Program = program!("axum-server", "axum", "tokio");

/// An HTTP server with axum: GET / answers 13 bytes. Without --threads it has one on each core.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(flatten)]
    server: ServerFlags,
    /// Time to wait before each answer
    #[arg(long, default_value = "0", value_name = "MICROSECONDS", value_parser = whole_number::<u64>(0, u64::MAX))]
    delay: u64,
}

struct Options {
    server: ServerOptions,
    delay_us: u64,
}

struct Service(Arc<App>);

impl Counted for Service {
    fn reset(&self) {
        self.0.requests.store(0, Relaxed);
    }

    fn counters(&self) -> Map<String, Value> {
        Map::from_iter([("requests".to_owned(), json!(self.0.requests.load(Relaxed)))])
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let from_flags = || Options {
        server: ServerOptions {
            threads: flags.server.threads.unwrap_or_else(usable_cpus),
            ..ServerOptions::from_flags(&flags.server)
        },
        delay_us: flags.delay,
    };
    run_server(&PROGRAM, flags.server.child, from_flags, from_cell, start)
}

fn from_cell(cell: &Cell) -> Result<Options, CellError> {
    let mut server = ServerOptions::from_http_cell(cell)?;
    if cell.params.optional_whole("NUM_SERVER_THREADS")?.is_none() {
        server.threads = usable_cpus();
    }
    Ok(Options {
        server,
        delay_us: cell.params.whole("DELAY_US", 0)?,
    })
}

fn start(Options { server, delay_us }: Options) -> Started<Service> {
    let endpoint = server.endpoints[0].clone();
    let (socket, address) = listen(&endpoint, server.sockets)?;
    let app = Arc::new(App {
        delay: Duration::from_micros(delay_us),
        requests: AtomicU64::new(0),
    });
    serve_beside(
        PROGRAM.name,
        server.threads,
        serve(endpoint, socket, Arc::clone(&app)),
    )?;
    Ok((Service(app), vec![address]))
}

/// A TCP connection has the TCP_NODELAY of its listener.
async fn serve(endpoint: Endpoint, socket: Socket, app: Arc<App>) -> io::Result<()> {
    match endpoint {
        Endpoint::Tcp(..) => axum::serve(TcpListener::from_std(socket.into())?, router(app)).await,
        Endpoint::Unix(_) => axum::serve(UnixListener::from_std(socket.into())?, router(app)).await,
    }
}

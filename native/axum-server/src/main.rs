//! axum-server: one server for all clients of the HTTP client experiment. GET / answers 13 bytes.
//!
//! `axum-server --child` is told its cell on stdin (docs/child-contract.md). By hand:
//! `axum-server [--host H --port P | --socket PATH] [--threads N] [--delay MICROSECONDS]`.
//! Without --threads and NUM_SERVER_THREADS there is one on each core.

mod app;
mod delay;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use std::{io, process, thread};

use contract::{
    Counted, Endpoint, Flags, Program, ServerOptions, Started, listen, program, run_server, usable_cpus,
};
use serde_json::{Map, Value, json};
use socket2::Socket;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};

use crate::app::{App, router};

const PROGRAM: Program = program!("axum-server", "axum", "tokio");
const NUMBER: &str = "a whole number of at least 0";

struct Options {
    server: ServerOptions,
    delay_us: u64,
}

impl Options {
    /// threads_said: whether they are told; else there is one on each core.
    fn new(mut server: ServerOptions, threads_said: bool, delay_us: u64) -> Self {
        if !threads_said {
            server.threads = usable_cpus();
        }
        Self { server, delay_us }
    }
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
    let flags = Flags::of_server(std::env::args().skip(1), &["delay"]);
    run_server(
        &PROGRAM,
        flags,
        |flags| {
            let threads_said = flags.text("threads").is_some();
            let delay_us = flags.value("delay", 0, NUMBER)?;
            Ok(Options::new(
                ServerOptions::from_flags(flags)?,
                threads_said,
                delay_us,
            ))
        },
        |cell| {
            let threads_said = cell.params.optional_whole("NUM_SERVER_THREADS")?.is_some();
            let delay_us = cell.params.whole("DELAY_US", 0)?;
            Ok(Options::new(
                ServerOptions::from_http_cell(cell)?,
                threads_said,
                delay_us,
            ))
        },
        start,
    )
}

/// The runtime lives in a thread of its own: the main thread listens to the orchestrator.
fn start(Options { server, delay_us }: Options) -> Started<Service> {
    let endpoint = server.endpoints[0].clone();
    let (socket, address) = listen(&endpoint, server.sockets)?;
    let app = Arc::new(App {
        delay: Duration::from_micros(delay_us),
        requests: AtomicU64::new(0),
    });
    let (served, runtime) = (Arc::clone(&app), runtime(server.threads)?);
    thread::spawn(move || {
        // in a task, so that the workers of the runtime do all of it
        let serving = async move { tokio::spawn(serve(endpoint, socket, served)).await };
        eprintln!("axum-server: serving has ended: {:?}", runtime.block_on(serving));
        process::exit(1);
    });
    Ok((Service(app), vec![address]))
}

/// A TCP connection has the TCP_NODELAY of its listener.
async fn serve(endpoint: Endpoint, socket: Socket, app: Arc<App>) -> io::Result<()> {
    match endpoint {
        Endpoint::Tcp(..) => axum::serve(TcpListener::from_std(socket.into())?, router(app)).await,
        Endpoint::Unix(_) => axum::serve(UnixListener::from_std(socket.into())?, router(app)).await,
    }
}

/// One thread runs all tasks itself; more share them.
fn runtime(threads: usize) -> io::Result<Runtime> {
    match threads {
        1 => Builder::new_current_thread().enable_io().build(),
        _ => Builder::new_multi_thread()
            .worker_threads(threads)
            .enable_io()
            .build(),
    }
}

//! echo-tokio: an echo server as one writes it with tokio.
//!
//! `echo-tokio --child` is told its cell on stdin (docs/child-contract.md). By hand:
//! `echo-tokio [--host H --port P | --socket PATH] [--threads N] [--nodelay BOOL] [--buffer-bytes N]`.

mod echo;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{io, process, thread};

use contract::{Counted, Endpoint, Flags, Program, ServerOptions, Started, listen, program, run_server};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::echo::{Listener, serve};

const PROGRAM: Program = program!("echo-tokio", "tokio");
const MESSAGE_BYTES: u64 = 1000;
const MOST_MESSAGE_BYTES: u64 = i32::MAX as u64;

struct Options {
    server: ServerOptions,
    message_bytes: u64,
}

/// A raw echo server does not know messages: it counts bytes, and divides.
struct Service {
    echoed_bytes: Arc<AtomicU64>,
    message_bytes: u64,
}

impl Counted for Service {
    fn reset(&self) {
        self.echoed_bytes.store(0, Relaxed);
    }

    fn counters(&self) -> Map<String, Value> {
        let echoed_bytes = self.echoed_bytes.load(Relaxed);
        let mut counted = Map::new();
        counted.insert("requests".to_owned(), json!(echoed_bytes / self.message_bytes));
        counted.insert("echoed_bytes".to_owned(), json!(echoed_bytes));
        counted
    }
}

fn main() -> ExitCode {
    let flags = Flags::of_server(std::env::args().skip(1), &[]);
    run_server(
        &PROGRAM,
        flags,
        |flags| {
            Ok(Options {
                server: ServerOptions::from_flags(flags)?,
                message_bytes: MESSAGE_BYTES,
            })
        },
        |cell| {
            let params = &cell.params;
            Ok(Options {
                server: ServerOptions::from_cell(cell, 1)?,
                message_bytes: params.within("MESSAGE_BYTES", 1..=MOST_MESSAGE_BYTES, MESSAGE_BYTES)?,
            })
        },
        start,
    )
}

/// The runtime lives in a thread of its own: the main thread listens to the orchestrator.
fn start(
    Options {
        server,
        message_bytes,
    }: Options,
) -> Started<Service> {
    let endpoint = &server.endpoints[0];
    let (socket, address) = listen(endpoint, server.sockets)?;
    let runtime = runtime(server.threads)?;
    let listener = {
        let _within = runtime.enter();
        match endpoint {
            Endpoint::Tcp(..) => Listener::Tcp(tokio::net::TcpListener::from_std(socket.into())?),
            Endpoint::Unix(_) => Listener::Unix(tokio::net::UnixListener::from_std(socket.into())?),
        }
    };
    let echoed_bytes = Arc::new(AtomicU64::new(0));
    let serving = serve(listener, server.sockets, Arc::clone(&echoed_bytes));
    thread::spawn(move || {
        let ended = runtime.block_on(async { tokio::spawn(serving).await });
        eprintln!("echo-tokio: accepting has ended: {ended:?}");
        process::exit(1);
    });
    Ok((
        Service {
            echoed_bytes,
            message_bytes,
        },
        vec![address],
    ))
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

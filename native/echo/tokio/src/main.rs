//! echo-tokio: an echo server as one writes it with tokio.

mod echo;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use async_serving::serve_beside;
use clap::Parser;
use contract::{Cell, CellError, Counted, Program, ServerFlags, ServerOptions, Started};
use contract::{listen, program, run_server};
use serde_json::{Map, Value, json};

const PROGRAM: Program = program!("echo-tokio", "tokio");
const MESSAGE_BYTES: u64 = 1000;
const MAX_MESSAGE_BYTES: u64 = i32::MAX as u64;

/// An echo server with tokio: whatever arrives is sent back.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(flatten)]
    server: ServerFlags,
}

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
        Map::from_iter([
            ("requests".to_owned(), json!(echoed_bytes / self.message_bytes)),
            ("echoed_bytes".to_owned(), json!(echoed_bytes)),
        ])
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse().server;
    let from_flags = || Options {
        server: ServerOptions::from_flags(&flags),
        message_bytes: MESSAGE_BYTES,
    };
    run_server(&PROGRAM, flags.child, from_flags, from_cell, start)
}

fn from_cell(cell: &Cell) -> Result<Options, CellError> {
    let params = &cell.params;
    Ok(Options {
        server: ServerOptions::from_cell(cell, 1)?,
        message_bytes: params.within("MESSAGE_BYTES", 1..=MAX_MESSAGE_BYTES, MESSAGE_BYTES)?,
    })
}

fn start(options: Options) -> Started<Service> {
    let endpoint = options.server.endpoints[0].clone();
    let (socket, address) = listen(&endpoint, options.server.sockets)?;
    let echoed_bytes = Arc::new(AtomicU64::new(0));
    let server = echo::serve(
        endpoint,
        socket,
        options.server.sockets,
        Arc::clone(&echoed_bytes),
    );
    serve_beside(PROGRAM.name, options.server.threads, server)?;
    let service = Service {
        echoed_bytes,
        message_bytes: options.message_bytes,
    };
    Ok((service, vec![address]))
}

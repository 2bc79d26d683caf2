//! Runs a server of tokio beside the main thread, which speaks the child contract.

use std::fmt::Debug;
use std::future::Future;
use std::{io, process, thread};

use tokio::runtime::{Builder, Runtime};

/// Serve on a runtime of its own until the process ends; a server that ends by itself ends the process.
pub fn serve_beside<T: Debug + Send + 'static>(
    program: &'static str,
    threads: usize,
    server: impl Future<Output = T> + Send + 'static,
) -> io::Result<()> {
    let runtime = runtime(threads)?;
    thread::spawn(move || {
        // in a task, so that the workers of the runtime do all of it
        let ended = runtime.block_on(async { tokio::spawn(server).await });
        eprintln!("{program}: the server has ended: {ended:?}");
        process::exit(1);
    });
    Ok(())
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

//! The echo itself: what arrives is sent back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contract::{Endpoint, SocketOptions, admits};
use socket2::{SockRef, Socket};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};

/// The largest read, the same in all echo servers: docs/experiments.md.
const READ_BYTES: usize = 256 * 1024;

/// Accept until the process ends; each connection is a task. One that fails before its task starts is dropped.
pub async fn serve(
    endpoint: Endpoint,
    socket: Socket,
    options: SocketOptions,
    echoed_bytes: Arc<AtomicU64>,
) -> io::Result<()> {
    let listener = match endpoint {
        Endpoint::Tcp(..) => Listener::Tcp(TcpListener::from_std(socket.into())?),
        Endpoint::Unix(_) => Listener::Unix(UnixListener::from_std(socket.into())?),
    };
    loop {
        if listener.accept(options, &echoed_bytes).await.is_err() {
            tokio::task::yield_now().await;
        }
    }
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Start a task for the next connection.
    async fn accept(&self, options: SocketOptions, echoed_bytes: &Arc<AtomicU64>) -> io::Result<()> {
        match self {
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept().await?;
                if admits(&SockRef::from(&stream)) {
                    options.apply(&SockRef::from(&stream), true)?;
                    tokio::spawn(echo(stream, Arc::clone(echoed_bytes)));
                }
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                options.apply(&SockRef::from(&stream), false)?;
                tokio::spawn(echo(stream, Arc::clone(echoed_bytes)));
            }
        }
        Ok(())
    }
}

/// Send back what arrives. A peer that vanishes ends its own task and nothing else.
async fn echo(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    echoed_bytes: Arc<AtomicU64>,
) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        echoed_bytes.fetch_add(read as u64, Relaxed);
        stream.write_all(&buffer[..read]).await?;
    }
}

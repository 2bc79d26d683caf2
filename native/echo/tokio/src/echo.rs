//! The echo itself: what arrives is sent back.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contract::SocketOptions;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};

/// As all echo servers have it: docs/echo.md.
const READ_BYTES: usize = 256 * 1024;

/// Where connections come from.
pub enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Accept until the process ends; each connection is a task. A connection that ends before it begins is no matter.
pub async fn serve(listener: Listener, options: SocketOptions, echoed_bytes: Arc<AtomicU64>) {
    loop {
        let echoed_bytes = Arc::clone(&echoed_bytes);
        let begun = match &listener {
            Listener::Tcp(tcp) => tcp.accept().await.and_then(|(stream, _)| {
                options.apply(&SockRef::from(&stream), true)?;
                Ok(tokio::spawn(echo(stream, echoed_bytes)))
            }),
            Listener::Unix(unix) => unix.accept().await.and_then(|(stream, _)| {
                options.apply(&SockRef::from(&stream), false)?;
                Ok(tokio::spawn(echo(stream, echoed_bytes)))
            }),
        };
        if begun.is_err() {
            tokio::task::yield_now().await;
        }
    }
}

/// A peer that is gone, however, ends its own task and nothing else.
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

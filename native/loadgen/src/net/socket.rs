//! Sockets, TCP or Unix, that never block once they are connected.

use std::io;
use std::time::Duration;

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// What is set on each connection before it connects.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// TCP_NODELAY: small writes are sent at once.
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF; 0 leaves them to the kernel.
    pub buffer_bytes: usize,
}

/// The buffer sizes of an open connection, as getsockopt(2) gives them. Linux doubles a size that is set.
#[derive(Debug, Clone, Copy)]
pub struct Actual {
    /// SO_SNDBUF and SO_RCVBUF, bytes; 0 where the kernel does not say.
    pub send_bytes: usize,
    pub receive_bytes: usize,
}

impl Actual {
    /// Those of this connection; all connections are set up alike.
    pub fn of(socket: &Socket) -> Self {
        Self {
            send_bytes: socket.send_buffer_size().unwrap_or(0),
            receive_bytes: socket.recv_buffer_size().unwrap_or(0),
        }
    }
}

/// How far a connect has come.
#[derive(Debug, PartialEq)]
pub enum Opening {
    Connected,
    /// The socket will be writable when it is connected or has failed.
    UnderWay,
    /// The listener's backlog is full (Unix sockets); nothing will tell when it is not.
    TryAgain,
}

/// A new socket for this address that does not block.
pub fn create(address: &SockAddr, options: Options) -> io::Result<Socket> {
    let socket = plain(address, options)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Begin to connect.
pub fn connect(socket: &Socket, address: &SockAddr) -> io::Result<Opening> {
    match socket.connect(address) {
        Ok(()) => Ok(Opening::Connected),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
            // on loopback the handshake is often over already; asking costs less than waiting for the event
            Ok(if socket.peer_addr().is_ok() {
                Opening::Connected
            } else {
                Opening::UnderWay
            })
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Opening::TryAgain),
        Err(error) => Err(error),
    }
}

/// A connected socket; waits for it. From then on it does not block.
pub fn open(address: &SockAddr, options: Options, timeout: Duration) -> io::Result<Socket> {
    let socket = plain(address, options)?;
    if address.is_unix() {
        socket.set_write_timeout(Some(timeout))?; // bounds connect(2) too
        socket.connect(address)?;
    } else {
        socket.connect_timeout(address, timeout)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn plain(address: &SockAddr, options: Options) -> io::Result<Socket> {
    let tcp = !address.is_unix();
    let domain = if tcp { address.domain() } else { Domain::UNIX };
    let socket = Socket::new(domain, Type::STREAM, tcp.then_some(Protocol::TCP))?;
    if options.buffer_bytes > 0 {
        socket.set_send_buffer_size(options.buffer_bytes)?;
        socket.set_recv_buffer_size(options.buffer_bytes)?;
    }
    if tcp {
        socket.set_tcp_nodelay(options.nodelay)?;
    }
    Ok(socket)
}

//! Listening sockets and their addresses: a Unix path, or host:port.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use socket2::{Domain, SockAddr, SockRef, Socket, Type};

const BACKLOG: i32 = 4096;

/// Where to listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    /// Host and port; port 0 for a free one.
    Tcp(String, u16),
    Unix(PathBuf),
}

/// What every connection has.
#[derive(Debug, Clone, Copy)]
pub struct SocketOptions {
    /// TCP_NODELAY.
    pub nodelay: bool,
    /// SO_SNDBUF and SO_RCVBUF; 0 for the kernel's default.
    pub buffer_bytes: usize,
}

impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            buffer_bytes: 0,
        }
    }
}

impl SocketOptions {
    /// Give these to an open socket: a listener, whose TCP connections inherit them, or a connection.
    pub fn apply(&self, socket: &SockRef<'_>, tcp: bool) -> io::Result<()> {
        if self.buffer_bytes > 0 {
            socket.set_send_buffer_size(self.buffer_bytes)?;
            socket.set_recv_buffer_size(self.buffer_bytes)?;
        }
        if tcp {
            socket.set_tcp_nodelay(self.nodelay)
        } else {
            Ok(())
        }
    }
}

/// A listening socket that does not block, and its address as the ready line says it.
pub fn listen(endpoint: &Endpoint, options: SocketOptions) -> io::Result<(Socket, String)> {
    match endpoint {
        Endpoint::Unix(path) => {
            let address = path.to_string_lossy().into_owned();
            Ok((bound(Domain::UNIX, &SockAddr::unix(path)?, options)?, address))
        }
        Endpoint::Tcp(host, port) => {
            let address = resolve(host, *port)?;
            let socket = bound(Domain::for_address(address), &address.into(), options)?;
            let bound_port = socket
                .local_addr()?
                .as_socket()
                .map_or(*port, |bound| bound.port());
            Ok((socket, format!("{host}:{bound_port}")))
        }
    }
}

/// All of them, in order. Fails with the endpoint that cannot be had.
pub fn listen_all(endpoints: &[Endpoint], options: SocketOptions) -> io::Result<(Vec<Socket>, Vec<String>)> {
    let each = endpoints.iter().map(|endpoint| {
        listen(endpoint, options)
            .map_err(|error| io::Error::new(error.kind(), format!("cannot listen on {endpoint:?}: {error}")))
    });
    Ok(each.collect::<io::Result<Vec<_>>>()?.into_iter().unzip())
}

fn bound(domain: Domain, address: &SockAddr, options: SocketOptions) -> io::Result<Socket> {
    let tcp = domain != Domain::UNIX;
    let socket = Socket::new(domain, Type::STREAM, None)?;
    if tcp {
        socket.set_reuse_address(true)?;
    }
    options.apply(&SockRef::from(&socket), tcp)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    (host, port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::other(format!("{host} has no address")))
}

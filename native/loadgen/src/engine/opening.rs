//! Connections that are kept are opened before the clock starts.

use std::io::{self, Read, Write};
use std::time::Duration;

use contract::now_ns;
use socket2::{SockAddr, Socket};

use super::worker::Worker;
use crate::net::connection::State;
use crate::net::socket::{self, Actual};
use contract::FineHistogram;

impl Worker {
    /// Open all connections; how long each took. Nothing is opened where each request has a connection of its own.
    ///
    /// Fails with the address that cannot be connected to.
    pub fn open_all(&mut self) -> Result<FineHistogram, String> {
        let mut opened = FineHistogram::default();
        if self.job.fresh {
            return Ok(opened);
        }
        for at in 0..self.connections.len() {
            let start_ns = now_ns();
            self.open_one(at).map_err(|error| {
                let address = address_text(&self.connections[at].address);
                format!("cannot connect to {address}: {error}; is anything listening there?")
            })?;
            opened.record(now_ns() - start_ns);
        }
        Ok(opened)
    }

    fn open_one(&mut self, at: usize) -> io::Result<()> {
        let connection = &mut self.connections[at];
        let timeout = Duration::from_nanos(self.job.timeout_ns);
        let socket = socket::open(&connection.address, self.job.options, timeout)?;
        self.job.actual.get_or_init(|| Actual::of(&socket));
        if let Some(tls) = &self.job.tls {
            let mut session = tls.session().map_err(io::Error::other)?;
            socket.set_nonblocking(false)?;
            socket.set_read_timeout(Some(timeout))?;
            socket.set_write_timeout(Some(timeout))?;
            session.complete_io(&mut Until(&socket, now_ns() + self.job.timeout_ns))?;
            socket.set_nonblocking(true)?;
            connection.tls = Some(session);
        }
        connection.adopt(socket, self.poll.registry(), at, false)?;
        connection.state = State::Idle;
        Ok(())
    }
}

/// A socket whose reads fail when its time is over, however often the peer sends a byte. The time: ns.
struct Until<'a>(&'a Socket, u64);

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if now_ns() > self.1 {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.0.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn address_text(address: &SockAddr) -> String {
    let path = address.as_pathname().map(|path| path.display().to_string());
    path.or_else(|| address.as_socket().map(|socket| socket.to_string()))
        .unwrap_or_default()
}

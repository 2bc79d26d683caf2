//! One connection, and the request that is under way on it.

use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use rustls::client::ClientConnection;
use socket2::{SockAddr, Socket};

use crate::limits::MAX_READS_AT_ONCE;
use crate::net::http2::Http2;
use crate::response::reader::Reader;

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum State {
    Closed,
    Connecting,
    Idle,
    /// A request is under way.
    Busy,
}

/// A connection to one address; opened again after errors.
pub struct Connection {
    pub address: SockAddr,
    /// The user whose requests it carries.
    pub user: usize,
    pub state: State,
    pub socket: Option<Socket>,
    /// None if it is not secured.
    pub tls: Option<Box<ClientConnection>>,
    /// None with HTTP/1.1, and until the first request.
    pub http2: Option<Box<Http2>>,
    pub reader: Reader,
    /// The request, if its user makes it: Kind::template.
    pub filled: Vec<u8>,
    /// How much of the request has been written.
    pub written: usize,
    /// The kind of the request, its place in Job::kinds.
    pub kind: usize,
    /// When connecting began, when the first byte was sent and came, and when it was meant to be sent; ns.
    pub opened_ns: u64,
    pub started_ns: u64,
    pub first_byte_ns: u64,
    pub intended_ns: u64,
    /// Whether an answer came on the open connection, and whether one did that counts.
    pub is_used: bool,
    pub is_counted: bool,
    /// Whether an answer that counts came on any connection before.
    pub was_counted: bool,
    /// Whether no request was sent in this phase: the service may have closed it while other arms had their turn.
    pub has_rested: bool,
    /// Whether the request is to be sent, or was sent, for the second time.
    resends: bool,
    is_second: bool,
    speaks_http2: bool,
    watches_writable: bool,
}

/// How far a request has been written.
pub enum Written {
    Whole,
    Part,
    /// The peer has closed; what it sent before may still be read.
    Refused,
}

impl Connection {
    /// One that is not open yet.
    pub fn new(address: SockAddr, user: usize, reader: Reader, speaks_http2: bool) -> Self {
        Self {
            address,
            user,
            state: State::Closed,
            socket: None,
            tls: None,
            http2: None,
            reader,
            filled: Vec::new(),
            written: 0,
            kind: 0,
            opened_ns: 0,
            started_ns: 0,
            first_byte_ns: 0,
            intended_ns: 0,
            is_used: false,
            is_counted: false,
            was_counted: false,
            has_rested: false,
            resends: false,
            is_second: false,
            speaks_http2,
            watches_writable: false,
        }
    }

    /// Take over a new socket and watch it for reads; `writable`: also for writes.
    ///
    /// Edge-triggered: nothing is registered again for a request.
    pub fn adopt(
        &mut self,
        socket: Socket,
        registry: &Registry,
        token: usize,
        writable: bool,
    ) -> io::Result<()> {
        registry.register(
            &mut SourceFd(&socket.as_raw_fd()),
            Token(token),
            interest(writable),
        )?;
        self.socket = Some(socket);
        self.watches_writable = writable;
        Ok(())
    }

    /// Close it; the kernel forgets what was registered with the socket.
    pub fn close(&mut self) {
        self.socket = None;
        self.tls = None;
        self.http2 = None;
        self.state = State::Closed;
        (self.is_used, self.is_counted, self.resends) = (false, false, false);
    }

    /// Close it, to send the same request once more on a new one. Its time goes on.
    pub fn close_to_resend(&mut self) {
        self.close();
        self.resends = true;
    }

    /// Whether the request may be sent once more after its connection was lost. Source: RFC 9112, 9.3.1.
    ///
    /// The service has not begun to serve it; or it is idempotent, and no byte came of an answer on a kept connection.
    pub fn may_resend(&self, is_idempotent: bool) -> bool {
        let has_begun = self.first_byte_ns > 0 || self.http2.as_ref().is_some_and(|http2| http2.has_answered());
        let is_refused = self.http2.as_ref().is_some_and(|http2| http2.is_refused);
        let may = is_refused || is_idempotent && self.is_used && !has_begun;
        may && self.state == State::Busy && !self.is_second
    }

    /// When its request began: when it was due, or, in a closed loop, when it was sent.
    pub fn begun_ns(&self) -> u64 {
        if self.intended_ns > 0 { self.intended_ns } else { self.started_ns }
    }

    /// Begin a request at `now_ns`.
    pub fn start(&mut self, now_ns: u64) {
        self.state = State::Busy;
        self.is_second = std::mem::take(&mut self.resends);
        if !self.is_second {
            self.started_ns = now_ns;
        }
        self.first_byte_ns = 0;
        self.written = 0;
        self.reader.reset();
    }

    /// Write what is left of the request, as far as the socket takes it.
    pub fn write(&mut self, message: &[u8], registry: &Registry, token: usize) -> io::Result<Written> {
        if self.speaks_http2 {
            if self.written < message.len() {
                self.http2()?.send(message)?;
                self.written = message.len();
            }
            return self.write_frames(registry, token);
        }
        let (written, how) = self.put(&message[self.written..], registry, token)?;
        self.written += written;
        Ok(how)
    }

    /// Write bytes, through TLS if there is any, as far as the socket takes them; how many it took.
    fn put(&mut self, data: &[u8], registry: &Registry, token: usize) -> io::Result<(usize, Written)> {
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(data)?;
            return Ok((data.len(), self.flush(registry, token)?));
        }
        let Some(mut socket) = self.socket.as_ref() else {
            return Ok((0, Written::Refused));
        };
        let mut written = 0;
        while written < data.len() {
            match socket.write(&data[written..]) {
                Ok(bytes) => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watch_writable(true, registry, token)?;
                    return Ok((written, Written::Part));
                }
                Err(_) => return Ok((written, Written::Refused)),
            }
        }
        // a Unix socket would tell of each write that its peer has read
        if self.watches_writable && self.address.is_unix() {
            self.watch_writable(false, registry, token)?;
        }
        Ok((written, Written::Whole))
    }

    /// HTTP/2 on this connection. Fails with Unsupported if the service has not agreed to it by ALPN.
    fn http2(&mut self) -> io::Result<&mut Http2> {
        if self.tls.as_ref().is_some_and(|tls| tls.alpn_protocol() != Some(b"h2")) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let http2 = match self.http2.take() {
            Some(http2) => http2,
            None => Box::new(Http2::new(self.tls.is_some())?),
        };
        Ok(self.http2.insert(http2))
    }

    fn write_frames(&mut self, registry: &Registry, token: usize) -> io::Result<Written> {
        let Some(unsent) = self.http2.as_mut().map(|http2| http2.take_unsent()) else {
            return Ok(Written::Refused);
        };
        let (sent, how) = self.put(&unsent, registry, token)?;
        if let Some(http2) = &mut self.http2 {
            http2.put_back(unsent, sent);
        }
        Ok(how)
    }

    /// Whether TLS or HTTP/2 has something left to write.
    pub fn has_more_to_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
            || self.http2.as_ref().is_some_and(|http2| http2.has_unsent())
    }

    /// Read what has come, of the answer if by HTTP/2; 0 at the end.
    ///
    /// Fails with Interrupted if what came holds nothing of an answer, and there may be more. Then the caller decides
    /// how often it reads, so that a peer which never stops sending holds up neither deadlines nor other connections.
    #[inline]
    pub fn read(&mut self, buffer: &mut [u8], registry: &Registry, token: usize) -> io::Result<usize> {
        if self.http2.is_none() {
            return self.read_bytes(buffer, registry, token);
        }
        let mut bytes = self.http2.as_mut().map_or(0, |http2| http2.read(buffer));
        if bytes == 0 && !self.is_over() {
            let received = self.read_bytes(buffer, registry, token)?;
            if let Some(http2) = &mut self.http2 {
                http2.feed(&buffer[..received])?;
            }
            self.write_frames(registry, token)?;
            bytes = self.http2.as_mut().map_or(0, |http2| http2.read(buffer));
        }
        if bytes == 0 && !self.is_over() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        Ok(bytes)
    }

    fn is_over(&self) -> bool {
        self.http2.as_ref().is_none_or(|http2| http2.is_over)
    }

    /// Read what has come, through TLS if there is any; 0 at the end. Fails with Interrupted as `read` does.
    fn read_bytes(&mut self, buffer: &mut [u8], registry: &Registry, token: usize) -> io::Result<usize> {
        let Some(mut socket) = self.socket.as_ref() else {
            return Ok(0);
        };
        let Some(tls) = &mut self.tls else {
            return socket.read(buffer);
        };
        for _ in 0..MAX_READS_AT_ONCE {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            tls.read_tls(&mut socket)?;
            tls.process_new_packets().map_err(io::Error::other)?;
            if tls.wants_write() {
                self.flush(registry, token)?;
                break;
            }
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    /// Go on with the handshake of TLS; whether it is over.
    pub fn shake(&mut self, registry: &Registry, token: usize) -> io::Result<bool> {
        for _ in 0..MAX_READS_AT_ONCE {
            match self.flush(registry, token)? {
                Written::Whole => {}
                Written::Part => return Ok(false),
                Written::Refused => return Err(io::ErrorKind::ConnectionReset.into()),
            }
            let (Some(tls), Some(mut socket)) = (&mut self.tls, self.socket.as_ref()) else {
                return Ok(true);
            };
            if !tls.is_handshaking() {
                return Ok(true);
            }
            match tls.read_tls(&mut socket) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => tls.process_new_packets().map(drop).map_err(io::Error::other)?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.watch(self.watches_writable, registry, token)?; // tells again of what is still to be read
        Ok(false)
    }

    fn flush(&mut self, registry: &Registry, token: usize) -> io::Result<Written> {
        let (Some(tls), Some(mut socket)) = (&mut self.tls, self.socket.as_ref()) else {
            return Ok(Written::Refused);
        };
        while tls.wants_write() {
            match tls.write_tls(&mut socket) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.watch_writable(true, registry, token)?;
                    return Ok(Written::Part);
                }
                Err(_) => return Ok(Written::Refused),
            }
        }
        Ok(Written::Whole)
    }

    fn watch_writable(&mut self, writable: bool, registry: &Registry, token: usize) -> io::Result<()> {
        if self.watches_writable != writable {
            self.watch(writable, registry, token)?;
        }
        Ok(())
    }

    fn watch(&mut self, writable: bool, registry: &Registry, token: usize) -> io::Result<()> {
        if let Some(socket) = &self.socket {
            registry.reregister(
                &mut SourceFd(&socket.as_raw_fd()),
                Token(token),
                interest(writable),
            )?;
            self.watches_writable = writable;
        }
        Ok(())
    }
}

fn interest(writable: bool) -> Interest {
    if writable {
        Interest::READABLE | Interest::WRITABLE
    } else {
        Interest::READABLE
    }
}

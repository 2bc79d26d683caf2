//! How a thread accepts connections: to keep, to deal out, or to refuse.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::Ordering::Relaxed;

use contract::{admits, now_ns};
use socket2::SockRef;

use crate::connection::{Connection, Phase};
use crate::epoll::{READ, READ_BY_ONE};
use crate::protocol::{Protocol, Then};
use crate::serving::Serving;
use crate::shared::{LISTENER, Settings, token};

const ACCEPTS_IN_A_ROW: usize = 64;
const OUT_OF_FILES_PAUSE_NS: u64 = 50_000_000;
/// A connection over the limit is looked at again: a peer that has just closed may not be noted yet.
const SECOND_LOOK_NS: u64 = 10_000_000;

impl<P: Protocol> Serving<P> {
    /// Accept the connections that wait at a listening socket.
    pub fn accept(&mut self, listener: usize) {
        let listening = self.shared.listeners[listener].as_raw_fd();
        for _ in 0..ACCEPTS_IN_A_ROW {
            match accept(listening) {
                Ok(Some(socket)) if admits(&SockRef::from(&socket)) => self.place(socket, listener),
                Ok(Some(_stranger)) => {}
                Ok(None) => return,
                Err(error) if error.raw_os_error() == Some(libc::ECONNABORTED) => {}
                Err(_) => return self.pause_listening(listening), // out of file descriptors
            }
        }
    }

    fn place(&mut self, socket: OwnedFd, listener: usize) {
        let Settings {
            read_deadline_ns,
            connections_stay,
            sockets,
            ..
        } = self.shared.settings;
        if sockets.buffer_bytes > 0 {
            // only TCP inherits it from the listener, which set TCP_NODELAY too
            let _ = sockets.apply(&SockRef::from(&socket), false);
        }
        if !self.shared.admit() {
            let mut connection = Box::new(Connection::new(socket, listener));
            connection.phase = Phase::OverLimit;
            self.set_deadline(&mut connection, SECOND_LOOK_NS);
            return self.keep(connection);
        }
        if connections_stay {
            return self.deal_out(socket, listener);
        }
        let mut connection = Box::new(Connection::new(socket, listener));
        connection.admitted = true;
        let alive = self.read(&mut connection);
        if read_deadline_ns > 0 && matches!(alive, Ok(true)) && connection.phase == Phase::Open {
            self.set_deadline(&mut connection, read_deadline_ns);
        }
        self.keep_if(alive, connection);
    }

    /// Whichever thread the connection goes to makes its record at the first event.
    fn deal_out(&self, socket: OwnedFd, listener: usize) {
        let to = self.shared.dealt.fetch_add(1, Relaxed) % self.shared.epolls.len();
        let fd = socket.as_raw_fd();
        if self.shared.epolls[to].add(fd, READ, token(fd, listener)).is_ok() {
            std::mem::forget(socket);
        } else {
            self.shared.release();
        }
    }

    /// Admit or refuse a connection that was over the limit.
    pub fn look_again(&mut self, mut connection: Box<Connection<P::State>>) {
        connection.until_ns = 0;
        let alive = if self.shared.admit() {
            connection.phase = Phase::Open;
            connection.admitted = true;
            self.watch(&mut connection, READ)
        } else {
            let refusal = self.shared.protocol.refusal(self.shared.held.load(Relaxed));
            connection
                .send(&refusal)
                .and_then(|()| self.close_after(&mut connection, Then::Linger))
        };
        self.keep_if(alive, connection);
    }

    fn pause_listening(&mut self, listening: RawFd) {
        if self.shared.epolls[self.number].remove(listening).is_ok() {
            self.deadlines.insert(now_ns() + OUT_OF_FILES_PAUSE_NS, listening);
        }
    }

    pub fn listen_again(&mut self, listening: RawFd) {
        let mut numbered = self.shared.listeners.iter().enumerate();
        if let Some((number, _)) = numbered.find(|(_, listener)| listener.as_raw_fd() == listening) {
            let _ = self.shared.epolls[self.number].add(listening, READ_BY_ONE, LISTENER | number as u64);
        }
    }
}

/// The next connection; none if there is none just now.
fn accept(listening: RawFd) -> io::Result<Option<OwnedFd>> {
    let how = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no address is asked for; the new file descriptor is owned from here on.
    let fd = unsafe { libc::accept4(listening, std::ptr::null_mut(), std::ptr::null_mut(), how) };
    if fd >= 0 {
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }));
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}

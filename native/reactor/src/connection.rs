//! One accepted connection: what is kept between its events. Nothing here blocks.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::epoll::READ;
use crate::protocol::Then;

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// For requests.
    Open,
    /// For a place below the connection limit; a second look decides.
    OverLimit,
    /// For the peer to take its last answer.
    Closing(Then),
    /// For the peer to hang up: what it still sends is dropped.
    Draining,
}

pub struct Connection<S> {
    socket: OwnedFd,
    pub listener: usize,
    pub state: S,
    pub phase: Phase,
    /// Answers that the peer has not taken, from `sent` on.
    unsent: Vec<u8>,
    sent: usize,
    /// What the epoll watches it for; 0 if it does not.
    pub interest: u32,
    /// Its deadline; 0 for none.
    pub until_ns: u64,
    /// Whether it counts among the connections that are held.
    pub admitted: bool,
}

impl<S: Default> Connection<S> {
    pub fn new(socket: OwnedFd, listener: usize) -> Self {
        Self {
            socket,
            listener,
            state: S::default(),
            phase: Phase::Open,
            unsent: Vec::new(),
            sent: 0,
            interest: 0,
            until_ns: 0,
            admitted: false,
        }
    }

    /// A connection that another thread accepted, admitted and gave to this one's epoll.
    pub fn dealt(fd: RawFd, listener: usize) -> Box<Self> {
        // SAFETY: the accepting thread gave up its ownership when it added the file descriptor to this thread's epoll.
        let mut connection = Box::new(Self::new(unsafe { OwnedFd::from_raw_fd(fd) }, listener));
        connection.interest = READ;
        connection.admitted = true;
        connection
    }
}

impl<S> Connection<S> {
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// What has come in; none if nothing has, an error or 0 if the peer is gone.
    pub fn receive(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        // SAFETY: the kernel writes at most as many bytes as there is room for.
        let received = unsafe {
            libc::recv(
                self.fd(),
                into.as_mut_ptr().cast(),
                into.len(),
                libc::MSG_DONTWAIT,
            )
        };
        moved(received)
    }

    /// Send, or as much as the peer takes now; the rest is unsent.
    pub fn send(&mut self, data: &[u8]) -> io::Result<()> {
        let sent = self.send_now(data)?;
        self.unsent.extend_from_slice(&data[sent..]);
        Ok(())
    }

    /// Send what is unsent; whether all of it went.
    pub fn flush(&mut self) -> io::Result<bool> {
        self.sent += self.send_now(&self.unsent[self.sent..])?;
        if self.sent < self.unsent.len() {
            return Ok(false);
        }
        self.unsent = Vec::new(); // it may have been large
        self.sent = 0;
        Ok(true)
    }

    /// Tell the peer that nothing more comes.
    pub fn shut_down(&self) -> io::Result<()> {
        // SAFETY: the file descriptor is ours.
        if unsafe { libc::shutdown(self.fd(), libc::SHUT_WR) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn send_now(&self, data: &[u8]) -> io::Result<usize> {
        let how = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the kernel reads the slice.
        let sent = unsafe { libc::send(self.fd(), data.as_ptr().cast(), data.len(), how) };
        Ok(moved(sent)?.unwrap_or(0))
    }
}

fn moved(count: isize) -> io::Result<Option<usize>> {
    if let Ok(count) = usize::try_from(count) {
        return Ok(Some(count));
    }
    let error = io::Error::last_os_error();
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}

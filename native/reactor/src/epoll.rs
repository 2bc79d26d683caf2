//! epoll, with errors as io::Error. Source: epoll(7).

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

pub const READ: u32 = libc::EPOLLIN as u32;
pub const WRITE: u32 = libc::EPOLLOUT as u32;
/// Of several epolls that watch one listener, few are woken by one connection.
pub const READ_BY_ONE: u32 = READ | libc::EPOLLEXCLUSIVE as u32;

pub type Event = libc::epoll_event;

/// One epoll instance. Any thread may add to it.
pub struct Epoll(OwnedFd);

impl Epoll {
    pub fn new() -> io::Result<Self> {
        // SAFETY: a new file descriptor, owned from here on.
        let fd = checked(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub fn add(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events, token)
    }

    pub fn modify(&self, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, events, token)
    }

    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, 0)
    }

    /// Wait for events, at most `timeout_ms` (-1 for ever); how many of `events` are filled.
    pub fn wait(&self, events: &mut [Event], timeout_ms: i32) -> usize {
        // SAFETY: the kernel writes at most as many events as there is room for.
        let filled = unsafe {
            libc::epoll_wait(
                self.0.as_raw_fd(),
                events.as_mut_ptr(),
                events.len() as i32,
                timeout_ms,
            )
        };
        usize::try_from(filled).unwrap_or(0) // -1 is an interrupted wait
    }

    fn control(&self, operation: i32, fd: RawFd, events: u32, token: u64) -> io::Result<()> {
        let mut event = Event { events, u64: token };
        // SAFETY: the event lives for the call.
        checked(unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &mut event) }).map(drop)
    }
}

fn checked(status: i32) -> io::Result<i32> {
    if status < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(status)
    }
}

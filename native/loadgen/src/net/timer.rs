//! Wakes an event loop at a moment: epoll itself waits in whole milliseconds only.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};

/// A timerfd that the event loop watches.
pub struct Timer {
    file: OwnedFd,
    set_ns: u64,
}

impl Timer {
    /// Source: timerfd_create(2).
    pub fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        // SAFETY: the call takes no pointers; its result is checked and owned by nobody else.
        let file = unsafe {
            let file = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if file < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(file)
        };
        registry.register(&mut SourceFd(&file.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Self { file, set_ns: 0 })
    }

    /// Wake the loop at this moment, ns on the monotonic clock.
    pub fn wake_at(&mut self, moment_ns: u64) {
        if moment_ns == self.set_ns {
            return;
        }
        self.set_ns = moment_ns;
        let zero = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let moment = libc::timespec {
            tv_sec: (moment_ns / 1_000_000_000) as i64,
            tv_nsec: (moment_ns % 1_000_000_000) as i64,
        };
        let setting = libc::itimerspec {
            it_interval: zero,
            it_value: moment,
        };
        let (file, flags) = (self.file.as_raw_fd(), libc::TFD_TIMER_ABSTIME);
        // SAFETY: the file is a timerfd of ours, the setting lives on this stack, and nothing is given back.
        unsafe { libc::timerfd_settime(file, flags, &setting, std::ptr::null_mut()) };
    }
}

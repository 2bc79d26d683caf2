//! Simulated service time, exact to tens of microseconds.
//!
//! tokio's own timer counts whole milliseconds, so a timerfd is waited for instead. It never fires early; the task
//! runs again once a thread has seen it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Let other tasks run for so long.
pub async fn wait(delay: Duration) -> io::Result<()> {
    if delay.is_zero() {
        return Ok(());
    }
    // SAFETY: an OwnedFd is one open file descriptor, always the same, until it is dropped with the AsyncFd.
    let timer = unsafe { AsyncFd::register_with_interest(armed(delay)?, Interest::READABLE)? };
    timer.readable().await.map(drop)
}

/// A timer that becomes readable after the delay. Source: timerfd_create(2).
fn armed(delay: Duration) -> io::Result<OwnedFd> {
    let never = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let after = libc::timespec {
        tv_sec: delay.as_secs() as i64,
        tv_nsec: delay.subsec_nanos().into(),
    };
    let once = libc::itimerspec {
        it_interval: never,
        it_value: after,
    };
    // SAFETY: a new file descriptor, owned from here on; the timespec lives for the call.
    unsafe {
        let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let timer = OwnedFd::from_raw_fd(fd);
        if libc::timerfd_settime(timer.as_raw_fd(), 0, &once, ptr::null_mut()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(timer)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::wait;

    #[test]
    fn a_delay_below_a_millisecond_is_neither_early_nor_a_millisecond() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .unwrap();
        let mut tries = (0..2_000).map(|_| {
            let start = Instant::now();
            runtime.block_on(wait(Duration::from_micros(200))).unwrap();
            start.elapsed()
        });
        let shortest = tries.by_ref().take(20).min().unwrap();
        assert!(shortest >= Duration::from_micros(200), "{shortest:?}");
        let is_soon = |took: Duration| took < Duration::from_micros(900);
        assert!(is_soon(shortest) || tries.any(is_soon), "{shortest:?}"); // the machine may be busy
    }
}

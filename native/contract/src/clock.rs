//! The host's monotonic clock, which all children share.

use std::thread::sleep;
use std::time::Duration;

/// Nanoseconds on `CLOCK_MONOTONIC`: what Python's `time.perf_counter_ns()` reads on Linux.
#[inline]
pub fn now_ns() -> u64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a timespec of ours; this clock always exists on Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Sleep until the clock says `at_ns`.
pub fn wait_until(at_ns: u64) {
    while let Some(left_ns) = at_ns.checked_sub(now_ns()).filter(|left_ns| *left_ns > 0) {
        sleep(Duration::from_nanos(left_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::{now_ns, wait_until};

    #[test]
    fn a_time_that_is_over_is_not_waited_for_and_another_is() {
        wait_until(0);
        let at_ns = now_ns() + 2_000_000;
        wait_until(at_ns);
        assert!(now_ns() >= at_ns);
    }

    #[test]
    fn the_clock_does_not_go_back() {
        let first = now_ns();
        assert!(first > 0 && now_ns() >= first);
    }
}

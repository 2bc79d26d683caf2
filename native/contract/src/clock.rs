//! The host's monotonic clock, which all children share.

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

#[cfg(test)]
mod tests {
    use super::now_ns;

    #[test]
    fn the_clock_does_not_go_back() {
        let first = now_ns();
        assert!(first > 0 && now_ns() >= first);
    }
}

//! What the operating system has counted for this process. The same keys as core/child.py.

use std::fs;
use std::mem::MaybeUninit;

use serde_json::{Map, Value, json};

use crate::json::object;

/// CPU time, context switches and waits for a core since `start`.
pub struct Usage {
    start: libc::rusage,
    run_queue_ns: u64,
}

impl Usage {
    /// Begin to count.
    pub fn start() -> Self {
        Self {
            start: usage_now(),
            run_queue_ns: run_queue_ns(),
        }
    }

    /// Times in ns, memory in bytes: max_rss_bytes is the peak, pss_bytes the proportional share now (0 if unknown).
    pub fn to_json(&self) -> Map<String, Value> {
        let (start, now) = (&self.start, usage_now());
        object(json!({
            "cpu_user_ns": time_ns(&now.ru_utime) - time_ns(&start.ru_utime),
            "cpu_system_ns": time_ns(&now.ru_stime) - time_ns(&start.ru_stime),
            "voluntary_switches": now.ru_nvcsw - start.ru_nvcsw,
            "involuntary_switches": now.ru_nivcsw - start.ru_nivcsw,
            "run_queue_ns": run_queue_ns().saturating_sub(self.run_queue_ns),
            "max_rss_bytes": memory_bytes("/proc/self/status", "VmHWM:"),
            "pss_bytes": memory_bytes("/proc/self/smaps_rollup", "Pss:"),
        }))
    }
}

/// How long the threads that live now were ready to run without a core, in ns. 0 where /proc does not say.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst, /proc/<pid>/schedstat: the second number.
fn run_queue_ns() -> u64 {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return 0;
    };
    threads
        .flatten()
        .map(|thread| wait_ns(&thread.path().join("schedstat").to_string_lossy()))
        .sum()
}

fn wait_ns(path: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let second = text.split_whitespace().nth(1);
    second.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The kB of a line of /proc, in bytes. Source: proc_pid_status(5), proc_pid_smaps(5).
fn memory_bytes(path: &str, key: &str) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key));
    let kilobytes = value.and_then(|rest| rest.split_whitespace().next());
    kilobytes.and_then(|word| word.parse().ok()).unwrap_or(0) * 1024
}

fn usage_now() -> libc::rusage {
    let mut usage = MaybeUninit::zeroed();
    // SAFETY: the kernel fills the struct; all zeros is one too.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}

fn time_ns(time: &libc::timeval) -> i64 {
    time.tv_sec * 1_000_000_000 + time.tv_usec * 1_000
}

#[cfg(test)]
mod tests {
    use super::Usage;

    #[test]
    fn work_shows_as_cpu_time_and_memory_is_not_nought() {
        let usage = Usage::start();
        let mut sum = 0u64;
        for n in 0..50_000_000u64 {
            sum = std::hint::black_box(sum + n);
        }
        let counted = usage.to_json();
        assert!(counted["cpu_user_ns"].as_i64().unwrap() > 0);
        assert!(counted["max_rss_bytes"].as_u64().unwrap() > 500_000);
        assert_eq!(counted.len(), 7);
    }
}

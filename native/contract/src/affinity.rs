//! Which CPUs the process runs on.

use std::io;
use std::mem::MaybeUninit;

/// Run on `cpus` only; none for wherever the kernel likes. Before any thread is started: threads inherit it.
pub fn stay_on(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: a zeroed set is an empty one; CPU_SET only gets numbers below its size.
    let failed = unsafe {
        let mut set: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
        for cpu in cpus.iter().filter(|cpu| **cpu < libc::CPU_SETSIZE as usize) {
            libc::CPU_SET(*cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set)
    };
    if failed == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How many CPUs this process may use; at least 1.
pub fn usable_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

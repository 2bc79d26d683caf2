//! How a server that was started by hand ends.

use std::mem::MaybeUninit;

/// Ctrl-C and SIGTERM, held back until someone waits for them.
pub struct StopSignals(libc::sigset_t);

impl StopSignals {
    /// Hold them back; before any thread is started, for threads inherit it.
    pub fn hold_back() -> Self {
        // SAFETY: the set is made empty before it is used.
        unsafe {
            let mut set: libc::sigset_t = MaybeUninit::zeroed().assume_init();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGINT);
            libc::sigaddset(&mut set, libc::SIGTERM);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            Self(set)
        }
    }

    /// Wait for one of them.
    pub fn wait(&self) {
        let mut signal = 0;
        // SAFETY: both pointers are to values of ours.
        unsafe { libc::sigwait(&self.0, &mut signal) };
    }
}

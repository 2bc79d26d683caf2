//! Ctrl-C and SIGTERM: send no more, and report what there is.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static RECEIVED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on the first signal is a request to stop; the second ends the process at once.
pub fn listen() -> std::io::Result<()> {
    let received = RECEIVED.get_or_init(Arc::default);
    let ends_at_once = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&ends_at_once))?;
        flag::register(signal, Arc::clone(&ends_at_once))?;
        flag::register_usize(signal, Arc::clone(received), signal as usize)?;
    }
    Ok(())
}

/// The signal that has come, if one has.
#[inline]
pub fn received() -> Option<i32> {
    let signal = RECEIVED.get()?.load(Ordering::Relaxed);
    (signal != 0).then_some(signal as i32)
}

//! Ctrl-C and SIGTERM: stop asking, say what there is.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

static ASKED: OnceLock<Arc<AtomicUsize>> = OnceLock::new();

/// From now on the first signal asks to stop; the second ends the process at once.
pub fn listen() -> std::io::Result<()> {
    let asked = ASKED.get_or_init(Arc::default);
    let again = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))?;
        flag::register(signal, Arc::clone(&again))?;
        flag::register_usize(signal, Arc::clone(asked), signal as usize)?;
    }
    Ok(())
}

/// The signal that asked to stop, if one did.
#[inline]
pub fn signal() -> Option<i32> {
    let signal = ASKED.get()?.load(Ordering::Relaxed);
    (signal != 0).then_some(signal as i32)
}

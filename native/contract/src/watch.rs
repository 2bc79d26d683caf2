//! How a client notices that it is to stop, whatever its other threads do.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use serde_json::{Map, Value};

use crate::lines::{next_word, say_result};

/// Exit status of a client that finds end of file before its result.
pub const STOPPED_EARLY: i32 = 3;

/// From its making on, the process exits at end of file on stdin: with 0 once the result is said, else with 3.
pub struct ParentWatch {
    said: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ParentWatch {
    /// Start to watch; after `go`, when no other line is read any more.
    pub fn start() -> Self {
        let said = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&said);
        let thread = thread::spawn(move || {
            while next_word().is_some() {}
            process::exit(if seen.load(Ordering::SeqCst) {
                0
            } else {
                STOPPED_EARLY
            });
        });
        Self { said, thread }
    }

    /// Say the last line, and keep connections and memory as they are until the orchestrator has looked at them.
    pub fn say_result_and_stay(self, result: Map<String, Value>) -> ! {
        self.said.store(true, Ordering::SeqCst);
        say_result(result);
        let _ = self.thread.join();
        process::exit(0);
    }
}

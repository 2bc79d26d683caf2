//! The orchestrator's end of stdin: its words, and its end, which ends this process whatever other threads do.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use contract::{STOPPED_EARLY, next_word, say_result};
use serde_json::{Map, Value};

/// A thread that reads stdin. contract::ParentWatch begins at `go`; this one sees the end during the warm-up too.
pub struct Parent {
    /// `warm` and `go` as they come.
    pub words: Receiver<String>,
    said: Arc<AtomicBool>,
}

impl Parent {
    /// Start to read, once the cell has been read.
    pub fn listen() -> Self {
        let (word, words) = channel();
        let said = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&said);
        thread::spawn(move || {
            while let Some(one) = next_word() {
                let _ = word.send(one); // after `go` nobody listens any more
            }
            process::exit(if seen.load(Ordering::SeqCst) {
                0
            } else {
                STOPPED_EARLY
            });
        });
        Self { words, said }
    }

    /// Say the last line, and keep connections and memory as they are until stdin ends.
    pub fn say_result_and_stay(self, result: Map<String, Value>) -> ! {
        self.said.store(true, Ordering::SeqCst);
        say_result(result);
        loop {
            thread::park();
        }
    }
}

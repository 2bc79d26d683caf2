//! The orchestrator's side of a client: its words on stdin, and their end, which ends this process whatever it does.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Map, Value};

use crate::lines::{next_word, say_done, say_result};

/// Exit status of a client that finds end of file on stdin before its result.
const STOPPED_EARLY: i32 = 3;

/// A thread that reads stdin. At its end the process exits: with 0 once the result is printed, otherwise with 3.
pub struct Orchestrator {
    words: Receiver<String>,
    result_is_printed: Arc<AtomicBool>,
}

impl Orchestrator {
    /// Start to read, once the cell has been read.
    pub fn listen() -> Self {
        let (sender, words) = channel();
        let result_is_printed = Arc::new(AtomicBool::new(false));
        let may_end = Arc::clone(&result_is_printed);
        thread::spawn(move || {
            while let Some(word) = next_word() {
                let _ = sender.send(word); // after `go` nobody receives any more
            }
            let is_early = !may_end.load(Ordering::SeqCst);
            process::exit(if is_early { STOPPED_EARLY } else { 0 });
        });
        Self {
            words,
            result_is_printed,
        }
    }

    /// Wait for `go`; warm up whenever `warm` comes before it.
    pub fn wait_for_go<E>(&self, mut warm_up: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        loop {
            match self.words.recv().as_deref() {
                Ok("go") => return Ok(()),
                Ok(word @ "warm") => {
                    warm_up()?;
                    say_done(word);
                }
                _ => process::exit(STOPPED_EARLY),
            }
        }
    }

    /// Say the last line, and keep connections and memory as they are until stdin ends.
    pub fn say_result_and_stay(self, result: Map<String, Value>) -> ! {
        self.result_is_printed.store(true, Ordering::SeqCst);
        say_result(result);
        loop {
            thread::park();
        }
    }
}

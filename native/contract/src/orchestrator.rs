//! The orchestrator's side of a client: its words on stdin, and their end, which ends this process whatever it does.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Map, Value};

use crate::clock::wait_until;
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

    /// Wait for `go`, and for the time that it may give; warm up whenever `warm` comes before it.
    pub fn wait_for_go<E>(&self, mut warm_up: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        loop {
            let word = self.words.recv().unwrap_or_default();
            if let Some(at_ns) = go_ns(&word) {
                wait_until(at_ns);
                return Ok(());
            }
            if word != "warm" {
                process::exit(STOPPED_EARLY);
            }
            warm_up()?;
            say_done(&word);
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

/// When a client is to begin by a `go`: at that time of this host's monotonic clock, or at once (0).
fn go_ns(word: &str) -> Option<u64> {
    let rest = word.strip_prefix("go")?;
    if rest.is_empty() {
        return Some(0);
    }
    rest.strip_prefix(' ')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::go_ns;

    #[test]
    fn a_go_may_say_when() {
        assert_eq!(go_ns("go"), Some(0));
        assert_eq!(go_ns("go 6795092236268"), Some(6_795_092_236_268));
        for word in ["", "warm", "gone", "go x", "go -1"] {
            assert_eq!(go_ns(word), None, "{word}");
        }
    }
}

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
/// Multiples of the golden ratio, modulo 1, are evenly spread.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

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
    pub fn wait_for_go<E>(&self, warm_up: impl FnMut() -> Result<(), E>) -> Result<(), E> {
        match self.wait_for_release(warm_up)? {
            None => Ok(()),
            Some(_) => process::exit(STOPPED_EARLY),
        }
    }

    /// Wait for `go`, which gives none, or a slice, and for the time that it may give; warm up at each `warm` before.
    pub fn wait_for_release<E>(
        &self,
        mut warm_up: impl FnMut() -> Result<(), E>,
    ) -> Result<Option<Slice>, E> {
        loop {
            let word = self.words.recv().unwrap_or_default();
            if let Some((at_ns, slice)) = release(&word) {
                self.result_is_printed.store(false, Ordering::SeqCst);
                wait_until(at_ns);
                return Ok(slice);
            }
            if word != "warm" {
                process::exit(STOPPED_EARLY);
            }
            warm_up()?;
            say_done(&word);
        }
    }

    /// Say the result of a slice; the next word is for the next one.
    pub fn say_result_of_slice(&self, result: Map<String, Value>) {
        self.result_is_printed.store(true, Ordering::SeqCst);
        say_result(result);
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

/// A part of the timed requests: a client sends for `lead_ns` and `length_ns`, and counts what starts in the last.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slice {
    pub at_ns: u64,
    pub lead_ns: u64,
    pub length_ns: u64,
    /// The connections send their first requests at different times of the first `stagger_ns`.
    pub stagger_ns: u64,
}

impl Slice {
    /// When connection `place` of `of` sends its first request. Source: core/child.py.
    pub fn begins_ns(&self, place: u64, of: u64) -> u64 {
        let phase = u128::from(self.at_ns.wrapping_mul(GOLDEN));
        let spread = u128::from(self.stagger_ns) * ((u128::from(place) << 64) + phase);
        self.at_ns + (spread / (u128::from(of.max(1)) << 64)) as u64
    }
}

/// When a client is to begin by a `go` or a `slice`: at that time of this host's monotonic clock, or at once (0).
fn release(word: &str) -> Option<(u64, Option<Slice>)> {
    let mut words = word.split(' ');
    let name = words.next()?;
    let numbers: Vec<u64> = words.map(|word| word.parse().ok()).collect::<Option<_>>()?;
    match (name, &numbers[..]) {
        ("go", []) => Some((0, None)),
        ("go", &[at_ns]) => Some((at_ns, None)),
        ("slice", &[at_ns, lead_ns, length_ns, stagger_ns]) => {
            Some((at_ns, Some(Slice { at_ns, lead_ns, length_ns, stagger_ns })))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Slice, release};

    #[test]
    fn a_go_may_say_when() {
        assert_eq!(release("go"), Some((0, None)));
        assert_eq!(release("go 6795092236268"), Some((6_795_092_236_268, None)));
        for word in ["", "warm", "gone", "go x", "go -1", "go 1 2"] {
            assert_eq!(release(word), None, "{word}");
        }
    }

    #[test]
    fn connections_begin_evenly_spread_as_in_python() {
        let slice = Slice {
            at_ns: 6_795_092_236_268,
            stagger_ns: 300_000_000,
            ..Slice::default()
        };
        let offsets = [0, 1, 7].map(|place| slice.begins_ns(place, 8) - slice.at_ns);
        assert_eq!(offsets, [5_810_155, 43_310_155, 268_310_155]);
    }

    #[test]
    fn a_slice_says_when_and_how_long() {
        let slice = Slice {
            at_ns: 7,
            lead_ns: 10,
            length_ns: 250,
            stagger_ns: 3,
        };
        assert_eq!(release("slice 7 10 250 3"), Some((7, Some(slice))));
        for word in ["slice", "slice 7 10 250", "slice 7 10 250 1 1", "slice 7 10 250 x"] {
            assert_eq!(release(word), None, "{word}");
        }
    }
}

//! All that a report is made of.

use std::sync::Arc;

use contract::FineHistogram;
use serde_json::{Map, Value};

use crate::engine::job::Job;
use crate::engine::tally::Tally;
use crate::engine::worker_threads::OpenLoop;
use crate::request::target::Target;

/// A run that is over.
pub struct Finished {
    pub target: Target,
    pub job: Arc<Job>,
    pub threads: usize,
    pub tally: Tally,
    /// From the release to the end of the phase: the last answer or failure, and at least the duration.
    pub wall_ns: u64,
    /// None in a closed loop.
    pub open_loop: Option<OpenLoop>,
    /// Connects before the clock started.
    pub opened: FineHistogram,
    /// CPU time and switches of this process while timed; memory.
    pub usage: Map<String, Value>,
    /// The signal that ended it early.
    pub stopped_by: Option<i32>,
}

impl Finished {
    /// Requests that had no usable or no right answer.
    pub fn failed(&self) -> u64 {
        self.tally.wrong + self.tally.error_sum()
    }

    /// All connects: those before the clock started and those while timed.
    pub fn connects(&self) -> FineHistogram {
        let mut all = self.opened.clone();
        all.merge(&self.tally.connect);
        all
    }

    /// Answers per second.
    pub fn answers_per_s(&self) -> f64 {
        self.tally.answered as f64 / self.wall_s()
    }

    pub fn wall_s(&self) -> f64 {
        self.wall_ns.max(1) as f64 / 1e9
    }
}

//! The threads: each has a share of the lanes, waits for a phase, runs it, and hands over what it counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use contract::now_ns;

use crate::job::{Amount, Job, Phase};
use crate::lane::LaneSpec;
use crate::recorder::Recorder;
use crate::tally::Tally;
use crate::worker::Worker;

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Threads that wait for a phase.
pub struct Crew {
    orders: Vec<Sender<Phase>>,
    counted: Receiver<io::Result<Tally>>,
    progress: Vec<Arc<AtomicU64>>,
    /// How long each connection took that was opened before the clock starts.
    pub opened: Recorder,
}

/// What one phase came to.
pub struct Outcome {
    pub tally: Tally,
    pub started_ns: u64,
    /// When the last answer came, or, if none did, when the threads had ended.
    pub finished_ns: u64,
}

impl Crew {
    /// Open all connections and start the threads. most_active: how many lanes run at a time.
    pub fn gather(
        job: &Arc<Job>,
        specs: &[LaneSpec],
        threads: usize,
        most_active: usize,
    ) -> Result<Self, String> {
        let (done, counted) = channel();
        let mut crew = Self {
            orders: Vec::new(),
            counted,
            progress: Vec::new(),
            opened: Recorder::default(),
        };
        for thread in 0..threads {
            let share = specs.iter().skip(thread).step_by(threads).cloned().collect();
            let active = most_active / threads + usize::from(thread < most_active % threads);
            let progress = Arc::new(AtomicU64::new(0));
            crew.progress.push(Arc::clone(&progress));
            let mut worker =
                Worker::new(Arc::clone(job), share, active, (thread, threads), progress).map_err(refused)?;
            crew.opened.merge(&worker.open_all()?);
            let (order, orders) = channel::<Phase>();
            crew.orders.push(order);
            let done = done.clone();
            let work = move || {
                orders
                    .into_iter()
                    .all(|phase| done.send(worker.run(&phase)).is_ok());
            };
            thread::Builder::new()
                .name(format!("worker {thread}"))
                .spawn(work)
                .map_err(refused)?;
        }
        Ok(crew)
    }

    /// Run one phase on all threads. look: told now and then how many answers have come.
    pub fn run(
        &self,
        amount: Amount,
        rate: Option<f64>,
        mut look: impl FnMut(u64),
    ) -> Result<Outcome, String> {
        self.progress
            .iter()
            .for_each(|one| one.store(0, Ordering::Relaxed));
        let phase = Phase {
            amount,
            rate,
            start_ns: now_ns(),
        };
        for order in &self.orders {
            let _ = order.send(phase.clone()); // a thread that is gone is noticed below
        }
        let tally = self.collect(&mut look)?;
        look(tally.answered);
        let finished_ns = if tally.last_ns > 0 {
            tally.last_ns
        } else {
            now_ns()
        };
        Ok(Outcome {
            tally,
            started_ns: phase.start_ns,
            finished_ns,
        })
    }

    /// Wait for all threads; the sum of what they counted.
    fn collect(&self, look: &mut impl FnMut(u64)) -> Result<Tally, String> {
        let (mut tally, mut running) = (Tally::default(), self.orders.len());
        while running > 0 {
            match self.counted.recv_timeout(LOOK_EVERY) {
                Ok(counted) => {
                    tally.merge(&counted.map_err(refused)?);
                    running -= 1;
                }
                Err(RecvTimeoutError::Timeout) => look(self.answered()),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("all threads have ended before their time".to_owned());
                }
            }
        }
        Ok(tally)
    }

    fn answered(&self) -> u64 {
        self.progress.iter().map(|one| one.load(Ordering::Relaxed)).sum()
    }
}

fn refused(error: io::Error) -> String {
    format!("the system refuses: {error}")
}

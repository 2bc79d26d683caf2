//! The worker threads: each has a share of the users, waits for a phase, runs it, and returns what it counted.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use contract::now_ns;

use crate::engine::arrivals::Arrivals;
use crate::engine::job::{Amount, Job, Phase};
use crate::engine::tally::Tally;
use crate::engine::virtual_user::VirtualUserSpec;
use crate::engine::worker::Worker;
use crate::stop_signal;
use contract::{FineHistogram, Slice};

/// Worker threads that wait for a phase.
pub struct WorkerThreads {
    phases: Vec<Sender<Phase>>,
    tallies: Receiver<io::Result<Tally>>,
    specs: Vec<VirtualUserSpec>,
    /// How many users run at a time.
    pub most_active: usize,
    /// Whether the gaps between requests at a rate are random.
    pub poisson: bool,
    /// How long each connection took that was opened before the clock starts.
    pub opened: FineHistogram,
}

/// The outcome of one phase.
pub struct Outcome {
    pub tally: Tally,
    pub started_ns: u64,
    /// When the last answer came, or, if none did, when the threads had ended.
    pub finished_ns: u64,
    /// When the phase was over: the last answer or failure, at least the duration, or the signal that stopped it.
    pub ended_ns: u64,
    /// None in a closed loop.
    pub open_loop: Option<OpenLoop>,
}

/// What became of the rate.
#[derive(Debug, Clone, Copy)]
pub struct OpenLoop {
    /// Requests per second that were really sent.
    pub offered_per_s: f64,
    /// Requests that were due and never sent.
    pub overdue: u64,
}

impl Outcome {
    fn new(tally: Tally, phase: &Phase, duration_ns: u64) -> Self {
        let stopped = stop_signal::received().is_some();
        let ended_ns = match (stopped, tally.ended_ns) {
            (true, ended_ns) if ended_ns > 0 => ended_ns,
            (_, ended_ns) => ended_ns.max(phase.start_ns + duration_ns),
        };
        let until_ns = if stopped { ended_ns } else { u64::MAX };
        let open_loop = phase.arrivals.as_ref().map(|arrivals| OpenLoop {
            offered_per_s: arrivals.offered_per_s(tally.sent, tally.last_sent_ns),
            overdue: arrivals.unsent(tally.sent, until_ns),
        });
        Self {
            started_ns: phase.start_ns,
            finished_ns: if tally.last_ns > 0 {
                tally.last_ns
            } else {
                now_ns()
            },
            ended_ns,
            open_loop,
            tally,
        }
    }
}

impl WorkerThreads {
    /// Open all connections and start the threads. most_active: how many users run at a time.
    pub fn start(
        job: &Arc<Job>,
        specs: &[VirtualUserSpec],
        threads: usize,
        most_active: usize,
    ) -> Result<Self, String> {
        let (tally_sender, tallies) = channel();
        let mut started = Self {
            phases: Vec::new(),
            tallies,
            specs: specs.to_vec(),
            most_active,
            poisson: false,
            opened: FineHistogram::default(),
        };
        for thread in 0..threads {
            let share = specs.iter().skip(thread).step_by(threads).cloned().collect();
            let active = most_active / threads + usize::from(thread < most_active % threads);
            let mut worker = Worker::new(Arc::clone(job), share, active).map_err(system_error)?;
            if job.opens_early {
                started.opened.merge(&worker.open_all()?);
            }
            let (phase_sender, phases) = channel::<Phase>();
            started.phases.push(phase_sender);
            let tally_sender = tally_sender.clone();
            let run_phases = move || {
                phases
                    .into_iter()
                    .all(|phase| tally_sender.send(worker.run(&phase)).is_ok());
            };
            thread::Builder::new()
                .name(format!("worker {thread}"))
                .spawn(run_phases)
                .map_err(system_error)?;
        }
        Ok(started)
    }

    /// Run one phase on all threads.
    pub fn run(&self, amount: Amount, rate: Option<f64>) -> Result<Outcome, String> {
        self.run_slice(None, amount, rate)
    }

    /// Run one phase: of a slice, requests count that begin when its lead has passed, and before its time is over.
    pub fn run_slice(
        &self,
        slice: Option<Slice>,
        amount: Amount,
        rate: Option<f64>,
    ) -> Result<Outcome, String> {
        let start_ns = slice.map_or_else(now_ns, |slice| slice.at_ns);
        let duration_ns = self.duration_ns(&amount);
        let arrivals = rate.map(|rate| Arc::new(self.arrivals(&amount, rate, start_ns)));
        let phase = Phase {
            amount,
            arrivals,
            start_ns,
            slice,
            end_ns: start_ns + duration_ns,
        };
        for sender in &self.phases {
            let _ = sender.send(phase.clone()); // a thread that has ended is noticed below
        }
        Ok(Outcome::new(self.collect()?, &phase, duration_ns))
    }

    /// All rounds together, where users wait for others to end; 0 where a number of requests says how much.
    fn duration_ns(&self, amount: &Amount) -> u64 {
        match amount {
            Amount::Time(slice_ns) => slice_ns * self.specs.len().div_ceil(self.most_active) as u64,
            Amount::Pool(_) | Amount::Divided(_) => 0,
        }
    }

    fn arrivals(&self, amount: &Amount, rate: f64, start_ns: u64) -> Arrivals {
        let number = match amount {
            Amount::Time(_) if self.poisson => {
                return Arrivals::poisson_within(start_ns, rate, self.duration_ns(amount));
            }
            Amount::Time(_) => return Arrivals::within(start_ns, rate, self.duration_ns(amount)),
            Amount::Pool(pool) => pool.left(),
            Amount::Divided(requests) => self.specs.iter().map(|spec| spec.share(*requests)).sum(),
        };
        Arrivals::new(start_ns, rate, number)
    }

    /// Wait for all threads; the sum of what they counted.
    fn collect(&self) -> Result<Tally, String> {
        let mut tally = Tally::default();
        for _ in &self.phases {
            let thread_tally = self
                .tallies
                .recv()
                .map_err(|_| "all worker threads ended early".to_owned())?;
            tally.merge(&thread_tally.map_err(system_error)?);
        }
        Ok(tally)
    }
}

fn system_error(error: io::Error) -> String {
    format!("the operating system refused: {error}")
}

//! A run from the command line: open connections, warm up, ask, and what came of it.

use std::sync::Arc;

use contract::{Usage, usable_cpus};
use serde_json::{Map, Value};

use crate::asked::Asked;
use crate::crew::{Crew, OpenLoop, Outcome};
use crate::flags::{Flags, Protocol, Report};
use crate::job::{Amount, Job};
use crate::lane::{LaneSpec, Pool};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::stop;
use crate::tally::Tally;
use crate::target::Target;
use crate::values::Warmup;

/// All that a report is made of.
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
    pub opened: Recorder,
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
    pub fn connects(&self) -> Recorder {
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

/// Run as the flags say.
pub fn run(flags: &Flags) -> Result<Finished, String> {
    let target = target(flags)?;
    let asked = Asked {
        host: target.authority(),
        path: target.path.clone(),
        times_first_byte: flags.report != Report::Vmbench,
        ..Asked::from_flags(flags)
    };
    let job = Arc::new(asked.job());
    let connections = flags.connections;
    let threads = flags
        .threads
        .unwrap_or_else(usable_cpus)
        .min(connections as usize);
    let address = &target.address;
    let lane = |rank| LaneSpec {
        addresses: vec![address.clone()],
        rank,
        of: connections,
        seed: rank + 1,
    };
    let specs: Vec<LaneSpec> = (0..connections).map(lane).collect();
    let crew = Crew::gather(&job, &specs, threads, specs.len())?;
    warm_up(&crew, flags, threads)?;
    let usage = Usage::start();
    let outcome = ask(&crew, flags, threads)?;
    Ok(Finished {
        target,
        job,
        threads,
        wall_ns: outcome.ended_ns - outcome.started_ns,
        open_loop: outcome.open_loop,
        tally: outcome.tally,
        opened: crew.opened,
        usage: usage.to_json(),
        stopped_by: stop::signal(),
    })
}

fn target(flags: &Flags) -> Result<Target, String> {
    let text = flags.target.as_deref().unwrap_or_default();
    if flags.protocol == Protocol::Http {
        Target::from_url(text)
    } else {
        Target::from_address(text)
    }
}

fn warm_up(crew: &Crew, flags: &Flags, threads: usize) -> Result<(), String> {
    let amount = match flags.warmup {
        None => return Ok(()),
        Some(Warmup::Requests(requests)) => Amount::Pool(Arc::new(Pool::new(requests, threads))),
        Some(Warmup::Time(time)) => Amount::Time(time.as_nanos() as u64),
    };
    crew.run(amount, flags.rate, |_| ())
        .map(drop)
        .map_err(|error| error.to_string())
}

fn ask(crew: &Crew, flags: &Flags, threads: usize) -> Result<Outcome, String> {
    let mut progress = Progress::of(flags.requests.filter(|_| flags.report == Report::Ab));
    let amount = match (flags.requests, flags.duration) {
        (Some(requests), _) => Amount::Pool(Arc::new(Pool::new(requests, threads))),
        (None, time) => Amount::Time(time.unwrap_or_default().as_nanos() as u64),
    };
    crew.run(amount, flags.rate, |answered| progress.show(answered))
        .map_err(|error| error.to_string())
}

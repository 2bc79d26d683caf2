//! http-reqwest: asks each HTTP server by many workers, one connection each.
//!
//! `http-reqwest [--timeout SECONDS] [--expect-length BYTES]` is told its cell on stdin (docs/child-contract.md). The
//! first request of each worker opens its connection before it is ready; its time is in `connect` and nowhere else.

mod outcome;
mod plan;
mod report;
mod worker;

use std::error::Error;
use std::process::{self, ExitCode};
use std::sync::Arc;

use contract::{CellError, Flags, Histogram, ParentWatch, Program, STOPPED_EARLY, Usage, program};
use contract::{next_word, now_ns, read_cell, say_done, say_ready, stay_on};
use tokio::runtime::{Builder, Runtime};

use crate::plan::Plan;
use crate::report::{Timed, result};
use crate::worker::{Quota, Tally, Target, Worker};

const PROGRAM: Program = program!("http-reqwest", "reqwest", "hyper", "tokio");
/// Exit status for a flag or a cell that cannot be read.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("http-reqwest: {error}");
            if error.is::<CellError>() {
                ExitCode::from(BAD_INPUT)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let flags = Flags::read(
        std::env::args().skip(1),
        &["child"],
        &["timeout", "expect-length"],
    )?;
    let cell = read_cell()?;
    stay_on(&cell.cpus)?;
    let plan = Plan::new(&cell, &flags)?;
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let one = |target: &Target| Worker::new(target.clone()).map(Arc::new);
    let workers = plan.targets.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let connect = open_all(&runtime, &workers);
    say_ready(&[], &PROGRAM);
    wait_for_go(&runtime, &workers, &plan);
    let (watch, usage) = (ParentWatch::start(), Usage::start());
    let timed = ask_all(&runtime, &workers, &plan.timed_quotas());
    let mut counted = usage.to_json();
    counted.extend(result(&timed, &connect));
    watch.say_result_and_stay(counted)
}

/// Each worker's connection, opened at the same time; how long each took. One that could not be is not in it.
fn open_all(runtime: &Runtime, workers: &[Arc<Worker>]) -> Histogram {
    let open = |worker: &Arc<Worker>| {
        let worker = Arc::clone(worker);
        runtime.spawn(async move { worker.open().await })
    };
    let opening: Vec<_> = workers.iter().map(open).collect();
    let mut connect = Histogram::default();
    for task in opening {
        let took_ns = runtime
            .block_on(task)
            .expect("a task that panics ends the process");
        took_ns.into_iter().for_each(|one_ns| connect.record(one_ns));
    }
    connect
}

fn wait_for_go(runtime: &Runtime, workers: &[Arc<Worker>], plan: &Plan) {
    loop {
        match next_word().as_deref() {
            Some("go") => return,
            Some("warm") => {
                ask_all(runtime, workers, &plan.warmup_quotas());
                say_done("warm");
            }
            _ => process::exit(STOPPED_EARLY),
        }
    }
}

/// Spawn the workers' tasks, and wait for the last.
fn ask_all(runtime: &Runtime, workers: &[Arc<Worker>], quotas: &[Quota]) -> Timed {
    let started_ns = now_ns();
    let tallies = runtime.block_on(async {
        let spawn = |(worker, quota): (&Arc<Worker>, &Quota)| {
            let (worker, quota) = (Arc::clone(worker), *quota);
            tokio::spawn(async move { worker.run(quota, started_ns).await })
        };
        let tasks: Vec<_> = workers.iter().zip(quotas).map(spawn).collect();
        let mut tallies: Vec<Tally> = Vec::with_capacity(tasks.len());
        for task in tasks {
            tallies.push(task.await.expect("a task that panics ends the process"));
        }
        tallies
    });
    Timed {
        started_ns,
        joined_ns: now_ns(),
        tallies,
    }
}

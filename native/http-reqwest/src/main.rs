//! http-reqwest: asks each HTTP server by many workers, one connection each.
//!
//! The first request of each worker opens its connection before it is ready; its time is in `connect` and nowhere else.

mod outcome;
mod plan;
mod report;
mod worker;

use std::convert::Infallible;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use contract::{Orchestrator, Program, Usage, WireHistogram};
use contract::{exit_status, now_ns, program, read_cell, say_ready, stay_on};
use tokio::runtime::{Builder, Runtime};

use crate::plan::{Flags, Plan};
use crate::report::{Timed, result};
use crate::worker::{Quota, Tally, Target, Worker};

const PROGRAM: Program = program!("http-reqwest", "reqwest", "hyper", "tokio");

fn main() -> ExitCode {
    let flags = Flags::parse();
    exit_status(&PROGRAM, run(&flags))
}

fn run(flags: &Flags) -> Result<(), Box<dyn Error>> {
    let cell = read_cell()?;
    stay_on(&cell.cpus)?;
    let plan = Plan::new(&cell, flags)?;
    let orchestrator = Orchestrator::listen();
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let worker = |target: &Target| Worker::new(target.clone()).map(Arc::new);
    let workers = plan.targets.iter().map(worker).collect::<Result<Vec<_>, _>>()?;
    let connect = open_all(&runtime, &workers);
    say_ready(&[], &PROGRAM);
    orchestrator.wait_for_go(|| {
        ask_all(&runtime, &workers, &plan.warmup_quotas());
        Ok::<(), Infallible>(())
    })?;
    let usage = Usage::start();
    let timed = ask_all(&runtime, &workers, &plan.timed_quotas());
    let mut counted = usage.to_json();
    counted.extend(result(&timed, &connect));
    orchestrator.say_result_and_stay(counted)
}

/// Each worker's connection, opened at the same time; how long each took. One that could not be is not in it.
fn open_all(runtime: &Runtime, workers: &[Arc<Worker>]) -> WireHistogram {
    let open = |worker: &Arc<Worker>| {
        let worker = Arc::clone(worker);
        runtime.spawn(async move { worker.open().await })
    };
    let opening: Vec<_> = workers.iter().map(open).collect();
    let mut connect = WireHistogram::default();
    for task in opening {
        let connect_ns = runtime
            .block_on(task)
            .expect("a task that panics ends the process");
        connect_ns
            .into_iter()
            .for_each(|value_ns| connect.record(value_ns));
    }
    connect
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

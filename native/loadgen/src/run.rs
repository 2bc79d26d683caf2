//! A run by hand: open connections, warm up, send, and gather the outcome.

use std::sync::Arc;

use contract::{Usage, usable_cpus};

use crate::cli::flags::{Flags, Protocol};
use crate::cli::values::Warmup;
use crate::engine::job::Amount;
use crate::engine::request_pool::RequestPool;
use crate::engine::virtual_user::VirtualUserSpec;
use crate::engine::worker_threads::{Outcome, WorkerThreads};
use crate::report::finished::Finished;
use crate::request::spec::RequestSpec;
use crate::request::target::Target;
use crate::stop_signal;

/// Run as the flags say.
pub fn run(flags: &Flags) -> Result<Finished, String> {
    let target = target(flags)?;
    let spec = RequestSpec {
        host: target.authority(),
        path: target.path.clone(),
        times_first_byte: true,
        ..RequestSpec::from_flags(flags)
    };
    let job = Arc::new(spec.into_job());
    let connections = flags.connections;
    let threads = flags
        .threads
        .unwrap_or_else(usable_cpus)
        .min(connections as usize);
    let address = &target.address;
    let user = |rank| VirtualUserSpec {
        addresses: vec![address.clone()],
        rank,
        of: connections,
        seed: rank + 1,
        service: 0,
        place: rank,
        users: connections,
    };
    let users: Vec<VirtualUserSpec> = (0..connections).map(user).collect();
    let workers = WorkerThreads::start(&job, &users, threads, users.len())?;
    warm_up(&workers, flags, threads)?;
    let usage = Usage::start();
    let outcome = send(&workers, flags, threads)?;
    Ok(Finished {
        target,
        job,
        threads,
        wall_ns: outcome.ended_ns - outcome.started_ns,
        open_loop: outcome.open_loop,
        tally: outcome.tally,
        opened: workers.opened,
        usage: usage.to_json(),
        stopped_by: stop_signal::received(),
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

fn warm_up(workers: &WorkerThreads, flags: &Flags, threads: usize) -> Result<(), String> {
    let amount = match flags.warmup {
        None => return Ok(()),
        Some(Warmup::Requests(requests)) => Amount::Pool(Arc::new(RequestPool::new(requests, threads))),
        Some(Warmup::Time(time)) => Amount::Time(time.as_nanos() as u64),
    };
    workers.run(amount, flags.rate).map(drop)
}

fn send(workers: &WorkerThreads, flags: &Flags, threads: usize) -> Result<Outcome, String> {
    let amount = match (flags.requests, flags.duration) {
        (Some(requests), _) => Amount::Pool(Arc::new(RequestPool::new(requests, threads))),
        (None, time) => Amount::Time(time.unwrap_or_default().as_nanos() as u64),
    };
    workers.run(amount, flags.rate)
}

//! A client of the child contract: docs/child-contract.md. The reference is clients/drive.py.

use std::sync::Arc;

use contract::{Cell, CellError, MAX_BUFFER_BYTES, Method, Orchestrator, Program, Slice, Usage, say_ready};
use serde_json::{Map, Value, json};

use crate::cli::flags::Flags;
use crate::cli::values::{MAX_MESSAGE_BYTES, MAX_PAYLOAD_BYTES};
use crate::engine::job::{Amount, Job};
use crate::engine::tally::Route;
use crate::engine::virtual_user::VirtualUserSpec;
use crate::engine::worker_threads::{Outcome, WorkerThreads};
use crate::request::plan::OwnService;
use crate::request::spec::RequestSpec;
use crate::request::target::Target;

/// An answer of a user's service that has not come by then is an error. Source: core/request_plan.py.
const OWN_DEADLINE_NS: u64 = 10_000_000_000;
const PROGRAM: Program = contract::program!("loadgen", "mio", "hdrhistogram");

/// A client of a cell, and how much it sends.
struct Client {
    workers: WorkerThreads,
    method: Method,
    requests_per_service: u64,
    services: u64,
    /// How many services are called at a time.
    concurrent_services: u64,
    rate: Option<f64>,
}

/// Be a client until end of file on stdin.
pub fn call(flags: &Flags) -> Result<(), String> {
    let cell = contract::read_cell().map_err(|error| error.to_string())?;
    contract::stay_on(&cell.cpus).map_err(|error| format!("cpus is {:?}: {error}", cell.cpus))?;
    let orchestrator = Orchestrator::listen();
    let client = Client::start(&cell, flags)?;
    say_ready(&[], &PROGRAM);
    while let Some(slice) = orchestrator.wait_for_release(|| client.warm_up())? {
        orchestrator.say_result_of_slice(client.result(|| client.send_slice(slice))?);
    }
    orchestrator.say_result_and_stay(client.result(|| client.send())?)
}

impl Client {
    /// Open the connections and start the threads.
    fn start(cell: &Cell, flags: &Flags) -> Result<Self, String> {
        let params = &cell.params;
        let text = |error: CellError| error.to_string();
        let whole = |name, default| params.whole(name, default).map_err(text);
        if cell.addresses.is_empty() {
            return Err("addresses is empty; a client needs those of at least one service".to_owned());
        }
        let services = cell.addresses.len() as u64;
        let connections = whole("NUM_CONNECTIONS_PER_CLIENT", 1)?.max(1);
        let concurrent_services = whole("NUM_THREADS_PER_CLIENT", services)?.clamp(1, services);
        let rate = params.number("RATE", 0.0).map_err(text)?;
        let users = virtual_users(cell, connections)?;
        let job = Arc::new(job(cell, flags)?);
        let max_active = (concurrent_services * connections) as usize;
        // The clients of a cell share the cores: fewer threads with more connections each wake up less often.
        let clients = clients(cell)? as usize;
        let threads = flags
            .threads
            .unwrap_or_else(|| (contract::usable_cpus() / clients).max(1))
            .min(max_active);
        let mut workers = WorkerThreads::start(&job, &users, threads, max_active)?;
        workers.poisson = cell.method.arrivals == "poisson";
        Ok(Self {
            workers,
            method: cell.method.clone(),
            requests_per_service: whole("NUM_REQUESTS_PER_CLIENT", 1000)?,
            services,
            concurrent_services,
            rate: (rate > 0.0).then_some(rate),
        })
    }

    /// Send as in the timed window, as much as the method says, and forget it.
    fn warm_up(&self) -> Result<(), String> {
        let warmup = self.method.warmup;
        let amount = if self.method.duration_s == 0.0 && warmup.share > 0.0 {
            Amount::Divided(((warmup.share * self.requests_per_service as f64).round() as u64).max(1))
        } else if warmup.seconds > 0.0 {
            self.time(warmup.seconds)
        } else {
            self.time(warmup.share * self.method.duration_s)
        };
        self.workers.run(amount, self.rate).map(drop)
    }

    fn send(&self) -> Result<Outcome, String> {
        let amount = if self.method.duration_s > 0.0 {
            self.time(self.method.duration_s)
        } else {
            Amount::Divided(self.requests_per_service)
        };
        self.workers.run(amount, self.rate)
    }

    fn send_slice(&self, slice: Slice) -> Result<Outcome, String> {
        let amount = self.time((slice.lead_ns + slice.length_ns) as f64 / 1e9);
        let mut outcome = self.workers.run_slice(Some(slice), amount, self.rate)?;
        outcome.started_ns += slice.lead_ns;
        outcome.tally.sent -= outcome.tally.uncounted;
        Ok(outcome)
    }

    /// What `send` sent, and what this process used meanwhile.
    fn result(&self, send: impl FnOnce() -> Result<Outcome, String>) -> Result<Map<String, Value>, String> {
        let usage = Usage::start();
        let outcome = send()?;
        let mut result = usage.to_json();
        result.extend(self.counted(&outcome));
        Ok(result)
    }

    /// Services that are not all called at a time divide the time among them.
    fn time(&self, seconds: f64) -> Amount {
        let rounds = self.services.div_ceil(self.concurrent_services);
        Amount::Time((seconds / rounds as f64 * 1e9).round() as u64)
    }

    fn counted(&self, outcome: &Outcome) -> Map<String, Value> {
        let tally = &outcome.tally;
        let timed = self.method.duration_s > 0.0;
        let mut result = Map::new();
        let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
        put("started_ns", json!(outcome.started_ns));
        put("finished_ns", json!(outcome.finished_ns));
        // without a counted answer, the last one may have come before requests counted
        let completion_ns = outcome.finished_ns.saturating_sub(outcome.started_ns).max(1);
        put("completion_ns", json!(completion_ns));
        put(
            "requests",
            json!(if timed {
                tally.sent
            } else {
                self.services * self.requests_per_service
            }),
        );
        put("answered", json!(tally.answered));
        if tally.uncounted > 0 {
            put("uncounted", json!(tally.uncounted));
        }
        if self.rate.is_none() {
            put("own_ns", json!(tally.own_ns));
            put("held_ns", json!(tally.held_ns));
            put("beyond_ns", json!(tally.beyond_ns));
        }
        put("connections", json!(self.workers.most_active));
        put("reconnects", json!(tally.reconnects));
        put("resent", json!(tally.resent));
        if tally.starved > 0 {
            put("starved", json!(tally.starved));
        }
        put("wrong", json!(tally.wrong));
        put("errors", json!(tally.errors));
        put("calc_ns", json!(tally.calc_ns));
        put("sent_bytes", json!(tally.sent_bytes));
        put("received_bytes", json!(tally.received_bytes));
        // At a rate the time of a request begins when it was due, so a service that stalls cannot be spared any.
        let latency = if self.rate.is_some() {
            &tally.corrected
        } else {
            &tally.latency
        };
        put("latency", latency.to_json());
        if let Some(slowest) = tally.slowest.to_json() {
            put("slow", slowest);
        }
        for (name, histogram) in [
            ("connect", &tally.connect),
            ("waiting", &tally.waiting),
            ("lag", &tally.lag),
        ] {
            if histogram.count() > 0 {
                put(name, histogram.to_json());
            }
        }
        if let Some(slices) = tally.slices.to_json() {
            put("slices", slices);
        }
        if let Some(wrong) = &tally.first_wrong {
            put(
                "first_wrong",
                json!({"request": wrong.request, "got": wrong.got, "expected": wrong.expected}),
            );
        }
        if !tally.routes.is_empty() {
            put("routes", tally.routes.iter().map(counted_route).collect());
        }
        if let (Some(rate), Some(open_loop)) = (self.rate, outcome.open_loop) {
            put("rate", json!(rate));
            put("offered_rate", json!(open_loop.offered_per_s));
            put("overdue", json!(open_loop.overdue));
        }
        result
    }
}

/// What was counted of the requests of one name.
fn counted_route(route: &Route) -> Value {
    json!({
        "requests": route.answered + route.unanswered,
        "answered": route.answered,
        "errors": route.errors,
        "latency": route.latency.to_json(),
    })
}

/// The virtual users of each service, beginning with service client_id modulo the number of services.
fn virtual_users(cell: &Cell, connections: u64) -> Result<Vec<VirtualUserSpec>, String> {
    let client_id = cell.client_id.unwrap_or(0);
    let services = cell.addresses.len() as u64;
    let clients = clients(cell)?;
    let binding = cell.params.text("CLIENT_BINDING", "random");
    let is_pinned = binding.map_err(|error| error.to_string())? == "pinned";
    let mut users = Vec::new();
    for number in 0..services {
        let service = ((client_id + number) % services) as usize;
        let mut sockets = &cell.addresses[service][..];
        if sockets.is_empty() {
            return Err(format!("service {service} has no address"));
        }
        if is_pinned {
            sockets = std::slice::from_ref(&sockets[client_id as usize % sockets.len()]);
        }
        let address = |text: &String| Target::from_address(text).map(|target| target.address);
        let addresses = sockets.iter().map(address).collect::<Result<Vec<_>, _>>()?;
        users.extend((0..connections).map(|rank| VirtualUserSpec {
            addresses: addresses.clone(),
            rank,
            of: connections,
            seed: (client_id * services + number) * connections + rank + 1,
            service: service as u64,
            place: (number * connections + rank) * clients + client_id,
            users: services * connections * clients,
        }));
    }
    Ok(users)
}

/// How many clients the cell has.
fn clients(cell: &Cell) -> Result<u64, String> {
    let clients = cell.params.whole("NUM_CLIENTS", 1);
    Ok(clients.map_err(|error| error.to_string())?.max(1))
}

/// What is sent: the plan of a user's service, or else the request of the flags and the cell's parameters.
fn job(cell: &Cell, flags: &Flags) -> Result<Job, String> {
    let spec = request_spec(cell, flags).map_err(|error| error.to_string())?;
    let Some(told) = &cell.own else {
        return Ok(spec.into_job());
    };
    let (own, client_id) = (OwnService::parse(told)?, cell.client_id.unwrap_or(0));
    let address = cell.addresses[0].first().map_or("", String::as_str);
    let kinds = own.kinds(address)?;
    Ok(Job {
        sessions: own.sessions(&kinds, address),
        tls: own.tls(address)?,
        http2: own.speaks_http2(),
        routes: own.routes(),
        kinds,
        order: own.order(cell.block.max(1) * clients(cell)? + client_id + 1),
        probe: None,
        opens_early: cell.params.number("RATE", 0.0).map_err(|error| error.to_string())? == 0.0,
        think_ns: own.think_ns(),
        timeout_ns: own.timeout_ns(OWN_DEADLINE_NS),
        ..spec.into_job()
    })
}

/// The request of the flags, except for what the cell's parameters say.
fn request_spec(cell: &Cell, flags: &Flags) -> Result<RequestSpec, CellError> {
    let (params, defaults) = (&cell.params, RequestSpec::from_flags(flags));
    let bytes = |name, low, high, default: usize| {
        let bytes = params.within(name, low..=high, default as u64)?;
        Ok::<_, CellError>(bytes as usize)
    };
    let keep_alive = params.truth("KEEP_ALIVE", defaults.keep_alive)?;
    let reuse = params.truth("REUSE_CLIENT", true)?;
    let calc_target = match flags.path {
        None => Some(params.whole("CALC_TARGET", 1000)?),
        Some(_) => None,
    };
    Ok(RequestSpec {
        calc_target,
        payload_bytes: bytes("PAYLOAD_BYTES", 0, MAX_PAYLOAD_BYTES, defaults.payload_bytes)?,
        message_bytes: bytes("MESSAGE_BYTES", 1, MAX_MESSAGE_BYTES, defaults.message_bytes)?,
        nodelay: params.truth("NODELAY", defaults.nodelay)?,
        buffer_bytes: bytes("BUFFER_BYTES", 0, MAX_BUFFER_BYTES, defaults.buffer_bytes)?,
        fresh: defaults.fresh || !reuse || !keep_alive,
        keep_alive,
        host: "localhost".to_owned(),
        path: flags.path.clone().unwrap_or_default(),
        probes: true,
        one_timeout_is_enough: true,
        ..defaults
    })
}

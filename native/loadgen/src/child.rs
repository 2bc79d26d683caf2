//! The client's side of the child contract: docs/child-contract.md. The reference is clients/drive.py.

use std::process;
use std::sync::Arc;

use contract::{Cell, CellError, Method, Program, STOPPED_EARLY, Usage, say_done, say_ready};
use serde_json::{Map, Value, json};

use crate::asked::Asked;
use crate::crew::{Crew, Outcome};
use crate::flags::Flags;
use crate::job::Amount;
use crate::lane::LaneSpec;
use crate::parent::Parent;
use crate::target::Target;
use crate::values::{MOST_BUFFER_BYTES, MOST_MESSAGE_BYTES, MOST_PAYLOAD_BYTES};

const PROGRAM: Program = contract::program!("loadgen", "mio", "hdrhistogram");

/// A client of a cell, and how it is to ask.
struct Client {
    crew: Crew,
    method: Method,
    requests_per_service: u64,
    services: u64,
    /// Services that are asked at a time.
    abreast: u64,
    rate: Option<f64>,
}

/// Be a client until end of file on stdin.
pub fn call(flags: &Flags) -> Result<(), String> {
    let cell = contract::read_cell().map_err(|error| error.to_string())?;
    contract::stay_on(&cell.cpus).map_err(|error| format!("cpus is {:?}: {error}", cell.cpus))?;
    let parent = Parent::listen();
    let client = gather(&cell, flags)?;
    say_ready(&[], &PROGRAM);
    loop {
        match parent.words.recv() {
            Ok(word) if word == "warm" => {
                client.warm_up()?;
                say_done(&word);
            }
            Ok(word) if word == "go" => break,
            _ => process::exit(STOPPED_EARLY),
        }
    }
    let usage = Usage::start();
    let outcome = client.ask()?;
    let mut result = usage.to_json();
    result.extend(client.counted(&outcome));
    parent.say_result_and_stay(result)
}

impl Client {
    /// Ask as in the timed window, as much as the method says, and forget it.
    fn warm_up(&self) -> Result<(), String> {
        let warmup = self.method.warmup;
        let amount = if self.method.duration_s > 0.0 || warmup.share == 0.0 {
            let share_s = warmup.share * self.method.duration_s;
            self.slice(if warmup.seconds > 0.0 {
                warmup.seconds
            } else {
                share_s
            })
        } else {
            Amount::Divided(((warmup.share * self.requests_per_service as f64).round() as u64).max(1))
        };
        self.crew
            .run(amount, self.rate, |_| ())
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn ask(&self) -> Result<Outcome, String> {
        let amount = if self.method.duration_s > 0.0 {
            self.slice(self.method.duration_s)
        } else {
            Amount::Divided(self.requests_per_service)
        };
        self.crew
            .run(amount, self.rate, |_| ())
            .map_err(|error| error.to_string())
    }

    /// Where not all services are asked at a time they divide the time among them.
    fn slice(&self, seconds: f64) -> Amount {
        let rounds = self.services.div_ceil(self.abreast);
        Amount::Time((seconds / rounds as f64 * 1e9).round() as u64)
    }

    fn counted(&self, outcome: &Outcome) -> Map<String, Value> {
        let tally = &outcome.tally;
        let timed = self.method.duration_s > 0.0;
        let mut result = Map::new();
        let mut put = |key: &str, value: Value| result.insert(key.to_owned(), value);
        put("started_ns", json!(outcome.started_ns));
        put("finished_ns", json!(outcome.finished_ns));
        put("completion_ns", json!(outcome.finished_ns - outcome.started_ns));
        put(
            "requests",
            json!(if timed {
                tally.sent
            } else {
                self.services * self.requests_per_service
            }),
        );
        put("answered", json!(tally.answered));
        put("wrong", json!(tally.wrong));
        put("errors", json!(tally.errors));
        put("calc_ns", json!(tally.calc_ns));
        put("sent_bytes", json!(tally.sent_bytes));
        put("received_bytes", json!(tally.received_bytes));
        put("latency", tally.latency.to_core().to_json());
        for (name, recorder) in [("connect", &tally.connect), ("waiting", &tally.waiting)] {
            if recorder.count() > 0 {
                put(name, recorder.to_core().to_json());
            }
        }
        if let (Some(rate), Some(open_loop)) = (self.rate, outcome.open_loop) {
            put("rate", json!(rate));
            put("offered_rate", json!(open_loop.offered_per_s));
            put("overdue", json!(open_loop.overdue));
            put("latency_corrected", tally.corrected.to_core().to_json());
        }
        result
    }
}

fn gather(cell: &Cell, flags: &Flags) -> Result<Client, String> {
    let params = &cell.params;
    let text = |error: CellError| error.to_string();
    if cell.addresses.is_empty() {
        return Err("addresses is empty; a client needs those of at least one service".to_owned());
    }
    let services = cell.addresses.len() as u64;
    let connections = params
        .whole("NUM_CONNECTIONS_PER_CLIENT", 1)
        .map_err(text)?
        .max(1);
    let abreast = params
        .whole("NUM_THREADS_PER_CLIENT", services)
        .map_err(text)?
        .clamp(1, services);
    let rate = params.number("RATE", 0.0).map_err(text)?;
    let specs = lanes(cell, connections)?;
    let job = Arc::new(asked(cell, flags).map_err(text)?.job());
    let most_active = (abreast * connections) as usize;
    // The clients of a cell share the cores: fewer threads with more connections each wake up less often.
    let clients = params.whole("NUM_CLIENTS", 1).map_err(text)?.max(1) as usize;
    let threads = flags
        .threads
        .unwrap_or_else(|| (contract::usable_cpus() / clients).max(1))
        .min(most_active);
    let crew = Crew::gather(&job, &specs, threads, most_active)?;
    Ok(Client {
        crew,
        method: cell.method,
        requests_per_service: params.whole("NUM_REQUESTS_PER_CLIENT", 1000).map_err(text)?,
        services,
        abreast,
        rate: (rate > 0.0).then_some(rate),
    })
}

/// The lanes of each service, beginning with service client_id modulo their number.
fn lanes(cell: &Cell, connections: u64) -> Result<Vec<LaneSpec>, String> {
    let client_id = cell.client_id.unwrap_or(0);
    let services = cell.addresses.len() as u64;
    let binding = cell
        .params
        .text("CLIENT_BINDING", "random")
        .map_err(|error| error.to_string())?;
    let mut specs = Vec::new();
    for number in 0..services {
        let service = ((client_id + number) % services) as usize;
        let sockets = &cell.addresses[service];
        let sockets = if binding == "pinned" && !sockets.is_empty() {
            std::slice::from_ref(&sockets[client_id as usize % sockets.len()])
        } else {
            &sockets[..]
        };
        if sockets.is_empty() {
            return Err(format!("service {service} has no address"));
        }
        let addresses: Result<Vec<_>, _> = sockets
            .iter()
            .map(|one| Target::from_address(one).map(|target| target.address))
            .collect();
        let addresses = addresses?;
        for rank in 0..connections {
            let seed = (client_id * services + number) * connections + rank + 1;
            specs.push(LaneSpec {
                addresses: addresses.clone(),
                rank,
                of: connections,
                seed,
            });
        }
    }
    Ok(specs)
}

/// What the flags say, but for what the cell's parameters say.
fn asked(cell: &Cell, flags: &Flags) -> Result<Asked, CellError> {
    let (params, flagged) = (&cell.params, Asked::from_flags(flags));
    let keep_alive = params.truth("KEEP_ALIVE", flagged.keep_alive)?;
    let reuse = params.truth("REUSE_CLIENT", true)?;
    let calc = flags.path.is_none();
    Ok(Asked {
        calc_target: if calc {
            Some(params.whole("CALC_TARGET", 1000)?)
        } else {
            None
        },
        payload_bytes: params.within(
            "PAYLOAD_BYTES",
            0..=MOST_PAYLOAD_BYTES,
            flagged.payload_bytes as u64,
        )? as usize,
        message_bytes: params.within(
            "MESSAGE_BYTES",
            1..=MOST_MESSAGE_BYTES,
            flagged.message_bytes as u64,
        )? as usize,
        nodelay: params.truth("NODELAY", flagged.nodelay)?,
        buffer_bytes: params.within("BUFFER_BYTES", 0..=MOST_BUFFER_BYTES, flagged.buffer_bytes as u64)?
            as usize,
        fresh: flagged.fresh || !reuse || !keep_alive,
        keep_alive,
        host: "localhost".to_owned(),
        path: flags.path.clone().unwrap_or_default(),
        probes: true,
        one_timeout_is_enough: true,
        ..flagged
    })
}

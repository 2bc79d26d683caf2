//! The child contract, the side of a native child: docs/child-contract.md.
//!
//! A service: `run_server`, which reads the cell or the flags, starts it, and serves until it is stopped.
//! A client: `read_cell`, `stay_on`, `Orchestrator::listen`, connect, `say_ready`, `wait_for_go`, ask,
//! `say_result_and_stay`.

mod affinity;
mod cell;
mod clock;
mod flags;
mod histogram;
mod input;
mod json;
mod lines;
mod listen;
mod orchestrator;
mod peers;
mod program;
mod random;
mod serving;
mod stop;
mod usage;

pub use affinity::{stay_on, usable_cpus};
pub use cell::{Cell, CellError, Method, Params, Warmup, parse_cell, read_cell, share};
pub use clock::now_ns;
pub use flags::{MAX_BUFFER_BYTES, MAX_THREADS, ServerFlags, ServerOptions, whole_number};
pub use histogram::{FineHistogram, Histogram, WireHistogram};
pub use json::object;
pub use lines::say_ready;
pub use listen::{Endpoint, SocketOptions, listen, listen_all};
pub use orchestrator::{Orchestrator, Slice};
pub use peers::admits;
pub use program::{Program, exit_status};
pub use random::Random;
pub use serving::{Counted, Started, run_server};
pub use usage::Usage;

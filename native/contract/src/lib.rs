//! The child contract, the side of a native child: docs/child-contract.md.
//!
//! A service: `run_server`, which reads the cell or the flags, starts it, and serves until it is stopped.
//! A client: `read_cell`, `stay_on`, connect, `say_ready`, `next_word` until `go`, then `ParentWatch`.

mod affinity;
mod cell;
mod clock;
mod flags;
mod histogram;
mod lines;
mod listen;
mod program;
mod serving;
mod stop;
mod usage;
mod watch;

pub use affinity::{stay_on, usable_cpus};
pub use cell::{Cell, CellError, Method, Params, Warmup, parse_cell, read_cell};
pub use clock::now_ns;
pub use flags::{Flags, ServerOptions};
pub use histogram::{Histogram, SUB_BITS, bounds_ns, bucket};
pub use lines::{next_word, say_done, say_ready, say_result};
pub use listen::{Endpoint, SocketOptions, listen, listen_all};
pub use program::Program;
pub use serving::{Counted, Started, remove_files, run_server, serve_until_stopped};
pub use stop::StopSignals;
pub use usage::{Usage, run_queue_ns, thread_run_queue_ns};
pub use watch::{ParentWatch, STOPPED_EARLY};

//! Threads that send requests: their event loops, what each sends and when, and what they count.

pub mod arrivals;
mod counting;
mod exchange;
mod in_session;
pub mod job;
mod opening;
pub mod request_pool;
mod reuse;
mod slices;
mod slowest;
pub mod tally;
pub mod virtual_user;
mod worker;
pub mod worker_threads;

//! What a thread has counted; threads share nothing while timed, merge() joins them afterwards.

use std::collections::BTreeMap;

use crate::engine::slices::Slices;
use crate::engine::slowest::Slowest;
use crate::response::answer::{Answer, Fault, Verdict};
use contract::{FineHistogram, WireHistogram};

/// The first answer that was not as expected.
#[derive(Clone)]
pub struct FirstWrong {
    pub request: String,
    pub got: String,
    pub expected: String,
}

/// Counts of the requests of a plan that have one name.
#[derive(Clone, Default)]
pub struct Route {
    pub answered: u64,
    pub unanswered: u64,
    pub errors: BTreeMap<String, u64>,
    /// As the latency that the client says: at a rate from when a request was due.
    pub latency: WireHistogram,
}

impl Route {
    fn merge(&mut self, other: &Self) {
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        self.latency.merge(&other.latency);
        other.errors.iter().for_each(|(code, number)| *self.errors.entry(code.clone()).or_default() += number);
    }
}

/// Counts of one phase.
#[derive(Clone, Default)]
pub struct Tally {
    pub sent: u64,
    pub answered: u64,
    /// Answers to requests that began outside of the time in which they count.
    pub uncounted: u64,
    pub wrong: u64,
    /// Errors by code: those of docs/child-contract.md, and status codes.
    pub errors: BTreeMap<String, u64>,
    /// Answers after which the connection was kept.
    pub kept: u64,
    /// Answers that came on another connection than the answer before them.
    pub reconnects: u64,
    /// Requests that were sent once more, because a kept connection was closed before any byte of the answer.
    pub resent: u64,
    /// Virtual users whose connection never brought an answer, and whose request timed out.
    pub starved: u64,
    /// Virtual users that were given up after failures in a row.
    pub given_up: u64,
    pub calc_ns: u64,
    pub received_bytes: u64,
    pub body_bytes: u64,
    pub sent_bytes: u64,
    /// When the last answer came, ns on the monotonic clock; 0 if none did.
    pub last_ns: u64,
    /// When the last answer or failure came, or a signal; ns on the monotonic clock, 0 if none did.
    pub ended_ns: u64,
    /// Open loop: when the last request was sent, ns on the monotonic clock.
    pub last_sent_ns: u64,
    /// How much of the counted time of a slice users had no request under way.
    pub own_ns: u64,
    /// How much of the counted time requests of the lead were under way, added up.
    pub held_ns: u64,
    /// How long counted requests lasted after the end of the slice, added up.
    pub beyond_ns: u64,
    /// Requests without a complete answer.
    pub unanswered: u64,
    /// From the first byte sent to the last byte of the answer.
    pub latency: FineHistogram,
    pub slowest: Slowest,
    /// From the intended send to the last byte of the answer, or until the request failed; closed loop: empty.
    pub corrected: FineHistogram,
    /// From the first byte sent to the first byte of the answer.
    pub first_byte: FineHistogram,
    pub connect: FineHistogram,
    /// Connect and latency together, where each request has a connection of its own.
    pub total: FineHistogram,
    /// From sending until the handler began, for the requests that asked for it.
    pub waiting: FineHistogram,
    pub slices: Slices,
    /// Open loop: from when a request was due until it was sent, of those that a free user waited for.
    pub lag: FineHistogram,
    pub first_wrong: Option<FirstWrong>,
    /// By Kind::route; empty if there is only one.
    pub routes: Vec<Route>,
}

impl Tally {
    /// One more error of this code, of a request of this route.
    pub fn error(&mut self, route: usize, code: &str) {
        self.add_errors(code, 1);
        if let Some(counts) = self.routes.get_mut(route) {
            *counts.errors.entry(code.to_owned()).or_default() += 1;
        }
    }

    /// A request of this route that was meant to be sent at `intended_ns` (closed loop: 0) has failed.
    ///
    /// It counts in the corrected latency: otherwise a server would look better for each answer that it owes.
    pub fn fail(&mut self, route: usize, fault: Fault, intended_ns: u64, now_ns: u64) {
        self.error(route, fault.code());
        self.unanswered += 1;
        self.ended_ns = now_ns;
        let lasted_ns = now_ns.saturating_sub(intended_ns);
        if intended_ns > 0 {
            self.corrected.record(lasted_ns);
        }
        if let Some(counts) = self.routes.get_mut(route) {
            counts.unanswered += 1;
            if intended_ns > 0 {
                counts.latency.record(lasted_ns);
            }
        }
    }

    /// Count the answer to a request of this route that was sent at `sent_ns`.
    #[inline]
    pub fn judge(&mut self, route: usize, answer: &Answer, sent_ns: u64) {
        self.answered += 1;
        self.body_bytes += answer.body_bytes;
        match answer.verdict {
            Verdict::Right { calc_ns, begun_ns } => {
                self.calc_ns += calc_ns;
                if let Some(begun_ns) = begun_ns {
                    self.waiting.record(begun_ns.saturating_sub(sent_ns));
                }
            }
            Verdict::Wrong => self.wrong += 1,
            Verdict::Status(code) => self.error(route, &code.to_string()),
            Verdict::Garbled => self.error(route, "garbled"),
        }
    }

    /// Add what another has counted.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in [
            (&mut self.sent, other.sent),
            (&mut self.answered, other.answered),
            (&mut self.uncounted, other.uncounted),
            (&mut self.wrong, other.wrong),
            (&mut self.kept, other.kept),
            (&mut self.reconnects, other.reconnects),
            (&mut self.resent, other.resent),
            (&mut self.starved, other.starved),
            (&mut self.given_up, other.given_up),
            (&mut self.own_ns, other.own_ns),
            (&mut self.held_ns, other.held_ns),
            (&mut self.beyond_ns, other.beyond_ns),
            (&mut self.unanswered, other.unanswered),
            (&mut self.calc_ns, other.calc_ns),
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.body_bytes, other.body_bytes),
            (&mut self.sent_bytes, other.sent_bytes),
        ] {
            *mine += theirs;
        }
        self.last_ns = self.last_ns.max(other.last_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns).max(other.last_ns);
        self.last_sent_ns = self.last_sent_ns.max(other.last_sent_ns);
        self.latency.merge(&other.latency);
        self.slowest.merge(&other.slowest);
        self.corrected.merge(&other.corrected);
        self.first_byte.merge(&other.first_byte);
        self.connect.merge(&other.connect);
        self.total.merge(&other.total);
        self.waiting.merge(&other.waiting);
        self.slices.merge(&other.slices);
        self.lag.merge(&other.lag);
        self.routes.resize_with(self.routes.len().max(other.routes.len()), Route::default);
        self.routes.iter_mut().zip(&other.routes).for_each(|(mine, theirs)| mine.merge(theirs));
        if self.first_wrong.is_none() {
            self.first_wrong.clone_from(&other.first_wrong);
        }
        other
            .errors
            .iter()
            .for_each(|(code, number)| self.add_errors(code, *number));
    }

    /// All errors: connect, closed, reset, garbled, timeout, extra, and status codes.
    pub fn error_sum(&self) -> u64 {
        self.errors.values().sum()
    }

    fn add_errors(&mut self, code: &str, number: u64) {
        *self.errors.entry(code.to_owned()).or_default() += number;
    }
}

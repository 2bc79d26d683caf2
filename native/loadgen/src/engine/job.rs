//! What is sent and how, the same for all threads; and one phase of it, the warm-up or the timed one.

use std::sync::{Arc, OnceLock};

use contract::Slice;

use crate::engine::arrivals::Arrivals;
use crate::engine::request_pool::RequestPool;
use crate::net::socket::{Actual, Options};
use crate::net::tls::Tls;
use crate::request::session::{Session, Sessions, Source, Template};
use crate::response::reader::Expect;

/// One request of a virtual user in so many asks when its handler began.
const PROBE_EVERY: u64 = 64;
/// Between the beginnings of successive users in the order of requests. Source: clients/user_service.py.
const STRIDE: u64 = 1597;
const LONGEST_TICK_NS: u64 = 100_000_000;

/// A kind of request.
pub struct Kind {
    pub message: Vec<u8>,
    pub expect: Expect,
    /// What a report calls it.
    pub title: String,
    /// Place of its counts in Tally::routes: that of the first kind of this title.
    pub route: usize,
    /// What each user makes the message of; none if it is the same for all.
    pub template: Option<Template>,
    /// What is saved of its answer.
    pub save: Vec<(String, Source)>,
}

/// What every connection sends.
pub struct Job {
    pub kinds: Vec<Kind>,
    /// How many routes of requests are counted; 0 if there is only one.
    pub routes: usize,
    /// The kinds of successive requests, after which the order begins anew. A user begins somewhere in it.
    pub order: Vec<u32>,
    /// None if users have nothing to remember.
    pub sessions: Option<Sessions>,
    /// The kind that asks when its handler began; sent in place of the first and of every 64th.
    pub probe: Option<usize>,
    /// Whether all connections are opened before anything is sent, or each when it is first needed.
    pub opens_early: bool,
    /// How long a user waits between an answer and its next request.
    pub think_ns: u64,
    pub options: Options,
    /// None if connections are not secured.
    pub tls: Option<Tls>,
    /// Whether requests go by HTTP/2.
    pub http2: bool,
    /// The actual buffer sizes, once a connection is open.
    pub actual: OnceLock<Actual>,
    /// A connection for each request.
    pub fresh: bool,
    pub timeout_ns: u64,
    /// Give up at the first timeout rather than after ten failures.
    pub one_timeout_is_enough: bool,
    /// Whether the time to the first byte of each answer is recorded.
    pub times_first_byte: bool,
}

impl Job {
    /// The kind of a user's next request, when it has sent so many, and so many since a probe.
    #[inline]
    pub fn kind(&self, first: u64, sent: u64, since_probe: u64) -> usize {
        match self.probe {
            Some(probe) if since_probe.is_multiple_of(PROBE_EVERY) => probe,
            _ if self.order.len() > 1 => self.order[(first * STRIDE + sent) as usize % self.order.len()] as usize,
            _ => 0,
        }
    }

    /// The kind that a session sends next: a login, the one that is wanted, or one that saves a value for it.
    pub fn turn(&self, sessions: &Sessions, session: &Session) -> usize {
        if let Some(first) = sessions.first.get(session.step) {
            return *first;
        }
        let mut kind = session.wanted;
        while let Some(template) = &self.kinds[kind].template
            && let Some(name) = template.names.iter().find(|name| !session.has(name))
            && let Some(saves) = sessions.saves.get(name)
            && *saves != kind
        {
            kind = *saves;
        }
        kind
    }

    /// What is expected, if every request is of one kind.
    pub fn expect(&self) -> &Expect {
        &self.kinds[0].expect
    }

    /// How often to look for timeouts, signals and the end of the duration.
    pub fn tick_ns(&self) -> u64 {
        (self.timeout_ns / 20).clamp(1_000_000, LONGEST_TICK_NS)
    }
}

/// How much is sent in a phase.
#[derive(Clone)]
pub enum Amount {
    /// So many requests in all, whichever user is free.
    Pool(Arc<RequestPool>),
    /// So many requests, divided among the users that belong together.
    Divided(u64),
    /// As many as fit; each user stops after so many ns.
    Time(u64),
}

/// One phase.
#[derive(Clone)]
pub struct Phase {
    pub amount: Amount,
    /// When requests are due, whichever thread sends them; none in a closed loop.
    pub arrivals: Option<Arc<Arrivals>>,
    /// When it begins, ns on the monotonic clock.
    pub start_ns: u64,
    /// The slice of time that the phase is, in whose lead requests do not count.
    pub slice: Option<Slice>,
    /// When its time is over.
    pub end_ns: u64,
}

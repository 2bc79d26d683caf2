//! One thread's event loop: its virtual users, when each begins and ends, and when each request is due.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use contract::{Slice, now_ns};
use mio::{Events, Poll, Token};

use crate::engine::job::{Amount, Job, Phase};
use crate::engine::tally::{Route, Tally};
use crate::engine::virtual_user::{VirtualUser, VirtualUserSpec};
use crate::net::connection::{Connection, State};
use crate::net::timer::Timer;
use crate::request::session::Session;
use crate::response::answer::Fault;
use crate::response::reader::Reader;
use crate::stop_signal;

const EVENTS_AT_ONCE: usize = 512;
const READ_BYTES: usize = 256 * 1024;
const RETRY_WAIT: Duration = Duration::from_millis(1);
const TIMER: Token = Token(usize::MAX - 1); // mio has usize::MAX for itself

/// A thread's share of the connections. What it does with one of them is in exchange.rs.
pub struct Worker {
    pub(crate) job: Arc<Job>,
    pub(crate) poll: Poll,
    pub(crate) connections: Vec<Connection>,
    pub(crate) users: Vec<VirtualUser>,
    pub(crate) tally: Tally,
    pub(crate) read_buffer: Vec<u8>,
    /// Connections to make again: the backlog of their listener was full.
    pub(crate) backlogged: Vec<usize>,
    /// Connections that have more to read, and whether their peer has closed.
    pub(crate) unread: Vec<(usize, bool)>,
    /// Connections whose user sends another request of its session at once: a login, or what comes after it.
    pub(crate) resumed: Vec<usize>,
    most_active: usize,
    timer: Timer,
    active: usize,
    /// Closed loop: users that are to send. Open loop: users that are free.
    free: VecDeque<usize>,
    /// Virtual users that begin when another has ended.
    waiting: VecDeque<usize>,
    /// Open loop: when the next request is due that this thread has taken for one of its free users.
    due_ns: Option<u64>,
    /// Whether a user was free before that.
    is_awaited: bool,
    has_rate: bool,
    /// Users that think about their next request, or have yet to begin, and until when.
    thinking: BinaryHeap<Reverse<(u64, usize)>>,
    batch: u64,
    /// The time in which requests begin that count, ns on the monotonic clock.
    pub(crate) counted_ns: Range<u64>,
}

impl Worker {
    /// most_active: how many users run at a time.
    pub fn new(
        job: Arc<Job>,
        specs: Vec<VirtualUserSpec>,
        most_active: usize,
    ) -> io::Result<Self> {
        let (mut users, mut connections) = (Vec::new(), Vec::new());
        for spec in specs {
            let (first, number) = (connections.len(), users.len());
            let connection =
                |address: &_| Connection::new(Clone::clone(address), number, Reader::new(job.expect()), job.http2);
            connections.extend(spec.addresses.iter().map(connection));
            let seed = spec.seed;
            let mut user = VirtualUser::new(spec, first);
            user.session = job.sessions.as_ref().map(|sessions| Box::new(Session::new(seed, sessions)));
            users.push(user);
        }
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        Ok(Self {
            job,
            poll,
            connections,
            users,
            tally: Tally::default(),
            read_buffer: vec![0; READ_BYTES],
            backlogged: Vec::new(),
            unread: Vec::new(),
            resumed: Vec::new(),
            most_active,
            timer,
            active: 0,
            free: VecDeque::new(),
            waiting: VecDeque::new(),
            due_ns: None,
            is_awaited: false,
            has_rate: false,
            thinking: BinaryHeap::new(),
            batch: 0,
            counted_ns: 0..u64::MAX,
        })
    }

    /// Send as much as the phase says; what was counted.
    pub fn run(&mut self, phase: &Phase) -> io::Result<Tally> {
        self.prepare(phase);
        let mut events = Events::with_capacity(EVENTS_AT_ONCE);
        let tick_ns = self.job.tick_ns();
        let mut next_tick_ns = now_ns() + tick_ns;
        self.send_free(phase);
        while self.active > 0 && stop_signal::received().is_none() {
            self.wait(&mut events)?;
            for event in events.iter().filter(|event| event.token() != TIMER) {
                self.on_event(event.token().0, event.is_writable(), event.is_read_closed());
                self.send_free(phase);
            }
            let now_ns = now_ns();
            if now_ns >= next_tick_ns {
                next_tick_ns = now_ns + tick_ns;
                self.expire(now_ns);
                self.retire_spent(phase, now_ns);
            }
            self.connect_again();
            self.read_on();
            self.send_free(phase);
        }
        if stop_signal::received().is_some() {
            self.tally.ended_ns = now_ns();
        }
        self.tally.starved = self.users.iter().filter(|user| user.has_starved).count() as u64;
        Ok(std::mem::take(&mut self.tally))
    }

    /// A user's request is over: its next one may be sent, now or when it is due.
    #[inline]
    pub(crate) fn set_free(&mut self, user: usize) {
        if self.job.think_ns > 0 {
            let until_ns = now_ns() + self.job.think_ns;
            if until_ns >= self.users[user].until_ns {
                return self.retire(user);
            }
            self.thinking.push(Reverse((until_ns, user)));
        } else {
            self.push_free(user);
        }
    }

    /// At a rate the user that was busy last sends next, as from a pool of connections: so few of them stay idle.
    fn push_free(&mut self, user: usize) {
        if self.has_rate {
            self.free.push_front(user);
        } else {
            self.free.push_back(user);
        }
    }

    /// A user has finished; one that waits takes its place.
    pub(crate) fn retire(&mut self, user: usize) {
        let user = &mut self.users[user];
        user.active = false;
        self.active -= 1;
        let until_ns = user.until_ns.min(self.counted_ns.end);
        if until_ns < u64::MAX {
            self.tally.own_ns += until_ns.saturating_sub(user.answered_ns.max(self.counted_ns.start));
        }
    }

    fn prepare(&mut self, phase: &Phase) {
        self.counted_ns = match phase.slice {
            Some(slice) => phase.start_ns + slice.lead_ns..phase.end_ns,
            None => 0..u64::MAX,
        };
        self.due_ns = None;
        self.has_rate = phase.arrivals.is_some();
        self.thinking.clear();
        let (hopeless, waiting) = (0..self.users.len()).partition::<Vec<_>, _>(|user| self.users[*user].has_timed_out);
        self.waiting = waiting.into();
        self.tally.routes.resize_with(self.job.routes, Route::default);
        for user in hopeless {
            let kind = self.connections[self.users[user].first].kind;
            self.tally.error(self.job.kinds[kind].route, Fault::Timeout.code());
        }
        for connection in &mut self.connections {
            connection.has_rested = true;
        }
        self.free.clear();
        (self.active, self.batch) = (0, 0);
        self.activate(phase);
        // a thread that wakes up late has lost time of its users
        for user in self.users.iter_mut().filter(|user| user.active) {
            user.answered_ns = phase.start_ns;
        }
        if let (Some(slice), None) = (phase.slice, &phase.arrivals) {
            self.stagger(slice);
        }
    }

    /// Let the first users begin one after the other.
    fn stagger(&mut self, slice: Slice) {
        for number in self.free.drain(..) {
            let spec = &self.users[number].spec;
            let begins_ns = slice.begins_ns(spec.place, spec.users);
            self.thinking.push(Reverse((begins_ns, number)));
        }
    }

    fn activate(&mut self, phase: &Phase) {
        while self.active < self.most_active
            && let Some(number) = self.waiting.pop_front()
        {
            let user = &mut self.users[number];
            (user.sent, user.failures, user.active) = (0, 0, true);
            user.answered_ns = now_ns().max(phase.start_ns);
            user.probed_from = if phase.slice.is_some() { 0 } else { user.place };
            (user.left, user.until_ns) = match phase.amount {
                Amount::Pool(_) => (0, u64::MAX),
                Amount::Divided(requests) => (user.spec.share(requests), u64::MAX),
                Amount::Time(slice_ns) => (u64::MAX, now_ns().max(phase.start_ns) + slice_ns),
            };
            self.active += 1;
            self.free.push_back(number);
        }
    }

    /// Send the next request of each free user, as far as there are any and they are due.
    fn send_free(&mut self, phase: &Phase) {
        self.activate(phase);
        self.end_thinking();
        while let Some(user) = self.free.front().copied() {
            // in an open loop no answer may come for long, so the time of the last one is too old
            let now_ns = if phase.arrivals.is_some() {
                now_ns()
            } else {
                self.tally.last_ns.max(self.tally.ended_ns)
            };
            if self.is_spent(user, phase, now_ns) {
                self.free.pop_front();
                self.retire(user);
            } else if let Some(intended_ns) = self.next_due(user, now_ns) {
                self.free.pop_front();
                self.count_off(user, phase);
                self.begin(user, intended_ns);
            } else {
                break;
            }
            self.activate(phase);
        }
    }

    /// Users whose time to think is over are free.
    fn end_thinking(&mut self) {
        while let Some(Reverse((until_ns, user))) = self.thinking.peek().copied() {
            if until_ns > now_ns() {
                self.timer.wake_at(until_ns);
                break;
            }
            self.thinking.pop();
            self.free.push_back(user);
        }
    }

    /// When the next request was meant to be sent, if that is not in the future; 0 in a closed loop.
    fn next_due(&mut self, user: usize, now_ns: u64) -> Option<u64> {
        let Some(due_ns) = self.due_ns else {
            return Some(0);
        };
        if due_ns > now_ns {
            self.timer.wake_at(due_ns.min(self.users[user].until_ns));
            return None;
        }
        self.tally.last_sent_ns = now_ns;
        if self.is_awaited && self.counted_ns.contains(&due_ns) {
            self.tally.lag.record(now_ns - due_ns);
        }
        self.due_ns.take()
    }

    /// Whether a user has nothing more to send. Arrivals are asked for the next one, a pool for its next batch.
    fn is_spent(&mut self, user: usize, phase: &Phase, now_ns: u64) -> bool {
        let user = &self.users[user];
        let is_pool = matches!(phase.amount, Amount::Pool(_));
        if now_ns >= user.until_ns || user.left == 0 && !is_pool {
            return true;
        }
        if let Some(arrivals) = &phase.arrivals {
            if self.due_ns.is_none() {
                self.due_ns = arrivals.take();
                self.is_awaited = self.due_ns.is_some_and(|due_ns| due_ns > now_ns);
            }
            return self.due_ns.is_none();
        }
        let Amount::Pool(pool) = &phase.amount else {
            return false;
        };
        if self.batch == 0 {
            self.batch = pool.take();
        }
        self.batch == 0
    }

    fn count_off(&mut self, user: usize, phase: &Phase) {
        match phase.amount {
            Amount::Pool(_) => self.batch = self.batch.saturating_sub(1), // an open loop takes arrivals, no batch
            Amount::Divided(_) => self.users[user].left -= 1,
            Amount::Time(_) => {}
        }
    }

    fn retire_spent(&mut self, phase: &Phase, now_ns: u64) {
        for _ in 0..self.free.len() {
            let Some(user) = self.free.pop_front() else { break };
            if self.is_spent(user, phase, now_ns) {
                self.retire(user);
            } else {
                self.free.push_back(user);
            }
        }
    }

    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let timeout = match (self.unread.is_empty(), self.backlogged.is_empty()) {
            (false, _) => Duration::ZERO,
            (true, false) => RETRY_WAIT,
            (true, true) => Duration::from_nanos(self.job.tick_ns()),
        };
        match self.poll.poll(events, Some(timeout)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// Requests and connects that have taken too long.
    fn expire(&mut self, now_ns: u64) {
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            let since_ns = match connection.state {
                State::Busy => connection.started_ns,
                State::Connecting => connection.opened_ns,
                State::Idle | State::Closed => continue,
            };
            if since_ns + self.job.timeout_ns <= now_ns {
                self.time_out(at);
            }
        }
    }
}

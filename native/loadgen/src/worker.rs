//! One thread's event loop: its lanes, when each begins and ends, and when each request is due.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use contract::now_ns;
use mio::{Events, Poll, Token};

use crate::connection::{Connection, State};
use crate::job::{Amount, Job, Phase};
use crate::lane::{Lane, LaneSpec};
use crate::reader::Reader;
use crate::stop;
use crate::tally::Tally;
use crate::timer::Timer;

const EVENTS_AT_ONCE: usize = 512;
const READ_BYTES: usize = 256 * 1024;
const RETRY_WAIT: Duration = Duration::from_millis(1);
const TIMER: Token = Token(usize::MAX - 1); // mio has usize::MAX for itself

/// A thread's share of the connections. What it does with one of them is in exchange.rs.
pub struct Worker {
    pub(crate) job: Arc<Job>,
    pub(crate) poll: Poll,
    pub(crate) connections: Vec<Connection>,
    pub(crate) lanes: Vec<Lane>,
    pub(crate) tally: Tally,
    pub(crate) room: Vec<u8>,
    /// Connections whose listener had no room.
    pub(crate) refused: Vec<usize>,
    /// Answers so far, for whoever shows progress.
    progress: Arc<AtomicU64>,
    most_active: usize,
    timer: Timer,
    active: usize,
    /// Closed loop: lanes that are to send. Open loop: lanes that are free.
    free: VecDeque<usize>,
    /// Lanes that begin when another has ended.
    waiting: VecDeque<usize>,
    /// Open loop: when the next request is due that this thread has taken for one of its free lanes.
    due_ns: Option<u64>,
    batch: u64,
}

impl Worker {
    /// most_active: how many lanes run at a time.
    pub fn new(
        job: Arc<Job>,
        specs: Vec<LaneSpec>,
        most_active: usize,
        progress: Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let (mut lanes, mut connections) = (Vec::new(), Vec::new());
        for spec in specs {
            let (first, number) = (connections.len(), lanes.len());
            let one = |address: &_| Connection::new(Clone::clone(address), number, Reader::new(&job.expect));
            connections.extend(spec.addresses.iter().map(one));
            lanes.push(Lane::new(spec, first));
        }
        let poll = Poll::new()?;
        let timer = Timer::new(poll.registry(), TIMER)?;
        Ok(Self {
            job,
            poll,
            connections,
            lanes,
            tally: Tally::default(),
            room: vec![0; READ_BYTES],
            refused: Vec::new(),
            progress,
            most_active,
            timer,
            active: 0,
            free: VecDeque::new(),
            waiting: VecDeque::new(),
            due_ns: None,
            batch: 0,
        })
    }

    /// Ask as much as the phase says; what was counted.
    pub fn run(&mut self, phase: &Phase) -> io::Result<Tally> {
        self.prepare(phase);
        let mut events = Events::with_capacity(EVENTS_AT_ONCE);
        let tick_ns = self.job.tick_ns();
        let mut next_tick_ns = now_ns() + tick_ns;
        self.send_free(phase);
        while self.active > 0 && stop::signal().is_none() {
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
            self.send_free(phase);
        }
        if stop::signal().is_some() {
            self.tally.ended_ns = now_ns();
        }
        Ok(std::mem::take(&mut self.tally))
    }

    /// A lane's request has come to its end: its next one may be sent, now or when it is due.
    #[inline]
    pub(crate) fn set_free(&mut self, lane: usize) {
        self.progress.store(self.tally.answered, Ordering::Relaxed);
        self.free.push_back(lane);
    }

    /// A lane is over; one that waits takes its place.
    pub(crate) fn retire(&mut self, lane: usize) {
        self.lanes[lane].active = false;
        self.active -= 1;
    }

    fn prepare(&mut self, phase: &Phase) {
        self.due_ns = None;
        self.waiting = (0..self.lanes.len()).collect();
        self.free.clear();
        (self.active, self.batch) = (0, 0);
        self.progress.store(0, Ordering::Relaxed);
        self.activate(phase);
    }

    fn activate(&mut self, phase: &Phase) {
        while self.active < self.most_active
            && let Some(number) = self.waiting.pop_front()
        {
            let lane = &mut self.lanes[number];
            (lane.asked, lane.failures, lane.active) = (0, 0, true);
            (lane.left, lane.until_ns) = match phase.amount {
                Amount::Pool(_) => (0, u64::MAX),
                Amount::Divided(requests) => (lane.spec.share(requests), u64::MAX),
                Amount::Time(slice_ns) => (u64::MAX, now_ns().max(phase.start_ns) + slice_ns),
            };
            self.active += 1;
            self.free.push_back(number);
        }
    }

    /// Send the next request of each free lane, as far as there are any and they are due.
    fn send_free(&mut self, phase: &Phase) {
        self.activate(phase);
        while let Some(lane) = self.free.front().copied() {
            // in an open loop no answer may come for long, so its time does not do for the present
            let now_ns = if phase.arrivals.is_some() {
                now_ns()
            } else {
                self.tally.last_ns.max(self.tally.ended_ns)
            };
            if self.is_spent(lane, phase, now_ns) {
                self.free.pop_front();
                self.retire(lane);
            } else if let Some(intended_ns) = self.next_due(lane, now_ns) {
                self.free.pop_front();
                self.take_one(lane, phase);
                self.begin(lane, intended_ns);
            } else {
                break;
            }
            self.activate(phase);
        }
    }

    /// When the next request was meant to be sent, if that is not in the future; 0 in a closed loop.
    fn next_due(&mut self, lane: usize, now_ns: u64) -> Option<u64> {
        let Some(due_ns) = self.due_ns else {
            return Some(0);
        };
        if due_ns > now_ns {
            self.timer.wake_at(due_ns.min(self.lanes[lane].until_ns));
            return None;
        }
        self.tally.last_sent_ns = now_ns;
        self.due_ns.take()
    }

    /// Whether a lane has nothing more to send. Arrivals are asked for the next one, a pool for its next batch.
    fn is_spent(&mut self, lane: usize, phase: &Phase, now_ns: u64) -> bool {
        let lane = &self.lanes[lane];
        let is_pool = matches!(phase.amount, Amount::Pool(_));
        if now_ns >= lane.until_ns || lane.left == 0 && !is_pool {
            return true;
        }
        if let Some(arrivals) = &phase.arrivals {
            self.due_ns = self.due_ns.or_else(|| arrivals.take());
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

    fn take_one(&mut self, lane: usize, phase: &Phase) {
        match phase.amount {
            Amount::Pool(_) => self.batch = self.batch.saturating_sub(1), // an open loop takes arrivals, no batch
            Amount::Divided(_) => self.lanes[lane].left -= 1,
            Amount::Time(_) => {}
        }
    }

    fn retire_spent(&mut self, phase: &Phase, now_ns: u64) {
        for _ in 0..self.free.len() {
            let Some(lane) = self.free.pop_front() else { break };
            if self.is_spent(lane, phase, now_ns) {
                self.retire(lane);
            } else {
                self.free.push_back(lane);
            }
        }
    }

    fn wait(&mut self, events: &mut Events) -> io::Result<()> {
        let longest = if self.refused.is_empty() {
            Duration::from_nanos(self.job.tick_ns())
        } else {
            RETRY_WAIT
        };
        match self.poll.poll(events, Some(longest)) {
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

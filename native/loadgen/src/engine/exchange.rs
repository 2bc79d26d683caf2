//! What a worker does with one connection: connect, send, receive, judge the answer, and handle failures.

use std::io;

use contract::now_ns;

use super::worker::Worker;
use crate::limits::MAX_READS_AT_ONCE;
use crate::net::connection::{State, Written};
use crate::net::socket::{self, Actual, Opening};
use super::in_session::Turn;
use crate::response::answer::{Answer, Fault, Feed};

/// Failures in a row after which a virtual user is given up.
const MAX_FAILURES: u32 = 10;

impl Worker {
    /// Send the next request of a virtual user. intended_ns: when it was meant to be sent; 0 in a closed loop.
    pub(crate) fn begin(&mut self, user: usize, intended_ns: u64) {
        let at = self.users[user].pick();
        if std::mem::take(&mut self.connections[at].has_rested) {
            self.receive(at, true); // closes it if its peer has
        }
        let (user, connection) = (&mut self.users[user], &mut self.connections[at]);
        connection.kind = self.job.kind(user.spec.seed, user.place, user.place - user.probed_from);
        connection.intended_ns = intended_ns;
        user.sent += 1;
        user.place += 1;
        self.tally.sent += 1;
        if user.session.is_some() {
            self.begin_in_session(at);
        }
        if self.connections[at].socket.is_some() {
            self.send(at)
        } else {
            self.open(at)
        }
    }

    /// Something has happened to a connection. ended: its peer has closed, and nothing will tell so again.
    pub(crate) fn on_event(&mut self, at: usize, writable: bool, ended: bool) {
        match self.connections[at].state {
            State::Closed => {}
            State::Connecting => self.on_connecting(at),
            State::Idle => self.receive(at, ended),
            State::Busy => {
                let connection = &self.connections[at];
                if writable && (connection.written < self.message(at).len() || connection.has_more_to_write()) {
                    self.write(at);
                }
                self.receive(at, ended);
            }
        }
    }

    /// It has taken too long.
    pub(crate) fn time_out(&mut self, at: usize) {
        let fault = match self.connections[at].state {
            State::Connecting if !self.job.one_timeout_is_enough => Fault::Connect,
            _ => Fault::Timeout,
        };
        self.fail(at, fault);
    }

    /// Connect where the backlog of the listener was full before.
    pub(crate) fn connect_again(&mut self) {
        for at in std::mem::take(&mut self.backlogged) {
            if self.connections[at].state == State::Connecting && self.connections[at].socket.is_none() {
                self.connect(at);
            }
        }
    }

    pub(crate) fn message(&self, at: usize) -> &[u8] {
        let connection = &self.connections[at];
        let kind = &self.job.kinds[connection.kind];
        if kind.template.is_some() { &connection.filled } else { &kind.message }
    }

    pub(crate) fn open(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        connection.state = State::Connecting;
        connection.opened_ns = now_ns();
        self.connect(at);
    }

    fn connect(&mut self, at: usize) {
        match self.try_connect(at) {
            Ok(Opening::Connected) => self.on_connected(at),
            Ok(Opening::UnderWay) => {}
            Ok(Opening::TryAgain) => self.backlogged.push(at),
            Err(_) => self.fail(at, Fault::Connect),
        }
    }

    fn try_connect(&mut self, at: usize) -> io::Result<Opening> {
        let connection = &mut self.connections[at];
        let socket = socket::create(&connection.address, self.job.options)?;
        let opening = socket::connect(&socket, &connection.address)?;
        if opening != Opening::TryAgain {
            let writable = opening == Opening::UnderWay;
            connection.adopt(socket, self.poll.registry(), at, writable)?;
        }
        Ok(opening)
    }

    fn on_connecting(&mut self, at: usize) {
        if self.connections[at].tls.is_some() {
            return self.shake(at);
        }
        let Some(socket) = &self.connections[at].socket else {
            return;
        };
        match socket.take_error() {
            Ok(None) if socket.peer_addr().is_ok() => self.on_connected(at),
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => self.fail(at, Fault::Connect),
        }
    }

    fn on_connected(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        if let Some(socket) = &connection.socket {
            self.job.actual.get_or_init(|| Actual::of(socket));
        }
        if let Some(tls) = &self.job.tls {
            connection.tls = tls.session().ok();
            return self.shake(at);
        }
        self.on_open(at);
    }

    fn shake(&mut self, at: usize) {
        match self.connections[at].shake(self.poll.registry(), at) {
            Ok(true) => self.on_open(at),
            Ok(false) => {}
            Err(_) => self.fail(at, Fault::Tls),
        }
    }

    fn on_open(&mut self, at: usize) {
        let opened_ns = self.connections[at].opened_ns;
        self.tally.connect.record(now_ns() - opened_ns);
        self.send(at);
    }

    #[inline]
    pub(crate) fn send(&mut self, at: usize) {
        self.connections[at].start(now_ns());
        self.write(at);
    }

    #[inline]
    fn write(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        let kind = &self.job.kinds[connection.kind];
        let before = connection.written;
        let written = match kind.template {
            None => connection.write(&kind.message, self.poll.registry(), at),
            Some(_) => {
                let filled = std::mem::take(&mut connection.filled);
                let written = connection.write(&filled, self.poll.registry(), at);
                connection.filled = filled;
                written
            }
        };
        self.tally.sent_bytes += (connection.written - before) as u64;
        match written {
            Ok(Written::Whole | Written::Part) => {}
            Ok(Written::Refused) => self.receive(at, true),
            Err(error) => self.fail(at, fault_of(&error)),
        }
    }

    /// Read what there is; ended: up to the end of the stream.
    ///
    /// A peer that never stops sending is read again after the others.
    pub(crate) fn receive(&mut self, at: usize, ended: bool) {
        let mut read_buffer = std::mem::take(&mut self.read_buffer);
        let mut reads = 0;
        while self.receive_once(at, &mut read_buffer, ended) {
            reads += 1;
            if reads == MAX_READS_AT_ONCE {
                match self.unread.iter_mut().find(|one| one.0 == at) {
                    Some(one) => one.1 |= ended, // once, however often more of it comes
                    None => self.unread.push((at, ended)),
                }
                break;
            }
        }
        self.read_buffer = read_buffer;
        while let Some(at) = self.resumed.pop() {
            self.resume(at);
        }
    }

    /// Read on where there was more than could be read at once.
    pub(crate) fn read_on(&mut self) {
        for (at, ended) in std::mem::take(&mut self.unread) {
            if matches!(self.connections[at].state, State::Busy | State::Idle) {
                self.receive(at, ended);
            }
        }
    }

    /// Read once; whether there may be more. A read that does not fill the buffer has emptied the socket (epoll(7)).
    #[inline]
    fn receive_once(&mut self, at: usize, read_buffer: &mut [u8], ended: bool) -> bool {
        let connection = &mut self.connections[at];
        if connection.socket.is_none() {
            return false;
        }
        let is_wrapped = connection.tls.is_some() || connection.http2.is_some(); // there may be more, whatever was read
        match connection.read(read_buffer, self.poll.registry(), at) {
            Ok(0) => self.on_end(at),
            Ok(bytes) => {
                self.take_in(at, &read_buffer[..bytes]);
                return ended || bytes == read_buffer.len() || is_wrapped;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => self.fail(at, fault_of(&error)),
        }
        false
    }

    #[inline]
    fn take_in(&mut self, at: usize, data: &[u8]) {
        let now_ns = now_ns();
        self.tally.received_bytes += data.len() as u64;
        let connection = &mut self.connections[at];
        if connection.state != State::Busy {
            return self.fail(at, Fault::Extra);
        }
        if connection.first_byte_ns == 0 {
            connection.first_byte_ns = now_ns;
        }
        match connection.reader.feed(&self.job.kinds[connection.kind].expect, data) {
            Feed::More => {}
            Feed::Done(answer) => self.finish(at, answer, now_ns),
            Feed::Broken(fault) => self.fail(at, fault),
        }
    }

    /// The peer has closed: the end of an answer without a length, or of a connection that is not in use.
    fn on_end(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        match connection.state {
            State::Busy => match connection.reader.end(&self.job.kinds[connection.kind].expect) {
                Some(answer) => self.finish(at, answer, now_ns()),
                None => self.fail(at, Fault::Closed),
            },
            State::Connecting => self.fail(at, Fault::Connect),
            State::Idle | State::Closed => connection.close(),
        }
    }

    #[inline]
    fn finish(&mut self, at: usize, mut answer: Answer, end_ns: u64) {
        self.connections[at].is_used = true;
        if self.users[self.connections[at].user].session.is_some() {
            match self.judge_in_session(at, &mut answer) {
                Turn::Over => {}
                Turn::Next => return self.resumed.push(at),
                Turn::Failed => return self.fail(at, Fault::Login),
            }
        }
        let whole = self.connections[at].written == self.message(at).len();
        self.tally.last_ns = end_ns;
        let (begun_ns, counted_ns) = (self.turned_to_ns(at), self.counted_ns.clone());
        let counts = counted_ns.contains(&begun_ns);
        self.note_reconnect(at, counts);
        if counts {
            self.count(at, &answer, end_ns);
        } else {
            self.tally.uncounted += 1;
        }
        if begun_ns < counted_ns.start {
            self.tally.held_ns += end_ns.min(counted_ns.end).saturating_sub(counted_ns.start);
        } else {
            self.note_own_time(at, counts);
        }
        let connection = &mut self.connections[at];
        self.users[connection.user].answered_ns = end_ns;
        connection.state = State::Idle;
        if answer.keep && whole && !self.job.fresh {
            self.tally.kept += 1;
        } else {
            connection.close();
        }
        let user = connection.user;
        self.users[user].failures = 0;
        self.set_free(user);
    }

    /// No usable answer came: the connection is closed, and its user is given up after too many failures in a row.
    fn fail(&mut self, at: usize, fault: Fault) {
        if self.may_resend(at, fault) {
            return self.resend(at);
        }
        self.note_fault(at, fault);
        let connection = &mut self.connections[at];
        let under_way = matches!(connection.state, State::Busy | State::Connecting);
        let (user, intended_ns, is_used) = (connection.user, connection.intended_ns, connection.is_used);
        let route = self.job.kinds[connection.kind].route;
        connection.close();
        if !under_way {
            if fault == Fault::Extra {
                self.tally.error(route, fault.code());
            }
            return;
        }
        self.tally.fail(route, fault, intended_ns, now_ns());
        let is_hopeless = fault == Fault::Timeout && self.job.one_timeout_is_enough;
        let failing = &mut self.users[user];
        failing.failures += 1;
        (failing.has_timed_out, failing.has_starved) = (is_hopeless, is_hopeless && !is_used);
        if is_hopeless || failing.failures == MAX_FAILURES {
            self.tally.given_up += 1;
            self.retire(user);
        } else {
            self.set_free(user);
        }
    }
}

fn fault_of(error: &io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Fault::Closed,
        io::ErrorKind::InvalidData => Fault::Garbled,
        io::ErrorKind::Unsupported => Fault::Tls,
        _ => Fault::Reset,
    }
}

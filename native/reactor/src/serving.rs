//! One thread's connections: reading, answering, hanging up. Nobody keeps it waiting.

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;

use contract::now_ns;

use crate::connection::{Connection, Phase};
use crate::deadlines::Deadlines;
use crate::epoll::{READ, WRITE};
use crate::protocol::{Protocol, Then};
use crate::shared::{Shared, token};

const READ_BYTES: usize = 64 * 1024;
const LARGE_BYTES: usize = 1 << 20;
const FLUSH_NS: u64 = 60_000_000_000;
const LINGER_NS: u64 = 2_000_000_000;

/// Whether a connection goes on; its end may also come as an error.
pub type Alive = io::Result<bool>;

/// One thread's connections, and what it does with one that is open: read, answer, hang up.
pub struct Serving<P: Protocol> {
    pub shared: Arc<Shared<P>>,
    pub number: usize,
    connections: Vec<Option<Box<Connection<P::State>>>>,
    pub deadlines: Deadlines,
    pub received: Vec<u8>,
    answers: Vec<u8>,
}

impl<P: Protocol> Serving<P> {
    pub fn new(shared: Arc<Shared<P>>, number: usize) -> Self {
        Self {
            shared,
            number,
            connections: Vec::new(),
            deadlines: Deadlines::default(),
            received: vec![0; READ_BYTES],
            answers: Vec::new(),
        }
    }

    pub fn read(&mut self, connection: &mut Connection<P::State>) -> Alive {
        let received = match connection.receive(&mut self.received)? {
            Some(0) => return Ok(false),
            Some(received) => received,
            None => return self.watch(connection, READ),
        };
        self.answers.clear();
        let data = &self.received[..received];
        let fed = self
            .shared
            .protocol
            .feed(&mut connection.state, data, &mut self.answers);
        if !self.answers.is_empty() {
            // before they are sent: the peer may end us as soon as it has its answer
            self.shared.counters[self.number].add(connection.listener, fed.answered);
            connection.send(&self.answers)?;
        }
        if self.answers.capacity() > LARGE_BYTES {
            self.answers = Vec::new();
        }
        match fed.then {
            Then::Stay => self.watch(connection, if connection.has_unsent() { WRITE } else { READ }),
            then => self.close_after(connection, then),
        }
    }

    pub fn go_on_sending(&mut self, connection: &mut Connection<P::State>) -> Alive {
        if connection.flush()? {
            self.watch(connection, READ)
        } else {
            Ok(true)
        }
    }

    pub fn close_after(&mut self, connection: &mut Connection<P::State>, then: Then) -> Alive {
        if !connection.has_unsent() {
            return self.hang_up(connection, then);
        }
        connection.phase = Phase::Closing(then);
        self.set_deadline(connection, FLUSH_NS);
        self.watch(connection, WRITE)
    }

    pub fn close_when_sent(&mut self, connection: &mut Connection<P::State>, then: Then) -> Alive {
        if connection.flush()? {
            self.hang_up(connection, then)
        } else {
            Ok(true)
        }
    }

    /// A close with unread data resets the connection and takes the answer with it: Linger waits for the peer.
    fn hang_up(&mut self, connection: &mut Connection<P::State>, then: Then) -> Alive {
        if then != Then::Linger {
            return Ok(false);
        }
        connection.shut_down()?;
        connection.phase = Phase::Draining;
        self.set_deadline(connection, LINGER_NS);
        self.watch(connection, READ)
    }

    pub fn watch(&mut self, connection: &mut Connection<P::State>, interest: u32) -> Alive {
        let (fd, epoll) = (connection.fd(), &self.shared.epolls[self.number]);
        if connection.interest == 0 {
            epoll.add(fd, interest, token(fd, connection.listener))?;
        } else if connection.interest != interest {
            epoll.modify(fd, interest, token(fd, connection.listener))?;
        }
        connection.interest = interest;
        Ok(true)
    }

    pub fn set_deadline(&mut self, connection: &mut Connection<P::State>, after_ns: u64) {
        self.deadlines.remove(connection.until_ns, connection.fd());
        connection.until_ns = now_ns() + after_ns;
        self.deadlines.insert(connection.until_ns, connection.fd());
    }

    pub fn take(&mut self, fd: RawFd) -> Option<Box<Connection<P::State>>> {
        self.connections.get_mut(fd as usize)?.take()
    }

    pub fn keep(&mut self, connection: Box<Connection<P::State>>) {
        let place = connection.fd() as usize;
        if place >= self.connections.len() {
            self.connections.resize_with(place + 1, || None);
        }
        self.connections[place] = Some(connection);
    }

    pub fn keep_if(&mut self, alive: Alive, connection: Box<Connection<P::State>>) {
        if matches!(alive, Ok(true)) {
            self.keep(connection)
        } else {
            self.forget(&connection)
        }
    }

    /// The caller drops, which closes it: its place is free before the peer can see that.
    pub fn forget(&mut self, connection: &Connection<P::State>) {
        if connection.until_ns > 0 {
            self.deadlines.remove(connection.until_ns, connection.fd());
        }
        if connection.admitted {
            self.shared.release();
        }
    }
}

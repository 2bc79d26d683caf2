//! Kept connections that the service closes: requests that are sent once more, and the cause in words if they are not.

use contract::now_ns;

use super::worker::Worker;
use crate::engine::tally::FirstWrong;
use crate::net::connection::State;
use crate::response::answer::Fault;
use crate::response::reader::Expect;

/// RFC 9110, 9.2.2.
const IDEMPOTENT: [&[u8]; 6] = [b"GET ", b"HEAD ", b"OPTIONS ", b"PUT ", b"DELETE ", b"TRACE "];

impl Worker {
    /// Note a connection that took the place of another; it counts with its first request.
    pub(crate) fn note_reconnect(&mut self, at: usize, counts: bool) {
        let connection = &mut self.connections[at];
        if !connection.is_counted {
            self.tally.reconnects += u64::from(connection.was_counted && counts);
            (connection.is_counted, connection.was_counted) = (true, true);
        }
    }

    /// Whether HTTP allows to send a request once more, after this.
    pub(crate) fn may_resend(&self, at: usize, fault: Fault) -> bool {
        let connection = &self.connections[at];
        let is_idempotent = IDEMPOTENT.iter().any(|method| self.message(at).starts_with(method));
        matches!(fault, Fault::Closed | Fault::Reset) && self.is_own(at) && connection.may_resend(is_idempotent)
    }

    /// Whether it is a connection to a user's service.
    fn is_own(&self, at: usize) -> bool {
        let kind = &self.job.kinds[self.connections[at].kind];
        matches!(&kind.expect, Expect::Http(expect) if expect.body.is_some())
    }

    /// Send the request once more, on a new connection: it is opened after what is being read now.
    pub(crate) fn resend(&mut self, at: usize) {
        self.tally.resent += 1;
        let connection = &mut self.connections[at];
        connection.close_to_resend();
        (connection.state, connection.opened_ns) = (State::Connecting, now_ns());
        self.backlogged.push(at);
    }

    /// Keep the cause of a failure in words, if it is known and the first one.
    pub(crate) fn note_fault(&mut self, at: usize, fault: Fault) {
        let connection = &self.connections[at];
        let kind = &self.job.kinds[connection.kind];
        if !self.is_own(at) || connection.state != State::Busy || self.tally.first_wrong.is_some() {
            return;
        }
        let kept = if connection.is_used { "kept" } else { "new" };
        let has_begun = connection.first_byte_ns > 0;
        let got = match (fault, connection.reader.stray()) {
            (Fault::Garbled, Some(stray)) => format!("`{stray}`, which is not HTTP"),
            (Fault::Closed | Fault::Reset, _) if !has_begun => {
                format!("no answer, because the service {} a {kept} connection", fault.code())
            }
            (Fault::Extra, _) => "more bytes than one answer".to_owned(),
            (Fault::Closed, _) => "half an answer, because the service closed the connection".to_owned(),
            _ => return,
        };
        self.tally.first_wrong = Some(FirstWrong {
            request: kind.title.clone(),
            got,
            expected: "an answer".to_owned(),
        });
    }
}

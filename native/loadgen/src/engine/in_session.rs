//! What a worker does for users with a session: log in, fill requests in, and take from answers what is needed later.

use super::worker::Worker;
use crate::engine::tally::FirstWrong;
use crate::net::connection::State;
use crate::request::session::HIDDEN;
use crate::response::answer::{Answer, Verdict};

/// What comes after an answer.
pub enum Turn {
    /// The request is over.
    Over,
    /// Another one of the same user is to be sent at once.
    Next,
    /// The login failed.
    Failed,
}

impl Worker {
    /// Fill in the first request of a session: the one that is wanted, or a login before it.
    pub(crate) fn begin_in_session(&mut self, at: usize) {
        let connection = &self.connections[at];
        let first = self
            .job
            .sessions
            .as_ref()
            .map_or(0, |sessions| sessions.first.len());
        if let Some(session) = &mut self.users[connection.user].session {
            session.wanted = connection.kind;
            session.is_renewed = session.step < first;
            if session.is_renewed {
                session.step = 0;
            }
        }
        self.fill(at);
    }

    /// Send the next request of a session.
    pub(crate) fn resume(&mut self, at: usize) {
        self.fill(at);
        if self.connections[at].socket.is_some() {
            self.send(at)
        } else {
            self.open(at)
        }
    }

    fn fill(&mut self, at: usize) {
        let connection = &mut self.connections[at];
        let user = &mut self.users[connection.user];
        let (Some(sessions), Some(session)) = (&self.job.sessions, &mut user.session) else {
            return;
        };
        connection.kind = self.job.turn(sessions, session);
        if let Some(template) = &self.job.kinds[connection.kind].template {
            template.fill(session, &mut connection.filled);
        }
    }

    /// Take what the session keeps of an answer, and say what comes next.
    pub(crate) fn judge_in_session(&mut self, at: usize, answer: &mut Answer) -> Turn {
        let connection = &mut self.connections[at];
        let user = &mut self.users[connection.user];
        let (Some(sessions), Some(session)) = (&self.job.sessions, &mut user.session) else {
            return Turn::Over;
        };
        let (head, body) = connection.reader.answered();
        let is_right_status = matches!(answer.verdict, Verdict::Right { .. } | Verdict::Wrong);
        session.take(&self.job.kinds[connection.kind].save, head, body, is_right_status);
        if session.missing.is_some() && answer.verdict == Verdict::RIGHT {
            answer.verdict = Verdict::Wrong;
        } else {
            session.missing = None;
        }
        let is_refused = matches!(answer.verdict, Verdict::Status(401 | 403)) && !sessions.first.is_empty();
        if session.step < sessions.first.len() {
            if answer.verdict != Verdict::RIGHT {
                session.step = 0;
                self.note_wrong(at, &answer.verdict);
                return Turn::Failed;
            }
            session.step += 1;
        } else if is_refused && !session.is_renewed {
            (session.step, session.is_renewed) = (0, true);
        } else {
            return Turn::Over;
        }
        connection.state = State::Idle;
        if !answer.keep || self.job.fresh {
            connection.close();
        }
        Turn::Next
    }

    /// Keep a wrong answer if it is the first, without the values of the session.
    pub(crate) fn note_wrong(&mut self, at: usize, verdict: &Verdict) {
        if self.tally.first_wrong.is_some() {
            return;
        }
        let connection = &self.connections[at];
        let kind = &self.job.kinds[connection.kind];
        let session = self.users[connection.user].session.as_deref();
        let is_first = self
            .job
            .sessions
            .as_ref()
            .is_some_and(|one| one.first.contains(&connection.kind));
        let show = |body: &[u8]| session.map_or_else(|| body.to_vec(), |session| session.redacted(body));
        let Some((mut got, mut expected)) = connection.reader.difference(&kind.expect, show) else {
            return;
        };
        let has_login = self
            .job
            .sessions
            .as_ref()
            .is_some_and(|one| !one.first.is_empty());
        let may_tell = is_first || !kind.save.is_empty(); // its body may hold values that nobody knows
        if let (Verdict::Status(code), true) = (verdict, may_tell) {
            got = format!("status {code}");
        }
        if let Some(missing) = session.and_then(|session| session.missing.clone()) {
            (got, expected) = (missing, "a value to save".to_owned());
        } else if *verdict == Verdict::Wrong && may_tell {
            got = HIDDEN.to_owned();
        } else if matches!(verdict, Verdict::Status(401 | 403)) && has_login && !is_first {
            got += ", after a login";
        }
        self.tally.first_wrong = Some(FirstWrong {
            request: kind.title.clone(),
            got,
            expected,
        });
    }
}

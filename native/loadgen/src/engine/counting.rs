//! What is counted of an answer: when its request began for its slice, its times, and what is between requests.

use super::worker::Worker;
use crate::response::answer::{Answer, Verdict};

impl Worker {
    /// When the user turned to this request: when it was due, or began to connect for it, or else sent it.
    #[inline]
    pub(crate) fn turned_to_ns(&self, at: usize) -> u64 {
        let connection = &self.connections[at];
        let connects = connection.intended_ns == 0 && connection.opened_ns >= self.users[connection.user].answered_ns;
        let begun_ns = connection.begun_ns();
        if connects { begun_ns.min(connection.opened_ns) } else { begun_ns }
    }

    /// Count the time before this request in which its user had no other under way, as far as its slice lasted.
    #[inline]
    pub(crate) fn note_own_time(&mut self, at: usize, counts: bool) {
        let connection = &self.connections[at];
        let until_ns = if counts { u64::MAX } else { self.counted_ns.end };
        let free_ns = self.users[connection.user].answered_ns.max(self.counted_ns.start);
        self.tally.own_ns += connection.started_ns.min(until_ns).saturating_sub(free_ns);
    }

    #[inline]
    pub(crate) fn count(&mut self, at: usize, answer: &Answer, end_ns: u64) {
        let connection = &self.connections[at];
        let (started_ns, begun_ns) = (connection.started_ns, connection.begun_ns());
        let route = self.job.kinds[connection.kind].route;
        let service = self.users[connection.user].spec.service;
        self.tally.latency.record(end_ns - started_ns);
        if connection.intended_ns > 0 {
            self.tally.corrected.record(end_ns - begun_ns);
        }
        if let Some(counts) = self.tally.routes.get_mut(route) {
            counts.answered += 1;
            counts.latency.record(end_ns - begun_ns);
        }
        self.tally.beyond_ns += end_ns.saturating_sub(self.counted_ns.end);
        self.tally.slowest.note(end_ns - begun_ns, begun_ns, service);
        if self.job.times_first_byte {
            self.tally
                .first_byte
                .record(connection.first_byte_ns - started_ns);
        }
        if self.job.fresh {
            self.tally.total.record(end_ns - connection.opened_ns);
        }
        self.tally.slices.record(begun_ns);
        self.tally.judge(route, answer, started_ns);
        if self.tally.first_wrong.is_none() && !matches!(answer.verdict, Verdict::Right { .. }) {
            self.note_wrong(at, &answer.verdict);
        }
    }
}

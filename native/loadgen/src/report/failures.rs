//! Failures as ApacheBench counts them: another status is none, but a count of its own.

use crate::report::finished::Finished;
use crate::response::answer::Fault;
use crate::response::reader::Expect;

/// The fields behind ab's `Failed requests`, and `Non-2xx responses`.
pub struct Failures {
    /// No connection.
    pub connect: u64,
    /// No whole answer: closed, reset or too late.
    pub receive: u64,
    /// Another length, content or count.
    pub length: u64,
    /// Answers that cannot be read, more of them than requests, and 2xx other than the expected one.
    pub exceptions: u64,
    /// Answers whose status is none of 2xx, also where it is the expected one.
    pub non_2xx: u64,
}

impl Failures {
    pub fn of(finished: &Finished) -> Self {
        let errors = &finished.tally.errors;
        let count = |faults: &[Fault]| -> u64 {
            let codes = faults.iter().map(|fault| fault.code());
            codes.filter_map(|code| errors.get(code)).sum()
        };
        let statuses = || {
            let read = |(code, number): (&String, &u64)| Some((code.parse::<i64>().ok()?, *number));
            errors.iter().filter_map(read)
        };
        let other: u64 = statuses().map(|(_, number)| number).sum();
        let other_2xx: u64 = statuses()
            .filter(|(code, _)| is_2xx(*code))
            .map(|(_, number)| number)
            .sum();
        let expected_non_2xx = match finished.job.expect() {
            Expect::Http(expect) if !is_2xx(i64::from(expect.status)) => finished.tally.answered - other,
            _ => 0,
        };
        Self {
            connect: count(&[Fault::Connect]),
            receive: count(&[Fault::Closed, Fault::Reset, Fault::Timeout]),
            length: finished.tally.wrong,
            exceptions: count(&[Fault::Garbled, Fault::Extra]) + other_2xx,
            non_2xx: other - other_2xx + expected_non_2xx,
        }
    }

    /// ab's `Failed requests`.
    pub fn sum(&self) -> u64 {
        self.connect + self.receive + self.length + self.exceptions
    }
}

fn is_2xx(status: i64) -> bool {
    (200..300).contains(&status)
}

//! A virtual user: sends one request after the other, over its connection or one of several, picked each time.

use contract::Random;
use socket2::SockAddr;

use crate::request::session::Session;

/// What a virtual user is made of.
#[derive(Debug, Clone)]
pub struct VirtualUserSpec {
    /// It has a connection to each; each request goes to one that is picked at random.
    pub addresses: Vec<SockAddr>,
    /// Its place among the `of` users that divide a number of requests among themselves.
    pub rank: u64,
    pub of: u64,
    pub seed: u64,
    /// Number of the service that it calls.
    pub service: u64,
    /// Its place among the `users` of all clients of the cell.
    pub place: u64,
    pub users: u64,
}

impl VirtualUserSpec {
    /// Its share of the requests; the first ones take the remainder.
    pub fn share(&self, requests: u64) -> u64 {
        contract::share(requests, self.of, self.rank)
    }
}

/// A user while it runs.
pub struct VirtualUser {
    pub spec: VirtualUserSpec,
    /// Number of its first connection; the others follow.
    pub first: usize,
    /// Requests that it has sent in this phase, and that it may still send (u64::MAX: as many as there is time for).
    pub sent: u64,
    pub left: u64,
    /// Requests that it has sent in all phases: its place in the order of requests.
    pub place: u64,
    /// Its place when it asked first when its handler began: of slices in the first one, else in this phase.
    pub probed_from: u64,
    /// When its last request of this phase was answered; when it began, if none was.
    pub answered_ns: u64,
    /// When it is to stop, ns on the monotonic clock.
    pub until_ns: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Whether it has neither ended nor still to begin.
    pub active: bool,
    /// Whether an answer did not come in time, after which it sends nothing more in any phase.
    pub has_timed_out: bool,
    /// Whether that was on a connection that never brought an answer.
    pub has_starved: bool,
    /// None if its requests are the same for all users.
    pub session: Option<Box<Session>>,
    random: Random,
}

impl VirtualUser {
    /// A virtual user that has not begun.
    pub fn new(spec: VirtualUserSpec, first: usize) -> Self {
        let random = Random::new(spec.seed);
        Self {
            spec,
            first,
            sent: 0,
            left: 0,
            place: 0,
            probed_from: 0,
            answered_ns: 0,
            until_ns: u64::MAX,
            failures: 0,
            active: false,
            has_timed_out: false,
            has_starved: false,
            session: None,
            random,
        }
    }

    /// The connection for the next request, each as likely as the others.
    #[inline]
    pub fn pick(&mut self) -> usize {
        let connections = self.spec.addresses.len();
        if connections == 1 {
            return self.first;
        }
        self.first + self.random.below(connections as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{VirtualUser, VirtualUserSpec};
    use crate::request::target::Target;

    fn spec(addresses: usize, rank: u64, of: u64) -> VirtualUserSpec {
        let address = Target::from_address("127.0.0.1:1").unwrap().address;
        VirtualUserSpec {
            addresses: vec![address; addresses],
            rank,
            of,
            seed: 5,
            service: 0,
            place: 0,
            users: 1,
        }
    }

    #[test]
    fn the_first_lanes_take_the_remainder() {
        let shares: Vec<u64> = (0..3).map(|rank| spec(1, rank, 3).share(11)).collect();
        assert_eq!(shares, [4, 4, 3]);
    }

    #[test]
    fn each_connection_is_picked_about_as_often() {
        let mut user = VirtualUser::new(spec(4, 0, 1), 10);
        let mut picked = [0; 4];
        (0..40_000).for_each(|_| picked[user.pick() - 10] += 1);
        assert!(
            picked.iter().all(|number| (9_500..10_500).contains(number)),
            "{picked:?}"
        );
    }
}

//! Answers by time, as core/histogram.py counts them: to how many requests that began in each slice of the clock.

use std::collections::BTreeMap;

use serde_json::{Value, json};

const WIDTH_NS: u64 = 50_000_000;
const MOST: u64 = 512;

/// Answers in slices of 50 ms; of more than MOST slices, two are made one.
#[derive(Clone)]
pub struct Slices {
    width_ns: u64,
    counts: BTreeMap<u64, u64>,
    end_ns: u64,
    count: u64,
}

impl Default for Slices {
    fn default() -> Self {
        Self {
            width_ns: WIDTH_NS,
            counts: BTreeMap::new(),
            end_ns: 0,
            count: 0,
        }
    }
}

impl Slices {
    /// An answered request began at this time.
    #[inline]
    pub fn record(&mut self, begun_ns: u64) {
        if begun_ns >= self.end_ns {
            self.turn(begun_ns);
        } else if begun_ns < self.end_ns - self.width_ns {
            return self.add(begun_ns, 1);
        }
        self.count += 1;
    }

    /// Add what another has counted.
    pub fn merge(&mut self, other: &Self) {
        while self.width_ns < other.width_ns {
            self.widen();
        }
        for (place, count) in &other.counts {
            self.add(place * other.width_ns, *count);
        }
        if other.count > 0 {
            self.add(other.end_ns - other.width_ns, other.count);
        }
    }

    /// For a client's result: counts of successive slices, the first of which began at `start_ns`.
    ///
    /// None without answers. It is for a sum of others: merge() has added what they were about to count.
    pub fn to_json(&self) -> Option<Value> {
        let (first, last) = (*self.counts.keys().next()?, *self.counts.keys().last()?);
        let counts: Vec<u64> = (first..=last)
            .map(|place| self.counts.get(&place).copied().unwrap_or(0))
            .collect();
        Some(json!({"width_ns": self.width_ns, "start_ns": first * self.width_ns, "counts": counts}))
    }

    fn turn(&mut self, now_ns: u64) {
        if self.count > 0 {
            self.add(self.end_ns - self.width_ns, self.count);
            self.count = 0;
        }
        self.end_ns = (now_ns / self.width_ns + 1) * self.width_ns;
    }

    fn add(&mut self, time_ns: u64, count: u64) {
        *self.counts.entry(time_ns / self.width_ns).or_default() += count;
        while self.span() >= MOST {
            self.widen();
        }
    }

    fn span(&self) -> u64 {
        match (self.counts.keys().next(), self.counts.keys().last()) {
            (Some(first), Some(last)) => last - first,
            _ => 0,
        }
    }

    fn widen(&mut self) {
        self.width_ns *= 2;
        for (place, count) in std::mem::take(&mut self.counts) {
            *self.counts.entry(place / 2).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(times_ns: &[u64]) -> Slices {
        let (mut slices, mut total) = (Slices::default(), Slices::default());
        times_ns.iter().for_each(|time_ns| slices.record(*time_ns));
        total.merge(&slices);
        total
    }

    #[test]
    fn answers_are_counted_in_the_slice_they_came_in() {
        let slices = recorded(&[120_000_000, 150_000_000, 260_000_000, 149_999_999]);
        let counts = json!({"width_ns": 50_000_000, "start_ns": 100_000_000, "counts": [2, 1, 0, 1]});
        assert_eq!(slices.to_json(), Some(counts));
        assert_eq!(recorded(&[]).to_json(), None);
    }

    #[test]
    fn of_more_slices_than_there_may_be_two_are_made_one() {
        let times_ns: Vec<u64> = (0..1300).map(|place| place * WIDTH_NS).collect();
        let said = recorded(&times_ns).to_json().unwrap();
        assert_eq!(said["width_ns"], 4 * WIDTH_NS);
        assert_eq!(said["counts"].as_array().unwrap().len(), 325);
        assert!(said["counts"].as_array().unwrap().iter().all(|count| *count == 4));
    }
}

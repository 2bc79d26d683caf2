//! Log-bucketed latency histogram, the layout of core/histogram.py and of result.json.
//!
//! A value below 256 has a bucket of its own. Above, every power of two is cut into 128 equal buckets.
//! Source: docs/child-contract.md (A histogram), docs/decisions/009-histogram.md.

use serde_json::{Map, Value, json};

pub const SUB_BITS: u32 = 7;
const EXACT_BELOW: u64 = 1 << (SUB_BITS + 1);
const VALUE_BITS: u32 = 42;
const BUCKETS: usize = ((VALUE_BITS - SUB_BITS + 1) << SUB_BITS) as usize;
/// A percentile, its share of the requests, and how many requests it needs.
const SHARES: [(&str, f64, u64); 4] = [
    ("p50_ns", 0.50, 1),
    ("p90_ns", 0.90, 10),
    ("p99_ns", 0.99, 100),
    ("p999_ns", 0.999, 10_000),
];

/// Index of the bucket that holds a value, ns.
#[inline]
pub fn bucket(value_ns: u64) -> usize {
    if value_ns < EXACT_BELOW {
        return value_ns as usize;
    }
    let shift = u64::BITS - value_ns.leading_zeros() - (SUB_BITS + 1);
    (u64::from(shift << SUB_BITS) + (value_ns >> shift)) as usize
}

/// Lowest value of a bucket and the lowest of the next, ns.
pub fn bounds_ns(bucket: usize) -> (u64, u64) {
    let bucket = bucket as u64;
    if bucket < EXACT_BELOW {
        return (bucket, bucket + 1);
    }
    let shift = (bucket >> SUB_BITS) - 1;
    let low = (bucket - (shift << SUB_BITS)) << shift;
    (low, low + (1 << shift))
}

/// Latencies in ns. One for each thread, merged after join.
#[derive(Debug, Clone)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    total_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            count: 0,
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Histogram {
    /// A histogram of values that were counted elsewhere: (value, how often), with their exact sum and bounds.
    pub fn restore(
        counted: impl Iterator<Item = (u64, u64)>,
        total_ns: u64,
        min_ns: u64,
        max_ns: u64,
    ) -> Self {
        let mut histogram = Self {
            total_ns,
            min_ns,
            max_ns,
            ..Self::default()
        };
        for (value_ns, number) in counted {
            histogram.counts[bucket(value_ns)] += number;
            histogram.count += number;
        }
        histogram
    }

    /// Count one latency. Panics at 2**42 ns (73 minutes) and above.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.counts[bucket(value_ns)] += 1;
        self.count += 1;
        self.total_ns += value_ns;
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Add the counts of another.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.total_ns += other.total_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of all latencies, ns.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }

    /// Latency that `share` (0..1) of the requests did not exceed, ns, within 0.4 %; none if nothing was recorded.
    ///
    /// Source: nearest-rank definition, docs/statistics.md.
    pub fn quantile_ns(&self, share: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        // rounded to 9 places before it is rounded up: 0.99 * 100 is 99, not 100
        let exact = (share * self.count as f64 * 1e9).round() / 1e9;
        let rank = (exact.ceil() as u64).max(1);
        if rank >= self.count {
            return Some(self.max_ns);
        }
        let mut seen = 0;
        let held = self.counts.iter().position(|number| {
            seen += number;
            seen >= rank
        })?;
        let (low, high) = bounds_ns(held);
        Some(((low + high - 1) / 2).clamp(self.min_ns, self.max_ns))
    }

    /// Exact count, min, mean and max, the percentiles that the count can bear, and all counts.
    pub fn to_json(&self) -> Value {
        let counts: Map<String, Value> = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, number)| **number > 0)
            .map(|(bucket, number)| (bucket.to_string(), json!(number)))
            .collect();
        let mut summary = Map::new();
        summary.insert("count".to_owned(), json!(self.count));
        if let Some(mean_ns) = self.total_ns.checked_div(self.count) {
            summary.insert("min_ns".to_owned(), json!(self.min_ns));
            summary.insert("mean_ns".to_owned(), json!(mean_ns));
            summary.insert("max_ns".to_owned(), json!(self.max_ns));
        }
        for (name, share, _) in SHARES.iter().filter(|(_, _, needed)| self.count >= *needed) {
            summary.insert((*name).to_owned(), json!(self.quantile_ns(*share)));
        }
        let stored = json!({"sub_bits": SUB_BITS, "total_ns": self.total_ns, "counts": counts});
        summary.insert("histogram".to_owned(), stored);
        Value::Object(summary)
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, bounds_ns, bucket};
    use serde_json::json;

    #[test]
    fn the_buckets_are_those_of_the_contract() {
        let table = [
            (0, 0, (0, 1)),
            (255, 255, (255, 256)),
            (257, 256, (256, 258)),
            (1000, 506, (1000, 1004)),
            (74_941, 1298, (74_752, 75_264)),
        ];
        for (value_ns, expected, bounds) in table {
            assert_eq!(bucket(value_ns), expected);
            assert_eq!(bounds_ns(expected), bounds);
        }
        assert!(bucket((1 << 42) - 1) < super::BUCKETS);
    }

    #[test]
    fn the_example_of_the_contract_comes_out_as_it_stands_there() {
        let mut histogram = Histogram::default();
        for value_ns in [59_989, 68_983, 137_124] {
            histogram.record(value_ns);
        }
        let expected = json!({
            "count": 3, "min_ns": 59_989, "mean_ns": 88_698, "max_ns": 137_124, "p50_ns": 68_863,
            "histogram": {"sub_bits": 7, "total_ns": 266_096, "counts": {"1258": 1, "1286": 1, "1413": 1}}
        });
        assert_eq!(histogram.to_json(), expected);
    }

    #[test]
    fn a_histogram_without_values_has_a_count_of_nought() {
        let empty = Histogram::default();
        assert_eq!(empty.quantile_ns(0.5), None);
        assert_eq!(
            empty.to_json(),
            json!({"count": 0, "histogram": {"sub_bits": 7, "total_ns": 0, "counts": {}}})
        );
    }

    #[test]
    fn quantiles_by_hand_are_nearest_ranks() {
        let mut left = Histogram::default();
        let mut right = Histogram::default();
        (1..=50).for_each(|value| left.record(value));
        (51..=100).for_each(|value| right.record(value));
        left.merge(&right);
        assert_eq!((left.count(), left.total_ns()), (100, 5050));
        assert_eq!(left.quantile_ns(0.5), Some(50));
        assert_eq!(left.quantile_ns(0.99), Some(99));
        assert_eq!(left.quantile_ns(1.0), Some(100));
        assert!(left.to_json().get("p999_ns").is_none());
    }
}

//! Latencies in an HDR histogram, with exact minimum, maximum and sum; and the histogram of the child contract.
//!
//! HdrHistogram's layout for two significant digits is that of core/histogram.py, bucket for bucket: 256 values of their
//! own, then 128 buckets for each power of two. A bucket of three digits lies within one of two.
//! Source: docs/child-contract.md (A histogram), docs/decisions/009-histogram.md.

use serde_json::{Map, Value, json};

const SUB_BITS: u32 = 7;
/// Recorded values are at most this: 73 minutes, the bound of core/histogram.py.
const MAX_NS: u64 = (1 << 42) - 1;
const WIRE_DIGITS: u8 = 2;
/// A percentile, its share of the requests, and how many requests it needs.
const PERCENTILES: [(&str, f64, u64); 4] = [
    ("p50_ns", 0.50, 1),
    ("p90_ns", 0.90, 10),
    ("p99_ns", 0.99, 100),
    ("p999_ns", 0.999, 10_000),
];

/// The buckets of the child contract: within 0.4 %, 36 KiB.
pub type WireHistogram = Histogram<WIRE_DIGITS>;
/// Finer buckets, which the contract's are made of: within 0.05 %, 256 KiB.
pub type FineHistogram = Histogram<3>;

/// Latencies in ns, to so many significant digits. One for each thread, merged after join.
#[derive(Debug, Clone)]
pub struct Histogram<const DIGITS: u8> {
    counts: hdrhistogram::Histogram<u64>,
    total_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl<const DIGITS: u8> Default for Histogram<DIGITS> {
    fn default() -> Self {
        let counts = hdrhistogram::Histogram::new_with_bounds(1, MAX_NS, DIGITS);
        Self {
            counts: counts.expect("the bounds are constants"),
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl<const DIGITS: u8> Histogram<DIGITS> {
    /// Count one latency; one of more than 73 minutes counts as 73 minutes.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Count the same latency several times.
    #[inline]
    pub fn record_n(&mut self, value_ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        let value_ns = value_ns.min(MAX_NS);
        self.counts.saturating_record_n(value_ns, count);
        self.total_ns += u128::from(value_ns) * u128::from(count);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Add the counts of another.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .add(&other.counts)
            .expect("histograms of the same digits have the same bounds");
        self.total_ns += other.total_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// Exact; 0 if nothing was recorded.
    pub fn min_ns(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.min_ns }
    }

    /// Exact; 0 if nothing was recorded.
    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// Exact; 0 if nothing was recorded.
    pub fn mean_ns(&self) -> f64 {
        self.total_ns as f64 / self.count().max(1) as f64
    }

    /// Standard deviation, within the error of the buckets.
    pub fn deviation_ns(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.counts.stdev()
        }
    }

    /// Latency that `share` (0..1) of the requests did not exceed; never outside minimum and maximum.
    ///
    /// Source: nearest-rank definition, docs/statistics.md.
    pub fn quantile_ns(&self, share: f64) -> u64 {
        // rounded to 9 places before it is rounded up: 0.99 * 100 is 99, not 100
        let exact = (share * self.count() as f64 * 1e9).round() / 1e9;
        let rank = (exact.ceil() as u64).max(1);
        if rank >= self.count() {
            return self.max_ns;
        }
        let mut seen = 0;
        for (low_ns, high_ns, count) in self.filled() {
            seen += count;
            if seen >= rank {
                return ((low_ns + high_ns) / 2).clamp(self.min_ns, self.max_ns);
            }
        }
        self.max_ns
    }

    /// Lowest and highest value and count of each bucket that is not empty, lowest first.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter_recorded().map(|step| {
            let value_ns = step.value_iterated_to();
            let (low_ns, high_ns) = (
                self.counts.lowest_equivalent(value_ns),
                self.counts.highest_equivalent(value_ns),
            );
            (low_ns, high_ns, step.count_since_last_iteration())
        })
    }

    /// As the child contract has it: exact count, minimum, mean and maximum, the percentiles that the count can bear,
    /// and all counts by bucket.
    pub fn to_json(&self) -> Value {
        let wire = self.to_wire();
        let mut summary = Map::new();
        let mut put = |key: &str, value: Value| summary.insert(key.to_owned(), value);
        put("count", json!(wire.count()));
        if let Some(mean_ns) = wire.total_ns.checked_div(u128::from(wire.count())) {
            put("min_ns", json!(wire.min_ns));
            put("mean_ns", json!(clipped(mean_ns)));
            put("max_ns", json!(wire.max_ns));
        }
        for (name, share, _) in PERCENTILES.iter().filter(|(.., needed)| wire.count() >= *needed) {
            put(name, json!(wire.quantile_ns(*share)));
        }
        put(
            "histogram",
            json!({"sub_bits": SUB_BITS, "total_ns": clipped(wire.total_ns), "counts": wire.counts_by_bucket()}),
        );
        Value::Object(summary)
    }

    fn to_wire(&self) -> WireHistogram {
        let mut wire = WireHistogram::default();
        for (low_ns, _, count) in self.filled() {
            wire.counts.saturating_record_n(low_ns, count);
        }
        Histogram {
            counts: wire.counts,
            total_ns: self.total_ns,
            min_ns: self.min_ns,
            max_ns: self.max_ns,
        }
    }

    /// The position of a bucket in HdrHistogram's order is its number in the contract.
    fn counts_by_bucket(&self) -> Map<String, Value> {
        let numbered = self.counts.iter_all().enumerate();
        numbered
            .filter(|(_, step)| step.count_at_value() > 0)
            .map(|(bucket, step)| (bucket.to_string(), json!(step.count_at_value())))
            .collect()
    }
}

fn clipped(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FineHistogram, Histogram, WireHistogram};

    /// What core/histogram.py makes of many values, all edges of buckets among them: tests/native/test_wire_histogram.py.
    const VECTORS: &str = include_str!("../../../tests/native/wire_histogram.json");

    fn recorded<const DIGITS: u8>(values_ns: &[u64]) -> Histogram<DIGITS> {
        let mut histogram = Histogram::default();
        values_ns.iter().for_each(|value_ns| histogram.record(*value_ns));
        histogram
    }

    /// Values from 100 ns to 10 s, spread over all octaves; a linear congruential generator (Knuth, MMIX).
    fn samples(count: usize) -> Vec<u64> {
        let mut state = 1u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let share = (state >> 11) as f64 / (1u64 << 53) as f64;
            (100.0 * 10f64.powf(share * 8.0)) as u64
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn every_value_is_in_the_bucket_that_python_puts_it_in() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let buckets = vectors["buckets"].as_array().unwrap();
        assert!(buckets.len() > 200);
        for pair in buckets {
            let (value_ns, bucket) = (pair[0].as_u64().unwrap(), pair[1].as_u64().unwrap());
            let expected = json!({bucket.to_string(): 1});
            for summary in [
                recorded::<2>(&[value_ns]).to_json(),
                recorded::<3>(&[value_ns]).to_json(),
            ] {
                assert_eq!(summary["histogram"]["counts"], expected, "{value_ns} ns");
            }
        }
    }

    #[test]
    fn all_values_together_make_the_summary_that_python_makes() {
        let vectors: Value = serde_json::from_str(VECTORS).unwrap();
        let pairs = vectors["buckets"].as_array().unwrap();
        let values_ns: Vec<u64> = pairs.iter().map(|pair| pair[0].as_u64().unwrap()).collect();
        assert_eq!(recorded::<2>(&values_ns).to_json(), vectors["summary"]);
        assert_eq!(recorded::<3>(&values_ns).to_json(), vectors["summary"]);
    }

    #[test]
    fn finer_buckets_make_the_same_summary_as_those_of_the_contract() {
        let values_ns = samples(50_000);
        assert_eq!(
            recorded::<3>(&values_ns).to_json(),
            recorded::<2>(&values_ns).to_json()
        );
    }

    #[test]
    fn the_example_of_the_contract_comes_out_as_it_stands_there() {
        let expected = json!({
            "count": 3, "min_ns": 59_989, "mean_ns": 88_698, "max_ns": 137_124, "p50_ns": 68_863,
            "histogram": {"sub_bits": 7, "total_ns": 266_096, "counts": {"1258": 1, "1286": 1, "1413": 1}}
        });
        assert_eq!(recorded::<2>(&[59_989, 68_983, 137_124]).to_json(), expected);
    }

    #[test]
    fn a_histogram_without_values_has_a_count_of_nought() {
        let empty = FineHistogram::default();
        let figures = (
            empty.count(),
            empty.min_ns(),
            empty.max_ns(),
            empty.quantile_ns(0.5),
        );
        assert_eq!(figures, (0, 0, 0, 0));
        assert_eq!(
            empty.to_json(),
            json!({"count": 0, "histogram": {"sub_bits": 7, "total_ns": 0, "counts": {}}})
        );
    }

    #[test]
    fn quantiles_by_hand_are_nearest_ranks() {
        let mut left: WireHistogram = recorded(&(1..=50).collect::<Vec<_>>());
        left.merge(&recorded(&(51..=100).collect::<Vec<_>>()));
        assert_eq!((left.count(), left.mean_ns()), (100, 50.5));
        assert_eq!(
            [0.5, 0.99, 1.0].map(|share| left.quantile_ns(share)),
            [50, 99, 100]
        );
        assert!(left.to_json().get("p999_ns").is_none());
    }

    #[test]
    fn fine_quantiles_are_within_a_thousandth_of_the_exact_nearest_rank() {
        let mut values_ns = samples(200_000);
        let histogram: FineHistogram = recorded(&values_ns);
        values_ns.sort_unstable();
        for share in [0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0] {
            let rank = (share * values_ns.len() as f64).ceil() as usize;
            let (exact, quantile) = (values_ns[rank - 1] as f64, histogram.quantile_ns(share) as f64);
            assert!(
                (quantile - exact).abs() / exact < 0.001,
                "share {share}: {quantile} against {exact}"
            );
        }
    }

    #[test]
    fn minimum_maximum_and_mean_are_exact_and_no_quantile_lies_outside() {
        let histogram: FineHistogram = recorded(&[1_000_003, 1_000_003, 9_999_999]);
        assert_eq!((histogram.min_ns(), histogram.max_ns()), (1_000_003, 9_999_999));
        assert!((histogram.mean_ns() - 12_000_005.0 / 3.0).abs() < 1e-6);
        assert!(histogram.quantile_ns(0.0) >= 1_000_003 && histogram.quantile_ns(0.99) <= 9_999_999);
    }
}

//! Latencies in an HDR histogram of three significant digits, with exact minimum, maximum and sum.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};

/// Recorded values are below this: 73 minutes, the bound of the core histogram.
const LIMIT_NS: u64 = (1 << 42) - 1;
const SIGNIFICANT_DIGITS: u8 = 3;

/// Latencies in ns. One for each thread, merged after join.
#[derive(Clone)]
pub struct Recorder {
    counts: Histogram<u64>,
    total_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        let counts =
            Histogram::new_with_bounds(1, LIMIT_NS, SIGNIFICANT_DIGITS).expect("bounds are constants");
        Self {
            counts,
            total_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }
}

impl Recorder {
    /// Count one latency; one of more than 73 minutes counts as 73 minutes.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        self.record_n(value_ns, 1);
    }

    /// Count the same latency several times.
    #[inline]
    pub fn record_n(&mut self, value_ns: u64, number: u64) {
        if number == 0 {
            return;
        }
        let value_ns = value_ns.min(LIMIT_NS);
        self.counts.saturating_record_n(value_ns, number);
        self.total_ns += u128::from(value_ns) * u128::from(number);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Add the counts of another.
    pub fn merge(&mut self, other: &Self) {
        self.counts
            .add(&other.counts)
            .expect("all recorders have the same bounds");
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

    /// Standard deviation, within 0.1 %.
    pub fn deviation_ns(&self) -> f64 {
        if self.count() == 0 {
            0.0
        } else {
            self.counts.stdev()
        }
    }

    /// Latency that `share` (0..1) of the requests did not exceed, within 0.05 %; never outside minimum and maximum.
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
        for step in self.counts.iter_recorded() {
            seen += step.count_since_last_iteration();
            if seen >= rank {
                let middle_ns = self.counts.median_equivalent(step.value_iterated_to());
                return middle_ns.clamp(self.min_ns, self.max_ns);
            }
        }
        self.max_ns
    }

    /// (lowest value of a bucket, its count) for each bucket that is not empty, lowest first.
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        self.counts
            .iter_recorded()
            .map(|step| {
                (
                    self.counts.lowest_equivalent(step.value_iterated_to()),
                    step.count_since_last_iteration(),
                )
            })
            .collect()
    }

    /// The same values in the layout of core/histogram.py. Exact: its buckets are whole numbers of ours.
    pub fn to_core(&self) -> contract::Histogram {
        let total_ns = u64::try_from(self.total_ns).unwrap_or(u64::MAX);
        contract::Histogram::restore(self.buckets().into_iter(), total_ns, self.min_ns, self.max_ns)
    }

    /// HdrHistogram's V2 encoding, not compressed; in base64 other tools read it.
    pub fn to_v2(&self) -> Vec<u8> {
        let mut encoded = Vec::new();
        V2Serializer::new()
            .serialize(&self.counts, &mut encoded)
            .expect("a vector takes all bytes");
        encoded
    }
}

#[cfg(test)]
mod tests {
    use super::Recorder;

    /// Values from 100 ns to 10 s, spread over all octaves; a linear congruential generator (Knuth, MMIX).
    fn samples(number: usize) -> Vec<u64> {
        let mut state = 1u64;
        let mut values = Vec::new();
        for _ in 0..number {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let share = (state >> 11) as f64 / (1u64 << 53) as f64;
            values.push((100.0 * 10f64.powf(share * 8.0)) as u64);
        }
        values
    }

    fn recorded(values: &[u64]) -> Recorder {
        let mut recorder = Recorder::default();
        values.iter().for_each(|value| recorder.record(*value));
        recorder
    }

    #[test]
    fn quantiles_are_within_a_thousandth_of_the_exact_nearest_rank() {
        let mut values = samples(200_000);
        let recorder = recorded(&values);
        values.sort_unstable();
        for share in [0.0001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1.0] {
            let rank = (share * values.len() as f64).ceil() as usize;
            let exact = values[rank - 1] as f64;
            let off = (recorder.quantile_ns(share) as f64 - exact).abs() / exact;
            assert!(
                off < 0.001,
                "share {share}: {} against {exact}",
                recorder.quantile_ns(share)
            );
        }
    }

    #[test]
    fn minimum_maximum_and_mean_are_exact_and_no_quantile_lies_outside() {
        let recorder = recorded(&[1_000_003, 1_000_003, 9_999_999]);
        assert_eq!((recorder.min_ns(), recorder.max_ns()), (1_000_003, 9_999_999));
        assert!((recorder.mean_ns() - 12_000_005.0 / 3.0).abs() < 1e-6);
        assert!(recorder.quantile_ns(0.0) >= 1_000_003 && recorder.quantile_ns(0.99) <= 9_999_999);
    }

    #[test]
    fn the_core_histogram_has_the_counts_that_recording_into_it_gives() {
        let values = samples(50_000);
        let mut direct = contract::Histogram::default();
        values.iter().for_each(|value| direct.record(*value));
        assert_eq!(recorded(&values).to_core().to_json(), direct.to_json());
    }

    #[test]
    fn an_empty_recorder_has_noughts() {
        let empty = Recorder::default();
        assert_eq!(
            (
                empty.count(),
                empty.min_ns(),
                empty.max_ns(),
                empty.quantile_ns(0.5)
            ),
            (0, 0, 0, 0)
        );
        assert_eq!(empty.to_core().to_json()["count"], 0);
    }
}

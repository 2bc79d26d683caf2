//! Random numbers that are the same for the same seed.

/// A generator of random numbers.
///
/// Source: xorshift64*, S. Vigna, An experimental exploration of Marsaglia's xorshift generators.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A whole number of 32 bits.
    #[inline]
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }

    /// A whole number below `limit`, each as likely as the others; the limit is below 2^32.
    #[inline]
    pub fn below(&mut self, limit: u64) -> u64 {
        (self.bits() * limit) >> 32
    }

    /// The distance to the next event of a Poisson process with a mean distance of 1.
    pub fn exponential(&mut self) -> f64 {
        -((self.bits() as f64 + 0.5) / 4_294_967_296.0).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn each_number_below_a_limit_is_about_as_frequent() {
        let mut random = Random::new(5);
        let mut drawn = [0; 4];
        (0..40_000).for_each(|_| drawn[random.below(4) as usize] += 1);
        assert!(drawn.iter().all(|number| (9_500..10_500).contains(number)), "{drawn:?}");
    }

    #[test]
    fn distances_of_a_poisson_process_have_mean_and_variance_1() {
        let mut random = Random::new(7);
        let drawn: Vec<f64> = (0..100_000).map(|_| random.exponential()).collect();
        let mean = drawn.iter().sum::<f64>() / 1e5;
        let variance = drawn.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.02 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}

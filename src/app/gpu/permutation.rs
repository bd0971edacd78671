//! A random order of rows that is computed, not stored: the row of a draw index costs a few dozen instructions and no
//! memory. Every prefix of it is a random sample of the cloud.
//!
//! It is a Feistel network over pairs (left, right) with left < a and right < b, where a · b is n or a little more; the few
//! numbers beyond n are walked past (Black and Rogaway, *Ciphers with arbitrary finite domains*, 2002).

/// Two for each half are not random enough to the eye, eight are.
const ROUNDS: u32 = 8;

/// A permutation of 0..n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Permutation {
    n: u32,
    a: u32,
    b: u32,
    seed: u32,
}

impl Permutation {
    /// The permutation of `n` numbers that `seed` names.
    pub fn new(n: u32, seed: u32) -> Self {
        let a = (f64::from(n).sqrt().ceil() as u32).max(1);
        Self { n, a, b: n.div_ceil(a).max(1), seed }
    }

    /// The row that is drawn at an index below n.
    pub fn row(&self, index: u32) -> u32 {
        debug_assert!(index < self.n);
        let mut at = index;
        loop {
            at = self.forward(at);
            if at < self.n {
                return at;
            }
        }
    }

    /// The index at which a row below n is drawn.
    #[cfg(test)]
    pub fn index(&self, row: u32) -> u32 {
        debug_assert!(row < self.n);
        let mut at = row;
        loop {
            at = self.backward(at);
            if at < self.n {
                return at;
            }
        }
    }

    fn forward(&self, at: u32) -> u32 {
        let (mut left, mut right) = (at % self.a, at / self.a);
        for round in 0..ROUNDS {
            if round % 2 == 0 {
                left = add(left, self.noise(right, round, self.a), self.a);
            } else {
                right = add(right, self.noise(left, round, self.b), self.b);
            }
        }
        right * self.a + left
    }

    #[cfg(test)]
    fn backward(&self, at: u32) -> u32 {
        let (mut left, mut right) = (at % self.a, at / self.a);
        for round in (0..ROUNDS).rev() {
            if round % 2 == 0 {
                left = add(left, self.a - self.noise(right, round, self.a), self.a);
            } else {
                right = add(right, self.b - self.noise(left, round, self.b), self.b);
            }
        }
        right * self.a + left
    }

    /// A number below `limit`. The mixing is Wellons's `lowbias32`.
    fn noise(&self, half: u32, round: u32, limit: u32) -> u32 {
        let mut x = half ^ self.seed.wrapping_add((round + 1).wrapping_mul(0x9E37_79B9));
        x = (x ^ (x >> 16)).wrapping_mul(0x7FEB_352D);
        x = (x ^ (x >> 15)).wrapping_mul(0x846C_A68B);
        x ^= x >> 16;
        ((u64::from(x) * u64::from(limit)) >> 32) as u32
    }
}

/// The sum modulo `limit`, of one number below it and one at most it. Both are at most 65,536.
fn add(one: u32, other: u32, limit: u32) -> u32 {
    let sum = one + other;
    if sum >= limit { sum - limit } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_comes_once_and_is_found_again() {
        for n in [1, 2, 3, 5, 31, 32, 33, 97, 100, 101, 1_000, 4_096, 65_537, 200_003] {
            for seed in [0, 7] {
                let permutation = Permutation::new(n, seed);
                let mut seen = vec![false; n as usize];
                for index in 0..n {
                    let row = permutation.row(index);
                    assert!(!std::mem::replace(&mut seen[row as usize], true), "row {row} of {n} came twice");
                    assert_eq!(permutation.index(row), index);
                }
            }
        }
    }

    #[test]
    fn the_largest_cloud_is_permuted_too() {
        let n = crate::cloud::MAX_ROWS;
        let permutation = Permutation::new(n, 1);
        for index in (0..n).step_by(1 << 20).chain([n - 1]) {
            let row = permutation.row(index);
            assert!(row < n);
            assert_eq!(permutation.index(row), index);
        }
    }

    /// χ² of a prefix over 64 equal ranges of rows, and over rows modulo 64: with 63 degrees of freedom, 130 is exceeded
    /// once in a million tries. A prefix without putting back is spread a little more evenly, so there is a least, too.
    #[test]
    fn every_prefix_is_spread_as_a_random_sample() {
        const BINS: usize = 64;
        let n: u32 = 640_000;
        for seed in [1, 2, 3] {
            let permutation = Permutation::new(n, seed);
            for prefix in [1_000u32, 10_000, 50_000, 100_000] {
                let (mut ranges, mut residues) = ([0u32; BINS], [0u32; BINS]);
                for index in 0..prefix {
                    let row = permutation.row(index);
                    ranges[row as usize / (n as usize / BINS)] += 1;
                    residues[row as usize % BINS] += 1;
                }
                let expected = f64::from(prefix) / BINS as f64;
                for counts in [ranges, residues] {
                    let chi: f64 = counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
                    assert!((25.0..130.0).contains(&chi), "χ² of the first {prefix} is {chi:.1}");
                }
            }
        }
    }

    /// Neighbours in the drawing order are no neighbours in the file: the correlation of rows drawn one after another is
    /// that of independent numbers, whose standard deviation is 1/√n.
    #[test]
    fn what_is_drawn_in_turn_is_independent() {
        let n: u32 = 100_000;
        let permutation = Permutation::new(n, 5);
        let rows: Vec<f64> = (0..n).map(|index| f64::from(permutation.row(index)) / f64::from(n) - 0.5).collect();
        for lag in [1, 2, 3, 16, 317] {
            let sum: f64 = rows.iter().zip(&rows[lag..]).map(|(one, other)| one * other).sum();
            let correlation = sum / f64::from(n) * 12.0;
            assert!(correlation.abs() < 5.0 / f64::from(n).sqrt(), "lag {lag}: {correlation}");
        }
    }
}

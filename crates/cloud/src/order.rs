//! The order in which a search processes the points.

use std::collections::HashMap;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// The processing order. It affects only merges and candidates (descending distances are the worst case) and
/// the order of neighbours at exactly equal distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// As in the file.
    #[default]
    File,
    /// A random permutation drawn from the run's seed: what the theory assumes.
    Shuffled,
}

impl Order {
    /// The name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Shuffled => "shuffled",
        }
    }

    /// The cloud row at each position of the processing order; `None` is the identity.
    pub fn permutation(self, n: usize, seed: u64) -> Option<Vec<u32>> {
        match self {
            Self::File => None,
            Self::Shuffled => {
                let mut rows: Vec<u32> = (0..n as u32).collect();
                let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x6f72_6465_7200_0001);
                shuffle(&mut rows, &mut rng);
                Some(rows)
            }
        }
    }
}

/// Fisher–Yates with Lemire's multiply-shift, implemented here so that a seed gives the same order with every
/// version of the `rand` crates.
pub(crate) fn shuffle(rows: &mut [u32], rng: &mut ChaCha8Rng) {
    for i in (1..rows.len()).rev() {
        let j = ((u64::from(rng.next_u32()) * (i as u64 + 1)) >> 32) as usize;
        rows.swap(i, j);
    }
}

/// Draws `count` distinct numbers below `n` from `seed`, ascending.
pub fn sample(n: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x7175_6572_6965_0001);
    // The first steps of a shuffle, storing only moved elements.
    let mut moved: HashMap<usize, u32> = HashMap::new();
    let mut drawn: Vec<u32> = (0..count.min(n))
        .map(|i| {
            let j = i + ((u64::from(rng.next_u32()) * (n - i) as u64) >> 32) as usize;
            let here = moved.remove(&i).unwrap_or(i as u32);
            if i == j { here } else { moved.insert(j, here).unwrap_or(j as u32) }
        })
        .collect();
    drawn.sort_unstable();
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_match_a_partial_shuffle() {
        for (n, count) in [(1, 1), (10, 10), (1000, 3), (1000, 999), (5, 9)] {
            let mut rng = ChaCha8Rng::seed_from_u64(7 ^ 0x7175_6572_6965_0001);
            let mut rows: Vec<u32> = (0..n as u32).collect();
            for i in 0..count.min(n) {
                let j = i + ((u64::from(rng.next_u32()) * (n - i) as u64) >> 32) as usize;
                rows.swap(i, j);
            }
            rows.truncate(count);
            rows.sort_unstable();
            assert_eq!(sample(n, count, 7), rows, "{count} of {n}");
        }
        assert_eq!(sample(1 << 31, 2, 1).len(), 2);
    }
}

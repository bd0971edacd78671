//! A bound of the k-th distance from a sample of a row.
//!
//! Twin of `cuda/select/sample.cuh`. The minima of groups of sampled distances are looked at, and the bound
//! is the smallest number, but for its last bits, that so many of them do not exceed. It is a guess, which is
//! checked afterwards. Of its own, not of Hanák 2023.

/// Distances of a group.
const GROUPS: [usize; 4] = [8, 16, 32, 64];

/// The most minima of a sample.
pub const MOST_MINIMA: usize = 2048;

/// Bits of a bound that are found; the others are rounded up.
const LEAST_BIT: u32 = 12;

/// What a merge takes, and what it takes for each of its keys, in units of distances that are read; measured
/// on an H200.
const MERGE_COST: f64 = 3000.0;
const KEY_COST: f64 = 20.0;

/// How a row is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Minima that are looked at.
    pub minima: usize,
    /// Distances that each is of.
    pub group: usize,
    /// The rank among them that bounds the k-th distance; 0 where it is not worth it.
    pub rank: usize,
}

impl Sample {
    /// The sample that should take the least time, none included, where each of so many parts of a row has
    /// candidates of its own. No namesake: the host tells the kernels.
    pub fn new(n: usize, k: usize, parts: usize) -> Self {
        let (n_f, k_f, size) = (n as f64, k as f64, super::bits::capacity(k) as f64);
        // A merge takes as long whether its buffer is full or not. Of some rows more are candidates than of
        // most.
        let merging = |candidates: f64| (MERGE_COST + KEY_COST * size) * (1.15 * candidates / size).ceil();
        // Without a sample about as many are candidates as §4.1.6 bounds.
        let without = merging(k_f * (1.0 + (n_f / parts as f64 / k_f).max(1.0).ln())) * parts as f64;
        let with = |(minima, group): (usize, usize)| {
            let sampled = (minima * group) as f64;
            // Neighbours in the sample are about Poisson-distributed. A bound that fewer than k are below
            // costs a second pass.
            let mean = k_f * sampled / n_f;
            let rank = (mean + 4.0 * mean.sqrt() + 4.0).ceil();
            // As many sampled distances as fall, at random, into so many of the groups.
            let below = -(minima as f64) * (-rank / minima as f64).ln_1p();
            (Self { minima, group, rank: rank as usize }, sampled + merging(below * n_f / sampled))
        };
        let shapes =
            [256, 512, 1024, MOST_MINIMA].into_iter().flat_map(|minima| GROUPS.map(|group| (minima, group)));
        let all = shapes.filter(|(minima, group)| 2 * minima * group <= n).map(with);
        let worth = all.filter(|(sample, cost)| 2 * sample.rank < sample.minima && *cost < without);
        worth.min_by(|a, b| a.1.total_cmp(&b.1)).map_or_else(Self::default, |(sample, _)| sample)
    }

    /// Whether there is a sample. No namesake: a comparison there.
    pub fn is_some(self) -> bool {
        self.rank > 0
    }
}

/// Minimum `number` of a row's sample.
fn sampled_minimum(row: &[f32], sample: Sample, number: usize) -> u32 {
    let first = number * (row.len() / sample.group / sample.minima) * sample.group;
    row[first..first + sample.group].iter().copied().fold(f32::INFINITY, f32::min).to_bits()
}

/// What no more than `rank` of the sample's minima are below, or a little more: a distance that is a
/// candidate is less.
pub fn sampled_bound(row: &[f32], sample: Sample) -> f32 {
    let mut minima: Vec<u32> =
        (0..sample.minima).map(|number| sampled_minimum(row, sample, number)).collect();
    let (_, &mut bound, _) = minima.select_nth_unstable(sample.rank - 1);
    f32::from_bits(((bound >> LEAST_BIT << LEAST_BIT) + (1 << LEAST_BIT)).min(f32::INFINITY.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_above_as_many_minima_as_its_rank() {
        let row: Vec<f32> =
            (0..100_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6).collect();
        for (minima, rank) in [(256, 1), (256, 100), (1024, 1024), (2048, 37)] {
            let sample = Sample { minima, group: 8, rank };
            let bound = sampled_bound(&row, sample);
            let below = |bound: f32| {
                (0..minima)
                    .filter(|&number| f32::from_bits(sampled_minimum(&row, sample, number)) < bound)
                    .count()
            };
            assert!(
                below(bound) >= rank && below(bound * (1.0 - 1.0 / 1024.0)) <= rank,
                "{sample:?}: {bound}"
            );
        }
    }

    #[test]
    fn few_points_and_few_neighbours_are_not_sampled() {
        assert!(
            !Sample::new(1000, 10, 1).is_some()
                && !Sample::new(4000, 2048, 1).is_some()
                && !Sample::new(1, 1, 1).is_some()
        );
        let large = Sample::new(1 << 20, 1024, 1);
        assert!(large.is_some() && large.rank < large.minima / 2, "{large:?}");
        let longer = Sample::new(1 << 24, 1024, 1);
        assert!(longer.minima * longer.group > large.minima * large.group, "{longer:?}");
    }
}

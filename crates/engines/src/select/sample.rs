//! An upper bound for the k-th distance from a sample of a row.
//!
//! Twin of `cuda/select/sample.cuh`. The sample is the minima of groups of distances. The bound is the
//! minimum of rank `rank`, with its last bits rounded up. It is a guess, which is checked afterwards. This is
//! not in Hanák 2023.

/// Candidates for the number of distances per group.
const GROUPS: [usize; 4] = [8, 16, 32, 64];

/// The most minima of a sample.
pub const MAX_MINIMA: usize = 2048;

/// Lower bits of a bound that are rounded up instead of determined.
const LEAST_BIT: u32 = 12;

/// Cost of a merge, and of each key in it, in units of reading one distance; measured on an H200.
const MERGE_COST: f64 = 3000.0;
const KEY_COST: f64 = 20.0;

/// How a row is sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SamplePlan {
    /// Number of minima.
    pub minima: usize,
    /// Distances per group.
    pub group: usize,
    /// The rank among the minima that bounds the k-th distance; 0 if sampling is not worthwhile.
    pub rank: usize,
}

impl SamplePlan {
    /// The fastest sample according to the cost model, possibly none, if each of `parts` parts of a row has
    /// its own candidates. No CUDA counterpart: the host passes it to the kernels.
    pub fn new(n: usize, k: usize, parts: usize) -> Self {
        let (n_f, k_f, size) = (n as f64, k as f64, super::bits::capacity(k) as f64);
        // A merge takes the same time whether its buffer is full or not. Some rows have more candidates than
        // average.
        let merging = |candidates: f64| (MERGE_COST + KEY_COST * size) * (1.15 * candidates / size).ceil();
        // Without a sample, the number of candidates is about the bound of §4.1.6.
        let without = merging(k_f * (1.0 + (n_f / parts as f64 / k_f).max(1.0).ln())) * parts as f64;
        let with = |(minima, group): (usize, usize)| {
            let sampled = (minima * group) as f64;
            // The number of neighbours in the sample is about Poisson-distributed. A bound that is too small
            // costs a second pass.
            let mean = k_f * sampled / n_f;
            let rank = (mean + 4.0 * mean.sqrt() + 4.0).ceil();
            // The number of sampled distances that, at random, hit `rank` of the groups.
            let below = -(minima as f64) * (-rank / minima as f64).ln_1p();
            (Self { minima, group, rank: rank as usize }, sampled + merging(below * n_f / sampled))
        };
        let shapes =
            [256, 512, 1024, MAX_MINIMA].into_iter().flat_map(|minima| GROUPS.map(|group| (minima, group)));
        let all = shapes.filter(|(minima, group)| 2 * minima * group <= n).map(with);
        let worth = all.filter(|(sample, cost)| 2 * sample.rank < sample.minima && *cost < without);
        worth.min_by(|a, b| a.1.total_cmp(&b.1)).map_or_else(Self::default, |(sample, _)| sample)
    }

    /// Whether there is a sample. No CUDA counterpart: a comparison.
    pub fn is_some(self) -> bool {
        self.rank > 0
    }
}

fn sampled_minimum(row: &[f32], sample: SamplePlan, number: usize) -> u32 {
    let first = number * (row.len() / sample.group / sample.minima) * sample.group;
    row[first..first + sample.group].iter().copied().fold(f32::INFINITY, f32::min).to_bits()
}

/// The `rank`-th smallest of the sample's minima, rounded up. Candidates are below it.
pub fn sampled_bound(row: &[f32], sample: SamplePlan) -> f32 {
    let mut minima: Vec<u32> =
        (0..sample.minima).map(|number| sampled_minimum(row, sample, number)).collect();
    let (_, &mut bound, _) = minima.select_nth_unstable(sample.rank - 1);
    f32::from_bits(((bound >> LEAST_BIT << LEAST_BIT) + (1 << LEAST_BIT)).min(f32::INFINITY.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampled_bound_has_the_requested_rank() {
        let row: Vec<f32> =
            (0..100_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 8) as f32 / 1e6).collect();
        for (minima, rank) in [(256, 1), (256, 100), (1024, 1024), (2048, 37)] {
            let sample = SamplePlan { minima, group: 8, rank };
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
    fn small_problems_are_not_sampled() {
        assert!(
            !SamplePlan::new(1000, 10, 1).is_some()
                && !SamplePlan::new(4000, 2048, 1).is_some()
                && !SamplePlan::new(1, 1, 1).is_some()
        );
        let large = SamplePlan::new(1 << 20, 1024, 1);
        assert!(large.is_some() && large.rank < large.minima / 2, "{large:?}");
        let longer = SamplePlan::new(1 << 24, 1024, 1);
        assert!(longer.minima * longer.group > large.minima * large.group, "{longer:?}");
    }
}

//! Sample select: a pass divides distances by splitters, which are evenly spaced in a sorted sample (Ribizel
//! and Anzt 2020; Hanák 2023, §3.7.1, §4.3).
//!
//! Twin of `cuda/select/sample_select.cuh`. A distance's bucket is found in an implicit search tree.
//! Distances equal to a splitter have their own bucket. So a range with a single value is recognised, and
//! each pass excludes the values that it has sampled.

use super::Selector;
use super::multi_pass::{self, BitRange, FEW, Partition, distance_bits};
use crate::knn::{AllowedValues, Parameter, Parameters, Shape};
use crate::lockstep::Key;

/// The most buckets that a sample divides into.
pub const MAX_BUCKETS: usize = 256;

const DEFAULT_BUCKETS: u32 = 128;

/// From this pass on, splitters divide the range of bits evenly: data that misled the sample this often might
/// mislead it in every pass.
const SAMPLED_PASSES: usize = 4;

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 5] = multi_pass::parameters(Parameter {
    name: "buckets",
    help: "Buckets per pass, not counting those of distances equal to a splitter.",
    values: AllowedValues::Words(&["128", "256", "64", "32", "16"]),
    default: "128",
});

/// The resolved parameters, and the logarithm of the number of buckets. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters) -> (u32, Parameters) {
    let buckets = parameters.number("buckets").unwrap_or(DEFAULT_BUCKETS);
    (buckets.ilog2(), multi_pass::resolved(parameters, ("buckets", buckets.to_string())))
}

/// The selector. No CUDA counterpart: a template instance.
pub fn sample_select(shape: &Shape, parameters: &Parameters) -> Selector {
    multi_pass::selector::<Splitters>(shape, resolved(parameters))
}

/// The splitters of a pass.
pub struct Splitters {
    /// Node i has the children 2 i + 1 and 2 i + 2.
    tree: Vec<u32>,
    depth: u32,
}

impl Splitters {
    /// Scrambles the bits of a number.
    pub fn scrambled(number: u32) -> u32 {
        let number = number.wrapping_mul(0x9e37_79b1);
        let number = (number ^ number >> 15).wrapping_mul(0x85eb_ca77);
        number ^ number >> 13
    }

    /// Sampled distance `number`: one from each of FEW stretches of the source, at a pseudo-random offset, so
    /// that no regular order of points misleads the sample.
    fn sampled_key(source: &[Key], number: usize) -> Key {
        let stretch = source.len() / FEW;
        source[number * stretch + Self::scrambled(number as u32) as usize % stretch]
    }

    /// Splitter `number`, from 0.
    fn splitter(&self, number: usize) -> u32 {
        let up = (number + 1).trailing_zeros();
        self.tree[(1 << (self.depth - 1 - up)) - 1 + ((number + 1) >> (up + 1))]
    }
}

impl Partition for Splitters {
    const SAMPLED: usize = FEW;

    /// The source must have more than FEW distances.
    fn new(source: &[Key], range: &BitRange, depth: u32, pass: usize) -> Self {
        let sampled = (0..FEW).map(|number| distance_bits(Self::sampled_key(source, number)));
        let mut sample: Vec<u32> = sampled.filter(|&bits| range.holds(bits)).collect();
        sample.sort_unstable();
        let by_sample = !sample.is_empty() && pass < SAMPLED_PASSES;
        let splitter_at = |node: u32| {
            let level = (node + 1).ilog2();
            // From 1, in ascending order.
            let number = (2 * (node + 1 - (1 << level)) + 1) << (depth - 1 - level);
            if by_sample {
                sample[(number as usize * sample.len()) >> depth]
            } else {
                range.low + ((u64::from(range.high - range.low) * u64::from(number)) >> depth) as u32
            }
        };
        Self { tree: (0..(1 << depth) - 1).map(splitter_at).collect(), depth }
    }

    /// One between any two splitters and one for each splitter; the last is always empty.
    fn buckets(&self) -> usize {
        2 << self.depth
    }

    fn bucket_of(&self, bits: u32) -> usize {
        // The last splitter that is not above the distance.
        let (mut node, mut below) = (0, None);
        for _ in 0..self.depth {
            let splitter = self.tree[node];
            let is_above = splitter <= bits;
            below = if is_above { Some(splitter) } else { below };
            node = 2 * node + 1 + usize::from(is_above);
        }
        2 * (node - self.tree.len()) - usize::from(below == Some(bits))
    }

    fn range_of(&self, bucket: usize, range: &BitRange) -> BitRange {
        let leaf = bucket.div_ceil(2);
        if bucket % 2 == 1 {
            let value = self.splitter(leaf - 1);
            return BitRange { low: value, high: value + 1, ..*range };
        }
        let low = if leaf > 0 { self.splitter(leaf - 1) + 1 } else { range.low };
        BitRange {
            low,
            high: if leaf < self.tree.len() { self.splitter(leaf) } else { range.high },
            ..*range
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lockstep::key_of;

    #[test]
    fn buckets_ascend_and_splitters_get_separate_buckets() {
        let source: Vec<Key> = (0..5000).map(|at| key_of((at * 7919 % 5000) as f32, at)).collect();
        let range = BitRange { low: 0, high: 1 << 31, rank: 1, size: source.len() };
        for (depth, pass) in [(4, 0), (7, 0), (8, 3), (7, 4)] {
            let splitters = Splitters::new(&source, &range, depth, pass);
            let in_order: Vec<u32> =
                (0..splitters.tree.len()).map(|number| splitters.splitter(number)).collect();
            assert!(in_order.is_sorted() && in_order.len() == (1 << depth) - 1);
            let buckets: Vec<usize> =
                (0..5000u16).map(|distance| splitters.bucket_of(f32::from(distance).to_bits())).collect();
            assert!(buckets.is_sorted() && buckets.iter().all(|&bucket| bucket < splitters.buckets() - 1));
            for (distance, &bucket) in (0..5000u16).zip(&buckets) {
                let bits = f32::from(distance).to_bits();
                assert!(splitters.range_of(bucket, &range).holds(bits), "{distance} in {bucket}");
                assert_eq!(bucket % 2 == 1, in_order.contains(&bits));
            }
        }
    }
}

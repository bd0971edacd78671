//! Radix select: a pass divides distances by a digit of their bits, the most significant first (Alabi,
//! Blanchard, Gordon and Steinbach 2012; Hanák 2023, §3.7.2).
//!
//! Twin of `cuda/select/radix_select.cuh`.

use super::Selector;
use super::multi_pass::{self, BitRange, Partition};
use crate::knn::{AllowedValues, Parameter, Parameters, Shape};
use crate::lockstep::Key;

const DEFAULT_BITS: u32 = 8;

/// The selector's parameters.
pub static PARAMETERS: [Parameter; 5] = multi_pass::parameters(Parameter {
    name: "bits",
    help: "Bits per digit; a pass divides into 2^bits buckets.",
    values: AllowedValues::Numbers(4..=11),
    default: "8",
});

/// The resolved parameters, and the bits per digit. No CUDA counterpart: host only.
pub fn resolved(parameters: &Parameters) -> (u32, Parameters) {
    let bits = parameters.number("bits").unwrap_or(DEFAULT_BITS);
    (bits, multi_pass::resolved(parameters, ("bits", bits.to_string())))
}

/// The selector. No CUDA counterpart: a template instance.
pub fn radix_select(shape: &Shape, parameters: &Parameters) -> Selector {
    multi_pass::selector::<Digits>(shape, resolved(parameters))
}

/// The digits of a pass. The number of values in a range is a power of two, because it is a bucket of the
/// previous pass.
pub struct Digits {
    low: u32,
    shift: u32,
    count: usize,
}

impl Partition for Digits {
    const SAMPLED: usize = 0;

    fn new(_source: &[Key], range: &BitRange, bits: u32, _pass: usize) -> Self {
        let left = (range.high - range.low).ilog2();
        let shift = left.saturating_sub(bits);
        Self { low: range.low, shift, count: 1 << (left - shift) }
    }

    fn buckets(&self) -> usize {
        self.count
    }

    fn bucket_of(&self, bits: u32) -> usize {
        ((bits - self.low) >> self.shift) as usize
    }

    fn range_of(&self, bucket: usize, range: &BitRange) -> BitRange {
        let first = self.low + ((bucket as u32) << self.shift);
        BitRange { low: first, high: first + (1 << self.shift), ..*range }
    }
}

//! Which kernel answers a problem, and its tuning policy: `Policy` of `cuda/direct/interface.cuh`.
//!
//! The table of policies is part of the device code (`cuda/direct/policy_table.cuh`, written by the tuner) and is not
//! repeated here: a loaded module reports how it was compiled.

use std::fmt;

use super::Policy;
use crate::cuda::device::units::Unit;

/// A template instance of the direct kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The capacity K: 32, 64, … 1,024.
    pub capacity: u32,
    /// 2, 3, or 0 for any other number of dimensions.
    pub dims: u32,
}

impl Variant {
    /// The smallest variant that holds `k` neighbours in `dims` dimensions.
    pub fn new(k: usize, dims: usize) -> Self {
        Self { capacity: k.next_power_of_two().max(32) as u32, dims: if dims == 2 || dims == 3 { dims as u32 } else { 0 } }
    }

    /// Its unit with the table's policy.
    pub fn unit(self) -> Unit {
        Unit::new("direct/warp_knn", self.capacity, self.dims)
    }
}

impl Policy {
    /// The seven numbers, in the order of the struct.
    pub fn numbers(self) -> [u32; 7] {
        [self.warps, self.queries, self.window, self.batch, self.slots, self.tile, self.min_blocks]
    }

    /// The policy with these seven numbers: the inverse of [`Self::numbers`].
    pub fn from_numbers([warps, queries, window, batch, slots, tile, min_blocks]: [u32; 7]) -> Self {
        Self { warps, queries, window, batch, slots, tile, min_blocks }
    }

    /// Rejects numbers that are inconsistent or that the kernel does not support.
    ///
    /// # Errors
    /// A sentence that quotes the numbers.
    pub fn check(self, variant: Variant) -> Result<(), String> {
        let Self { queries, window, batch, .. } = self;
        let points = window * 32;
        if variant.dims == 0 && batch != points {
            return Err(format!("batch = {batch}: it is one window of {points} points in other dimensions than 2 and 3"));
        }
        if batch % points != 0 {
            return Err(format!("batch = {batch}: it must be a multiple of the {points} points of a window"));
        }
        if queries * variant.capacity > 1024 {
            return Err(format!("queries = {queries}: with K = {}, a warp's registers hold {} at most", variant.capacity, 1024 / variant.capacity));
        }
        Ok(())
    }

    pub fn threads(self) -> u32 {
        self.warps * 32
    }

    /// Queries that a block answers.
    pub fn queries_per_block(self) -> u32 {
        self.warps * self.queries
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { warps, queries, window, batch, slots, tile, min_blocks } = self;
        write!(f, "{warps} warps × {queries} queries, window {window}, batch {batch} × {slots}, tile {tile}, at least {min_blocks} blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cut;
    use super::*;

    #[test]
    fn capacity_is_the_next_power_of_two() {
        let capacities = [1, 31, 32, 33, 1000, 1024].map(|k| Variant::new(k, 2).capacity);
        assert_eq!(capacities, [32, 32, 32, 64, 1024, 1024]);
    }

    #[test]
    fn a_cut_reads_as_the_device_wrote_it() {
        let cut: Cut = bytemuck::cast([8, 4, 16, 1024, 2, 12, 3, 41_024]);
        assert_eq!((cut.policy.numbers(), cut.shared_bytes), ([8, 4, 16, 1024, 2, 12, 3], 41_024));
        assert_eq!((cut.policy.threads(), cut.policy.queries_per_block()), (256, 32));
    }
}

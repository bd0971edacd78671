//! How the kernel is cut to size. Mirrors `cuda/policy.cuh`.

/// Which kernel answers a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// K: 32, 64, … 1,024.
    pub capacity: u32,
    /// 2, 3, or 0 for any other number of dimensions.
    pub dims: u32,
}

impl Variant {
    /// The smallest that holds `k` neighbours of `dims` dimensions.
    pub fn new(k: usize, dims: usize) -> Self {
        Self { capacity: k.next_power_of_two().max(32) as u32, dims: if dims == 2 || dims == 3 { dims as u32 } else { 0 } }
    }

    /// Warps, and so queries, in a block.
    pub fn warps(self) -> u32 {
        if self.capacity <= 256 { 8 } else { 4 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_is_the_next_power_of_two() {
        let capacities = [1, 31, 32, 33, 1000, 1024].map(|k| Variant::new(k, 2).capacity);
        assert_eq!(capacities, [32, 32, 32, 64, 1024, 1024]);
    }

    #[test]
    fn warps_agree_with_the_device_code() {
        let policy = include_str!("../../../cuda/policy.cuh");
        assert!(policy.contains("WARPS = R <= 8 ? 8 : 4;"), "cuda/policy.cuh changed: mirror it here");
    }
}

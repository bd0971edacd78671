//! A warp on a CPU: one value per thread becomes an array of 32, and an exchange between threads becomes a
//! permutation.
//!
//! Twin of `cuda/warp/lanes.cuh`. W is 32 in runs; lessons use smaller warps.

/// One value per lane.
pub type Lanes<T, const W: usize> = [T; W];

/// `__shfl_xor_sync`: each lane reads the value of the lane whose number differs in the bits of `MASK`, which
/// are below W. No CUDA counterpart: an instruction.
#[inline(always)]
pub fn shuffle_xor<T: Copy, const W: usize, const MASK: usize>(values: &Lanes<T, W>) -> Lanes<T, W> {
    let mut shuffled = *values;
    for lane in 0..W {
        // A loop, because closures are not inlined into code for newer instruction sets. The `%` changes no
        // value; it removes the bounds check.
        shuffled[lane] = values[(lane ^ MASK) % W];
    }
    shuffled
}

/// `__ballot_sync`: bit L is lane L's vote. No CUDA counterpart: an instruction.
#[inline(always)]
pub fn ballot<const W: usize>(vote: impl Fn(usize) -> bool) -> u32 {
    (0..W).fold(0, |mask, lane| mask | (u32::from(vote(lane)) << lane))
}

/// A mask of the lanes below `lane`.
#[inline(always)]
pub fn lanes_below(lane: u32) -> u32 {
    (1 << lane) - 1
}

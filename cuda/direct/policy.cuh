// How the kernel is cut to size, per architecture, capacity and dimensions.
//
// The host does not repeat any of it: every module carries the policy that it was compiled with (warp_knn_cut, in
// warp_knn.cu), and src/engines/cuda/direct/policy.rs reads it from there. WARPSCOPE_POLICY, a list of the seven numbers below,
// replaces the table: that is how the tuner compiles what it tries. WARPSCOPE_EXACT_D compiles for that d alone.
#pragma once

#include "warp/lanes.cuh"

namespace warpscope::direct {

struct Policy {
    unsigned warps;       // in a block
    unsigned queries;     // a warp: they share the points that it has loaded
    unsigned window;      // groups that are scanned for one vote: most have no candidate, and one vote is cheaper than eight
    unsigned batch;       // points that are staged together; d = 2 and 3
    unsigned slots;       // batches in shared memory: so many a warp may be ahead of the slowest of its block
    unsigned tile;        // other d: dimensions of one window of points, which are a batch there
    unsigned min_blocks;  // that a multiprocessor should hold, which caps the registers; 0 leaves that to the compiler

    __host__ __device__ constexpr unsigned threads() const { return warps * WARP; }
    __host__ __device__ constexpr unsigned queries_per_block() const { return warps * queries; }
};

struct PolicyRow {
    unsigned arch;      // compute capability, times ten; 0 for all that have no row of their own
    unsigned capacity;  // K
    unsigned dims;      // 2, 3, or 0 for any other d
    Policy policy;
};

// The last row that fits counts, and those of 0 come first.
constexpr PolicyRow POLICY_TABLE[] = {
#include "direct/policy_table.cuh"
};

#ifdef WARPSCOPE_EXACT_D
constexpr unsigned EXACT_D = WARPSCOPE_EXACT_D;
#else
constexpr unsigned EXACT_D = 0;
#endif

__host__ __device__ constexpr Policy choose_policy(unsigned arch, unsigned capacity, unsigned dims) {
#ifdef WARPSCOPE_POLICY
    return {WARPSCOPE_POLICY};
#else
    Policy chosen = {};
    for (const PolicyRow& row : POLICY_TABLE) {
        if ((row.arch == arch || row.arch == 0) && row.capacity == capacity && row.dims == dims) {
            chosen = row.policy;
        }
    }
    if (dims == 0 && EXACT_D != 0) {
        // Tiles of one size that waste as few dimensions as can be.
        unsigned tiles = (EXACT_D + chosen.tile - 1) / chosen.tile;
        chosen.tile = (EXACT_D + tiles - 1) / tiles;
    }
    return chosen;
#endif
}

#ifdef __CUDA_ARCH__
constexpr unsigned ARCHITECTURE = __CUDA_ARCH__ / 10;
#else
constexpr unsigned ARCHITECTURE = 0;  // the host's pass, which compiles no kernel
#endif

}  // namespace warpscope::direct

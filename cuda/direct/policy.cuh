// How the kernel is specialised for each architecture, capacity and number of dimensions.
//
// The host does not repeat any of it: every module contains the policy that it was compiled with
// (warp_knn_config, in warp_knn.cu), and crates/engines/src/cuda/direct/mod.rs reads it from there.
// WARPSCOPE_POLICY, a list of the seven numbers below, replaces the table; the tuner compiles its trials that
// way. WARPSCOPE_EXACT_D compiles for that d alone.
#pragma once

#include "direct/interface.cuh"

namespace warpscope::direct {

struct PolicyRow {
    unsigned arch;      // compute capability, times ten; 0: the default for all others
    unsigned capacity;  // K
    unsigned dims;      // 2, 3, or 0 for any other d
    Policy policy;
};

// The last matching row applies; rows of architecture 0 come first.
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
        // Tiles of equal size that waste as few dimensions as possible.
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

// What the host and the direct kernel agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "common_interface.cuh"
#include "warp/lanes.cuh"

// The search: BUILD is timed, counted, profiled or traced.
#define WARPSCOPE_WARP_KNN_ENTRY(K, D, BUILD) warp_knn_k##K##_d##D##_##BUILD
// Brings rows into the order that the search wants; with D = 0.
#define WARPSCOPE_GROUP_ROWS_ENTRY warp_knn_group_rows
// How the module was specialised: a `Cut`.
#define WARPSCOPE_WARP_KNN_CUT warp_knn_cut

namespace warpscope::direct {

// How the kernel is specialised.
struct Policy {
    unsigned warps;       // In a block.
    unsigned queries;     // That a warp owns: they share the points that it has loaded.
    // Groups that are scanned for one vote: most have no candidate, and one vote is cheaper than eight.
    unsigned window;
    unsigned batch;       // Points that are staged together; d = 2 and 3.
    // Batches in shared memory: so many a warp may be ahead of the slowest of its block (from sm_90 on).
    unsigned slots;
    unsigned tile;        // Other d: dimensions of one window of points, which are a batch there.
    // That a multiprocessor should hold, which caps the registers; 0 leaves that to the compiler.
    unsigned min_blocks;

    __host__ __device__ constexpr unsigned threads() const { return warps * WARP; }
    __host__ __device__ constexpr unsigned queries_per_block() const { return warps * queries; }
};

// What the host must know for a launch, as it lies in a module.
struct Cut {
    Policy policy;
    unsigned shared_bytes;  // Dynamic shared memory of a block.
};

// The kernel's parameter.
struct Search {
    // In processing order. d = 2 and 3: n x d, row-major, filled up to a whole batch with infinity; any other
    // d: as group_rows leaves them.
    const float* points;
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;                // at most K
    unsigned first_query;      // this launch answers queries first_query ... last_query - 1
    unsigned last_query;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    TallyOut tally;            // entries are of this launch only: 0 is first_query
};

}  // namespace warpscope::direct

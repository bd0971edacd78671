// Interface between the host and the direct kernel. build/interface.rs generates Rust from this file.
#pragma once

#include "common_interface.cuh"
#include "warp/lanes.cuh"

// The search: BUILD is timed, counted, profiled or traced.
#define WARPSCOPE_WARP_KNN_ENTRY(K, D, BUILD) warp_knn_k##K##_d##D##_##BUILD
// Transposes rows into windows for a search of any d; compiled with D = 0.
#define WARPSCOPE_GROUP_ROWS_ENTRY warp_knn_group_rows
// How a module's kernel was compiled: a `KernelConfig`.
#define WARPSCOPE_WARP_KNN_CONFIG warp_knn_config

namespace warpscope::direct {

// How the kernel is specialised.
struct Policy {
    unsigned warps;       // Per block.
    unsigned queries;     // Per warp; they share the points that it has loaded.
    // Groups scanned per vote. Most have no candidate, and one vote is cheaper than eight.
    unsigned window;
    unsigned batch;       // Points staged together; d = 2 and 3.
    // Batches in shared memory: how far a warp may be ahead of the slowest of its block (from sm_90 on).
    unsigned slots;
    unsigned tile;        // Other d: dimensions of a window that are staged together, as one batch.
    // Blocks per multiprocessor to aim for, which caps the registers; 0 leaves that to the compiler.
    unsigned min_blocks;

    __host__ __device__ constexpr unsigned threads() const { return warps * WARP; }
    __host__ __device__ constexpr unsigned queries_per_block() const { return warps * queries; }
};

// What the host must know for a launch, stored in each module.
struct KernelConfig {
    Policy policy;
    unsigned shared_bytes;  // Dynamic shared memory of a block.
};

// Parameters of the kernel.
struct Search {
    // In processing order. d = 2 and 3: n x d, row-major, padded to a whole batch with infinity. Any other d:
    // as written by group_rows.
    const float* points;
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;                // at most K
    unsigned first_query;      // this launch answers queries first_query ... last_query - 1
    unsigned last_query;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    TallyOut tally;            // entry 0 is first_query
};

}  // namespace warpscope::direct

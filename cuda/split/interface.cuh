// Interface between the host and the kernels of `cuda-split`. build/interface.rs generates Rust from this
// file.
#pragma once

#include "key.cuh"

// STAGE is sample, bound, collect or select; with D = 0 also sample_one and collect_one, for one query.
#define WARPSCOPE_SPLIT_ENTRY(STAGE, D) split_##STAGE##_d##D

namespace warpscope::split {

// Warps per block of sample and collect: d = 2 and 3.
constexpr unsigned SPLIT_WARPS = 8;
// The same for any other d, where rows are staged in shared memory: as many as fit there.
constexpr unsigned SPLIT_ROW_WARPS = 4;
// Points that a warp holds at a time: d = 2 and 3.
constexpr unsigned SPLIT_WINDOW = 256;
// The same for any other d.
constexpr unsigned SPLIT_ROW_WINDOW = 128;
// The most queries per block of sample or collect: d = 2 and 3.
constexpr unsigned SPLIT_QUERIES = 128;
// The same for any other d.
constexpr unsigned SPLIT_ROW_QUERIES = 8;
// Consecutive points that are sampled together: as many as fill a memory sector.
constexpr unsigned CLUSTER = 4;
// Threads per block of bound and select.
constexpr unsigned SPLIT_SELECT_THREADS = 1024;

// Parameters of all stages. crates/engines/src/cuda/split/plan.rs chooses the numbers.
struct Split {
    const float* points;   // n x d, row-major, in processing order
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;              // at most 1,024
    unsigned first_query;    // this launch answers first_query ... first_query + query_count - 1
    unsigned query_count;
    unsigned block_queries;  // queries per block of sample or collect
    unsigned windows;        // of the sample; 0: no sample, every point is collected
    unsigned window_groups;  // groups per window of the sample: a power of two up to 32
    unsigned capacity;       // capacity of a list, in keys
    // distance between sampled clusters, in clusters x 2^32
    unsigned long long spacing;
    unsigned* minima;            // query_count x windows x window_groups: bits of squared distances
    float* bounds;               // query_count
    unsigned* counts;            // query_count: points within the bound, even if the list holds fewer
    Key* lists;                  // query_count x capacity
    unsigned* indices;           // q x k
    float* squared_distances;    // q x k
};

}  // namespace warpscope::split

// Few queries: the points are split over the whole chip, and four kernels, one after the other, answer a chunk of queries.
//
// 1. sample: every group of sampled points tells its smallest distance to each query.
// 2. bound: the k-th smallest of those minima, a little rounded up. k groups have a point within it, so the k nearest have.
// 3. collect: every point is read once; the few within the bound go to the query's list, in any order.
// 4. select: the k smallest keys of the list, sorted. Keys are (distance, index), so the order of the list means nothing.
//
// A list that overflows (many equal distances at the bound, an order of the points that fools the sample) is not used:
// select then reads all points itself.
#pragma once

#include "key.cuh"

namespace warpscope::split {

// src/engines/cuda/split/plan.rs chooses the numbers.
struct Split {
    const float* points;   // n x d, row-major, in processing order
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;             // at most 1,024
    unsigned first_query;   // this launch answers first_query ... first_query + query_count - 1
    unsigned query_count;
    unsigned block_queries;  // queries that a block of sample or collect answers
    unsigned windows;        // of the sample; 0: no sample, every point is collected
    unsigned window_groups;  // groups in a window of the sample: a power of two up to 32
    unsigned capacity;       // keys that a list holds
    unsigned long long spacing;  // from one sampled cluster to the next: clusters, of which the lower half is a fraction
    unsigned* minima;          // query_count x windows x window_groups: bits of squared distances
    float* bounds;             // query_count
    unsigned* counts;          // query_count: points within the bound, also when the list holds fewer
    Key* lists;                // query_count x capacity
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
};

// src/engines/cuda/split/search.rs asserts the same of its own.
static_assert(sizeof(Split) == 112, "the host's struct");

// Warps in a block of sample and collect; where rows pass through shared memory, as many as have room there.
constexpr unsigned SPLIT_WARPS = 8;
constexpr unsigned SPLIT_ROW_WARPS = 4;

// Kernels are launched while the one before them still runs (programmatic dependent launch, where the device has it), to
// be there when it ends: nothing is read or written before this, and what another kernel wrote is not read by __ldg, which
// may see what was there when this one began.
__device__ __forceinline__ void follow() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace warpscope::split

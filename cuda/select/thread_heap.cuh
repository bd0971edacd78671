// Thread heap: one thread per query keeps the k smallest in a heap; lanes that do not insert a distance wait
// for those that do (Hanák 2023, §3.6.1). Twin of crates/engines/src/select/thread_heap.rs.
//
// Scope: a block of one warp, 32 queries. The matrix is row-major, so lanes would read from different rows.
// Instead, a tile of 32 x 32 distances is read row by row and transposed in shared memory, where each lane
// reads its query's distances.
#pragma once

#include "instrumentation.cuh"
#include "kdtree/heap.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// The counters of a query: inserted keys, and the levels that they moved down. The timed build does not write
// them.
struct Sinks {
    unsigned inserts = 0, steps = 0;
};

// Reads the rows of up to 32 queries tile by tile. Each lane inserts distances below its own k-th, in
// lockstep with the others.
__device__ __forceinline__ void stream_tiles(kdtree::Heap& heap, Sinks& sinks, const Selection& selection,
                                             unsigned first, unsigned queries) {
    // One column of padding avoids bank conflicts along a column.
    __shared__ float tile[WARP][WARP + 1];
    unsigned lane = threadIdx.x, n = selection.n;
    const float* rows = selection.distances + first * selection.pitch;
    float next[WARP];
    auto load = [&](unsigned begin) {
#pragma unroll
        for (unsigned query = 0; query < WARP; ++query) {
            unsigned at = begin + lane;
            next[query] =
                query < queries && at < n ? __ldcs(rows + query * selection.pitch + at) : infinite_distance();
        }
    };
    float bound = infinite_distance();
    unsigned tiles = (n - 1) / WARP + 1;
    load(0);
#pragma unroll 1
    for (unsigned number = 0; number < tiles; ++number) {
#pragma unroll
        for (unsigned query = 0; query < WARP; ++query) {
            tile[query][lane] = next[query];
        }
        __syncwarp();
        if (number + 1 < tiles) {
            load((number + 1) * WARP);
        }
#pragma unroll 1
        for (unsigned point = 0; point < WARP; ++point) {
            float distance = tile[lane][point];
            if (distance < bound) {
                sinks.inserts += 1;
                sinks.steps += heap.replace(key_of(distance, number * WARP + point));
                bound = distance_of(heap.root);
            }
            __syncwarp();
        }
    }
}

// Answers 32 queries. IN_SHARED: heaps of k x 32 keys in shared memory; otherwise in device memory.
template <bool IN_SHARED, bool COUNTED>
__device__ __forceinline__ void thread_heap(const Selection& selection) {
    extern __shared__ Key heaps[];
    unsigned lane = threadIdx.x, first = blockIdx.x * WARP, k = selection.k;
    unsigned queries = min(WARP, selection.query_count - first);
    kdtree::Heap heap;
    if constexpr (IN_SHARED) {
        heap.entries = heaps + lane;
        heap.stride = WARP;
    } else {
        heap.entries = row_of(selection.heaps, first, k) + lane;
        heap.stride = queries;
    }
    heap.k = k;
    // A lane without a query has infinite distances and never accesses a heap.
    if (lane < queries) {
        heap.restart();
    }
    Sinks sinks;
    stream_tiles(heap, sinks, selection, first, queries);
    if (lane >= queries) {
        return;
    }
    heap.sort();
    size_t at = static_cast<size_t>(selection.first_query + first + lane) * k;
    for (unsigned i = 0; i < k; ++i) {
        selection.indices[at + i] = index_of(heap.at(i));
        selection.squared_distances[at + i] = distance_of(heap.at(i));
    }
    if constexpr (COUNTED) {
        write_counts(selection.counts + (first + lane) * COUNTS, sinks.inserts, sinks.steps);
    }
}

}  // namespace warpscope::select

// The search: a warp owns a query and scans batches of points that its block stages in shared memory.
// Twin of src/engines/lockstep/warp_knn.rs.
#pragma once

#include "candidate_buffer.cuh"
#include "distance.cuh"
#include "policy.cuh"

struct Search {
    const float* points;   // n x d, row-major, in processing order
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;  // at most 32 R
    unsigned first_query;  // this launch answers queries first_query ... last_query - 1
    unsigned last_query;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    TallyOut tally;            // entries are of this launch only: 0 is first_query
};

// src/engines/cuda/search.rs asserts the same of its own.
static_assert(sizeof(Search) == 88 && __builtin_offsetof(Search, indices) == 40 && __builtin_offsetof(Search, tally) == 56, "the host's struct");
static_assert(sizeof(Counters) == 12 && sizeof(ConvergenceEntry) == 8 && sizeof(WarpSpan) == 24, "the host's structs");

// Filters the groups of a window whose distances are in registers: group g of lane L is point base + 32 g + L.
template <int WINDOW, class W>
__device__ __forceinline__ void filter_window(W& warp, const float (&distances)[WINDOW], unsigned base) {
    bool any = false;
#pragma unroll
    for (int g = 0; g < WINDOW; ++g) {
        any |= distances[g] < warp.max_distance;
    }
    if (!__any_sync(ALL_LANES, any)) {
        return;
    }
    // Rolled, so that the merge is there once; the register is chosen by comparing, because an index that is not a
    // constant would move the distances to local memory.
#pragma unroll 1
    for (int group = 0; group < WINDOW; ++group) {
        float distance = distances[0];
#pragma unroll
        for (int g = 1; g < WINDOW; ++g) {
            distance = g == group ? distances[g] : distance;
        }
        warp.filter(distance, base + group * WARP);
    }
}

// d = 2 or 3: whole rows in shared memory, the query in registers.
template <int D, class P, class W>
__device__ __forceinline__ void scan_rows(W& warp, const Search& search, const float* query_row, float* batch) {
    float query[D];
#pragma unroll
    for (int j = 0; j < D; ++j) {
        query[j] = query_row[j];
    }
    for (unsigned first = 0; first < search.n; first += P::BATCH) {
        // The last batch is staged only up to the end of its last window.
        unsigned windows = (min(search.n - first, P::BATCH) + P::WINDOW * WARP - 1) / (P::WINDOW * WARP);
        warp.tally.enter(LOAD_BATCH);
        __syncthreads();  // everyone is through with the batch before
        stage_rows<D>(batch, search.points, search.n, first, windows * P::WINDOW * WARP);
        __syncthreads();
        warp.tally.enter(FILTER);
        for (unsigned window = 0; window < windows; ++window) {
            unsigned offset = window * P::WINDOW * WARP;
            float distances[P::WINDOW];
#pragma unroll
            for (int g = 0; g < P::WINDOW; ++g) {
                distances[g] = squared_distance<D>(batch + (offset + g * WARP + warp.lane) * D, query);
            }
            filter_window(warp, distances, first + offset);
        }
    }
}

// Any d: a batch is one window, whose distances grow in registers while its dimensions pass through shared memory.
template <class P, class W>
__device__ __forceinline__ void scan_tiles(W& warp, const Search& search, const float* query_row, float* batch) {
    float* tile = batch;
    float* query_tile = batch + P::TILE * (P::BATCH + 1) + threadIdx.x / WARP * P::TILE;
    for (unsigned first = 0; first < search.n; first += P::BATCH) {
        float distances[P::WINDOW] = {};
        for (unsigned j0 = 0; j0 < search.d; j0 += P::TILE) {
            warp.tally.enter(LOAD_BATCH);
            __syncthreads();  // everyone is through with the tile before
            stage_tile<P::BATCH, P::TILE>(tile, search.points, search.n, search.d, first, j0);
            if (warp.lane < P::TILE) {
                query_tile[warp.lane] = j0 + warp.lane < search.d ? query_row[j0 + warp.lane] : 0.0f;
            }
            __syncthreads();
            warp.tally.enter(FILTER);
#pragma unroll
            for (int j = 0; j < P::TILE; ++j) {
                float q = query_tile[j];
#pragma unroll
                for (int g = 0; g < P::WINDOW; ++g) {
                    distances[g] = add_squared_difference(tile[j * (P::BATCH + 1) + g * WARP + warp.lane], q, distances[g]);
                }
            }
        }
        filter_window(warp, distances, first);
    }
}

template <int R, int D, class Tally>
__device__ __forceinline__ void warp_knn(const Search& search) {
    using P = Policy<R, D>;
    __shared__ Key buffers[P::WARPS][WARP * R];
    __shared__ __align__(16) float batch[P::BATCH_FLOATS];

    unsigned slot = threadIdx.x / WARP;
    unsigned query = search.first_query + blockIdx.x * P::WARPS + slot;
    // A warp past the last query stages and waits with the others, as the barriers need it to, but takes no candidate.
    bool active = query < search.last_query;
    query = active ? query : search.last_query - 1;

    Warp<R, Tally> warp(buffers[slot], search.k, Tally(search.tally, query - search.first_query));
    if (!active) {
        warp.max_distance = -infinite_distance();
    }
    const float* query_row = search.queries + static_cast<size_t>(query) * search.d;
    if constexpr (D == 0) {
        scan_tiles<P>(warp, search, query_row, batch);
    } else {
        scan_rows<D, P>(warp, search, query_row, batch);
    }
    if (active) {
        warp.finish(search.n);
        warp.tally.enter(WRITE_OUT);
        size_t row = static_cast<size_t>(query) * search.k;
        warp.write(search.indices + row, search.squared_distances + row);
        warp.tally.write();
    }
}

// The search: a warp owns a few queries and scans batches of points that its block stages in shared memory.
// Twin of src/engines/lockstep/warp_knn.rs.
#pragma once

#include "batches.cuh"
#include "candidate_buffer.cuh"
#include "distance.cuh"
#include "policy.cuh"

struct Search {
    const float* points;   // n x d, row-major, in processing order; d = 2 and 3: filled up to a whole batch with infinity
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
static_assert(sizeof(Search) == 88, "the host's struct");
#ifndef __CUDACC_RTC__  // NVRTC has no offsetof
static_assert(__builtin_offsetof(Search, indices) == 40 && __builtin_offsetof(Search, tally) == 56, "the host's struct");
#endif
static_assert(sizeof(Counters) == 12 && sizeof(ConvergenceEntry) == 8 && sizeof(WarpSpan) == 24, "the host's structs");

// What a block keeps in shared memory, in this order.
template <int R, int D, const Policy& P>
struct SharedMemory {
    static constexpr unsigned WINDOW_POINTS = P.window * WARP;
    static constexpr unsigned TILE_FLOATS = P.tile * (WINDOW_POINTS + 1) + P.queries_per_block() * P.tile;
    static constexpr unsigned BATCH_FLOATS = D == 0 ? TILE_FLOATS : P.batch * D * (WARPSCOPE_BULK_COPIES ? P.slots : 1);
    static constexpr unsigned BUFFERS = P.queries_per_block() * R * WARP * 8;
    static constexpr unsigned BATCHES = (BATCH_FLOATS * 4 + 15) / 16 * 16;
    static constexpr unsigned BYTES = BATCHES + BUFFERS + P.slots * sizeof(Slot);
};

// Copies the state of query `i` out of the registers, which only constants can index, or back.
template <int QUERIES, class W>
__device__ __forceinline__ void take(W& one, const W (&all)[QUERIES], int i) {
#pragma unroll
    for (int j = 0; j < QUERIES; ++j) {
        if (j == i) {
            one = all[j];
        }
    }
}

template <int QUERIES, class W>
__device__ __forceinline__ void put(W (&all)[QUERIES], const W& one, int i) {
#pragma unroll
    for (int j = 0; j < QUERIES; ++j) {
        if (j == i) {
            all[j] = one;
        }
    }
}

// Filters a window of one query, whose distances are in registers: group g of lane L is point base + 32 g + L. False, with
// nothing done, where the candidates would fill the buffer. again(g) is distances[g] once more: computing it costs less
// than choosing a register by number.
template <int WINDOW, class W, class Again>
__device__ __forceinline__ bool filter_window(W& warp, const float (&distances)[WINDOW], unsigned base, Again again) {
    // Distances are not negative, so their bits order as they do; and integers have a minimum of three.
    int nearest = __float_as_int(distances[0]);
#pragma unroll
    for (int g = 1; g < WINDOW; ++g) {
        nearest = min(nearest, __float_as_int(distances[g]));
    }
    if (!__any_sync(ALL_LANES, __int_as_float(nearest) < warp.max_distance)) {
        return true;
    }
    warp.tally.enter(INSERT);
    unsigned candidates = 0;
#pragma unroll
    for (int g = 0; g < WINDOW; ++g) {
        candidates |= distances[g] < warp.max_distance ? 1u << g : 0;
    }
    bool appended = warp.append_window(candidates, base, again);
    warp.tally.enter(FILTER);
    return appended;
}

// Filters the groups of a window one by one, for the queries whose bit is set in `late`: the way on which a buffer is
// merged. Rolled over queries and groups, so that the merge is there once. again(i, g): the distance to query i.
template <int QUERIES, int WINDOW, class W, class Again>
__device__ __forceinline__ void filter_groups(W (&warps)[QUERIES], unsigned late, unsigned base, Again again) {
    if (late == 0) {
        return;
    }
#pragma unroll 1
    for (int i = 0; i < QUERIES; ++i) {
        if (late >> i & 1) {
            W warp;
            take(warp, warps, i);
#pragma unroll 1
            for (int group = 0; group < WINDOW; ++group) {
                warp.filter(again(i, group), base + group * WARP);
            }
            put(warps, warp, i);
        }
    }
}

// d = 2 or 3: whole rows in shared memory, the queries in registers.
template <int D, int QUERIES, int WINDOW, unsigned BATCH, unsigned SLOTS, unsigned WARPS, class W>
__device__ __forceinline__ void scan_rows(W (&warps)[QUERIES], const Search& search, const unsigned (&numbers)[QUERIES], float* ring, Slot* slots) {
    float queries[QUERIES][D];
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) {
#pragma unroll
        for (int j = 0; j < D; ++j) {
            queries[i][j] = search.queries[static_cast<size_t>(numbers[i]) * D + j];
        }
    }
    unsigned lane = lane_id();
    unsigned count = (search.n + BATCH - 1) / BATCH;
    Batches<D, BATCH, SLOTS, WARPS> batches(search.points, count, ring, slots);
    for (unsigned batch = 0; batch < count; ++batch) {
        unsigned first = batch * BATCH;
        warps[0].tally.enter(LOAD_BATCH);
        const float* rows = batches.enter(batch) + lane * D;
        warps[0].tally.enter(FILTER);
        unsigned end = min(search.n - first, BATCH);
#pragma unroll 1
        for (unsigned offset = 0; offset < end; offset += WINDOW * WARP) {
            float points[WINDOW][D];
#pragma unroll
            for (int g = 0; g < WINDOW; ++g) {
                load_row<D>(points[g], rows + (offset + g * WARP) * D);
            }
            unsigned late = 0;
#pragma unroll
            for (int i = 0; i < QUERIES; ++i) {
                float distances[WINDOW];
#pragma unroll
                for (int g = 0; g < WINDOW; ++g) {
                    distances[g] = squared_distance<D>(points[g], queries[i]);
                }
                auto again = [&](unsigned g) {
                    float point[D];
                    load_row<D>(point, rows + (offset + g * WARP) * D);
                    return squared_distance<D>(point, queries[i]);
                };
                late |= filter_window(warps[i], distances, first + offset, again) ? 0 : 1u << i;
            }
            filter_groups<QUERIES, WINDOW>(warps, late, first + offset, [&](int i, unsigned g) {
                float point[D], query[D];
                load_row<D>(point, rows + (offset + g * WARP) * D);
#pragma unroll
                for (int k = 0; k < QUERIES; ++k) {
#pragma unroll
                    for (int j = 0; j < D; ++j) {
                        query[j] = k == 0 || k == i ? queries[k][j] : query[j];
                    }
                }
                return squared_distance<D>(point, query);
            });
        }
        batches.leave(batch);
    }
}

// Any d: a batch is one window, whose distances grow in registers while its dimensions pass through shared memory.
template <int QUERIES, int WINDOW, int TILE, class W>
__device__ __forceinline__ void scan_tiles(W (&warps)[QUERIES], const Search& search, const unsigned (&numbers)[QUERIES], float* tile) {
    constexpr unsigned POINTS = WINDOW * WARP;
    const unsigned d = EXACT_D != 0 ? EXACT_D : search.d;
    unsigned lane = lane_id();
    float* query_tile = tile + TILE * (POINTS + 1) + threadIdx.x / WARP * QUERIES * TILE;
    // Again from global memory: it happens to few points, and rarely to a whole window.
    auto again = [&](unsigned query, unsigned point) {
        if (point >= search.n) {
            return infinite_distance();
        }
        return squared_distance_of_rows(search.points + static_cast<size_t>(point) * d, search.queries + static_cast<size_t>(query) * d, d);
    };
    for (unsigned first = 0; first < search.n; first += POINTS) {
        float distances[QUERIES][WINDOW] = {};
        for (unsigned j0 = 0; j0 < d; j0 += TILE) {
            warps[0].tally.enter(LOAD_BATCH);
            __syncthreads();  // everyone is through with the tile before
            stage_tile<POINTS, TILE>(tile, search.points, search.n, d, first, j0);
#pragma unroll
            for (int i = 0; i < QUERIES; ++i) {
                if (lane < TILE) {
                    query_tile[i * TILE + lane] = j0 + lane < d ? search.queries[static_cast<size_t>(numbers[i]) * d + j0 + lane] : 0.0f;
                }
            }
            __syncthreads();
            warps[0].tally.enter(FILTER);
#pragma unroll
            for (int j = 0; j < TILE; ++j) {
                float points[WINDOW];
#pragma unroll
                for (int g = 0; g < WINDOW; ++g) {
                    points[g] = tile[j * (POINTS + 1) + g * WARP + lane];
                }
#pragma unroll
                for (int i = 0; i < QUERIES; ++i) {
                    float q = query_tile[i * TILE + j];
#pragma unroll
                    for (int g = 0; g < WINDOW; ++g) {
                        distances[i][g] = add_squared_difference(points[g], q, distances[i][g]);
                    }
                }
            }
        }
        unsigned late = 0;
#pragma unroll
        for (int i = 0; i < QUERIES; ++i) {
            auto again_of_query = [&](unsigned g) { return again(numbers[i], first + g * WARP + lane); };
            late |= filter_window(warps[i], distances[i], first, again_of_query) ? 0 : 1u << i;
        }
        filter_groups<QUERIES, WINDOW>(warps, late, first, [&](int i, unsigned g) {
            unsigned number = numbers[0];
#pragma unroll
            for (int j = 1; j < QUERIES; ++j) {
                number = j == i ? numbers[j] : number;
            }
            return again(number, first + g * WARP + lane);
        });
    }
}

template <int R, int D, const Policy& P, class Tally>
__device__ __forceinline__ void warp_knn(const Search& search) {
    using Memory = SharedMemory<R, D, P>;
    constexpr int QUERIES = P.queries;
    extern __shared__ __align__(128) unsigned char shared[];
    float* batches = reinterpret_cast<float*>(shared);
    Key* buffers = reinterpret_cast<Key*>(shared + Memory::BATCHES);
    Slot* slots = reinterpret_cast<Slot*>(shared + Memory::BATCHES + Memory::BUFFERS);
    __shared__ TallyNotes notes[Tally::COUNTED ? P.warps * QUERIES : 1];
    __shared__ WarpClock clocks[Tally::PROFILED ? P.warps : 1];

    unsigned warp_of_block = threadIdx.x / WARP;
    unsigned first = search.first_query + (blockIdx.x * P.warps + warp_of_block) * QUERIES;
    Warp<R, Tally> warps[QUERIES];
    unsigned numbers[QUERIES];
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) {
        unsigned slot = warp_of_block * QUERIES + i;
        warps[i].start(buffers + slot * R * WARP, search.k);
        numbers[i] = min(first + i, search.last_query - 1);
        warps[i].tally.start(&notes[Tally::COUNTED ? slot : 0], &search.tally, numbers[i] - search.first_query, &clocks[Tally::PROFILED ? warp_of_block : 0]);
        // A query past the last is scanned with the others, as the barriers need its warp, but takes no candidate.
        if (first + i >= search.last_query) {
            warps[i].max_distance = -infinite_distance();
        }
    }
    if constexpr (D == 0) {
        scan_tiles<QUERIES, P.window, P.tile>(warps, search, numbers, batches);
    } else {
        scan_rows<D, QUERIES, P.window, P.batch, P.slots, P.warps>(warps, search, numbers, batches, slots);
    }
#pragma unroll 1
    for (int i = 0; i < QUERIES && first + i < search.last_query; ++i) {
        Warp<R, Tally> warp;
        take(warp, warps, i);
        warp.finish(search.n);
        warp.tally.enter(WRITE_OUT);
        size_t row = static_cast<size_t>(first + i) * search.k;
        warp.write(search.indices + row, search.squared_distances + row);
        warp.tally.write(QUERIES);
    }
}

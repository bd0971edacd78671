// The direct kernel: exact neighbours of a range of queries, by computing every distance. Twin of
// crates/engines/src/lockstep/warp_knn.rs.
//
// Scope: a grid of one-dimensional blocks; block b answers the queries from first_query + b *
// P.queries_per_block() on.
//
//   warp_knn<R, D, P, Tally, Observer>(search, observer)
//     R         registers of keys per lane: the kernel holds K = 32 R neighbours, R = 1, 2, 4, ... 32
//     D         dimensions: 2, 3, or 0 for any other number, given by `search.d`
//     P         the policy (direct/interface.cuh); choose_policy() reads it from the table
//     Tally     NoCounters, Counted or Profiled (counters.cuh): the counters besides the answer
//     Observer  NoTrace, or a Recorder (observer.cuh), which needs P.warps == P.queries == 1
//
// Shared memory: SharedMemory<R, D, P>::BYTES, dynamic; counted and profiled builds also have static tallies.
//
// The caller
// - launches blocks of exactly P.threads() threads, all of which call, and enough of them for all queries of
//   the range;
// - has `search.k` <= 32 R, and at least one point;
// - stores the points as Search::points says: for D = 2 or 3 as rows, padded with infinity to a whole batch
//   of P.batch; for D = 0 as windows made by group_rows<P.window * 32>, with `padded` a multiple of P.tile;
// - gets index 0xffffffff and an infinite distance in the remaining entries if there are fewer points than k.
//
//   constexpr Policy POLICY = choose_policy(ARCHITECTURE, 64, 2);
//   extern "C" __global__ void __launch_bounds__(POLICY.threads(), POLICY.min_blocks)
//   kernel(const __grid_constant__ Search search) {
//       warp_knn<64 / 32, 2, POLICY, NoCounters>(search);
//   }
//
// Design: a warp owns a few queries and scans batches of points that its block stages in shared memory, so
// each loaded point is compared with all of them. docs/kernel.md gives the reason and the effect of each
// choice.
#pragma once

#include "block/batches.cuh"
#include "counters.cuh"
#include "direct/interface.cuh"
#include "direct/policy.cuh"
#include "distance.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "observer.cuh"
#include "warp/candidate_buffer.cuh"
#include "warp/lanes.cuh"

namespace warpscope::direct {

// A block's shared memory, in this order.
template <int R, int D, const Policy& P>
struct SharedMemory {
    static constexpr unsigned RING = WARPSCOPE_BULK_COPIES ? P.slots : 1;
    static constexpr unsigned QUERY_TILES = D == 0 ? P.warps * P.queries * P.tile : 0;
    static constexpr unsigned FLOATS = RING * (D == 0 ? P.window * WARP * P.tile : P.batch * D) + QUERY_TILES;
    static constexpr unsigned BUFFERS = P.warps * P.queries * R * WARP * 8;
    static constexpr unsigned BATCHES = (FLOATS * 4 + 15) / 16 * 16;
    static constexpr unsigned BYTES = BATCHES + BUFFERS + P.slots * sizeof(block::Slot);
    static_assert(D == 0 || P.batch % (P.window * WARP) == 0, "a batch is whole windows");
    static_assert(P.window <= 32, "a window's candidates are bits of a word");
};

// The queries of a warp. Indices past the end of the launch repeat the last query.
struct QueryIndex {
    unsigned first;
    unsigned end;

    __device__ __forceinline__ unsigned operator()(unsigned i) const { return min(first + i, end - 1); }
};

// Copies the state of query `i` out of the registers, which only constants can index, or back.
template <int QUERIES, class W>
__device__ __forceinline__ void load_state(W& one, const W (&all)[QUERIES], int i) {
#pragma unroll
    for (int j = 0; j < QUERIES; ++j) {
        if (j == i) {
            one = all[j];
        }
    }
}

template <int QUERIES, class W>
__device__ __forceinline__ void store_state(W (&all)[QUERIES], const W& one, int i) {
#pragma unroll
    for (int j = 0; j < QUERIES; ++j) {
        if (j == i) {
            all[j] = one;
        }
    }
}

// A warp filters the groups of a window, whose distances are in registers: group g of lane L is point base +
// 32 g + L. Returns false and does nothing if the candidates would fill the buffer. recompute(g) computes
// distances[g] again, which is cheaper than indexing registers by a variable.
template <int WINDOW, class W, class Recompute>
__device__ __forceinline__ bool filter_window(W& warp, const float (&distances)[WINDOW], unsigned base,
                                              Recompute recompute) {
    // The tracing build reports group by group; its dynamic indexing is paid only there.
    if constexpr (W::TRACED) {
#pragma unroll 1
        for (int group = 0; group < WINDOW; ++group) {
            warp.filter(register_at(distances, group), base + group * WARP);
        }
        return true;
    }
    // Distances are not negative, so their bits sort like the floats, and integers have a three-way minimum.
    int nearest = __float_as_int(distances[0]);
#pragma unroll
    for (int g = 1; g < WINDOW; ++g) {
        nearest = min(nearest, __float_as_int(distances[g]));
    }
    if (!__any_sync(ALL_LANES, __int_as_float(nearest) < warp.max_distance)) {
        return true;
    }
    warp.enter(INSERT);
    unsigned candidates = 0;
#pragma unroll
    for (int g = 0; g < WINDOW; ++g) {
        candidates |= distances[g] < warp.max_distance ? 1u << g : 0;
    }
    bool appended = warp.append_window(candidates, base, recompute);
    warp.enter(FILTER);
    return appended;
}

// Filters the groups of a window one by one, for the queries whose bit is set in `overflowed`. This path
// merges buffers; it is a loop over queries and groups, so that the merge code exists once. recompute(i, g)
// is the distance to query i.
template <int QUERIES, int WINDOW, class W, class Recompute>
__device__ __forceinline__ void filter_groups(W (&warps)[QUERIES], unsigned overflowed, unsigned base,
                                              Recompute recompute) {
    if (overflowed == 0) {
        return;
    }
    if constexpr (QUERIES == 1) {
#pragma unroll 1
        for (int group = 0; group < WINDOW; ++group) {
            warps[0].filter(recompute(0, group), base + group * WARP);
        }
    } else {
#pragma unroll 1
        for (int i = 0; i < QUERIES; ++i) {
            if (overflowed >> i & 1) {
                W warp;
                load_state(warp, warps, i);
#pragma unroll 1
                for (int group = 0; group < WINDOW; ++group) {
                    warp.filter(recompute(i, group), base + group * WARP);
                }
                store_state(warps, warp, i);
            }
        }
    }
}

// d = 2 or 3: whole rows in shared memory, the queries in registers.
template <int D, int QUERIES, int WINDOW, unsigned BATCH, unsigned SLOTS, unsigned WARPS, class W>
__device__ __forceinline__ void scan_rows(W (&warps)[QUERIES], const Search& search, QueryIndex query_index,
                                          float* ring, block::Slot* slots) {
    float queries[QUERIES][D];
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) {
#pragma unroll
        for (int j = 0; j < D; ++j) {
            queries[i][j] = search.queries[static_cast<size_t>(query_index(i)) * D + j];
        }
    }
    unsigned lane = warp::lane_id();
    unsigned count = (search.n + BATCH - 1) / BATCH;
    block::Batches<BATCH * D, SLOTS, WARPS> batches(search.points, count, ring, slots);
    for (unsigned batch = 0; batch < count; ++batch) {
        unsigned first = batch * BATCH;
        warps[0].enter(LOAD_BATCH);
        const float* rows = batches.enter(batch) + lane * D;
        warps[0].enter(FILTER);
        unsigned end = min(search.n - first, BATCH);
        if constexpr (W::TRACED) {
            warps[0].observer().batch(first, first + end);
        }
#pragma unroll 1
        for (unsigned offset = 0; offset < end; offset += WINDOW * WARP) {
            float points[WINDOW][D];
#pragma unroll
            for (int g = 0; g < WINDOW; ++g) {
                load_row<D>(points[g], rows + (offset + g * WARP) * D);
            }
            unsigned overflowed = 0;
#pragma unroll
            for (int i = 0; i < QUERIES; ++i) {
                float distances[WINDOW];
#pragma unroll
                for (int g = 0; g < WINDOW; ++g) {
                    distances[g] = squared_distance<D>(points[g], queries[i]);
                }
                auto recompute = [&](unsigned g) {
                    float point[D];
                    load_row<D>(point, rows + (offset + g * WARP) * D);
                    return squared_distance<D>(point, queries[i]);
                };
                overflowed |= filter_window(warps[i], distances, first + offset, recompute) ? 0 : 1u << i;
            }
            filter_groups<QUERIES, WINDOW>(warps, overflowed, first + offset, [&](int i, unsigned g) {
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

// Any other d: a batch is a tile of one window, whose distances are accumulated in registers tile by tile.
template <int QUERIES, int WINDOW, int TILE, unsigned SLOTS, unsigned WARPS, class W>
__device__ __forceinline__ void scan_tiles(W (&warps)[QUERIES], const Search& search, QueryIndex query_index,
                                           float* ring, block::Slot* slots) {
    constexpr unsigned POINTS = WINDOW * WARP;
    constexpr unsigned RING = WARPSCOPE_BULK_COPIES ? SLOTS : 1;
    const unsigned d = EXACT_D != 0 ? EXACT_D : search.d;
    const unsigned tiles = (d + TILE - 1) / TILE;
    const unsigned lane = warp::lane_id();
    // The tile's dimensions of the warp's queries.
    float* query_tile = ring + RING * TILE * POINTS + threadIdx.x / WARP * QUERIES * TILE;
    unsigned windows = (search.n + POINTS - 1) / POINTS;
    block::Batches<TILE * POINTS, SLOTS, WARPS> batches(search.points, windows * tiles, ring, slots);
    for (unsigned window = 0; window < windows; ++window) {
        float distances[QUERIES][WINDOW] = {};
        for (unsigned t = 0; t < tiles; ++t) {
            warps[0].enter(LOAD_BATCH);
            // A lane reads what others wrote: barriers before the first read and after the last.
            __syncwarp();
#pragma unroll
            for (unsigned first = 0; first < QUERIES * TILE; first += WARP) {
                unsigned slot = first + lane, j = t * TILE + slot % TILE;
                if (slot < QUERIES * TILE) {
                    query_tile[slot] =
                        j < d ? search.queries[static_cast<size_t>(query_index(slot / TILE)) * d + j] : 0.0f;
                }
            }
            __syncwarp();
            const float* tile = batches.enter(window * tiles + t) + lane;
            warps[0].enter(FILTER);
#pragma unroll
            for (int j = 0; j < TILE; ++j) {
                float points[WINDOW];
#pragma unroll
                for (int g = 0; g < WINDOW; ++g) {
                    points[g] = tile[j * POINTS + g * WARP];
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
            batches.leave(window * tiles + t);
        }
        unsigned base = window * POINTS;
        if constexpr (W::TRACED) {
            warps[0].observer().batch(base, min(search.n, base + POINTS));
        }
        // Recompute from global memory: this happens for few points, and rarely for a whole window.
        const float* columns = search.points + static_cast<size_t>(window) * tiles * TILE * POINTS + lane;
        auto recompute = [&](unsigned number, unsigned g) {
            return squared_distance_of_column(columns + g * WARP, POINTS, row_of(search.queries, number, d),
                                              d);
        };
        unsigned overflowed = 0;
#pragma unroll
        for (int i = 0; i < QUERIES; ++i) {
            auto recompute_i = [&](unsigned g) { return recompute(query_index(i), g); };
            overflowed |= filter_window(warps[i], distances[i], base, recompute_i) ? 0 : 1u << i;
        }
        filter_groups<QUERIES, WINDOW>(warps, overflowed, base,
                                       [&](int i, unsigned g) { return recompute(query_index(i), g); });
    }
}

// `observer` records the warps' steps if it writes a trace, which is of a single query.
template <int R, int D, const Policy& P, class Tally, class Observer = NoTrace>
__device__ __forceinline__ void warp_knn(const Search& search, const Observer& observer = {}) {
    using Memory = SharedMemory<R, D, P>;
    constexpr int QUERIES = P.queries;
    static_assert(!Observer::TRACED || P.queries_per_block() == 1,
                  "a trace is of one query, of one block of one warp");
    extern __shared__ __align__(128) unsigned char shared[];
    float* batches = reinterpret_cast<float*>(shared);
    Key* buffers = reinterpret_cast<Key*>(shared + Memory::BATCHES);
    block::Slot* slots = reinterpret_cast<block::Slot*>(shared + Memory::BATCHES + Memory::BUFFERS);
    __shared__ TallyNotes notes[Tally::COUNTED ? P.warps * QUERIES : 1];
    __shared__ WarpClock clocks[Tally::PROFILED ? P.warps : 1];

    unsigned warp_of_block = threadIdx.x / WARP;
    unsigned first = search.first_query + (blockIdx.x * P.warps + warp_of_block) * QUERIES;
    QueryIndex query_index = {first, search.last_query};
    warp::Warp<R, Tally, Observer> warps[QUERIES];
#pragma unroll
    for (int i = 0; i < QUERIES; ++i) {
        unsigned slot = warp_of_block * QUERIES + i;
        warps[i].start(buffers + slot * R * WARP, search.k, observer);
        if constexpr (Tally::COUNTED) {
            WarpClock* clock = &clocks[Tally::PROFILED ? warp_of_block : 0];
            warps[i].tally.start(&notes[slot], &search.tally, query_index(i) - search.first_query, clock);
        }
        // A query past the last is scanned with the others, because the barriers need its warp, but gets no
        // candidates.
        if (first + i >= search.last_query) {
            warps[i].max_distance = -infinite_distance();
        }
    }
    if constexpr (D == 0) {
        scan_tiles<QUERIES, P.window, P.tile, P.slots, P.warps>(warps, search, query_index, batches, slots);
    } else {
        scan_rows<D, QUERIES, P.window, P.batch, P.slots, P.warps>(warps, search, query_index, batches,
                                                                   slots);
    }
#pragma unroll 1
    for (int i = 0; i < QUERIES && first + i < search.last_query; ++i) {
        warp::Warp<R, Tally, Observer> warp;
        load_state(warp, warps, i);
        warp.finish(search.n);
        warp.enter(WRITE_OUT);
        warp.write(AnswerRow(search, first + i));
    }
    // Last, so that every query's share of the warp's clock includes all of the work.
    if constexpr (Tally::COUNTED) {
        unsigned owned =
            first < search.last_query ? min(search.last_query - first, static_cast<unsigned>(QUERIES)) : 0;
#pragma unroll
        for (int i = 0; i < QUERIES; ++i) {
            if (i < owned) {
                warps[i].tally.write(owned);
            }
        }
    }
}

}  // namespace warpscope::direct

// Fused bitonic select: distances and selection in one kernel, without a matrix (Hanák 2023, §4.2). Twin of
// crates/engines/src/select/bits_fused.rs.
//
// Scope: a warp answers FUSED_QUERIES queries. The warps of a block share the points, which are staged in
// shared memory, fused_tile(K) dimensions of a window of 256 points at a time. A lane has the distances of 8
// points to its warp's 8 queries in registers. Each query has a sorted list of the K nearest and a buffer of
// K candidates, both in shared memory. If one buffer of a warp is full, all of them are merged: sorted in
// registers side by side, with eight lanes per list, so that the network stays within a warp for any K.
//
// In the thesis, all threads of a block share its queries and merge its lists. Here a query belongs to one
// warp: slots are taken in a fixed order without atomics, warps do not wait for each other's merges, and
// every build has the same counts.
//
// The caller
// - launches blocks of fused_warps(K) warps, all of which call, for queries from first_query rounded down to
//   a multiple of FUSED_QUERIES on;
// - has `selection.k` <= K, K a power of two, at least 8, and at least one point;
// - stores the points in windows made by group_rows<256>, with `padded` a multiple of fused_tile(K).
#pragma once

#include "block/batches.cuh"
#include "block/bitonic.cuh"
#include "distance.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "ptx.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

constexpr unsigned FUSED_POINTS = FUSED_GROUPS * WARP;  // per window
constexpr unsigned FUSED_LANES = 8;                     // per list

__host__ __device__ constexpr unsigned fused_tile(unsigned capacity) {
    return capacity <= FUSED_NARROW ? FUSED_TILE : FUSED_TILE / 2;
}
__host__ __device__ constexpr unsigned fused_warps(unsigned capacity) {
    return capacity <= FUSED_FEW ? FUSED_WARPS : FUSED_WARPS / 2;
}

constexpr unsigned FUSED_SLICE = 16;  // dimensions

// The queries of a warp in shared memory, a slice of dimensions at a time; the next slice is loaded while one
// is read. No CUDA counterpart among the twins, which read the queries directly. All lanes of the warp call together.
struct QuerySlices {
    struct Memory {
        alignas(16) float slices[2][FUSED_SLICE][FUSED_QUERIES];
    };

    Memory& memory;
    const float* query;  // loaded by this lane
    unsigned d;
    unsigned count;         // of slices
    unsigned next = 0;      // the next slice to load
    unsigned brought = 0;   // slices loaded so far, over all windows

    // `query` is query number lane % FUSED_QUERIES of the warp.
    __device__ __forceinline__ QuerySlices(Memory& memory, const float* query, unsigned d)
        : memory(memory), query(query), d(d), count((d - 1) / FUSED_SLICE + 1) {
        bring();
        if (count == 2) {
            bring();
        }
        await();
    }

    // Slice `at` of a window, by dimension and query. Called slice by slice, window by window.
    __device__ __forceinline__ const float (*enter(unsigned at))[FUSED_QUERIES] {
        // Up to two slices stay loaded.
        if (count <= 2) {
            return memory.slices[at];
        }
        unsigned here = (brought - 1) % 2;
        await();
        bring();
        return memory.slices[here];
    }

  private:
    // Waits until the requested slice is loaded and no lane reads the previous one.
    __device__ __forceinline__ void await() {
#if WARPSCOPE_ASYNC_COPIES
        ptx::await_copies<0>();
#endif
        __syncwarp();
    }

    __device__ __forceinline__ void bring() {
        unsigned lane = warp::lane_id();
#pragma unroll
        for (unsigned j = lane / FUSED_QUERIES; j < FUSED_SLICE; j += WARP / FUSED_QUERIES) {
            float* to = &memory.slices[brought % 2][j][lane % FUSED_QUERIES];
            unsigned dimension = next * FUSED_SLICE + j;
            bool there = dimension < d;
#if WARPSCOPE_ASYNC_COPIES
            ptx::copy_async<4>(ptx::shared_address(to), query + (there ? dimension : 0), there);
#else
            *to = there ? query[dimension] : 0.0f;
#endif
        }
#if WARPSCOPE_ASYNC_COPIES
        ptx::close_copies();
#endif
        brought += 1;
        next = next + 1 == count ? 0 : next + 1;
    }
};

// Shared memory of a block: at most 48 KiB.
template <unsigned K>
struct FusedMemory {
    static constexpr unsigned WARPS = fused_warps(K);
    static constexpr unsigned TILE = fused_tile(K);
    static constexpr unsigned SLOTS = 2;
    static constexpr unsigned RING = WARPSCOPE_BULK_COPIES ? SLOTS : 1;

    alignas(128) float ring[RING * TILE * FUSED_POINTS];
    QuerySlices::Memory queries[WARPS];
    Key kept[WARPS][FUSED_QUERIES][K];
    Key buffers[WARPS][FUSED_QUERIES][K];
    block::Slot slots[SLOTS];
};

// The lists of a warp's queries.
template <unsigned K, bool COUNTED>
struct FusedLists {
    static constexpr unsigned T = K / FUSED_LANES;  // keys per lane
    using Network = block::Bitonic<T, FUSED_LANES>;

    const Selection& selection;
    Key (&kept)[FUSED_QUERIES][K];
    Key (&buffers)[FUSED_QUERIES][K];
    unsigned first;  // of the queries
    unsigned lane = warp::lane_id();
    // For query `lane`, in the first FUSED_QUERIES lanes: occupied slots, the key that candidates must be
    // below, and the counters, which the timed build does not write.
    unsigned taken = 0;
    Key limit;
    unsigned merges = 0, forced = 0, candidates = 0;
    float bounds[FUSED_QUERIES];  // candidates' distances must not exceed these

    __device__ __forceinline__ FusedLists(const Selection& selection, FusedMemory<K>& memory, unsigned warp,
                                          unsigned first)
        : selection(selection), kept(memory.kept[warp]), buffers(memory.buffers[warp]), first(first) {
        for (unsigned at = lane; at < FUSED_QUERIES * K; at += WARP) {
            (&kept[0][0])[at] = PADDING;
        }
        limit = limit_of(PADDING);
        set_bounds();
    }

    // Excludes the padding of the last window; nothing is a candidate past the last query.
    __device__ __forceinline__ Key limit_of(Key last) const {
        return lane < FUSED_QUERIES && first + lane < selection.q ? min(last, key_of(infinite_distance(), 0))
                                                                  : 0;
    }

    __device__ __forceinline__ void set_bounds() {
#pragma unroll
        for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
            bounds[i] = distance_of(__shfl_sync(ALL_LANES, limit, i));
        }
    }

    // A lane's coordinates of query i; past the last query, those of the last.
    __device__ __forceinline__ const float* query(unsigned i) const {
        return row_of(selection.queries, min(first + i, selection.q - 1), selection.d);
    }

    // Position of a lane's item in the window: four neighbours, and four more half a window further.
    __device__ __forceinline__ unsigned point_of_item(unsigned item) const {
        return item / 4 * (FUSED_POINTS / 2) + lane * 4 + item % 4;
    }

    // Adds a window of points: acc[i][j] is the distance of query i and the point at point_of_item(j).
    __device__ __forceinline__ void add(const float (&acc)[FUSED_QUERIES][FUSED_GROUPS], unsigned window) {
        bool near = false;
#pragma unroll
        for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
#pragma unroll
            for (unsigned j = 0; j < FUSED_GROUPS; ++j) {
                near |= acc[i][j] <= bounds[i];
            }
        }
        if (!__any_sync(ALL_LANES, near)) {
            return;  // most windows have no candidates
        }
        unsigned long long waiting = 0;
#pragma unroll
        for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
            unsigned items = 0;
#pragma unroll
            for (unsigned j = 0; j < FUSED_GROUPS; ++j) {
                items |= acc[i][j] <= bounds[i] ? 1u << j : 0;
            }
            waiting |= static_cast<unsigned long long>(items) << (i * FUSED_GROUPS);
        }
        while (__any_sync(ALL_LANES, (waiting = append(waiting, window)) != 0)) {
            merge();
        }
    }

    // Appends the candidates among the waiting points: each round takes the next point of every lane, in the
    // order of lanes, query by query. Returns the points that got no slot.
    __device__ __forceinline__ unsigned long long append(unsigned long long waiting, unsigned window) {
        unsigned long long left = 0;
#pragma unroll 1
        for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
            unsigned items =
                static_cast<unsigned>(waiting >> (i * FUSED_GROUPS)) & ((1u << FUSED_GROUPS) - 1);
            unsigned used = __shfl_sync(ALL_LANES, taken, i), before = used;
            Key below = __shfl_sync(ALL_LANES, limit, i);
            bool full = false;
            while (!full && __any_sync(ALL_LANES, items != 0)) {
                unsigned item = items != 0 ? __ffs(items) - 1 : 0;
                Key key = items != 0 ? key_at(i, window, point_of_item(item)) : PADDING;
                bool candidate = key < below;
                unsigned lanes = __ballot_sync(ALL_LANES, candidate);
                unsigned slot = used + __popc(lanes & warp::lanes_below(lane));
                if (candidate && slot < K) {
                    buffers[i][slot] = key;
                }
                if (!candidate || slot < K) {
                    items &= items - 1;
                }
                full = used + __popc(lanes) > K;
                used = min(K, used + __popc(lanes));
            }
            left |= static_cast<unsigned long long>(items) << (i * FUSED_GROUPS);
            if (lane == i) {
                candidates += used - before;
                taken = used;
            }
        }
        // Other lanes read the slots.
        __syncwarp();
        return left;
    }

    // Recomputes a distance from global memory: this happens for few points, and indexing a register
    // dynamically costs more.
    __device__ __forceinline__ Key key_at(unsigned i, unsigned window, unsigned at) const {
        constexpr unsigned TILE = fused_tile(K);
        unsigned padded = (selection.d + TILE - 1) / TILE * TILE;
        const float* column = selection.points + static_cast<size_t>(window) * padded * FUSED_POINTS + at;
        return key_of(squared_distance_of_column(column, FUSED_POINTS, query(i), selection.d),
                      window * FUSED_POINTS + at);
    }

    // Merges all buffers into the kept keys, as many at a time as fit the lanes of the warp.
    __device__ __forceinline__ void merge() {
        unsigned thread = lane % FUSED_LANES;
        Network network{nullptr, thread};
#pragma unroll 1
        for (unsigned list = lane / FUSED_LANES; list < FUSED_QUERIES; list += WARP / FUSED_LANES) {
            unsigned used = __shfl_sync(ALL_LANES, taken, list);
            Key keys[T];
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                unsigned slot = i * FUSED_LANES + thread;
                keys[i] = slot < used ? buffers[list][slot] : PADDING;
            }
            network.sort(keys, FUSED_LANES);
            // min(i, K - 1 - i) with the kept keys; the result is bitonic.
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                Key other = kept[list][K - 1 - (thread * T + i)];
                keys[i] = choose(other < keys[i], other, keys[i]);
            }
            network.merge(keys);
            // Keys that other lanes have read are overwritten.
            __syncwarp();
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                kept[list][thread * T + i] = keys[i];
            }
        }
        merges += 1;
        forced += taken < K;
        taken = 0;
        __syncwarp();
        limit = limit_of(kept[lane % FUSED_QUERIES][selection.k - 1]);
        set_bounds();
    }

    // Merges the rest of the buffers, and writes the answers to the requested queries.
    __device__ __forceinline__ void finish() {
        if (__any_sync(ALL_LANES, taken > 0)) {
            merge();
        }
        auto is_asked = [&](unsigned i) { return first + i - selection.first_query < selection.query_count; };
#pragma unroll 1
        for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
            if (is_asked(i)) {
                AnswerRow row(selection, first + i);
                for (unsigned at = lane; at < selection.k; at += WARP) {
                    row.put(at, kept[i][at]);
                }
            }
        }
        if constexpr (COUNTED) {
            if (lane < FUSED_QUERIES && is_asked(lane)) {
                write_counts(selection.counts + (first + lane - selection.first_query) * COUNTS, merges,
                             forced, candidates);
            }
        }
    }
};

// Adds one dimension of a window to a lane's distances.
__device__ __forceinline__ void add_dimension(float (&acc)[FUSED_QUERIES][FUSED_GROUPS], const float* points,
                                              const float* queries) {
    float p[FUSED_GROUPS], q[FUSED_QUERIES];
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        *reinterpret_cast<float4*>(p + half * 4) =
            *reinterpret_cast<const float4*>(points + half * (FUSED_POINTS / 2));
        *reinterpret_cast<float4*>(q + half * 4) = *reinterpret_cast<const float4*>(queries + half * 4);
    }
#pragma unroll
    for (unsigned i = 0; i < FUSED_QUERIES; ++i) {
#pragma unroll
        for (unsigned j = 0; j < FUSED_GROUPS; ++j) {
            acc[i][j] = add_squared_difference(p[j], q[i], acc[i][j]);
        }
    }
}

template <unsigned K, bool COUNTED>
__device__ __forceinline__ void select_fused(const Selection& selection) {
    using Memory = FusedMemory<K>;
    constexpr unsigned TILE = Memory::TILE;
    static_assert(FUSED_QUERIES == 8 && FUSED_GROUPS == 8 && FUSED_SLICE % TILE == 0,
                  "a lane reads 8 and 8 floats as four times four");
    __shared__ Memory memory;
    unsigned warp = threadIdx.x / WARP, d = selection.d;
    unsigned first =
        (selection.first_query / FUSED_QUERIES + blockIdx.x * Memory::WARPS + warp) * FUSED_QUERIES;
    FusedLists<K, COUNTED> lists(selection, memory, warp, first);
    QuerySlices queries(memory.queries[warp], lists.query(lists.lane % FUSED_QUERIES), d);
    const float(*slice)[FUSED_QUERIES] = nullptr;
    unsigned tiles = (d + TILE - 1) / TILE, windows = (selection.n - 1) / FUSED_POINTS + 1;
    block::Batches<TILE * FUSED_POINTS, Memory::SLOTS, Memory::WARPS> batches(
        selection.points, windows * tiles, memory.ring, memory.slots);
    for (unsigned window = 0; window < windows; ++window) {
        float acc[FUSED_QUERIES][FUSED_GROUPS] = {};
        for (unsigned tile = 0; tile < tiles; ++tile) {
            unsigned begin = tile * TILE;
            if (begin % FUSED_SLICE == 0) {
                slice = queries.enter(begin / FUSED_SLICE);
            }
            const float* points = batches.enter(window * tiles + tile) + lists.lane * 4;
            if (d - begin >= TILE) {
#pragma unroll
                for (unsigned j = 0; j < TILE; ++j) {
                    add_dimension(acc, points + j * FUSED_POINTS, slice[begin % FUSED_SLICE + j]);
                }
            } else {
#pragma unroll 1
                for (unsigned j = 0; j < d - begin; ++j) {
                    add_dimension(acc, points + j * FUSED_POINTS, slice[begin % FUSED_SLICE + j]);
                }
            }
            batches.leave(window * tiles + tile);
        }
        lists.add(acc, window);
    }
    lists.finish();
}

}  // namespace warpscope::select

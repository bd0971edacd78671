// For few queries: the points are split over the whole GPU, and four kernels, one after the other, answer a
// chunk of queries.
//
// 1. sample: every group of sampled points yields its smallest distance to each query.
// 2. bound: the k-th smallest of those minima, rounded up slightly. k groups have a point within it, so the k
//    nearest are within it too.
// 3. collect: every point is read once; the few within the bound are appended to the query's list, in any
//    order.
// 4. select: the k smallest keys of the list, sorted. Keys are (distance, index), so the order of the list
//    does not matter.
//
// Scope: one grid per stage; a block of bound and select answers one query, a block of sample and collect
// several.
//
//   sample<D>(split), collect<D>(split)            D = 2 or 3, blocks of SPLIT_WARPS warps, of block_queries
//                                                  queries each
//   sample_rows<Q>(split), collect_rows<Q>(split)  any other d, blocks of SPLIT_ROW_WARPS warps, of up to Q
//                                                  queries each
//   bound(split), select<D>(split)                 blocks of SPLIT_SELECT_THREADS threads; D = 2, 3, or 0 for
//                                                  any other d
//
// Shared memory: static.
//
// The caller
// - launches the stages in this order on one stream, sample only if split.windows > 0, with the same Split
//   except for block_queries;
// - arranges blocks of sample and collect along y for the queries, and any number along x, which divide the
//   windows among them;
// - stores the points row by row, aligned to 16 bytes; with D = 2 or 3, the last window may be partial;
// - has scratch as Split says, which need not be initialised;
// - begins each kernel with ptx::grid_dependency_sync() if the launches overlap (ptx.cuh).
//
//   extern "C" __global__ void __launch_bounds__(SPLIT_WARPS * WARP)
//   kernel(const __grid_constant__ Split split) {
//       ptx::grid_dependency_sync();
//       collect<2>(split);
//   }
//
// A list that overflows (many equal distances at the bound, or an order of points that misleads the sample)
// is not used: select then reads all points itself.
#pragma once

#include "block/radix_select.cuh"
#include "distance.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "split/interface.cuh"
#include "split/window.cuh"
#include "warp/lanes.cuh"

namespace warpscope::split {

static_assert(SPLIT_SELECT_THREADS == block::SELECT_THREADS,
              "a launch has the threads that blocks select and sort with");

// Output location of a lane's group in the sample.
struct Minima {
    unsigned* next;   // where the next query's minimum goes
    unsigned groups;  // stride between queries
    unsigned lanes;   // per group
    bool writes;

    __device__ __forceinline__ Minima(const Split& split, unsigned first_slot, unsigned window, unsigned lane)
        : groups(split.windows * split.window_groups),
          lanes(WARP / split.window_groups),
          writes(lane % lanes == 0) {
        next = split.minima + static_cast<size_t>(first_slot) * groups + window * split.window_groups +
               lane / lanes;
    }

    // Writes the minimum for the next query: `distance` is the smallest over this lane's points.
    __device__ __forceinline__ void write(float distance) {
        unsigned bits = __float_as_uint(distance);
        if (lanes == WARP) {
            bits = warp::reduce_min(bits);
        } else {
            for (unsigned stride = lanes / 2; stride > 0; stride /= 2) {
                bits = min(bits, __shfl_xor_sync(ALL_LANES, bits, stride));
            }
        }
        if (writes) {
            *next = bits;
        }
        next += groups;
    }
};

// The largest finite bound, which excludes padding at infinity.
__device__ __forceinline__ float largest_bound() { return __uint_as_float(0x7f7fffffu); }

// Appends the points of a window that are within the bound to the query's list. Most warps that get here have
// one such point. If there are several, the warp counts them first and adds to the shared count only once.
template <int D, class Clusters>
__device__ __forceinline__ void append(const Split& split, unsigned slot, float bound,
                                       const float (&distances)[LANE_POINTS<D>], const Clusters& clusters,
                                       unsigned lane) {
    unsigned hits = 0;
#pragma unroll
    for (unsigned p = 0; p < LANE_POINTS<D>; ++p) {
        hits |= distances[p] <= bound ? 1u << p : 0;
    }
    unsigned mine = __popc(hits), at = 0;
    unsigned lanes = __ballot_sync(ALL_LANES, hits != 0);
    if ((lanes & (lanes - 1)) == 0) {
        if (hits != 0) {
            at = atomicAdd(&split.counts[slot], mine);
        }
    } else {
        unsigned through = warp::inclusive_sum(mine, lane);
        if (lane == WARP - 1) {
            at = atomicAdd(&split.counts[slot], through);
        }
        at = __shfl_sync(ALL_LANES, at, WARP - 1) + through - mine;
    }
    if (hits != 0) {
        Key* list = row_of(split.lists, slot, split.capacity);
        do {
            unsigned p = __ffs(static_cast<int>(hits)) - 1;
            float distance = distances[0];
#pragma unroll
            for (unsigned other = 1; other < LANE_POINTS<D>; ++other) {
                distance = p == other ? distances[other] : distance;
            }
            if (at < split.capacity) {
                list[at] = key_of(distance, clusters.base + lane_point<D>(clusters, lane, p));
            }
            ++at;
            hits &= hits - 1;
        } while (hits != 0);
    }
}

template <int N>
__device__ __forceinline__ bool any_within(const float (&distances)[N], float bound) {
    bool any = false;
#pragma unroll
    for (int p = 0; p < N; ++p) {
        any |= distances[p] <= bound;
    }
    return __any_sync(ALL_LANES, any);
}

template <int N>
__device__ __forceinline__ float smallest(const float (&distances)[N]) {
    float least = distances[0];
#pragma unroll
    for (int p = 1; p < N; ++p) {
        least = fminf(least, distances[p]);
    }
    return least;
}

// Loads queries and, if given, their bounds: four numbers each, read by all warps of a block.
template <int D>
__device__ __forceinline__ unsigned load_queries(const Split& split, unsigned first, const float* bounds,
                                                 float4* queries) {
    unsigned count = min(split.block_queries, split.query_count - first);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const float* row = row_of(split.queries, split.first_query + first + i, D);
        queries[i] =
            make_float4(row[0], row[1], D == 3 ? row[D - 1] : 0.0f, bounds ? bounds[first + i] : 0.0f);
    }
    __syncthreads();
    return count;
}

// d = 2 or 3: a window of points stays in registers while the block's queries pass.
template <int D>
__device__ __forceinline__ void sample(const Split& split) {
    __shared__ float4 queries[SPLIT_QUERIES];
    unsigned lane = warp::lane_id();
    unsigned first = blockIdx.y * split.block_queries;
    unsigned count = load_queries<D>(split, first, nullptr, queries);
    for (unsigned number = blockIdx.x * SPLIT_WARPS + threadIdx.x / WARP; number < split.windows;
         number += gridDim.x * SPLIT_WARPS) {
        Window<D> window;
        window.load(split.points, Sampled{number, split.windows, split.spacing}, lane);
        Minima minima(split, first, number, lane);
#pragma unroll 2
        for (unsigned i = 0; i < count; ++i) {
            float distances[LANE_POINTS<D>];
            window.measure(queries[i], distances);
            minima.write(smallest(distances));
        }
    }
}

template <int D>
__device__ __forceinline__ void collect(const Split& split) {
    __shared__ float4 queries[SPLIT_QUERIES];
    unsigned lane = warp::lane_id();
    unsigned first = blockIdx.y * split.block_queries;
    unsigned count = load_queries<D>(split, first, split.bounds, queries);
    unsigned windows = (split.n - 1) / WINDOW_POINTS<D> + 1;
    for (unsigned number = blockIdx.x * SPLIT_WARPS + threadIdx.x / WARP; number < windows;
         number += gridDim.x * SPLIT_WARPS) {
        unsigned base = number * WINDOW_POINTS<D>;
        Consecutive clusters{base, split.n - base};
        Window<D> window;
        window.load(split.points, clusters, lane);
#pragma unroll 1
        for (unsigned i = 0; i < count; ++i) {
            float4 query = queries[i];
            float distances[LANE_POINTS<D>];
            window.measure(query, distances);
            if (any_within(distances, query.w)) {
                append<D>(split, first + i, query.w, distances, clusters, lane);
            }
        }
    }
}

// Any other d: up to Q queries per block.
template <int Q>
__device__ __forceinline__ void sample_rows(const Split& split) {
    __shared__ Tile<Q> tiles[SPLIT_ROW_WARPS];
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned first = blockIdx.y * Q, count = min(Q, split.query_count - first);
    const float* queries = row_of(split.queries, split.first_query + first, split.d);
    for (unsigned number = blockIdx.x * SPLIT_ROW_WARPS + warp; number < split.windows;
         number += gridDim.x * SPLIT_ROW_WARPS) {
        float distances[Q][LANE_POINTS<0>];
        measure_rows(tiles[warp], split.points, queries, split.d, count,
                     Sampled{number, split.windows, split.spacing}, lane, distances);
        Minima minima(split, first, number, lane);
#pragma unroll
        for (int q = 0; q < Q; ++q) {
            if (q < count) {
                minima.write(smallest(distances[q]));
            }
        }
    }
}

template <int Q>
__device__ __forceinline__ void collect_rows(const Split& split) {
    __shared__ Tile<Q> tiles[SPLIT_ROW_WARPS];
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned first = blockIdx.y * Q, count = min(Q, split.query_count - first);
    const float* queries = row_of(split.queries, split.first_query + first, split.d);
    unsigned windows = (split.n - 1) / WINDOW_POINTS<0> + 1;
    for (unsigned number = blockIdx.x * SPLIT_ROW_WARPS + warp; number < windows;
         number += gridDim.x * SPLIT_ROW_WARPS) {
        unsigned base = number * WINDOW_POINTS<0>;
        Consecutive clusters{base, split.n - base};
        float distances[Q][LANE_POINTS<0>];
        measure_rows(tiles[warp], split.points, queries, split.d, count, clusters, lane, distances);
        unsigned wanted = 0;
#pragma unroll
        for (int q = 0; q < Q; ++q) {
            float bound = q < count ? split.bounds[first + q] : -1.0f;
            wanted |= any_within(distances[q], bound) ? 1u << q : 0;
        }
        while (wanted != 0) {
            unsigned q = __ffs(static_cast<int>(wanted)) - 1;
            float chosen[LANE_POINTS<0>];
#pragma unroll
            for (unsigned p = 0; p < LANE_POINTS<0>; ++p) {
                chosen[p] = distances[0][p];
#pragma unroll
                for (int other = 1; other < Q; ++other) {
                    chosen[p] = q == other ? distances[other][p] : chosen[p];
                }
            }
            append<0>(split, first + q, split.bounds[first + q], chosen, clusters, lane);
            wanted &= wanted - 1;
        }
    }
}

// One block per query.
__device__ __forceinline__ void bound(const Split& split) {
    __shared__ block::SelectMemory memory;
    unsigned slot = blockIdx.x;
    float limit = largest_bound();
    if (split.windows > 0) {
        unsigned count = split.windows * split.window_groups;
        const unsigned* minima = row_of(split.minima, slot, count);
        block::Prefix prefix =
            block::add_digit(memory, {0, block::KEY_BITS, 0, count}, split.k, count,
                             [=](unsigned i) { return static_cast<Key>(minima[i]) << 32; });
        // The largest distance that the prefix covers.
        limit = fminf(limit, distance_of(min(prefix.last(), PADDING)));
    }
    if (threadIdx.x == 0) {
        split.bounds[slot] = limit;
        split.counts[slot] = 0;
    }
}

// Keys that a block collects when it reads all points itself, before it reduces them to the k smallest.
constexpr unsigned KEPT = 3 * block::SELECT_THREADS;

struct SelectStage {
    block::SelectMemory select;
    Key kept[KEPT];
    unsigned count;
};

// A prefix that covers the k smallest of `count` keys, and at most `max_covered` keys in all, which is at
// least k.
template <class KeyAt>
__device__ __forceinline__ block::Prefix smallest_prefix(SelectStage& memory, unsigned k, unsigned count,
                                                         unsigned max_covered, KeyAt key_at) {
    block::Prefix prefix = {0, block::KEY_BITS, 0, count};
    while (prefix.through > max_covered) {
        prefix = block::add_digit(memory.select, prefix, k, count, key_at);
    }
    return prefix;
}

// Distributes the keys covered by a prefix, at most one per thread of the block; PADDING for threads without
// one. They reuse the histogram's memory.
template <class KeyAt>
__device__ __forceinline__ Key gather_keys(SelectStage& memory, const block::Prefix& prefix, unsigned count,
                                           KeyAt key_at) {
    Key* taken = reinterpret_cast<Key*>(memory.select.histogram);
    __syncthreads();
    taken[threadIdx.x] = PADDING;
    if (threadIdx.x == 0) {
        memory.count = 0;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += block::SELECT_THREADS) {
        Key key = key_at(i);
        if (prefix.reaches(key)) {
            taken[atomicAdd(&memory.count, 1u)] = key;
        }
    }
    __syncthreads();
    return taken[threadIdx.x];
}

// One point's distance, for a block that reads all points itself.
template <int D>
__device__ __forceinline__ float plain_distance(const Split& split, const float* query, unsigned point) {
    unsigned d = D == 0 ? split.d : D;
    const float* row = row_of(split.points, point, d);
    float acc = 0.0f;
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(__ldg(row + j), __ldg(query + j), acc);
    }
    return acc;
}

// Collects the k smallest keys of all points, and some others, in memory.kept; returns how many.
template <int D>
__device__ __forceinline__ unsigned read_all(const Split& split, SelectStage& memory, unsigned slot) {
    constexpr unsigned POINTS = 8;  // per thread, before the block checks whether any is within the bound
    const float* query = row_of(split.queries, split.first_query + slot, split.d);
    Key limit = key_of(split.bounds[slot], 0xffffffffu);
    unsigned kept = 0;
    for (unsigned long long base = 0; base < split.n; base += POINTS * block::SELECT_THREADS) {
        Key keys[POINTS];
        bool any = false;
#pragma unroll
        for (unsigned p = 0; p < POINTS; ++p) {
            unsigned long long point = base + p * block::SELECT_THREADS + threadIdx.x;
            keys[p] = point < split.n ? key_of(plain_distance<D>(split, query, static_cast<unsigned>(point)),
                                               static_cast<unsigned>(point))
                                      : PADDING;
            any |= keys[p] <= limit && keys[p] != PADDING;
        }
        if (!__syncthreads_or(any)) {
            continue;
        }
#pragma unroll
        for (unsigned p = 0; p < POINTS; ++p) {
            if (threadIdx.x == 0) {
                memory.count = kept;
            }
            __syncthreads();
            if (keys[p] <= limit && keys[p] != PADDING) {
                memory.kept[atomicAdd(&memory.count, 1u)] = keys[p];
            }
            __syncthreads();
            kept = memory.count;
            __syncthreads();
            if (kept > KEPT - block::SELECT_THREADS) {
                // The prefix must cover no other point's key, so `max_covered` is k.
                auto key_at = [&](unsigned i) { return memory.kept[i]; };
                block::Prefix prefix = smallest_prefix(memory, split.k, kept, split.k, key_at);
                Key mine = gather_keys(memory, prefix, kept, key_at);
                if (threadIdx.x < split.k) {
                    memory.kept[threadIdx.x] = mine;
                }
                limit = prefix.last();
                kept = split.k;
                __syncthreads();
            }
        }
    }
    return kept;
}

// One block per query.
template <int D>
__device__ __forceinline__ void select(const Split& split) {
    __shared__ SelectStage memory;
    unsigned slot = blockIdx.x;
    unsigned count = split.counts[slot];
    const Key* list = row_of(split.lists, slot, split.capacity);
    if (count > split.capacity) {
        count = read_all<D>(split, memory, slot);
        list = memory.kept;
    }
    unsigned size = WARP;
    while (size < split.k) {
        size *= 2;
    }
    unsigned k = min(split.k, count);
    auto key_at = [=](unsigned i) { return list[i]; };
    Key mine = gather_keys(memory, smallest_prefix(memory, k, count, size, key_at), count, key_at);
    __syncthreads();
    mine = block::sort(mine, size, reinterpret_cast<Key*>(memory.select.histogram));
    if (threadIdx.x < split.k) {
        AnswerRow(split, split.first_query + slot).put(threadIdx.x, mine);
    }
}

}  // namespace warpscope::split

// The four stages of split.cuh.
#pragma once

#include "block_sort.cuh"
#include "split.cuh"
#include "split_window.cuh"

// A list takes this lane's points within the bound.
template <int D, class Places>
__device__ __forceinline__ void append(const Split& split, unsigned slot, float bound, const float (&distances)[LANE_POINTS<D>],
                                       const Places& places, unsigned lane) {
    unsigned hits = 0;
#pragma unroll
    for (unsigned p = 0; p < LANE_POINTS<D>; ++p) {
        hits |= (distances[p] <= bound && place<D>(places, lane, p) < places.end) ? 1u << p : 0;
    }
    if (hits == 0) {
        return;
    }
    unsigned at = atomicAdd(&split.counts[slot], static_cast<unsigned>(__popc(hits)));
    Key* list = split.lists + static_cast<size_t>(slot) * split.capacity;
#pragma unroll
    for (unsigned p = 0; p < LANE_POINTS<D>; ++p) {
        if (hits >> p & 1) {
            if (at < split.capacity) {
                list[at] = key_of(distances[p], places.base + place<D>(places, lane, p));
            }
            ++at;
        }
    }
}

// The smallest distance of every group of lanes goes to the query's minima.
__device__ __forceinline__ void write_minimum(const Split& split, unsigned slot, unsigned window, float distance, unsigned lane) {
    unsigned bits = __float_as_uint(distance);
    if (split.group_lanes == WARP) {
        bits = warp_min(bits);
    } else {
        for (unsigned stride = split.group_lanes / 2; stride > 0; stride /= 2) {
            bits = min(bits, __shfl_xor_sync(ALL_LANES, bits, stride));
        }
    }
    if (lane % split.group_lanes == 0) {
        unsigned window_groups = WARP / split.group_lanes;
        split.minima[static_cast<size_t>(slot) * groups(split) + window * window_groups + lane / split.group_lanes] = bits;
    }
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

// Queries and their bounds, four numbers each, that all warps of a block read.
constexpr unsigned MAX_BLOCK_QUERIES = 128;

template <int D>
__device__ __forceinline__ unsigned load_queries(const Split& split, unsigned first, float4* queries) {
    unsigned count = min(split.block_queries, split.query_count - first);
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const float* row = split.queries + static_cast<size_t>(split.first_query + first + i) * D;
        queries[i] = make_float4(row[0], row[1], D == 3 ? row[D - 1] : 0.0f, split.bounds[first + i]);
    }
    __syncthreads();
    return count;
}

template <int D>
__device__ __forceinline__ void sample(const Split& split) {
    __shared__ float4 queries[MAX_BLOCK_QUERIES];
    unsigned lane = lane_id();
    unsigned first = blockIdx.y * split.block_queries;
    unsigned count = load_queries<D>(split, first, queries);
    for (unsigned number = blockIdx.x * SPLIT_WARPS + threadIdx.x / WARP; number < split.windows; number += gridDim.x * SPLIT_WARPS) {
        Sampled places{number, split.windows, split.spacing};
        Window<D> window;
        window.load(split.points, places, lane);
#pragma unroll 1
        for (unsigned i = 0; i < count; ++i) {
            float distances[LANE_POINTS<D>];
            window.measure(queries[i], distances);
            write_minimum(split, first + i, number, smallest(distances), lane);
        }
    }
}

template <int D>
__device__ __forceinline__ void collect(const Split& split) {
    __shared__ float4 queries[MAX_BLOCK_QUERIES];
    unsigned lane = lane_id();
    unsigned first = blockIdx.y * split.block_queries;
    unsigned count = load_queries<D>(split, first, queries);
    unsigned windows = (split.n - 1) / WINDOW_POINTS<D> + 1;
    for (unsigned number = blockIdx.x * SPLIT_WARPS + threadIdx.x / WARP; number < windows; number += gridDim.x * SPLIT_WARPS) {
        unsigned base = number * WINDOW_POINTS<D>;
        Consecutive places{base, split.n - base};
        Window<D> window;
        window.load(split.points, places, lane);
#pragma unroll 1
        for (unsigned i = 0; i < count; ++i) {
            float4 query = queries[i];
            float distances[LANE_POINTS<D>];
            window.measure(query, distances);
            bool any = false;
#pragma unroll
            for (unsigned p = 0; p < LANE_POINTS<D>; ++p) {
                any |= distances[p] <= query.w;
            }
            if (__any_sync(ALL_LANES, any)) {
                append<D>(split, first + i, query.w, distances, places, lane);
            }
        }
    }
}

// A block a query.
__device__ __forceinline__ void bound(const Split& split) {
    __shared__ SelectMemory memory;
    unsigned slot = blockIdx.x;
    float limit = infinite_distance();
    if (split.windows > 0) {
        unsigned count = groups(split);
        const unsigned* minima = split.minima + static_cast<size_t>(slot) * count;
        Prefix prefix = add_digit(memory, {0, KEY_BITS, 0, count}, split.k, count, [=](unsigned i) { return static_cast<Key>(minima[i]) << 32; });
        // The largest distance that has the digit.
        limit = fminf(limit, distance_of(min(prefix.last(), PADDING)));
    }
    if (threadIdx.x == 0) {
        split.bounds[slot] = limit;
        split.counts[slot] = 0;
    }
}

// Keys that a block keeps when it reads all points itself, and when it takes the k smallest of them.
constexpr unsigned KEPT = 3 * SELECT_THREADS;

struct SelectStage {
    SelectMemory select;
    Key kept[KEPT];
    unsigned count;
};

// A prefix that the k smallest of `count` keys reach, and no more than `enough` keys in all; k <= enough.
template <class KeyAt>
__device__ __forceinline__ Prefix smallest_prefix(SelectStage& memory, unsigned k, unsigned count, unsigned enough, KeyAt key_at) {
    Prefix prefix = {0, KEY_BITS, 0, count};
    while (prefix.through > enough) {
        prefix = add_digit(memory.select, prefix, k, count, key_at);
    }
    return prefix;
}

// The keys that reach a prefix, no more than the block has threads, one a thread: PADDING where there is none. Their place
// is the histogram's.
template <class KeyAt>
__device__ __forceinline__ Key take(SelectStage& memory, const Prefix& prefix, unsigned count, KeyAt key_at) {
    Key* taken = reinterpret_cast<Key*>(memory.select.histogram);
    __syncthreads();
    taken[threadIdx.x] = PADDING;
    if (threadIdx.x == 0) {
        memory.count = 0;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += SELECT_THREADS) {
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
    const float* row = split.points + static_cast<size_t>(point) * d;
    float acc = 0.0f;
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(__ldg(row + j), __ldg(query + j), acc);
    }
    return acc;
}

// Keeps the k smallest keys of all points, and others, in memory.kept; returns how many.
template <int D>
__device__ __forceinline__ unsigned read_all(const Split& split, SelectStage& memory, unsigned slot) {
    constexpr unsigned POINTS = 8;  // of a thread before the block looks whether any is wanted
    const float* query = split.queries + static_cast<size_t>(split.first_query + slot) * split.d;
    Key limit = key_of(split.bounds[slot], 0xffffffffu);
    unsigned kept = 0;
    for (unsigned long long base = 0; base < split.n; base += POINTS * SELECT_THREADS) {
        Key keys[POINTS];
        bool any = false;
#pragma unroll
        for (unsigned p = 0; p < POINTS; ++p) {
            unsigned long long point = base + p * SELECT_THREADS + threadIdx.x;
            keys[p] = point < split.n ? key_of(plain_distance<D>(split, query, static_cast<unsigned>(point)), static_cast<unsigned>(point)) : PADDING;
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
            if (kept > KEPT - SELECT_THREADS) {
                // Exactly k: no other point's key below the prefix's end is in the answer's way.
                auto key_at = [&](unsigned i) { return memory.kept[i]; };
                Prefix prefix = smallest_prefix(memory, split.k, kept, split.k, key_at);
                Key mine = take(memory, prefix, kept, key_at);
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

// A block a query.
template <int D>
__device__ __forceinline__ void select(const Split& split) {
    __shared__ SelectStage memory;
    unsigned slot = blockIdx.x;
    unsigned count = split.counts[slot];
    const Key* list = split.lists + static_cast<size_t>(slot) * split.capacity;
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
    Key mine = take(memory, smallest_prefix(memory, k, count, size, key_at), count, key_at);
    __syncthreads();
    mine = block_sort(mine, size, reinterpret_cast<Key*>(memory.select.histogram));
    if (threadIdx.x < split.k) {
        size_t at = static_cast<size_t>(split.first_query + slot) * split.k + threadIdx.x;
        split.indices[at] = index_of(mine);
        split.squared_distances[at] = distance_of(mine);
    }
}

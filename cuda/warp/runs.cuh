// Descending runs of keys in shared memory, which a warp sorts and merges in place. Twin of
// crates/engines/src/select/runs.rs.
//
// A bitonic network in which all runs descend. The first layer of each size compares a key with its mirror
// image, so the direction is the same everywhere. Padding at the larger end of a run would never move, so
// comparators with it are left out. Strides from 32 on work in memory; below, 32 keys are in registers, one
// per lane, and are exchanged by shuffle.
//
// Scope: a warp; all lanes call together. When a function returns, all lanes see each other's
// writes.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::warp {

// A comparator between two slots: the larger key goes to the lower one.
__device__ __forceinline__ void exchange(Key* keys, unsigned low, unsigned high) {
    Key first = keys[low], second = keys[high];
    if (first < second) {
        keys[low] = second;
        keys[high] = first;
    }
}

// A comparator between the lanes whose numbers differ in the bits of `mask`; the lanes with `larger` keep the
// larger key.
__device__ __forceinline__ Key exchange_lanes(Key key, unsigned mask, bool larger) {
    Key other = __shfl_xor_sync(ALL_LANES, key, mask);
    return choose((key < other) == larger, other, key);
}

// The strides `stride`, `stride` / 2, ... 1 within the slots [first, end): `end` is a power of two, `first` a
// quarter of it or 0. If `end` is below 32, the keys up to there descend in runs of at least `end`, which the
// strides leave unchanged.
__device__ __forceinline__ void halve_runs(Key* keys, unsigned first, unsigned end, unsigned stride,
                                           unsigned lane) {
#pragma unroll 1
    for (; stride >= WARP; stride /= 2) {
        for (unsigned pair = first / 2 + lane; pair < end / 2; pair += WARP) {
            unsigned low = 2 * pair - (pair & (stride - 1));
            if (low >= first) {
                exchange(keys, low, low + stride);
            }
        }
        __syncwarp();
    }
#pragma unroll 1
    for (unsigned place = first / WARP * WARP + lane; place < end + lane; place += WARP) {
        Key key = keys[place];
#pragma unroll
        for (unsigned in_lanes = WARP / 2; in_lanes > 0; in_lanes /= 2) {
            if (in_lanes <= stride) {
                Key met = exchange_lanes(key, in_lanes, (lane & in_lanes) == 0);
                key = choose((place & ~in_lanes) >= first, met, key);
            }
        }
        keys[place] = key;
    }
    __syncwarp();
}

// Merges the runs [first, middle) and [middle, 2 middle), where `middle` is a power of two, and `first` its
// half or 0.
__device__ __forceinline__ void merge_runs(Key* keys, unsigned first, unsigned middle, unsigned lane) {
    for (unsigned low = first + lane; low < middle; low += WARP) {
        exchange(keys, low, 2 * middle - 1 - low);
    }
    __syncwarp();
    halve_runs(keys, first, 2 * middle, middle / 2, lane);
}

// Sorts `size` keys, a power of two from 32 on.
__device__ __forceinline__ void sort_run(Key* keys, unsigned size, unsigned lane) {
#pragma unroll 1
    for (unsigned place = lane; place < size; place += WARP) {
        Key key = keys[place];
#pragma unroll
        for (unsigned run = 2; run <= WARP; run *= 2) {
            key = exchange_lanes(key, run - 1, (lane & run / 2) == 0);
#pragma unroll
            for (unsigned stride = run / 4; stride > 0; stride /= 2) {
                key = exchange_lanes(key, stride, (lane & stride) == 0);
            }
        }
        keys[place] = key;
    }
    __syncwarp();
#pragma unroll 1
    for (unsigned run = 2 * WARP; run <= size; run *= 2) {
        for (unsigned pair = lane; pair < size / 2; pair += WARP) {
            unsigned low = 2 * pair - (pair & (run / 2 - 1));
            exchange(keys, low, low ^ (run - 1));
        }
        __syncwarp();
        halve_runs(keys, 0, size, run / 4, lane);
    }
}

}  // namespace warpscope::warp

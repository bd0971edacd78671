// A sorting network over any number of registers per lane, not only powers of two (Johnson, Douze and Jégou
// 2017, §4.2). Twin of crates/engines/src/select/network.rs.
//
// Element i of 32 R keys is in register i / 32 of lane i % 32. Strides below 32 exchange between lanes, by
// shuffle. The others exchange two registers of the same lane or, in the first layer of a size, of mirrored
// lanes. All runs ascend, so padding to a power of two would stay at the end, and comparators with it are
// left out.
#pragma once

#include "key.cuh"
#include "lane.cuh"
#include "warp/lanes.cuh"

namespace warpscope::warp {

// A layer between lanes: each lane's partner is the one whose number differs in the bits of `mask`.
template <int R>
__device__ __forceinline__ void exchange_lanes(Key (&keys)[R], unsigned mask, bool keeps_smaller) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
        Key other = __shfl_xor_sync(ALL_LANES, keys[r], mask);
        keys[r] = choose((other < keys[r]) == keeps_smaller, other, keys[r]);
    }
}

// The strides `stride`, `stride` / 2, ... 1, all below 32.
template <int R>
__device__ __forceinline__ void halve_lanes(Key (&keys)[R], unsigned lane, unsigned stride) {
#pragma unroll 1
    for (; stride > 0; stride /= 2) {
        exchange_lanes(keys, stride, (lane & stride) == 0);
    }
}

// The sizes from 32 SIZE on, between registers.
template <int SIZE, int R>
__device__ __forceinline__ void sort_registers(Key (&keys)[R], unsigned lane) {
    if constexpr (SIZE < 2 * R) {
        // The mirror image of register r is register r ^ (SIZE - 1) of the mirrored lane.
#pragma unroll
        for (int low = 0; low < R; ++low) {
            if ((low & SIZE / 2) == 0 && (low ^ (SIZE - 1)) < R) {
                Key to_high = __shfl_xor_sync(ALL_LANES, keys[low], WARP - 1);
                Key to_low = __shfl_xor_sync(ALL_LANES, keys[low ^ (SIZE - 1)], WARP - 1);
                keys[low] = choose(to_low < keys[low], to_low, keys[low]);
                keys[low ^ (SIZE - 1)] =
                    choose(keys[low ^ (SIZE - 1)] < to_high, to_high, keys[low ^ (SIZE - 1)]);
            }
        }
        bitonic_merge<SIZE / 4>(keys);
        halve_lanes(keys, lane, WARP / 2);
        sort_registers<SIZE * 2>(keys, lane);
    }
}

// Sorts the warp's keys in ascending order.
template <int R>
__device__ __forceinline__ void sort_any(Key (&keys)[R], unsigned lane) {
#pragma unroll 1
    for (unsigned size = 2; size <= WARP; size *= 2) {
        exchange_lanes(keys, size - 1, (lane & size / 2) == 0);
        halve_lanes(keys, lane, size / 4);
    }
    sort_registers<2>(keys, lane);
}

// Sorts a bitonic sequence; R is a power of two.
template <int R>
__device__ __forceinline__ void merge_any(Key (&keys)[R], unsigned lane) {
    bitonic_merge<R / 2>(keys);
    halve_lanes(keys, lane, WARP / 2);
}

}  // namespace warpscope::warp

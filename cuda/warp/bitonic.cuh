// The bitonic network over a warp's registers. Twin of crates/engines/src/lockstep/bitonic.rs.
//
// K = 32 R keys; lane L holds elements L R ... L R + R - 1, one per register. Strides below R exchange two
// registers of the same lane. Strides from R on exchange the same register of two lanes, by shuffle.
//
// Registers can only be indexed by constants, so loops over registers are unrolled. Loops over lanes are
// unrolled only if UNROLL is 5: their bodies are long, and the unrolled network of K = 1,024 would have
// twenty thousand instructions. Unrolling halves the instructions of a layer of few registers, but a kernel
// that merges rarely needs its registers elsewhere.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::warp {

// UNROLL for kernels that visit few points but merge often: only short networks are unrolled.
template <int R>
constexpr int UNROLL_SHORT = R <= 4 ? 5 : 1;

// One comparator between two registers of this lane.
__device__ __forceinline__ void exchange_in_lane(Key& low, Key& high, bool ascending) {
    bool swap = (low > high) == ascending;
    Key to_low = choose(swap, high, low);
    high = choose(swap, low, high);
    low = to_low;
}

// A layer of comparators between lanes: each lane keeps the smaller or the larger of its own key and its
// partner's.
template <int R>
__device__ __forceinline__ void exchange_between_lanes(Key (&keys)[R], unsigned lane, unsigned size,
                                                       unsigned stride) {
    bool keeps_smaller = ((lane & stride) == 0) == ((lane & size) == 0);
#pragma unroll
    for (int r = 0; r < R; ++r) {
        Key other = __shfl_xor_sync(ALL_LANES, keys[r], stride);
        keys[r] = choose((other < keys[r]) == keeps_smaller, other, keys[r]);
    }
}

// The layers of strides STRIDE, STRIDE / 2, ... 1 inside each lane, ascending where `ascending(low)` for the
// comparator's lower register. Strides and sizes below R are template arguments, because the compiler must
// know every register's number before it allocates the array, and unrolls loops with variable bounds too
// late. `size` is the network's.
template <int STRIDE, int R, class Ascending, class Observer>
__device__ __forceinline__ void exchange_in_lane_from(Key (&keys)[R], unsigned size, Ascending ascending,
                                                      Observer& observer) {
    if constexpr (STRIDE > 0) {
#pragma unroll
        for (int low = 0; low < R; ++low) {
            if ((low & STRIDE) == 0) {
                exchange_in_lane(keys[low], keys[low + STRIDE], ascending(low));
            }
        }
        if constexpr (Observer::TRACED) {
            observer.layer(size, STRIDE, keys);
        }
        exchange_in_lane_from<STRIDE / 2>(keys, size, ascending, observer);
    }
}

// Sizes up to R: each lane sorts its own registers, even lanes ascending and odd lanes descending.
template <int SIZE, int R, class Observer>
__device__ __forceinline__ void sort_in_lane(Key (&keys)[R], unsigned lane, Observer& observer) {
    if constexpr (SIZE <= R) {
        // At size R the network's `i & size` is the lane's lowest bit.
        exchange_in_lane_from<SIZE / 2>(
            keys, SIZE, [lane](int low) { return SIZE < R ? (low & SIZE) == 0 : (lane & 1) == 0; }, observer);
        sort_in_lane<SIZE * 2>(keys, lane, observer);
    }
}

// Sorts each bitonic run of `size` lanes, ascending where `lane & size` is 0. size = WARP sorts everything.
template <int UNROLL, int R, class Observer>
__device__ __forceinline__ void merge(Key (&keys)[R], unsigned lane, unsigned size, Observer& observer) {
#pragma unroll UNROLL
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
        exchange_between_lanes(keys, lane, size, stride);
        if constexpr (Observer::TRACED) {
            observer.layer(size * R, stride * R, keys);
        }
    }
    exchange_in_lane_from<R / 2>(keys, size * R, [lane, size](int) { return (lane & size) == 0; }, observer);
}

// Sorts the warp's keys in ascending order.
template <int UNROLL, int R, class Observer>
__device__ __forceinline__ void sort(Key (&keys)[R], unsigned lane, Observer& observer) {
    sort_in_lane<2>(keys, lane, observer);
#pragma unroll UNROLL
    for (unsigned size = 2; size <= WARP; size *= 2) {  // in lanes: the network's size / R
        merge<UNROLL>(keys, lane, size, observer);
    }
}

}  // namespace warpscope::warp

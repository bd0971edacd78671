// Choosing and sorting within a lane: N values in its registers. No lane waits for another, and nothing is
// shuffled: 32 lists in the steps of one. Twin of crates/engines/src/index/lane.rs.
//
// Registers are indexed by constants only. Sizes and strides are template arguments, as in warp/bitonic.cuh.
#pragma once

#include "key.cuh"

namespace warpscope {

// The register of a number that is no constant: chosen by comparisons, as an index would move all of them to
// local memory.
template <int N, class T>
__device__ __forceinline__ T register_at(const T (&values)[N], unsigned number) {
    T chosen = values[0];
#pragma unroll
    for (int i = 1; i < N; ++i) {
        chosen = choose(number == i, values[i], chosen);
    }
    return chosen;
}

// Comparators: `low` becomes the smaller.
__device__ __forceinline__ void exchange(float& low, float& high) {
    float least = fminf(low, high);
    high = fmaxf(low, high);
    low = least;
}

__device__ __forceinline__ void exchange(Key& low, Key& high) {
    bool swap = high < low;
    Key least = choose(swap, high, low);
    high = choose(swap, low, high);
    low = least;
}

// The layers of Batcher's odd-even merge sort that merge runs of SIZE, from the one of STRIDE on (Knuth,
// TAOCP 3, 5.2.2, algorithm M): a fifth fewer comparators than the bitonic sort, which needs its regularity
// only between lanes.
template <int SIZE, int STRIDE, int N, class T>
__device__ __forceinline__ void odd_even_merge(T (&values)[N]) {
    if constexpr (STRIDE > 0) {
#pragma unroll
        for (int low = STRIDE % SIZE; low + STRIDE < N; ++low) {
            if ((low - STRIDE % SIZE) / STRIDE % 2 == 0 && low / (2 * SIZE) == (low + STRIDE) / (2 * SIZE)) {
                exchange(values[low], values[low + STRIDE]);
            }
        }
        odd_even_merge<SIZE, STRIDE / 2>(values);
    }
}

// Sorts the values of each lane in ascending order; N is a power of two.
template <int SIZE = 1, int N, class T>
__device__ __forceinline__ void sort(T (&values)[N]) {
    if constexpr (SIZE < N) {
        odd_even_merge<SIZE, SIZE>(values);
        sort<SIZE * 2>(values);
    }
}

// The strides STRIDE, STRIDE / 2, ... 1 of a bitonic network: with half of N, a power of two, they sort
// values that rise and then fall. Of a network that is no power of two comparators with what would pad it are
// left out.
template <int STRIDE, int N, class T>
__device__ __forceinline__ void bitonic_merge(T (&values)[N]) {
    if constexpr (STRIDE > 0) {
#pragma unroll
        for (int low = 0; low < N; ++low) {
            if ((low & STRIDE) == 0 && low + STRIDE < N) {
                exchange(values[low], values[low + STRIDE]);
            }
        }
        bitonic_merge<STRIDE / 2>(values);
    }
}

}  // namespace warpscope

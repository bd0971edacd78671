// Selection and sorting within a lane: N values in its registers. Lanes neither wait for one another nor
// shuffle, so a warp processes 32 lists in lockstep. Twin of crates/engines/src/index/lane.rs.
//
// Registers can only be indexed by constants, so sizes and strides are template arguments, as in
// warp/bitonic.cuh.
#pragma once

#include "key.cuh"

namespace warpscope {

// The register with a variable number, chosen by comparisons: an index would move all of them to local
// memory.
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

// The layers of Batcher's odd-even merge sort that merge runs of SIZE, starting at STRIDE (Knuth, TAOCP 3,
// 5.2.2, algorithm M). It has a fifth fewer comparators than the bitonic sort, whose regularity only matters
// between lanes.
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

// The strides STRIDE, STRIDE / 2, ... 1 of a bitonic network. With STRIDE = N / 2, N a power of two, they
// sort values that rise and then fall. If N is not a power of two, comparators with the missing padding are
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

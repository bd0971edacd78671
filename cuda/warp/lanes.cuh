// A warp's lanes: their number, masks with one bit per lane, reductions and scans. Twin of
// crates/engines/src/lockstep/lanes.rs.
#pragma once

#include "key.cuh"

namespace warpscope {

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

}  // namespace warpscope

namespace warpscope::warp {

__device__ __forceinline__ unsigned lane_id() { return threadIdx.x % WARP; }

// A mask of the lanes below `lane`.
__device__ __forceinline__ unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

// Reductions and scans use a single instruction where one exists.

// Combines the values of all lanes; every lane gets the result.
template <class T, class Combine>
__device__ __forceinline__ T reduce(T value, Combine combine) {
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value = combine(value, __shfl_xor_sync(ALL_LANES, value, stride));
    }
    return value;
}

__device__ __forceinline__ unsigned reduce_add(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, value);
#else
    return reduce(value, [](unsigned a, unsigned b) { return a + b; });
#endif
}

// Inclusive prefix sum over the lanes.
template <class T>
__device__ __forceinline__ T inclusive_sum(T value, unsigned lane) {
#pragma unroll
    for (unsigned stride = 1; stride < WARP; stride *= 2) {
        T other = __shfl_up_sync(ALL_LANES, value, stride);
        value += lane >= stride ? other : 0;
    }
    return value;
}

__device__ __forceinline__ unsigned reduce_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL_LANES, value);
#else
    return reduce(value, [](unsigned a, unsigned b) { return min(a, b); });
#endif
}

__device__ __forceinline__ float reduce_min(float value) {
    return reduce(value, [](float a, float b) { return fminf(a, b); });
}

// The smallest key of the warp.
__device__ __forceinline__ Key reduce_min(Key key) {
    unsigned distance = static_cast<unsigned>(key >> 32);
    unsigned least = reduce_min(distance);
    unsigned position = reduce_min(distance == least ? index_of(key) : 0xffffffffu);
    return static_cast<Key>(least) << 32 | position;
}

__device__ __forceinline__ int reduce_max(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL_LANES, value);
#else
    return reduce(value, [](int a, int b) { return max(a, b); });
#endif
}

// Bitwise or over all lanes; every lane gets the result.
__device__ __forceinline__ unsigned reduce_or(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, value);
#else
    return reduce(value, [](unsigned a, unsigned b) { return a | b; });
#endif
}

}  // namespace warpscope::warp

// Warp-wide reductions and scans, in one instruction where there is one.
#pragma once

#include "warp/lanes.cuh"

namespace warpscope::warp {

__device__ __forceinline__ unsigned reduce_add(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL_LANES, value);
#else
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value += __shfl_xor_sync(ALL_LANES, value, stride);
    }
    return value;
#endif
}

// Inclusive prefix sum over the lanes.
__device__ __forceinline__ unsigned inclusive_sum(unsigned value, unsigned lane) {
#pragma unroll
    for (unsigned stride = 1; stride < WARP; stride *= 2) {
        unsigned other = __shfl_up_sync(ALL_LANES, value, stride);
        value += lane >= stride ? other : 0;
    }
    return value;
}

__device__ __forceinline__ unsigned reduce_min(unsigned value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(ALL_LANES, value);
#else
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value = min(value, __shfl_xor_sync(ALL_LANES, value, stride));
    }
    return value;
#endif
}

__device__ __forceinline__ float reduce_min(float value) {
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value = fminf(value, __shfl_xor_sync(ALL_LANES, value, stride));
    }
    return value;
}

__device__ __forceinline__ int reduce_max(int value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(ALL_LANES, value);
#else
#pragma unroll
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value = max(value, __shfl_xor_sync(ALL_LANES, value, stride));
    }
    return value;
#endif
}

// Bitwise or over all lanes, returned in every lane.
__device__ __forceinline__ unsigned reduce_or(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, value);
#else
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        value |= __shfl_xor_sync(ALL_LANES, value, stride);
    }
    return value;
#endif
}

}  // namespace warpscope::warp

// A warp and what its lanes exchange. Twin of src/engines/lockstep/warp.rs.
#pragma once

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ __forceinline__ unsigned lane_id() { return threadIdx.x % WARP; }

// The lanes below this one, as a mask.
__device__ __forceinline__ unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

// What instructions that copy or wait in shared memory call an address.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// The bits that are set in any lane's number, in every lane.
__device__ __forceinline__ unsigned any_lane(unsigned bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_or_sync(ALL_LANES, bits);
#else
    for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
        bits |= __shfl_xor_sync(ALL_LANES, bits, stride);
    }
    return bits;
#endif
}

__device__ __forceinline__ float infinite_distance() { return __uint_as_float(0x7f800000u); }

// A candidate as one number: the bits of its squared distance, then its index. Distances are not negative, so their bits
// order as they do, and comparing keys compares the pair (distance, index): an equal, later point never pushes out an
// earlier one.
using Key = unsigned long long;

// What fills unused places: (+inf, 0xffffffff), after every real key.
constexpr Key PADDING = 0x7f800000ffffffffull;

__device__ __forceinline__ Key key_of(float squared_distance, unsigned index) {
    return static_cast<Key>(__float_as_uint(squared_distance)) << 32 | index;
}

__device__ __forceinline__ float distance_of(Key key) { return __uint_as_float(static_cast<unsigned>(key >> 32)); }

__device__ __forceinline__ unsigned index_of(Key key) { return static_cast<unsigned>(key); }

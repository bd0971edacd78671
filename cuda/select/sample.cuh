// An upper bound for the k-th distance from a sample of a row. Twin of crates/engines/src/select/sample.rs.
//
// The sample is the minima of groups of distances, which the threads of a block hold. The bound is the
// minimum of rank `rank`, with its last bits rounded up. It is a guess: k distances of the row are probably
// within it, which is checked afterwards. This is not in Hanák 2023.
#pragma once

#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Distances are not negative, so their bits sort like the floats.
constexpr unsigned INFINITE_BITS = 0x7f800000u;

// Lower bits of a bound that are rounded up instead of determined, which adds less than 1 / 2048.
constexpr unsigned LEAST_BIT = 12;

// Vectors of a group read at once. From sm_100 on there are not enough registers for more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr unsigned SAMPLED_AT_ONCE = 2;
#else
constexpr unsigned SAMPLED_AT_ONCE = 8;
#endif

// How a row is sampled.
struct Sampling {
    unsigned minima;  // number of groups
    unsigned group;   // distances per group, a multiple of four
    unsigned rank;    // among the minima
};

// Minimum `number` of a row's sample. Groups are consecutive distances, spread evenly over the row, so that a
// sorted row is sampled from end to end.
__device__ __forceinline__ unsigned sampled_minimum(const float* row, unsigned n, const Sampling& sampling,
                                                    unsigned number) {
    const float4* group = reinterpret_cast<const float4*>(
        row + number * (n / sampling.group / sampling.minima) * sampling.group);
    float least = infinite_distance();
#pragma unroll SAMPLED_AT_ONCE
    for (unsigned i = 0; i < sampling.group / 4; ++i) {
        float4 four = group[i];
        least = fminf(least, fminf(fminf(four.x, four.y), fminf(four.z, four.w)));
    }
    return __float_as_uint(least);
}

// The `rank`-th smallest of the sample's minima, rounded up. Candidates are below it. All threads of a block
// of THREADS call; `totals` is two words of shared memory.
template <unsigned THREADS>
__device__ __forceinline__ float sampled_bound(const float* row, unsigned n, const Sampling& sampling,
                                               unsigned* totals) {
    constexpr unsigned EACH = MAX_MINIMA / THREADS;
    unsigned mine[EACH];
#pragma unroll
    for (unsigned i = 0; i < EACH; ++i) {
        unsigned number = i * THREADS + threadIdx.x;
        mine[i] = number < sampling.minima ? sampled_minimum(row, n, sampling, number) : INFINITE_BITS;
    }
    unsigned bound = 0;
    if (threadIdx.x < 2) {
        totals[threadIdx.x] = 0;
    }
    __syncthreads();
    // From the highest bit down: a bit stays 0 if enough minima are below the smallest number that has it
    // set.
#pragma unroll 1
    for (unsigned bit = 30; bit >= LEAST_BIT; --bit) {
        unsigned least = bound | 1u << bit;
        unsigned below = 0;
#pragma unroll
        for (unsigned i = 0; i < EACH; ++i) {
            below += mine[i] < least;
        }
        below = warp::reduce_add(below);
        if (warp::lane_id() == 0 && below > 0) {
            atomicAdd(&totals[bit % 2], below);
        }
        __syncthreads();
        bound = totals[bit % 2] < sampling.rank ? least : bound;
        // All threads read the other total before the barrier; it is used next.
        if (threadIdx.x == 0) {
            totals[(bit + 1) % 2] = 0;
        }
        __syncthreads();
    }
    return __uint_as_float(min(bound + (1u << LEAST_BIT), INFINITE_BITS));
}

}  // namespace warpscope::select

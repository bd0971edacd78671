// A bound of the k-th distance from a sample of a row. Twin of crates/engines/src/select/sample.rs.
//
// The minima of groups of sampled distances are held by the threads of a block, and the bound is the smallest
// number that so many of them do not exceed. It is a guess: that k distances of the row are within it is
// likely and is checked afterwards. Of its own, not of Hanák 2023.
#pragma once

#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Distances are not negative: their bits order as they do.
constexpr unsigned INFINITE_BITS = 0x7f800000u;

// Bits of a bound that are found; the others are rounded up, by less than 1 / 2048.
constexpr unsigned LEAST_BIT = 12;

// Vectors of a group that are read at once. From sm_100 on the compiler has no registers left for more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr unsigned SAMPLED_AT_ONCE = 2;
#else
constexpr unsigned SAMPLED_AT_ONCE = 8;
#endif

// How a row is sampled.
struct Sampling {
    unsigned minima;  // of groups
    unsigned group;   // distances of a group, a multiple of four
    unsigned rank;    // among the minima
};

// Minimum `number` of a row's sample. Groups are consecutive distances, spread over the row evenly, so that
// an ordered row is sampled from end to end.
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

// What no more than `rank` of the sample's minima are below, or a little more: a distance that is a candidate
// is less. All threads of a block of THREADS call; `totals` is two words of shared memory.
template <unsigned THREADS>
__device__ __forceinline__ float sampled_bound(const float* row, unsigned n, const Sampling& sampling,
                                               unsigned* totals) {
    constexpr unsigned EACH = MOST_MINIMA / THREADS;
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
    // From the highest bit on: it stays 0 if enough minima are below what it would be the lowest number of.
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
        // The other one was read by all before the barrier, and is used next.
        if (threadIdx.x == 0) {
            totals[(bit + 1) % 2] = 0;
        }
        __syncthreads();
    }
    return __uint_as_float(min(bound + (1u << LEAST_BIT), INFINITE_BITS));
}

}  // namespace warpscope::select

// A bound of the k-th distance from a sample of a row. Twin of src/engines/select/sample.rs.
//
// The minima of groups of sampled distances are held by the threads of a block, and the bound is the smallest number that so many of them do
// not exceed. It is a guess: that k distances of the row are within it is likely and is checked afterwards. Of its own, not of Hanák 2023.
#pragma once

#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"
#include "warp/reduce.cuh"

namespace warpscope::select {

// Distances are not negative: their bits order as they do.
constexpr unsigned INFINITE_BITS = 0x7f800000u;

// Bits of a bound that are found; the others are rounded up, by less than 1 / 2048.
constexpr unsigned LEAST_BIT = 12;

// Minimum `number` of a row's sample. Groups are consecutive distances, spread over the row evenly, so that an ordered row is
// sampled from end to end.
__device__ __forceinline__ unsigned sampled_minimum(const float* row, unsigned n, unsigned minima, unsigned number) {
    unsigned first = number * (n / SAMPLE_GROUP / minima) * SAMPLE_GROUP;
    const float4* group = reinterpret_cast<const float4*>(row + first);
    float4 a = group[0], b = group[1];
    return __float_as_uint(fminf(fminf(fminf(a.x, a.y), fminf(a.z, a.w)), fminf(fminf(b.x, b.y), fminf(b.z, b.w))));
}
static_assert(SAMPLE_GROUP == 8, "a group is read as two float4");

// What no more than `rank` of the sample's minima are below, or a little more: a distance that is a candidate is less. All threads of a
// block of THREADS call; `totals` is two words of shared memory.
template <unsigned THREADS>
__device__ __forceinline__ float sampled_bound(const float* row, unsigned n, unsigned minima, unsigned rank, unsigned* totals) {
    unsigned mine[SAMPLE_MINIMA];
#pragma unroll
    for (unsigned i = 0; i < SAMPLE_MINIMA; ++i) {
        unsigned number = i * THREADS + threadIdx.x;
        mine[i] = number < minima ? sampled_minimum(row, n, minima, number) : INFINITE_BITS;
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
        for (unsigned i = 0; i < SAMPLE_MINIMA; ++i) {
            below += mine[i] < least;
        }
        below = warp::reduce_add(below);
        if (warp::lane_id() == 0 && below > 0) {
            atomicAdd(&totals[bit % 2], below);
        }
        __syncthreads();
        bound = totals[bit % 2] < rank ? least : bound;
        // The other one was read by all before the barrier, and is used next.
        if (threadIdx.x == 0) {
            totals[(bit + 1) % 2] = 0;
        }
        __syncthreads();
    }
    return __uint_as_float(min(bound + (1u << LEAST_BIT), INFINITE_BITS));
}

}  // namespace warpscope::select

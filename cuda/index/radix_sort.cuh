// A pass of a radix sort, from the lowest digit to the highest, stable in each: of 64-bit codes with a 32-bit number beside them.
// On the CPU the standard library sorts (src/engines/index/tree.rs).
//
// 1. count: the keys of each digit in each block's tile of SORT_THREADS x SORT_ITEMS keys.
// 2. scan: a block a digit turns the counts of all tiles into how many keys of the digit lie in the tiles before.
// 3. scatter: every key goes to its place. Within a tile, a warp has consecutive keys, and so do its rounds: keys of the same digit
//    keep their order.
//
// The caller launches count and scatter with Pass::blocks blocks, scan with a block a digit, each of SORT_THREADS threads.
#pragma once

#include "index/interface.cuh"
#include "warp/reduce.cuh"

namespace warpscope::index {

constexpr unsigned DIGITS = 1u << SORT_BITS;
constexpr unsigned SORT_WARPS = SORT_THREADS / WARP;
constexpr unsigned TILE = SORT_THREADS * SORT_ITEMS;
static_assert(SORT_THREADS == DIGITS, "a thread has a digit");

__device__ __forceinline__ unsigned digit_of(const Pass& pass, unsigned long long code) {
    return static_cast<unsigned>(code >> pass.shift) & (DIGITS - 1);
}

// The lanes with the same digit as this one.
__device__ __forceinline__ unsigned same_digit(unsigned digit, bool there) {
    unsigned lanes = __ballot_sync(ALL_LANES, there);
    lanes = there ? lanes : ~lanes;
#pragma unroll
    for (unsigned bit = 0; bit < SORT_BITS; ++bit) {
        unsigned set = __ballot_sync(ALL_LANES, digit >> bit & 1);
        lanes &= digit >> bit & 1 ? set : ~set;
    }
    return lanes;
}

__device__ __forceinline__ void count(const Pass& pass) {
    __shared__ unsigned histogram[DIGITS];
    histogram[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = blockIdx.x * TILE + item * SORT_THREADS + threadIdx.x;
        if (at < pass.count) {
            atomicAdd(&histogram[digit_of(pass, pass.codes[at])], 1);
        }
    }
    __syncthreads();
    pass.counts[threadIdx.x * pass.blocks + blockIdx.x] = histogram[threadIdx.x];
}

// Exclusive prefix sum over the block's threads; `total` is the sum of all.
__device__ __forceinline__ unsigned exclusive_sum(unsigned value, unsigned& total, unsigned (&sums)[SORT_WARPS]) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned inclusive = warp::inclusive_sum(value, lane);
    // Sums of the call before may still be read.
    __syncthreads();
    if (lane == WARP - 1) {
        sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned before = 0;
    total = 0;
#pragma unroll
    for (unsigned other = 0; other < SORT_WARPS; ++other) {
        before += other < warp ? sums[other] : 0;
        total += sums[other];
    }
    return before + inclusive - value;
}

__device__ __forceinline__ void scan(const Pass& pass) {
    __shared__ unsigned sums[SORT_WARPS];
    unsigned* row = pass.counts + static_cast<size_t>(blockIdx.x) * pass.blocks;
    unsigned before = 0;
    for (unsigned first = 0; first < pass.blocks; first += SORT_THREADS) {
        unsigned at = first + threadIdx.x;
        unsigned total;
        unsigned sum = exclusive_sum(at < pass.blocks ? row[at] : 0, total, sums);
        if (at < pass.blocks) {
            row[at] = before + sum;
        }
        before += total;
    }
    if (threadIdx.x == 0) {
        pass.totals[blockIdx.x] = before;
    }
}

__device__ __forceinline__ void scatter(const Pass& pass) {
    __shared__ unsigned sums[SORT_WARPS];
    __shared__ unsigned places[SORT_WARPS][DIGITS];
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    for (unsigned digit = lane; digit < DIGITS; digit += WARP) {
        places[warp][digit] = 0;
    }
    __syncwarp();
    unsigned first = blockIdx.x * TILE + warp * WARP * SORT_ITEMS + lane;
    unsigned long long codes[SORT_ITEMS];
    unsigned ranks[SORT_ITEMS];
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = first + item * WARP;
        bool there = at < pass.count;
        codes[item] = there ? pass.codes[at] : 0;
        unsigned digit = digit_of(pass, codes[item]);
        unsigned same = same_digit(digit, there);
        unsigned before = places[warp][digit];
        ranks[item] = before + __popc(same & warp::lanes_below(lane));
        // All have read before the first of each digit writes.
        __syncwarp();
        if (there && (same & warp::lanes_below(lane)) == 0) {
            places[warp][digit] = before + __popc(same);
        }
        __syncwarp();
    }
    // A thread has a digit: where its keys of this tile begin, and in the tile those of each warp.
    unsigned total;
    unsigned place = exclusive_sum(pass.totals[threadIdx.x], total, sums);
    place += pass.counts[static_cast<size_t>(threadIdx.x) * pass.blocks + blockIdx.x];
    // exclusive_sum's barriers have ordered what the warps counted.
#pragma unroll
    for (unsigned other = 0; other < SORT_WARPS; ++other) {
        unsigned counted = places[other][threadIdx.x];
        places[other][threadIdx.x] = place;
        place += counted;
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = first + item * WARP;
        if (at < pass.count) {
            unsigned to = places[warp][digit_of(pass, codes[item])] + ranks[item];
            pass.sorted_codes[to] = codes[item];
            pass.sorted_order[to] = pass.order[at];
        }
    }
}

}  // namespace warpscope::index

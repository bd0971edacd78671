// A radix sort from the lowest digit to the highest, stable in each, of 32-bit keys with a 32-bit number beside them: a kernel a digit
// (Adinets and Merrill, Onesweep, 2022). On the CPU the standard library sorts (src/engines/index/tree.rs).
//
// 1. tally: while keys are made, their digits are counted, of all passes at once: a pass changes the order of keys, not their digits.
// 2. sweep: a block takes the next tile of SORT_THREADS x SORT_ITEMS keys, ranks each among those of its digit, and learns how many of
//    each digit lie in the tiles before it by looking back over what their blocks have published (Merrill and Garland, Single-pass
//    parallel prefix scan with decoupled look-back, 2016). Within a tile a warp has consecutive keys, and so do its rounds: keys of the
//    same digit keep their order.
//
// The caller zeroes the counts, tiles and turns of all passes, and launches sweep with a block a tile, each of SORT_THREADS threads.
#pragma once

#include "index/interface.cuh"
#include "warp/reduce.cuh"

namespace warpscope::index {

constexpr unsigned DIGITS = 1u << SORT_BITS;
constexpr unsigned SORT_WARPS = SORT_THREADS / WARP;
constexpr unsigned TILE = SORT_THREADS * SORT_ITEMS;
static_assert(SORT_THREADS == DIGITS, "a thread has a digit");

// What a tile has published of a digit: nothing, its own number of keys, or that of all tiles up to it. There are fewer than 2^30
// keys, and flag and number are one word: whoever sees the flag sees the number.
constexpr unsigned OWN = 1u << 30, ALL = 2u << 30, NUMBER = OWN - 1;

// Tiles that are looked at together: their words are loaded at once.
constexpr unsigned BACK = 16;

__device__ __forceinline__ unsigned digit_of(unsigned key, unsigned shift) { return key >> shift & (DIGITS - 1); }

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

// Exclusive prefix sum over the block's threads.
__device__ __forceinline__ unsigned exclusive_sum(unsigned value, unsigned (&sums)[SORT_WARPS]) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned inclusive = warp::inclusive_sum(value, lane);
    // Sums of the call before may still be read.
    __syncthreads();
    if (lane == WARP - 1) {
        sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned before = 0;
#pragma unroll
    for (unsigned other = 0; other < SORT_WARPS; ++other) {
        before += other < warp ? sums[other] : 0;
    }
    return before + inclusive - value;
}

// Counts the digits of the keys of a tile, which `key(at)` makes.
template <class Make>
__device__ __forceinline__ void tally(unsigned* counts, unsigned count, unsigned passes, Make key) {
    __shared__ unsigned histogram[SORT_PASSES][DIGITS];
    for (unsigned pass = 0; pass < passes; ++pass) {
        histogram[pass][threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = blockIdx.x * TILE + item * SORT_THREADS + threadIdx.x;
        if (at < count) {
            unsigned made = key(at);
            for (unsigned pass = 0; pass < passes; ++pass) {
                atomicAdd(&histogram[pass][digit_of(made, pass * SORT_BITS)], 1);
            }
        }
    }
    __syncthreads();
    for (unsigned pass = 0; pass < passes; ++pass) {
        unsigned counted = histogram[pass][threadIdx.x];
        if (counted != 0) {
            atomicAdd(&counts[pass * DIGITS + threadIdx.x], counted);
        }
    }
}

// How many keys of this thread's digit lie in the tiles before this one, which has `own`.
__device__ __forceinline__ unsigned look_back(volatile unsigned* tiles, unsigned tile, unsigned own) {
    tiles += threadIdx.x;
    tiles[tile * DIGITS] = (tile == 0 ? ALL : OWN) | own;
    unsigned before = 0;
    for (unsigned at = tile; at > 0;) {
        unsigned words[BACK];
#pragma unroll
        for (unsigned i = 0; i < BACK; ++i) {
            unsigned word = i < at ? tiles[(at - 1 - i) * DIGITS] : +ALL;
            words[i] = word;
        }
#pragma unroll
        for (unsigned i = 0; i < BACK; ++i) {
            if (at == 0 || words[i] == 0) {
                break;
            }
            before += words[i] & NUMBER;
            at = (words[i] & ALL) != 0 ? 0 : at - 1;
        }
    }
    if (tile > 0) {
        tiles[tile * DIGITS] = ALL | (before + own);
    }
    return before;
}

__device__ __forceinline__ void sweep(const Pass& pass) {
    __shared__ unsigned sums[SORT_WARPS];
    __shared__ unsigned places[SORT_WARPS][DIGITS];
    __shared__ unsigned turned[2][TILE];
    __shared__ unsigned turn;
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) {
        // Not the block's number: blocks start in any order, and each waits for the tiles before its own.
        turn = atomicAdd(pass.turn, 1);
    }
    for (unsigned digit = lane; digit < DIGITS; digit += WARP) {
        places[warp][digit] = 0;
    }
    __syncthreads();
    unsigned tile = turn;
    unsigned first = tile * TILE + warp * WARP * SORT_ITEMS + lane;
    unsigned keys[SORT_ITEMS], numbers[SORT_ITEMS], ranks[SORT_ITEMS];
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = first + item * WARP;
        keys[item] = at < pass.count ? pass.keys[at] : 0xffffffffu;
        numbers[item] = at < pass.count ? (pass.order == nullptr ? at : pass.order[at]) : 0;
    }
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        bool there = first + item * WARP < pass.count;
        unsigned digit = digit_of(keys[item], pass.shift);
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
    __syncthreads();
    // A thread has a digit: how many keys of it the tile has, where they begin in the tile, and where in the result.
    unsigned own = 0;
#pragma unroll
    for (unsigned other = 0; other < SORT_WARPS; ++other) {
        unsigned counted = places[other][threadIdx.x];
        places[other][threadIdx.x] = own;
        own += counted;
    }
    unsigned in_tile = exclusive_sum(own, sums);
    unsigned place = exclusive_sum(pass.counts[threadIdx.x], sums) + look_back(pass.tiles, tile, own);
#pragma unroll
    for (unsigned other = 0; other < SORT_WARPS; ++other) {
        places[other][threadIdx.x] += in_tile;
    }
    __syncthreads();
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        if (first + item * WARP < pass.count) {
            unsigned to = places[warp][digit_of(keys[item], pass.shift)] + ranks[item];
            turned[0][to] = keys[item];
            turned[1][to] = numbers[item];
        }
    }
    __syncthreads();
    // From the tile's order, in which neighbours go to neighbouring places.
    places[0][threadIdx.x] = place - in_tile;
    __syncthreads();
    unsigned count = min(pass.count - tile * TILE, TILE);
#pragma unroll
    for (unsigned item = 0; item < SORT_ITEMS; ++item) {
        unsigned at = item * SORT_THREADS + threadIdx.x;
        if (at < count) {
            unsigned key = turned[0][at];
            unsigned to = places[0][digit_of(key, pass.shift)] + at;
            pass.sorted_keys[to] = key;
            pass.sorted_order[to] = turned[1][at];
        }
    }
}

}  // namespace warpscope::index

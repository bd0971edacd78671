// One pass of a radix sort over a block's tile of keys, each with a number (its value). The sort is stable.
// The tile is first ordered in shared memory, so that neighbouring threads write to neighbouring addresses
// (Satish, Harris and Garland 2009).
//
// Scope: a block with one thread per digit; all threads call together. A warp owns consecutive keys of the
// tile: item i of lane L of warp W is key (W ITEMS + i) WARP + L.
#pragma once

#include "warp/lanes.cuh"

namespace warpscope::block {

// The lanes with the same digit as this one, among those that have a key.
template <unsigned BITS>
__device__ __forceinline__ unsigned same_digit(unsigned digit, bool there) {
    unsigned lanes = __ballot_sync(ALL_LANES, there);
    lanes = there ? lanes : ~lanes;
#pragma unroll
    for (unsigned bit = 0; bit < BITS; ++bit) {
        unsigned set = __ballot_sync(ALL_LANES, digit >> bit & 1);
        lanes &= digit >> bit & 1 ? set : ~set;
    }
    return lanes;
}

// Exclusive prefix sum over the block's threads.
template <unsigned WARPS>
__device__ __forceinline__ unsigned exclusive_sum(unsigned value, unsigned (&sums)[WARPS]) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned inclusive = warp::inclusive_sum(value, lane);
    // Sums of the previous call may still be read.
    __syncthreads();
    if (lane == WARP - 1) {
        sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned before = 0;
#pragma unroll
    for (unsigned other = 0; other < WARPS; ++other) {
        before += other < warp ? sums[other] : 0;
    }
    return before + inclusive - value;
}

template <unsigned BITS, unsigned ITEMS>
struct RadixTile {
    static constexpr unsigned DIGITS = 1u << BITS;
    static constexpr unsigned WARPS = DIGITS / WARP;
    static constexpr unsigned KEYS = DIGITS * ITEMS;
    static_assert(ITEMS % 2 == 0 && ITEMS * WARP <= 1u << 16, "two ranks in a word");

    // Each thread's keys and their numbers, and the rank of each key in its warp. Two ranks share a word,
    // because registers limit the blocks per multiprocessor.
    struct Items {
        unsigned keys[ITEMS];
        unsigned numbers[ITEMS];
        unsigned ranks[ITEMS / 2];
    };

    unsigned sums[WARPS];
    unsigned places[WARPS][DIGITS];
    unsigned turned[2][KEYS];

    static __device__ __forceinline__ unsigned digit_of(unsigned key, unsigned shift) {
        return key >> shift & (DIGITS - 1);
    }

    // This thread's first item in the tile; the others follow at every 32nd key.
    static __device__ __forceinline__ unsigned first_place() {
        return threadIdx.x / WARP * ITEMS * WARP + warp::lane_id();
    }

    // How many of the first `count` keys are at `place` or after it.
    static __device__ __forceinline__ unsigned from(unsigned place, unsigned count) {
        return count > place ? count - place : 0;
    }

    // Reads the first `count` keys of the tile that begins at `begin`, and their numbers. Without `numbers`,
    // a key's number is its index.
    static __device__ __forceinline__ void read(Items& items, const unsigned* keys, const unsigned* numbers,
                                                unsigned begin, unsigned count) {
        unsigned first = first_place(), mine = from(first, count);
        keys += begin + static_cast<size_t>(first);
#pragma unroll
        for (unsigned item = 0; item < ITEMS; ++item) {
            items.keys[item] = item * WARP < mine ? keys[item * WARP] : 0xffffffffu;
        }
        if (numbers != nullptr) {
            numbers += begin + static_cast<size_t>(first);
#pragma unroll
            for (unsigned item = 0; item < ITEMS; ++item) {
                items.numbers[item] = item * WARP < mine ? numbers[item * WARP] : 0;
            }
        } else {
#pragma unroll
            for (unsigned item = 0; item < ITEMS; ++item) {
                items.numbers[item] = begin + first + item * WARP;
            }
        }
    }

    // Ranks the first `count` keys of the tile among those with the same digit in the same warp; returns how
    // many keys have this thread's digit.
    __device__ __forceinline__ unsigned rank(Items& items, unsigned count, unsigned shift) {
        unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP, mine = from(first_place(), count);
        for (unsigned digit = lane; digit < DIGITS; digit += WARP) {
            places[warp][digit] = 0;
        }
        __syncwarp();
#pragma unroll
        for (unsigned item = 0; item < ITEMS; ++item) {
            bool there = item * WARP < mine;
            unsigned digit = digit_of(items.keys[item], shift);
            unsigned same = same_digit<BITS>(digit, there);
            unsigned before = places[warp][digit];
            unsigned rank = before + __popc(same & warp::lanes_below(lane));
            items.ranks[item / 2] = item % 2 == 0 ? rank : items.ranks[item / 2] | rank << 16;
            // All lanes have read before the first lane of each digit writes.
            __syncwarp();
            if (there && (same & warp::lanes_below(lane)) == 0) {
                places[warp][digit] = before + __popc(same);
            }
            __syncwarp();
        }
        __syncthreads();
        unsigned own = 0;
#pragma unroll
        for (unsigned other = 0; other < WARPS; ++other) {
            unsigned counted = places[other][threadIdx.x];
            places[other][threadIdx.x] = own;
            own += counted;
        }
        return own;
    }

    // Outputs the ranked keys in the order of their digits: put(place, key, number). This thread's digit
    // begins at `in_tile` in the tile, an exclusive sum of what rank returned, and at `place` in the result.
    template <class Put>
    __device__ __forceinline__ void write(const Items& items, unsigned count, unsigned shift,
                                          unsigned in_tile, unsigned place, Put put) {
        unsigned warp = threadIdx.x / WARP, mine = from(first_place(), count);
#pragma unroll
        for (unsigned other = 0; other < WARPS; ++other) {
            places[other][threadIdx.x] += in_tile;
        }
        __syncthreads();
#pragma unroll
        for (unsigned item = 0; item < ITEMS; ++item) {
            if (item * WARP < mine) {
                unsigned rank = items.ranks[item / 2] >> item % 2 * 16 & 0xffff;
                unsigned to = places[warp][digit_of(items.keys[item], shift)] + rank;
                turned[0][to] = items.keys[item];
                turned[1][to] = items.numbers[item];
            }
        }
        __syncthreads();
        // Write in the tile's order, so that neighbouring threads write to neighbouring addresses.
        places[0][threadIdx.x] = place - in_tile;
        __syncthreads();
        unsigned turned_here = from(threadIdx.x, count);
        // Not fully unrolled: each iteration takes registers for two addresses.
#pragma unroll 4
        for (unsigned item = 0; item < ITEMS; ++item) {
            unsigned at = item * DIGITS + threadIdx.x;
            if (item * DIGITS < turned_here) {
                unsigned key = turned[0][at];
                put(places[0][digit_of(key, shift)] + at, key, turned[1][at]);
            }
        }
    }
};

}  // namespace warpscope::block

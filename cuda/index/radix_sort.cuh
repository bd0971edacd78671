// A radix sort of 32-bit keys, each with a 32-bit number, from the lowest digit to the highest; stable. One
// kernel per digit (Adinets and Merrill, Onesweep, 2022). On the CPU the standard library sorts
// (crates/engines/src/index/tree.rs).
//
// 1. tally: while keys are made, their digits are counted for all passes at once: a pass changes the order of
//    keys, not their digits.
// 2. sweep: a block takes the next tile of SORT_THREADS x SORT_ITEMS keys and ranks each among those with its
//    digit. It finds how many keys of each digit are in earlier tiles by looking back over what their blocks
//    have published (Merrill and Garland, Single-pass parallel prefix scan with decoupled look-back, 2016). A
//    warp owns consecutive keys of the tile, so keys of the same digit keep their order.
//
// The caller zeroes the counts, tiles and turns of all passes, and launches sweep with one block per tile,
// each of SORT_THREADS threads.
#pragma once

#include "block/radix_tile.cuh"
#include "index/interface.cuh"
#include "ptx.cuh"

namespace warpscope::index {

using Tile = block::RadixTile<SORT_BITS, SORT_ITEMS>;
constexpr unsigned DIGITS = Tile::DIGITS;
constexpr unsigned TILE = Tile::KEYS;
static_assert(SORT_THREADS == DIGITS, "a thread has a digit");

// What a tile has published for a digit: nothing, its own number of keys, or that of all tiles up to it.
// There are fewer than 2^30 keys, so flag and number share one word, and relaxed accesses suffice: a thread
// that sees the flag also sees the number.
constexpr unsigned OWN = 1u << 30, ALL = 2u << 30, NUMBER = OWN - 1;

// Tiles per look-back step, whose words are loaded together.
constexpr unsigned BACK = 16;

// Makes the keys of a tile with `key(at)` and counts their digits.
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
                atomicAdd(&histogram[pass][Tile::digit_of(made, pass * SORT_BITS)], 1);
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

// The number of keys of this thread's digit in earlier tiles; this tile has `own`.
__device__ __forceinline__ unsigned look_back(unsigned* tiles, unsigned tile, unsigned own) {
    tiles += threadIdx.x;
    ptx::store_relaxed(tiles + tile * DIGITS, (tile == 0 ? ALL : OWN) | own);
    unsigned before = 0;
    for (unsigned at = tile; at > 0;) {
        unsigned words[BACK];
#pragma unroll
        for (unsigned i = 0; i < BACK; ++i) {
            words[i] = i < at ? ptx::load_relaxed(tiles + (at - 1 - i) * DIGITS) : ALL;
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
        ptx::store_relaxed(tiles + tile * DIGITS, ALL | (before + own));
    }
    return before;
}

__device__ __forceinline__ void sweep(const Pass& pass) {
    __shared__ Tile memory;
    __shared__ unsigned turn;
    if (threadIdx.x == 0) {
        // Not the block's number: blocks start in any order, and each waits for earlier tiles.
        turn = atomicAdd(pass.turn, 1);
    }
    __syncthreads();
    unsigned tile = turn, first = tile * TILE;
    unsigned count = min(pass.count - first, TILE);
    Tile::Items items;
    Tile::read(items, pass.keys, pass.order, first, count);
    // For this thread's digit: how many keys the tile has, where they begin in the tile, and where in the
    // result.
    unsigned own = memory.rank(items, count, pass.shift);
    unsigned in_tile = block::exclusive_sum(own, memory.sums);
    unsigned place =
        block::exclusive_sum(pass.counts[threadIdx.x], memory.sums) + look_back(pass.tiles, tile, own);
    memory.write(items, count, pass.shift, in_tile, place,
                 [&pass](unsigned to, unsigned key, unsigned number) {
                     pass.sorted_keys[to] = key;
                     pass.sorted_order[to] = number;
                 });
}

}  // namespace warpscope::index

// A row of distances, tile after tile, and what is taken from it in the order of positions.
//
// Scope: a block of PASS_THREADS threads, all of which call together. A warp has consecutive floats of a tile, each lane four at a time. Sums
// over the lanes, and over the warps before, tell where each writes what it takes, with a barrier a tile.
#pragma once

#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"
#include "warp/reduce.cuh"

namespace warpscope::select {

// Floats of a tile that a thread has.
constexpr unsigned PASS_ITEMS = 8;
constexpr unsigned PASS_WARPS = PASS_THREADS / WARP;
constexpr unsigned PASS_ROUNDS = PASS_ITEMS / 4;
constexpr unsigned OF_WARP = PASS_ITEMS * WARP;
constexpr unsigned OF_TILE = PASS_ITEMS * PASS_THREADS;
static_assert(OF_TILE < 1u << 16, "two counts in a word");

// The bits of what is behind the end of a row.
constexpr unsigned NOWHERE = 0xffffffffu;

// Distances, and their positions; none where they are in the order of positions. At a multiple of four floats.
struct Source {
    const float* distances;
    const unsigned* positions;
    unsigned length;
};

// Calls each(bits, begin of the tile, place in it of the thread's first) for each tile of a source.
template <class Each>
__device__ __forceinline__ void in_tiles(const Source& source, Each each) {
    unsigned place = threadIdx.x / WARP * OF_WARP + warp::lane_id() * 4;
    unsigned begin = 0;
    for (unsigned rest = source.length; rest > 0; begin += OF_TILE, rest -= min(rest, OF_TILE)) {
        const float4* fours = reinterpret_cast<const float4*>(source.distances + begin + static_cast<size_t>(place));
        unsigned mine = rest > place ? rest - place : 0;
        unsigned bits[PASS_ITEMS];
#pragma unroll
        for (unsigned round = 0; round < PASS_ROUNDS; ++round) {
            unsigned at = round * WARP * 4;
            float4 four = at < mine ? fours[round * WARP] : make_float4(0, 0, 0, 0);
            bits[4 * round] = at < mine ? __float_as_uint(four.x) : NOWHERE;
            bits[4 * round + 1] = at + 1 < mine ? __float_as_uint(four.y) : NOWHERE;
            bits[4 * round + 2] = at + 2 < mine ? __float_as_uint(four.z) : NOWHERE;
            bits[4 * round + 3] = at + 3 < mine ? __float_as_uint(four.w) : NOWHERE;
        }
        each(bits, begin, place);
    }
}

// What class_of makes of a distance: two counts in a word.
enum Class : unsigned { NEITHER = 0, FIRST = 1, SECOND = 1u << 16 };

struct OrderMemory {
    unsigned warps[2][PASS_WARPS];
};

struct Taken {
    unsigned first;
    unsigned second;
};

// Calls put(bits, place in the source, those of the first class before it, those of the second) for each distance that is of a class, and
// returns how many there are of each.
template <class ClassOf, class Put>
__device__ __forceinline__ Taken in_order(OrderMemory& memory, const Source& source, ClassOf class_of, Put put) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP, side = 0;
    Taken taken = {0, 0};
    in_tiles(source, [&](const unsigned (&bits)[PASS_ITEMS], unsigned begin, unsigned place) {
        unsigned mine = 0;
#pragma unroll
        for (unsigned item = 0; item < PASS_ITEMS; ++item) {
            mine += class_of(bits[item]);
        }
        unsigned of_warp = warp::reduce_add(mine);
        if (lane == 0) {
            memory.warps[side][warp] = of_warp;
        }
        __syncthreads();
        // The other side is written next: who still reads this one has not come to the barrier after it.
        unsigned of_lane = lane < PASS_WARPS ? memory.warps[side][lane] : 0;
        side ^= 1;
        unsigned through = warp::inclusive_sum(of_lane, lane);
        unsigned before = __shfl_sync(ALL_LANES, through - of_lane, warp);
        unsigned all = __shfl_sync(ALL_LANES, through, WARP - 1);
        if (of_warp != 0) {
#pragma unroll
            for (unsigned round = 0; round < PASS_ROUNDS; ++round) {
                unsigned own = 0;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i) {
                    own += class_of(bits[4 * round + i]);
                }
                unsigned here = warp::inclusive_sum(own, lane);
                unsigned at = before + here - own;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i) {
                    unsigned kind = class_of(bits[4 * round + i]);
                    if (kind != NEITHER) {
                        put(bits[4 * round + i], begin + place + round * WARP * 4 + i, taken.first + (at & 0xffff), taken.second + (at >> 16));
                        at += kind;
                    }
                }
                before += __shfl_sync(ALL_LANES, here, WARP - 1);
            }
        }
        taken.first += all & 0xffff;
        taken.second += all >> 16;
    });
    // What was written is seen by all.
    __syncthreads();
    return taken;
}

}  // namespace warpscope::select

// k-means clustering: seeds by k-means++, then Lloyd's iterations. Twin of crates/engines/src/step/kmeans.rs,
// which explains why all sums are of integers.
//
//   weigh, choose    a turn of k-means++: the caller launches weigh with one thread per point in blocks of
//                    SEED_THREADS, then choose with one such block, for every seed but the first
//   assign, move     an iteration: assign has one thread per point, move one per coordinate of a centre, in
//                    blocks of ASSIGN_THREADS; before assign the caller sets sums and changed to 0
#pragma once

#include "distance.cuh"
#include "key.cuh"
#include "step/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::step {

// Coordinates of centres that assign stages together; a centre has fewer than 1024.
constexpr unsigned ASSIGN_TILE = 4096;

// A missing seed: all points coincide with seeds.
constexpr unsigned NO_SEED = 0xffffffffu;

// The cell of a coordinate along an axis.
__device__ __forceinline__ unsigned long long cell(const Scale& scale, unsigned axis, float coordinate) {
    return __double2ull_rz(__dmul_rn(__dsub_rn(coordinate, scale.low[axis]), scale.cells));
}

// The weight of a point, given its squared distance from the nearest seed.
__device__ __forceinline__ unsigned long long weight(const Scale& scale, float squared_distance) {
    return __double2ull_rz(__dmul_rn(squared_distance, scale.weights));
}

// The mean coordinate of `count` points whose cells add up to `sum`.
__device__ __forceinline__ float mean(const Scale& scale, unsigned axis, unsigned long long sum,
                                      unsigned count) {
    double offset = __ddiv_rn(__ddiv_rn(__ull2double_rn(sum), count), scale.cells);
    return __double2float_rn(__dadd_rn(scale.low[axis], offset));
}

// A pseudo-random number for each turn: the finaliser of SplitMix64 with a fixed seed.
__device__ __forceinline__ unsigned long long random(unsigned long long turn) {
    unsigned long long bits = (turn + 1) * 0x9e3779b97f4a7c15ull;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
    return bits ^ bits >> 31;
}

// Scales a random number to the range below `total`.
__device__ __forceinline__ unsigned long long below(unsigned long long total, unsigned long long random) {
    return __umul64hi(random, total);
}

// Exclusive prefix sum over the SEED_THREADS threads of a block; `total` is the sum of all.
__device__ __forceinline__ unsigned long long exclusive_sum(unsigned long long value,
                                                            unsigned long long& total) {
    __shared__ unsigned long long sums[SEED_THREADS / WARP];
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned long long inclusive = warp::inclusive_sum(value, lane);
    // Sums of the previous call may still be read.
    __syncthreads();
    if (lane == WARP - 1) {
        sums[warp] = inclusive;
    }
    __syncthreads();
    unsigned long long before = 0;
    total = 0;
    for (unsigned other = 0; other < SEED_THREADS / WARP; ++other) {
        before += other < warp ? sums[other] : 0;
        total += sums[other];
    }
    return before + inclusive - value;
}

// Updates the distances to the nearest seed with the last seed; writes the sum of the weights of a block's
// points.
__device__ __forceinline__ void weigh(const Seeding& seeding) {
    unsigned at = blockIdx.x * SEED_THREADS + threadIdx.x;
    unsigned seed = seeding.seeds[seeding.turn - 1];
    unsigned long long own = 0;
    if (at < seeding.n && seed != NO_SEED) {
        const float* row = row_of(seeding.rows, at, seeding.d);
        const float* other = row_of(seeding.rows, seed, seeding.d);
        float distance = 0.0f;
        for (unsigned j = 0; j < seeding.d; ++j) {
            distance = add_squared_difference(row[j], other[j], distance);
        }
        float nearest = seeding.turn == 1 ? distance : fminf(distance, seeding.nearest[at]);
        seeding.nearest[at] = nearest;
        own = weight(seeding.scale, nearest);
    }
    unsigned long long total;
    exclusive_sum(own, total);
    if (threadIdx.x == 0) {
        seeding.sums[blockIdx.x] = total;
    }
}

// Chooses the next seed with a probability proportional to its weight: first the block of weigh, then the
// point in it.
__device__ __forceinline__ void choose_seed(const Seeding& seeding) {
    __shared__ unsigned chosen_block;
    __shared__ unsigned long long chosen_before;
    unsigned long long all = 0, total;
    for (unsigned first = 0; first < seeding.blocks; first += SEED_THREADS) {
        unsigned block = first + threadIdx.x;
        exclusive_sum(block < seeding.blocks ? seeding.sums[block] : 0, total);
        all += total;
    }
    if (all == 0) {
        if (threadIdx.x == 0) {
            seeding.seeds[seeding.turn] = NO_SEED;
        }
        return;
    }
    unsigned long long target = below(all, random(seeding.turn));
    unsigned long long before = 0;
    for (unsigned first = 0; first < seeding.blocks; first += SEED_THREADS) {
        unsigned block = first + threadIdx.x;
        unsigned long long own = block < seeding.blocks ? seeding.sums[block] : 0;
        unsigned long long start = before + exclusive_sum(own, total);
        if (start <= target && target < start + own) {
            chosen_block = block;
            chosen_before = start;
        }
        before += total;
    }
    __syncthreads();
    unsigned at = chosen_block * SEED_THREADS + threadIdx.x;
    unsigned long long own = at < seeding.n ? weight(seeding.scale, seeding.nearest[at]) : 0;
    unsigned long long start = chosen_before + exclusive_sum(own, total);
    if (start <= target && target < start + own) {
        seeding.seeds[seeding.turn] = at;
    }
}

// The centre with the smallest (distance, number) among `count` staged ones, or the previous `nearest`. D is
// 2 or 3, or 0 for any other d.
template <int D>
__device__ __forceinline__ Key nearest_centre(const float* centres, unsigned first, unsigned count,
                                              const float* point, unsigned d, Key nearest) {
    unsigned dims = D == 0 ? d : D;
    for (unsigned centre = 0; centre < count; ++centre) {
        float distance = 0.0f;
#pragma unroll
        for (unsigned j = 0; j < dims; ++j) {
            distance = add_squared_difference(centres[centre * dims + j], point[j], distance);
        }
        Key key = key_of(distance, first + centre);
        nearest = choose(key < nearest, key, nearest);
    }
    return nearest;
}

// Assigns points to the nearest centre by the distance that all engines share, or to the first of equally
// near ones, and adds up their cells. Centres are staged in `tile`.
template <int D>
__device__ __forceinline__ void assign(const Lloyd& lloyd, float (&tile)[ASSIGN_TILE]) {
    unsigned d = D == 0 ? lloyd.d : D;
    unsigned at = blockIdx.x * ASSIGN_THREADS + threadIdx.x;
    bool there = at < lloyd.n;
    const float* row = row_of(lloyd.rows, there ? at : 0, d);
    float point[D == 0 ? 1 : D];
    if constexpr (D != 0) {
        load_row<D>(point, row);
    }
    Key nearest = PADDING;
    unsigned in_tile = ASSIGN_TILE / d;
    for (unsigned first = 0; first < lloyd.clusters; first += in_tile) {
        unsigned count = min(in_tile, lloyd.clusters - first);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < count * d; i += ASSIGN_THREADS) {
            tile[i] = lloyd.centres[first * d + i];
        }
        __syncthreads();
        nearest = nearest_centre<D>(tile, first, count, D == 0 ? row : point, d, nearest);
    }
    unsigned cluster = index_of(nearest);
    bool changes = there && lloyd.assigned[at] != cluster;
    unsigned changed = __popc(__ballot_sync(ALL_LANES, changes));
    if (changed > 0 && warp::lane_id() == 0) {
        atomicAdd(lloyd.changed, changed);
    }
    if (changes) {
        lloyd.assigned[at] = cluster;
    }
    if (there) {
        unsigned long long* sums = row_of(lloyd.sums, cluster, d + 1);
        for (unsigned j = 0; j < d; ++j) {
            atomicAdd(&sums[j], cell(lloyd.scale, j, row[j]));
        }
        atomicAdd(&sums[d], 1ull);
    }
}

// Moves a coordinate of a centre to the mean of its points. An empty cluster keeps its centre.
__device__ __forceinline__ void move(const Lloyd& lloyd) {
    unsigned at = blockIdx.x * ASSIGN_THREADS + threadIdx.x;
    if (at < lloyd.clusters * lloyd.d) {
        unsigned cluster = at / lloyd.d, axis = at % lloyd.d;
        const unsigned long long* sums = row_of(lloyd.sums, cluster, lloyd.d + 1);
        unsigned count = static_cast<unsigned>(sums[lloyd.d]);
        if (count > 0) {
            lloyd.centres[at] = mean(lloyd.scale, axis, sums[axis], count);
        }
    }
}

}  // namespace warpscope::step

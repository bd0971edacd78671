// Warp select: one warp per query, whose lanes have short queues of candidates. All queues are merged when
// one lane's queue may have dropped a neighbour (Johnson, Douze and Jégou 2017, §4; Hanák 2023, §3.6.3). Twin
// of crates/engines/src/select/warp_select.rs.
//
// Scope: a warp; all lanes call together. In block select, the warps of a block share a query, take
// batches in turn, and merge at the end.
//
// Invariants: a lane's queue descends; its first key, the largest, is not below the k-th of the warp's queue,
// which ascends; every key seen so far that is among the k smallest is in one of them.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"
#include "warp/network.cuh"

namespace warpscope::select {

__host__ __device__ constexpr unsigned block_select_warps(unsigned capacity) {
    return capacity <= SELECT_FEW ? SELECT_WARPS : SELECT_WARPS / 2;
}

struct QueueTally : NoTrace {
    static constexpr bool COUNTED = true;

    unsigned inserts = 0, merges = 0;

    // Adds to the counts, which sum over a block's warps and are zero before.
    __device__ __forceinline__ void write(unsigned* counts) const {
        if (warp::lane_id() == 0) {
            atomicAdd(counts, merges);
            atomicAdd(counts + 1, inserts);
        }
    }
};

// A comparator: the larger key becomes the first.
__device__ __forceinline__ void exchange_descending(Key& first, Key& second) {
    bool swap = first < second;
    Key larger = choose(swap, second, first);
    second = choose(swap, first, second);
    first = larger;
}

// K = 32 R keys of the warp, and Q of each lane. Counts is NoCounters, QueueTally, or a QueueRecorder, which
// documents its events.
template <int R, int Q, class Counts>
struct WarpQueues {
    // whether to report every group, even those without insertions
    static constexpr bool TRACED = Counts::TRACED;

    Key warp_queue[R];
    Key lane_queue[Q];
    Key limit = PADDING;  // the k-th key
    unsigned k;
    unsigned lane = warp::lane_id();
    Counts counts;

    __device__ __forceinline__ explicit WarpQueues(unsigned neighbours, Counts counts_from = Counts())
        : k(neighbours), counts(counts_from) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            warp_queue[r] = PADDING;
        }
#pragma unroll
        for (int i = 0; i < Q; ++i) {
            lane_queue[i] = PADDING;
        }
    }

    __device__ __forceinline__ bool takes(float distance) const {
        return distance < distance_of(lane_queue[0]);
    }

    // Adds a group: each lane's distance of a point after all previous ones. Returns whether the queues were
    // merged.
    __device__ __forceinline__ bool add(float distance, unsigned position) {
        bool inserts = takes(distance);
        if constexpr (Counts::COUNTED) {
            counts.inserts += __popc(__ballot_sync(ALL_LANES, inserts));
        }
        if (inserts) {
            insert(key_of(distance, position));
        }
        if constexpr (TRACED) {
            counts.inserted(position - lane, distance, inserts, lane_queue);
            counts.checked(lane_queue[0], limit);
        }
        // The second invariant is broken if a lane's largest key is below the k-th.
        bool broken = __any_sync(ALL_LANES, lane_queue[0] < limit);
        if (broken) {
            merge();
        }
        return broken;
    }

    // Replaces the largest key of a lane's queue by a smaller one.
    __device__ __forceinline__ void insert(Key key) {
        lane_queue[0] = key;
#pragma unroll
        for (int i = 0; i + 1 < Q; ++i) {
            exchange_descending(lane_queue[i], lane_queue[i + 1]);
        }
    }

    // Merges the lanes' queues into the warp's; the lanes get the remaining keys.
    __device__ __forceinline__ void merge() {
        if constexpr (Counts::COUNTED) {
            counts.merges += 1;
        }
        warp::sort_any(lane_queue, lane);
        if constexpr (TRACED) {
            counts.sorted(lane_queue);
        }
        // The warp keeps the smaller of its element K - 1 - i and the lanes' element i, which is in the
        // mirrored register of the mirrored lane.
#pragma unroll
        for (int i = 0; i < Q; ++i) {
            if (i < R) {
                Key to_warp = __shfl_xor_sync(ALL_LANES, lane_queue[i], WARP - 1);
                Key to_lane = __shfl_xor_sync(ALL_LANES, warp_queue[R - 1 - i], WARP - 1);
                warp_queue[R - 1 - i] =
                    choose(to_warp < warp_queue[R - 1 - i], to_warp, warp_queue[R - 1 - i]);
                lane_queue[i] = choose(lane_queue[i] < to_lane, to_lane, lane_queue[i]);
            }
        }
        if constexpr (TRACED) {
            counts.exchanged(warp_queue, lane_queue);
        }
        warp::merge_any(warp_queue, lane);
        if constexpr (TRACED) {
            counts.merged(warp_queue);
        }
        descend();
        set_limit();
        if constexpr (TRACED) {
            counts.descended(lane_queue);
            counts.limited(limit);
        }
    }

    // Each lane sorts its queue, the largest first, by transposition.
    __device__ __forceinline__ void descend() {
#pragma unroll
        for (int round = 0; round < Q; ++round) {
#pragma unroll
            for (int i = round % 2; i + 1 < Q; i += 2) {
                exchange_descending(lane_queue[i], lane_queue[i + 1]);
            }
        }
    }

    __device__ __forceinline__ void set_limit() {
        Key mine = warp_queue[0];
#pragma unroll
        for (int r = 1; r < R; ++r) {
            mine = choose((k - 1) / WARP == r, warp_queue[r], mine);
        }
        limit = __shfl_sync(ALL_LANES, mine, (k - 1) % WARP);
    }

    // Merges the sorted keys of another warp.
    __device__ __forceinline__ void merge_warp(const Key* other) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Key key = other[(R - 1 - r) * WARP + (WARP - 1 - lane)];
            warp_queue[r] = choose(key < warp_queue[r], key, warp_queue[r]);
        }
        warp::merge_any(warp_queue, lane);
    }

    __device__ __forceinline__ void write(const AnswerRow& row) const {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            unsigned element = r * WARP + lane;
            if (element < k) {
                row.put(element, warp_queue[r]);
            }
        }
    }
};

// Reads every `stride`-th batch of a row, starting with batch `first`: GROUPS groups of 32 distances, which
// are loaded before the previous batch is processed.
template <int GROUPS, class Queues>
__device__ __forceinline__ void stream_groups(Queues& queues, const float* row, unsigned n, unsigned first,
                                              unsigned stride) {
    constexpr unsigned BATCH = GROUPS * WARP;
    float next[GROUPS];
    auto load = [&](unsigned begin) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            unsigned at = begin + g * WARP + queues.lane;
            next[g] = at < n ? __ldcs(row + at) : infinite_distance();
        }
    };
    unsigned batches = (n - 1) / BATCH + 1;
    if (first >= batches) {
        return;
    }
    load(first * BATCH);
    for (unsigned batch = first; batch < batches; batch += stride) {
        float distances[GROUPS];
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            distances[g] = next[g];
        }
        if (batches - batch > stride) {
            load((batch + stride) * BATCH);
        }
        float nearest = distances[0];
#pragma unroll
        for (int g = 1; g < GROUPS; ++g) {
            nearest = fminf(nearest, distances[g]);
        }
        if (!Queues::TRACED && !__any_sync(ALL_LANES, queues.takes(nearest))) {
            continue;  // most batches have no candidates
        }
        // Groups with possible candidates, until a merge changes the lanes' keys. They are added in a loop:
        // unrolled, the merge code would exceed the instruction cache.
        unsigned left = (2u << (GROUPS - 1)) - 1;
        while (left != 0) {
            unsigned waiting = 0;
#pragma unroll
            for (int g = 0; g < GROUPS; ++g) {
                waiting |= Queues::TRACED || __any_sync(ALL_LANES, queues.takes(distances[g])) ? 1u << g : 0;
            }
            waiting &= left;
            left = 0;
#pragma unroll 1
            while (waiting != 0) {
                int group = __ffs(waiting) - 1;
                float distance = register_at(distances, group);
                waiting &= waiting - 1;
                if (queues.add(distance, batch * BATCH + group * WARP + queues.lane)) {
                    left = ((2u << (GROUPS - 1)) - 1) & ~((2u << group) - 1);
                    break;
                }
            }
        }
    }
}

// One warp per query.
template <int K, int Q, class Counts>
__device__ __forceinline__ void warp_select(const Selection& selection, Counts counts = Counts()) {
    unsigned query = blockIdx.x * SELECT_WARPS + threadIdx.x / WARP;
    if (query >= selection.query_count) {
        return;
    }
    WarpQueues<K / WARP, Q, Counts> queues(selection.k, counts);
    stream_groups<SELECT_GROUPS>(queues, selection.distances + query * selection.pitch, selection.n, 0, 1);
    if constexpr (Counts::TRACED) {
        queues.counts.drained();
    }
    queues.merge();
    queues.write(AnswerRow(selection, selection.first_query + query));
    if constexpr (Counts::TRACED) {
        queues.counts.finished();
    }
    if constexpr (Counts::COUNTED) {
        queues.counts.write(selection.counts + query * COUNTS);
    }
}

// One block of block_select_warps(K) warps per query. K keys of shared memory for each warp of the upper
// half, whose keys the lower half merges.
template <int K, int Q, class Counts>
__device__ __forceinline__ void block_select(const Selection& selection) {
    constexpr unsigned WARPS = block_select_warps(K);
    extern __shared__ Key others[];
    // A shuffle, because the compiler cannot see that threadIdx.x / WARP is uniform in a warp and would guard
    // each later shuffle against divergence.
    unsigned query = blockIdx.x, warp = __shfl_sync(ALL_LANES, threadIdx.x / WARP, 0);
    WarpQueues<K / WARP, Q, Counts> queues(selection.k);
    stream_groups<SELECT_GROUPS>(queues, selection.distances + query * selection.pitch, selection.n, warp,
                                 WARPS);
    queues.merge();
    // The upper half of the remaining warps passes its keys to the lower half.
#pragma unroll 1
    for (unsigned half = WARPS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (warp >= half && warp < 2 * half) {
#pragma unroll
            for (int r = 0; r < K / WARP; ++r) {
                others[(warp - half) * K + r * WARP + queues.lane] = queues.warp_queue[r];
            }
        }
        __syncthreads();
        if (warp < half) {
            queues.merge_warp(others + warp * K);
        }
    }
    if (warp == 0) {
        queues.write(AnswerRow(selection, selection.first_query + query));
    }
    if constexpr (Counts::COUNTED) {
        queues.counts.write(selection.counts + query * COUNTS);
    }
}

}  // namespace warpscope::select

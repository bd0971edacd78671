// A query's k nearest so far, and the queue of candidates that is merged into them. Twin of
// crates/engines/src/step/queue.rs, which describes the merge.
//
// Scope: a warp. R = K / 32, at least 2. A build without COUNTED does not read the counters, so the compiler
// removes them. Shared memory: CANDIDATES keys, passed by the caller.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "step/interface.cuh"
#include "warp/bitonic.cuh"
#include "warp/candidate_buffer.cuh"
#include "warp/lanes.cuh"

namespace warpscope::step {

// Registers per lane that the queue needs.
constexpr unsigned QUEUE = CANDIDATES / WARP;

template <int R, bool COUNTED>
struct Queue : warp::SortedKeys<R> {
    using Sorted = warp::SortedKeys<R>;
    using Sorted::element;
    using Sorted::k;
    using Sorted::keys;
    using Sorted::lane;

    Key* queue;
    unsigned queued = 0;
    Key last = PADDING;  // the k-th element: only smaller keys are candidates
    Visits visits = {};  // equal in all lanes

    __device__ __forceinline__ void start(Key* queue_of_warp, unsigned neighbours) {
        Sorted::start(neighbours);
        queue = queue_of_warp;
    }

    // Starts with the first sorted keys that fit.
    __device__ __forceinline__ void begin_with(const Key* sorted, unsigned count) {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            unsigned i = lane * R + r;
            keys[r] = i < count ? sorted[i] : PADDING;
        }
        last = element(k - 1);
    }

    // Filters a group: each lane has the key of a point, or PADDING. Candidates are queued in lane order.
    // When the queue is full it is merged, and lanes not yet queued are filtered again.
    __device__ __forceinline__ void filter_keys(Key key) {
        unsigned candidates = __ballot_sync(ALL_LANES, key < last);
        while (candidates != 0) {
            unsigned place = queued + __popc(candidates & warp::lanes_below(lane));
            bool candidate = candidates >> lane & 1;
            bool queues = candidate && place < CANDIDATES;
            if (queues) {
                queue[place] = key;
            }
            unsigned appended = min(static_cast<unsigned>(__popc(candidates)), CANDIDATES - queued);
            visits.candidates += appended;
            queued += appended;
            if (queued == CANDIDATES) {
                merge_queue();
            }
            candidates = __ballot_sync(ALL_LANES, candidate && !queues && key < last);
        }
    }

    // Merges the rest of the queue after the last point.
    __device__ __forceinline__ void finish() {
        if (queued > 0) {
            for (unsigned place = queued + lane; place < CANDIDATES; place += WARP) {
                queue[place] = PADDING;
            }
            merge_queue();
        }
    }

    // Merges a full queue into the result.
    __device__ __forceinline__ void merge_queue() {
        NoTrace no_trace;
        // Other lanes read the slots.
        __syncwarp();
        // 1. Sort the queue. Element (lane, register) is in slot register * 32 + lane: any order will do
        //    before sorting.
        Key sorted[QUEUE];
#pragma unroll
        for (unsigned r = 0; r < QUEUE; ++r) {
            sorted[r] = queue[r * WARP + lane];
        }
        warp::sort<warp::UNROLL_SHORT<R>>(sorted, lane, no_trace);
#pragma unroll
        for (unsigned r = 0; r < QUEUE; ++r) {
            queue[r * WARP + lane] = sorted[r];
        }
        __syncwarp();
        // 2. Compare element i of the result with element K-1-i of the queue, which only has the first 64.
#pragma unroll
        for (int r = 0; r < R; ++r) {
            unsigned i = WARP * R - 1 - (lane * R + r);
            if (i < CANDIDATES) {
                Key other = queue[i % QUEUE * WARP + i / QUEUE];
                keys[r] = choose(other < keys[r], other, keys[r]);
            }
        }
        // The next candidates must not overtake these reads.
        __syncwarp();
        // 3. The result ascends, then descends: one merge sorts it.
        warp::merge<warp::UNROLL_SHORT<R>>(keys, lane, WARP, no_trace);
        queued = 0;
        last = element(k - 1);
        visits.merges += 1;
    }
};

}  // namespace warpscope::step

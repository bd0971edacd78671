// What watches a warp select's way through a row and writes it down, event by event.
// crates/engines/src/cuda/trace/told.rs reads what is written here, and tells it to the observers of
// crates/engines/src/select/mod.rs.
//
// Events are words, one event after the other: its kind, then what the comments at `QueueRecorder` say. A key
// is two words: position, distance. A queue is its keys, register by register, of each a lane's after the
// other's.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Listens to one warp of one query, in the place of its counts (warp_select.cuh).
struct QueueRecorder : TraceWriter {
    static constexpr bool COUNTED = false;

    unsigned n;
    bool took = false;  // whether a lane took something of the last group

    // Lanes compared the distances of points base + lane with their largest keys. Where all were too far:
    // base. Where lanes took some: base; 32 distances; the lanes' queues. Groups behind the last point, with
    // which a batch is filled up, are no event.
    template <int Q>
    __device__ __forceinline__ void inserted(unsigned base, float distance, bool inserts,
                                             const Key (&lane_queue)[Q]) {
        took = __any_sync(ALL_LANES, inserts);
        if (took) {
            event(INSERTED, base);
            if (unsigned* words = room(WARP)) {
                words[lane] = __float_as_uint(distance);
            }
            queue(lane_queue);
        } else if (base < n) {
            event(PASSED, base);
        }
    }

    // The lanes' largest keys are compared with the k-th: a key a lane; that one. No event where nothing was
    // taken.
    __device__ __forceinline__ void checked(Key largest, Key limit) {
        if (took) {
            event(CHECKED);
            keys(largest);
            key(limit);
        }
    }

    // No points are left.
    __device__ __forceinline__ void drained() { event(DRAINED); }

    // The lanes' queues are one ascending list: these.
    template <int Q>
    __device__ __forceinline__ void sorted(const Key (&lane_queue)[Q]) {
        event(SORTED);
        queue(lane_queue);
    }

    // The smaller keys are the warp's, the others the lanes': the warp's queue, the lanes'.
    template <int R, int Q>
    __device__ __forceinline__ void exchanged(const Key (&warp_queue)[R], const Key (&lane_queue)[Q]) {
        event(EXCHANGED);
        queue(warp_queue);
        queue(lane_queue);
    }

    // The warp's queue ascends: it.
    template <int R>
    __device__ __forceinline__ void merged(const Key (&warp_queue)[R]) {
        event(MERGED);
        queue(warp_queue);
    }

    // The lanes' queues descend: these.
    template <int Q>
    __device__ __forceinline__ void descended(const Key (&lane_queue)[Q]) {
        event(DESCENDED);
        queue(lane_queue);
    }

    // The merge is done: the k-th key.
    __device__ __forceinline__ void limited(Key limit) {
        event(LIMITED);
        key(limit);
    }

    // The search is done.
    __device__ __forceinline__ void finished() {
        event(FINISHED);
        end_trace();
    }

  private:
    // A key that is the same in every lane.
    __device__ __forceinline__ void key(Key key) {
        unsigned* words = room(2);
        if (words != nullptr && lane == 0) {
            words[0] = index_of(key);
            words[1] = distance_bits(key);
        }
    }

    template <int SIZE>
    __device__ __forceinline__ void queue(const Key (&registers)[SIZE]) {
#pragma unroll
        for (int r = 0; r < SIZE; ++r) {
            keys(registers[r]);
        }
    }
};

}  // namespace warpscope::select

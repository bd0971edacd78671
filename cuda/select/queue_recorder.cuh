// Records a warp select event by event. crates/engines/src/cuda/trace/replay.rs decodes the words and replays
// them to the observers of crates/engines/src/select/mod.rs.
//
// An event is its kind followed by the words that the comments in `QueueRecorder` list. A key is two words:
// position, distance. A queue is its keys, register by register, and lane by lane within a register.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Records one warp with one query, in place of its counters (warp_select.cuh).
struct QueueRecorder : TraceWriter {
    static constexpr bool COUNTED = false;

    unsigned n;
    bool took = false;  // whether a lane inserted something from the last group

    // Lanes compared the distances of points base + lane with their largest keys. Without insertions: base.
    // With insertions: base; 32 distances; the lanes' queues. Groups after the last point, which pad a batch,
    // are not recorded.
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

    // The lanes' largest keys were compared with the k-th key: a key per lane; the k-th key. No event if
    // nothing was inserted.
    __device__ __forceinline__ void checked(Key largest, Key limit) {
        if (took) {
            event(CHECKED);
            keys(largest);
            key(limit);
        }
    }

    // No points are left; the last merge follows.
    __device__ __forceinline__ void drained() { event(DRAINED); }

    // The lanes' queues form one ascending list: the queues.
    template <int Q>
    __device__ __forceinline__ void sorted(const Key (&lane_queue)[Q]) {
        event(SORTED);
        queue(lane_queue);
    }

    // The warp's queue has the smaller keys, the lanes' queues the larger ones: the warp's queue, the lanes'
    // queues.
    template <int R, int Q>
    __device__ __forceinline__ void exchanged(const Key (&warp_queue)[R], const Key (&lane_queue)[Q]) {
        event(EXCHANGED);
        queue(warp_queue);
        queue(lane_queue);
    }

    // The warp's queue is ascending again: the queue.
    template <int R>
    __device__ __forceinline__ void merged(const Key (&warp_queue)[R]) {
        event(MERGED);
        queue(warp_queue);
    }

    // The lanes' queues are descending again: the queues.
    template <int Q>
    __device__ __forceinline__ void descended(const Key (&lane_queue)[Q]) {
        event(DESCENDED);
        queue(lane_queue);
    }

    // The merge finished: the k-th key.
    __device__ __forceinline__ void limited(Key limit) {
        event(LIMITED);
        key(limit);
    }

    // The search finished.
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

// Records a warp's search event by event. Twin of crates/engines/src/lockstep/observer.rs;
// crates/engines/src/cuda/trace/events.rs decodes the words.
//
// An event is its kind followed by the words that the comments in `Recorder` list. "One word per register"
// means R words; bit L of word r is element L R + r.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// Records one warp with one query.
struct Recorder : TraceWriter {
    unsigned end = 0;  // of the batch

    // The block staged points first ... end - 1: first, end.
    __device__ __forceinline__ void batch(unsigned first, unsigned end_of_batch) {
        end = end_of_batch;
        event(BATCH, first, end_of_batch);
    }

    // A group was filtered: base, candidates; if there are any, the 32 distances of points base + lane. A
    // partial window is padded with groups past the end of the batch, which are not recorded.
    __device__ __forceinline__ void group(unsigned base, float distance, unsigned candidates) {
        if (base >= end) {
            return;
        }
        event(GROUP, base, candidates);
        if (candidates != 0) {
            if (unsigned* words = room(WARP)) {
                words[lane] = __float_as_uint(distance);
            }
        }
    }

    // Candidates were appended to their slots, unless those are past the end of the buffer: the candidates;
    // those that were appended; a slot for each candidate, lanes ascending; for each appended one the two
    // words of its key, read back from the slot.
    __device__ __forceinline__ void appended(unsigned candidates, unsigned slot, bool appends,
                                             const Key* buffer) {
        unsigned placed = __ballot_sync(ALL_LANES, appends);
        event(APPENDED, candidates, placed);
        if (unsigned* words = room(__popc(candidates) + 2 * __popc(placed))) {
            if (candidates >> lane & 1) {
                words[__popc(candidates & warp::lanes_below(lane))] = slot;
            }
            if (appends) {
                Key key = buffer[slot];
                words += __popc(candidates) + 2 * __popc(placed & warp::lanes_below(lane));
                words[0] = index_of(key);
                words[1] = __float_as_uint(distance_of(key));
            }
        }
    }

    // Lanes without a slot voted again after the merge: those lanes, and the candidates among them. No event
    // if all lanes had a slot.
    __device__ __forceinline__ void filtered_again(bool waits, unsigned candidates) {
        unsigned rest = __ballot_sync(ALL_LANES, waits);
        if (rest != 0) {
            event(FILTERED_AGAIN, rest, candidates);
        }
    }

    // The buffer holds K candidates.
    __device__ __forceinline__ void full() { event(FULL); }

    // After the last point, the slots from `first` on were padded: first.
    __device__ __forceinline__ void padded(unsigned first) { event(PADDED, first); }

    // Registers and buffer were swapped.
    template <int R>
    __device__ __forceinline__ void swapped(const Key (&keys)[R]) {
        event(SWAPPED);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            trace.keys[r * WARP + lane] = keys[r];
        }
    }

    // A layer of the network was applied: comparators between elements `stride` apart, ascending where i &
    // size is 0. Words: size, stride, and the elements that changed, one word per register.
    template <int R>
    __device__ __forceinline__ void layer(unsigned size, unsigned stride, const Key (&keys)[R]) {
        event(LAYER, size, stride);
        changed(keys);
    }

    // Element i became the minimum of itself and element K-1-i of the intermediate result: the elements that
    // changed, one word per register.
    template <int R>
    __device__ __forceinline__ void minimum(const Key (&keys)[R]) {
        event(MINIMUM);
        changed(keys);
    }

    // A merge finished: points seen, max_distance.
    __device__ __forceinline__ void merged(unsigned points_seen, float max_distance) {
        event(MERGED, points_seen, __float_as_uint(max_distance));
    }

    // The search finished.
    __device__ __forceinline__ void finished() {
        event(FINISHED);
        end_trace();
    }

  private:
    // The elements whose keys changed, one word per register. The keys are compared in memory, where a lane
    // can index its own; registers can only be indexed by constants. The network has many layers, so the code
    // at each must be short.
    template <int R>
    __device__ __forceinline__ void changed(const Key (&keys)[R]) {
        Key* before = trace.keys + lane;
        Key* after = before + R * WARP;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            after[r * WARP] = keys[r];
        }
        write_changes(before, after, room(R), R);
    }

    static __device__ __noinline__ void write_changes(Key* before, const Key* after, unsigned* words,
                                                      unsigned registers) {
#pragma unroll 1
        for (unsigned r = 0; r < registers; ++r) {
            Key key = after[r * WARP];
            unsigned elements = __ballot_sync(ALL_LANES, key != before[r * WARP]);
            before[r * WARP] = key;
            if (warp::lane_id() == 0 && words != nullptr) {
                words[r] = elements;
            }
        }
    }
};

}  // namespace warpscope

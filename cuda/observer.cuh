// What watches a warp at work and writes down what it does, event by event. Twin of
// crates/engines/src/lockstep/observer.rs; crates/engines/src/cuda/trace/events.rs reads what is written
// here.
//
// Events are words, one event after the other: its kind, then what the comments at `Recorder` say. "A word a
// register" means R words; bit L of word r is element L R + r.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// Listens to one warp of one query.
struct Recorder : TraceWriter {
    unsigned end = 0;  // of the batch

    // Points first ... end - 1 are staged: first, end.
    __device__ __forceinline__ void batch(unsigned first, unsigned end_of_batch) {
        end = end_of_batch;
        event(BATCH, first, end_of_batch);
    }

    // A ballot about points base + lane: base, candidates; where there are any, 32 distances. A window that
    // its batch does not fill goes on with groups of nobody, which are no event.
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

    // Candidates went to the buffer, each to its slot, unless that lies past the end: the candidates; those
    // that did; a slot for each candidate, lanes ascending; the two words of the key, read from the slot, for
    // each that did.
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

    // Lanes without a slot voted again: those lanes, and the candidates among them. No event where all had
    // one.
    __device__ __forceinline__ void filtered_again(bool waits, unsigned candidates) {
        unsigned rest = __ballot_sync(ALL_LANES, waits);
        if (rest != 0) {
            event(FILTERED_AGAIN, rest, candidates);
        }
    }

    // The buffer holds K candidates.
    __device__ __forceinline__ void full() { event(FULL); }

    // After the last point the slots from `first` on were filled up: first.
    __device__ __forceinline__ void padded(unsigned first) { event(PADDED, first); }

    // Registers and buffer changed places.
    template <int R>
    __device__ __forceinline__ void swapped(const Key (&keys)[R]) {
        event(SWAPPED);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            trace.keys[r * WARP + lane] = keys[r];
        }
    }

    // A layer of comparators between elements `stride` apart, ascending where i & size is 0, has run: size,
    // stride, and the elements that changed, a word a register.
    template <int R>
    __device__ __forceinline__ void layer(unsigned size, unsigned stride, const Key (&keys)[R]) {
        event(LAYER, size, stride);
        changed(keys);
    }

    // Element i became the smaller of itself and element K-1-i of the intermediate result: the elements that
    // changed, a word a register.
    template <int R>
    __device__ __forceinline__ void minimum(const Key (&keys)[R]) {
        event(MINIMUM);
        changed(keys);
    }

    // The merge is done: points seen, max_distance.
    __device__ __forceinline__ void merged(unsigned points_seen, float max_distance) {
        event(MERGED, points_seen, __float_as_uint(max_distance));
    }

    // The search is done.
    __device__ __forceinline__ void finished() {
        event(FINISHED);
        end_trace();
    }

  private:
    // The elements whose keys are not what they were, a word a register. The keys are compared in memory,
    // where each lane has its own: a register is chosen by constants only, and the network has so many layers
    // in its code that what is done at each of them must be short.
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

// What watches a selection in several passes and writes it down, event by event.
// crates/engines/src/cuda/trace/told.rs reads what is written here, and tells it to the observers of
// crates/engines/src/select/mod.rs.
//
// Events are words, one event after the other: its kind, then what the comments at `PassRecorder` say. The
// block's first warp writes them; what it reads for that was written before a barrier, and is written again
// only after the next one.
#pragma once

#include "instrumentation.cuh"
#include "select/multi_pass.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Listens to one block, a row (multi_pass.cuh). Nothing is sorted to find the k-th distance: passes go on.
struct PassRecorder : TraceWriter {
    // A pass counted the distances that are left by buckets: how many buckets; a number each.
    __device__ __forceinline__ void counted(const PassMemory& memory, unsigned buckets) {
        if (!writes()) {
            return;
        }
        event(COUNTED, buckets);
        unsigned* words = room(buckets);
        for (unsigned bucket = lane; words != nullptr && bucket < buckets; bucket += WARP) {
            words[bucket] = size_of(memory, buckets, bucket);
        }
    }

    // The k-th is in a bucket: it; how many are in those before it, and in it.
    __device__ __forceinline__ void found(const Bucket& bucket) {
        if (writes()) {
            event(FOUND, bucket.number, bucket.below, bucket.size);
        }
    }

    // The distances in that bucket were written side by side.
    __device__ __forceinline__ void narrowed() {
        if (writes()) {
            event(NARROWED);
        }
    }

    // The k smallest were taken, in the order of positions: how many; of each two words, position and
    // distance. The selection is done.
    __device__ __forceinline__ void taken(const unsigned* positions, const float* distances, unsigned count) {
        if (!writes()) {
            return;
        }
        event(TAKEN, count);
        unsigned* words = room(2 * count);
        for (unsigned i = lane; words != nullptr && i < count; i += WARP) {
            words[2 * i] = positions[i];
            words[2 * i + 1] = __float_as_uint(distances[i]);
        }
        end_trace();
    }

  private:
    static __device__ __forceinline__ bool writes() { return threadIdx.x < WARP; }
};

}  // namespace warpscope::select

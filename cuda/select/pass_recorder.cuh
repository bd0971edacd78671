// Records a multi-pass selection event by event. crates/engines/src/cuda/trace/replay.rs decodes the words
// and replays them to the observers of crates/engines/src/select/mod.rs.
//
// An event is its kind followed by the words that the comments in `PassRecorder` list. The block's first warp
// writes them; the data it reads was written before a barrier, and is overwritten only after the next one.
#pragma once

#include "instrumentation.cuh"
#include "select/multi_pass.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Records one block with one row (multi_pass.cuh). Passes continue until the k-th distance is found, without
// sorting.
struct PassRecorder : TraceWriter {
    // A pass counted the remaining distances by bucket: number of buckets; a count for each.
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

    // The k-th distance is in a bucket: its number, the remaining distances in earlier buckets, and in this
    // one.
    __device__ __forceinline__ void found(const Bucket& bucket) {
        if (writes()) {
            event(FOUND, bucket.number, bucket.below, bucket.size);
        }
    }

    // The distances in that bucket were written contiguously.
    __device__ __forceinline__ void narrowed() {
        if (writes()) {
            event(NARROWED);
        }
    }

    // The k smallest were collected, in the order of positions: how many; two words each, position and
    // distance. The selection finished.
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

// Writes the words of a trace.
#pragma once

#include "common_interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// Writes the events of one warp. An event that has no room is counted, and so is every later one: the host makes room for all of them and
// searches again.
struct TraceWriter {
    Trace trace;
    unsigned lane = warp::lane_id();
    unsigned long long count = 0;  // of words, the same in every lane

    // Where the next words go; null where they have no room.
    __device__ __forceinline__ unsigned* room(unsigned words) {
        unsigned* at = trace.words + count;
        count += words;
        return count <= trace.capacity ? at : nullptr;
    }

    // An event's kind, and words that are the same in every lane.
    template <class... Words>
    __device__ __forceinline__ void event(unsigned kind, Words... words) {
        unsigned all[] = {kind, words...};
        if (unsigned* at = room(1 + sizeof...(words))) {
            if (lane == 0) {
#pragma unroll
                for (unsigned i = 0; i < 1 + sizeof...(words); ++i) {
                    at[i] = all[i];
                }
            }
        }
    }

    // Says how long the whole trace is.
    __device__ __forceinline__ void end_trace() {
        if (lane == 0) {
            *trace.needed = count;
        }
    }
};

}  // namespace warpscope

// What a build adds to a search: counters, or a trace. The timed build adds nothing: what instruments a
// search is a template argument, and each call is in an `if constexpr`. Where counting is no more than an
// addition to a register, only writing the sum is: a sum that is not written the compiler leaves out.
#pragma once

#include "common_interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// Nothing is written down.
struct NoTrace {
    static constexpr bool TRACED = false;
};

// Nothing is counted.
struct NoCounters : NoTrace {
    static constexpr bool COUNTED = false;
    static constexpr bool PROFILED = false;
};

// Writes what was counted of a query, in the order in which the host has it.
template <class... Numbers>
__device__ __forceinline__ void write_counts(unsigned* counts, Numbers... numbers) {
    unsigned all[] = {numbers...};
#pragma unroll
    for (unsigned i = 0; i < sizeof...(numbers); ++i) {
        counts[i] = all[i];
    }
}

// A count as the host has it: the largest number that there is stands for all beyond.
__device__ __forceinline__ unsigned saturated(unsigned long long count) {
    return static_cast<unsigned>(min(count, 0xffffffffull));
}

// Writes the events of one warp. An event that has no room is counted, and so is every later one: the host
// makes room for all of them and searches again.
struct TraceWriter {
    static constexpr bool TRACED = true;

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

    // A key a lane, of each two words: position, distance.
    __device__ __forceinline__ void keys(Key key) {
        if (unsigned* at = room(2 * WARP)) {
            at[2 * lane] = index_of(key);
            at[2 * lane + 1] = distance_bits(key);
        }
    }

    static __device__ __forceinline__ unsigned distance_bits(Key key) {
        return static_cast<unsigned>(key >> 32);
    }

    // Says how long the whole trace is.
    __device__ __forceinline__ void end_trace() {
        if (lane == 0) {
            *trace.needed = count;
        }
    }
};

}  // namespace warpscope

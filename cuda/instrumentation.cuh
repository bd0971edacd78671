// Instrumentation of a build: counters or a trace. A template argument selects it, and each call is in an `if
// constexpr`, so the timed build contains none of it. Where counting is just an addition to a register, only
// the write is conditional: the compiler removes sums that are never written.
#pragma once

#include "common_interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// Records no trace.
struct NoTrace {
    static constexpr bool TRACED = false;
};

// Counts nothing.
struct NoCounters : NoTrace {
    static constexpr bool COUNTED = false;
    static constexpr bool PROFILED = false;
};

// Writes the counters of a query, in the host's order.
template <class... Numbers>
__device__ __forceinline__ void write_counts(unsigned* counts, Numbers... numbers) {
    unsigned all[] = {numbers...};
#pragma unroll
    for (unsigned i = 0; i < sizeof...(numbers); ++i) {
        counts[i] = all[i];
    }
}

// A count saturated to 32 bits, as the host stores it.
__device__ __forceinline__ unsigned saturated(unsigned long long count) {
    return static_cast<unsigned>(min(count, 0xffffffffull));
}

// Writes the events of one warp. Once an event does not fit, it and all later ones are only counted; the host
// then allocates enough memory and searches again.
struct TraceWriter {
    static constexpr bool TRACED = true;

    Trace trace;
    unsigned lane = warp::lane_id();
    unsigned long long count = 0;  // of words, equal in all lanes

    // Where the next words go; null if they do not fit.
    __device__ __forceinline__ unsigned* room(unsigned words) {
        unsigned* at = trace.words + count;
        count += words;
        return count <= trace.capacity ? at : nullptr;
    }

    // Writes an event's kind, and words that are the same in every lane.
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

    // Writes each lane's key as two words: position, distance.
    __device__ __forceinline__ void keys(Key key) {
        if (unsigned* at = room(2 * WARP)) {
            at[2 * lane] = index_of(key);
            at[2 * lane + 1] = distance_bits(key);
        }
    }

    static __device__ __forceinline__ unsigned distance_bits(Key key) {
        return static_cast<unsigned>(key >> 32);
    }

    // Reports the length of the whole trace.
    __device__ __forceinline__ void end_trace() {
        if (lane == 0) {
            *trace.needed = count;
        }
    }
};

}  // namespace warpscope

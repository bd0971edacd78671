// What the counted build of bits counts of a row; the timed one counts nothing.
#pragma once

namespace warpscope::select {

// Nothing is added to the timed build.
struct Uncounted {
    static constexpr bool COUNTED = false;
    __device__ __forceinline__ void merge(bool) {}
    __device__ __forceinline__ void candidates(unsigned) {}
    __device__ __forceinline__ void restart() {}
    __device__ __forceinline__ void write(unsigned*) const {}
};

// Every thread keeps the same numbers.
struct Tally {
    static constexpr bool COUNTED = true;
    unsigned merges = 0, forced = 0, taken = 0, restarts = 0;

    __device__ __forceinline__ void merge(bool is_forced) {
        merges += 1;
        forced += is_forced;
    }
    __device__ __forceinline__ void candidates(unsigned count) { taken += count; }
    __device__ __forceinline__ void restart() { restarts += 1; }
    __device__ __forceinline__ void write(unsigned* counts) const {
        if (threadIdx.x == 0) {
            counts[0] = merges;
            counts[1] = forced;
            counts[2] = taken;
            counts[3] = restarts;
        }
    }
};

}  // namespace warpscope::select

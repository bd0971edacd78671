// Radix select: a pass divides distances by a digit of their bits, the most significant first (Alabi,
// Blanchard, Gordon and Steinbach 2012; Hanák 2023, §3.7.2). Twin of
// crates/engines/src/select/radix_select.rs.
#pragma once

#include "select/multi_pass.cuh"

namespace warpscope::select {

// The digits of a pass. The number of values in a range is a power of two, because it is a bucket of the
// previous pass.
struct Digits {
    unsigned low;
    unsigned shift;
    unsigned count;

    __device__ __forceinline__ Digits(PassMemory&, const Source&, const Range& range, unsigned bits, unsigned)
        : low(range.low) {
        unsigned left = 31 - __clz(range.high - range.low);
        shift = left > bits ? left - bits : 0;
        count = 1u << (left - shift);
    }

    // Distances sampled per pass.
    static __device__ __forceinline__ unsigned sampled() { return 0; }

    __device__ __forceinline__ unsigned buckets() const { return count; }

    // Distances outside of the range get an arbitrary bucket.
    __device__ __forceinline__ void bucket_of(const unsigned (&bits)[PASS_ITEMS],
                                              unsigned (&bucket)[PASS_ITEMS]) const {
#pragma unroll
        for (unsigned i = 0; i < PASS_ITEMS; ++i) {
            bucket[i] = (bits[i] - low) >> shift;
        }
    }

    __device__ __forceinline__ Range range_of(unsigned bucket, const Range& range) const {
        unsigned first = low + (bucket << shift);
        return {first, first + (1u << shift), range.rank, range.size};
    }
};

}  // namespace warpscope::select

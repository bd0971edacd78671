// Sample select: a pass divides distances by splitters, which are evenly spaced in a sorted sample (Ribizel
// and Anzt 2020; Hanák 2023, §3.7.1, §4.3). Twin of crates/engines/src/select/sample_select.rs.
//
// A distance's bucket is found in an implicit search tree. Distances equal to a splitter have their own
// bucket. So a range with a single value is recognised, and each pass excludes the values that it has
// sampled.
#pragma once

#include "select/multi_pass.cuh"

namespace warpscope::select {

// From this pass on, splitters divide the range of bits evenly: data that misled the sample this often might
// mislead it in every pass.
constexpr unsigned SAMPLED_PASSES = 4;

struct Splitters {
    const unsigned* tree;  // node i has the children 2 i + 1 and 2 i + 2
    unsigned depth;

    // Scrambles the bits of a number.
    static __device__ __forceinline__ unsigned scrambled(unsigned number) {
        number *= 0x9e3779b1u;
        number = (number ^ number >> 15) * 0x85ebca77u;
        return number ^ number >> 13;
    }

    // Sampled distance `number`: one from each of FEW stretches of the source, at a pseudo-random offset, so
    // that no regular order of points misleads the sample.
    static __device__ __forceinline__ Key sampled_key(const Source& source, const Range& range,
                                                      unsigned number) {
        unsigned stretch = source.length / FEW;
        unsigned bits = __float_as_uint(
            source.distances[static_cast<size_t>(number) * stretch + scrambled(number) % stretch]);
        return range.holds(bits) ? static_cast<Key>(bits) << 32 | number : PADDING;
    }

    // Chooses 2^bits - 1 splitters. The source must have more than FEW distances.
    __device__ __forceinline__ Splitters(PassMemory& memory, const Source& source, const Range& range,
                                         unsigned bits, unsigned pass)
        : tree(memory.tree), depth(bits) {
        unsigned first = threadIdx.x * 2;
        Key keys[2] = {sampled_key(source, range, first), sampled_key(source, range, first + 1)};
        unsigned size = __syncthreads_count(keys[0] != PADDING);
        size += __syncthreads_count(keys[1] != PADDING);
        bool by_sample = size > 0 && pass < SAMPLED_PASSES;
        if (by_sample) {
            FewNetwork{memory.keys}.sort(keys, PASS_THREADS);
            memory.keys[first] = keys[0];
            memory.keys[first + 1] = keys[1];
        }
        __syncthreads();
        if (threadIdx.x + 1 < 1u << depth) {
            unsigned level = 31 - __clz(threadIdx.x + 1);
            // From 1, in ascending order.
            unsigned number = (2 * (threadIdx.x + 1 - (1u << level)) + 1) << (depth - 1 - level);
            unsigned evenly =
                range.low + static_cast<unsigned>(
                                static_cast<unsigned long long>(range.high - range.low) * number >> depth);
            memory.tree[threadIdx.x] =
                by_sample ? static_cast<unsigned>(memory.keys[number * size >> depth] >> 32) : evenly;
        }
        __syncthreads();
    }

    // Distances sampled per pass.
    static __device__ __forceinline__ unsigned sampled() { return FEW; }

    // One between any two splitters and one for each splitter; the last is always empty.
    __device__ __forceinline__ unsigned buckets() const { return 2u << depth; }

    // Splitter `number`, from 0.
    __device__ __forceinline__ unsigned splitter(unsigned number) const {
        unsigned up = __ffs(number + 1) - 1;
        return tree[(1u << (depth - 1 - up)) - 1 + ((number + 1) >> (up + 1))];
    }

    // Finds a thread's distances together, so that their latencies overlap. Distances outside of the range
    // get an arbitrary bucket.
    __device__ __forceinline__ void bucket_of(const unsigned (&bits)[PASS_ITEMS],
                                              unsigned (&bucket)[PASS_ITEMS]) const {
        unsigned below[PASS_ITEMS];  // the last splitter that is not above the distance
#pragma unroll
        for (unsigned i = 0; i < PASS_ITEMS; ++i) {
            bucket[i] = 0;
            below[i] = PAST_END;
        }
#pragma unroll 1
        for (unsigned level = 0; level < depth; ++level) {
#pragma unroll
            for (unsigned i = 0; i < PASS_ITEMS; ++i) {
                unsigned splitter = tree[bucket[i]];
                bool is_above = splitter <= bits[i];
                below[i] = is_above ? splitter : below[i];
                bucket[i] = 2 * bucket[i] + 1 + is_above;
            }
        }
#pragma unroll
        for (unsigned i = 0; i < PASS_ITEMS; ++i) {
            unsigned leaf = bucket[i] - ((1u << depth) - 1);
            bucket[i] = 2 * leaf - (leaf > 0 && below[i] == bits[i]);
        }
    }

    __device__ __forceinline__ Range range_of(unsigned bucket, const Range& range) const {
        unsigned leaf = (bucket + 1) / 2, last = (1u << depth) - 1;
        if (bucket % 2 == 1) {
            unsigned value = splitter(leaf - 1);
            return {value, value + 1, range.rank, range.size};
        }
        unsigned low = leaf > 0 ? splitter(leaf - 1) + 1 : range.low;
        return {low, leaf < last ? splitter(leaf) : range.high, range.rank, range.size};
    }
};

}  // namespace warpscope::select

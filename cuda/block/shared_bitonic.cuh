// The bitonic network over keys in shared memory (Hanák 2023, §4.1.1), on which block/bitonic.cuh improves.
// Twin of crates/engines/src/select/shared_bitonic.rs.
//
// K keys, a power of two, and THREADS <= K threads. Each layer reads both keys of a comparator, compares
// them, and writes them back. With SHUFFLES, strides below 32 run between lanes: a warp reads 32 keys, and
// writes them after the last of these strides. All runs ascend.
//
// Scope: all threads of the block call, after a barrier; each function ends with one.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

template <unsigned K, unsigned THREADS, bool SHUFFLES>
struct SharedBitonic {
    // A layer: the numbers of a comparator's keys differ in the bits of `mask`, the highest of which is
    // `stride`.
    static __device__ __forceinline__ void exchange_in_memory(Key* keys, unsigned stride, unsigned mask) {
        for (unsigned i = threadIdx.x; i < K / 2; i += THREADS) {
            // i with a 0 inserted at the bit of the stride.
            unsigned low = (i & ~(stride - 1)) << 1 | (i & (stride - 1));
            unsigned high = low ^ mask;
            Key a = keys[low], b = keys[high];
            if (b < a) {
                keys[low] = b;
                keys[high] = a;
            }
        }
        __syncthreads();
    }

    // A layer between lanes.
    static __device__ __forceinline__ Key exchange_lanes(Key key, unsigned stride, unsigned mask) {
        Key other = __shfl_xor_sync(ALL_LANES, key, mask);
        bool keeps_smaller = (threadIdx.x & stride) == 0;
        return choose((other < key) == keeps_smaller, other, key);
    }

    // Strides `stride`, `stride` / 2, ... 1, below 32, between lanes.
    static __device__ __forceinline__ Key halve_lanes(Key key, unsigned stride) {
#pragma unroll 1
        for (; stride > 0; stride /= 2) {
            key = exchange_lanes(key, stride, stride);
        }
        return key;
    }

    // Strides `stride`, `stride` / 2, ... 1. Runs of twice the first stride must be bitonic.
    static __device__ __forceinline__ void halve(Key* keys, unsigned stride) {
        constexpr unsigned LAST = SHUFFLES ? WARP : 1;
#pragma unroll 1
        for (; stride >= LAST; stride /= 2) {
            exchange_in_memory(keys, stride, stride);
        }
        if (SHUFFLES) {
            for (unsigned i = threadIdx.x; i < K; i += THREADS) {
                keys[i] = halve_lanes(keys[i], stride);
            }
            __syncthreads();
        }
    }

    // The sizes up to 32, between lanes.
    static __device__ __forceinline__ void sort_lanes(Key* keys) {
        for (unsigned i = threadIdx.x; i < K; i += THREADS) {
            Key key = keys[i];
#pragma unroll 1
            for (unsigned size = 2; size <= WARP; size *= 2) {
                key = halve_lanes(exchange_lanes(key, size / 2, size - 1), size / 4);
            }
            keys[i] = key;
        }
        __syncthreads();
    }

    // Sorts a bitonic sequence.
    static __device__ __forceinline__ void merge(Key* keys) { halve(keys, K / 2); }

    static __device__ __forceinline__ void sort(Key* keys) {
        if (SHUFFLES) {
            sort_lanes(keys);
        }
#pragma unroll 1
        for (unsigned size = SHUFFLES ? 2 * WARP : 2; size <= K; size *= 2) {
            exchange_in_memory(keys, size / 2, size - 1);
            halve(keys, size / 4);
        }
    }
};

}  // namespace warpscope::block

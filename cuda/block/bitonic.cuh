// The bitonic network over a block's registers: T consecutive keys per thread (Hanák 2023, §4.1.1 to 4.1.4).
// Twin of crates/engines/src/select/bitonic.rs.
//
// K = T N keys; thread i < N holds elements T i ... T i + T - 1. Strides below T exchange two registers of a
// thread. Strides below 32 T exchange between lanes, by shuffle; the others go through shared memory. All
// runs ascend: the first layer of each size compares an element with its mirror image in the run, so the
// direction is the same everywhere.
//
// Scope: all threads of the block call; those without keys only wait. A network of one warp, N = 32, does not
// wait for other warps.
#pragma once

#include "key.cuh"
#include "lane.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

template <unsigned T, unsigned N>
struct Bitonic {
    static constexpr unsigned KEYS = T * N;

    // KEYS keys of shared memory. Row i holds the i-th key of each thread, so that a warp accesses
    // neighbouring words. A single warp needs none.
    Key* exchange;
    // This thread's number in the network.
    unsigned thread = threadIdx.x;

    // The sizes up to T: each thread sorts its own keys.
    template <unsigned SIZE>
    static __device__ __forceinline__ void sort_in_thread(Key (&keys)[T]) {
        if constexpr (SIZE <= T) {
#pragma unroll
            for (unsigned low = 0; low < T; ++low) {
                if ((low & SIZE / 2) == 0) {
                    warpscope::exchange(keys[low], keys[low ^ (SIZE - 1)]);
                }
            }
            bitonic_merge<SIZE / 4>(keys);
            sort_in_thread<SIZE * 2>(keys);
        }
    }

    // A layer between the first `threads` threads: this thread's keys meet those of the thread whose number
    // differs in the bits of `mask`, in reversed order if MIRRORED. If `threads` is less than a warp, the
    // other lanes exchange PADDING.
    template <bool MIRRORED>
    __device__ __forceinline__ void exchange_between_threads(Key (&keys)[T], unsigned mask,
                                                             bool keeps_smaller, unsigned threads) const {
        // With N <= WARP, all masks stay within a warp.
        if (N <= WARP || mask < WARP) {
            if (thread < max(threads, WARP)) {
                Key others[T];
#pragma unroll
                for (unsigned i = 0; i < T; ++i) {
                    others[i] = __shfl_xor_sync(ALL_LANES, keys[MIRRORED ? T - 1 - i : i], mask);
                }
#pragma unroll
                for (unsigned i = 0; i < T; ++i) {
                    keys[i] = choose((others[i] < keys[i]) == keeps_smaller, others[i], keys[i]);
                }
            }
            return;
        }
        if (thread < threads) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                exchange[i * N + thread] = keys[i];
            }
        }
        __syncthreads();
        if (thread < threads) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                Key other = exchange[(MIRRORED ? T - 1 - i : i) * N + (thread ^ mask)];
                keys[i] = choose((other < keys[i]) == keeps_smaller, other, keys[i]);
            }
        }
        // The next layer overwrites what others may still read.
        __syncthreads();
    }

    // Strides T `stride`, ... T, and then those in a thread. Runs of twice the first stride must be bitonic.
    __device__ __forceinline__ void halve(Key (&keys)[T], unsigned stride, unsigned threads) const {
#pragma unroll 1
        for (; stride > 0; stride /= 2) {
            exchange_between_threads<false>(keys, stride, (thread & stride) == 0, threads);
        }
        if (thread < threads) {
            bitonic_merge<T / 2>(keys);
        }
    }

    // Sorts a bitonic sequence.
    __device__ __forceinline__ void merge(Key (&keys)[T]) const { halve(keys, N / 2, N); }

    // Sorts the keys of the first `threads` threads, a power of two up to N. If the other threads hold
    // PADDING, everything is sorted.
    __device__ __forceinline__ void sort(Key (&keys)[T], unsigned threads) const {
        if (thread < threads) {
            sort_in_thread<2>(keys);
        }
#pragma unroll 1
        for (unsigned size = 2; size <= threads; size *= 2) {
            exchange_between_threads<true>(keys, size - 1, (thread & size / 2) == 0, threads);
            halve(keys, size / 4, threads);
        }
    }
};

}  // namespace warpscope::block

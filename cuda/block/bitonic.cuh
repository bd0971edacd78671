// The bitonic network over a block's registers: T consecutive keys a thread (Hanák 2023, §4.1.1 to 4.1.4). Twin of
// src/engines/select/bitonic.rs.
//
// K = T N keys; thread i < N holds elements T i ... T i + T - 1. Strides below T exchange two registers of a thread, plainly; strides
// below 32 T exchange between lanes, by shuffle; the others go through shared memory. All runs ascend: the first layer of each size
// compares an element with its mirror image in the run, so that nothing depends on the direction.
//
// Scope: all threads of the block call, and those from N on only wait.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

template <int T, int N>
struct Bitonic {
    static constexpr unsigned KEYS = T * N;

    // KEYS keys of shared memory. Row i holds the i-th key of each thread, so that a warp's accesses go to neighbouring words.
    Key* exchange;
    unsigned thread = threadIdx.x;

    // Both keys of a comparator in this thread.
    static __device__ __forceinline__ void exchange_in_thread(Key& low, Key& high) {
        Key smaller = choose(high < low, high, low);
        high = choose(high < low, low, high);
        low = smaller;
    }

    // Strides STRIDE, STRIDE / 2, ... 1, in each thread.
    template <int STRIDE>
    static __device__ __forceinline__ void halve_in_thread(Key (&keys)[T]) {
        if constexpr (STRIDE > 0) {
#pragma unroll
            for (int low = 0; low < T; ++low) {
                if ((low & STRIDE) == 0) {
                    exchange_in_thread(keys[low], keys[low + STRIDE]);
                }
            }
            halve_in_thread<STRIDE / 2>(keys);
        }
    }

    // The sizes up to T: each thread sorts its own keys.
    template <int SIZE>
    static __device__ __forceinline__ void sort_in_thread(Key (&keys)[T]) {
        if constexpr (SIZE <= T) {
#pragma unroll
            for (int low = 0; low < T; ++low) {
                if ((low & SIZE / 2) == 0) {
                    exchange_in_thread(keys[low], keys[low ^ (SIZE - 1)]);
                }
            }
            halve_in_thread<SIZE / 4>(keys);
            sort_in_thread<SIZE * 2>(keys);
        }
    }

    // A layer between threads: this one's keys meet those of the thread whose number differs in the bits of `mask`, in reversed order
    // if MIRRORED.
    template <bool MIRRORED>
    __device__ __forceinline__ void exchange_between_threads(Key (&keys)[T], unsigned mask, bool keeps_smaller) const {
        if (mask < WARP) {
            if (thread < N) {
                Key others[T];
#pragma unroll
                for (int i = 0; i < T; ++i) {
                    others[i] = __shfl_xor_sync(ALL_LANES, keys[MIRRORED ? T - 1 - i : i], mask);
                }
#pragma unroll
                for (int i = 0; i < T; ++i) {
                    keys[i] = choose((others[i] < keys[i]) == keeps_smaller, others[i], keys[i]);
                }
            }
            return;
        }
        if (thread < N) {
#pragma unroll
            for (int i = 0; i < T; ++i) {
                exchange[i * N + thread] = keys[i];
            }
        }
        __syncthreads();
        if (thread < N) {
#pragma unroll
            for (int i = 0; i < T; ++i) {
                Key other = exchange[(MIRRORED ? T - 1 - i : i) * N + (thread ^ mask)];
                keys[i] = choose((other < keys[i]) == keeps_smaller, other, keys[i]);
            }
        }
        // The next layer writes where others may still read.
        __syncthreads();
    }

    // Strides T `threads`, ... T, and then those in a thread. Runs of twice the first stride must be bitonic.
    __device__ __forceinline__ void halve(Key (&keys)[T], unsigned threads) const {
#pragma unroll 1
        for (unsigned stride = threads; stride > 0; stride /= 2) {
            exchange_between_threads<false>(keys, stride, (thread & stride) == 0);
        }
        if (thread < N) {
            halve_in_thread<T / 2>(keys);
        }
    }

    // Sorts what is bitonic.
    __device__ __forceinline__ void merge(Key (&keys)[T]) const { halve(keys, N / 2); }

    __device__ __forceinline__ void sort(Key (&keys)[T]) const {
        if (thread < N) {
            sort_in_thread<2>(keys);
        }
#pragma unroll 1
        for (unsigned size = 2; size <= N; size *= 2) {  // in threads
            exchange_between_threads<true>(keys, size - 1, (thread & size / 2) == 0);
            halve(keys, size / 4);
        }
    }
};

}  // namespace warpscope::block

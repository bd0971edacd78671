// A bitonic network over one key per thread: by shuffle within a warp, through shared memory between warps.
#pragma once

#include "block/radix_select.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

// Sorts the keys of the first `size` threads, a power of two from 32 to SELECT_THREADS. `exchange` holds two keys per
// thread: one layer's values are read while the next layer's are written. All threads of the block must call.
__device__ __forceinline__ Key sort(Key key, unsigned size, Key* exchange) {
    unsigned thread = threadIdx.x;
    unsigned side = 0;
#pragma unroll 1
    for (unsigned run = 2; run <= size; run *= 2) {
#pragma unroll 1
        for (unsigned stride = run / 2; stride > 0; stride /= 2) {
            Key other = key;
            if (stride >= WARP) {
                exchange[side + thread] = key;
                __syncthreads();
                other = exchange[side + (thread ^ stride)];
                side ^= SELECT_THREADS;
            } else if (thread < size) {
                other = __shfl_xor_sync(ALL_LANES, key, stride);
            }
            bool keeps_smaller = ((thread & stride) == 0) == ((thread & run) == 0);
            key = choose((other < key) == keeps_smaller, other, key);
        }
    }
    return key;
}

}  // namespace warpscope::block

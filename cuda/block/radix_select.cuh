// Block-wide radix select: finds the k-th smallest of many keys digit by digit from the top, without sorting
// them. Also sorts a few keys.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

// Threads of every block that selects or sorts.
constexpr unsigned SELECT_THREADS = 1024;
constexpr unsigned SELECT_WARPS = SELECT_THREADS / WARP;

// Twelve bits: of a distance's 31 bits, the first digit covers the exponent and four bits of the fraction, so
// a bound truncated after it is at most 1/16 too large.
constexpr unsigned DIGIT_BITS = 12;
constexpr unsigned DIGITS = 1 << DIGIT_BITS;
constexpr unsigned DIGITS_A_THREAD = DIGITS / SELECT_THREADS;
static_assert(DIGITS_A_THREAD == 4, "a thread reads its digits as one uint4");

// The bits that keys use: distances are not negative, so the top bit is clear.
constexpr unsigned KEY_BITS = 63;

// The known prefix of the k-th smallest key: its key >> shift is `value`. `below` keys have a smaller prefix,
// `through` keys at most this one.
struct Prefix {
    Key value;
    unsigned shift;
    unsigned below;
    unsigned through;

    __device__ __forceinline__ bool reaches(Key key) const { return key >> shift <= value; }
    // The largest key that reaches() accepts.
    __device__ __forceinline__ Key last() const { return ((value + 1) << shift) - 1; }
};

struct SelectMemory {
    alignas(16) unsigned histogram[DIGITS];
    unsigned totals[SELECT_WARPS];
    Prefix found;
};

// Extends a prefix by one digit. `key_at(i)` is the i-th of `count` keys, callable from any thread; 0 < k <=
// count.
template <class KeyAt>
__device__ __forceinline__ Prefix add_digit(SelectMemory& memory, Prefix prefix, unsigned k, unsigned count,
                                            KeyAt key_at) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned shift = prefix.shift > DIGIT_BITS ? prefix.shift - DIGIT_BITS : 0;
    unsigned mask = (1u << (prefix.shift - shift)) - 1;
    uint4* mine = reinterpret_cast<uint4*>(memory.histogram) + threadIdx.x;
    *mine = make_uint4(0, 0, 0, 0);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += SELECT_THREADS) {
        Key key = key_at(i);
        if (key >> prefix.shift == prefix.value) {
            atomicAdd(&memory.histogram[static_cast<unsigned>(key >> shift) & mask], 1u);
        }
    }
    __syncthreads();
    uint4 counts = *mine;
    unsigned total = counts.x + counts.y + counts.z + counts.w;
    unsigned through = warp::inclusive_sum(total, lane);
    if (lane == WARP - 1) {
        memory.totals[warp] = through;
    }
    __syncthreads();
    unsigned before = warp::reduce_add(lane < warp ? memory.totals[lane] : 0);
    unsigned below = prefix.below + before + through - total;
    if (below < k && k <= below + total) {
        unsigned digit = threadIdx.x * DIGITS_A_THREAD;
        unsigned here = counts.x;
        if (below + here < k) { below += here; here = counts.y; digit += 1; }
        if (below + here < k) { below += here; here = counts.z; digit += 1; }
        if (below + here < k) { below += here; here = counts.w; digit += 1; }
        memory.found = {prefix.value << (prefix.shift - shift) | digit, shift, below, below + here};
    }
    __syncthreads();
    return memory.found;
}

// A bitonic network over one key per thread: by shuffle within a warp, through shared memory between warps.
// Sorts the keys of the first `size` threads, a power of two from 32 to SELECT_THREADS. `exchange` holds two
// keys per thread: one layer's values are read while the next layer's are written. All threads of the block
// must call.
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

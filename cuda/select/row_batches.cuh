// What the warps of a block read of a row of distances, batch after batch: in step, or each by itself and ahead of what it looks at.
//
// Scope: a thread, whose lane and warp tell what is its own. Rows begin at a multiple of 16 bytes.
#pragma once

#include "block/async_copy.cuh"
#include "block/shared_address.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Distances that a thread of THREADS reads at a time, four beside one another.
template <unsigned THREADS, unsigned ITEMS>
struct Batch {
    float distances[ITEMS];

    static __device__ __forceinline__ unsigned place(unsigned thread, unsigned item) { return (item / 4 * THREADS + thread) * 4 + item % 4; }

    __device__ __forceinline__ void load(const float* row, unsigned first, unsigned end, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += 4) {
            unsigned at = first + place(thread, i);
            float inf = infinite_distance();
            float4 four = at < end ? __ldcs(reinterpret_cast<const float4*>(row + at)) : make_float4(inf, inf, inf, inf);
            distances[i] = four.x;
            distances[i + 1] = four.y;
            distances[i + 2] = four.z;
            distances[i + 3] = four.w;
        }
    }

    static __device__ __forceinline__ void prefetch(const float* row, unsigned first, unsigned end, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += 4) {
            unsigned at = first + place(thread, i);
            // A line of the cache is eight of these, so one of eight threads asks.
            if (thread % 8 == 0 && at < end) {
                asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
            }
        }
    }

    // A bit for each distance that is not farther than the bound.
    __device__ __forceinline__ unsigned within(float bound) const {
        unsigned mask = 0;
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
            mask |= distances[i] <= bound ? 1u << i : 0;
        }
        return mask;
    }
};

#if WARPSCOPE_ASYNC_COPIES
// A warp's batches of distances `begin` to `end` of a row: every so many of the block's. They are copied to a ring in shared memory, so that
// they are under way, and take no registers, while the block merges. A lane reads only what it copied itself: nobody is waited for.
template <unsigned THREADS, unsigned ITEMS, unsigned STAGES>
struct RowBatches {
    using Read = Batch<WARP, ITEMS>;
    static constexpr unsigned STRIDE = THREADS * ITEMS;
    static constexpr unsigned VECTORS = ITEMS / 4;

    float4* ring;  // STAGES x VECTORS x THREADS, of this thread on
    const float* ahead;  // the batch that is copied next
    unsigned prefetch;
    unsigned first;       // of the batch that comes next
    unsigned left;        // distances from there on
    unsigned left_ahead;  // distances from `ahead` on
    unsigned stage = STAGES - 1;
    unsigned lane = warp::lane_id();

    // The ring has STAGES x THREADS x ITEMS floats, aligned to 16 bytes.
    __device__ __forceinline__ RowBatches(float4* memory, const float* row, unsigned begin, unsigned end, unsigned prefetch)
        : ring(memory + threadIdx.x), prefetch(prefetch) {
        unsigned skipped = threadIdx.x / WARP * (WARP * ITEMS);
        first = begin + skipped;
        // Where a row ends close to 2^32, what is behind it would be before it.
        left = begin < end && end - begin > skipped ? end - begin - skipped : 0;
        left_ahead = left;
        ahead = row + first;
#pragma unroll
        for (unsigned filled = 0; filled + 1 < STAGES; ++filled) {
            copy(filled);
        }
    }

    __device__ __forceinline__ bool next() {
        if (left == 0) {
            return false;
        }
        // What was read last is through, and its place is taken by the batch that is so many further.
        copy(stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        block::await_copies<STAGES - 1>();
        first += STRIDE;
        left = left > STRIDE ? left - STRIDE : 0;
        return true;
    }

    // A bit for each distance that is not farther than the bound.
    __device__ __forceinline__ unsigned within(float bound) const {
        unsigned mask = 0;
#pragma unroll
        for (unsigned vector = 0; vector < VECTORS; ++vector) {
            float4 four = ring[(stage * VECTORS + vector) * THREADS];
            mask |= four.x <= bound ? 1u << (4 * vector) : 0;
            mask |= four.y <= bound ? 2u << (4 * vector) : 0;
            mask |= four.z <= bound ? 4u << (4 * vector) : 0;
            mask |= four.w <= bound ? 8u << (4 * vector) : 0;
        }
        return mask;
    }

    __device__ __forceinline__ Key key_at(int i) const {
        const float* four = reinterpret_cast<const float*>(&ring[(stage * VECTORS + i / 4) * THREADS]);
        return key_of(four[i % 4], first - STRIDE + Read::place(lane, i));
    }

  private:
    // Starts to copy the next batch. What is behind the end is infinite.
    __device__ __forceinline__ void copy(unsigned to) {
#pragma unroll
        for (unsigned vector = 0; vector < VECTORS; ++vector) {
            unsigned at = Read::place(lane, 4 * vector);
            float4* place = &ring[(to * VECTORS + vector) * THREADS];
            if (at < left_ahead) {
                block::copy_16_async(block::shared_address(place), ahead + at, true);
            } else {
                float inf = infinite_distance();
                *place = make_float4(inf, inf, inf, inf);
            }
        }
        block::close_copies();
        if (prefetch && left_ahead > STRIDE) {
            Read::prefetch(ahead + STRIDE, 0, left_ahead - STRIDE, lane);
        }
        ahead += STRIDE;
        left_ahead = left_ahead > STRIDE ? left_ahead - STRIDE : 0;
    }
};
#else
// The same with one batch ahead, in registers.
template <unsigned THREADS, unsigned ITEMS, unsigned STAGES>
struct RowBatches {
    using Read = Batch<WARP, ITEMS>;
    static constexpr unsigned STRIDE = THREADS * ITEMS;

    const float* row;
    unsigned end;
    unsigned prefetch;
    unsigned first;  // of the batch that comes next
    unsigned left;   // distances from there on
    unsigned lane = warp::lane_id();
    Read batch, coming;

    __device__ __forceinline__ RowBatches(float4*, const float* row, unsigned begin, unsigned end, unsigned prefetch)
        : row(row), end(end), prefetch(prefetch) {
        unsigned skipped = threadIdx.x / WARP * (WARP * ITEMS);
        // Where a row ends close to 2^32, what is behind it would be before it.
        left = begin < end && end - begin > skipped ? end - begin - skipped : 0;
        first = begin + skipped;
        coming.load(row, left > 0 ? first : end, end, lane);
    }

    __device__ __forceinline__ bool next() {
        if (left == 0) {
            return false;
        }
        batch = coming;
        // Begun before what is here is looked at. Past the end nothing is read.
        coming.load(row, left > STRIDE ? first + STRIDE : end, end, lane);
        if (prefetch && left > 2 * STRIDE) {
            Read::prefetch(row, first + 2 * STRIDE, end, lane);
        }
        first += STRIDE;
        left = left > STRIDE ? left - STRIDE : 0;
        return true;
    }

    __device__ __forceinline__ unsigned within(float bound) const { return batch.within(bound); }
    __device__ __forceinline__ Key key_at(int i) const { return key_of(batch.distances[i], first - STRIDE + Read::place(lane, i)); }
};
#endif

}  // namespace warpscope::select

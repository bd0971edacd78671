// Reads a row of distances batch by batch: the warps of a block together, or each warp independently and
// ahead of its processing.
//
// Scope: a thread, which finds its own part by its lane and warp. Rows are aligned to 16 bytes.
#pragma once

#include "key.cuh"
#include "ptx.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Floats read by one instruction.
template <unsigned WIDTH>
struct Vector {
    using Type = float4;
    static __device__ __forceinline__ Type all(float value) {
        return make_float4(value, value, value, value);
    }
};
template <>
struct Vector<2> {
    using Type = float2;
    static __device__ __forceinline__ Type all(float value) { return make_float2(value, value); }
};
template <>
struct Vector<1> {
    using Type = float;
    static __device__ __forceinline__ Type all(float value) { return value; }
};

// Distances that one of THREADS threads reads at a time: one, two, or vectors of four.
template <unsigned THREADS, unsigned ITEMS>
struct Batch {
    static constexpr unsigned WIDTH = ITEMS < 4 ? ITEMS : 4;
    static_assert(ITEMS % WIDTH == 0 && (WIDTH & (WIDTH - 1)) == 0, "1, 2, or a multiple of 4");
    using Read = typename Vector<WIDTH>::Type;

    float distances[ITEMS];

    static __device__ __forceinline__ unsigned offset(unsigned thread, unsigned item) {
        return (item / WIDTH * THREADS + thread) * WIDTH + item % WIDTH;
    }

    __device__ __forceinline__ void load(const float* row, unsigned first, unsigned end, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += WIDTH) {
            unsigned at = first + offset(thread, i);
            Read read = at < end ? __ldcs(reinterpret_cast<const Read*>(row + at))
                                 : Vector<WIDTH>::all(infinite_distance());
#pragma unroll
            for (unsigned j = 0; j < WIDTH; ++j) {
                distances[i + j] = reinterpret_cast<const float*>(&read)[j];
            }
        }
    }

    static __device__ __forceinline__ void prefetch(const float* row, unsigned first, unsigned end,
                                                    unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += WIDTH) {
            unsigned at = first + offset(thread, i);
            // A cache line has 32 distances; one thread prefetches it.
            if (thread % (32 / WIDTH) == 0 && at < end) {
                asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
            }
        }
    }

    // One bit for each distance that does not exceed the bound.
    __device__ __forceinline__ unsigned within(float bound) const {
        unsigned mask = 0;
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
            mask |= distances[i] <= bound ? 1u << i : 0;
        }
        return mask;
    }
};

// The keys of ITEMS distances for one of THREADS threads, in vectors of four; from n on, padding.
template <unsigned THREADS, unsigned ITEMS>
__device__ __forceinline__ void read_keys(Key (&keys)[ITEMS], const float* row, unsigned first, unsigned n,
                                          unsigned thread) {
#pragma unroll
    for (unsigned i = 0; i < ITEMS; i += 4) {
        unsigned at = first + (i / 4 * THREADS + thread) * 4;
        float inf = infinite_distance();
        float4 four =
            at < n ? __ldcs(reinterpret_cast<const float4*>(row + at)) : make_float4(inf, inf, inf, inf);
        keys[i] = choose(at < n, key_of(four.x, at), PADDING);
        keys[i + 1] = choose(at < n && n - at > 1, key_of(four.y, at + 1), PADDING);
        keys[i + 2] = choose(at < n && n - at > 2, key_of(four.z, at + 2), PADDING);
        keys[i + 3] = choose(at < n && n - at > 3, key_of(four.w, at + 3), PADDING);
    }
}

#if WARPSCOPE_ASYNC_COPIES
// A warp's batches of distances `begin` to `end` of a row; the block's warps take batches in turn. They are
// copied to a ring in shared memory, so that loads stay in flight during a merge without occupying registers.
// A lane reads only what it copied, so no barrier is needed.
template <unsigned THREADS, unsigned ITEMS, unsigned STAGES>
struct RowBatches {
    using Read = Batch<WARP, ITEMS>;
    static constexpr unsigned STRIDE = THREADS * ITEMS;
    static constexpr unsigned WIDTH = Read::WIDTH;
    static constexpr unsigned VECTORS = ITEMS / WIDTH;
    using Copied = typename Read::Read;

    Copied* ring;  // STAGES x VECTORS x THREADS, offset to this thread
    const float* ahead;  // the batch to copy next
    unsigned prefetch;
    unsigned first;       // of the next batch
    unsigned left;        // distances from `first` on
    unsigned left_ahead;  // distances from `ahead` on
    unsigned stage = STAGES - 1;
    unsigned lane = warp::lane_id();

    // The ring has STAGES x THREADS x ITEMS floats, aligned to 16 bytes.
    __device__ __forceinline__ RowBatches(float4* memory, const float* row, unsigned begin, unsigned end,
                                          unsigned prefetch)
        : ring(reinterpret_cast<Copied*>(memory) + threadIdx.x), prefetch(prefetch) {
        unsigned skipped = threadIdx.x / WARP * (WARP * ITEMS);
        first = begin + skipped;
        // Guards against overflow if a row ends close to 2^32.
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
        // The batch read last is finished; its stage is reused for the next copy.
        copy(stage);
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        ptx::await_copies<STAGES - 1>();
        first += STRIDE;
        left = left > STRIDE ? left - STRIDE : 0;
        return true;
    }

    // One bit for each distance that does not exceed the bound.
    __device__ __forceinline__ unsigned within(float bound) const {
        unsigned mask = 0;
#pragma unroll
        for (unsigned vector = 0; vector < VECTORS; ++vector) {
            Copied copied = ring[(stage * VECTORS + vector) * THREADS];
#pragma unroll
            for (unsigned i = 0; i < WIDTH; ++i) {
                mask |= reinterpret_cast<const float*>(&copied)[i] <= bound ? 1u << (WIDTH * vector + i) : 0;
            }
        }
        return mask;
    }

    __device__ __forceinline__ Key key_at(int i) const {
        const float* copied = reinterpret_cast<const float*>(&ring[(stage * VECTORS + i / WIDTH) * THREADS]);
        return key_of(copied[i % WIDTH], first - STRIDE + Read::offset(lane, i));
    }

  private:
    // Starts to copy the next batch. Past the end, distances are infinite.
    __device__ __forceinline__ void copy(unsigned to) {
#pragma unroll
        for (unsigned vector = 0; vector < VECTORS; ++vector) {
            unsigned at = Read::offset(lane, WIDTH * vector);
            Copied* place = &ring[(to * VECTORS + vector) * THREADS];
            if (at < left_ahead) {
                ptx::copy_async<sizeof(Copied)>(ptx::shared_address(place), ahead + at, true);
            } else {
                *place = Vector<WIDTH>::all(infinite_distance());
            }
        }
        ptx::close_copies();
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
    unsigned first;  // of the next batch
    unsigned left;   // distances from `first` on
    unsigned lane = warp::lane_id();
    Read batch, coming;

    __device__ __forceinline__ RowBatches(float4*, const float* row, unsigned begin, unsigned end,
                                          unsigned prefetch)
        : row(row), end(end), prefetch(prefetch) {
        unsigned skipped = threadIdx.x / WARP * (WARP * ITEMS);
        // Guards against overflow if a row ends close to 2^32.
        left = begin < end && end - begin > skipped ? end - begin - skipped : 0;
        first = begin + skipped;
        coming.load(row, left > 0 ? first : end, end, lane);
    }

    __device__ __forceinline__ bool next() {
        if (left == 0) {
            return false;
        }
        batch = coming;
        // Starts the load before the current batch is processed. Nothing is read past the end.
        coming.load(row, left > STRIDE ? first + STRIDE : end, end, lane);
        if (prefetch && left > 2 * STRIDE) {
            Read::prefetch(row, first + 2 * STRIDE, end, lane);
        }
        first += STRIDE;
        left = left > STRIDE ? left - STRIDE : 0;
        return true;
    }

    __device__ __forceinline__ unsigned within(float bound) const { return batch.within(bound); }
    __device__ __forceinline__ Key key_at(int i) const {
        return key_of(batch.distances[i], first - STRIDE + Read::offset(lane, i));
    }
};
#endif

}  // namespace warpscope::select

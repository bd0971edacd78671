// The queries of a warp of bits-fused in shared memory, dimension by dimension: a slice of dimensions at a time, brought while the one before it
// is read. No namesake among the twins, which read the queries where they are.
//
// Scope: a warp, all lanes of which call together.
#pragma once

#include "ptx.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

constexpr unsigned FUSED_SLICE = 16;  // dimensions

struct QuerySlices {
    struct Memory {
        alignas(16) float slices[2][FUSED_SLICE][FUSED_QUERIES];
    };

    Memory& memory;
    const float* query;  // whose coordinates this lane brings
    unsigned d;
    unsigned count;         // of slices
    unsigned next = 0;      // the slice that is brought next
    unsigned brought = 0;   // slices, of all windows

    // `query` is query number lane % FUSED_QUERIES of the warp.
    __device__ __forceinline__ QuerySlices(Memory& memory, const float* query, unsigned d)
        : memory(memory), query(query), d(d), count((d - 1) / FUSED_SLICE + 1) {
        bring();
        if (count == 2) {
            bring();
        }
        await();
    }

    // Slice `at` of a window, by dimension and query. Called slice by slice, window by window.
    __device__ __forceinline__ const float (*enter(unsigned at))[FUSED_QUERIES] {
        // Two slices stay.
        if (count <= 2) {
            return memory.slices[at];
        }
        unsigned here = (brought - 1) % 2;
        await();
        bring();
        return memory.slices[here];
    }

  private:
    // What was brought is there, and no lane reads the slice before it any more.
    __device__ __forceinline__ void await() {
#if WARPSCOPE_ASYNC_COPIES
        ptx::await_copies<0>();
#endif
        __syncwarp();
    }

    __device__ __forceinline__ void bring() {
        unsigned lane = warp::lane_id();
#pragma unroll
        for (unsigned j = lane / FUSED_QUERIES; j < FUSED_SLICE; j += WARP / FUSED_QUERIES) {
            float* to = &memory.slices[brought % 2][j][lane % FUSED_QUERIES];
            unsigned dimension = next * FUSED_SLICE + j;
            bool there = dimension < d;
#if WARPSCOPE_ASYNC_COPIES
            ptx::copy_async<4>(ptx::shared_address(to), query + (there ? dimension : 0), there);
#else
            *to = there ? query[dimension] : 0.0f;
#endif
        }
#if WARPSCOPE_ASYNC_COPIES
        ptx::close_copies();
#endif
        brought += 1;
        next = next + 1 == count ? 0 : next + 1;
    }
};

}  // namespace warpscope::select

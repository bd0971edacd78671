// Entry points: index_<step>, the steps of building a tree of any d.
#include "entry.cuh"
#include "index/morton.cuh"
#include "index/radix_sort.cuh"
#include "index/tree.cuh"

namespace warpscope::index {

__device__ __forceinline__ void codes(const Codes& codes) {
    tally(codes.counts, codes.count, codes.passes, [&codes](unsigned at) {
        size_t row = codes.order == nullptr ? at : codes.order[at];
        unsigned key =
            static_cast<unsigned>(code(codes.frame, codes.rows + row * codes.d, codes.d) >> codes.shift) &
            codes.mask;
        codes.keys[at] = key;
        return key;
    });
}

__device__ __forceinline__ void leaves(const Growth& growth) {
    unsigned leaf = (blockIdx.x * BUILD_THREADS + threadIdx.x) / WARP;
    if (leaf < (growth.tree.boxes[0] + WARP - 1) / WARP * WARP) {
        bound_points(growth, leaf, warp::lane_id());
    }
}

__device__ __forceinline__ void boxes(const Growth& growth) {
    unsigned box = (blockIdx.x * BUILD_THREADS + threadIdx.x) / WARP;
    if (box < (growth.tree.boxes[growth.height] + WARP - 1) / WARP * WARP) {
        bound_boxes(growth, box, warp::lane_id());
    }
}

WARPSCOPE_KERNEL(WARPSCOPE_INDEX_ENTRY(codes), (SORT_THREADS), Codes, codes)
WARPSCOPE_KERNEL(WARPSCOPE_INDEX_ENTRY(sweep), (SORT_THREADS), Pass, sweep)
WARPSCOPE_KERNEL(WARPSCOPE_INDEX_ENTRY(leaves), (BUILD_THREADS), Growth, leaves)
WARPSCOPE_KERNEL(WARPSCOPE_INDEX_ENTRY(boxes), (BUILD_THREADS), Growth, boxes)

}  // namespace warpscope::index

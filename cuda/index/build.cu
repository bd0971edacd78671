// Entry points: index_<step>, of a tree of any d.
#include "index/morton.cuh"
#include "index/radix_sort.cuh"
#include "index/tree.cuh"

namespace warpscope::index {

extern "C" __global__ void __launch_bounds__(SORT_THREADS) WARPSCOPE_INDEX_ENTRY(codes)(const __grid_constant__ Codes codes) {
    tally(codes.counts, codes.count, codes.passes, [&codes](unsigned at) {
        size_t row = codes.order == nullptr ? at : codes.order[at];
        unsigned key = static_cast<unsigned>(code(codes.frame, codes.rows + row * codes.d, codes.d) >> codes.shift) & codes.mask;
        codes.keys[at] = key;
        return key;
    });
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS) WARPSCOPE_INDEX_ENTRY(sweep)(const __grid_constant__ Pass pass) { sweep(pass); }

extern "C" __global__ void __launch_bounds__(BUILD_THREADS) WARPSCOPE_INDEX_ENTRY(leaves)(const __grid_constant__ Growth growth) {
    unsigned leaf = (blockIdx.x * BUILD_THREADS + threadIdx.x) / WARP;
    if (leaf < (growth.tree.boxes[0] + WARP - 1) / WARP * WARP) {
        bound_points(growth, leaf, warp::lane_id());
    }
}

extern "C" __global__ void __launch_bounds__(BUILD_THREADS) WARPSCOPE_INDEX_ENTRY(boxes)(const __grid_constant__ Growth growth) {
    unsigned box = (blockIdx.x * BUILD_THREADS + threadIdx.x) / WARP;
    if (box < (growth.tree.boxes[growth.height] + WARP - 1) / WARP * WARP) {
        bound_boxes(growth, box, warp::lane_id());
    }
}

}  // namespace warpscope::index

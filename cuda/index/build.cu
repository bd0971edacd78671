// Entry points: index_<step>, of a tree of any d.
#include "index/morton.cuh"
#include "index/radix_sort.cuh"
#include "index/tree.cuh"

namespace warpscope::index {

extern "C" __global__ void __launch_bounds__(BUILD_THREADS) WARPSCOPE_INDEX_ENTRY(codes)(const __grid_constant__ Codes codes) {
    unsigned at = blockIdx.x * BUILD_THREADS + threadIdx.x;
    if (at < codes.count) {
        codes.codes[at] = code(codes.frame, codes.rows + static_cast<size_t>(at) * codes.d, codes.d);
        codes.order[at] = at;
    }
}

extern "C" __global__ void __launch_bounds__(SORT_THREADS) WARPSCOPE_INDEX_ENTRY(count)(const __grid_constant__ Pass pass) { count(pass); }
extern "C" __global__ void __launch_bounds__(SORT_THREADS) WARPSCOPE_INDEX_ENTRY(scan)(const __grid_constant__ Pass pass) { scan(pass); }
extern "C" __global__ void __launch_bounds__(SORT_THREADS) WARPSCOPE_INDEX_ENTRY(scatter)(const __grid_constant__ Pass pass) { scatter(pass); }

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

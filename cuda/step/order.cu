// Entry points: step_<step> of what comes before clusters are visited, for any d and k.
#include "step/exhaustive.cuh"
#include "step/traverse.cuh"

namespace warpscope::step {

extern "C" __global__ void __launch_bounds__(VISIT_WARPS * WARP) WARPSCOPE_STEP_ENTRY(order)(const __grid_constant__ Ordering ordering) {
    order(ordering);
}
extern "C" __global__ void __launch_bounds__(DISTANCE_THREADS) WARPSCOPE_STEP_ENTRY(distances)(const __grid_constant__ Distances distances) {
    store_distances(distances);
}
extern "C" __global__ void __launch_bounds__(VISIT_WARPS * WARP) WARPSCOPE_STEP_ENTRY(minima)(const __grid_constant__ Minima minima) {
    order_minima(minima);
}

}  // namespace warpscope::step

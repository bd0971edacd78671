// Entry points: step_<step>, the steps before clusters are visited, for any d and k.
#include "entry.cuh"
#include "step/exhaustive.cuh"
#include "step/traverse.cuh"

namespace warpscope::step {

WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(order), (VISIT_WARPS * WARP), Ordering, order)
WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(distances), (DISTANCE_THREADS), Distances, store_distances)
WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(minima), (VISIT_WARPS * WARP), Minima, order_minima)

}  // namespace warpscope::step

// Entry points: step_<step>, the steps of clustering, for points of any d.
#include "entry.cuh"
#include "step/kmeans.cuh"

namespace warpscope::step {

__device__ __forceinline__ void assign_points(const Lloyd& lloyd) {
    __shared__ float tile[ASSIGN_TILE];
    switch (lloyd.d) {
        case 2:
            return assign<2>(lloyd, tile);
        case 3:
            return assign<3>(lloyd, tile);
        default:
            return assign<0>(lloyd, tile);
    }
}

WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(weigh), (SEED_THREADS), Seeding, weigh)
WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(choose), (SEED_THREADS), Seeding, choose_seed)
WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(assign), (ASSIGN_THREADS), Lloyd, assign_points)
WARPSCOPE_KERNEL(WARPSCOPE_STEP_ENTRY(move), (ASSIGN_THREADS), Lloyd, move)

}  // namespace warpscope::step

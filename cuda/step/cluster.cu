// Entry points: step_<step> of clustering, for points of any d.
#include "step/kmeans.cuh"

namespace warpscope::step {

extern "C" __global__ void __launch_bounds__(SEED_THREADS) WARPSCOPE_STEP_ENTRY(weigh)(const __grid_constant__ Seeding seeding) {
    weigh(seeding);
}
extern "C" __global__ void __launch_bounds__(SEED_THREADS) WARPSCOPE_STEP_ENTRY(choose)(const __grid_constant__ Seeding seeding) {
    choose_seed(seeding);
}

extern "C" __global__ void __launch_bounds__(ASSIGN_THREADS) WARPSCOPE_STEP_ENTRY(assign)(const __grid_constant__ Lloyd lloyd) {
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

extern "C" __global__ void __launch_bounds__(ASSIGN_THREADS) WARPSCOPE_STEP_ENTRY(move)(const __grid_constant__ Lloyd lloyd) {
    move(lloyd);
}

}  // namespace warpscope::step

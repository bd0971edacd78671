// Entry points: select_distances_<kind>, for any d.
#include "select/distances.cuh"

namespace warpscope::select {

#define WARPSCOPE_KERNEL(KIND)                                                                                                    \
    extern "C" __global__ void __launch_bounds__(DISTANCE_THREADS) WARPSCOPE_DISTANCES_ENTRY(KIND)(const __grid_constant__ Distances tile) { \
        distances_##KIND(tile);                                                                                                   \
    }

WARPSCOPE_KERNEL(naive)
WARPSCOPE_KERNEL(tiles)
WARPSCOPE_KERNEL(registers)

}  // namespace warpscope::select

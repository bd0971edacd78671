// Entry points: select_distances_<kind>, for any d.
#include "select/distances.cuh"
#include "select/expanded.cuh"

namespace warpscope::select {

// Two blocks of register tiles fit a multiprocessor, if they have no more than 128 registers a thread.
#define WARPSCOPE_KERNEL(KIND, PARAMETER, BLOCKS)                               \
    extern "C" __global__ void __launch_bounds__(DISTANCE_THREADS, BLOCKS)      \
        WARPSCOPE_DISTANCES_ENTRY(KIND)(const __grid_constant__ PARAMETER of) { \
        distances_##KIND(of);                                                   \
    }

WARPSCOPE_KERNEL(naive, Distances, 1)
WARPSCOPE_KERNEL(tiles, Distances, 1)
WARPSCOPE_KERNEL(registers, Distances, 2)
WARPSCOPE_KERNEL(expanded, Distances, 2)
WARPSCOPE_KERNEL(norms, Norms, 1)
WARPSCOPE_KERNEL(complete, Distances, 1)
WARPSCOPE_KERNEL(wrong, Comparison, 1)

}  // namespace warpscope::select

// Entry points: select_distances_<kind>, for any d.
#include "entry.cuh"
#include "select/distances.cuh"
#include "select/expanded.cuh"

namespace warpscope::select {

WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(naive), (DISTANCE_THREADS, 1), Distances, distances_naive)
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(tiles), (DISTANCE_THREADS, 1), Distances, distances_tiles)
// Two blocks of register tiles fit a multiprocessor if they need at most 128 registers per thread.
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(registers), (DISTANCE_THREADS, 2), Distances,
                 register_tiles<SquaredDifferences>)
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(expanded), (DISTANCE_THREADS, 2), Distances, distances_expanded)
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(norms), (DISTANCE_THREADS, 1), Norms, distances_norms)
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(complete), (DISTANCE_THREADS, 1), Distances, distances_complete)
WARPSCOPE_KERNEL(WARPSCOPE_DISTANCES_ENTRY(wrong), (DISTANCE_THREADS, 1), Comparison, distances_wrong)

}  // namespace warpscope::select

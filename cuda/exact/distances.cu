// Entry points: exact_scales, exact_l2, exact_directions.
#include "entry.cuh"
#include "exact/distances.cuh"

namespace warpscope::exact {

WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_EXACT_ENTRY, scales), (THREADS), RowScales, scale_rows)
WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_EXACT_ENTRY, l2), (THREADS), Pairs, squared_distances<false>)
WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_EXACT_ENTRY, directions), (THREADS), Pairs, squared_distances<true>)

}  // namespace warpscope::exact

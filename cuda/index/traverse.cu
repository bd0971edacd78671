// Entry points: traverse_k<K>_d<D>_<build>, D = 0 for any d. WARPSCOPE_K and WARPSCOPE_D select what to
// compile; WARPSCOPE_BUILDS is a sum of 1 (timed), 2 (counted) and 8 (traced: one query).
#include "entry.cuh"
#include "index/recorder.cuh"
#include "index/traverse.cuh"

namespace warpscope::index {

// The largest K needs many registers: without the bound the compiler aims at more blocks than fit, and
// spills.
#define WARPSCOPE_BUILD(BUILD, TALLY)                                                                   \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_TRAVERSE_ENTRY, WARPSCOPE_K, WARPSCOPE_D, BUILD),         \
                     (TRAVERSE_WARPS * WARP, WARPSCOPE_K >= 1024 ? 3 : 1), Traversal,                   \
                     traverse<WARPSCOPE_K / 32, WARPSCOPE_D, TALLY>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, VisitTally)
#endif

#if WARPSCOPE_BUILDS & 8
extern "C" __global__ void __launch_bounds__(TRAVERSE_WARPS * WARP, 1)
    WARPSCOPE_NAME(WARPSCOPE_TRAVERSE_ENTRY, WARPSCOPE_K, WARPSCOPE_D, traced)(
        const __grid_constant__ Traversal search, Trace trace) {
    traverse<WARPSCOPE_K / 32, WARPSCOPE_D, Recorder>(search, Recorder{{trace}});
}
#endif

}  // namespace warpscope::index

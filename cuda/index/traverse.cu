// Entry points: traverse_k<K>_d<D>_<build>, D = 0 for any d. WARPSCOPE_K and WARPSCOPE_D choose what is compiled; WARPSCOPE_BUILDS
// is a sum of 1 (timed), 2 (counted) and 8 (traced: one query).
#include "index/recorder.cuh"
#include "index/traverse.cuh"

namespace warpscope::index {

// The largest K has many registers to keep: unasked the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_ENTRY(K, D, BUILD, TALLY)                                                   \
    extern "C" __global__ void __launch_bounds__(TRAVERSE_WARPS * WARP, (K) >= 1024 ? 3 : 1)  \
        WARPSCOPE_TRAVERSE_ENTRY(K, D, BUILD)(const __grid_constant__ Traversal search) {     \
        traverse<K / 32, D, TALLY>(search);                                                   \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, D, BUILD, TALLY) WARPSCOPE_ENTRY(K, D, BUILD, TALLY)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, counted, VisitTally)
#endif

#if WARPSCOPE_BUILDS & 8
#define WARPSCOPE_TRACED(K, D) WARPSCOPE_TRAVERSE_ENTRY(K, D, traced)
extern "C" __global__ void __launch_bounds__(TRAVERSE_WARPS * WARP, 1)
    WARPSCOPE_TRACED(WARPSCOPE_K, WARPSCOPE_D)(const __grid_constant__ Traversal search, Trace trace) {
    traverse<WARPSCOPE_K / 32, WARPSCOPE_D, Recorder>(search, Recorder{{trace}});
}
#endif

}  // namespace warpscope::index

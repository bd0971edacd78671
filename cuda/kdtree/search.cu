// Entry points: kdtree_search_d<D>_<build>, D = 0 for any d. WARPSCOPE_D chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed)
// and 2 (counted).
#include "kdtree/traverse.cuh"

namespace warpscope::kdtree {

// Unasked the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_ENTRY(D, BUILD, COUNTED)                                            \
    extern "C" __global__ void __launch_bounds__(SEARCH_THREADS, 8)                   \
        WARPSCOPE_KDTREE_ENTRY(D, BUILD)(const __grid_constant__ Search search) {     \
        answer<D, COUNTED>(search);                                                     \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(D, BUILD, COUNTED) WARPSCOPE_ENTRY(D, BUILD, COUNTED)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_D, timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_D, counted, true)
#endif

}  // namespace warpscope::kdtree

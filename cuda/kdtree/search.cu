// Entry points: kdtree_search_d<D>_<build>, D = 0 for any d. WARPSCOPE_D selects the dimensions to compile;
// WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "kdtree/traverse.cuh"

namespace warpscope::kdtree {

// Without the bound of 8 blocks the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_BUILD(BUILD, COUNTED)                                                               \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_KDTREE_ENTRY, WARPSCOPE_D, BUILD), (SEARCH_THREADS, 8), \
                     Search, answer<WARPSCOPE_D, COUNTED>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, true)
#endif

}  // namespace warpscope::kdtree

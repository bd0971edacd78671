// Entry points: step_visit_<source>_k<K>_<build>, for any d. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed)
// and 2 (counted).
#include "step/exhaustive.cuh"
#include "step/traverse.cuh"

namespace warpscope::step {

// Unasked the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_ENTRY(SOURCE, VISIT, K, BUILD, TALLY)                                     \
    extern "C" __global__ void __launch_bounds__(VISIT_WARPS * WARP, 1)                     \
        WARPSCOPE_STEP_VISIT_ENTRY(SOURCE, K, BUILD)(const __grid_constant__ VISIT visit) { \
        visit_##SOURCE<K / 32, TALLY>(visit);                                               \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNELS(K, BUILD, TALLY)                  \
    WARPSCOPE_ENTRY(indexed, IndexedVisit, K, BUILD, TALLY) \
    WARPSCOPE_ENTRY(stored, StoredVisit, K, BUILD, TALLY)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNELS(WARPSCOPE_K, timed, Unseen)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNELS(WARPSCOPE_K, counted, Seen)
#endif

}  // namespace warpscope::step

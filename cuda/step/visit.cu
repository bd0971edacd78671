// Entry points: step_visit_<source>_k<K>_<build>, for any d. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed)
// and 2 (counted).
#include "step/exhaustive.cuh"
#include "step/traverse.cuh"

namespace warpscope::step {

// Unasked the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_ENTRY(SOURCE, VISIT, K, BUILD, COUNTED)                                     \
    extern "C" __global__ void __launch_bounds__(VISIT_WARPS * WARP, 1)                     \
        WARPSCOPE_STEP_VISIT_ENTRY(SOURCE, K, BUILD)(const __grid_constant__ VISIT visit) { \
        visit_##SOURCE<K / 32, COUNTED>(visit);                                             \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNELS(K, BUILD, COUNTED)                  \
    WARPSCOPE_ENTRY(indexed, IndexedVisit, K, BUILD, COUNTED) \
    WARPSCOPE_ENTRY(stored, StoredVisit, K, BUILD, COUNTED)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNELS(WARPSCOPE_K, timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNELS(WARPSCOPE_K, counted, true)
#endif

}  // namespace warpscope::step

// Entry points: step_visit_<source>_k<K>_<build>, for any d. WARPSCOPE_K selects what to compile;
// WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "step/exhaustive.cuh"
#include "step/traverse.cuh"

namespace warpscope::step {

// Without the bound, the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_BUILD(SOURCE, PARAMETER, BUILD, COUNTED)                                   \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_STEP_VISIT_ENTRY, SOURCE, WARPSCOPE_K, BUILD), \
                     (VISIT_WARPS * WARP, 1), PARAMETER, visit_##SOURCE<WARPSCOPE_K / 32, COUNTED>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(indexed, IndexedVisit, timed, false)
WARPSCOPE_BUILD(stored, StoredVisit, timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(indexed, IndexedVisit, counted, true)
WARPSCOPE_BUILD(stored, StoredVisit, counted, true)
#endif

}  // namespace warpscope::step

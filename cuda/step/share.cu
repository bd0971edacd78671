// Entry points: step_share_indexed_k<K>, step_share_stored_k<K> and step_gather_k<K>, for any d. WARPSCOPE_K
// selects what to compile.
#include "entry.cuh"
#include "step/share.cuh"

namespace warpscope::step {

// Without the bound, the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_STEP(STEP, PARAMETER)                                                                      \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_STEP_SHARE_ENTRY, STEP, WARPSCOPE_K), (VISIT_WARPS * WARP, 1), \
                     PARAMETER, STEP<WARPSCOPE_K / 32>)

WARPSCOPE_STEP(share_indexed, IndexedShare)
WARPSCOPE_STEP(share_stored, StoredShare)
WARPSCOPE_STEP(gather, Gathering)

}  // namespace warpscope::step

// Entry points: step_share_indexed_k<K>, step_share_stored_k<K> and step_gather_k<K>, for any d. WARPSCOPE_K chooses what is compiled.
#include "step/share.cuh"

namespace warpscope::step {

// Unasked the compiler aims at more blocks than fit, and spills.
#define WARPSCOPE_ENTRY(STEP, PARAMETER, K)                                                              \
    extern "C" __global__ void __launch_bounds__(VISIT_WARPS * WARP, 1) WARPSCOPE_STEP_SHARE_ENTRY(STEP, K)( \
        const __grid_constant__ PARAMETER parameter) {                                                   \
        STEP<K / 32>(parameter);                                                                         \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNELS(K)                          \
    WARPSCOPE_ENTRY(share_indexed, IndexedShare, K)   \
    WARPSCOPE_ENTRY(share_stored, StoredShare, K)     \
    WARPSCOPE_ENTRY(gather, Gathering, K)

WARPSCOPE_KERNELS(WARPSCOPE_K)

}  // namespace warpscope::step

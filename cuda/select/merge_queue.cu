// Entry points: select_merge_queue_<build>, for any k. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "select/merge_queue.cuh"

namespace warpscope::select {

// Unasked the compiler aims at more blocks, and spills.
#define WARPSCOPE_KERNEL(BUILD, COUNTED)                                                                                       \
    extern "C" __global__ void __launch_bounds__(QUEUE_WARPS * WARP, 5)                                                         \
        WARPSCOPE_MERGE_QUEUE_ENTRY(BUILD)(const __grid_constant__ Selection selection) {                                      \
        merge_queue<COUNTED>(selection);                                                                                       \
    }

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(counted, true)
#endif

}  // namespace warpscope::select

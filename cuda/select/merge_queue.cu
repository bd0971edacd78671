// Entry points: select_merge_queue_<build>, for any k. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2
// (counted).
#include "entry.cuh"
#include "select/merge_queue.cuh"

namespace warpscope::select {

// Without the bound, the compiler aims at more blocks, and spills.
#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_MERGE_QUEUE_ENTRY(timed), (QUEUE_WARPS * WARP, 5), Selection, merge_queue<false>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_MERGE_QUEUE_ENTRY(counted), (QUEUE_WARPS * WARP, 5), Selection, merge_queue<true>)
#endif

}  // namespace warpscope::select

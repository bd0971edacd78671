// Entry points: select_heaps_<place>_<build>, for any k, with heaps in shared or in device memory.
// WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "select/thread_heap.cuh"

namespace warpscope::select {

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_THREAD_HEAP_ENTRY(shared, timed), (WARP, 16), Selection, thread_heap<true, false>)
WARPSCOPE_KERNEL(WARPSCOPE_THREAD_HEAP_ENTRY(device, timed), (WARP, 16), Selection, thread_heap<false, false>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_THREAD_HEAP_ENTRY(shared, counted), (WARP, 16), Selection, thread_heap<true, true>)
WARPSCOPE_KERNEL(WARPSCOPE_THREAD_HEAP_ENTRY(device, counted), (WARP, 16), Selection,
                 thread_heap<false, true>)
#endif

}  // namespace warpscope::select

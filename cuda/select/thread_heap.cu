// Entry points: select_heaps_<place>_<build>, for any k, the heaps in shared or in device memory. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2
// (counted).
#include "select/thread_heap.cuh"

namespace warpscope::select {

#define WARPSCOPE_KERNEL(PLACE, BUILD, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(WARP, 16)                                                                     \
        WARPSCOPE_THREAD_HEAP_ENTRY(PLACE, BUILD)(const __grid_constant__ Selection selection) {                               \
        thread_heap<__VA_ARGS__>(selection);                                                                                   \
    }

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(shared, timed, true, false)
WARPSCOPE_KERNEL(device, timed, false, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(shared, counted, true, true)
WARPSCOPE_KERNEL(device, counted, false, true)
#endif

}  // namespace warpscope::select

// Entry points: select_bits_global_<build>. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "select/bits_global.cuh"

namespace warpscope::select {

#define WARPSCOPE_KERNEL(BUILD, COUNTED)                                                                                                        \
    extern "C" __global__ void __launch_bounds__(GLOBAL_THREADS, 2) WARPSCOPE_BITS_GLOBAL_ENTRY(BUILD)(const __grid_constant__ Selection selection) { \
        select_row_global<GLOBAL_THREADS, BITS_ITEMS, COUNTED>(selection);                                                                        \
    }

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(counted, true)
#endif

}  // namespace warpscope::select

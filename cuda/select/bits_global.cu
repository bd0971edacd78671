// Entry points: select_bits_global_<build>. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "select/bits_global.cuh"

namespace warpscope::select {

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_BITS_GLOBAL_ENTRY(timed), (GLOBAL_THREADS, 2), Selection,
                 select_row_global<GLOBAL_THREADS, BITS_ITEMS, false>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_BITS_GLOBAL_ENTRY(counted), (GLOBAL_THREADS, 2), Selection,
                 select_row_global<GLOBAL_THREADS, BITS_ITEMS, true>)
#endif

}  // namespace warpscope::select

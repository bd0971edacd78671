// Entry points: select_merge_path_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "select/merge_path.cuh"

namespace warpscope::select {

#define WARPSCOPE_ENTRY(NAME, K, COUNTED)                                                                                    \
    extern "C" __global__ void __launch_bounds__(PathShape<K>::THREADS) NAME(const __grid_constant__ Selection selection) { \
        merge_path<K, COUNTED>(selection);                                                                                   \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, COUNTED) WARPSCOPE_ENTRY(WARPSCOPE_MERGE_PATH_ENTRY(K, BUILD), K, COUNTED)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, true)
#endif

}  // namespace warpscope::select

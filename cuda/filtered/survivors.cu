// Entry points: select_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed),
// 2 (counted) and 4 (profiled).
#include "filtered/survivors.cuh"

namespace warpscope::filtered {

#define WARPSCOPE_ENTRY(K, BUILD, TALLY)                                                                        \
    extern "C" __global__ void __launch_bounds__(SURVIVOR_WARPS * WARP) WARPSCOPE_SURVIVORS_ENTRY(K, BUILD)(    \
        const __grid_constant__ SurvivorSearch search) {                                                        \
        search_survivors<K / 32, TALLY>(search);                                                                \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, TALLY) WARPSCOPE_ENTRY(K, BUILD, TALLY)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, Counted)
#endif
#if WARPSCOPE_BUILDS & 4
WARPSCOPE_KERNEL(WARPSCOPE_K, profiled, Profiled)
#endif

}  // namespace warpscope::filtered

// Entry points: select_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed),
// 2 (counted) and 4 (profiled).
#include "filtered/survivors.cuh"

namespace warpscope::filtered {

// Queries, and so warps, in a block: src/engines/cuda/filtered/ reads it from the module.
extern "C" __constant__ __attribute__((used)) const unsigned select_warps = SurvivorPolicy<WARPSCOPE_K / 32>::WARPS;

#define WARPSCOPE_SELECT_NAME(K, BUILD) select_k##K##_##BUILD
#define WARPSCOPE_SELECT_ENTRY(K, BUILD, TALLY)                                                                                           \
    extern "C" __global__ void __launch_bounds__(SurvivorPolicy<K / 32>::WARPS * WARP) WARPSCOPE_SELECT_NAME(K, BUILD)(                      \
        const __grid_constant__ SurvivorSearch search) {                                                                                          \
        search_survivors<K / 32, TALLY>(search);                                                                                                    \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_SELECT(K, BUILD, TALLY) WARPSCOPE_SELECT_ENTRY(K, BUILD, TALLY)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_SELECT(WARPSCOPE_K, timed, Timed)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_SELECT(WARPSCOPE_K, counted, Counted)
#endif
#if WARPSCOPE_BUILDS & 4
WARPSCOPE_SELECT(WARPSCOPE_K, profiled, Profiled)
#endif

}  // namespace warpscope::filtered

// Entry points: select_k<K>_<build>. WARPSCOPE_K selects what to compile; WARPSCOPE_BUILDS is a sum of 1
// (timed), 2 (counted) and 4 (profiled).
#include "entry.cuh"
#include "filtered/survivors.cuh"

namespace warpscope::filtered {

#define WARPSCOPE_BUILD(BUILD, TALLY)                                                                        \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_SURVIVORS_ENTRY, WARPSCOPE_K, BUILD), (SURVIVOR_WARPS * WARP), \
                     SurvivorSearch, search_survivors<WARPSCOPE_K / 32, TALLY>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, Counted)
#endif
#if WARPSCOPE_BUILDS & 4
WARPSCOPE_BUILD(profiled, Profiled)
#endif

}  // namespace warpscope::filtered

// Entry points: warp_knn_k<K>_d<D>_<build>, D = 0 for any d. WARPSCOPE_K and WARPSCOPE_D choose what is compiled;
// WARPSCOPE_BUILDS is a sum of 1 (timed), 2 (counted) and 4 (profiled).
#include "warp_knn.cuh"

#define WARPSCOPE_NAME(K, D, BUILD) warp_knn_k##K##_d##D##_##BUILD
#define WARPSCOPE_ENTRY(K, D, BUILD, TALLY, MIN_BLOCKS)                                                         \
    extern "C" __global__ void __launch_bounds__(Policy<K / 32, D>::WARPS * WARP, Policy<K / 32, D>::MIN_BLOCKS) \
        WARPSCOPE_NAME(K, D, BUILD)(const __grid_constant__ Search search) {                                    \
        warp_knn<K / 32, D, TALLY>(search);                                                                     \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, D, BUILD, TALLY, MIN_BLOCKS) WARPSCOPE_ENTRY(K, D, BUILD, TALLY, MIN_BLOCKS)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, timed, Timed, MIN_BLOCKS)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, counted, Counted, MIN_BLOCKS)
#endif
#if WARPSCOPE_BUILDS & 4
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, profiled, Profiled, PROFILED_MIN_BLOCKS)
#endif

// Entry points of split.cuh: split_<stage>_d<D>, D = 0 for any d. WARPSCOPE_D chooses what is compiled.
#include "split_stages.cuh"

#define WARPSCOPE_NAME(STAGE, D) split_##STAGE##_d##D
#define WARPSCOPE_ENTRY(STAGE, D, THREADS) \
    extern "C" __global__ void __launch_bounds__(THREADS) WARPSCOPE_NAME(STAGE, D)(const __grid_constant__ Split split)

WARPSCOPE_ENTRY(sample, WARPSCOPE_D, SPLIT_WARPS * WARP) { sample<WARPSCOPE_D>(split); }
WARPSCOPE_ENTRY(bound, WARPSCOPE_D, SELECT_THREADS) { bound(split); }
WARPSCOPE_ENTRY(collect, WARPSCOPE_D, SPLIT_WARPS * WARP) { collect<WARPSCOPE_D>(split); }
WARPSCOPE_ENTRY(select, WARPSCOPE_D, SELECT_THREADS) { select<WARPSCOPE_D>(split); }

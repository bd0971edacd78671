// Entry points: warp_knn_k<K>_d<D>_<build>, D = 0 for any d, and the policy that they were compiled with.
// WARPSCOPE_K and WARPSCOPE_D select what to compile; WARPSCOPE_BUILDS is a sum of 1 (timed), 2 (counted), 4
// (profiled) and 8 (traced, which needs a policy of one block, one warp and one query).
#include "direct/warp_knn.cuh"
#include "entry.cuh"

namespace warpscope::direct {

constexpr Policy POLICY = choose_policy(ARCHITECTURE, WARPSCOPE_K, WARPSCOPE_D);
using Memory = SharedMemory<WARPSCOPE_K / 32, WARPSCOPE_D, POLICY>;

extern "C" __constant__ __attribute__((used)) const KernelConfig WARPSCOPE_WARP_KNN_CONFIG = {
    POLICY, Memory::BYTES};

#define WARPSCOPE_BUILD(BUILD, BOUNDS, TALLY)                                                           \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_WARP_KNN_ENTRY, WARPSCOPE_K, WARPSCOPE_D, BUILD), BOUNDS, \
                     Search, warp_knn<WARPSCOPE_K / 32, WARPSCOPE_D, POLICY, TALLY>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, (POLICY.threads(), POLICY.min_blocks), NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, (POLICY.threads(), POLICY.min_blocks), Counted)
#endif
#if WARPSCOPE_BUILDS & 4
// It needs more registers, and its speed does not matter.
WARPSCOPE_BUILD(profiled, (POLICY.threads(), 1), Profiled)
#endif

#if WARPSCOPE_BUILDS & 8
extern "C" __global__ void __launch_bounds__(POLICY.threads(), 1)
    WARPSCOPE_NAME(WARPSCOPE_WARP_KNN_ENTRY, WARPSCOPE_K, WARPSCOPE_D, traced)(
        const __grid_constant__ Search search, Trace trace) {
    warp_knn<WARPSCOPE_K / 32, WARPSCOPE_D, POLICY, NoCounters>(search, Recorder{{trace}});
}
#endif

#if WARPSCOPE_D == 0
// Transposes rows into windows. The grid may have any size.
extern "C" __global__ void WARPSCOPE_GROUP_ROWS_ENTRY(const float* rows, float* windows, unsigned first_row,
                                                      unsigned count, unsigned n, unsigned d,
                                                      unsigned padded) {
    group_rows<POLICY.window * WARP>(rows, windows, first_row, count, n, d, padded);
}
#endif

}  // namespace warpscope::direct

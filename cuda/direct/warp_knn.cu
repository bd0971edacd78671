// Entry points: warp_knn_k<K>_d<D>_<build>, D = 0 for any d, and the policy that they were compiled with. WARPSCOPE_K and
// WARPSCOPE_D choose what is compiled; WARPSCOPE_BUILDS is a sum of 1 (timed), 2 (counted), 4 (profiled) and 8 (traced:
// one block, one query, and a policy that says so).
#include "direct/warp_knn.cuh"

namespace warpscope::direct {

constexpr Policy POLICY = choose_policy(ARCHITECTURE, WARPSCOPE_K, WARPSCOPE_D);
using Memory = SharedMemory<WARPSCOPE_K / 32, WARPSCOPE_D, POLICY>;

extern "C" __constant__ __attribute__((used)) const Cut WARPSCOPE_WARP_KNN_CUT = {POLICY, Memory::BYTES};

// The profiled build needs more registers, and its speed matters to nobody.
#define WARPSCOPE_ENTRY(K, D, BUILD, TALLY)                                                                  \
    extern "C" __global__ void __launch_bounds__(POLICY.threads(), TALLY::PROFILED ? 1 : POLICY.min_blocks)  \
        WARPSCOPE_WARP_KNN_ENTRY(K, D, BUILD)(const __grid_constant__ Search search) {                       \
        warp_knn<K / 32, D, POLICY, TALLY>(search);                                                          \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, D, BUILD, TALLY) WARPSCOPE_ENTRY(K, D, BUILD, TALLY)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, counted, Counted)
#endif
#if WARPSCOPE_BUILDS & 4
WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D, profiled, Profiled)
#endif

#if WARPSCOPE_BUILDS & 8
#define WARPSCOPE_TRACED(K, D) WARPSCOPE_WARP_KNN_ENTRY(K, D, traced)
extern "C" __global__ void __launch_bounds__(POLICY.threads(), 1)
    WARPSCOPE_TRACED(WARPSCOPE_K, WARPSCOPE_D)(const __grid_constant__ Search search, Trace trace) {
    warp_knn<WARPSCOPE_K / 32, WARPSCOPE_D, POLICY, NoCounters>(search, Recorder{{trace}});
}
#endif

#if WARPSCOPE_D == 0
// Brings rows into the order that the search wants. The grid may have any size.
extern "C" __global__ void WARPSCOPE_GROUP_ROWS_ENTRY(const float* rows, float* windows, unsigned first_row, unsigned count, unsigned n,
                                                      unsigned d, unsigned padded) {
    group_rows<POLICY.window * WARP>(rows, windows, first_row, count, n, d, padded);
}
#endif

}  // namespace warpscope::direct

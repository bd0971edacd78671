// Entry points: select_radix_<build> and select_sample_<build>. WARPSCOPE_BUILDS is a sum of 1 (timed), 2 (counted) and 8 (traced: radix select
// of one query).
#include "select/pass_recorder.cuh"
#include "select/radix_select.cuh"
#include "select/sample_select.cuh"

namespace warpscope::select {

#define WARPSCOPE_ENTRY(NAME, BLOCKS, ...)                                                                             \
    extern "C" __global__ void __launch_bounds__(PASS_THREADS, BLOCKS) NAME(const __grid_constant__ MultiPass passes) { \
        select_row<__VA_ARGS__>(passes);                                                                               \
    }

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_ENTRY(WARPSCOPE_RADIX_SELECT_ENTRY(timed), 2, Digits, false)
WARPSCOPE_ENTRY(WARPSCOPE_SAMPLE_SELECT_ENTRY(timed), 2, Splitters, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_ENTRY(WARPSCOPE_RADIX_SELECT_ENTRY(counted), 1, Digits, true)
WARPSCOPE_ENTRY(WARPSCOPE_SAMPLE_SELECT_ENTRY(counted), 1, Splitters, true)
#endif
#if WARPSCOPE_BUILDS & 8
extern "C" __global__ void __launch_bounds__(PASS_THREADS, 1)
    WARPSCOPE_RADIX_SELECT_ENTRY(traced)(const __grid_constant__ MultiPass passes, Trace trace) {
    select_row<Digits, false>(passes, PassRecorder{{trace}});
}
#endif

}  // namespace warpscope::select

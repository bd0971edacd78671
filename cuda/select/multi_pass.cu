// Entry points: select_radix_<build> and select_sample_<build>. WARPSCOPE_BUILDS is a sum of 1 (timed), 2
// (counted) and 8 (traced: radix select of one query).
#include "entry.cuh"
#include "select/pass_recorder.cuh"
#include "select/radix_select.cuh"
#include "select/sample_select.cuh"

namespace warpscope::select {

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_RADIX_SELECT_ENTRY(timed), (PASS_THREADS, 2), MultiPass, select_row<Digits, false>)
WARPSCOPE_KERNEL(WARPSCOPE_SAMPLE_SELECT_ENTRY(timed), (PASS_THREADS, 2), MultiPass,
                 select_row<Splitters, false>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_RADIX_SELECT_ENTRY(counted), (PASS_THREADS, 1), MultiPass,
                 select_row<Digits, true>)
WARPSCOPE_KERNEL(WARPSCOPE_SAMPLE_SELECT_ENTRY(counted), (PASS_THREADS, 1), MultiPass,
                 select_row<Splitters, true>)
#endif
#if WARPSCOPE_BUILDS & 8
extern "C" __global__ void __launch_bounds__(PASS_THREADS, 1)
    WARPSCOPE_RADIX_SELECT_ENTRY(traced)(const __grid_constant__ MultiPass passes, Trace trace) {
    select_row<Digits, false>(passes, PassRecorder{{trace}});
}
#endif

}  // namespace warpscope::select

// Entry points of the tensor-core filter: filter_round, filter_<slab>_<where the queries are>, and filter_probe.
#include "filtered/filter.cuh"
#include "filtered/probe.cuh"

namespace warpscope::filtered {

#define WARPSCOPE_FORM(SLAB, RESIDENT) {SLAB, FilterShared<SLAB, RESIDENT>::QUERIES, RESIDENT ? Slab<SLAB>::BYTES : 0}
extern "C" __constant__ __attribute__((used)) const FilterCut WARPSCOPE_FILTER_CUT = {
    {WARPSCOPE_FORM(16, true), WARPSCOPE_FORM(32, true), WARPSCOPE_FORM(64, true), WARPSCOPE_FORM(64, false)}};

extern "C" __global__ void __launch_bounds__(FILTER_THREADS) WARPSCOPE_ROUND_ENTRY(const __grid_constant__ Rounding rounding) { round_tile(rounding); }

#define WARPSCOPE_FILTER(SLAB, RESIDENT, FORM)                                                                         \
    extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2) WARPSCOPE_FILTER_ENTRY(SLAB, FORM)(                \
        const __grid_constant__ Filter filter) {                                                                       \
        mma_filter<SLAB, RESIDENT>(filter);                                                                            \
    }
WARPSCOPE_FILTER(16, true, resident)
WARPSCOPE_FILTER(32, true, resident)
WARPSCOPE_FILTER(64, true, resident)
WARPSCOPE_FILTER(64, false, streaming)

extern "C" __global__ void __launch_bounds__(WARP) WARPSCOPE_PROBE_ENTRY(const __grid_constant__ Probe probe) { probe_accumulation(probe); }

}  // namespace warpscope::filtered

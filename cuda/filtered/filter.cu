// Entry points of the tensor-core filter: filter_round, and filter_<slab>_<where the queries are>.
#include "filtered/filter.cuh"

namespace warpscope::filtered {

// What the host must know for a launch: src/engines/cuda/filtered/ reads it from the module.
struct FilterCut {
    unsigned tile, threads;
    // Bytes of shared memory: `fixed`, and `a_slab` for every slab of a resident query tile.
    struct Form {
        unsigned slab, fixed, a_slab;
    } forms[4];
};

#define WARPSCOPE_FORM(SLAB, RESIDENT) {SLAB, FilterShared<SLAB, RESIDENT>::QUERIES, RESIDENT ? Slab<SLAB>::BYTES : 0}
extern "C" __constant__ __attribute__((used)) const FilterCut filter_cut = {
    FILTER_TILE, FILTER_THREADS, {WARPSCOPE_FORM(16, true), WARPSCOPE_FORM(32, true), WARPSCOPE_FORM(64, true), WARPSCOPE_FORM(64, false)}};

extern "C" __global__ void __launch_bounds__(FILTER_THREADS) filter_round(const __grid_constant__ Rounding rounding) { round_tile(rounding); }

#define WARPSCOPE_FILTER(SLAB, RESIDENT, NAME)                                                                        \
    extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2) NAME(const __grid_constant__ Filter filter) { \
        mma_filter<SLAB, RESIDENT>(filter);                                                                           \
    }
WARPSCOPE_FILTER(16, true, filter_16_resident)
WARPSCOPE_FILTER(32, true, filter_32_resident)
WARPSCOPE_FILTER(64, true, filter_64_resident)
WARPSCOPE_FILTER(64, false, filter_64_streaming)

}  // namespace warpscope::filtered

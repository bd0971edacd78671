// Entry points of the tensor-core filter: filter_round, filter_<slab>_<resident or streaming queries>, and
// filter_probe.
#include "entry.cuh"
#include "filtered/filter.cuh"
#include "filtered/mma.cuh"

namespace warpscope::filtered {

#define WARPSCOPE_FORM(SLAB, RESIDENT) \
    {SLAB, FilterShared<SLAB, RESIDENT>::QUERIES, RESIDENT ? Slab<SLAB>::BYTES : 0}
extern "C" __constant__ __attribute__((used)) const FilterForms WARPSCOPE_FILTER_FORMS = {
    {WARPSCOPE_FORM(16, true), WARPSCOPE_FORM(32, true), WARPSCOPE_FORM(64, true),
     WARPSCOPE_FORM(64, false)}};

WARPSCOPE_KERNEL(WARPSCOPE_ROUND_ENTRY, (FILTER_THREADS), Rounding, round_tile)
WARPSCOPE_KERNEL(WARPSCOPE_FILTER_ENTRY(16, resident), (FILTER_THREADS, 2), Filter, mma_filter<16, true>)
WARPSCOPE_KERNEL(WARPSCOPE_FILTER_ENTRY(32, resident), (FILTER_THREADS, 2), Filter, mma_filter<32, true>)
WARPSCOPE_KERNEL(WARPSCOPE_FILTER_ENTRY(64, resident), (FILTER_THREADS, 2), Filter, mma_filter<64, true>)
WARPSCOPE_KERNEL(WARPSCOPE_FILTER_ENTRY(64, streaming), (FILTER_THREADS, 2), Filter, mma_filter<64, false>)
WARPSCOPE_KERNEL(WARPSCOPE_PROBE_ENTRY, (WARP), Probe, probe_accumulation)

}  // namespace warpscope::filtered

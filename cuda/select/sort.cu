// Entry points: select_sort_rows_<build> and select_sort_found, with one block per row;
// select_sort_query_<step>, for a single row. WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "index/radix_sort.cuh"
#include "select/sort.cuh"

namespace warpscope::select {

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_SORT_ROWS_ENTRY(timed), (ROW_THREADS, 3), MultiPass, sort_distances<false>)
WARPSCOPE_KERNEL(WARPSCOPE_SORT_FOUND_ENTRY, (ROW_THREADS, 3), MultiPass, sort_found)

// Counts the digits of one row.
__device__ __forceinline__ void tally_row(const index::Pass& pass) {
    // Passes only read the counts; this launch produces them.
    index::tally(const_cast<unsigned*>(pass.counts), pass.count, index::SORT_PASSES,
                 [&pass](unsigned at) { return pass.keys[at]; });
}

WARPSCOPE_KERNEL(WARPSCOPE_SORT_QUERY_ENTRY(tally), (index::SORT_THREADS), index::Pass, tally_row)
WARPSCOPE_KERNEL(WARPSCOPE_SORT_QUERY_ENTRY(sweep), (index::SORT_THREADS), index::Pass, index::sweep)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_SORT_ROWS_ENTRY(counted), (ROW_THREADS, 3), MultiPass, sort_distances<true>)
#endif

}  // namespace warpscope::select

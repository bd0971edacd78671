// Entry points: select_sort_rows_<build> and select_sort_found, a block a row; select_sort_query_<step>, of one row. WARPSCOPE_BUILDS is a sum
// of 1 (timed) and 2 (counted).
#include "select/sort.cuh"

#include "index/radix_sort.cuh"

namespace warpscope::select {

#if WARPSCOPE_BUILDS & 1
extern "C" __global__ void __launch_bounds__(ROW_THREADS, 3) WARPSCOPE_SORT_ROWS_ENTRY(timed)(const __grid_constant__ MultiPass passes) {
    sort_distances<false>(passes);
}

extern "C" __global__ void __launch_bounds__(ROW_THREADS, 3) WARPSCOPE_SORT_FOUND_ENTRY(const __grid_constant__ MultiPass passes) {
    sort_found(passes);
}

// Counts the digits of one row.
extern "C" __global__ void __launch_bounds__(index::SORT_THREADS) WARPSCOPE_SORT_QUERY_ENTRY(tally)(const __grid_constant__ index::Pass pass) {
    // A pass reads them; this launch is what makes them.
    index::tally(const_cast<unsigned*>(pass.counts), pass.count, index::SORT_PASSES, [&pass](unsigned at) { return pass.keys[at]; });
}

extern "C" __global__ void __launch_bounds__(index::SORT_THREADS) WARPSCOPE_SORT_QUERY_ENTRY(sweep)(const __grid_constant__ index::Pass pass) {
    index::sweep(pass);
}
#endif
#if WARPSCOPE_BUILDS & 2
extern "C" __global__ void __launch_bounds__(ROW_THREADS, 3) WARPSCOPE_SORT_ROWS_ENTRY(counted)(const __grid_constant__ MultiPass passes) {
    sort_distances<true>(passes);
}
#endif

}  // namespace warpscope::select

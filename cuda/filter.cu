// Entry points of the tensor-core filter: filter_round, and filter_<slab>_<where the queries are>.
#include "mma_filter.cuh"

extern "C" __global__ void __launch_bounds__(FILTER_THREADS) filter_round(const __grid_constant__ Rounding rounding) { round_tile(rounding); }

extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2) filter_16_resident(const __grid_constant__ Filter filter) {
    mma_filter<16, true>(filter);
}

extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2) filter_32_resident(const __grid_constant__ Filter filter) {
    mma_filter<32, true>(filter);
}

extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2) filter_32_streaming(const __grid_constant__ Filter filter) {
    mma_filter<32, false>(filter);
}

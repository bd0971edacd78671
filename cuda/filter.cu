// Entry points of the tensor-core filter: filter_round, and filter_<slab>_<where the queries are>.
#include "mma_filter.cuh"

// What the host must know for a launch: src/engines/cuda/filtered.rs reads it from the module.
struct FilterCut {
    unsigned tile, threads;
    // Bytes of shared memory: `fixed`, and `a_slab` for every slab of a resident query tile.
    struct Form {
        unsigned slab, fixed, a_slab;
    } forms[3];
};
extern "C" __constant__ __attribute__((used)) const FilterCut filter_cut = {
    FILTER_TILE,
    FILTER_THREADS,
    {{16, FilterShared<16, true>::QUERIES, Slab<16>::BYTES}, {32, FilterShared<32, true>::QUERIES, Slab<32>::BYTES}, {32, FilterShared<32, false>::QUERIES, 0}}};

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

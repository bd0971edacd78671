// Entry points: select_bits_k<K>_<build>, and select_bits_bound. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1
// (timed, for rows that are divided or not) and 2 (counted).
#include "select/bits.cuh"

namespace warpscope::select {

constexpr unsigned THREADS = WARPSCOPE_K <= 1024 ? BITS_FEW_THREADS : BITS_THREADS;

#define WARPSCOPE_ENTRY(K, BUILD, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) WARPSCOPE_BITS_ENTRY(K, BUILD)(const __grid_constant__ Selection selection) { \
        __VA_ARGS__(selection);                                                                                           \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, ...) WARPSCOPE_ENTRY(K, BUILD, __VA_ARGS__)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, select_row<WARPSCOPE_K, THREADS, BITS_ITEMS, Uncounted>)
WARPSCOPE_KERNEL(WARPSCOPE_K, parts, select_part<WARPSCOPE_K, THREADS, BITS_ITEMS>)
WARPSCOPE_KERNEL(WARPSCOPE_K, combine, combine_parts<WARPSCOPE_K, THREADS, BITS_ITEMS>)

extern "C" __global__ void __launch_bounds__(THREADS) WARPSCOPE_BITS_BOUND_ENTRY(const __grid_constant__ Selection selection) {
    bound_row<THREADS>(selection);
}
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, select_row<WARPSCOPE_K, THREADS, BITS_ITEMS, Tally>)
#endif

}  // namespace warpscope::select

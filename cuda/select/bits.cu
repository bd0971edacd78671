// Entry points: select_bits_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1
// (timed, for rows that are divided or not) and 2 (counted). WARPSCOPE_ITEMS replaces BITS_ITEMS.
#include "select/bits.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_ITEMS
#define WARPSCOPE_ITEMS BITS_ITEMS
#endif

constexpr unsigned THREADS = WARPSCOPE_K <= 1024 ? BITS_FEW_THREADS : BITS_THREADS;
// Where rows are few, wider blocks leave less of the GPU idle at the end.
constexpr unsigned WIDE_THREADS = BITS_THREADS;

#define WARPSCOPE_ENTRY(K, BUILD, THREADS, ...)                                                                                    \
    extern "C" __global__ void __launch_bounds__(THREADS, 2) WARPSCOPE_BITS_ENTRY(K, BUILD)(const __grid_constant__ Selection selection) { \
        __VA_ARGS__(selection);                                                                                           \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, THREADS, ...) WARPSCOPE_ENTRY(K, BUILD, THREADS, __VA_ARGS__)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, THREADS, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, Uncounted>)
WARPSCOPE_KERNEL(WARPSCOPE_K, wide, WIDE_THREADS, select_row<WARPSCOPE_K, WIDE_THREADS, WARPSCOPE_ITEMS, Uncounted>)
WARPSCOPE_KERNEL(WARPSCOPE_K, parts, WIDE_THREADS, select_part<WARPSCOPE_K, WIDE_THREADS, WARPSCOPE_ITEMS>)
WARPSCOPE_KERNEL(WARPSCOPE_K, combine, WIDE_THREADS, combine_parts<WARPSCOPE_K, WIDE_THREADS, WARPSCOPE_ITEMS>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, THREADS, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, Tally>)
#endif

}  // namespace warpscope::select

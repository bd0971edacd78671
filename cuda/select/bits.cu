// Entry points: select_bits_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1
// (timed, for rows that are divided or not) and 2 (counted). WARPSCOPE_ITEMS replaces BITS_ITEMS.
#include "select/bits_parts.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_ITEMS
#define WARPSCOPE_ITEMS BITS_ITEMS
#endif

constexpr unsigned THREADS = WARPSCOPE_K / BITS_KEYS > BITS_FEWEST_THREADS ? WARPSCOPE_K / BITS_KEYS : BITS_FEWEST_THREADS;
// While some blocks of a multiprocessor merge, others keep its memory busy: 1,024 threads, of 64 registers each.
constexpr unsigned BLOCKS = WARPSCOPE_COPIES_AHEAD ? 1024 / THREADS : 1;

#define WARPSCOPE_ENTRY(K, BUILD, BLOCKS, ...)                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) WARPSCOPE_BITS_ENTRY(K, BUILD)(const __grid_constant__ Selection selection) { \
        __VA_ARGS__(selection);                                                                                                        \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, BLOCKS, ...) WARPSCOPE_ENTRY(K, BUILD, BLOCKS, __VA_ARGS__)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, BLOCKS, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, BITS_STAGES, Uncounted>)
WARPSCOPE_KERNEL(WARPSCOPE_K, parts, BLOCKS, select_part<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, BITS_STAGES>)
WARPSCOPE_KERNEL(WARPSCOPE_K, combine, BLOCKS, combine_parts<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, BITS_STAGES>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, 1, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, BITS_STAGES, Tally>)
#endif

}  // namespace warpscope::select

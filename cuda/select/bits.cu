// Entry points: select_bits_k<K>_<build>. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a sum of 1
// (timed, for rows that are divided or not) and 2 (counted). WARPSCOPE_ITEMS replaces BITS_ITEMS.
#include "select/bits_parts.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_ITEMS
#define WARPSCOPE_ITEMS BITS_ITEMS
#endif

constexpr unsigned THREADS = WARPSCOPE_K / BITS_KEYS > BITS_FEWEST_THREADS ? WARPSCOPE_K / BITS_KEYS : BITS_FEWEST_THREADS;
// While some blocks of a multiprocessor merge, others keep its memory busy: 1,024 threads, of 64 registers each. From sm_100 on the compiler
// needs a few more.
#if WARPSCOPE_ASYNC_COPIES && __CUDA_ARCH__ >= 1000
constexpr unsigned BLOCKS = 768 / THREADS > 1 ? 768 / THREADS : 1;
#elif WARPSCOPE_ASYNC_COPIES
constexpr unsigned BLOCKS = 1024 / THREADS;
#else
constexpr unsigned BLOCKS = 1;
#endif
constexpr unsigned STAGES = THREADS > BITS_FEWEST_THREADS ? BITS_WIDE_STAGES : BITS_STAGES;

#define WARPSCOPE_ENTRY(K, BUILD, BLOCKS, ...)                                                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) WARPSCOPE_BITS_ENTRY(K, BUILD)(const __grid_constant__ Selection selection) { \
        __VA_ARGS__(selection);                                                                                                        \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, BLOCKS, ...) WARPSCOPE_ENTRY(K, BUILD, BLOCKS, __VA_ARGS__)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, BLOCKS, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES, false>)
WARPSCOPE_KERNEL(WARPSCOPE_K, parts, BLOCKS, select_part<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES>)
WARPSCOPE_KERNEL(WARPSCOPE_K, combine, BLOCKS, combine_parts<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, 1, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES, true>)
#endif

}  // namespace warpscope::select

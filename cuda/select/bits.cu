// Entry points: select_bits_k<K>_<build>. WARPSCOPE_K selects what to compile; WARPSCOPE_BUILDS is a sum of 1
// (timed, for whole and for divided rows) and 2 (counted). WARPSCOPE_ITEMS overrides BITS_ITEMS.
#include "entry.cuh"
#include "select/bits_parts.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_ITEMS
#define WARPSCOPE_ITEMS BITS_ITEMS
#endif

constexpr unsigned THREADS =
    WARPSCOPE_K / BITS_KEYS > BITS_FEWEST_THREADS ? WARPSCOPE_K / BITS_KEYS : BITS_FEWEST_THREADS;
// While some blocks of a multiprocessor merge, others keep its memory busy: 1,024 threads of 64 registers
// each. From sm_100 on the compiler needs a few more registers.
#if WARPSCOPE_ASYNC_COPIES && __CUDA_ARCH__ >= 1000
constexpr unsigned BLOCKS = 768 / THREADS > 1 ? 768 / THREADS : 1;
#elif WARPSCOPE_ASYNC_COPIES
constexpr unsigned BLOCKS = 1024 / THREADS;
#else
constexpr unsigned BLOCKS = 1;
#endif
constexpr unsigned STAGES = THREADS > BITS_FEWEST_THREADS ? BITS_WIDE_STAGES : BITS_STAGES;

#define WARPSCOPE_BUILD(BUILD, BLOCKS, ...)                                                                  \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_BITS_ENTRY, WARPSCOPE_K, BUILD), (THREADS, BLOCKS), Selection, \
                     __VA_ARGS__)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, BLOCKS, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES, false>)
WARPSCOPE_BUILD(parts, BLOCKS, select_part<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES>)
WARPSCOPE_BUILD(combine, BLOCKS, combine_parts<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES>)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, 1, select_row<WARPSCOPE_K, THREADS, WARPSCOPE_ITEMS, STAGES, true>)
#endif

}  // namespace warpscope::select

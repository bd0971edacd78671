// Entry points: select_partial_bitonic_k<K>_<build>. WARPSCOPE_K chooses what is compiled, WARPSCOPE_STORAGE where a chunk is sorted;
// WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "select/partial_bitonic.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_STORAGE
#define WARPSCOPE_STORAGE 0
#endif

template <unsigned STORAGE>
struct Stored {
    using Chunk = SharedChunk<WARPSCOPE_K, STORAGE == SHUFFLES>;
};

template <>
struct Stored<REGISTERS> {
    using Chunk = RegisterChunk<WARPSCOPE_K>;
};

using Chunk = Stored<WARPSCOPE_STORAGE>::Chunk;

#define WARPSCOPE_ENTRY(NAME, COUNTED)                                                                                \
    extern "C" __global__ void __launch_bounds__(Chunk::THREADS) NAME(const __grid_constant__ Selection selection) { \
        partial_bitonic<Chunk, COUNTED>(selection);                                                                   \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, COUNTED) WARPSCOPE_ENTRY(WARPSCOPE_PARTIAL_BITONIC_ENTRY(K, BUILD), COUNTED)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, true)
#endif

}  // namespace warpscope::select

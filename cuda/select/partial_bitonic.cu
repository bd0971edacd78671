// Entry points: select_partial_bitonic_k<K>_<build>. WARPSCOPE_K selects what to compile, WARPSCOPE_STORAGE
// where a chunk is sorted; WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
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

#define WARPSCOPE_BUILD(BUILD, COUNTED)                                                                     \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_PARTIAL_BITONIC_ENTRY, WARPSCOPE_K, BUILD), (Chunk::THREADS), \
                     Selection, partial_bitonic<Chunk, COUNTED>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, true)
#endif

}  // namespace warpscope::select

// Entry points: select_merge_path_k<K>_<build>. WARPSCOPE_K selects what to compile; WARPSCOPE_BUILDS is a
// sum of 1 (timed) and 2 (counted).
#include "entry.cuh"
#include "select/merge_path.cuh"

namespace warpscope::select {

#define WARPSCOPE_BUILD(BUILD, COUNTED)                                              \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_MERGE_PATH_ENTRY, WARPSCOPE_K, BUILD), \
                     (PathShape<WARPSCOPE_K>::THREADS), Selection, merge_path<WARPSCOPE_K, COUNTED>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, false)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, true)
#endif

}  // namespace warpscope::select

// Entry points: select_bits_fused_k<K>_<build>, and the transposition of rows into windows. WARPSCOPE_K
// selects what to compile; WARPSCOPE_BUILDS is a sum of 1 (timed) and 2 (counted).
#include "direct/interface.cuh"
#include "entry.cuh"
#include "select/bits_fused.cuh"

namespace warpscope::select {

// Blocks per multiprocessor for small K. Four blocks leave 128 registers per thread: enough on compute
// capability 9.0; on others some builds spill.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr unsigned FUSED_BLOCKS = 4;
#else
constexpr unsigned FUSED_BLOCKS = 3;
#endif

#define WARPSCOPE_BUILD(BUILD, COUNTED)                                                              \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_BITS_FUSED_ENTRY, WARPSCOPE_K, BUILD),                 \
                     (fused_warps(WARPSCOPE_K) * WARP, WARPSCOPE_K <= FUSED_FEW ? FUSED_BLOCKS : 6), \
                     Selection, select_fused<WARPSCOPE_K, COUNTED>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, false)

// Transposes rows into windows, under the name that the host uses for every such layout. The grid may have
// any size.
extern "C" __global__ void WARPSCOPE_GROUP_ROWS_ENTRY(const float* rows, float* windows, unsigned first_row,
                                                      unsigned count, unsigned n, unsigned d,
                                                      unsigned padded) {
    group_rows<FUSED_POINTS>(rows, windows, first_row, count, n, d, padded);
}
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, true)
#endif

}  // namespace warpscope::select

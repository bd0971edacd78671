// Entry points: select_bits_fused_k<K>_<build>, and what brings rows into windows. WARPSCOPE_K chooses what is compiled; WARPSCOPE_BUILDS is a
// sum of 1 (timed) and 2 (counted).
#include "direct/interface.cuh"
#include "select/bits_fused.cuh"

namespace warpscope::select {

// Blocks per multiprocessor for small K. Four leave a thread 128 registers: enough on compute capability 9.0; on others some builds spill.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900
constexpr unsigned FUSED_BLOCKS = 4;
#else
constexpr unsigned FUSED_BLOCKS = 3;
#endif

#define WARPSCOPE_ENTRY(K, BUILD, COUNTED)                                                                     \
    extern "C" __global__ void __launch_bounds__(fused_warps(K) * WARP, K <= FUSED_FEW ? FUSED_BLOCKS : 6)     \
        WARPSCOPE_BITS_FUSED_ENTRY(K, BUILD)(const __grid_constant__ Selection selection) {                    \
        select_fused<K, COUNTED>(selection);                                                                   \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(K, BUILD, COUNTED) WARPSCOPE_ENTRY(K, BUILD, COUNTED)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_KERNEL(WARPSCOPE_K, timed, false)

// Brings rows into the order that the search wants, under the name by which the host's layout knows it. The grid may have any size.
extern "C" __global__ void WARPSCOPE_GROUP_ROWS_ENTRY(const float* rows, float* windows, unsigned first_row, unsigned count, unsigned n, unsigned d,
                                                      unsigned padded) {
    group_rows<FUSED_POINTS>(rows, windows, first_row, count, n, d, padded);
}
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_KERNEL(WARPSCOPE_K, counted, true)
#endif

}  // namespace warpscope::select

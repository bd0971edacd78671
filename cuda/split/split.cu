// Entry points of split.cuh: split_<stage>_d<D>, D = 0 for any d, in which a block answers SPLIT_ROW_QUERIES
// queries, or one. WARPSCOPE_D selects what to compile.
#include "entry.cuh"
#include "ptx.cuh"
#include "split/split.cuh"

namespace warpscope::split {

template <void STAGE(const Split&)>
__device__ __forceinline__ void overlapped(const Split& split) {
    ptx::grid_dependency_sync();
    STAGE(split);
}

#define WARPSCOPE_STAGE(STAGE, THREADS, BLOCKS, ...)                                                      \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_SPLIT_ENTRY, STAGE, WARPSCOPE_D), (THREADS, BLOCKS), Split, \
                     overlapped<__VA_ARGS__>)

// Blocks per multiprocessor to aim for, which caps registers: warps hide each other's latency of memory and
// of the lists' counts. Five if registers and threads per multiprocessor allow.
#if (WARPSCOPE_D == 0 && __CUDA_ARCH__ < 1000) || (WARPSCOPE_D == 2 && __CUDA_ARCH__ >= 800)
#define WARPSCOPE_SPLIT_BLOCKS 5
#else
#define WARPSCOPE_SPLIT_BLOCKS 4
#endif
#if WARPSCOPE_D == 0
WARPSCOPE_STAGE(sample_one, SPLIT_ROW_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, sample_rows<1>)
WARPSCOPE_STAGE(sample, SPLIT_ROW_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, sample_rows<SPLIT_ROW_QUERIES>)
WARPSCOPE_STAGE(collect_one, SPLIT_ROW_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, collect_rows<1>)
WARPSCOPE_STAGE(collect, SPLIT_ROW_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, collect_rows<SPLIT_ROW_QUERIES>)
#else
WARPSCOPE_STAGE(sample, SPLIT_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, sample<WARPSCOPE_D>)
WARPSCOPE_STAGE(collect, SPLIT_WARPS * WARP, WARPSCOPE_SPLIT_BLOCKS, collect<WARPSCOPE_D>)
#endif
WARPSCOPE_STAGE(bound, SPLIT_SELECT_THREADS, 1, bound)
WARPSCOPE_STAGE(select, SPLIT_SELECT_THREADS, 1, select<WARPSCOPE_D>)

}  // namespace warpscope::split

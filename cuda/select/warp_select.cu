// Entry points: select_warps_k<K>_<build> and select_blocks_k<K>_<build>. WARPSCOPE_K selects what to
// compile; WARPSCOPE_QUEUE sets the keys of a lane's queue, in place of the default; WARPSCOPE_BUILDS is a
// sum of 1 (timed), 2 (counted) and 8 (traced: warp select of one query).
#include "entry.cuh"
#include "select/queue_recorder.cuh"
#include "select/warp_select.cuh"

namespace warpscope::select {

#ifndef WARPSCOPE_QUEUE
// The same lengths as in Faiss.
#define WARPSCOPE_QUEUE (WARPSCOPE_K <= 32 ? 2 : WARPSCOPE_K <= 128 ? 3 : WARPSCOPE_K <= 256 ? 4 : 8)
#endif

#define WARPSCOPE_BUILD(BUILD, COUNTS)                                                                       \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_WARP_SELECT_ENTRY, WARPSCOPE_K, BUILD),                        \
                     (SELECT_WARPS * WARP, 1), Selection, warp_select<WARPSCOPE_K, WARPSCOPE_QUEUE, COUNTS>) \
    WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_BLOCK_SELECT_ENTRY, WARPSCOPE_K, BUILD),                       \
                     (block_select_warps(WARPSCOPE_K) * WARP, 1), Selection,                                 \
                     block_select<WARPSCOPE_K, WARPSCOPE_QUEUE, COUNTS>)

#if WARPSCOPE_BUILDS & 1
WARPSCOPE_BUILD(timed, NoCounters)
#endif
#if WARPSCOPE_BUILDS & 2
WARPSCOPE_BUILD(counted, QueueTally)
#endif
#if WARPSCOPE_BUILDS & 8
extern "C" __global__ void __launch_bounds__(SELECT_WARPS * WARP, 1)
    WARPSCOPE_NAME(WARPSCOPE_WARP_SELECT_ENTRY, WARPSCOPE_K,
                   traced)(const __grid_constant__ Selection selection, Trace trace) {
    warp_select<WARPSCOPE_K, WARPSCOPE_QUEUE>(selection, QueueRecorder{{trace}, selection.n});
}
#endif

}  // namespace warpscope::select

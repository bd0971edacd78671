// Entry points: packet_k<L>_d<D>, the timed search by packets. WARPSCOPE_K is L, the length of a lane's list,
// and WARPSCOPE_D is D.
#include "entry.cuh"
#include "index/packet.cuh"

namespace warpscope::index {

// Without the bound, the compiler aims at more blocks than fit, and spills; for short lists it aims at fewer.
WARPSCOPE_KERNEL(WARPSCOPE_NAME(WARPSCOPE_PACKET_ENTRY, WARPSCOPE_K, WARPSCOPE_D),
                 (WARP, WARPSCOPE_K == 8 ? 24 : 1), Traversal, answer_packet<WARPSCOPE_K, WARPSCOPE_D>)

}  // namespace warpscope::index

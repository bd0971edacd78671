// Entry points: packet_k<L>_d<D>, the timed search by packets. WARPSCOPE_K is L, the length of a lane's list, and WARPSCOPE_D is D.
#include "index/packet.cuh"

namespace warpscope::index {

// Unasked the compiler aims at more blocks than fit, and spills; with short lists it aims at fewer.
#define WARPSCOPE_ENTRY(L, D)                                                                                                                        \
    extern "C" __global__ void __launch_bounds__(WARP, (L) == 8 ? 24 : 1) WARPSCOPE_PACKET_ENTRY(L, D)(const __grid_constant__ Traversal search) { \
        answer_packet<L, D>(search);                                                                                                                 \
    }
// Expands its arguments before they are pasted.
#define WARPSCOPE_KERNEL(L, D) WARPSCOPE_ENTRY(L, D)

WARPSCOPE_KERNEL(WARPSCOPE_K, WARPSCOPE_D)

}  // namespace warpscope::index

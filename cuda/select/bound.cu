// Entry point: select_bits_bound.
#include "select/bits_parts.cuh"

namespace warpscope::select {

extern "C" __global__ void __launch_bounds__(BOUND_THREADS) WARPSCOPE_BITS_BOUND_ENTRY(const __grid_constant__ Selection selection) {
    bound_row<BOUND_THREADS>(selection);
}

}  // namespace warpscope::select

// Entry point: select_bits_bound.
#include "entry.cuh"
#include "select/bits_parts.cuh"

namespace warpscope::select {

WARPSCOPE_KERNEL(WARPSCOPE_BITS_BOUND_ENTRY, (BOUND_THREADS), Selection, bound_row<BOUND_THREADS>)

}  // namespace warpscope::select

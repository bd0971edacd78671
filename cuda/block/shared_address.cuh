// What instructions that copy or wait in shared memory call an address.
#pragma once

namespace warpscope::block {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace warpscope::block

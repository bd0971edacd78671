// Converts a pointer to the shared-memory address that copy and wait instructions take.
#pragma once

namespace warpscope::block {

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

}  // namespace warpscope::block

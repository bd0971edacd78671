// Asynchronous copies from global to shared memory (sm_80).
#pragma once

namespace warpscope::block {

// 16 bytes, both ends aligned to them; zeros instead where not `there`.
__device__ __forceinline__ void copy_16_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// 4 bytes.
__device__ __forceinline__ void copy_4_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// Closes the group of this thread's copies so far.
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most PENDING of this thread's latest groups are still on their way.
template <int PENDING>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

}  // namespace warpscope::block

// Asynchronous copies from global to shared memory (sm_80).
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARPSCOPE_ASYNC_COPIES 1
#else
#define WARPSCOPE_ASYNC_COPIES 0
#endif

namespace warpscope::block {

// Copies 16 bytes, both addresses aligned to 16; writes zeros instead unless `there`.
__device__ __forceinline__ void copy_16_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// Copies 8 bytes, both addresses aligned to 8.
__device__ __forceinline__ void copy_8_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? 8 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// Copies 4 bytes.
__device__ __forceinline__ void copy_4_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(global), "r"(bytes) : "memory");
}

// Commits this thread's copies so far as a group.
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most PENDING of this thread's most recent groups are incomplete.
template <int PENDING>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

}  // namespace warpscope::block

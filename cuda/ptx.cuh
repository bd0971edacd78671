// Instructions for which NVRTC has no function, because it compiles without the CUDA C++ headers.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WARPSCOPE_ASYNC_COPIES 1
#else
#define WARPSCOPE_ASYNC_COPIES 0
#endif

namespace warpscope::ptx {

// Converts a pointer to the shared-memory address that copy and wait instructions take.
__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Copies BYTES (4, 8 or 16) from global to shared memory asynchronously (sm_80), or writes zeros unless
// `there`. Both addresses must be aligned to BYTES.
template <int BYTES>
__device__ __forceinline__ void copy_async(unsigned shared, const void* global, bool there) {
    int bytes = there ? BYTES : 0;
    if constexpr (BYTES == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(global), "r"(bytes)
                     : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(shared), "l"(global), "n"(BYTES),
                     "r"(bytes)
                     : "memory");
    }
}

// Commits this thread's copies so far as a group.
__device__ __forceinline__ void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most PENDING of this thread's most recent groups are incomplete.
template <int PENDING>
__device__ __forceinline__ void await_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

// Kernels are launched while the preceding one still runs (programmatic dependent launch, sm_90), so that
// they are resident when it ends. Nothing is read or written before this call. Data written by another kernel
// is not read with __ldg, which may return what was there when this kernel started.
__device__ __forceinline__ void grid_dependency_sync() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Words that some threads read while others write them, with the memory order of cuda::atomic_ref and
// memory_order_relaxed. An access is indivisible and is performed at every call, but orders no other access.

// Among the threads of a block, for a word in shared memory.
__device__ __forceinline__ unsigned load_relaxed_shared(const unsigned* word) {
    unsigned value;
    asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(value) : "r"(shared_address(word)) : "memory");
    return value;
}

// Among the threads of the device, for words in global memory.
__device__ __forceinline__ unsigned load_relaxed(const unsigned* word) {
    unsigned value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                 : "=r"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}

__device__ __forceinline__ unsigned long long load_relaxed(const unsigned long long* word) {
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(word))
                 : "memory");
    return value;
}

__device__ __forceinline__ void store_relaxed(unsigned* word, unsigned value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(__cvta_generic_to_global(word)), "r"(value)
                 : "memory");
}

}  // namespace warpscope::ptx

// Programmatic dependent launch (sm_90): kernels that start while the preceding one still runs.
#pragma once

namespace warpscope::block {

// Kernels are launched while the preceding one still runs (programmatic dependent launch, where supported) in order to be
// resident when it ends: nothing is read or written before this call, and what another kernel wrote is not read with __ldg,
// which may return what was there when this kernel started.
__device__ __forceinline__ void grid_dependency_sync() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace warpscope::block

// Programmatic dependent launch (sm_90): kernels that begin while the one before them still runs.
#pragma once

namespace warpscope::block {

// Kernels are launched while the one before them still runs (programmatic dependent launch, where the device has it), to
// be there when it ends: nothing is read or written before this, and what another kernel wrote is not read by __ldg, which
// may see what was there when this one began.
__device__ __forceinline__ void follow() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace warpscope::block

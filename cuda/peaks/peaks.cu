// Entry points: peaks_<what>, the most that a device does of one thing, for the limits that searches are held
// against. crates/engines/src/cuda/peaks times them.
#include "entry.cuh"
#include "peaks/interface.cuh"

namespace warpscope::peaks {

// No sum of these kernels is that, which the compiler does not know.
constexpr float NEVER = 12345.678f;

// FP32 instructions: nothing but multiply-adds between registers.
__device__ __forceinline__ void arithmetic(const Arithmetic& work) {
    float chains[CHAINS];
#pragma unroll
    for (unsigned chain = 0; chain < CHAINS; ++chain) chains[chain] = static_cast<float>(threadIdx.x + chain);
    for (unsigned round = 0; round < work.rounds; ++round) {
#pragma unroll
        for (unsigned step = 0; step < STEPS; ++step) {
#pragma unroll
            for (unsigned chain = 0; chain < CHAINS; ++chain)
                chains[chain] = __fmaf_rn(chains[chain], work.factor, work.addend);
        }
    }
    float sum = 0;
#pragma unroll
    for (unsigned chain = 0; chain < CHAINS; ++chain) sum += chains[chain];
    if (sum == NEVER) *work.sum = sum;
}

// Bytes of device memory: every thread of the grid reads 16 of them at a time, beside its neighbour's.
__device__ __forceinline__ void reads(const Reads& work) {
    const float4* words = reinterpret_cast<const float4*>(work.words);
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    float sum = 0;
    for (size_t at = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; at < work.count;
         at += READS * stride) {
        float4 read[READS];
#pragma unroll
        for (unsigned place = 0; place < READS; ++place) read[place] = words[at + place * stride];
#pragma unroll
        for (unsigned place = 0; place < READS; ++place)
            sum += read[place].x + read[place].y + read[place].z + read[place].w;
    }
    if (sum == NEVER) *work.sum = sum;
}

WARPSCOPE_KERNEL(WARPSCOPE_PEAKS_ENTRY(arithmetic), (THREADS), Arithmetic, arithmetic)
WARPSCOPE_KERNEL(WARPSCOPE_PEAKS_ENTRY(reads), (THREADS), Reads, reads)

// What a launch costs that has nothing to do.
extern "C" __global__ void WARPSCOPE_PEAKS_ENTRY(launch)() {}

}  // namespace warpscope::peaks

// Entry points: peaks_<what>. Each measures one peak rate of the device, to which searches are compared.
// crates/engines/src/cuda/peaks times them.
#include "entry.cuh"
#include "peaks/interface.cuh"

namespace warpscope::peaks {

// None of the sums has this value, but the compiler cannot know that.
constexpr float NEVER = 12345.678f;

// FP32 rate: nothing but multiply-adds between registers.
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

// Memory bandwidth: neighbouring threads read neighbouring 16-byte words.
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

// Launch overhead: an empty kernel.
extern "C" __global__ void WARPSCOPE_PEAKS_ENTRY(launch)() {}

}  // namespace warpscope::peaks

// What the host and the kernels that measure a device agree on. build/interface.rs makes Rust of this file.
#pragma once

// WHAT is arithmetic, reads or launch.
#define WARPSCOPE_PEAKS_ENTRY(WHAT) peaks_##WHAT

namespace warpscope::peaks {

// Threads in a block.
constexpr unsigned THREADS = 256;

// Sums of a thread that do not wait for one another: an addition's result is there after some four cycles.
constexpr unsigned CHAINS = 8;

// Multiply-adds of each of a thread's sums in a round.
constexpr unsigned STEPS = 32;

// Reads of 16 bytes that a thread has under way.
constexpr unsigned READS = 4;

// The parameter of the arithmetic.
struct Arithmetic {
    float* sum;  // 1, never written: it keeps the compiler from leaving the work out
    float factor;
    float addend;
    unsigned rounds;
};

// The parameter of the reads.
struct Reads {
    const float* words;         // 4 x count
    float* sum;                 // 1, never written, as above
    unsigned long long count;   // of 16 bytes each: a multiple of READS times the threads of the grid
};

}  // namespace warpscope::peaks

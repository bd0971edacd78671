// Interface between the host and the kernels that measure peak rates. build/interface.rs generates Rust from
// this file.
#pragma once

// WHAT is arithmetic, reads or launch.
#define WARPSCOPE_PEAKS_ENTRY(WHAT) peaks_##WHAT

namespace warpscope::peaks {

// Threads per block.
constexpr unsigned THREADS = 256;

// Independent sums per thread: the result of an addition takes about four cycles.
constexpr unsigned CHAINS = 8;

// Multiply-adds per sum and round.
constexpr unsigned STEPS = 32;

// 16-byte reads in flight per thread.
constexpr unsigned READS = 4;

// Parameters of the arithmetic kernel.
struct Arithmetic {
    float* sum;  // 1, never written: keeps the compiler from removing the work
    float factor;
    float addend;
    unsigned rounds;
};

// Parameters of the reading kernel.
struct Reads {
    const float* words;         // 4 x count
    float* sum;                 // 1, never written, as above
    unsigned long long count;   // of 16 bytes each: a multiple of READS times the threads of the grid
};

}  // namespace warpscope::peaks

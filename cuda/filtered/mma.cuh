// BF16 and the matrix product of the tensor cores (sm_80), and a probe of their accumulation.
#pragma once

#include "filtered/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::filtered {

// Rounds to the nearest BF16, ties to even, and returns its bits. Finite values may become infinite.
__device__ __forceinline__ unsigned short bf16_of(float value) {
    unsigned bits = __float_as_uint(value);
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

__device__ __forceinline__ float float_of_bf16(unsigned short bits) {
    return __uint_as_float(static_cast<unsigned>(bits) << 16);
}

// Loads four 8 x 8 matrices of 16-bit numbers: lane L passes the address of row L % 8 of matrix L / 8, and
// receives from each matrix the numbers 2 (L % 4) and 2 (L % 4) + 1 of row L / 4.
__device__ __forceinline__ void load_matrices(unsigned (&fragments)[4], unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
                 : "r"(address)
                 : "memory");
}

// c += a b: a is 16 x 16, b is 16 x 8, c is 16 x 8. Lane L holds columns 2 (L % 4) and 2 (L % 4) + 1 of c, in
// rows L / 4 (c[0], c[1]) and L / 4 + 8 (c[2], c[3]).
__device__ __forceinline__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                             unsigned b1) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Computes sums that the host chooses on the tensor cores. NVIDIA does not document how they accumulate, and
// the filter is only safe if they lose no more than docs/filter.md assumes.
// crates/engines/src/cuda/filtered/probe.rs chooses the sums and checks the results.
//
// Scope: a grid of blocks of one warp; block x has tile x, of PROBE_ROWS x PROBE_COLUMNS sums. No shared
// memory.
__device__ __forceinline__ void probe_accumulation(const Probe& probe) {
    // The instruction's registers hold pairs of numbers.
    constexpr unsigned PAIRS = PROBE_DEPTH / 2;
    unsigned lane = warp::lane_id(), row = lane / 4, pair = lane % 4;
    size_t tile = blockIdx.x;
    const float* starts = probe.starts + tile * PROBE_ROWS * PROBE_COLUMNS;
    float* sums = probe.sums + tile * PROBE_ROWS * PROBE_COLUMNS;
    unsigned place = row * PROBE_COLUMNS + pair * 2, lower = place + 8 * PROBE_COLUMNS;
    float acc[4] = {starts[place], starts[place + 1], starts[lower], starts[lower + 1]};
    for (unsigned step = 0; step < probe.steps; ++step) {
        const unsigned* a =
            reinterpret_cast<const unsigned*>(probe.rows) + (tile * probe.steps + step) * PROBE_ROWS * PAIRS;
        const unsigned* b = reinterpret_cast<const unsigned*>(probe.columns) +
                            (tile * probe.steps + step) * PROBE_COLUMNS * PAIRS;
        unsigned fragment[4] = {a[row * PAIRS + pair], a[(row + 8) * PAIRS + pair], a[row * PAIRS + pair + 4],
                                a[(row + 8) * PAIRS + pair + 4]};
        multiply_add(acc, fragment, b[row * PAIRS + pair], b[row * PAIRS + pair + 4]);
    }
    sums[place] = acc[0];
    sums[place + 1] = acc[1];
    sums[lower] = acc[2];
    sums[lower + 1] = acc[3];
}

}  // namespace warpscope::filtered

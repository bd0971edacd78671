// What the tensor cores make of sums that the host has chosen: NVIDIA does not document how they add, and the filter is safe
// only where they lose no more than docs/filter.md grants. crates/engines/src/cuda/filtered/probe.rs chooses the sums and judges.
//
// Scope: a grid of blocks of one warp; block x has tile x, of PROBE_ROWS x PROBE_COLUMNS sums. No shared memory. Compute
// capability 8.0 or newer.
#pragma once

#include "filtered/interface.cuh"
#include "filtered/mma.cuh"
#include "warp/lanes.cuh"

namespace warpscope::filtered {

__device__ __forceinline__ void probe_accumulation(const Probe& probe) {
    // Pairs of numbers: the registers of the instruction hold two each.
    constexpr unsigned PAIRS = PROBE_DEPTH / 2;
    unsigned lane = warp::lane_id(), row = lane / 4, pair = lane % 4;
    size_t tile = blockIdx.x;
    const float* starts = probe.starts + tile * PROBE_ROWS * PROBE_COLUMNS;
    float* sums = probe.sums + tile * PROBE_ROWS * PROBE_COLUMNS;
    unsigned place = row * PROBE_COLUMNS + pair * 2, lower = place + 8 * PROBE_COLUMNS;
    float acc[4] = {starts[place], starts[place + 1], starts[lower], starts[lower + 1]};
    for (unsigned step = 0; step < probe.steps; ++step) {
        const unsigned* a = reinterpret_cast<const unsigned*>(probe.rows) + (tile * probe.steps + step) * PROBE_ROWS * PAIRS;
        const unsigned* b = reinterpret_cast<const unsigned*>(probe.columns) + (tile * probe.steps + step) * PROBE_COLUMNS * PAIRS;
        unsigned fragment[4] = {a[row * PAIRS + pair], a[(row + 8) * PAIRS + pair], a[row * PAIRS + pair + 4], a[(row + 8) * PAIRS + pair + 4]};
        multiply_add(acc, fragment, b[row * PAIRS + pair], b[row * PAIRS + pair + 4]);
    }
    sums[place] = acc[0];
    sums[place + 1] = acc[1];
    sums[lower] = acc[2];
    sums[lower + 1] = acc[3];
}

}  // namespace warpscope::filtered

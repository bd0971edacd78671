// Morton codes: points that are close on the curve are close in space. Twin of
// crates/engines/src/index/morton.rs.
#pragma once

#include "index/interface.cuh"

namespace warpscope::index {

// Inserts a zero before each bit.
__device__ __forceinline__ unsigned long long spread_2(unsigned cell) {
    unsigned long long code = cell;
    code = (code | code << 16) & 0x0000ffff0000ffffull;
    code = (code | code << 8) & 0x00ff00ff00ff00ffull;
    code = (code | code << 4) & 0x0f0f0f0f0f0f0f0full;
    code = (code | code << 2) & 0x3333333333333333ull;
    return (code | code << 1) & 0x5555555555555555ull;
}

// Inserts two zeros before each of 21 bits.
__device__ __forceinline__ unsigned long long spread_3(unsigned cell) {
    unsigned long long code = cell & 0x1fffffull;
    code = (code | code << 32) & 0x001f00000000ffffull;
    code = (code | code << 16) & 0x001f0000ff0000ffull;
    code = (code | code << 8) & 0x100f00f00f00f00full;
    code = (code | code << 4) & 0x10c30c30c30c30c3ull;
    return (code | code << 2) & 0x1249249249249249ull;
}

// Inserts `axes` - 1 zeros before each of `bits` bits.
__device__ __forceinline__ unsigned long long spread(unsigned cell, unsigned bits, unsigned axes) {
    unsigned long long code = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
        code |= static_cast<unsigned long long>(cell >> bit & 1) << (bit * axes);
    }
    return code;
}

// A coordinate's cell. Outside the extent, the nearest cell, because the conversion saturates.
__device__ __forceinline__ unsigned cell_of(const Frame& frame, const float* point, unsigned axis) {
    float place = __fmul_rn(__fsub_rn(point[axis], frame.low[axis]), frame.scale);
    return min(__float2uint_rz(place), (1u << frame.bits) - 1);
}

// The code of a point. Outside the extent, that of the nearest cell.
__device__ __forceinline__ unsigned long long code(const Frame& frame, const float* point, unsigned d) {
    switch (d) {
        case 1:
            return cell_of(frame, point, 0);
        case 2:
            return spread_2(cell_of(frame, point, 0)) << 1 | spread_2(cell_of(frame, point, 1));
        case 3:
            return spread_3(cell_of(frame, point, 0)) << 2 | spread_3(cell_of(frame, point, 1)) << 1 |
                   spread_3(cell_of(frame, point, 2));
        default:
            unsigned long long all = 0;
            for (unsigned axis = 0; axis < d; ++axis) {
                all |= spread(cell_of(frame, point, axis), frame.bits, d) << (d - 1 - axis);
            }
            return all;
    }
}

}  // namespace warpscope::index

// Batches of points in shared memory, and distances to a window of groups. Twin of src/engines/lockstep/distance.rs.
//
// The rule, on every device: acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) } in f32. __fmaf_rn and
// __fsub_rn keep the compiler from fusing or reordering it whatever its flags.
//
// Places past the last point hold infinity: their distance is infinite, no filter lets it through, and so neither the
// filter nor the window needs to know where the points end.
#pragma once

#include "warp.cuh"

__device__ __forceinline__ float add_squared_difference(float p, float q, float acc) {
    float t = __fsub_rn(p, q);
    return __fmaf_rn(t, t, acc);
}

// d = 2 and 3: a batch lies in shared memory as it does in global memory, row by row. Lanes that read a row of three
// floats each hit 32 different banks; rows of two are read as one 64-bit word.
template <int D>
__device__ __forceinline__ void stage_rows(float* batch, const float* points, unsigned n, unsigned first, unsigned count) {
    size_t end = static_cast<size_t>(n) * D;
    size_t start = static_cast<size_t>(first) * D;
    for (unsigned i = threadIdx.x; i < count * D; i += blockDim.x) {
        batch[i] = start + i < end ? points[start + i] : infinite_distance();
    }
}

template <int D>
__device__ __forceinline__ float squared_distance(const float* row, const float (&query)[D]);

template <>
__device__ __forceinline__ float squared_distance<2>(const float* row, const float (&query)[2]) {
    float2 p = *reinterpret_cast<const float2*>(row);
    return add_squared_difference(p.y, query[1], add_squared_difference(p.x, query[0], 0.0f));
}

template <>
__device__ __forceinline__ float squared_distance<3>(const float* row, const float (&query)[3]) {
    float acc = add_squared_difference(row[0], query[0], 0.0f);
    acc = add_squared_difference(row[1], query[1], acc);
    return add_squared_difference(row[2], query[2], acc);
}

// Any other d: TILE dimensions at a time, transposed, a row a dimension. A row is one float longer than it must be, so
// that lanes which write one point's dimensions below each other hit different banks too.
template <int POINTS, int TILE>
__device__ __forceinline__ void stage_tile(float* tile, const float* points, unsigned n, unsigned d, unsigned first, unsigned j0) {
    for (unsigned i = threadIdx.x; i < POINTS * TILE; i += blockDim.x) {
        unsigned j = i % TILE, point = i / TILE;
        bool there = first + point < n && j0 + j < d;
        // Past d the difference must be 0; past n the distance must be infinite, which one dimension sees to.
        float nobody = j0 + j < d ? infinite_distance() : 0.0f;
        tile[j * (POINTS + 1) + point] = there ? points[static_cast<size_t>(first + point) * d + j0 + j] : nobody;
    }
}

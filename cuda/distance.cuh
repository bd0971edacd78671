// Batches of points in shared memory, and distances to a window of groups. Twin of src/engines/lockstep/distance.rs.
//
// The rule, on every device: acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) } in f32. __fmaf_rn and
// __fsub_rn keep the compiler from fusing or reordering it whatever its flags. fma(t, t, 0) is t * t, to the bit.
//
// Places past the last point hold infinity: their distance is infinite, no filter lets it through, and so neither the
// filter nor the window needs to know where the points end.
#pragma once

#include "warp.cuh"

__device__ __forceinline__ float squared_difference(float p, float q) {
    float t = __fsub_rn(p, q);
    return __fmul_rn(t, t);
}

__device__ __forceinline__ float add_squared_difference(float p, float q, float acc) {
    float t = __fsub_rn(p, q);
    return __fmaf_rn(t, t, acc);
}

// d = 2 and 3: a batch lies in shared memory as it does in global memory, row by row. Lanes that read a row of three
// floats each hit 32 different banks; rows of two are read as one 64-bit word.
template <int D>
__device__ __forceinline__ void load_row(float (&point)[D], const float* row);

template <>
__device__ __forceinline__ void load_row<2>(float (&point)[2], const float* row) {
    float2 pair = *reinterpret_cast<const float2*>(row);
    point[0] = pair.x;
    point[1] = pair.y;
}

template <>
__device__ __forceinline__ void load_row<3>(float (&point)[3], const float* row) {
    point[0] = row[0];
    point[1] = row[1];
    point[2] = row[2];
}

template <int D>
__device__ __forceinline__ float squared_distance(const float (&point)[D], const float (&query)[D]) {
    float acc = squared_difference(point[0], query[0]);
#pragma unroll
    for (int j = 1; j < D; ++j) {
        acc = add_squared_difference(point[j], query[j], acc);
    }
    return acc;
}

// Of whole rows in global memory, for the few points that are looked at again.
__device__ __forceinline__ float squared_distance_of_rows(const float* row, const float* query, unsigned d) {
    float acc = 0.0f;
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(row[j], query[j], acc);
    }
    return acc;
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

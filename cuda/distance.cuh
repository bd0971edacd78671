// Points in groups of 32 lanes, and distances from them. Twin of crates/engines/src/lockstep/distance.rs.
//
// The rule on every device: acc = 0; for j in 0..d { t = p[j] - q[j]; acc = fma(t, t, acc) } in f32.
// __fmaf_rn and __fsub_rn keep the compiler from fusing or reordering operations, whatever its flags. fma(t,
// t, 0) equals t * t, bit for bit.
//
// Slots past the last point hold infinity. Their distances are infinite and never pass the filter, so neither
// the filter nor the window checks for the end of the points.
#pragma once

#include "key.cuh"

namespace warpscope {

__device__ __forceinline__ float squared_difference(float p, float q) {
    float t = __fsub_rn(p, q);
    return __fmul_rn(t, t);
}

__device__ __forceinline__ float add_squared_difference(float p, float q, float acc) {
    float t = __fsub_rn(p, q);
    return __fmaf_rn(t, t, acc);
}

// The squared distance of a point and a query. A point's coordinates are STRIDE floats apart.
template <int STRIDE = 1>
__device__ __forceinline__ float squared_distance(const float* point, const float* query, unsigned d) {
    float acc = 0.0f;
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(point[j * STRIDE], query[j], acc);
    }
    return acc;
}

// d = 2 and 3: a batch in shared memory has the layout of global memory, row by row. Lanes that read a row of
// three floats each hit 32 different banks; a row of two is read as one 64-bit word.
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

// Copies a row number by number, for data that is read once.
template <int D>
__device__ __forceinline__ void copy_row(float (&to)[D], const float* row) {
#pragma unroll
    for (int j = 0; j < D; ++j) {
        to[j] = row[j];
    }
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

// Any other d: a window of POINTS points is stored in global memory dimension by dimension, `stride` floats
// apart, and staged in shared memory in tiles of dimensions. This is the distance of one point, for the few
// that are recomputed.
__device__ __forceinline__ float squared_distance_of_column(const float* column, unsigned stride,
                                                            const float* query, unsigned d) {
    float acc = 0.0f;
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(column[static_cast<size_t>(j) * stride], query[j], acc);
    }
    return acc;
}

// Transposes rows first_row ... first_row + count - 1 of n into windows; first_row is a multiple of POINTS. A
// window has `padded` dimensions. Past d they are 0, which adds nothing to a distance. Past n the first
// dimension is infinite, and so is the distance.
template <unsigned POINTS>
__device__ __forceinline__ void group_rows(const float* rows, float* windows, unsigned first_row,
                                           unsigned count, unsigned n, unsigned d, unsigned padded) {
    size_t end = static_cast<size_t>((count + POINTS - 1) / POINTS) * padded * POINTS;
    size_t start = static_cast<size_t>(first_row / POINTS) * padded * POINTS;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < end;
         i += static_cast<size_t>(gridDim.x) * blockDim.x) {
        unsigned j = static_cast<unsigned>(i / POINTS % padded);
        unsigned row =
            static_cast<unsigned>(i / POINTS / padded) * POINTS + static_cast<unsigned>(i % POINTS);
        bool there = first_row + row < n;
        float padding = there || j > 0 ? 0.0f : infinite_distance();
        windows[start + i] = there && j < d ? rows[static_cast<size_t>(row) * d + j] : padding;
    }
}

}  // namespace warpscope

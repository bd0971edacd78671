// The expanded form of squared distances, ‖x‖² − 2⟨x, y⟩ + ‖y‖², by a matrix product (Hanák 2023, §3.3.1 and
// §5.2).
//
// Rounding costs it digits that the rule of distance.cuh keeps, so it never produces answers. The host times
// it and counts its errors, for one order of summation: norms and products dimension by dimension, one
// rounding per step; then (‖x‖² − 2⟨x, y⟩) + ‖y‖². Twin of crates/engines/src/select/expanded.rs.
#pragma once

#include "distance.cuh"
#include "select/distances.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Negative values and NaN become zero.
__device__ __forceinline__ float expanded(float product, float point_norm, float query_norm) {
    float distance = __fadd_rn(__fmaf_rn(-2.0f, product, point_norm), query_norm);
    return distance > 0.0f ? distance : 0.0f;
}

// A matrix product in register tiles, whose last step computes distances.
struct Products {
    static constexpr bool HAS_NORMS = true;
    static __device__ __forceinline__ float add(float p, float q, float acc) { return __fmaf_rn(p, q, acc); }
    static __device__ __forceinline__ float finish(float acc, float point_norm, float query_norm) {
        return expanded(acc, point_norm, query_norm);
    }
};

__device__ __forceinline__ void distances_expanded(const Distances& tile) { register_tiles<Products>(tile); }

// The squared norm of each row, one thread per row.
__device__ __forceinline__ void distances_norms(const Norms& args) {
    unsigned row = blockIdx.x * DISTANCE_THREADS + threadIdx.x;
    if (row >= args.count) {
        return;
    }
    const float* values = row_of(args.rows, row, args.d);
    float acc = 0.0f;
    auto add = [&](float value) { acc = __fmaf_rn(value, value, acc); };
    unsigned j = 0;
    if (args.d % 4 == 0) {
        for (; j < args.d; j += 4) {
            float4 four = four_of_row<true>(values + j, 4);
            add(four.x), add(four.y), add(four.z), add(four.w);
        }
    }
    for (; j < args.d; ++j) {
        add(values[j]);
    }
    args.norms[row] = acc;
}

// Turns a product that another kernel left in the tile into distances: four points of a query per thread.
__device__ __forceinline__ void distances_complete(const Distances& tile) {
    unsigned point = (blockIdx.x * DISTANCE_THREADS + threadIdx.x) * 4, query = blockIdx.y;
    if (point >= tile.n) {
        return;
    }
    float norm = tile.query_norms[tile.first_query + query];
    float* distances = tile.distances + query * tile.pitch + point;
    if (point + 4 > tile.n) {
        for (unsigned i = 0; point + i < tile.n; ++i) {
            distances[i] = expanded(distances[i], tile.point_norms[point + i], norm);
        }
        return;
    }
    float4 norms = *reinterpret_cast<const float4*>(tile.point_norms + point),
           four = *reinterpret_cast<const float4*>(distances);
    four.x = expanded(four.x, norms.x, norm);
    four.y = expanded(four.y, norms.y, norm);
    four.z = expanded(four.z, norms.z, norm);
    four.w = expanded(four.w, norms.w, norm);
    *reinterpret_cast<float4*>(distances) = four;
}

// The number of the k points found by the expanded form that are not among the k nearest, with one warp per
// query. The key of such a point is above the last neighbour's.
__device__ __forceinline__ void distances_wrong(const Comparison& args) {
    unsigned query = blockIdx.x * (DISTANCE_THREADS / WARP) + threadIdx.x / WARP, lane = threadIdx.x % WARP;
    if (query >= args.query_count) {
        return;
    }
    size_t last = static_cast<size_t>(args.first_query + query) * args.k + args.k - 1;
    Key limit = key_of(args.squared_distances[last], args.indices[last]);
    const float* coordinates = row_of(args.queries, args.first_query + query, args.d);
    unsigned wrong = 0;
    for (unsigned i = lane; i < args.k; i += WARP) {
        unsigned index = args.found[static_cast<size_t>(query) * args.k + i];
        if (index == index_of(PADDING)) {
            continue;
        }
        float distance = squared_distance(row_of(args.points, index, args.d), coordinates, args.d);
        wrong += key_of(distance, index) > limit ? 1 : 0;
    }
    wrong = warp::reduce_add(wrong);
    if (lane == 0) {
        args.counts[static_cast<size_t>(query) * COUNTS] = wrong;
    }
}

}  // namespace warpscope::select

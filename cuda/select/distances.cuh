// Tiles of the matrix of squared distances, by three kernels that give the same bits (Hanák 2023, §3.3.2 and §5.2).
//
// Every distance is computed by the rule of distance.cuh, dimension by dimension, so that what a selector finds in the matrix is what any
// other engine computes on its way.
#pragma once

#include "distance.cuh"
#include "select/interface.cuh"
#include "select/register_tiles.cuh"

namespace warpscope::select {

// A thread a point, which it reads again for each query.
__device__ __forceinline__ void distances_naive(const Distances& tile) {
    unsigned point = blockIdx.x * NAIVE_POINTS + threadIdx.x;
    unsigned query = blockIdx.y;
    if (point >= tile.pitch) {
        return;
    }
    float acc = infinite_distance();
    if (point < tile.n) {
        const float* p = tile.points + static_cast<size_t>(point) * tile.d;
        const float* q = tile.queries + static_cast<size_t>(tile.first_query + query) * tile.d;
        acc = 0.0f;
        for (unsigned j = 0; j < tile.d; ++j) {
            acc = add_squared_difference(p[j], q[j], acc);
        }
    }
    tile.distances[query * tile.pitch + point] = acc;
}

// A tile of SIDE queries and SIDE points passes through shared memory, as many dimensions at a time; a thread has a pair, and the pairs of a
// row of threads share a query (Kuang and Zhao).
__device__ __forceinline__ void distances_tiles(const Distances& tile) {
    constexpr unsigned SIDE = TILE_SIDE;
    // A column more, so that threads that read along a column hit different banks.
    __shared__ float points[SIDE][SIDE + 1], queries[SIDE][SIDE + 1];
    unsigned x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    unsigned first_point = blockIdx.x * SIDE, first_query = blockIdx.y * SIDE;
    float acc = 0.0f;
    for (unsigned first = 0; first < tile.d; first += SIDE) {
        unsigned j = first + x;
        unsigned point = first_point + y, query = first_query + y;
        points[y][x] = j < tile.d && point < tile.n ? tile.points[static_cast<size_t>(point) * tile.d + j] : 0.0f;
        queries[y][x] = j < tile.d && query < tile.query_count ? tile.queries[static_cast<size_t>(tile.first_query + query) * tile.d + j] : 0.0f;
        __syncthreads();
        unsigned count = min(SIDE, tile.d - first);
        for (unsigned i = 0; i < count; ++i) {
            acc = add_squared_difference(points[x][i], queries[y][i], acc);
        }
        __syncthreads();
    }
    unsigned point = first_point + x, query = first_query + y;
    if (point < tile.pitch && query < tile.query_count) {
        tile.distances[query * tile.pitch + point] = point < tile.n ? acc : infinite_distance();
    }
}

}  // namespace warpscope::select

// Tiles of the matrix of squared distances, by three kernels that give the same bits (Hanák 2023, §3.3.2 and §5.2).
//
// Every distance is computed by the rule of distance.cuh, dimension by dimension, so that what a selector finds in the matrix is what any
// other engine computes on its way.
#pragma once

#include "distance.cuh"
#include "select/interface.cuh"

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

// A tile of SIDE queries and SIDE points, of which a thread has 8 x 8 pairs in registers, as the matrix products of MAGMA have: what it reads
// from shared memory it uses eight times.
__device__ __forceinline__ void distances_registers(const Distances& tile) {
    constexpr unsigned SIDE = REGISTER_SIDE, DEPTH = 8, EACH = 8, ACROSS = SIDE / EACH;
    static_assert(ACROSS * ACROSS == DISTANCE_THREADS, "a thread for each 8 x 8 pairs");
    __shared__ __align__(16) float points[DEPTH][SIDE], queries[DEPTH][SIDE];
    unsigned x = threadIdx.x % ACROSS, y = threadIdx.x / ACROSS;
    unsigned first_point = blockIdx.x * SIDE, first_query = blockIdx.y * SIDE;
    float acc[EACH][EACH] = {};
    for (unsigned first = 0; first < tile.d; first += DEPTH) {
        // Consecutive threads read consecutive rows: rows are short, and what one thread leaves of a sector the next dimensions find in L1.
        for (unsigned at = threadIdx.x; at < SIDE * DEPTH; at += DISTANCE_THREADS) {
            unsigned j = at / SIDE, i = at % SIDE;
            unsigned point = first_point + i, query = first_query + i;
            bool there = first + j < tile.d;
            points[j][i] = there && point < tile.n ? __ldg(tile.points + static_cast<size_t>(point) * tile.d + first + j) : 0.0f;
            queries[j][i] =
                there && query < tile.query_count ? __ldg(tile.queries + static_cast<size_t>(tile.first_query + query) * tile.d + first + j) : 0.0f;
        }
        __syncthreads();
        unsigned depth = min(DEPTH, tile.d - first);
#pragma unroll 1
        for (unsigned j = 0; j < depth; ++j) {
            float p[EACH], q[EACH];
#pragma unroll
            for (unsigned half = 0; half < EACH; half += 4) {
                // Four neighbouring points a thread, and again four half a tile further: the warp's accesses go to 64 neighbouring words.
                *reinterpret_cast<float4*>(p + half) = *reinterpret_cast<const float4*>(&points[j][half / 4 * (SIDE / 2) + x * 4]);
                *reinterpret_cast<float4*>(q + half) = *reinterpret_cast<const float4*>(&queries[j][half / 4 * (SIDE / 2) + y * 4]);
            }
#pragma unroll
            for (unsigned a = 0; a < EACH; ++a) {
#pragma unroll
                for (unsigned b = 0; b < EACH; ++b) {
                    acc[a][b] = add_squared_difference(p[b], q[a], acc[a][b]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (unsigned a = 0; a < EACH; ++a) {
        unsigned query = first_query + a / 4 * (SIDE / 2) + y * 4 + a % 4;
#pragma unroll
        for (unsigned half = 0; half < EACH; half += 4) {
            unsigned point = first_point + half / 4 * (SIDE / 2) + x * 4;
            if (query >= tile.query_count || point >= tile.pitch) {
                continue;
            }
            float inf = infinite_distance();
            float4 four;
            four.x = point < tile.n ? acc[a][half] : inf;
            four.y = point + 1 < tile.n ? acc[a][half + 1] : inf;
            four.z = point + 2 < tile.n ? acc[a][half + 2] : inf;
            four.w = point + 3 < tile.n ? acc[a][half + 3] : inf;
            *reinterpret_cast<float4*>(tile.distances + query * tile.pitch + point) = four;
        }
    }
}

}  // namespace warpscope::select

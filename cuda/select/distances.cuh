// Tiles of the matrix of squared distances, by three kernels with bit-identical results (Hanák 2023, §3.3.2
// and §5.2).
//
// Every distance is computed by the rule of distance.cuh, dimension by dimension, so a selector finds in the
// matrix what every other engine computes on the fly.
#pragma once

#include "distance.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// One thread per point, which is read again for each query.
__device__ __forceinline__ void distances_naive(const Distances& tile) {
    unsigned point = blockIdx.x * NAIVE_POINTS + threadIdx.x;
    unsigned query = blockIdx.y;
    if (point >= tile.pitch) {
        return;
    }
    float acc = infinite_distance();
    if (point < tile.n) {
        const float* p = row_of(tile.points, point, tile.d);
        const float* q = row_of(tile.queries, tile.first_query + query, tile.d);
        acc = 0.0f;
        for (unsigned j = 0; j < tile.d; ++j) {
            acc = add_squared_difference(p[j], q[j], acc);
        }
    }
    tile.distances[query * tile.pitch + point] = acc;
}

// A tile of SIDE queries and SIDE points is staged in shared memory, SIDE dimensions at a time. A thread has
// one pair; a row of threads shares a query (Kuang and Zhao).
__device__ __forceinline__ void distances_tiles(const Distances& tile) {
    constexpr unsigned SIDE = TILE_SIDE;
    // One column of padding avoids bank conflicts when threads read along a column.
    __shared__ float points[SIDE][SIDE + 1], queries[SIDE][SIDE + 1];
    unsigned x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
    unsigned first_point = blockIdx.x * SIDE, first_query = blockIdx.y * SIDE;
    float acc = 0.0f;
    for (unsigned first = 0; first < tile.d; first += SIDE) {
        unsigned j = first + x;
        unsigned point = first_point + y, query = first_query + y;
        points[y][x] =
            j < tile.d && point < tile.n ? tile.points[static_cast<size_t>(point) * tile.d + j] : 0.0f;
        queries[y][x] = j < tile.d && query < tile.query_count
                            ? tile.queries[static_cast<size_t>(tile.first_query + query) * tile.d + j]
                            : 0.0f;
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

// A tile of a matrix with an entry for each pair of a query and a point, computed in registers like the
// matrix products of MAGMA.
//
// A block has 128 queries and 128 points, which are staged in shared memory 8 dimensions at a time. A thread
// has 8 x 8 pairs, so it uses each value it reads from shared memory eight times. While one slice of
// dimensions is processed, the next is loaded into registers. With two slices in shared memory, one barrier
// per slice is enough. Past the last dimension are zeros, which add nothing.
//
// `Sum` defines what a dimension adds to a pair, and the final value: add(p, q, acc), finish(acc, point_norm,
// query_norm), and HAS_NORMS, whether norms are available. All threads of the block must call.

// The rule that all engines share.
struct SquaredDifferences {
    static constexpr bool HAS_NORMS = false;
    static __device__ __forceinline__ float add(float p, float q, float acc) {
        return add_squared_difference(p, q, acc);
    }
    static __device__ __forceinline__ float finish(float acc, float, float) { return acc; }
};

// Four values of a row with `left` values left; 0 past its end. If d is a multiple of four, rows are aligned
// to 16 bytes.
template <bool IN_FOURS>
__device__ __forceinline__ float4 four_of_row(const float* row, int left) {
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (IN_FOURS) {
        return left > 0 ? __ldg(reinterpret_cast<const float4*>(row)) : four;
    }
    four.x = left > 0 ? __ldg(row) : 0.0f;
    four.y = left > 1 ? __ldg(row + 1) : 0.0f;
    four.z = left > 2 ? __ldg(row + 2) : 0.0f;
    four.w = left > 3 ? __ldg(row + 3) : 0.0f;
    return four;
}

// Side of the tile, dimensions per slice, and pairs per thread in either direction: 4 neighbours and 4 more
// half a tile further.
constexpr unsigned SIDE = REGISTER_SIDE, EACH = 8, HALF = SIDE / 2;
constexpr int DEPTH = 8;
static_assert(SIDE / EACH * (SIDE / EACH) == DISTANCE_THREADS, "a thread for each 8 x 8 pairs");
static_assert(SIDE * DEPTH == DISTANCE_THREADS * 4, "a thread brings four values of a slice");

// Two slices of points or queries. Four columns of padding avoid bank conflicts between the threads of a
// warp, half of which write dimensions four further.
using Slices = float[2][DEPTH][SIDE + 4];

// Adds all dimensions to the thread's pairs, of points from x on and queries from y on. The thread loads its
// part of the rows `point` and `query` for all threads.
template <class Sum, bool IN_FOURS>
__device__ __forceinline__ void add_dimensions(float (&acc)[EACH][EACH], Slices& points, Slices& queries,
                                               const float* point, const float* query, unsigned x, unsigned y,
                                               unsigned d) {
    int row = threadIdx.x / 2, column = threadIdx.x % 2 * 4;
    // Dimensions left, including this slice.
    int left = static_cast<int>(d);
    point += column;
    query += column;
    float4 next_point = four_of_row<IN_FOURS>(point, left - column),
           next_query = four_of_row<IN_FOURS>(query, left - column);
    unsigned side = 0;
#pragma unroll 1
    for (; left > 0; left -= DEPTH, side ^= 1) {
        points[side][column][row] = next_point.x;
        points[side][column + 1][row] = next_point.y;
        points[side][column + 2][row] = next_point.z;
        points[side][column + 3][row] = next_point.w;
        queries[side][column][row] = next_query.x;
        queries[side][column + 1][row] = next_query.y;
        queries[side][column + 2][row] = next_query.z;
        queries[side][column + 3][row] = next_query.w;
        __syncthreads();
        point += DEPTH;
        query += DEPTH;
        next_point = four_of_row<IN_FOURS>(point, left - DEPTH - column);
        next_query = four_of_row<IN_FOURS>(query, left - DEPTH - column);
#pragma unroll
        for (int j = 0; j < DEPTH; ++j) {
            // Half of the last slice is often zeros.
            if (j == DEPTH / 2 && left <= j) {
                break;
            }
            float p[EACH], q[EACH];
            *reinterpret_cast<float4*>(p) = *reinterpret_cast<const float4*>(&points[side][j][x]);
            *reinterpret_cast<float4*>(p + 4) = *reinterpret_cast<const float4*>(&points[side][j][HALF + x]);
            *reinterpret_cast<float4*>(q) = *reinterpret_cast<const float4*>(&queries[side][j][y]);
            *reinterpret_cast<float4*>(q + 4) = *reinterpret_cast<const float4*>(&queries[side][j][HALF + y]);
#pragma unroll
            for (unsigned a = 0; a < EACH; ++a) {
#pragma unroll
                for (unsigned b = 0; b < EACH; ++b) {
                    acc[a][b] = Sum::add(p[b], q[a], acc[a][b]);
                }
            }
        }
    }
}

template <class Sum>
__device__ __forceinline__ void register_tiles(const Distances& tile) {
    __shared__ __align__(16) Slices points, queries;
    // Consecutive blocks share points, because there are usually more points than queries.
    unsigned query_tiles = (tile.query_count + SIDE - 1) / SIDE;
    unsigned first_point = blockIdx.x / query_tiles * SIDE, first_query = blockIdx.x % query_tiles * SIDE;
    // Two threads load a row. Past the end it is the last one, whose pairs are not written.
    unsigned row = threadIdx.x / 2;
    const float* point = row_of(tile.points, min(first_point + row, tile.n - 1), tile.d);
    const float* query =
        row_of(tile.queries, tile.first_query + min(first_query + row, tile.query_count - 1), tile.d);
    // A warp has 8 x 4 threads, so it reads 32 neighbouring points and 16 neighbouring queries.
    unsigned lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    unsigned x = (warp % 2 * 8 + lane % 8) * 4, y = (warp / 2 * 4 + lane / 8) * 4;
    // In shared memory, to save registers for the pairs.
    __shared__ unsigned corner[2];
    if (threadIdx.x == 0) {
        corner[0] = first_point;
        corner[1] = first_query;
    }
    float acc[EACH][EACH] = {};
    if (tile.d % 4 == 0) {
        add_dimensions<Sum, true>(acc, points, queries, point, query, x, y, tile.d);
    } else {
        add_dimensions<Sum, false>(acc, points, queries, point, query, x, y, tile.d);
    }
#pragma unroll
    for (unsigned half = 0; half < 2; ++half) {
        unsigned at = corner[0] + half * HALF + x;
        if (at >= tile.pitch) {
            continue;
        }
        float4 norms = Sum::HAS_NORMS ? *reinterpret_cast<const float4*>(tile.point_norms + at)
                                      : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (unsigned a = 0; a < EACH; ++a) {
            unsigned number = corner[1] + a / 4 * HALF + y + a % 4;
            if (number >= tile.query_count) {
                continue;
            }
            float norm = Sum::HAS_NORMS ? tile.query_norms[tile.first_query + number] : 0.0f,
                  inf = infinite_distance();
            const float* sums = &acc[a][half * 4];
            float4 four;
            four.x = at < tile.n ? Sum::finish(sums[0], norms.x, norm) : inf;
            four.y = at + 1 < tile.n ? Sum::finish(sums[1], norms.y, norm) : inf;
            four.z = at + 2 < tile.n ? Sum::finish(sums[2], norms.z, norm) : inf;
            four.w = at + 3 < tile.n ? Sum::finish(sums[3], norms.w, norm) : inf;
            *reinterpret_cast<float4*>(tile.distances + number * tile.pitch + at) = four;
        }
    }
}

}  // namespace warpscope::select

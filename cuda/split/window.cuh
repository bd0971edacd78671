// A window: the points that a warp holds in registers while queries pass.
#pragma once

#include "distance.cuh"
#include "key.cuh"
#include "split/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::split {

// Points per window and per lane; D = 2, 3, or 0 for any other d.
template <int D>
constexpr unsigned WINDOW_POINTS = D == 0 ? SPLIT_ROW_WINDOW : SPLIT_WINDOW;
template <int D>
constexpr unsigned LANE_POINTS = WINDOW_POINTS<D> / WARP;

// Location of a window's clusters: consecutive,
struct Consecutive {
    static constexpr bool WHOLE = false;
    unsigned base;  // the window's first point
    unsigned end;   // points from there on
    __device__ __forceinline__ unsigned cluster(unsigned number) const { return number * CLUSTER; }
};

// or spread over the whole cloud, with neighbouring clusters in different windows. In a spatially ordered
// cloud, a query's neighbourhood is thus spread over many groups.
struct Sampled {
    static constexpr bool WHOLE = true;
    static constexpr unsigned base = 0;
    static constexpr unsigned end = 0xffffffffu;  // all points exist
    unsigned window;
    unsigned windows;
    unsigned long long spacing;
    __device__ __forceinline__ unsigned cluster(unsigned number) const {
        return static_cast<unsigned>((number * windows + window) * spacing >> 32) * CLUSTER;
    }
};

// The position of a window's i-th row, relative to its first, and of a lane's p-th point.
template <class Clusters>
__device__ __forceinline__ unsigned window_row(const Clusters& clusters, unsigned i) {
    return clusters.cluster(i / CLUSTER) + i % CLUSTER;
}

template <int D, class Clusters>
__device__ __forceinline__ unsigned lane_point(const Clusters& clusters, unsigned lane, unsigned p) {
    if constexpr (D == 2) {  // two lanes read a cluster
        return clusters.cluster(p / 2 * (WARP / 2) + lane / 2) + lane % 2 * 2 + p % 2;
    } else if constexpr (D == 3) {  // a lane reads a cluster
        return clusters.cluster(p / CLUSTER * WARP + lane) + p % CLUSTER;
    } else {
        return window_row(clusters, p * WARP + lane);
    }
}

// d = 2 or 3: the rows themselves, read as 128-bit words.
template <int D>
struct Window {
    static constexpr unsigned P = LANE_POINTS<D>;
    static constexpr unsigned VECTOR_POINTS = D == 2 ? 2 : 4;  // neighbouring rows, read as 1 or 3 vectors
    static constexpr unsigned VECTORS = VECTOR_POINTS * D / 4;

    alignas(16) float rows[P][D];

    template <class Clusters>
    __device__ __forceinline__ void load(const float* points, const Clusters& clusters, unsigned lane) {
        const float* first = row_of(points, clusters.base, D);
        if (Clusters::WHOLE || clusters.end >= WINDOW_POINTS<D>) {
#pragma unroll
            for (unsigned p = 0; p < P; p += VECTOR_POINTS) {
                const float4* from =
                    reinterpret_cast<const float4*>(row_of(first, lane_point<D>(clusters, lane, p), D));
#pragma unroll
                for (unsigned v = 0; v < VECTORS; ++v) {
                    float4 word = __ldg(from + v);
                    float* to = &rows[p][0] + v * 4;
                    to[0] = word.x;
                    to[1] = word.y;
                    to[2] = word.z;
                    to[3] = word.w;
                }
            }
        } else if constexpr (!Clusters::WHOLE) {
            // The last window of the cloud: positions past the end are padded with infinity.
#pragma unroll
            for (unsigned p = 0; p < P; ++p) {
                unsigned offset = lane_point<D>(clusters, lane, p);
#pragma unroll
                for (int j = 0; j < D; ++j) {
                    rows[p][j] =
                        offset < clusters.end ? __ldg(row_of(first, offset, D) + j) : infinite_distance();
                }
            }
        }
    }

    __device__ __forceinline__ void measure(const float4& query, float (&distances)[P]) const {
#pragma unroll
        for (unsigned p = 0; p < P; ++p) {
            float acc = add_squared_difference(rows[p][1], query.y,
                                               add_squared_difference(rows[p][0], query.x, 0.0f));
            if constexpr (D == 3) {
                acc = add_squared_difference(rows[p][2], query.z, acc);
            }
            distances[p] = acc;
        }
    }
};

// Any other d: the window's rows are staged in shared memory, TILE dimensions at a time, while the distances
// to Q queries accumulate in registers. A row of the tile is a dimension, padded by two floats: lanes that
// write four dimensions of eight points, or one dimension of each of sixteen rows, then hit different banks.
constexpr unsigned TILE = 16;

template <int Q>
struct Tile {
    float points[TILE][WINDOW_POINTS<0> + 2];
    float queries[TILE][Q];
};

// Distances to `count` queries, the first at `queries`; those past `count` are undefined.
template <int Q, class Clusters>
__device__ __forceinline__ void measure_rows(Tile<Q>& tile, const float* points, const float* queries,
                                             unsigned d, unsigned count, const Clusters& clusters,
                                             unsigned lane, float (&distances)[Q][LANE_POINTS<0>]) {
    constexpr unsigned ROWS = WINDOW_POINTS<0>;
    const float* first = row_of(points, clusters.base, d);
#pragma unroll
    for (int q = 0; q < Q; ++q) {
#pragma unroll
        for (unsigned p = 0; p < LANE_POINTS<0>; ++p) {
            distances[q][p] = 0.0f;
        }
    }
    for (unsigned j0 = 0; j0 < d; j0 += TILE) {
        __syncwarp();  // all lanes have left the previous tile
        // Past d the difference must be 0. Past the last point the distance must be infinite, for which one
        // dimension suffices.
        if (d % 4 == 0) {
            constexpr unsigned WORDS = TILE / 4;
            // A single query leaves registers for more words in flight.
            constexpr unsigned IN_FLIGHT = Q == 1 ? 16 : 4;
#pragma unroll IN_FLIGHT
            for (unsigned i = 0; i < ROWS * WORDS / WARP; ++i) {
                unsigned at = i * WARP + lane, j = at % WORDS * 4, number = at / WORDS,
                         offset = window_row(clusters, number);
                float padding = j0 + j < d ? infinite_distance() : 0.0f;
                float4 word = make_float4(padding, padding, padding, padding);
                if (offset < clusters.end && j0 + j < d) {
                    word = __ldg(reinterpret_cast<const float4*>(row_of(first, offset, d) + j0 + j));
                }
                tile.points[j][number] = word.x;
                tile.points[j + 1][number] = word.y;
                tile.points[j + 2][number] = word.z;
                tile.points[j + 3][number] = word.w;
            }
        } else {
#pragma unroll 8
            for (unsigned i = 0; i < ROWS * TILE / WARP; ++i) {
                unsigned at = i * WARP + lane, j = at % TILE, number = at / TILE,
                         offset = window_row(clusters, number);
                float value = j0 + j < d ? infinite_distance() : 0.0f;
                if (offset < clusters.end && j0 + j < d) {
                    value = __ldg(row_of(first, offset, d) + j0 + j);
                }
                tile.points[j][number] = value;
            }
        }
        for (unsigned at = lane; at < Q * TILE; at += WARP) {
            unsigned j = at % TILE, q = at / TILE;
            tile.queries[j][q] = q < count && j0 + j < d ? __ldg(row_of(queries, q, d) + j0 + j) : 0.0f;
        }
        __syncwarp();
        unsigned filled = min(TILE, d - j0);
#pragma unroll 4
        for (unsigned j = 0; j < filled; ++j) {
            float x[LANE_POINTS<0>];
#pragma unroll
            for (unsigned p = 0; p < LANE_POINTS<0>; ++p) {
                x[p] = tile.points[j][p * WARP + lane];
            }
#pragma unroll
            for (int q = 0; q < Q; ++q) {
                float query = tile.queries[j][q];
#pragma unroll
                for (unsigned p = 0; p < LANE_POINTS<0>; ++p) {
                    distances[q][p] = add_squared_difference(x[p], query, distances[q][p]);
                }
            }
        }
    }
}

}  // namespace warpscope::split

// A window: the points that a warp holds in registers while queries pass by.
#pragma once

#include "distance.cuh"
#include "warp_reduce.cuh"

// Points that lie together, whatever the sample: as many as fill a memory sector.
constexpr unsigned CLUSTER = 4;

// Points of a lane in a window; D = 2, 3, or 0 for any other d.
template <int D>
constexpr unsigned LANE_POINTS = D == 0 ? 4 : 8;
template <int D>
constexpr unsigned WINDOW_POINTS = WARP * LANE_POINTS<D>;

// Where the clusters of a window lie: one after the other,
struct Consecutive {
    unsigned base;  // the window's first point
    unsigned end;   // points from there on
    __device__ __forceinline__ unsigned cluster(unsigned number) const { return number * CLUSTER; }
};

// or all over the cloud, neighbouring clusters in different windows: where the order of the points says where they lie, a
// query's neighbourhood is then spread over many groups.
struct Sampled {
    static constexpr unsigned base = 0;
    static constexpr unsigned end = 0xffffffffu;  // all are there
    unsigned window;
    unsigned windows;
    unsigned spacing;
    __device__ __forceinline__ unsigned cluster(unsigned number) const { return (number * windows + window) * spacing; }
};

// The place of a lane's p-th point, from the window's first.
template <int D, class Places>
__device__ __forceinline__ unsigned place(const Places& places, unsigned lane, unsigned p) {
    if constexpr (D == 2) {  // two lanes read a cluster
        return places.cluster(p / 2 * (WARP / 2) + lane / 2) + lane % 2 * 2 + p % 2;
    } else if constexpr (D == 3) {  // a lane reads a cluster
        return places.cluster(p / CLUSTER * WARP + lane) + p % CLUSTER;
    } else {
        unsigned slot = p * WARP + lane;
        return places.cluster(slot / CLUSTER) + slot % CLUSTER;
    }
}

// d = 2 or 3: the rows themselves, read as 128-bit words.
template <int D>
struct Window {
    static constexpr unsigned P = LANE_POINTS<D>;
    static constexpr unsigned VECTOR_POINTS = D == 2 ? 2 : 4;  // of neighbouring rows, 1 or 3 vectors
    static constexpr unsigned VECTORS = VECTOR_POINTS * D / 4;

    alignas(16) float rows[P][D];

    template <class Places>
    __device__ __forceinline__ void load(const float* points, const Places& places, unsigned lane) {
        const float* first = points + static_cast<size_t>(places.base) * D;
        if (places.end >= WINDOW_POINTS<D>) {
#pragma unroll
            for (unsigned p = 0; p < P; p += VECTOR_POINTS) {
                const float4* from = reinterpret_cast<const float4*>(first + static_cast<size_t>(place<D>(places, lane, p)) * D);
#pragma unroll
                for (unsigned v = 0; v < VECTORS; ++v) {
                    float4 word = __ldg(from + v);
                    float* to = &rows[p][0] + v * 4;
                    to[0] = word.x; to[1] = word.y; to[2] = word.z; to[3] = word.w;
                }
            }
            return;
        }
        // The last window of the cloud: places past the end are infinitely far away.
#pragma unroll
        for (unsigned p = 0; p < P; ++p) {
            unsigned offset = place<D>(places, lane, p);
#pragma unroll
            for (int j = 0; j < D; ++j) {
                rows[p][j] = offset < places.end ? __ldg(first + static_cast<size_t>(offset) * D + j) : infinite_distance();
            }
        }
    }

    __device__ __forceinline__ void measure(const float4& query, float (&distances)[P]) const {
#pragma unroll
        for (unsigned p = 0; p < P; ++p) {
            float acc = add_squared_difference(rows[p][1], query.y, add_squared_difference(rows[p][0], query.x, 0.0f));
            if constexpr (D == 3) {
                acc = add_squared_difference(rows[p][2], query.z, acc);
            }
            distances[p] = acc;
        }
    }
};

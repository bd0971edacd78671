// STEP without an index: all distances are computed, and clusters are bounded by their exact minima. Twin of
// crates/engines/src/step/exhaustive.rs.
//
// Scope: store_distances runs in a block, with DISTANCE_QUERIES queries and one group of points per warp; the
// others with one warp per query.
#pragma once

#include "distance.cuh"
#include "key.cuh"
#include "step/interface.cuh"
#include "step/queue.cuh"
#include "step/traverse.cuh"
#include "warp/lanes.cuh"

namespace warpscope::step {

// Dimensions of queries that store_distances stages together.
constexpr unsigned DISTANCE_TILE = 32;

// The key of this lane's point of a group; padding has PADDING.
__device__ __forceinline__ Key group_keys(const Stored& stored, const float* distances, unsigned group,
                                          unsigned lane) {
    size_t position = static_cast<size_t>(group) * WARP + lane;
    float distance = distances[position];
    return position < stored.n ? key_of(distance, static_cast<unsigned>(position)) : PADDING;
}

// A query's distances to all points, group by group. An entry is the key of a cluster's nearest point.
struct StoredDistances {
    const Stored& stored;
    const float* distances;
    unsigned lane;

    __device__ __forceinline__ unsigned first_group(Key entry) const {
        return index_of(entry) / (WARP * stored.groups_in_cluster) * stored.groups_in_cluster;
    }
    __device__ __forceinline__ unsigned end_group(Key entry) const {
        return min(first_group(entry) + stored.groups_in_cluster, stored.groups);
    }
    // The entry is the key of the nearest point; all others have greater keys.
    __device__ __forceinline__ Key least(Key entry) const { return entry; }
    __device__ __forceinline__ unsigned first_position(unsigned group) const { return group * WARP; }
    // The nearest point is already among the neighbours.
    __device__ __forceinline__ Key keys(Key entry, unsigned group, bool& there) const {
        Key key = group_keys(stored, distances, group, lane);
        there = key != PADDING;
        return choose(key == entry, PADDING, key);
    }
};

// Computes the distances of a block's queries to all points, which the blocks divide among them. Those to
// padding are infinite.
__device__ __forceinline__ void store_distances(const Distances& distances) {
    __shared__ float tile[DISTANCE_QUERIES][DISTANCE_TILE];
    const Queries& queries = distances.queries;
    unsigned lane = warp::lane_id(), d = queries.d;
    unsigned group = blockIdx.x * (DISTANCE_THREADS / WARP) + threadIdx.x / WARP;
    unsigned first = blockIdx.y * DISTANCE_QUERIES;
    bool there = group < distances.stored.groups;
    const float* point = distances.coordinates + static_cast<size_t>(there ? group : 0) * d * WARP + lane;
    float acc[DISTANCE_QUERIES] = {};
    for (unsigned from = 0; from < d; from += DISTANCE_TILE) {
        unsigned count = min(DISTANCE_TILE, d - from);
        __syncthreads();
        for (unsigned i = threadIdx.x; i < DISTANCE_QUERIES * DISTANCE_TILE; i += DISTANCE_THREADS) {
            unsigned query = first + i / DISTANCE_TILE, j = i % DISTANCE_TILE;
            bool exists = query < queries.count && j < count;
            tile[i / DISTANCE_TILE][j] =
                exists ? queries.rows[static_cast<size_t>(queries.first + query) * d + from + j] : 0.0f;
        }
        __syncthreads();
        for (unsigned j = 0; j < count; ++j) {
            float value = point[static_cast<size_t>(from + j) * WARP];
#pragma unroll
            for (unsigned query = 0; query < DISTANCE_QUERIES; ++query) {
                acc[query] = warpscope::add_squared_difference(value, tile[query][j], acc[query]);
            }
        }
    }
    if (there) {
        size_t row = static_cast<size_t>(distances.stored.groups) * WARP;
        float* to = distances.stored.distances + first * row + static_cast<size_t>(group) * WARP + lane;
#pragma unroll
        for (unsigned query = 0; query < DISTANCE_QUERIES; ++query) {
            if (first + query < queries.count) {
                to[query * row] = acc[query];
            }
        }
    }
}

// The smallest keys of `count` clusters from `from` on, sorted among `padded` entries, a power of two.
__device__ __forceinline__ void minima(const Stored& stored, unsigned from, unsigned count, unsigned padded,
                                       const float* distances, Key* entries, unsigned lane) {
    for (unsigned cluster = 0; cluster < padded; ++cluster) {
        Key least = PADDING;
        if (cluster < count) {
            unsigned first = (from + cluster) * stored.groups_in_cluster;
            unsigned end = min(first + stored.groups_in_cluster, stored.groups);
            for (unsigned group = first; group < end; ++group) {
                Key key = group_keys(stored, distances, group, lane);
                least = choose(key < least, key, least);
            }
            least = warp::reduce_min(least);
        }
        if (lane == cluster % WARP) {
            entries[cluster] = least;
        }
    }
    sort_entries(entries, padded, lane);
}

// First kernel with fission: only the order.
__device__ __forceinline__ void order_minima(const Minima& order) {
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id(), padded = order.order.padded;
    unsigned in_launch = blockIdx.x * (blockDim.x / WARP) + warp;
    if (in_launch >= order.queries.count) {
        return;
    }
    Key* entries = warp_memory(warp, padded, 0) + CANDIDATES;
    const float* distances =
        order.stored.distances + static_cast<size_t>(in_launch) * order.stored.groups * WARP;
    minima(order.stored, 0, order.order.count, padded, distances, entries, lane);
    Key* to = row_of(order.order.entries, in_launch, padded);
    for (unsigned i = lane; i < order.order.count; i += WARP) {
        to[i] = entries[i];
    }
}

// Visits the clusters of stored distances. Without fission, finds and sorts their minima first.
template <int R, bool COUNTED>
__device__ __forceinline__ void visit_stored(const StoredVisit& visit) {
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id();
    unsigned in_launch = blockIdx.x * (blockDim.x / WARP) + warp;
    if (in_launch >= visit.queries.count) {
        return;
    }
    unsigned own = visit.order.entries == nullptr ? visit.order.padded : 0;
    Key* share = warp_memory(warp, own, 0);
    Key* entries = share + CANDIDATES;
    const float* distances =
        visit.stored.distances + static_cast<size_t>(in_launch) * visit.stored.groups * WARP;
    if (own > 0) {
        minima(visit.stored, 0, visit.order.count, visit.order.padded, distances, entries, lane);
    } else {
        entries = row_of(visit.order.entries, in_launch, visit.order.padded);
    }
    Queue<R, COUNTED> queue;
    queue.start(share, visit.output.k);
    queue.begin_with(entries, visit.order.count);
    traverse(StoredDistances{visit.stored, distances, lane}, entries, visit.order.count, queue);
    write(visit.output, visit.queries, in_launch, visit.order.count, queue);
}

}  // namespace warpscope::step

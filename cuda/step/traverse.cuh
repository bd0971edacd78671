// A query's traversal of the clusters, in the order of their bounds, until no further one can contain a
// neighbour. Twin of crates/engines/src/step/traverse.rs.
//
// Scope: one warp per query, at most VISIT_WARPS warps per block; warps never wait for one another.
//
//   order_clusters     bounds of all clusters, sorted, in the warp's own memory
//   traverse           visits the clusters of a Source, Indexed or Stored (exhaustive.cuh)
//
// Shared memory: dynamic, for each warp what warp_memory() lays out; the caller must launch with that much.
#pragma once

#include "distance.cuh"
#include "key.cuh"
#include "step/bounds.cuh"
#include "step/interface.cuh"
#include "step/queue.cuh"
#include "warp/lanes.cuh"

namespace warpscope::step {

// A warp's share of the dynamic shared memory, in keys: the queue, the entries unless they are in global
// memory, and d coordinates.
__device__ __forceinline__ Key* warp_memory(unsigned warp, unsigned entries, unsigned d) {
    extern __shared__ Key shared[];
    return shared + warp * (CANDIDATES + entries + (d + 1) / 2);
}

// Sorts keys in this warp's memory by a bitonic network; their number is a power of two, at least WARP.
__device__ __forceinline__ void sort_entries(Key* entries, unsigned count, unsigned lane) {
    __syncwarp();
    for (unsigned size = 2; size <= count; size *= 2) {
        for (unsigned stride = size / 2; stride > 0; stride /= 2) {
            for (unsigned pair = lane; pair < count / 2; pair += WARP) {
                unsigned low = 2 * pair - (pair & (stride - 1));
                Key a = entries[low], b = entries[low + stride];
                if ((a > b) == ((low & size) == 0)) {
                    entries[low] = b;
                    entries[low + stride] = a;
                }
            }
            __syncwarp();
        }
    }
}

// Copies a query's coordinates into the warp's memory.
__device__ __forceinline__ const float* stage_query(const Queries& queries, unsigned in_launch, Key* to,
                                                    unsigned lane) {
    float* row = reinterpret_cast<float*>(to);
    const float* from = row_of(queries.rows, queries.first + in_launch, queries.d);
    for (unsigned j = lane; j < queries.d; j += WARP) {
        row[j] = from[j];
    }
    // Every lane reads what others wrote.
    __syncwarp();
    return row;
}

// Sorts the clusters by their bounds, then by number.
__device__ __forceinline__ void order_clusters(const Spheres& spheres, const Order& order, const float* query,
                                               unsigned d, Key* entries, unsigned lane) {
    double norm = norm_of(spheres, query, d);
    for (unsigned first = 0; first < order.padded; first += WARP) {
        Key key = first < spheres.count ? keys(spheres, first / WARP, query, d, norm, lane) : PADDING;
        entries[first + lane] = first + lane < spheres.count ? key : PADDING;
    }
    sort_entries(entries, order.padded, lane);
}

// Clusters whose distances to the query are computed when they are visited. An entry is a cluster's bound and
// number.
struct Indexed {
    const IndexedVisit& visit;
    const float* query;
    unsigned lane;

    __device__ __forceinline__ unsigned first_group(Key entry) const {
        return visit.first_groups[index_of(entry)];
    }
    __device__ __forceinline__ unsigned end_group(Key entry) const {
        return visit.first_groups[index_of(entry) + 1];
    }
    __device__ __forceinline__ Key least(Key entry) const {
        return key_of(distance_of(entry), first_position(first_group(entry)));
    }
    __device__ __forceinline__ unsigned first_position(unsigned group) const {
        return visit.positions[static_cast<size_t>(group) * WARP];
    }
    // The key of this lane's point of a group; `there` becomes whether the lane has one.
    __device__ __forceinline__ Key keys(Key, unsigned group, bool& there) const {
        unsigned d = visit.queries.d;
        const float* point = visit.coordinates + static_cast<size_t>(group) * d * WARP + lane;
        float distance = squared_distance<WARP>(point, query, d);
        unsigned position = visit.positions[static_cast<size_t>(group) * WARP + lane];
        there = position != 0xffffffffu;
        return key_of(distance, position);
    }
};

// A warp with its own query. The alternative is SharedQuery (share.cuh).
struct WholeQuery {
    __device__ __forceinline__ unsigned first() const { return 0; }
    __device__ __forceinline__ unsigned step() const { return 1; }
    __device__ __forceinline__ Key tightened(Key last) const { return last; }
    __device__ __forceinline__ void publish(Key) const {}
};

// Visits the clusters of sorted entries, or those of the warp's share; the queue ends with the neighbours
// among their points.
//
// If a cluster cannot contain a neighbour, no later one can. A cluster's points are ordered by position, and
// none is nearer than its bound. So the cluster is finished as soon as the pair of that bound and a group's
// first position is not below the k-th neighbour.
template <int R, bool COUNTED, class Source, class Share = WholeQuery>
__device__ __forceinline__ void traverse(const Source& source, const Key* order, unsigned count,
                                         Queue<R, COUNTED>& queue, const Share& share = {}) {
    for (unsigned at = share.first(); at < count; at += share.step()) {
        Key entry = order[at];
        queue.last = share.tightened(queue.last);
        if (source.least(entry) >= queue.last) {
            break;
        }
        queue.visits.clusters += 1;
        unsigned end = source.end_group(entry);
        for (unsigned group = source.first_group(entry); group < end; ++group) {
            if (key_of(distance_of(entry), source.first_position(group)) >= queue.last) {
                break;
            }
            bool there;
            Key key = source.keys(entry, group, there);
            queue.visits.groups += 1;
            if constexpr (COUNTED) {
                queue.visits.distance_evals += __popc(__ballot_sync(ALL_LANES, there));
            }
            queue.filter_keys(key);
        }
        share.publish(queue.last);
    }
    queue.finish();
}

// Writes a query's answer.
template <int R, bool COUNTED>
__device__ __forceinline__ void write(const Output& output, const Queries& queries, unsigned in_launch,
                                      unsigned clusters, Queue<R, COUNTED>& queue) {
    queue.write(AnswerRow(output, queries.first + in_launch));
    if constexpr (COUNTED) {
        if (queue.lane == 0) {
            queue.visits.pruned = clusters - queue.visits.clusters;
            output.visits[in_launch] = queue.visits;
        }
    }
}

// First kernel with fission: only the order.
__device__ __forceinline__ void order(const Ordering& ordering) {
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id(), d = ordering.queries.d,
             padded = ordering.order.padded;
    unsigned in_launch = blockIdx.x * (blockDim.x / WARP) + warp;
    if (in_launch >= ordering.queries.count) {
        return;
    }
    Key* entries = warp_memory(warp, padded, d) + CANDIDATES;
    const float* query = stage_query(ordering.queries, in_launch, entries + padded, lane);
    order_clusters(ordering.spheres, ordering.order, query, d, entries, lane);
    Key* to = row_of(ordering.order.entries, in_launch, padded);
    for (unsigned i = lane; i < ordering.order.count; i += WARP) {
        to[i] = entries[i];
    }
}

// Visits the clusters. Without fission, computes and sorts their bounds first.
template <int R, bool COUNTED>
__device__ __forceinline__ void visit_indexed(const IndexedVisit& visit) {
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id(), d = visit.queries.d;
    unsigned in_launch = blockIdx.x * (blockDim.x / WARP) + warp;
    if (in_launch >= visit.queries.count) {
        return;
    }
    unsigned own = visit.order.entries == nullptr ? visit.order.padded : 0;
    Key* share = warp_memory(warp, own, d);
    Key* entries = share + CANDIDATES;
    const float* query = stage_query(visit.queries, in_launch, entries + own, lane);
    if (own > 0) {
        order_clusters(visit.spheres, visit.order, query, d, entries, lane);
    } else {
        entries = row_of(visit.order.entries, in_launch, visit.order.padded);
    }
    Queue<R, COUNTED> queue;
    queue.start(share, visit.output.k);
    traverse(Indexed{visit, query, lane}, entries, visit.order.count, queue);
    write(visit.output, visit.queries, in_launch, visit.order.count, queue);
}

}  // namespace warpscope::step

// For few queries: the clusters of a query are distributed to several warps, and one warp gathers their
// results (STEP §5.3). No twin: a CPU's threads always have enough queries.
//
// Scope: share_* runs with one warp per share of a query; gather with one warp per query. Warps never wait
// for one another.
//
// The warps of a query share an upper bound on its k-th neighbour: the k-th key of one warp is never below
// that of the whole query. When a warp reads it affects how much the warp visits, but not the result.
#pragma once

#include "key.cuh"
#include "ptx.cuh"
#include "step/exhaustive.cuh"
#include "step/interface.cuh"
#include "step/queue.cuh"
#include "step/traverse.cuh"
#include "warp/lanes.cuh"

namespace warpscope::step {

// A warp that has every step-th entry of its query, starting with the first. Replaces WholeQuery
// (traverse.cuh).
struct SharedQuery {
    unsigned long long* bound;
    unsigned first_entry;
    unsigned stride;
    unsigned lane;

    __device__ __forceinline__ unsigned first() const { return first_entry; }
    __device__ __forceinline__ unsigned step() const { return stride; }

    // One lane reads for all, because another warp may write meanwhile and lanes must agree.
    __device__ __forceinline__ Key tightened(Key last) const {
        Key bounded = ~__shfl_sync(ALL_LANES, ptx::load_relaxed(bound), 0);
        return choose(bounded < last, bounded, last);
    }

    __device__ __forceinline__ void publish(Key last) const {
        if (lane == 0 && last != PADDING) {
            atomicMax(bound, ~last);
        }
    }
};

// Stores a warp's result for gather.
template <int R>
__device__ __forceinline__ void store_result(const Shares& shares, unsigned in_launch, unsigned share,
                                             const Queue<R, false>& queue) {
    Key* to = shares.results + (static_cast<size_t>(in_launch) * shares.count + share) * WARP * R;
#pragma unroll
    for (int r = 0; r < R; ++r) {
        to[queue.lane * R + r] = queue.keys[r];
    }
}

// A warp gets every count-th cluster of the order, so that all warps begin with near ones.
template <int R>
__device__ __forceinline__ void share_indexed(const IndexedShare& shared) {
    const IndexedVisit& visit = shared.visit;
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id(), d = visit.queries.d;
    unsigned turn = blockIdx.x * (blockDim.x / WARP) + warp;
    unsigned in_launch = turn / shared.shares.count, share = turn % shared.shares.count;
    if (in_launch >= visit.queries.count) {
        return;
    }
    Key* own = warp_memory(warp, 0, d);
    const float* query = stage_query(visit.queries, in_launch, own + CANDIDATES, lane);
    const Key* entries = row_of(visit.order.entries, in_launch, visit.order.padded);
    Queue<R, false> queue;
    queue.start(own, visit.output.k);
    traverse(Indexed{visit, query, lane}, entries, visit.order.count, queue,
             SharedQuery{shared.shares.bounds + in_launch, share, shared.shares.count, lane});
    store_result(shared.shares, in_launch, share, queue);
}

// Stored distances are distributed in processing order: a warp gets consecutive clusters, finds their minima
// and sorts them.
template <int R>
__device__ __forceinline__ void share_stored(const StoredShare& shared) {
    const StoredVisit& visit = shared.visit;
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id();
    unsigned turn = blockIdx.x * (blockDim.x / WARP) + warp;
    unsigned in_launch = turn / shared.shares.count, share = turn % shared.shares.count;
    if (in_launch >= visit.queries.count) {
        return;
    }
    unsigned each = (visit.order.count + shared.shares.count - 1) / shared.shares.count;
    unsigned from = min(share * each, visit.order.count), count = min(each, visit.order.count - from);
    Key* own = warp_memory(warp, visit.order.padded, 0);
    Key* entries = own + CANDIDATES;
    const float* distances =
        visit.stored.distances + static_cast<size_t>(in_launch) * visit.stored.groups * WARP;
    minima(visit.stored, from, count, visit.order.padded, distances, entries, lane);
    Queue<R, false> queue;
    queue.start(own, visit.output.k);
    queue.begin_with(entries, count);
    traverse(StoredDistances{visit.stored, distances, lane}, entries, count, queue,
             SharedQuery{shared.shares.bounds + in_launch, 0, 1, lane});
    store_result(shared.shares, in_launch, share, queue);
}

// Merges the sorted results of a query's warps. If a group has no candidates, later groups have none either.
template <int R>
__device__ __forceinline__ void gather(const Gathering& gathering) {
    unsigned warp = threadIdx.x / WARP, lane = warp::lane_id();
    unsigned in_launch = blockIdx.x * (blockDim.x / WARP) + warp;
    if (in_launch >= gathering.queries.count) {
        return;
    }
    constexpr unsigned K = WARP * R;
    const Key* results =
        gathering.shares.results + static_cast<size_t>(in_launch) * gathering.shares.count * K;
    Queue<R, false> queue;
    queue.start(warp_memory(warp, 0, 0), gathering.output.k);
    queue.begin_with(results, K);
    for (unsigned share = 1; share < gathering.shares.count; ++share) {
        for (unsigned first = 0; first < K; first += WARP) {
            Key key = results[share * K + first + lane];
            if (!__any_sync(ALL_LANES, key < queue.last)) {
                break;
            }
            queue.filter_keys(key);
        }
    }
    queue.finish();
    write(gathering.output, gathering.queries, in_launch, 0, queue);
}

}  // namespace warpscope::step

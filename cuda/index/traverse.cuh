// A query's search of the tree: nearest child first, pruning children that cannot contain a neighbour. Twin
// of crates/engines/src/index/traverse.rs.
//
// Scope: one warp per query, TRAVERSE_WARPS warps per block; warps never wait for one another.
//
//   traverse<R, D, Tally>(search)     R = K / 32; D = 2 or 3, or 0 for any other d; Tally = NoCounters,
//                                     VisitTally, or a Recorder (recorder.cuh)
//
// Shared memory: static, K + 32 HEIGHTS keys per warp.
//
// The caller launches a warp for every query of the launch and stores the tree as described at Tree.
#pragma once

#include "distance.cuh"
#include "index/boxes.cuh"
#include "index/interface.cuh"
#include "index/morton.cuh"
#include "index/nearest.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// The counts are the same in all lanes.
struct VisitTally : NoTrace {
    static constexpr bool COUNTED = true;
    static constexpr bool PROFILED = false;

    Visits visits = {};

    __device__ __forceinline__ void appended(unsigned count) { visits.candidates += count; }
    __device__ __forceinline__ void merged(unsigned, float) { visits.merges += 1; }
};

// The leaf to which a code belongs: the last one whose first code is not greater.
__device__ __forceinline__ unsigned leaf_of(const Tree& tree, unsigned long long code, unsigned lane) {
    unsigned group = 0;
    for (unsigned height = tree.top + 1; height-- > 0;) {
        unsigned long long first =
            tree.first_codes[static_cast<size_t>(tree.first_group[height] + group) * WARP + lane];
        unsigned begun = __popc(__ballot_sync(ALL_LANES, first <= code));
        group = group * WARP + max(begun, 1u) - 1;
    }
    return group;
}

// Compares the children of a node, a group of boxes of a height, with the query, except for the leaf visited
// first.
template <int D, class Tally>
__device__ __forceinline__ Key enter(const Tree& tree, unsigned height, unsigned group, const float* query,
                                     unsigned own, unsigned lane, Tally& tally) {
    Key key = keys<D>(tree, tree.first_group[height] + group, query, lane);
    key = choose(height == 0 && group * WARP + lane == own, PADDING, key);
    if constexpr (Tally::COUNTED) {
        tally.visits.nodes += 1;
    }
    if constexpr (Tally::TRACED) {
        tally.node(height, group, key);
    }
    return key;
}

// Filters the points of a leaf.
template <int R, int D, class Tally>
__device__ __forceinline__ void visit_leaf(const Tree& tree, unsigned leaf, const float* query,
                                           Nearest<R, Tally>& warp) {
    unsigned d = D == 0 ? tree.d : D;
    const float* point = tree.coordinates + static_cast<size_t>(leaf) * d * WARP + warp.lane;
    float acc = 0.0f;
#pragma unroll
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(point[j * WARP], query[j], acc);
    }
    unsigned first = leaf * WARP;
    if constexpr (Tally::COUNTED) {
        warp.tally.visits.leaves += 1;
        warp.tally.visits.distance_evals += min(tree.n - first, WARP);
    }
    if constexpr (Tally::TRACED) {
        warp.tally.leaf(leaf);
    }
    warp.filter_keys(key_of(acc, tree.positions[static_cast<size_t>(first) + warp.lane]));
}

// Searches the tree for one query; the warp ends with its neighbours.
//
// The leaf `own`, to which the query's code belongs, comes first: its points bound the search. Then the
// search is depth first. Of a node's children, one per lane, the one with the smallest key comes next, as
// long as that key is below the k-th neighbour's. Otherwise all remaining children are pruned together, and
// the search returns to the parent. `above` holds the unvisited children of the nodes on the path, one key
// per lane; a lane reads only what it wrote, so no barrier is needed.
template <int R, int D, class Tally>
__device__ __forceinline__ void descend(const Tree& tree, const float* query, unsigned own, Key* above,
                                        Nearest<R, Tally>& warp) {
    unsigned lane = warp.lane;
    unsigned height = tree.top, group = 0;
    if constexpr (Tally::TRACED) {
        warp.tally.own_leaf(own);
    }
    visit_leaf<R, D>(tree, own, query, warp);
    Key child = enter<D>(tree, height, group, query, own, lane, warp.tally);
    while (true) {
        Key nearest = warp::reduce_min(child);
        if (nearest >= warp.last) {
            if constexpr (Tally::COUNTED) {
                warp.tally.visits.pruned += __popc(__ballot_sync(ALL_LANES, child != PADDING));
            }
            if constexpr (Tally::TRACED) {
                warp.tally.pruned(child);
            }
            if (height == tree.top) {
                break;
            }
            height += 1;
            group /= WARP;
            child = above[height * WARP + lane];
            continue;
        }
        // No two children have the same key, because no two contain the same point.
        bool mine = child == nearest;
        unsigned of_lane = __ffs(__ballot_sync(ALL_LANES, mine)) - 1;
        unsigned next = group * WARP + of_lane;
        if constexpr (Tally::TRACED) {
            warp.tally.child(of_lane, nearest);
        }
        child = mine ? PADDING : child;
        if (height == 0) {
            visit_leaf<R, D>(tree, next, query, warp);
        } else {
            above[height * WARP + lane] = child;
            height -= 1;
            group = next;
            child = enter<D>(tree, height, group, query, own, lane, warp.tally);
        }
    }
    warp.finish();
}

template <int R, int D, class Tally>
__device__ __forceinline__ void traverse(const Traversal& search, const Tally& tally = {}) {
    __shared__ Key buffers[TRAVERSE_WARPS][WARP * R];
    __shared__ Key above[TRAVERSE_WARPS][HEIGHTS * WARP];
    __shared__ float rows[TRAVERSE_WARPS][D == 0 ? MAX_DIMS : 1];
    unsigned number = threadIdx.x / WARP;
    unsigned turn = blockIdx.x * TRAVERSE_WARPS + number;
    if (turn >= search.query_count) {
        return;
    }
    unsigned in_launch = search.order == nullptr ? turn : search.order[turn];
    size_t query = search.first_query + in_launch;
    unsigned d = D == 0 ? search.tree.d : D;
    const float* from = search.queries + query * d;
    unsigned own =
        search.in_leaves ? turn / WARP : leaf_of(search.tree, code(search.frame, from, d), warp::lane_id());
    Nearest<R, Tally> warp;
    warp.start(buffers[number], search.k);
    warp.tally = tally;
    if constexpr (D == 0) {
        if (warp.lane < d) {
            rows[number][warp.lane] = from[warp.lane];
        }
        // Every lane reads what others wrote.
        __syncwarp();
        descend<R, D>(search.tree, rows[number], own, above[number], warp);
    } else {
        float row[D];
        copy_row(row, from);
        descend<R, D>(search.tree, row, own, above[number], warp);
    }
    warp.write(AnswerRow(search, query));
    if constexpr (Tally::COUNTED) {
        if (warp.lane == 0) {
            search.visits[in_launch] = warp.tally.visits;
        }
    }
}

}  // namespace warpscope::index

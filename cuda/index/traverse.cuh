// A query's way through the tree: the nearest child first, and none that cannot hold a neighbour. Twin of
// crates/engines/src/index/traverse.rs.
//
// Scope: a warp a query, TRAVERSE_WARPS warps a block; warps never wait for one another.
//
//   traverse<R, D, Tally>(search)     R = K / 32; D = 2 or 3, or 0 for any other d; Tally = NoCounters,
//                                     VisitTally, or a Recorder (recorder.cuh)
//
// Shared memory: static, K + 32 HEIGHTS keys a warp.
//
// The caller launches a warp for every query of the launch, and has the tree's memory as Tree says.
#pragma once

#include "distance.cuh"
#include "index/boxes.cuh"
#include "index/interface.cuh"
#include "index/morton.cuh"
#include "index/nearest.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// Every lane counts the same.
struct VisitTally : NoTrace {
    static constexpr bool COUNTED = true;
    static constexpr bool PROFILED = false;

    Visits visits = {};

    __device__ __forceinline__ void appended(unsigned count) { visits.candidates += count; }
    __device__ __forceinline__ void merged(unsigned, float) { visits.merges += 1; }
};

// The leaf where a code would be: the last that does not begin behind it.
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

// Looks at the children of a node, a group of boxes of a height, except for the leaf that was visited at
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
        warp.tally.visits.accessed += min(tree.n - first, WARP);
    }
    if constexpr (Tally::TRACED) {
        warp.tally.leaf(leaf);
    }
    warp.filter_keys(key_of(acc, tree.positions[static_cast<size_t>(first) + warp.lane]));
}

// Searches the tree for one query; the warp ends with its neighbours.
//
// The leaf `own`, where the query's code would be, comes first: its points bound the search. Then depth
// first: of a node's children, which a lane each holds, the one of the smallest key comes next, as long as
// that is below the k-th neighbour's. As soon as it is not, the others are left out together, and the search
// goes on in the node above. What is still to be visited of the nodes above lies in `above`, a key a lane: a
// lane reads what it wrote itself, so no barrier is needed.
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
                warp.tally.visits.left_out += __popc(__ballot_sync(ALL_LANES, child != PADDING));
            }
            if constexpr (Tally::TRACED) {
                warp.tally.left_out(child);
            }
            if (height == tree.top) {
                break;
            }
            height += 1;
            group /= WARP;
            child = above[height * WARP + lane];
            continue;
        }
        // No two children have the same key, as no two hold the same point.
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
    __shared__ float rows[TRAVERSE_WARPS][D == 0 ? MOST_DIMS : 1];
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

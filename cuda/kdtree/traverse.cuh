// A k-d tree searched by one thread per query, so that the lanes of a warp diverge. Traverses the tree
// without a stack: the node that the traversal came from determines the next one (Wald 2022). Twin of
// crates/engines/src/kdtree_threads/traverse.rs.
//
// Scope: one thread per query; threads never wait for one another.
//
// The tree is left-balanced and in level order: the children of node i are 2i + 1 and 2i + 2, and a node's
// level gives the axis along which it splits.
#pragma once

#include "distance.cuh"
#include "kdtree/heap.cuh"
#include "kdtree/interface.cuh"

namespace warpscope::kdtree {

// The axis along which a node splits: the root along the first, each level along the next.
__device__ __forceinline__ unsigned axis_of(unsigned node, unsigned d) { return (31 - __clz(node + 1)) % d; }

// The query's coordinate along an axis. Registers can only be indexed by constants.
template <int D>
__device__ __forceinline__ float along(const float* query, unsigned axis) {
    if constexpr (D == 0) {
        return query[axis];
    } else {
        float value = query[0];
#pragma unroll
        for (unsigned j = 1; j < D; ++j) {
            value = axis == j ? query[j] : value;
        }
        return value;
    }
}

// Visits the nodes that may hold a neighbour: the query's side first, then the other side unless the
// splitting plane is farther than the k-th neighbour. The timed build discards the result, so the compiler
// removes the counting.
template <int D>
__device__ __forceinline__ Visits traverse(const Search& search, const float* query, Heap& heap) {
    Visits visits = {};
    unsigned d = D == 0 ? search.d : D;
    unsigned node = 0, before = 0;
    bool down = true;
    for (;;) {
        visits.steps += 1;
        const float* point = row_of(search.coordinates, node, d);
        if (down) {
            float acc = 0.0f;
#pragma unroll
            for (unsigned j = 0; j < d; ++j) {
                acc = add_squared_difference(point[j], query[j], acc);
            }
            visits.distance_evals += 1;
            Key key = key_of(acc, search.positions[node]);
            if (key < heap.root) {
                visits.candidates += 1;
                heap.replace(key);
            }
        }
        unsigned axis = axis_of(node, d);
        float plane = point[axis], own = along<D>(query, axis);
        bool right = own > plane;
        unsigned near = 2 * node + 1 + right, far = 2 * node + 2 - right;
        // `<=`: a point behind a plane at the k-th distance may still win the tie by its position.
        bool both = far < search.n && squared_difference(plane, own) <= distance_of(heap.root);
        if (down && near < search.n) {
            before = node;
            node = near;
        } else if (both && (down || before == near)) {
            before = node;
            node = far;
            down = true;
        } else if (node == 0) {
            return visits;
        } else {
            before = node;
            node = (node - 1) / 2;
            down = false;
        }
    }
}

template <int D, bool COUNTED>
__device__ __forceinline__ void answer(const Search& search) {
    unsigned in_launch = blockIdx.x * SEARCH_THREADS + threadIdx.x;
    if (in_launch >= search.query_count) {
        return;
    }
    size_t query = search.first_query + in_launch;
    Heap heap{search.heaps + in_launch, search.query_count, search.k};
    heap.restart();
    Visits visits;
    const float* row = search.queries + query * (D == 0 ? search.d : D);
    if constexpr (D == 0) {
        visits = traverse<D>(search, row, heap);
    } else {
        float own[D];
        copy_row(own, row);
        visits = traverse<D>(search, own, heap);
    }
    heap.sort();
    for (unsigned rank = 0; rank < search.k; ++rank) {
        Key key = heap.at(rank);
        search.indices[query * search.k + rank] = index_of(key);
        search.squared_distances[query * search.k + rank] = distance_of(key);
    }
    if constexpr (COUNTED) {
        search.visits[in_launch] = visits;
    }
}

}  // namespace warpscope::kdtree

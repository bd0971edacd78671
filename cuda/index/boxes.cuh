// Boxes around points, and the bound by which a box is left out. Twin of crates/engines/src/index/boxes.rs,
// which has the proof.
#pragma once

#include "distance.cuh"
#include "index/interface.cuh"
#include "key.cuh"

namespace warpscope::index {

// The nearest place to q in an interval; that of an empty one is infinite.
__device__ __forceinline__ float clamp(float q, float low, float high) { return fminf(fmaxf(q, low), high); }

// What no point in a lane's box of a group is nearer than: the distance of its nearest corner, edge or
// inside, by the rule of every engine.
template <int D>
__device__ __forceinline__ float box_distance(const Tree& tree, unsigned group, const float* query,
                                              unsigned lane) {
    unsigned d = D == 0 ? tree.d : D;
    const float* low = tree.corners + static_cast<size_t>(group) * 2 * d * WARP + lane;
    const float* high = low + d * WARP;
    float acc = 0.0f;
#pragma unroll
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(clamp(query[j], low[j * WARP], high[j * WARP]), query[j], acc);
    }
    return acc;
}

// What the key of no point in this lane's box of a group is below: its distance and the smallest position.
// Padding has PADDING.
template <int D>
__device__ __forceinline__ Key keys(const Tree& tree, unsigned group, const float* query, unsigned lane) {
    return key_of(box_distance<D>(tree, group, query, lane),
                  tree.smallest[static_cast<size_t>(group) * WARP + lane]);
}

}  // namespace warpscope::index

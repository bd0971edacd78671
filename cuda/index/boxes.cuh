// Boxes around points, and the bound by which a box is pruned. Twin of crates/engines/src/index/boxes.rs,
// which has the proof.
#pragma once

#include "distance.cuh"
#include "index/interface.cuh"
#include "key.cuh"

namespace warpscope::index {

// The value nearest to q in an interval; infinite for an empty interval.
__device__ __forceinline__ float clamp(float q, float low, float high) { return fminf(fmaxf(q, low), high); }

// A lower bound on the distances of the points in this lane's box of a group: the distance of the box's
// nearest point by the rule that all engines share.
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

// A lower bound on the keys of the points in this lane's box of a group: that distance and the smallest
// position. Padding has PADDING.
template <int D>
__device__ __forceinline__ Key keys(const Tree& tree, unsigned group, const float* query, unsigned lane) {
    return key_of(box_distance<D>(tree, group, query, lane),
                  tree.smallest[static_cast<size_t>(group) * WARP + lane]);
}

}  // namespace warpscope::index

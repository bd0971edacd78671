// The tree: points in Morton order, in leaves of 32, under an implicit 32-ary hierarchy of boxes. Twin of
// crates/engines/src/index/tree.rs, which describes the numbering.
//
// One warp builds a box of any height, from a leaf's points or from a group of boxes. The caller launches a
// warp for every box of the height, including the padding of its last group, in blocks of BUILD_THREADS
// threads, from the lowest height to the highest.
#pragma once

#include "index/interface.cuh"
#include "index/morton.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// The first code below a padding box: greater than all codes.
constexpr unsigned long long NO_CODE = 0xffffffffffffffffull;

// Column `lane` of a group's corners.
struct Box {
    float* corners;
    unsigned* smallest;
    unsigned long long* first_code;
    unsigned d;

    __device__ __forceinline__ Box(const Tree& tree, unsigned height, unsigned box) : d(tree.d) {
        size_t group = tree.first_group[height] + box / WARP;
        corners = tree.corners + group * 2 * d * WARP + box % WARP;
        smallest = tree.smallest + group * WARP + box % WARP;
        first_code = tree.first_codes + group * WARP + box % WARP;
    }
    __device__ __forceinline__ void write(unsigned axis, float low, float high) const {
        corners[axis * WARP] = low;
        corners[(d + axis) * WARP] = high;
    }
};

// Gathers and bounds a leaf, one point per lane.
__device__ __forceinline__ void bound_points(const Growth& growth, unsigned leaf, unsigned lane) {
    const Tree& tree = growth.tree;
    Box box(tree, 0, leaf);
    unsigned at = leaf * WARP + lane;
    bool there = at < tree.n;
    bool exists = leaf < tree.boxes[0];
    unsigned position = there ? growth.order[at] : 0xffffffffu;
    if (exists) {
        tree.positions[at] = position;
    }
    for (unsigned j = 0; j < tree.d; ++j) {
        float value = there ? growth.rows[static_cast<size_t>(position) * tree.d + j] : infinite_distance();
        if (exists) {
            tree.coordinates[(static_cast<size_t>(leaf) * tree.d + j) * WARP + lane] = value;
        }
        float low = warp::reduce_min(value), high = -warp::reduce_min(there ? -value : infinite_distance());
        if (lane == 0) {
            box.write(j, low, high);
        }
    }
    unsigned smallest = warp::reduce_min(position);
    if (lane == 0) {
        *box.smallest = smallest;
    }
    // Lane 0 has the leaf's first point, lane 1 that of the next leaf.
    bool next = lane == 1 && at + WARP - 1 < tree.n;
    unsigned first = next ? growth.order[at + WARP - 1] : position;
    unsigned long long sorted = NO_CODE;
    if (exists && (lane == 0 || next)) {
        sorted = code(growth.frame, row_of(growth.rows, first, tree.d), tree.d);
        sorted = sorted >> growth.below << growth.below;
    }
    unsigned long long other = __shfl_down_sync(ALL_LANES, sorted, 1);
    if (lane == 0) {
        *box.first_code = sorted;
        if (exists && sorted == other) {
            atomicAdd(growth.crowded, 1);
        }
    }
}

// Bounds a group of boxes of the height below, including padding, one box per lane.
__device__ __forceinline__ void bound_boxes(const Growth& growth, unsigned number, unsigned lane) {
    const Tree& tree = growth.tree;
    unsigned height = growth.height;
    Box box(tree, height, number);
    bool exists = number < tree.boxes[height];
    size_t group = tree.first_group[height - 1] + number;
    const float* corners = tree.corners + group * 2 * tree.d * WARP + lane;
    for (unsigned j = 0; j < tree.d; ++j) {
        float low = warp::reduce_min(exists ? corners[j * WARP] : infinite_distance());
        float high = -warp::reduce_min(exists ? -corners[(tree.d + j) * WARP] : infinite_distance());
        if (lane == 0) {
            box.write(j, low, high);
        }
    }
    unsigned smallest = warp::reduce_min(exists ? tree.smallest[group * WARP + lane] : 0xffffffffu);
    if (lane == 0) {
        *box.smallest = smallest;
        *box.first_code = exists ? tree.first_codes[group * WARP] : NO_CODE;
    }
}

}  // namespace warpscope::index

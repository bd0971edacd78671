// The k nearest points of one thread's query, as a heap whose root is the farthest. Twin of
// crates/engines/src/kdtree_threads/heap.rs.
//
// Entry i of a query lies `stride` keys behind entry i - 1, beside those of its neighbours in the warp:
// threads that are at the same entry share their accesses. That they rarely are is what this engine shows.
#pragma once

#include "key.cuh"

namespace warpscope::kdtree {

struct Heap {
    Key* entries;
    unsigned stride;
    unsigned k;
    Key root;  // what a closer point must be below

    __device__ __forceinline__ Key& at(unsigned i) const { return entries[static_cast<size_t>(i) * stride]; }

    __device__ __forceinline__ void restart() {
        for (unsigned i = 0; i < k; ++i) {
            at(i) = PADDING;
        }
        root = PADDING;
    }

    // Lets a key sink from the root of the first `end` entries; returns by how many levels.
    __device__ __forceinline__ unsigned sift(Key key, unsigned end) {
        unsigned hole = 0, levels = 0;
        for (unsigned child = 1; child < end; child = 2 * hole + 1) {
            Key larger = at(child);
            if (child + 1 < end && at(child + 1) > larger) {
                child += 1;
                larger = at(child);
            }
            if (larger <= key) {
                break;
            }
            at(hole) = larger;
            hole = child;
            levels += 1;
        }
        at(hole) = key;
        return levels;
    }

    // Takes a point that is nearer than the farthest, in its place; returns the levels that it sank by.
    __device__ __forceinline__ unsigned replace(Key key) {
        unsigned levels = sift(key, k);
        root = at(0);
        return levels;
    }

    // Heapsort's second half: the entries become ascending.
    __device__ __forceinline__ void sort() {
        for (unsigned end = k; end > 1; --end) {
            Key last = at(end - 1);
            at(end - 1) = at(0);
            sift(last, end - 1);
        }
    }
};

}  // namespace warpscope::kdtree

// The k nearest points of a query, as a max-heap. Twin of crates/engines/src/kdtree_threads/heap.rs.
//
// Entry i of a query is `stride` keys behind its entry i - 1, next to the entries i of the other queries of
// the warp. Threads at the same entry thus coalesce their accesses; this engine shows how rarely that
// happens.
#pragma once

#include "key.cuh"

namespace warpscope::kdtree {

struct Heap {
    Key* entries;
    unsigned stride;
    unsigned k;
    Key root;  // the key that a closer point must be below

    __device__ __forceinline__ Key& at(unsigned i) const { return entries[static_cast<size_t>(i) * stride]; }

    __device__ __forceinline__ void restart() {
        for (unsigned i = 0; i < k; ++i) {
            at(i) = PADDING;
        }
        root = PADDING;
    }

    // Sifts a key down from the root of the first `end` entries; returns the number of levels it descends.
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

    // Replaces the farthest point by a nearer one; returns the number of levels it descends.
    __device__ __forceinline__ unsigned replace(Key key) {
        unsigned levels = sift(key, k);
        root = at(0);
        return levels;
    }

    // Second half of heapsort: leaves the entries in ascending order.
    __device__ __forceinline__ void sort() {
        for (unsigned end = k; end > 1; --end) {
            Key last = at(end - 1);
            at(end - 1) = at(0);
            sift(last, end - 1);
        }
    }
};

}  // namespace warpscope::kdtree

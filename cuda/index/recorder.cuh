// What watches a query's way through the tree and writes it down, event by event.
// crates/engines/src/cuda/trace/told.rs reads what is written here, and tells it to the observers of
// crates/engines/src/index/observer.rs.
//
// Events are words, one event after the other: its kind, then what the comments at `Recorder` say. A key is
// two words: position, distance.
#pragma once

#include "index/interface.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// Listens to one warp of one query, in the place of VisitTally (traverse.cuh).
struct Recorder : TraceWriter {
    static constexpr bool COUNTED = false;
    static constexpr bool PROFILED = false;

    unsigned visited = 0;  // the leaf

    // The query's code would be in this leaf: leaf.
    __device__ __forceinline__ void own_leaf(unsigned leaf) { event(OWN_LEAF, leaf); }

    // The search came down to a node: height, group; a key a lane.
    __device__ __forceinline__ void node(unsigned height, unsigned group, Key child) {
        event(NODE, height, group);
        keys(child);
    }

    // A lane's child comes next: lane; its key.
    __device__ __forceinline__ void child(unsigned of_lane, Key nearest) {
        event(CHILD, of_lane, index_of(nearest), distance_bits(nearest));
    }

    // No other child can hold a neighbour: their lanes.
    __device__ __forceinline__ void left_out(Key child) {
        event(LEFT_OUT, __ballot_sync(ALL_LANES, child != PADDING));
    }

    __device__ __forceinline__ void leaf(unsigned leaf) { visited = leaf; }

    // The points of a leaf voted: leaf, candidates; a key a lane.
    __device__ __forceinline__ void voted(Key point, unsigned candidates) {
        event(LEAF, visited, candidates);
        keys(point);
    }

    // Lanes wrote their keys to the buffer: those lanes.
    __device__ __forceinline__ void wrote(bool appends) {
        event(APPENDED, __ballot_sync(ALL_LANES, appends));
    }

    // The buffer was merged: the k-th element's key.
    __device__ __forceinline__ void bounded(Key last) { event(MERGED, index_of(last), distance_bits(last)); }

    // Lanes without a slot voted again: those lanes, and the candidates among them. No event where all had
    // one.
    __device__ __forceinline__ void filtered_again(bool waits, unsigned candidates) {
        unsigned rest = __ballot_sync(ALL_LANES, waits);
        if (rest != 0) {
            event(FILTERED_AGAIN, rest, candidates);
        }
    }

    // The search is done.
    __device__ __forceinline__ void finished() {
        event(FINISHED);
        end_trace();
    }
};

}  // namespace warpscope::index

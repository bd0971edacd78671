// Records a query's search of the tree event by event. crates/engines/src/cuda/trace/replay.rs decodes the
// words and replays them to the observers of crates/engines/src/index/observer.rs.
//
// An event is its kind followed by the words that the comments in `Recorder` list. A key is two words:
// position, distance.
#pragma once

#include "index/interface.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// Records one warp with one query, in place of VisitTally (traverse.cuh).
struct Recorder : TraceWriter {
    static constexpr bool COUNTED = false;
    static constexpr bool PROFILED = false;

    unsigned visited = 0;  // the current leaf

    // The query's code belongs in this leaf: leaf.
    __device__ __forceinline__ void own_leaf(unsigned leaf) { event(OWN_LEAF, leaf); }

    // The search entered a node: height, group; each lane's key.
    __device__ __forceinline__ void node(unsigned height, unsigned group, Key child) {
        event(NODE, height, group);
        keys(child);
    }

    // A lane's child is visited next: lane; its key.
    __device__ __forceinline__ void child(unsigned of_lane, Key nearest) {
        event(CHILD, of_lane, index_of(nearest), distance_bits(nearest));
    }

    // The other children cannot contain a neighbour: their lanes.
    __device__ __forceinline__ void pruned(Key child) {
        event(PRUNED, __ballot_sync(ALL_LANES, child != PADDING));
    }

    __device__ __forceinline__ void leaf(unsigned leaf) { visited = leaf; }

    // The points of a leaf voted: leaf, candidates; each lane's key.
    __device__ __forceinline__ void voted(Key point, unsigned candidates) {
        event(LEAF, visited, candidates);
        keys(point);
    }

    // Lanes appended their keys to the buffer: those lanes.
    __device__ __forceinline__ void wrote(bool appends) {
        event(APPENDED, __ballot_sync(ALL_LANES, appends));
    }

    // The buffer was merged: the k-th element's key.
    __device__ __forceinline__ void bounded(Key last) { event(MERGED, index_of(last), distance_bits(last)); }

    // Lanes without a slot voted again after the merge: those lanes, and the candidates among them. No event
    // if all lanes had a slot.
    __device__ __forceinline__ void filtered_again(bool waits, unsigned candidates) {
        unsigned rest = __ballot_sync(ALL_LANES, waits);
        if (rest != 0) {
            event(FILTERED_AGAIN, rest, candidates);
        }
    }

    // The search finished.
    __device__ __forceinline__ void finished() {
        event(FINISHED);
        end_trace();
    }
};

}  // namespace warpscope::index

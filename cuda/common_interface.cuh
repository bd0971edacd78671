// Output of every kernel besides its answer: tallies and a trace. Twin of the types in
// crates/knn/src/answer.rs. build/interface.rs generates Rust from this file.
#pragma once

#include "key.cuh"

namespace warpscope {

// Merges in a query's convergence history: the first 63 and the latest.
constexpr unsigned CONVERGENCE_ENTRIES = 64;

enum WarpPhase : unsigned { LOAD_BATCH, FILTER, INSERT, SORT, MERGE, WRITE_OUT };
constexpr unsigned WARP_PHASES = 6;

// Counters of a query's search: `knn::Counters`.
struct Counters {
    unsigned merges;
    unsigned candidates;
    unsigned groups_hit;
};

// max_distance after a merge.
struct ConvergenceEntry {
    unsigned points_seen;
    float max_distance;
};

// Where and when a query's warp ran: `knn::WarpSpan`.
struct WarpSpan {
    unsigned long long start_ns;
    unsigned long long stop_ns;
    unsigned sm;
    unsigned warp;
};

// Destination of the tallies in global memory, one entry per query of this launch.
struct TallyOut {
    Counters* counters;             // q
    ConvergenceEntry* convergence;  // q x CONVERGENCE_ENTRIES
    unsigned long long* cycles;     // q x WARP_PHASES
    WarpSpan* spans;                // q
};

// The first word of each event of a trace; observer.cuh describes the words that follow.
enum TraceEvent : unsigned {
    BATCH = 1, GROUP, APPENDED, FILTERED_AGAIN, FULL, PADDED, SWAPPED, LAYER, MINIMUM, MERGED, FINISHED
};

// Destination of a trace in global memory.
struct Trace {
    unsigned* words;
    unsigned long long capacity;  // of `words`
    unsigned long long* needed;   // output: words of the whole trace, including those that did not fit
    Key* keys;                    // 2 K, scratch of the recorder: the warp's keys before and after a step
};

}  // namespace warpscope

// What every kernel may write for the host besides its answer: tallies and a trace. Twin of the types in
// crates/knn/src/answer.rs. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"

namespace warpscope {

// Merges that a query's convergence history keeps: the first 63 and the latest.
constexpr unsigned CONVERGENCE_ENTRIES = 64;

enum WarpPhase : unsigned { LOAD_BATCH, FILTER, INSERT, SORT, MERGE, WRITE_OUT };
constexpr unsigned WARP_PHASES = 6;

// What a query's search did: `knn::Counters`.
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

// Where tallies go, in global memory, an entry a query of this launch.
struct TallyOut {
    Counters* counters;             // q
    ConvergenceEntry* convergence;  // q x CONVERGENCE_ENTRIES
    unsigned long long* cycles;     // q x WARP_PHASES
    WarpSpan* spans;                // q
};

// The first word of each event of a trace; observer.cuh says what follows.
enum TraceEvent : unsigned {
    BATCH = 1, GROUP, APPENDED, FILTERED_AGAIN, FULL, PADDED, SWAPPED, LAYER, MINIMUM, MERGED, FINISHED
};

// Where a trace goes, in global memory.
struct Trace {
    unsigned* words;
    unsigned long long capacity;  // of `words`
    unsigned long long* needed;   // becomes the words of the whole trace, whether they had room or not
    Key* keys;                    // 2 K, for the recorder itself: the warp's keys before a step and after it
};

}  // namespace warpscope

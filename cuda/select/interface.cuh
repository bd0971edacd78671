// What the host and the selectors agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"

// BUILD is timed, counted, parts or combine.
#define WARPSCOPE_BITS_ENTRY(K, BUILD) select_bits_k##K##_##BUILD
#define WARPSCOPE_BITS_BOUND_ENTRY select_bits_bound
#define WARPSCOPE_BITS_GLOBAL_ENTRY(BUILD) select_bits_global_##BUILD
#define WARPSCOPE_BITS_FUSED_ENTRY(K, BUILD) select_bits_fused_k##K##_##BUILD
#define WARPSCOPE_WARP_SELECT_ENTRY(K, BUILD) select_warps_k##K##_##BUILD
#define WARPSCOPE_BLOCK_SELECT_ENTRY(K, BUILD) select_blocks_k##K##_##BUILD
#define WARPSCOPE_MERGE_QUEUE_ENTRY(BUILD) select_merge_queue_##BUILD
// PLACE is shared or device: where heaps are.
#define WARPSCOPE_THREAD_HEAP_ENTRY(PLACE, BUILD) select_heaps_##PLACE##_##BUILD
#define WARPSCOPE_PARTIAL_BITONIC_ENTRY(K, BUILD) select_partial_bitonic_k##K##_##BUILD
#define WARPSCOPE_MERGE_PATH_ENTRY(K, BUILD) select_merge_path_k##K##_##BUILD
// BUILD is timed or counted; STEP is tally or sweep.
#define WARPSCOPE_SORT_ROWS_ENTRY(BUILD) select_sort_rows_##BUILD
#define WARPSCOPE_SORT_FOUND_ENTRY select_sort_found
#define WARPSCOPE_SORT_QUERY_ENTRY(STEP) select_sort_query_##STEP
#define WARPSCOPE_RADIX_SELECT_ENTRY(BUILD) select_radix_##BUILD
#define WARPSCOPE_SAMPLE_SELECT_ENTRY(BUILD) select_sample_##BUILD
// KIND is naive, tiles, registers, expanded, norms, complete or wrong.
#define WARPSCOPE_DISTANCES_ENTRY(KIND) select_distances_##KIND

namespace warpscope::select {

// Numbers that a selector may count of a query.
constexpr unsigned COUNTS = 8;

// Keys that a thread of bits keeps where K needs more than the fewest threads of a block, and floats that
// each reads at a time.
constexpr unsigned BITS_KEYS = 4;
constexpr unsigned BITS_FEWEST_THREADS = 128;
constexpr unsigned BITS_ITEMS = 8;
// Batches of a block in dynamic shared memory: one is looked at, the others are under way.
constexpr unsigned BITS_STAGES = 3;
// Those of blocks that are wider than the narrowest: they have enough under way.
constexpr unsigned BITS_WIDE_STAGES = 2;
// Threads of a block that bounds a row that is divided.
constexpr unsigned BOUND_THREADS = 1024;
// The most minima of a sample.
constexpr unsigned MOST_MINIMA = 2048;

// Keys that bits-global keeps, those of its buffer, and threads of its blocks.
constexpr unsigned GLOBAL_KEPT = 4096;
constexpr unsigned GLOBAL_SLOTS = 2048;
constexpr unsigned GLOBAL_THREADS = 256;

// Queries of a warp of bits-fused, and groups of 32 points of a window.
constexpr unsigned FUSED_QUERIES = 8;
constexpr unsigned FUSED_GROUPS = 8;
// Dimensions of bits-fused that pass through shared memory together up to this K; beyond, half as many.
constexpr unsigned FUSED_TILE = 8;
constexpr unsigned FUSED_NARROW = 32;
// Warps of a block of bits-fused up to this K; beyond, half as many.
constexpr unsigned FUSED_WARPS = 4;
constexpr unsigned FUSED_FEW = 64;

// Warps of a block of warp select, and of block select up to this K; beyond, that has half as many: each
// keeps K keys. And groups of 32 distances that each reads at a time.
constexpr unsigned SELECT_WARPS = 4;
constexpr unsigned SELECT_FEW = 128;
constexpr unsigned SELECT_GROUPS = 16;

// The most warps of a block of merge-queue, and groups of 32 distances that each reads at a time.
constexpr unsigned QUEUE_WARPS = 4;
constexpr unsigned QUEUE_GROUPS = 8;

// Of partial bitonic: where a chunk is sorted. In registers, the most keys of a thread, and the teams of a
// block that are a warp each; in shared memory, the threads of a block, for K up to 512 and beyond.
enum Storage : unsigned { REGISTERS = 0, SHUFFLES, SHARED };
constexpr unsigned PARTIAL_KEYS = 16;
constexpr unsigned PARTIAL_TEAMS = 4;
constexpr unsigned PARTIAL_FEW_THREADS = 128;
constexpr unsigned PARTIAL_THREADS = 256;

// Keys that a thread of merge path sorts by itself, and threads of a block, for K up to 1,024 and beyond.
constexpr unsigned PATH_KEYS = 8;
constexpr unsigned PATH_FEW_THREADS = 128;
constexpr unsigned PATH_THREADS = 256;
// Threads of a block that selects in several passes.
constexpr unsigned PASS_THREADS = 512;
// So many distances are sorted in a block; as many are sampled.
constexpr unsigned FEW = 1024;
// The most buckets that a sample divides into.
constexpr unsigned MOST_BUCKETS = 256;

// Threads of a block that sorts a row, one a digit, bits of a digit and passes.
constexpr unsigned ROW_THREADS = 256;
constexpr unsigned ROW_BITS = 8;
constexpr unsigned ROW_PASSES = 4;

// Threads of a block that computes distances, and the queries and points of its tile.
constexpr unsigned DISTANCE_THREADS = 256;
constexpr unsigned NAIVE_POINTS = 256;
constexpr unsigned TILE_SIDE = 16;
constexpr unsigned REGISTER_SIDE = 128;

// The first word of each event of a trace of warp select (queue_recorder.cuh), and of radix select
// (pass_recorder.cuh), which say what follows.
enum QueueEvent : unsigned {
    PASSED = 1, INSERTED, CHECKED, DRAINED, SORTED, EXCHANGED, MERGED, DESCENDED, LIMITED, FINISHED
};
enum PassEvent : unsigned { COUNTED = 1, FOUND, NARROWED, TAKEN };

// The parameter of every kernel that makes distances: a tile of the matrix, query by query.
struct Distances {
    const float* points;   // n x d, row-major
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned first_query;
    unsigned query_count;
    float* distances;          // query_count x pitch, row-major: squared, and infinite from n on
    unsigned long long pitch;  // floats from one query to the next, a multiple of 4
    const float* point_norms;  // pitch, of the expanded form: squared
    const float* query_norms;  // q, as above
};

// The parameter of the kernel that makes squared norms.
struct Norms {
    const float* rows;  // count x d, row-major
    unsigned count;
    unsigned d;
    float* norms;  // count
};

// The parameter of the kernel that holds what the expanded form finds against the neighbours.
struct Comparison {
    const float* points;   // n x d, row-major
    const float* queries;  // q x d, row-major
    unsigned d;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    const unsigned* found;           // query_count x k, row-major: what the expanded form finds
    const unsigned* indices;         // q x k, row-major: the neighbours
    const float* squared_distances;  // q x k, row-major
    unsigned* counts;                // query_count x COUNTS
};

// The parameter of every selector: the k smallest of each row of a matrix.
struct Selection {
    const float* distances;
    unsigned long long pitch;
    const float* points;       // of a selector without a matrix: windows, as group_rows leaves them
    const float* queries;      // q x d, row-major
    unsigned q;
    unsigned d;
    unsigned n;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    unsigned* indices;         // q x k, row-major
    float* squared_distances;  // q x k, row-major
    unsigned* counts;          // query_count x COUNTS, of the counted build
    // the rank in a sample's minima that bounds the k-th distance; 0: there is no sample
    unsigned sampled;
    unsigned minima;           // minima of the sample
    unsigned group;            // distances that each is of, a multiple of four
    unsigned parts;            // that a row is divided into
    unsigned part;             // distances of a part, a multiple of 4
    unsigned by_ballot;        // whether a warp takes slots together
    unsigned prefetch;         // whether the batch after the next is brought to the L2 cache
    float* bounds;             // query_count, of several parts
    unsigned* part_counts;     // query_count x parts
    // query_count x parts x K: keys of a part that may be among the k nearest; of bits-global all that it
    // keeps
    unsigned long long* kept;
    unsigned capacity;         // keys of a merge queue, of which k are wanted; a power of two from 32 on
    unsigned level;            // of which the first level has, a power of two up to 32
    unsigned buffer;           // keys of the buffer before it, a power of two from 32 on
    unsigned sorts;            // whether that is filled and sorted before it is emptied
    // k x query_count, of heaps in device memory: those of 32 queries beside one another
    unsigned long long* heaps;
};

// The parameter of selectors that go over a row several times, and of the sort of rows.
struct MultiPass {
    Selection of;
    unsigned* auxiliary;                 // query_count x auxiliary_words
    unsigned long long auxiliary_words;  // of a row, a multiple of 4
    // 1: positions are moved along with distances; 2: they are not, and the row is read again
    unsigned stages;
    unsigned bits;                       // a pass divides into 2^bits
};

}  // namespace warpscope::select

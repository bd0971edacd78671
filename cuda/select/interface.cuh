// Interface between the host and the selectors. build/interface.rs generates Rust from this file.
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
// PLACE is shared or device: where heaps are stored.
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

// The most counters of a selector.
constexpr unsigned COUNTS = 8;

// Keys per thread of bits if K exceeds the minimum number of threads, that minimum, and floats that a thread
// reads at a time.
constexpr unsigned BITS_KEYS = 4;
constexpr unsigned BITS_FEWEST_THREADS = 128;
constexpr unsigned BITS_ITEMS = 8;
// Batches of a block in dynamic shared memory: one is processed while the others are in flight.
constexpr unsigned BITS_STAGES = 3;
// The same for blocks wider than the minimum, which have enough loads in flight.
constexpr unsigned BITS_WIDE_STAGES = 2;
// Threads per block that bounds a divided row.
constexpr unsigned BOUND_THREADS = 1024;
// The most minima of a sample.
constexpr unsigned MAX_MINIMA = 2048;

// Keys in the list of bits-global, slots of its buffer, and threads per block.
constexpr unsigned GLOBAL_KEPT = 4096;
constexpr unsigned GLOBAL_SLOTS = 2048;
constexpr unsigned GLOBAL_THREADS = 256;

// Queries per warp of bits-fused, and groups of 32 points per window.
constexpr unsigned FUSED_QUERIES = 8;
constexpr unsigned FUSED_GROUPS = 8;
// Dimensions that bits-fused stages together up to this K; beyond, half as many.
constexpr unsigned FUSED_TILE = 8;
constexpr unsigned FUSED_NARROW = 32;
// Warps per block of bits-fused up to this K; beyond, half as many.
constexpr unsigned FUSED_WARPS = 4;
constexpr unsigned FUSED_FEW = 64;

// Warps per block of warp select, and of block select up to this K; beyond, half as many, because each has K
// keys. And groups of 32 distances that each reads at a time.
constexpr unsigned SELECT_WARPS = 4;
constexpr unsigned SELECT_FEW = 128;
constexpr unsigned SELECT_GROUPS = 16;

// The most warps per block of merge-queue, and groups of 32 distances that each reads at a time.
constexpr unsigned QUEUE_WARPS = 4;
constexpr unsigned QUEUE_GROUPS = 8;

// Where partial bitonic sorts a chunk. In registers: the most keys per thread, and the teams per block if a
// team is a warp. In shared memory: the threads per block, for K up to 512 and beyond.
enum Storage : unsigned { REGISTERS = 0, SHUFFLES, SHARED };
constexpr unsigned PARTIAL_KEYS = 16;
constexpr unsigned PARTIAL_TEAMS = 4;
constexpr unsigned PARTIAL_FEW_THREADS = 128;
constexpr unsigned PARTIAL_THREADS = 256;

// Keys that a thread of merge path sorts by itself, and threads per block, for K up to 1,024 and beyond.
constexpr unsigned PATH_KEYS = 8;
constexpr unsigned PATH_FEW_THREADS = 128;
constexpr unsigned PATH_THREADS = 256;
// Threads per block of the multi-pass selectors.
constexpr unsigned PASS_THREADS = 512;
// Sample size; also the largest bucket sorted by a single block.
constexpr unsigned FEW = 1024;
// The most buckets that a sample divides into.
constexpr unsigned MAX_BUCKETS = 256;

// Threads per block that sorts a row, one per digit; bits per digit; passes.
constexpr unsigned ROW_THREADS = 256;
constexpr unsigned ROW_BITS = 8;
constexpr unsigned ROW_PASSES = 4;

// Threads per block that computes distances, and the queries and points of its tile.
constexpr unsigned DISTANCE_THREADS = 256;
constexpr unsigned NAIVE_POINTS = 256;
constexpr unsigned TILE_SIDE = 16;
constexpr unsigned REGISTER_SIDE = 128;

// The first word of each event of a trace of warp select (queue_recorder.cuh) and of radix select
// (pass_recorder.cuh); those files describe the words that follow.
enum QueueEvent : unsigned {
    PASSED = 1, INSERTED, CHECKED, DRAINED, SORTED, EXCHANGED, MERGED, DESCENDED, LIMITED, FINISHED
};
enum PassEvent : unsigned { COUNTED = 1, FOUND, NARROWED, TAKEN };

// Parameters of every kernel that computes distances: a tile of the matrix, query by query.
struct Distances {
    const float* points;   // n x d, row-major
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned first_query;
    unsigned query_count;
    float* distances;          // query_count x pitch, row-major: squared; infinite from n on
    unsigned long long pitch;  // floats per row, a multiple of 4
    const float* point_norms;  // pitch, squared, for the expanded form
    const float* query_norms;  // q, as above
};

// Parameters of the kernel that computes squared norms.
struct Norms {
    const float* rows;  // count x d, row-major
    unsigned count;
    unsigned d;
    float* norms;  // count
};

// Parameters of the kernel that compares the result of the expanded form with the neighbours.
struct Comparison {
    const float* points;   // n x d, row-major
    const float* queries;  // q x d, row-major
    unsigned d;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    const unsigned* found;           // query_count x k, row-major: found by the expanded form
    const unsigned* indices;         // q x k, row-major: the neighbours
    const float* squared_distances;  // q x k, row-major
    unsigned* counts;                // query_count x COUNTS
};

// Parameters of every selector: the k smallest of each row of a matrix.
struct Selection {
    const float* distances;
    unsigned long long pitch;
    const float* points;       // for selectors without a matrix: windows made by group_rows
    const float* queries;      // q x d, row-major
    unsigned q;
    unsigned d;
    unsigned n;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    unsigned* indices;         // q x k, row-major
    float* squared_distances;  // q x k, row-major
    unsigned* counts;          // query_count x COUNTS, in counted builds
    // the rank in a sample's minima that bounds the k-th distance; 0: no sample
    unsigned sampled;
    unsigned minima;           // minima of the sample
    unsigned group;            // distances per group, a multiple of four
    unsigned parts;            // parts of a row
    unsigned part;             // distances per part, a multiple of 4
    unsigned by_ballot;        // whether a warp takes slots together
    unsigned prefetch;         // whether to prefetch the batch after the next into the L2 cache
    float* bounds;             // query_count, for divided rows
    unsigned* part_counts;     // query_count x parts
    // query_count x parts x K: keys of a part that may be among the k smallest; for bits-global, the list
    unsigned long long* kept;
    unsigned capacity;         // keys of a merge queue, at least k; a power of two, at least 32
    unsigned level;            // keys of its first level, a power of two up to 32
    unsigned buffer;           // keys of its buffer, a power of two, at least 32
    unsigned sorts;            // whether the buffer is filled and sorted before it is emptied
    // k x query_count, for heaps in device memory: those of 32 queries are interleaved
    unsigned long long* heaps;
};

// Parameters of the multi-pass selectors and of the sort of rows.
struct MultiPass {
    Selection selection;
    unsigned* auxiliary;                 // query_count x auxiliary_words
    unsigned long long auxiliary_words;  // per row, a multiple of 4
    // 1: positions are moved along with distances; 2: they are not, and the row is read again
    unsigned stages;
    unsigned bits;                       // a pass divides into 2^bits buckets
};

}  // namespace warpscope::select

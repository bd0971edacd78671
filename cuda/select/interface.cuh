// What the host and the selectors agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"

// BUILD is timed, wide, counted, parts or combine.
#define WARPSCOPE_BITS_ENTRY(K, BUILD) select_bits_k##K##_##BUILD
#define WARPSCOPE_BITS_BOUND_ENTRY select_bits_bound
#define WARPSCOPE_WARP_SELECT_ENTRY(K, BUILD) select_warps_k##K##_##BUILD
#define WARPSCOPE_BLOCK_SELECT_ENTRY(K, BUILD) select_blocks_k##K##_##BUILD
// BUILD is timed or counted; STEP is tally or sweep.
#define WARPSCOPE_SORT_ROWS_ENTRY(BUILD) select_sort_rows_##BUILD
#define WARPSCOPE_SORT_FOUND_ENTRY select_sort_found
#define WARPSCOPE_SORT_QUERY_ENTRY(STEP) select_sort_query_##STEP
#define WARPSCOPE_RADIX_SELECT_ENTRY(BUILD) select_radix_##BUILD
#define WARPSCOPE_SAMPLE_SELECT_ENTRY(BUILD) select_sample_##BUILD
#define WARPSCOPE_DISTANCES_ENTRY(KIND) select_distances_##KIND

namespace warpscope::select {

// Numbers that a selector may count of a query.
constexpr unsigned COUNTS = 8;

// Threads of a block of bits, for K up to 1,024 and beyond, and floats that each reads at a time.
constexpr unsigned BITS_FEW_THREADS = 128;
constexpr unsigned BITS_THREADS = 256;
constexpr unsigned BITS_ITEMS = 16;
// Threads of a block that bounds a row that is divided.
constexpr unsigned BOUND_THREADS = 1024;
// The most minima of a sample.
constexpr unsigned MOST_MINIMA = 2048;

// Warps of a block of warp select and block select, and groups of 32 distances that each reads at a time.
constexpr unsigned SELECT_WARPS = 4;
constexpr unsigned SELECT_GROUPS = 8;

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
};

// The parameter of every selector: the k smallest of each row of a matrix.
struct Selection {
    const float* distances;
    unsigned long long pitch;
    unsigned n;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    unsigned* indices;         // q x k, row-major
    float* squared_distances;  // q x k, row-major
    unsigned* counts;          // query_count x COUNTS, of the counted build
    unsigned sampled;          // the rank in a sample's minima that bounds the k-th distance; 0: there is no sample
    unsigned minima;           // minima of the sample
    unsigned group;            // distances that each is of, a multiple of four
    unsigned parts;            // that a row is divided into
    unsigned part;             // distances of a part, a multiple of 4
    unsigned by_ballot;        // whether a warp takes slots together
    unsigned prefetch;         // whether the batch after the next is brought to the L2 cache
    float* bounds;             // query_count, of several parts
    unsigned* part_counts;     // query_count x parts
    unsigned long long* kept;  // query_count x parts x K: keys of a part that may be among the k nearest
};

// The parameter of selectors that go over a row several times, and of the sort of rows.
struct MultiPass {
    Selection of;
    unsigned* auxiliary;                 // query_count x auxiliary_words
    unsigned long long auxiliary_words;  // of a row, a multiple of 4
    unsigned stages;                     // 1: positions are moved along with distances; 2: they are not, and the row is read again
    unsigned bits;                       // a pass divides into 2^bits
};

}  // namespace warpscope::select

// What the host and the selectors agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"

// BUILD is timed, wide, counted, parts or combine.
#define WARPSCOPE_BITS_ENTRY(K, BUILD) select_bits_k##K##_##BUILD
#define WARPSCOPE_BITS_BOUND_ENTRY select_bits_bound
#define WARPSCOPE_WARP_SELECT_ENTRY(K, BUILD) select_warps_k##K##_##BUILD
#define WARPSCOPE_BLOCK_SELECT_ENTRY(K, BUILD) select_blocks_k##K##_##BUILD
// KIND is naive, tiles, registers, expanded, norms, complete or wrong.
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

}  // namespace warpscope::select

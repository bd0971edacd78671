// Interface between the host and the kernels of the tensor-core filter. build/interface.rs generates Rust
// from this file.
#pragma once

#include "common_interface.cuh"

// Rounds rows to BF16.
#define WARPSCOPE_ROUND_ENTRY filter_round
// The filter with SLAB dimensions per slab; FORM is resident or streaming (the queries).
#define WARPSCOPE_FILTER_ENTRY(SLAB, FORM) filter_##SLAB##_##FORM
// Computes sums that the host chooses, like the filter does.
#define WARPSCOPE_PROBE_ENTRY filter_probe
// The forms of the filter: a `FilterForms`.
#define WARPSCOPE_FILTER_FORMS filter_forms
// The search among the survivors: BUILD is timed, counted or profiled.
#define WARPSCOPE_SURVIVORS_ENTRY(K, BUILD) select_k##K##_##BUILD

namespace warpscope::filtered {

// Queries and points per tile, which a block of the filter processes.
constexpr unsigned FILTER_TILE = 128;
// Tiles whose bits are stored together for a query: 32 bytes, one sector. A chunk begins at a multiple of
// this.
constexpr unsigned FILTER_TILES_TOGETHER = 2;
// Threads per block of the filter, and of the rounding.
constexpr unsigned FILTER_THREADS = 256;
// Warps per block of the search among the survivors, one query each.
constexpr unsigned SURVIVOR_WARPS = 2;

// A form of the filter.
struct FilterForm {
    unsigned slab;    // Dimensions per slab.
    unsigned fixed;   // Bytes of shared memory,
    unsigned a_slab;  // plus these for every slab of a resident query tile.
};

// What the host must know for a launch, stored in the module: 16 resident, 32 resident, 64 resident, 64
// streaming.
struct FilterForms {
    FilterForm forms[4];
};

// Parameters of the rounding.
struct Rounding {
    const float* rows;    // count x d
    const float* centre;  // d
    double scale;         // s, a power of two
    double epsilon;       // the relative margin of sums in FP32
    // the largest |x~|^2 of a row that is filtered, at most 2^80; rows with a larger one always survive
    double largest_norm;
    // 1 for points, 2 for queries: a power of two by which the stored row is multiplied
    float factor;
    unsigned count;
    unsigned d;
    unsigned padded_d;        // a multiple of the filter's slab
    unsigned short* rounded;  // tiles x FILTER_TILE x padded_d, BF16
    float* bounds;            // tiles x FILTER_TILE: -(1 - epsilon) |x~|^2, or EXCLUDES, or LETS_THROUGH
    float* errors;            // tiles x FILTER_TILE: upper bounds on e; null if not needed
    float* largest_errors;    // tiles: (1 + epsilon) times the largest e of the tile; null if not needed
};

// Parameters of the filter.
struct Filter {
    const unsigned short* points;   // tiles x FILTER_TILE x padded_d, BF16
    const float* point_bounds;      // tiles x FILTER_TILE
    const float* largest_errors;    // tiles
    const unsigned short* queries;  // from the first query of the launch on, like points but doubled
    const float* query_bounds;      // from the first query of the launch on
    const float* radii;             // one per query of the launch: (1 + epsilon) (r + e_q)
    unsigned padded_d;
    unsigned first_tile;  // of the chunk
    unsigned tiles;       // in the chunk
    unsigned tiles_a_block;
    // Bits of the chunk. Query i (of the launch) and group g (of the chunk) have
    // word (g / 8 x query_rows + i) x 8 + g % 8.
    unsigned* survivors;
    unsigned query_rows;  // a multiple of FILTER_TILE
};

// A tile of the probe's sums: rows of a times columns of b, with PROBE_DEPTH terms per step.
constexpr unsigned PROBE_ROWS = 16;
constexpr unsigned PROBE_COLUMNS = 8;
constexpr unsigned PROBE_DEPTH = 16;

// Parameters of the probe.
struct Probe {
    const unsigned short* rows;     // tiles x steps x PROBE_ROWS x PROBE_DEPTH, BF16
    const unsigned short* columns;  // tiles x steps x PROBE_COLUMNS x PROBE_DEPTH, BF16
    const float* starts;            // tiles x PROBE_ROWS x PROBE_COLUMNS: initial values
    float* sums;                    // tiles x PROBE_ROWS x PROBE_COLUMNS: results
    unsigned steps;                 // consecutive instructions per sum
};

// State that a query's warp passes on to the next chunk, one entry per query of this launch.
struct SurvivorState {
    Key* keys;     // q x K
    Key* buffers;  // q x K
    uint2* warps;  // q: (occupied slots of the buffer, bits of max_distance)
};

// Parameters of the search among the survivors.
struct SurvivorSearch {
    const float* points;   // n x d, row-major, in processing order
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;
    unsigned first_query;  // this launch answers queries first_query ... last_query - 1
    unsigned last_query;
    unsigned first_point;  // of this chunk; the first chunk begins at 0, the last ends at n
    unsigned last_point;
    // which points of the chunk survived, in the layout of `Filter`; null: all of them
    const unsigned* survivors;
    unsigned query_rows;
    SurvivorState state;
    // output for the filter of the next chunk: (1 + epsilon) (scale x radius + error), one per query of this
    // launch
    float* radii;
    const float* errors;  // q
    double scale;
    double epsilon;
    unsigned long long* computed;  // distances of survivors computed so far, over all queries
    unsigned* indices;             // q x k
    float* squared_distances;      // q x k
    TallyOut tally;                // entry 0 is first_query
};

}  // namespace warpscope::filtered

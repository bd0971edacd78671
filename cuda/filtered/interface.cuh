// What the host and the kernels of the tensor-core filter agree on. build/interface.rs makes Rust of this
// file.
#pragma once

#include "common_interface.cuh"

// Rounds rows to BF16.
#define WARPSCOPE_ROUND_ENTRY filter_round
// The filter, for slabs of so many dimensions; FORM is resident or streaming, as the queries are.
#define WARPSCOPE_FILTER_ENTRY(SLAB, FORM) filter_##SLAB##_##FORM
// Adds up what the host has chosen, as the filter does.
#define WARPSCOPE_PROBE_ENTRY filter_probe
// How the filter's module was cut to size: a `FilterCut`.
#define WARPSCOPE_FILTER_CUT filter_cut
// The search among the survivors: BUILD is timed, counted or profiled.
#define WARPSCOPE_SURVIVORS_ENTRY(K, BUILD) select_k##K##_##BUILD

namespace warpscope::filtered {

// Queries and points of a tile, which a block of the filter takes.
constexpr unsigned FILTER_TILE = 128;
// Tiles whose bits lie together for a query: 32 bytes, one sector. A chunk begins at a multiple of so many.
constexpr unsigned FILTER_TILES_TOGETHER = 2;
// Threads of a block of the filter, and of one that rounds a tile.
constexpr unsigned FILTER_THREADS = 256;
// Warps, and so queries, of a block that searches among the survivors.
constexpr unsigned SURVIVOR_WARPS = 2;

// One of the filter's forms.
struct FilterForm {
    unsigned slab;    // Dimensions of a slab.
    unsigned fixed;   // Bytes of shared memory,
    unsigned a_slab;  // and for every slab of a resident query tile.
};

// What the host must know for a launch, as it lies in a module: 16 resident, 32 resident, 64 resident, 64
// streaming.
struct FilterCut {
    FilterForm forms[4];
};

// The parameter of the rounding.
struct Rounding {
    const float* rows;    // count x d
    const float* centre;  // d
    double scale;         // s, a power of two
    double epsilon;       // the relative margin of sums in FP32
    // the largest |x~|^2 of a row that is filtered, at most 2^80: longer ones are let through
    double largest_norm;
    // 1 for points, 2 for queries: a power of two that the stored row is multiplied with
    float factor;
    unsigned count;
    unsigned d;
    unsigned padded_d;        // a multiple of the filter's slab
    unsigned short* rounded;  // tiles x FILTER_TILE x padded_d, BF16
    float* bounds;            // tiles x FILTER_TILE: -(1 - epsilon) |x~|^2, or EXCLUDES, or LETS_THROUGH
    float* errors;            // tiles x FILTER_TILE: e, at least; null if not asked for
    float* largest_errors;    // tiles: (1 + epsilon) times the largest e of the tile; null if not asked for
};

// The parameter of the filter.
struct Filter {
    const unsigned short* points;   // tiles x FILTER_TILE x padded_d, BF16
    const float* point_bounds;      // tiles x FILTER_TILE
    const float* largest_errors;    // tiles
    const unsigned short* queries;  // from the first query of the launch on, like points but twice as large
    const float* query_bounds;      // likewise
    const float* radii;             // likewise: (1 + epsilon) (r + e_q)
    unsigned padded_d;
    unsigned first_tile;  // of the chunk
    unsigned tiles;       // in the chunk
    unsigned tiles_a_block;
    // Bits of the chunk. Of query i (of the launch) and group g (of the chunk):
    // word (g / 8 x query_rows + i) x 8 + g % 8.
    unsigned* survivors;
    unsigned query_rows;  // a multiple of FILTER_TILE
};

// The sums of a tile of the probe: rows of a times columns of b, so many terms a step.
constexpr unsigned PROBE_ROWS = 16;
constexpr unsigned PROBE_COLUMNS = 8;
constexpr unsigned PROBE_DEPTH = 16;

// The parameter of the probe.
struct Probe {
    const unsigned short* rows;     // tiles x steps x PROBE_ROWS x PROBE_DEPTH, BF16
    const unsigned short* columns;  // tiles x steps x PROBE_COLUMNS x PROBE_DEPTH, BF16
    const float* starts;            // tiles x PROBE_ROWS x PROBE_COLUMNS: what the sums begin with
    float* sums;                    // likewise: what they come to
    unsigned steps;                 // instructions, one after the other, a sum
};

// What a query's warp leaves behind for the next chunk, an entry a query of this launch.
struct SurvivorState {
    Key* keys;     // q x K
    Key* buffers;  // q x K
    uint2* warps;  // q: (slots taken in the buffer, bits of max_distance)
};

// The parameter of the search among the survivors.
struct SurvivorSearch {
    const float* points;   // n x d, row-major, in processing order
    const float* queries;  // q x d, row-major
    unsigned n;
    unsigned d;
    unsigned k;
    unsigned first_query;  // this launch answers queries first_query ... last_query - 1
    unsigned last_query;
    unsigned first_point;  // of this chunk; the first chunk begins at 0, and the last ends with n
    unsigned last_point;
    // which points of the chunk survived, as `Filter` has them, or null: all of them
    const unsigned* survivors;
    unsigned query_rows;
    SurvivorState state;
    // for the filter of the next chunk: (1 + epsilon) (scale x radius + error), an entry a query of this
    // launch
    float* radii;
    const float* errors;  // q
    double scale;
    double epsilon;
    unsigned long long* computed;  // distances of survivors computed so far, all queries together
    unsigned* indices;             // q x k
    float* squared_distances;      // q x k
    TallyOut tally;                // entries are of this launch only: 0 is first_query
};

}  // namespace warpscope::filtered

// Interface between the host and the kernels that compute distances in f64. build/interface.rs generates Rust
// from this file.
#pragma once

#define WARPSCOPE_EXACT_ENTRY(WHAT) exact_##WHAT

namespace warpscope::exact {

// Lanes per pair of rows, with a partial sum each: `LANES` of crates/knn/src/exact_distances.rs.
constexpr unsigned LANES = 16;

// The row of a missing candidate.
constexpr unsigned NONE = 4294967295;

// Threads per block.
constexpr unsigned THREADS = 256;

// Rows, and the factors that make them unit vectors.
struct RowScales {
    const float* rows;  // count x d, row-major
    double* scales;     // count
    unsigned count;
    unsigned d;
};

// Pairs of a query and each of its candidates.
struct Pairs {
    const float* points;           // row-major, d values each
    const float* queries;          // row-major, d values each
    const double* point_scales;    // one per row, for unit vectors
    const double* query_scales;    // one per row, for unit vectors
    const unsigned* query_rows;    // the row of each query
    const unsigned* candidates;    // k rows of points per query
    double* squared_distances;     // k per query
    unsigned count;                // of pairs
    unsigned k;
    unsigned d;
};

}  // namespace warpscope::exact

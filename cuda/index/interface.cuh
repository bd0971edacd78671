// What the host and the kernels of the index agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

// Steps of building the tree. STEP is codes, count, scan, scatter, leaves or boxes.
#define WARPSCOPE_INDEX_ENTRY(STEP) index_##STEP
// The search: BUILD is timed or counted.
#define WARPSCOPE_TRAVERSE_ENTRY(K, D, BUILD) traverse_k##K##_d##D##_##BUILD

namespace warpscope::index {

// Heights of the largest tree: 2^32 points in 2^27 leaves.
constexpr unsigned HEIGHTS = 6;
// Warps in a block of the search, each with a query of its own.
constexpr unsigned TRAVERSE_WARPS = 4;
// The most dimensions.
constexpr unsigned MOST_DIMS = 32;
// Threads in a block of codes, leaves and boxes.
constexpr unsigned BUILD_THREADS = 256;
// Threads in a block of count, scan and scatter: one a digit.
constexpr unsigned SORT_THREADS = 256;
// Keys that a thread of count and scatter takes.
constexpr unsigned SORT_ITEMS = 8;
// Bits that a pass sorts by.
constexpr unsigned SORT_BITS = 8;

// What a query's search visited: `engines::index::Visits`.
struct Visits {
    unsigned merges;
    unsigned candidates;
    unsigned accessed;
    unsigned leaves;
    unsigned nodes;
    unsigned left_out;
};

// Where the cells of the Morton curve lie.
struct Frame {
    const float* low;  // d: the least coordinate of each axis
    float scale;       // cells per unit of length
    unsigned bits;     // of a coordinate's cell
};

// The tree in device memory. Groups of boxes lie one after the other, height by height.
struct Tree {
    float* coordinates;         // leaves x d x WARP
    unsigned* positions;        // leaves x WARP
    float* corners;             // groups x 2 d x WARP: the least coordinates axis by axis, then the greatest
    unsigned* smallest;         // groups x WARP: the smallest position in each box
    unsigned long long* first_codes;  // groups x WARP: the code of the first point below each box
    unsigned first_group[6];    // of each height
    unsigned boxes[6];          // of each height, without the padding
    unsigned top;               // the greatest height
    unsigned n;
    unsigned d;
};

// The parameter of codes.
struct Codes {
    const float* rows;  // count x d, row-major
    unsigned long long* codes;
    unsigned* order;
    Frame frame;
    unsigned count;
    unsigned d;
};

// The parameter of count, scan and scatter: a pass of the radix sort.
struct Pass {
    const unsigned long long* codes;
    const unsigned* order;
    unsigned long long* sorted_codes;
    unsigned* sorted_order;
    unsigned* counts;  // digits x blocks: keys of a digit in a block; after scan, in the blocks before it
    unsigned* totals;  // digits
    unsigned count;
    unsigned shift;   // of the pass's digit
    unsigned blocks;  // of count and scatter
};

// The parameter of leaves and boxes.
struct Growth {
    const float* rows;      // n x d, row-major, in processing order
    const unsigned* order;  // positions in Morton order
    const unsigned long long* codes;  // theirs
    Tree tree;
    unsigned height;  // of the boxes that are made; 0 for leaves
};

// The search's parameter.
struct Traversal {
    Tree tree;
    const float* queries;   // q x d, row-major
    const unsigned* order;  // which query of this launch a warp has
    const unsigned long long* codes;  // of that query; 0 where the queries are the points, in the order of the leaves
    unsigned k;
    unsigned first_query;  // this launch answers first_query ... first_query + query_count - 1
    unsigned query_count;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    Visits* visits;            // an entry a query of this launch
};

}  // namespace warpscope::index

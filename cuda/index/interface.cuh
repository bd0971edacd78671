// Interface between the host and the kernels of the index. build/interface.rs generates Rust from this file.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

// A step of building the tree. STEP is codes, sweep, leaves or boxes.
#define WARPSCOPE_INDEX_ENTRY(STEP) index_##STEP
// The search: BUILD is timed, counted or traced.
#define WARPSCOPE_TRAVERSE_ENTRY(K, D, BUILD) traverse_k##K##_d##D##_##BUILD

// The search by packets: L is the length of a lane's list.
#define WARPSCOPE_PACKET_ENTRY(L, D) packet_k##L##_d##D

namespace warpscope::index {

// Heights of the largest tree: 2^32 points in 2^27 leaves.
constexpr unsigned HEIGHTS = 6;
// Warps per block of the search, one query each.
constexpr unsigned TRAVERSE_WARPS = 4;
// The most dimensions.
constexpr unsigned MAX_DIMS = 32;
// Threads per block of leaves and boxes.
constexpr unsigned BUILD_THREADS = 256;
// Threads per block of codes and sweep, one per digit.
constexpr unsigned SORT_THREADS = 256;
// Keys per thread of codes and sweep.
constexpr unsigned SORT_ITEMS = 16;
// Bits per pass, and passes per key.
constexpr unsigned SORT_BITS = 8;
constexpr unsigned SORT_PASSES = 4;

// What a query's search visited: `engines::index::Visits`.
struct Visits {
    unsigned merges;
    unsigned candidates;
    unsigned distance_evals;
    unsigned leaves;
    unsigned nodes;
    unsigned pruned;
};

// The first word of each event of a search's trace; recorder.cuh describes the words that follow.
enum TreeEvent : unsigned {
    OWN_LEAF = 1, NODE, CHILD, PRUNED, LEAF, APPENDED, MERGED, FILTERED_AGAIN, FINISHED
};

// The grid of the Morton curve.
struct Frame {
    const float* low;  // d: the least coordinate of each axis
    float scale;       // cells per unit of length
    unsigned bits;     // of a coordinate's cell
};

// The tree in device memory. Groups of boxes are stored one after the other, height by height.
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

// Parameters of codes.
struct Codes {
    const float* rows;      // row-major
    const unsigned* order;  // of the rows; null: input order
    unsigned* keys;         // count: 32 bits of each row's code
    unsigned* counts;       // passes x digits
    Frame frame;
    unsigned count;
    unsigned d;
    unsigned shift;   // bits of the code below the key
    unsigned mask;    // mask of the key
    unsigned passes;  // number of passes over the key
};

// Parameters of sweep: a pass of the radix sort.
struct Pass {
    const unsigned* keys;
    const unsigned* order;  // null: 0, 1, 2 ...
    unsigned* sorted_keys;
    unsigned* sorted_order;
    const unsigned* counts;  // of each digit, over all keys
    unsigned* tiles;         // tiles x digits: published by each tile
    unsigned* turn;          // counter that numbers the tiles
    unsigned count;
    unsigned shift;  // of this pass's digit
};

// Parameters of leaves and boxes.
struct Growth {
    const float* rows;      // n x d, row-major, in processing order
    const unsigned* order;  // positions in Morton order
    unsigned* crowded;      // leaves whose first code has the same sorted bits as the next leaf's
    Tree tree;
    Frame frame;
    unsigned below;   // low bits of the codes that the sort ignores
    unsigned height;  // of the boxes to build; 0 for leaves
};

// Parameters of the search.
struct Traversal {
    Tree tree;
    const float* queries;   // q x d, row-major
    // queries of this launch in the order of warps, or of lanes; null: input order
    const unsigned* order;
    Frame frame;            // of the codes
    unsigned in_leaves;     // 1: the queries are the points, in the order of the leaves
    unsigned k;
    unsigned first_query;  // this launch answers first_query ... first_query + query_count - 1
    unsigned query_count;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    Visits* visits;            // one per query of this launch
};

}  // namespace warpscope::index

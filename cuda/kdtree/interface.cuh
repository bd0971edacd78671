// Interface between the host and the kernels of kdtree-threads. build/interface.rs generates Rust from this
// file.
#pragma once

#include "key.cuh"

// D is 2, 3, or 0 for any; BUILD is timed or counted.
#define WARPSCOPE_KDTREE_ENTRY(D, BUILD) kdtree_search_d##D##_##BUILD

namespace warpscope::kdtree {

// Threads per block, one per query.
constexpr unsigned SEARCH_THREADS = 128;

// What a query's search visited: `engines::kdtree_threads::Visits`.
struct Visits {
    unsigned distance_evals;
    unsigned candidates;
    unsigned steps;
};

// Parameters of the search: a left-balanced tree in level order, and a range of the queries.
struct Search {
    const float* coordinates;   // each node's point; n x d, row-major
    const unsigned* positions;  // n
    const float* queries;       // q x d, row-major
    unsigned long long* heaps;  // k x query_count: one column per query
    unsigned n;
    unsigned d;
    unsigned k;
    unsigned first_query;
    unsigned query_count;
    unsigned* indices;         // q x k, row-major
    float* squared_distances;  // q x k, row-major
    Visits* visits;            // query_count
};

}  // namespace warpscope::kdtree

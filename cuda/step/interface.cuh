// Interface between the host and the kernels of STEP. build/interface.rs generates Rust from this file.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

// Steps before clusters are visited. STEP is weigh, choose, assign or move (clustering), or order, distances
// or minima.
#define WARPSCOPE_STEP_ENTRY(STEP) step_##STEP
// The visit of clusters: SOURCE is indexed or stored, BUILD is timed or counted.
#define WARPSCOPE_STEP_VISIT_ENTRY(SOURCE, K, BUILD) step_visit_##SOURCE##_k##K##_##BUILD
// The visit by several warps per query, and its final step: STEP is share_indexed, share_stored or gather.
#define WARPSCOPE_STEP_SHARE_ENTRY(STEP, K) step_##STEP##_k##K

namespace warpscope::step {

// Slots of the candidate queue: n_c of the paper.
constexpr unsigned CANDIDATES = 64;
// The most warps per block of order, minima and the visit, one query each.
constexpr unsigned VISIT_WARPS = 4;
// Threads per block of weigh and choose; in weigh, one per point, with one partial sum of weights per block.
constexpr unsigned SEED_THREADS = 1024;
// Threads per block of assign and move.
constexpr unsigned ASSIGN_THREADS = 256;
// Threads per block of distances, with one group of points per warp.
constexpr unsigned DISTANCE_THREADS = 128;
// Queries per block of distances.
constexpr unsigned DISTANCE_QUERIES = 16;

// What a query's search visited: `engines::step::Visits`.
struct Visits {
    unsigned merges;
    unsigned candidates;
    unsigned distance_evals;
    unsigned clusters;
    unsigned pruned;
    unsigned groups;
};

// Converts coordinates and squared distances to integers.
struct Scale {
    const float* low;  // d: the least coordinate of each axis
    double cells;      // per unit of length
    double weights;    // per unit of squared distance
};

// Parameters of weigh and choose: a turn of k-means++.
struct Seeding {
    const float* rows;  // n x d, row-major
    Scale scale;
    float* nearest;            // n: squared distance to the nearest seed
    unsigned long long* sums;  // blocks of weigh: sums of the weights
    unsigned* seeds;           // one per turn: a position, or 0xffffffff if all points coincide with seeds
    unsigned turn;             // from 1 on
    unsigned n;
    unsigned d;
    unsigned blocks;  // of weigh
};

// Parameters of assign and move: an iteration of Lloyd's algorithm.
struct Lloyd {
    const float* rows;  // n x d, row-major
    Scale scale;
    float* centres;            // clusters x d, row-major
    unsigned* assigned;        // n
    unsigned long long* sums;  // clusters x (d + 1): sums of points' cells, and their number; 0 before assign
    unsigned* changed;         // points that changed their cluster; 0 before assign
    unsigned n;
    unsigned d;
    unsigned clusters;
};

// Margins for rounding.
struct Margins {
    double centre;
    double rule;
    double underflow;
};

// Bounding spheres, or cones, in groups of WARP clusters.
struct Spheres {
    const double* centres;  // groups x d x WARP
    const double* reaches;  // groups x WARP: the radius, or the cosine of the angular radius
    const double* norms;    // groups x WARP: of the centres
    Margins margins;
    unsigned angular;  // whether they are cones
    unsigned count;
};

// Queries; a launch answers a range of them.
struct Queries {
    const float* rows;  // q x d, row-major
    unsigned first;
    unsigned count;
    unsigned d;
};

// The clusters in the order in which a query visits them: the key of each bound.
struct Order {
    Key* entries;     // a row of `padded` per query of the launch; null if the visit sorts them itself
    unsigned count;   // clusters
    unsigned padded;  // a power of two, at least WARP
};

// Parameters of order.
struct Ordering {
    Spheres spheres;
    Queries queries;
    Order order;
};

// Points in clusters of equal size, whose distances are stored.
struct Stored {
    float* distances;  // a row of groups x WARP per query of the launch
    unsigned n;
    unsigned groups;
    unsigned groups_in_cluster;
};

// Parameters of distances.
struct Distances {
    const float* coordinates;  // groups x d x WARP
    Queries queries;
    Stored stored;
};

// Parameters of minima.
struct Minima {
    Stored stored;
    Queries queries;
    Order order;
};

// Destination of the answers.
struct Output {
    unsigned k;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    Visits* visits;            // one per query of the launch
};

// Parameters of the visit of clusters.
struct IndexedVisit {
    Spheres spheres;
    const unsigned* first_groups;  // clusters + 1: where each cluster's groups begin
    const float* coordinates;      // groups x d x WARP
    const unsigned* positions;     // groups x WARP
    Queries queries;
    Order order;
    Output output;
};

// Parameters of the visit of stored distances.
struct StoredVisit {
    Stored stored;
    Queries queries;
    Order order;
    Output output;
};

// Data that the warps of a query share, and their results for gather.
struct Shares {
    Key* results;                // count x K per query of the launch: each warp's result, sorted
    // one per query of the launch: the complement of an upper bound on its k-th neighbour's key; 0 before
    unsigned long long* bounds;
    unsigned count;              // warps per query
};

// Parameters of share_indexed, share_stored and gather.
struct IndexedShare {
    IndexedVisit visit;
    Shares shares;
};
struct StoredShare {
    StoredVisit visit;
    Shares shares;
};
struct Gathering {
    Queries queries;
    Output output;
    Shares shares;
};

}  // namespace warpscope::step

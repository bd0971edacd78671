// What the host and the kernels of STEP agree on. build/interface.rs makes Rust of this file.
#pragma once

#include "key.cuh"
#include "warp/lanes.cuh"

// Steps of clustering, and what comes before clusters are visited. STEP is weigh, choose, assign or move;
// order, distances or minima.
#define WARPSCOPE_STEP_ENTRY(STEP) step_##STEP
// The visit of clusters: SOURCE is indexed or stored, BUILD is timed or counted.
#define WARPSCOPE_STEP_VISIT_ENTRY(SOURCE, K, BUILD) step_visit_##SOURCE##_k##K##_##BUILD
// The visit by several warps a query, and what follows it: STEP is share_indexed, share_stored or gather.
#define WARPSCOPE_STEP_SHARE_ENTRY(STEP, K) step_##STEP##_k##K

namespace warpscope::step {

// Places in the candidate queue: n_c of the paper.
constexpr unsigned CANDIDATES = 64;
// The most warps in a block of order, minima and the visit, each with a query of its own.
constexpr unsigned VISIT_WARPS = 4;
// Threads in a block of weigh and choose: of weigh one a point, and a partial sum of weights a block.
constexpr unsigned SEED_THREADS = 1024;
// Threads in a block of assign and move.
constexpr unsigned ASSIGN_THREADS = 256;
// Threads in a block of distances: a warp a group of points.
constexpr unsigned DISTANCE_THREADS = 128;
// Queries that a block of distances has.
constexpr unsigned DISTANCE_QUERIES = 16;

// What a query's search visited: `engines::step::Visits`.
struct Visits {
    unsigned merges;
    unsigned candidates;
    unsigned accessed;
    unsigned clusters;
    unsigned left_out;
    unsigned groups;
};

// How coordinates and squared distances become integers.
struct Scale {
    const float* low;  // d: the least coordinate of each axis
    double cells;      // per unit of length
    double weights;    // per unit of squared distance
};

// The parameter of weigh and choose: a turn of k-means++.
struct Seeding {
    const float* rows;  // n x d, row-major
    Scale scale;
    float* nearest;            // n: squared distance to the nearest seed
    unsigned long long* sums;  // blocks of weigh: of the weights
    unsigned* seeds;           // one a turn: a position, or 0xffffffff where all points are at seeds' places
    unsigned turn;             // from 1 on
    unsigned n;
    unsigned d;
    unsigned blocks;  // of weigh
};

// The parameter of assign and move: an iteration of Lloyd's.
struct Lloyd {
    const float* rows;  // n x d, row-major
    Scale scale;
    float* centres;            // clusters x d, row-major
    unsigned* assigned;        // n
    unsigned long long* sums;  // clusters x (d + 1): of the points' cells, and their number; 0 before assign
    unsigned* changed;         // points that changed their cluster; 0 before assign
    unsigned n;
    unsigned d;
    unsigned clusters;
};

// What rounding may cost.
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

// Queries, of which a launch has some.
struct Queries {
    const float* rows;  // q x d, row-major
    unsigned first;
    unsigned count;
    unsigned d;
};

// The clusters in the order in which a query visits them: a key of a bound for each.
struct Order {
    Key* entries;     // a row of `padded` a query of the launch; 0 where the visit sorts them itself
    unsigned count;   // clusters
    unsigned padded;  // a power of two, at least WARP
};

// The parameter of order.
struct Ordering {
    Spheres spheres;
    Queries queries;
    Order order;
};

// Points in equal clusters, whose distances are stored.
struct Stored {
    float* distances;  // a row of groups x WARP a query of the launch
    unsigned n;
    unsigned groups;
    unsigned groups_in_cluster;
};

// The parameter of distances.
struct Distances {
    const float* coordinates;  // groups x d x WARP
    Queries queries;
    Stored stored;
};

// The parameter of minima.
struct Minima {
    Stored stored;
    Queries queries;
    Order order;
};

// Where answers go.
struct Found {
    unsigned k;
    unsigned* indices;         // q x k
    float* squared_distances;  // q x k
    Visits* visits;            // an entry a query of the launch
};

// The parameter of the visit of clusters.
struct IndexedVisit {
    Spheres spheres;
    const unsigned* first_groups;  // clusters + 1: where each cluster's groups begin
    const float* coordinates;      // groups x d x WARP
    const unsigned* positions;     // groups x WARP
    Queries queries;
    Order order;
    Found found;
};

// The parameter of the visit of stored distances.
struct StoredVisit {
    Stored stored;
    Queries queries;
    Order order;
    Found found;
};

// What the warps of a query tell one another, and leave for the one that gathers it.
struct Shares {
    Key* results;                // count x K a query of the launch: each warp's, sorted
    // one a query of the launch: the complement of a key that its k-th neighbour's is not above; 0 before
    unsigned long long* bounds;
    unsigned count;              // warps a query
};

// The parameters of share_indexed, share_stored and gather.
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
    Found found;
    Shares shares;
};

}  // namespace warpscope::step

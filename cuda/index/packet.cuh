// A packet: 32 neighbouring queries per warp, one per lane. Data that one of them needs is loaded once for
// all, and each keeps its own list in registers. Twin of crates/engines/src/index/packet.rs.
//
// 1. find_shortest: from the nearest leaf on, each lane keeps only the k smallest *distances*, as f32: a
//    comparator is two instructions, while pairs take eight.
// 2. Collected: searches the visited leaves again for the points that are not farther than the k-th distance,
//    now with positions.
// 3. The pairs are sorted, once; a point's rank in a long list is found among the distances of step 1
//    instead. A lane that collects too many points, because many are at the k-th distance, is answered by the
//    whole warp (traverse.cuh), and so are the queries of a part that needs too many leaves.
//
// If the curve jumps between two queries of a packet, the packet is searched in parts, one after the other:
// the box around both sides of the jump would overlap many leaves that neither side needs. Few packets jump
// far, but the others would wait for them at the end.
//
// Scope: one warp per packet and per block; warps do not wait for one another.
//
//   answer_packet<L, D>(search)     L = 8, 16, 32, 64 or 128, at least k; D = 2 or 3
#pragma once

#include "distance.cuh"
#include "index/boxes.cuh"
#include "index/interface.cuh"
#include "index/traverse.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "warp/bitonic.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// Points whose distances a lane computes together.
constexpr unsigned STRIDE = 8;

// Distances that are merged at once.
template <int L>
constexpr unsigned BATCH = L < 32 ? 16 : 32;

// Distances that a lane collects before they must be merged. Fewer bound the search sooner, but take more
// merges.
template <int L>
constexpr unsigned EAGER = L < 32 ? 8 : L < 128 ? 24 : 32;

// Leaves before and after the packet's own that are visited first. They are usually needed, and bound the
// rest of the search.
template <int L>
constexpr unsigned AROUND = L < 64 ? 1 : L < 128 ? 4 : 6;

// The most leaves with candidates per part. The queries of a part that needs more are not close together.
template <int L>
constexpr unsigned MAX_VISITED = L < 128 ? 256 : 512;

// Whether packets are searched in parts. With lists of 64 the loop takes the registers of two warps in
// sixteen, which costs more than it saves.
template <int L>
constexpr bool IN_PARTS = L != 64;

// Whether to collect only from leaves that had candidates. In the plane most have, and checking takes longer.
template <int D>
constexpr bool SELECTIVE = D == 3;

// A gap between neighbouring queries is a jump if its square is this many powers of two above the mean.
template <int D>
constexpr unsigned JUMP = D == 2 ? 11 : 8;

// If at most this many lanes need a leaf, all lanes search it for one query at a time.
template <int L>
constexpr int FEW = L < 32 ? 12 : L < 128 ? 8 : 5;

// The largest finite float: distances are at most this, except those to padding.
constexpr float MAX_FINITE = 3.402823466e38f;

// This lane's query and the bounding box of all queries, which is the same in every lane.
template <int D>
struct Packet {
    float query[D], low[D], high[D];

    __device__ __forceinline__ void load(const float* row) {
#pragma unroll
        for (int j = 0; j < D; ++j) {
            query[j] = row[j];
            low[j] = warp::reduce_min(query[j]);
            high[j] = -warp::reduce_min(-query[j]);
        }
    }

    // The lanes after which a part ends, among those with a query: where the next query is much farther away
    // than usual, and at the end.
    __device__ __forceinline__ unsigned part_ends(unsigned queries, unsigned lane) const {
        // Squares are not negative, so nothing is above the exponent: the bits rise with the logarithm, whose
        // mean is robust against a few large gaps.
        constexpr unsigned SHIFT = 16, OCTAVE = 1 << (23 - SHIFT);
        float gap = 0.0f;
#pragma unroll
        for (int j = 0; j < D; ++j) {
            gap = add_squared_difference(__shfl_down_sync(ALL_LANES, query[j], 1), query[j], gap);
        }
        unsigned bits = lane + 1 < queries ? __float_as_uint(gap) >> SHIFT : 0;
        unsigned apart = __popc(__ballot_sync(ALL_LANES, bits > 0));
        unsigned mean = warp::reduce_add(bits) / max(apart, 1u);
        unsigned jumps = __ballot_sync(ALL_LANES, bits > mean + JUMP<D> * OCTAVE);
        return jumps | 1u << (queries - 1);
    }
};

// A lower bound on the distances from any of the queries to the points of this lane's box of a group: as for
// one query (boxes.cuh), but from the nearest corner of the queries' bounding box.
template <int D>
__device__ __forceinline__ float bounds(const Tree& tree, unsigned height, unsigned group,
                                        const Packet<D>& packet, unsigned lane) {
    const float* low =
        tree.corners + static_cast<size_t>(tree.first_group[height] + group) * 2 * D * WARP + lane;
    const float* high = low + D * WARP;
    float acc = 0.0f;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        float gap = fmaxf(
            fmaxf(__fsub_rn(low[j * WARP], packet.high[j]), __fsub_rn(packet.low[j], high[j * WARP])), 0.0f);
        acc = __fmaf_rn(gap, gap, acc);
    }
    return acc;
}

// A lower bound on the distances from this lane's query to the points of a box.
template <int D>
__device__ __forceinline__ float bound(const Tree& tree, unsigned height, unsigned box,
                                       const Packet<D>& packet) {
    return box_distance<D>(tree, tree.first_group[height] + box / WARP, packet.query, box % WARP);
}

// A leaf, one point per lane. It is loaded before the search knows whether it is needed, or while the
// previous one is processed.
template <int D>
struct Leaf {
    float point[D];
    unsigned position;

    __device__ __forceinline__ void load(const Tree& tree, unsigned leaf, unsigned lane) {
        const float* from = tree.coordinates + static_cast<size_t>(leaf) * D * WARP + lane;
#pragma unroll
        for (int j = 0; j < D; ++j) {
            point[j] = from[j * WARP];
        }
        position = tree.positions[static_cast<size_t>(leaf) * WARP + lane];
    }

    // Makes the leaf readable by all lanes, axis by axis.
    __device__ __forceinline__ void share(float* points, unsigned* positions, unsigned lane) const {
        // The previous leaf may still be read.
        __syncwarp();
#pragma unroll
        for (int j = 0; j < D; ++j) {
            points[j * WARP + lane] = point[j];
        }
        positions[lane] = position;
        __syncwarp();
    }
};

// Squared distances from this lane's query to STRIDE points of a shared leaf; all lanes read the same points.
template <int D>
__device__ __forceinline__ void distances(const float* points, const Packet<D>& packet,
                                          float (&squared)[STRIDE]) {
#pragma unroll
    for (unsigned i = 0; i < STRIDE; ++i) {
        squared[i] = 0.0f;
    }
#pragma unroll
    for (int j = 0; j < D; ++j) {
#pragma unroll
        for (unsigned i = 0; i < STRIDE; i += 4) {
            float4 four = *reinterpret_cast<const float4*>(points + j * WARP + i);
            squared[i] = add_squared_difference(four.x, packet.query[j], squared[i]);
            squared[i + 1] = add_squared_difference(four.y, packet.query[j], squared[i + 1]);
            squared[i + 2] = add_squared_difference(four.z, packet.query[j], squared[i + 2]);
            squared[i + 3] = add_squared_difference(four.w, packet.query[j], squared[i + 3]);
        }
    }
}

// Squared distance from this lane's point of a leaf to another lane's query.
template <int D>
__device__ __forceinline__ float distance_to(const Leaf<D>& leaf, const Packet<D>& packet, unsigned owner) {
    float acc = 0.0f;
#pragma unroll
    for (int j = 0; j < D; ++j) {
        acc = add_squared_difference(leaf.point[j], __shfl_sync(ALL_LANES, packet.query[j], owner), acc);
    }
    return acc;
}

// The greatest of the lanes' limits. They are not NaN, and the bits of negative floats are negative as signed
// integers.
__device__ __forceinline__ float greatest(float limit) {
    return __int_as_float(warp::reduce_max(__float_as_int(limit)));
}

// The k smallest distances of this lane's query.
template <int L, int D>
struct Shortest {
    const Tree& tree;
    const Packet<D>& packet;
    // (EAGER + WARP) x WARP, this lane's column: room for a whole leaf after those that need not be merged
    // yet
    float* slots;
    float best[L];  // the k smallest come last, ascending; earlier entries are below all distances
    unsigned taken = 0;  // slots used, times WARP

    __device__ __forceinline__ Shortest(const Tree& tree, const Packet<D>& packet, float* slots, unsigned k)
        : tree(tree), packet(packet), slots(slots) {
#pragma unroll
        for (int i = 0; i < L; ++i) {
            best[i] = i + k < L ? -1.0f : infinite_distance();
        }
    }

    // Boxes beyond this are pruned, padding included.
    __device__ __forceinline__ float limit() const { return fminf(best[L - 1], MAX_FINITE); }

    // Filters a leaf for all lanes: each lane tests every point.
    __device__ __forceinline__ void filter_leaf(const float* points) {
#pragma unroll 1
        for (unsigned first = 0; first < WARP; first += STRIDE) {
            float squared[STRIDE];
            distances(points + first, packet, squared);
#pragma unroll
            for (unsigned i = 0; i < STRIDE; ++i) {
                // A point at the k-th distance may still win the tie by its position, so its leaf must be
                // recorded.
                if (SELECTIVE<D> ? squared[i] <= best[L - 1] : squared[i] < best[L - 1]) {
                    slots[taken] = squared[i];
                    taken += WARP;
                }
            }
        }
    }

    // Filters a leaf for the queries of a few lanes: all lanes process one query after the other, a point per
    // lane.
    __device__ __forceinline__ void filter_leaf_for(const Leaf<D>& leaf, unsigned active_lanes,
                                                    unsigned lane) {
        for (; active_lanes != 0; active_lanes &= active_lanes - 1) {
            unsigned owner = __ffs(active_lanes) - 1;
            float squared = distance_to(leaf, packet, owner);
            float kth = __shfl_sync(ALL_LANES, best[L - 1], owner);
            unsigned candidates = __ballot_sync(ALL_LANES, SELECTIVE<D> ? squared <= kth : squared < kth);
            if (candidates == 0) {
                continue;
            }
            unsigned slot =
                __shfl_sync(ALL_LANES, taken, owner) + __popc(candidates & warp::lanes_below(lane)) * WARP;
            if (candidates >> lane & 1) {
                // From this lane's column to the other's.
                slots[static_cast<int>(slot + owner) - static_cast<int>(lane)] = squared;
            }
            taken += lane == owner ? __popc(candidates) * WARP : 0;
        }
    }

    // Merges as many of the slots as fit.
    __device__ __forceinline__ void merge() {
        // Other lanes may have written to this column.
        __syncwarp();
        unsigned count = min(taken, BATCH<L> * WARP);
        taken -= count;
        float batch[BATCH<L>];
#pragma unroll
        for (unsigned i = 0; i < BATCH<L>; ++i) {
            batch[i] = i * WARP < count ? slots[taken + i * WARP] : infinite_distance();
        }
        // Other lanes may write to this column again.
        __syncwarp();
        sort(batch);
#pragma unroll
        for (unsigned i = 0; i < (BATCH<L> < L ? BATCH<L> : L); ++i) {
            best[L - 1 - i] = fminf(best[L - 1 - i], batch[i]);
        }
        bitonic_merge<L / 2>(best);
    }
};

// How a point is collected: as its pair, or, in long lists, as its index in the visited leaves, which takes a
// quarter of the memory.
template <int L>
struct EntryOf {
    using Type = Key;
};
template <>
struct EntryOf<64> {
    using Type = unsigned short;
};
template <>
struct EntryOf<128> {
    using Type = unsigned short;
};

// Stride between a lane's entries. All lanes read long lists from one column: an odd stride spreads it over
// the banks.
template <int L>
constexpr unsigned ENTRY_STRIDE = L <= 32 ? WARP : WARP + 1;

// Queries whose distances are laid out at a time, to be searched by all lanes, and the stride between a
// query's distances.
constexpr unsigned LAID_OUT = 8, ACROSS = LAID_OUT + 1;

// Shared memory of a packet. Data of successive steps shares the same space.
template <int L, int D>
struct PacketMemory {
    using Entry = typename EntryOf<L>::Type;
    static_assert(sizeof(Entry) == sizeof(Key) || MAX_VISITED<L> * WARP <= 1u << 16,
                  "a place in the visited leaves fits into two bytes");

    union {
        struct {
            float slots[(EAGER<L> + WARP) * WARP];
            float above[HEIGHTS * WARP];
        } search;
        Entry entries[(L + STRIDE) * ENTRY_STRIDE<L>];
        struct {
            Key buffer[L < 32 ? 32 : L];
            Key above[HEIGHTS * WARP];
        } alone;  // for queries that are answered alone
    };
    union {
        struct {
            alignas(16) float points[D * WARP];
            alignas(16) unsigned positions[WARP];
        } leaf;
        struct {
            float sorted[L <= 32 ? 1 : L * ACROSS];
            unsigned by_rank[L <= 32 ? 1 : L];
        } answer;
    };
    unsigned visited[MAX_VISITED<L>];
};

// Finds the k smallest distances of each lane's query, and records the leaves that may contain them; false if
// they are too many.
//
// The packet's own leaf and its neighbours on the curve come first. They are usually needed, and they bound
// the search if the own leaf is across a jump of the curve. Then the search is depth first, the child nearest
// to the packet first. A box at the k-th distance is visited too, because one of its points may win the tie
// by its position. The merge is called in only one place: inlined, it is most of the code, and two copies
// would not fit into the instruction cache.
template <int L, int D>
__device__ __forceinline__ bool find_shortest(unsigned own, PacketMemory<L, D>& memory, unsigned& count,
                                              unsigned lane, Shortest<L, D>& found) {
    const Tree& tree = found.tree;
    const Packet<D>& packet = found.packet;
    unsigned height = tree.top, group = 0, turn = 0;
    float child = bounds(tree, height, group, packet, lane);
    float limit = greatest(found.limit());
    count = 0;
    for (bool done = false;;) {
        if (__any_sync(ALL_LANES, found.taken > (done ? 0 : EAGER<L> * WARP))) {
            found.merge();
            limit = greatest(found.limit());
            continue;
        }
        if (done) {
            return true;
        }
        unsigned box, level = 0;
        if (turn <= 2 * AROUND<L>) {
            // own, own - 1, own + 1, own - 2 ...
            box = turn % 2 == 0 ? own + turn / 2 : own - (turn + 1) / 2;
            turn += 1;
            if (box >= tree.boxes[0]) {
                continue;
            }
        } else {
            float nearest = __uint_as_float(warp::reduce_min(__float_as_uint(child)));
            if (nearest > limit) {
                done = height == tree.top;
                if (!done) {
                    height += 1;
                    group /= WARP;
                    child = memory.search.above[height * WARP + lane];
                }
                continue;
            }
            unsigned chosen = __ffs(__ballot_sync(ALL_LANES, child == nearest)) - 1;
            child = lane == chosen ? infinite_distance() : child;
            box = group * WARP + chosen;
            level = height;
            if (level == 0 && box - own + AROUND<L> <= 2 * AROUND<L>) {
                continue;
            }
        }
        Leaf<D> leaf;
        if (level == 0) {
            leaf.load(tree, box, lane);
        }
        // Test each query by itself: if the queries are across a jump, their bounding box may be much larger
        // than needed.
        unsigned active_lanes = __ballot_sync(ALL_LANES, bound(tree, level, box, packet) <= found.limit());
        if (active_lanes == 0) {
            continue;
        }
        if (level > 0) {
            // A lane reads only what it wrote, so no barrier is needed.
            memory.search.above[height * WARP + lane] = child;
            height -= 1;
            group = box;
            child = bounds(tree, height, group, packet, lane);
            continue;
        }
        unsigned before = found.taken;
        if (__popc(active_lanes) > FEW<L>) {
            leaf.share(memory.leaf.points, memory.leaf.positions, lane);
            found.filter_leaf(memory.leaf.points);
        } else {
            found.filter_leaf_for(leaf, active_lanes, lane);
        }
        if (SELECTIVE<D> && !__any_sync(ALL_LANES, found.taken != before)) {
            continue;
        }
        if (count == MAX_VISITED<L>) {
            return false;
        }
        if (lane == 0) {
            memory.visited[count] = box;
        }
        count += 1;
    }
}

// The points that are not farther than the k-th distance.
template <int L, int D>
struct Collected {
    using Entry = typename EntryOf<L>::Type;
    static constexpr unsigned ROWS = L + STRIDE;

    const Packet<D>& packet;
    Entry* entries;  // ROWS x ENTRY_STRIDE, this lane's column
    float kth;
    unsigned taken = 0;  // entries used, times ENTRY_STRIDE

    // Collects from the visited leaf number `turn`.
    __device__ __forceinline__ void filter_leaf(unsigned turn, const float* points,
                                                const unsigned* shared_positions) {
#pragma unroll 1
        for (unsigned first = 0; first < WARP; first += STRIDE) {
            float squared[STRIDE];
            distances(points + first, packet, squared);
            unsigned positions[STRIDE] = {};
            if constexpr (sizeof(Entry) == sizeof(Key)) {
#pragma unroll
                for (unsigned i = 0; i < STRIDE; i += 4) {
                    uint4 four = *reinterpret_cast<const uint4*>(shared_positions + first + i);
                    positions[i] = four.x, positions[i + 1] = four.y, positions[i + 2] = four.z,
                    positions[i + 3] = four.w;
                }
            }
#pragma unroll
            for (unsigned i = 0; i < STRIDE; ++i) {
                if (squared[i] <= kth) {
                    put(entries[taken], squared[i], positions[i], turn * WARP + first + i);
                    taken += ENTRY_STRIDE<L>;
                }
            }
            cap();
        }
    }

    // The same for the queries of a few lanes, one after the other.
    __device__ __forceinline__ void filter_leaf_for(unsigned turn, const Leaf<D>& leaf, unsigned active_lanes,
                                                    unsigned lane) {
        for (; active_lanes != 0; active_lanes &= active_lanes - 1) {
            unsigned owner = __ffs(active_lanes) - 1;
            float squared = distance_to(leaf, packet, owner);
            unsigned candidates = __ballot_sync(ALL_LANES, squared <= __shfl_sync(ALL_LANES, kth, owner));
            if (candidates == 0) {
                continue;
            }
            unsigned slot =
                __shfl_sync(ALL_LANES, taken, owner) +
                __popc(candidates & warp::lanes_below(lane)) * ENTRY_STRIDE<L>;
            if ((candidates >> lane & 1) && slot < ROWS * ENTRY_STRIDE<L>) {
                put(entries[static_cast<int>(slot + owner) - static_cast<int>(lane)], squared, leaf.position,
                    turn * WARP + lane);
            }
            taken += lane == owner ? __popc(candidates) * ENTRY_STRIDE<L> : 0;
        }
        cap();
    }

    // Gives up lanes with more than L entries, because their number is unbounded. The slots after the list
    // have room for one stride.
    __device__ __forceinline__ void cap() { kth = taken > L * ENTRY_STRIDE<L> ? -1.0f : kth; }

    static __device__ __forceinline__ void put(Entry& entry, float squared, unsigned position, unsigned at) {
        if constexpr (sizeof(Entry) == sizeof(Key)) {
            entry = key_of(squared, position);
        } else {
            entry = static_cast<Entry>(at);
        }
    }
};

// Answers one query of the packet with the whole warp.
template <int L, int D>
__device__ __noinline__ void answer_alone(const Traversal& search, unsigned in_launch, unsigned own,
                                          Key* above, Key* buffer) {
    constexpr int R = L < 32 ? 1 : L / 32;
    size_t query = search.first_query + in_launch;
    float row[D];
    copy_row(row, search.queries + query * D);
    Nearest<R, NoCounters> warp;
    warp.start(buffer, search.k);
    descend<R, D>(search.tree, row, own, above, warp);
    warp.write(AnswerRow(search, query));
}

// Sorts each lane's pairs in its registers and writes them. Lists are columns, but rows of consecutive ranks
// are written. They are transposed with a rotation that avoids bank conflicts.
template <int L>
__device__ __forceinline__ void write_sorted(const Traversal& search, Key* entries, unsigned found,
                                             unsigned in_launch, unsigned part, unsigned lane) {
    Key keys[L];
#pragma unroll
    for (unsigned i = 0; i < L; ++i) {
        keys[i] = i < found ? entries[i * WARP + lane] : PADDING;
    }
    sort(keys);
    __syncwarp();
#pragma unroll
    for (unsigned i = 0; i < L; ++i) {
        entries[i * WARP + (lane + i) % WARP] = keys[i];
    }
    __syncwarp();
    unsigned rank = lane % L;
#pragma unroll 4
    for (unsigned first = 0; first < WARP; first += WARP / L) {
        unsigned owner = first + lane / L;
        Key key = entries[rank * WARP + (owner + rank) % WARP];
        AnswerRow row(search, search.first_query + __shfl_sync(ALL_LANES, in_launch, owner));
        if (rank < search.k && (part >> owner & 1)) {
            row.put(rank, key);
        }
    }
}

// Writes long lists one after the other with the whole warp. A point's rank is the number of its query's k
// distances that are smaller. Those are already sorted, so searching them takes half as long as sorting
// pairs. If two are equal, their positions decide, and pairs are sorted.
template <int L, int D>
__device__ __forceinline__ void write_in_turn(const Traversal& search, PacketMemory<L, D>& memory,
                                              const float (&best)[L], unsigned found, unsigned in_launch,
                                              unsigned part, unsigned lane) {
    constexpr int R = L / 32;
    const Tree& tree = search.tree;
    float* sorted = memory.answer.sorted;
    // The first L - k entries of a list are unused.
    unsigned start = L - search.k;
#pragma unroll 1
    for (unsigned first = 0; first < WARP; first += LAID_OUT) {
        // Other lanes may still read the previous contents.
        __syncwarp();
        if (lane - first < LAID_OUT) {
#pragma unroll
            for (int i = 0; i < L; ++i) {
                sorted[i * ACROSS + lane - first] = best[i];
            }
        }
        __syncwarp();
#pragma unroll 1
        for (unsigned left = part >> first & ((1u << LAID_OUT) - 1); left != 0; left &= left - 1) {
            unsigned column = __ffs(left) - 1, owner = first + column;
            unsigned count = __shfl_sync(ALL_LANES, found, owner);
            size_t query = search.first_query + __shfl_sync(ALL_LANES, in_launch, owner);
            unsigned position[R], rank[R];
            float squared[R];
#pragma unroll
            for (int r = 0; r < R; ++r) {
                unsigned entry = memory.entries[min(r * WARP + lane, count - 1) * ENTRY_STRIDE<L> + owner];
                size_t leaf = memory.visited[entry / WARP];
                const float* point = tree.coordinates + leaf * D * WARP + entry % WARP;
                position[r] = tree.positions[leaf * WARP + entry % WARP];
                squared[r] = 0.0f;
                rank[r] = 0;
#pragma unroll
                for (int j = 0; j < D; ++j) {
                    squared[r] =
                        add_squared_difference(point[j * WARP], search.queries[query * D + j], squared[r]);
                }
            }
#pragma unroll
            for (unsigned step = L / 2; step > 0; step /= 2) {
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    rank[r] += sorted[(rank[r] + step - 1) * ACROSS + column] < squared[r] ? step : 0;
                }
            }
            // If there are more than k, several points are at the k-th distance.
            bool equal = count != search.k;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                bool there = r * WARP + lane < count && rank[r] + 1 < L;
                equal |= there && sorted[(rank[r] + 1) * ACROSS + column] == squared[r];
            }
            if (__any_sync(ALL_LANES, equal)) {
                warp::SortedKeys<R> sorted_keys;
                sorted_keys.k = search.k;
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    sorted_keys.keys[r] = r * WARP + lane < count ? key_of(squared[r], position[r]) : PADDING;
                }
                NoTrace trace;
                warp::sort<warp::UNROLL_SHORT<R>>(sorted_keys.keys, lane, trace);
                sorted_keys.write(AnswerRow(search, query));
                continue;
            }
            // Other lanes may still read the previous query's entries.
            __syncwarp();
#pragma unroll
            for (int r = 0; r < R; ++r) {
                if (r * WARP + lane < count) {
                    memory.answer.by_rank[rank[r] - start] = position[r];
                }
            }
            __syncwarp();
#pragma unroll
            for (int r = 0; r < R; ++r) {
                unsigned i = r * WARP + lane;
                if (i < search.k) {
                    search.indices[query * search.k + i] = memory.answer.by_rank[i];
                    search.squared_distances[query * search.k + i] = sorted[(start + i) * ACROSS + column];
                }
            }
        }
    }
}

// Answers the queries of lanes first ... end - 1, given by their numbers in the launch. The other lanes
// repeat the first query and search nothing.
template <int L, int D>
__device__ __forceinline__ void answer_part(const Traversal& search, PacketMemory<L, D>& memory,
                                            Packet<D>& packet, unsigned of_lane, unsigned first, unsigned end,
                                            unsigned lane) {
    const Tree& tree = search.tree;
    unsigned part = ALL_LANES >> (WARP - end) & ALL_LANES << first;
    bool there = part >> lane & 1;
    unsigned in_launch = __shfl_sync(ALL_LANES, of_lane, there ? lane : first);
    size_t query = search.first_query + in_launch;
    packet.load(search.queries + query * D);
    unsigned own = blockIdx.x;
    if (!search.in_leaves) {
        // The leaf of the middle query; those of the other queries are nearby.
        own = leaf_of(
            tree,
            code(search.frame, search.queries + __shfl_sync(ALL_LANES, query, (first + end) / 2) * D, D),
            lane);
    }

    unsigned count;
    // Other lanes may still read data of the previous part.
    __syncwarp();
    Shortest<L, D> shortest(tree, packet, memory.search.slots + lane, there ? search.k : 0);
    bool whole = find_shortest(own, memory, count, lane, shortest);
    count = whole ? count : 0;
    // Slots become entries, and one lane wrote the leaves.
    __syncwarp();
    Collected<L, D> collected{packet, memory.entries + lane, shortest.limit()};
    Leaf<D> leaf, next;
    unsigned active_lanes = 0;
#pragma unroll 1
    for (unsigned i = 0; i <= count; ++i) {
        // The next leaf is loaded while this one is processed.
        unsigned next_active = 0;
        if (i < count) {
            unsigned number = memory.visited[i];
            next.load(tree, number, lane);
            next_active = __ballot_sync(ALL_LANES, bound(tree, 0, number, packet) <= collected.kth);
        }
        if (__popc(active_lanes) > FEW<L>) {
            leaf.share(memory.leaf.points, memory.leaf.positions, lane);
            collected.filter_leaf(i - 1, memory.leaf.points, memory.leaf.positions);
        } else {
            collected.filter_leaf_for(i - 1, leaf, active_lanes, lane);
        }
        leaf = next;
        active_lanes = next_active;
    }
    // Other lanes may have written to this column.
    __syncwarp();
    unsigned found = collected.taken / ENTRY_STRIDE<L>;
    // 0 entries if there were too many leaves; more than L if there were too many points.
    unsigned alone = __ballot_sync(ALL_LANES, there && found - 1 >= L);
    if constexpr (L <= 32) {
        write_sorted<L>(search, memory.entries, found, in_launch, part, lane);
    } else {
        write_in_turn<L, D>(search, memory, shortest.best, found, in_launch, part & ~alone, lane);
    }
    for (unsigned lanes = alone; lanes != 0; lanes &= lanes - 1) {
        // The memory is reused.
        __syncwarp();
        answer_alone<L, D>(search, __shfl_sync(ALL_LANES, in_launch, __ffs(lanes) - 1), own,
                           memory.alone.above, memory.alone.buffer);
    }
}

template <int L, int D>
__device__ __forceinline__ void answer_packet(const Traversal& search) {
    __shared__ __align__(16) PacketMemory<L, D> memory;
    unsigned lane = warp::lane_id();
    unsigned queries = min(search.query_count - blockIdx.x * WARP, WARP);
    unsigned of_lane = blockIdx.x * WARP + min(lane, queries - 1);
    of_lane = search.order == nullptr ? of_lane : search.order[of_lane];
    Packet<D> packet;
    if constexpr (IN_PARTS<L>) {
        packet.load(row_of(search.queries, search.first_query + of_lane, D));
        unsigned ends = packet.part_ends(queries, lane), first = 0;
#pragma unroll 1
        while (ends != 0) {
            unsigned end = __ffs(ends);
            ends &= ends - 1;
            answer_part<L, D>(search, memory, packet, of_lane, first, end, lane);
            first = end;
        }
    } else {
        answer_part<L, D>(search, memory, packet, of_lane, 0, queries, lane);
    }
}

}  // namespace warpscope::index

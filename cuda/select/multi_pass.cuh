// Selection in several passes over a row (Hanák 2023, §3.7, §4.3). A pass divides the distances that may
// include the k-th into buckets, counts them, and continues with the bucket of the k-th. At the end, all
// smaller distances and the first equal ones are collected. Twin of crates/engines/src/select/multi_pass.rs.
//
// A template argument defines the buckets: digits (radix_select.cuh) or splitters from a sample
// (sample_select.cuh). Distances are compared by their bits, so that a bucket is a range of integers, and
// equal distances are a range of one integer.
//
// Scope: one block of PASS_THREADS threads per row; all threads call together.
#pragma once

#include "block/bitonic.cuh"
#include "block/radix_tile.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// A row of distances is read tile by tile, and elements are collected in the order of positions. A warp owns
// consecutive floats of a tile, and each lane reads vectors of four. Prefix sums over the lanes and over the
// warps give each element its index in the output, with one barrier per tile.

// Floats of a tile per thread.
constexpr unsigned PASS_ITEMS = 8;
constexpr unsigned PASS_WARPS = PASS_THREADS / WARP;
constexpr unsigned PASS_ROUNDS = PASS_ITEMS / 4;
constexpr unsigned WARP_ITEMS = PASS_ITEMS * WARP;
constexpr unsigned TILE_ITEMS = PASS_ITEMS * PASS_THREADS;
static_assert(TILE_ITEMS < 1u << 16, "two counts in a word");

// The bits that represent elements past the end of a row.
constexpr unsigned PAST_END = 0xffffffffu;

// Distances and their positions; null if the distances are in the order of positions. Aligned to four floats.
struct Source {
    const float* distances;
    const unsigned* positions;
    unsigned length;
};

// Calls each(bits, begin of the tile, the thread's first index in it) for each tile of a source.
template <class Each>
__device__ __forceinline__ void in_tiles(const Source& source, Each each) {
    unsigned place = threadIdx.x / WARP * WARP_ITEMS + warp::lane_id() * 4;
    unsigned begin = 0;
    for (unsigned rest = source.length; rest > 0; begin += TILE_ITEMS, rest -= min(rest, TILE_ITEMS)) {
        const float4* fours =
            reinterpret_cast<const float4*>(source.distances + begin + static_cast<size_t>(place));
        unsigned mine = rest > place ? rest - place : 0;
        unsigned bits[PASS_ITEMS];
#pragma unroll
        for (unsigned round = 0; round < PASS_ROUNDS; ++round) {
            unsigned at = round * WARP * 4;
            float4 four = at < mine ? fours[round * WARP] : make_float4(0, 0, 0, 0);
            bits[4 * round] = at < mine ? __float_as_uint(four.x) : PAST_END;
            bits[4 * round + 1] = at + 1 < mine ? __float_as_uint(four.y) : PAST_END;
            bits[4 * round + 2] = at + 2 < mine ? __float_as_uint(four.z) : PAST_END;
            bits[4 * round + 3] = at + 3 < mine ? __float_as_uint(four.w) : PAST_END;
        }
        each(bits, begin, place);
    }
}

// The result of class_of for a distance: two counts in one word.
enum Class : unsigned { NEITHER = 0, FIRST = 1, SECOND = 1u << 16 };

struct OrderMemory {
    unsigned warps[2][PASS_WARPS];
};

struct ClassCounts {
    unsigned first;
    unsigned second;
};

// Calls put(bits, index in the source, elements of the first class before it, elements of the second) for
// each distance that has a class; returns the size of each class.
template <class ClassOf, class Put>
__device__ __forceinline__ ClassCounts in_order(OrderMemory& memory, const Source& source, ClassOf class_of,
                                                Put put) {
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP, side = 0;
    ClassCounts taken = {0, 0};
    in_tiles(source, [&](const unsigned (&bits)[PASS_ITEMS], unsigned begin, unsigned place) {
        unsigned mine = 0;
#pragma unroll
        for (unsigned item = 0; item < PASS_ITEMS; ++item) {
            mine += class_of(bits[item]);
        }
        unsigned of_warp = warp::reduce_add(mine);
        if (lane == 0) {
            memory.warps[side][warp] = of_warp;
        }
        __syncthreads();
        // The other side is written next. Threads still reading this side have not reached the barrier after
        // that.
        unsigned of_lane = lane < PASS_WARPS ? memory.warps[side][lane] : 0;
        side ^= 1;
        unsigned through = warp::inclusive_sum(of_lane, lane);
        unsigned before = __shfl_sync(ALL_LANES, through - of_lane, warp);
        unsigned all = __shfl_sync(ALL_LANES, through, WARP - 1);
        if (of_warp != 0) {
#pragma unroll
            for (unsigned round = 0; round < PASS_ROUNDS; ++round) {
                unsigned own = 0;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i) {
                    own += class_of(bits[4 * round + i]);
                }
                unsigned here = warp::inclusive_sum(own, lane);
                unsigned at = before + here - own;
#pragma unroll
                for (unsigned i = 0; i < 4; ++i) {
                    unsigned kind = class_of(bits[4 * round + i]);
                    if (kind != NEITHER) {
                        put(bits[4 * round + i], begin + place + round * WARP * 4 + i,
                            taken.first + (at & 0xffff), taken.second + (at >> 16));
                        at += kind;
                    }
                }
                before += __shfl_sync(ALL_LANES, here, WARP - 1);
            }
        }
        taken.first += all & 0xffff;
        taken.second += all >> 16;
    });
    // Makes all writes visible to all threads.
    __syncthreads();
    return taken;
}

// Counters of the buckets: as many copies as fit, at most one per lane, to reduce conflicts between lanes
// with the same bucket.
constexpr unsigned COUNTERS = 8192;

// Above the bits of all distances, including infinite ones.
constexpr unsigned END = 0x80000000u;

using FewNetwork = block::Bitonic<FEW / PASS_THREADS, PASS_THREADS>;

// A range of bits that contains the k-th distance.
struct Range {
    unsigned low;
    unsigned high;  // exclusive
    unsigned rank;  // of the k-th among those in it, from 1
    unsigned size;  // distances in it

    // Whether another pass is needed: not if all distances in the range are selected or equal, or if there
    // are few enough to sort.
    __device__ __forceinline__ bool is_open(unsigned few) const {
        return rank < size && high - low > 1 && size > few;
    }
    __device__ __forceinline__ bool holds(unsigned bits) const { return bits - low < high - low; }
};

// Selects all distances with smaller bits, and the first `equal` ones with equal bits.
struct Limit {
    unsigned bits;
    unsigned equal;
};

struct Bucket {
    unsigned number;
    unsigned below;  // distances in earlier buckets
    unsigned size;
};

struct PassMemory {
    union {
        unsigned counters[COUNTERS];
        Key keys[FEW];
    };
    unsigned tree[MAX_BUCKETS];
    OrderMemory order;
    unsigned sums[PASS_WARPS];
    Bucket found;
};

// Counts the distances of a range by the buckets of `partition`.
template <class Partition>
__device__ __forceinline__ void count_buckets(PassMemory& memory, const Source& source, const Range& range,
                                              const Partition& partition) {
    unsigned buckets = partition.buckets(), copies = min(COUNTERS / buckets, WARP);
    for (unsigned i = threadIdx.x; i < buckets * copies; i += PASS_THREADS) {
        memory.counters[i] = 0;
    }
    __syncthreads();
    unsigned copy = warp::lane_id() % copies;
    in_tiles(source, [&](const unsigned (&bits)[PASS_ITEMS], unsigned, unsigned) {
        unsigned bucket[PASS_ITEMS];
        partition.bucket_of(bits, bucket);
#pragma unroll
        for (unsigned item = 0; item < PASS_ITEMS; ++item) {
            if (range.holds(bits[item])) {
                atomicAdd(&memory.counters[bucket[item] * copies + copy], 1);
            }
        }
    });
    __syncthreads();
}

// The number of distances counted in a bucket.
__device__ __forceinline__ unsigned size_of(const PassMemory& memory, unsigned buckets, unsigned bucket) {
    unsigned copies = min(COUNTERS / buckets, WARP), sum = 0;
    for (unsigned copy = 0; copy < copies; ++copy) {
        // Neighbouring threads start at different copies, which avoids bank conflicts.
        sum += memory.counters[bucket * copies + (copy + threadIdx.x) % copies];
    }
    return sum;
}

// The bucket that contains the distance of a rank.
__device__ __forceinline__ Bucket find_bucket(PassMemory& memory, unsigned buckets, unsigned rank) {
    unsigned each = max(buckets / PASS_THREADS, 1);
    unsigned first = threadIdx.x * each, last = min(first + each, max(buckets, first));
    unsigned own = 0;
    for (unsigned bucket = first; bucket < last; ++bucket) {
        own += size_of(memory, buckets, bucket);
    }
    unsigned below = block::exclusive_sum(own, memory.sums);
    if (below < rank && rank - below <= own) {
        for (unsigned bucket = first; bucket < last; ++bucket) {
            unsigned size = size_of(memory, buckets, bucket);
            if (rank - below <= size) {
                memory.found = {bucket, below, size};
                break;
            }
            below += size;
        }
    }
    __syncthreads();
    return memory.found;
}

// The k-th distance, by sorting its range.
__device__ __forceinline__ Limit sort_few(PassMemory& memory, const Source& source, const Range& range) {
    unsigned first = threadIdx.x * 2;
    memory.keys[first] = memory.keys[first + 1] = PADDING;
    __syncthreads();
    auto is_in = [&](unsigned bits) -> unsigned { return range.holds(bits) ? SECOND : NEITHER; };
    in_order(memory.order, source, is_in, [&](unsigned bits, unsigned, unsigned, unsigned at) {
        memory.keys[at] = static_cast<Key>(bits) << 32 | at;
    });
    Key keys[2] = {memory.keys[first], memory.keys[first + 1]};
    __syncthreads();
    FewNetwork network{memory.keys};
    // Only as many threads as hold distances, rounded up to a power of two.
    network.sort(keys, 1u << (32 - __clz((range.size - 1) / 2)));
    if (first == (range.rank - 1) / 2 * 2) {
        memory.found.number =
            static_cast<unsigned>(choose((range.rank - 1) % 2 == 0, keys[0], keys[1]) >> 32);
    }
    __syncthreads();
    unsigned limit = memory.found.number;
    unsigned less = __syncthreads_count(static_cast<unsigned>(keys[0] >> 32) < limit);
    less += __syncthreads_count(static_cast<unsigned>(keys[1] >> 32) < limit);
    return {limit, range.rank - less};
}

// Rounds a number of distances up to a multiple of four.
__device__ __forceinline__ size_t round_up_to_fours(unsigned count) {
    return (static_cast<size_t>(count) + 3) / 4 * 4;
}

// Finds the k smallest of a row. Counts the distances read and written; the timed build does not write the
// counts. Trace is NoTrace, or a PassRecorder, which documents its events.
template <class Partition, bool COUNTED, class Trace = NoTrace>
__device__ __forceinline__ void select_row(const MultiPass& passes, Trace trace = Trace()) {
    // Ranges of up to this size are sorted instead of divided again.
    constexpr unsigned SORTED = Trace::TRACED ? 1 : FEW;
    __shared__ PassMemory memory;
    const Selection& selection = passes.selection;
    unsigned query = blockIdx.x, wanted = min(selection.n, selection.k);
    const Source row = {selection.distances + query * selection.pitch, nullptr, selection.n};
    size_t answer = static_cast<size_t>(selection.first_query + query) * selection.k;
    bool moves_positions = passes.stages == 1;
    Source source = row;
    Range range = {0, END, wanted, selection.n};
    unsigned narrowed = 0, found = 0, pass = 0;
    unsigned long long reads = 0, writes = 0;
    for (; range.is_open(SORTED); ++pass) {
        reads += source.length + Partition::sampled();
        Partition partition(memory, source, range, passes.bits, pass);
        count_buckets(memory, source, range, partition);
        if constexpr (Trace::TRACED) {
            trace.counted(memory, partition.buckets());
        }
        Bucket bucket = find_bucket(memory, partition.buckets(), range.rank);
        if constexpr (Trace::TRACED) {
            trace.found(bucket);
        }
        range = partition.range_of(bucket.number, range);
        range.rank -= bucket.below;
        range.size = bucket.size;
        if (!range.is_open(SORTED) || range.size > source.length / 2) {
            continue;
        }
        // Narrow the source to the distances in the range. They are at most half of the source, so two
        // buffers alternate, the second half as large as the first.
        size_t half = round_up_to_fours(selection.n / 2), quarter = round_up_to_fours(selection.n / 4);
        unsigned* words = passes.auxiliary + query * passes.auxiliary_words;
        float* to = reinterpret_cast<float*>(words + (narrowed % 2 == 0 ? 0 : half));
        unsigned* to_positions = words + half + quarter + (narrowed % 2 == 0 ? 0 : half);
        auto class_of = [&](unsigned bits) -> unsigned {
            return range.holds(bits) ? SECOND : moves_positions && bits < range.low ? FIRST : NEITHER;
        };
        auto move = [&](unsigned bits, unsigned at, unsigned below, unsigned in) {
            bool is_in = range.holds(bits);
            (is_in ? to + in : selection.squared_distances + answer + found + below)[0] =
                __uint_as_float(bits);
            if (moves_positions) {
                (is_in ? to_positions + in : selection.indices + answer + found + below)[0] =
                    source.positions == nullptr ? at : source.positions[at];
            }
        };
        ClassCounts taken = in_order(memory.order, source, class_of, move);
        reads += source.length;
        writes += taken.first + taken.second;
        found += taken.first;
        source = {to, moves_positions ? to_positions : nullptr, taken.second};
        narrowed += 1;
        if constexpr (Trace::TRACED) {
            trace.narrowed();
        }
    }
    Limit limit = {range.high, 0};
    if (range.rank < range.size) {
        limit = {range.low, range.rank};
        if (range.high - range.low > 1) {
            limit = sort_few(memory, source, range);
            reads += source.length;
        }
    }
    Source last = moves_positions ? source : row;
    auto class_of = [&](unsigned bits) -> unsigned {
        return bits < limit.bits ? FIRST : bits == limit.bits && limit.equal > 0 ? SECOND : NEITHER;
    };
    in_order(memory.order, last, class_of, [&](unsigned bits, unsigned at, unsigned less, unsigned same) {
        if (bits < limit.bits || same < limit.equal) {
            size_t to = answer + found + less + min(same, limit.equal);
            selection.squared_distances[to] = __uint_as_float(bits);
            selection.indices[to] = last.positions == nullptr ? at : last.positions[at];
        }
    });
    if constexpr (Trace::TRACED) {
        trace.taken(selection.indices + answer, selection.squared_distances + answer, wanted);
    }
    reads += last.length;
    writes += wanted - found;
    if constexpr (COUNTED) {
        if (threadIdx.x == 0) {
            write_counts(selection.counts + query * COUNTS, pass, range.size, saturated(reads),
                         saturated(writes));
        }
    }
}

}  // namespace warpscope::select

// A query's warp: the sorted intermediate result in registers, the candidate buffer in shared memory, and how
// one becomes the other. Twin of crates/engines/src/lockstep/candidate_buffer.rs.
#pragma once

#include "counters.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "observer.cuh"
#include "warp/bitonic.cuh"
#include "warp/lanes.cuh"

namespace warpscope::warp {

// K = 32 R keys of a warp, sorted: lane L holds elements L R ... L R + R - 1.
template <int R>
struct SortedKeys {
    Key keys[R];
    unsigned k;
    unsigned lane = lane_id();

    __device__ __forceinline__ void start(unsigned neighbours) {
        k = neighbours;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            keys[r] = PADDING;
        }
    }

    // An element, in every lane.
    __device__ __forceinline__ Key element(unsigned i) const {
        Key mine = register_at(keys, i % R);
        return __shfl_sync(ALL_LANES, mine, i / R);
    }

    // Writes the first k elements.
    __device__ __forceinline__ void write(const AnswerRow& row) const {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            unsigned i = lane * R + r;
            if (i < k) {
                row.put(i, keys[r]);
            }
        }
    }
};

// The intermediate result and its buffer, which has K slots; element (lane, register) of what is swapped lies
// at slot register * 32 + lane, so that every access of the warp goes to 32 neighbouring words, and that
// order means nothing for a buffer, which is sorted before it is used. The observer is a base because an
// empty base takes no room: builds that nobody watches stay what they are. UNROLL is of the network
// (bitonic.cuh).
template <int R, class Tally, class Observer = NoTrace, int UNROLL = 1>
struct Warp : SortedKeys<R>, private Observer {
    using Sorted = SortedKeys<R>;
    using Sorted::element;
    using Sorted::k;
    using Sorted::keys;
    using Sorted::lane;
    static constexpr unsigned CAPACITY = WARP * R;
    static constexpr bool COUNTED = Tally::COUNTED;
    static constexpr bool TRACED = Observer::TRACED;

    Key* buffer;
    unsigned buffered = 0;  // slots taken, the same in every lane
    float max_distance = infinite_distance();  // squared distance of the k-th element
    Tally tally;

    __device__ __forceinline__ void start(Key* buffer_of_query, unsigned neighbours,
                                          const Observer& who_watches = {}) {
        Sorted::start(neighbours);
        buffer = buffer_of_query;
        observer() = who_watches;
    }

    // Who is told what happens.
    __device__ __forceinline__ Observer& observer() { return *this; }

    // The clock goes on to another phase.
    __device__ __forceinline__ void enter(WarpPhase phase) {
        if constexpr (Tally::PROFILED) {
            tally.enter(phase);
        }
    }

    // Filters a group: lane L has the distance of point base + L. Candidates are appended in lane order; as
    // soon as the buffer is full it is merged, and what was not yet appended is filtered again with the new
    // max_distance.
    __device__ __forceinline__ void filter(float distance, unsigned base) {
        unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);
        if constexpr (TRACED) {
            observer().group(base, distance, candidates);
        }
        if (candidates == 0) {
            return;
        }
        enter(INSERT);
        if constexpr (COUNTED) {
            tally.groups_hit(lane == 0);  // one group, whichever lane says so
        }
        do {
            unsigned slot = buffered + __popc(candidates & lanes_below(lane));
            bool candidate = candidates >> lane & 1;
            bool appends = candidate && slot < CAPACITY;
            if (appends) {
                buffer[slot] = key_of(distance, base + lane);
            }
            unsigned appended = min(static_cast<unsigned>(__popc(candidates)), CAPACITY - buffered);
            if constexpr (COUNTED) {
                tally.appended(appended);
            }
            if constexpr (TRACED) {
                observer().appended(candidates, slot, appends, buffer);
            }
            buffered += appended;
            if (buffered == CAPACITY) {
                unsigned last = WARP - 1 - __clz(__ballot_sync(ALL_LANES, appends));
                if constexpr (TRACED) {
                    observer().full();
                }
                merge_buffer(base + last + 1);
            }
            candidates = __ballot_sync(ALL_LANES, candidate && !appends && distance < max_distance);
            if constexpr (TRACED) {
                observer().filtered_again(candidate && !appends, candidates);
            }
        } while (candidates != 0);
        enter(FILTER);
    }

    // Appends the candidates of a window of groups, unless they would fill the buffer: then nothing is
    // appended, the answer is false, and the window's groups must be filtered one by one. Bit g of
    // `candidates` says that point base + 32 g + lane is one, and distance(g) is its squared distance.
    //
    // The buffer is sorted before it is used, and max_distance does not change before it is full: so the
    // order in which slots are taken is free, and each lane's next candidate goes in one step, whatever its
    // group.
    template <class Distance>
    __device__ __forceinline__ bool append_window(unsigned candidates, unsigned base, Distance distance) {
        unsigned slots = buffered;
        unsigned waiting = candidates;
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, waiting != 0)) != 0;) {
            unsigned end = slots + __popc(lanes);
            if (end >= CAPACITY) {
                // What was written from `buffered` on is not there; other lanes will write over it.
                __syncwarp();
                return false;
            }
            if (waiting != 0) {
                unsigned group = WARP - 1 - __clz(waiting);
                waiting ^= 1u << group;
                buffer[slots + __popc(lanes & lanes_below(lane))] =
                    key_of(distance(group), base + group * WARP + lane);
            }
            slots = end;
        }
        if constexpr (COUNTED) {
            tally.appended(slots - buffered);
            tally.groups_hit(candidates);
        }
        buffered = slots;
        return true;
    }

    // Merges what is left in the buffer after the last of n points.
    __device__ __forceinline__ void finish(unsigned n) {
        if (buffered > 0) {
            for (unsigned slot = buffered + lane; slot < CAPACITY; slot += WARP) {
                buffer[slot] = PADDING;
            }
            if constexpr (TRACED) {
                observer().padded(buffered);
            }
            merge_buffer(n);
        }
        if constexpr (TRACED) {
            observer().finished();
        }
    }

    // Merges a full buffer into the intermediate result. The last appended point was the points_seen-th.
    __device__ __forceinline__ void merge_buffer(unsigned points_seen) {
        enter(SORT);
        // Slots were written by other lanes than those that read them.
        __syncwarp();
        // 1. Swap: the buffer goes to the registers. Each slot is read and written by the same lane: no
        //    barrier between.
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Key candidate = buffer[r * WARP + lane];
            buffer[r * WARP + lane] = keys[r];
            keys[r] = candidate;
        }
        if constexpr (TRACED) {
            observer().swapped(keys);
        }
        // 2. Sort it.
        sort<UNROLL>(keys, lane, observer());
        enter(MERGE);
        // 3. min(i, K-1-i) with the intermediate result: element K-1-i lies in the mirrored lane and
        //    register. The
        // shuffles of the sort do not order shared memory, so that takes a barrier.
        __syncwarp();
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Key other = buffer[(R - 1 - r) * WARP + (WARP - 1 - lane)];
            keys[r] = choose(other < keys[r], other, keys[r]);
        }
        if constexpr (TRACED) {
            observer().minimum(keys);
        }
        // What is appended next must not overtake these reads.
        __syncwarp();
        // 4. What is left is bitonic, so one merge sorts it.
        merge<UNROLL>(keys, lane, WARP, observer());
        buffered = 0;
        max_distance = distance_of(element(k - 1));
        if constexpr (COUNTED) {
            tally.merged(points_seen, max_distance);
        }
        if constexpr (TRACED) {
            observer().merged(points_seen, max_distance);
        }
        enter(INSERT);
    }
};

}  // namespace warpscope::warp

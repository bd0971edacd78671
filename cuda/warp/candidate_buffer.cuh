// The state of a query's warp: the sorted intermediate result in registers, the candidate buffer in shared
// memory, and their merge. Twin of crates/engines/src/lockstep/candidate_buffer.rs.
#pragma once

#include "counters.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "observer.cuh"
#include "warp/bitonic.cuh"
#include "warp/lanes.cuh"

namespace warpscope::warp {

// K = 32 R sorted keys of a warp: lane L holds elements L R ... L R + R - 1.
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

    // Element i, 0-based, in every lane.
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

// The warp that owns a query. Its buffer has K slots. A swap puts element (lane, register) into slot register
// * 32 + lane, so that every access of the warp goes to 32 neighbouring words; the buffer is sorted before
// use, so its order does not matter. The observer is a base class, because an empty base takes no space and
// leaves other builds unchanged. UNROLL is the network's (bitonic.cuh).
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
    unsigned buffered = 0;  // occupied slots, equal in all lanes
    float max_distance = infinite_distance();  // squared distance of the k-th element
    Tally tally;

    __device__ __forceinline__ void start(Key* buffer_of_query, unsigned neighbours,
                                          const Observer& new_observer = {}) {
        Sorted::start(neighbours);
        buffer = buffer_of_query;
        observer() = new_observer;
    }

    // Notified of each step.
    __device__ __forceinline__ Observer& observer() { return *this; }

    // Switches the clock to another phase.
    __device__ __forceinline__ void enter(WarpPhase phase) {
        if constexpr (Tally::PROFILED) {
            tally.enter(phase);
        }
    }

    // Filters a group: lane L has the distance of point base + L. Candidates are appended in lane order. When
    // the buffer is full it is merged, and lanes not yet appended are filtered again with the new
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
            tally.groups_hit(lane == 0);  // one group, reported by lane 0
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

    // Appends the candidates of a window of groups. If they would fill the buffer, appends nothing and
    // returns false; the groups must then be filtered one by one. Bit g of `candidates` tells whether point
    // base + 32 g + lane is one, and distance(g) is its squared distance.
    //
    // The buffer is sorted before use, and max_distance does not change before it is full, so slots may be
    // taken in any order. Each step appends the next candidate of every lane, whatever its group.
    template <class Distance>
    __device__ __forceinline__ bool append_window(unsigned candidates, unsigned base, Distance distance) {
        unsigned slots = buffered;
        unsigned waiting = candidates;
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, waiting != 0)) != 0;) {
            unsigned end = slots + __popc(lanes);
            if (end >= CAPACITY) {
                // Slots written from `buffered` on stay unoccupied; other lanes will overwrite them.
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

    // Merges the rest of the buffer after the last of n points.
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
        // Other lanes wrote the slots that a lane reads.
        __syncwarp();
        // 1. Swap: move the buffer into registers. The same lane reads and writes each slot, so this needs no
        //    barrier.
#pragma unroll
        for (int r = 0; r < R; ++r) {
            Key candidate = buffer[r * WARP + lane];
            buffer[r * WARP + lane] = keys[r];
            keys[r] = candidate;
        }
        if constexpr (TRACED) {
            observer().swapped(keys);
        }
        // 2. Sort the registers.
        sort<UNROLL>(keys, lane, observer());
        enter(MERGE);
        // 3. min(i, K-1-i) with the intermediate result: K-1-i is in the mirrored lane and register. The
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
        // The next appends must not overtake these reads.
        __syncwarp();
        // 4. The result is bitonic, so one merge sorts it.
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

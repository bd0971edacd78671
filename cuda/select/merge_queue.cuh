// Merge queue: one warp per query keeps the k smallest in levels of m, m, 2 m, 4 m, ... keys, with a buffer
// of candidates in front (Tang et al. 2015; Hanák 2023, §3.6.2). Twin of
// crates/engines/src/select/merge_queue.rs.
//
// Scope: a warp; all lanes call together.
//
// Invariants: each level descends, and so do the levels' heads, their largest keys. So the first level's head
// is the largest of all. The queue holds K >= k keys. K - k of them are 0 from the start and stay, because no
// key is below them; so the head is the k-th smallest.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "select/interface.cuh"
#include "warp/lanes.cuh"
#include "warp/runs.cuh"

namespace warpscope::select {

struct MergeQueue {
    // K keys of shared memory: the first level is [0, m), the second [m, 2 m), then [2 m, 4 m), ...
    Key* levels;
    unsigned capacity;
    unsigned level;  // m, up to 32
    // The first level, one key per lane; 0 in lanes from m on. It is written to `levels` only for merges.
    Key first;
    Key head;    // of the first level
    Key second;  // head of the second level; 0 if there is none
    Key* buffer;
    unsigned buffer_size;
    bool sorts;  // otherwise each group's candidates are inserted at once
    unsigned buffered = 0;
    unsigned lane = warp::lane_id();
    // counters; the timed build does not write them
    unsigned candidates = 0, flushes = 0, inserts = 0, merges = 0, deepest = 0;

    __device__ __forceinline__ MergeQueue(const Selection& selection, Key* memory)
        : levels(memory),
          capacity(selection.capacity),
          level(selection.level),
          buffer(memory + capacity),
          buffer_size(selection.buffer),
          sorts(selection.sorts) {
        for (unsigned i = lane; i < capacity; i += WARP) {
            levels[i] = i < selection.k ? PADDING : 0;
        }
        __syncwarp();
        load_first();
    }

    __device__ __forceinline__ void load_first() {
        first = lane < level ? levels[lane] : 0;
        head = levels[0];
        second = level < capacity ? levels[level] : 0;
        // The next merge must not overtake these reads.
        __syncwarp();
    }

    __device__ __forceinline__ void store_first() {
        if (lane < level) {
            levels[lane] = first;
        }
        __syncwarp();
    }

    // Candidates must be below this distance: at the same distance as the k-th, a later point ranks after it.
    __device__ __forceinline__ float bound() const { return distance_of(head); }

    // Adds a group: each lane's distance of a point after all previous ones.
    __device__ __forceinline__ void add(float distance, unsigned position) {
        bool waits = distance < bound();
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, waits)) != 0;) {
            unsigned slot = buffered + __popc(lanes & warp::lanes_below(lane));
            unsigned taken = min(static_cast<unsigned>(__popc(lanes)), buffer_size - buffered);
            if (waits && slot < buffer_size) {
                buffer[slot] = key_of(distance, position);
                waits = false;
            }
            candidates += taken;
            buffered += taken;
            if (buffered == buffer_size || !sorts) {
                flush();
            }
            waits = waits && distance < bound();
        }
    }

    // Empties the buffer from its end, which has the smallest keys if it is sorted, and otherwise the latest.
    __device__ __forceinline__ void flush() {
        unsigned end = buffered;
        if (sorts) {
            flushes += 1;
            for (end = WARP; end < buffered;) {
                end *= 2;
            }
            for (unsigned i = buffered + lane; i < end; i += WARP) {
                buffer[i] = PADDING;
            }
            __syncwarp();
            warp::sort_run(buffer, end, lane);
        } else {
            __syncwarp();
        }
        unsigned start = end - buffered;
#pragma unroll 1
        while (end > start) {
            Key key = buffer[--end];
            if (key < head) {
                insert(key);
            } else if (sorts) {
                break;
            }
        }
        buffered = 0;
        // The next append must not overtake these reads.
        __syncwarp();
    }

    // Replaces the head by a smaller key; the keys larger than that one move up.
    __device__ __forceinline__ void insert(Key key) {
        inserts += 1;
        unsigned larger = __popc(__ballot_sync(ALL_LANES, first > key));
        Key next = __shfl_down_sync(ALL_LANES, first, 1);
        first = choose(lane + 1 < larger, next, choose(lane + 1 == larger, key, first));
        head = __shfl_sync(ALL_LANES, first, 0);
        if (head < second) {
            repair();
        }
    }

    // Merges the first level with the second, and continues as long as a level's head is below the next
    // one's.
    __device__ __forceinline__ void repair() {
        store_first();
        unsigned from = 0, to = level;
#pragma unroll 1
        for (unsigned number = 2; to < capacity; ++number) {
            bool broken = levels[from] < levels[to];
            __syncwarp();
            if (!broken) {
                break;
            }
            warp::merge_runs(levels, from, to, lane);
            merges += 1;
            deepest = max(deepest, number);
            from = to;
            to *= 2;
        }
        load_first();
    }

    // After the last point: merges all levels into one descending run.
    __device__ __forceinline__ void finish() {
        if (buffered > 0) {
            flush();
        }
        store_first();
#pragma unroll 1
        for (unsigned size = level; size < capacity; size *= 2) {
            warp::merge_runs(levels, 0, size, lane);
        }
    }

    // Writes the k largest of K; the others are the initial zeros.
    __device__ __forceinline__ void write(const AnswerRow& row, unsigned k) const {
        for (unsigned i = lane; i < k; i += WARP) {
            row.put(i, levels[k - 1 - i]);
        }
    }
};

// Reads a row, GROUPS groups of 32 distances at a time, which are loaded before the previous batch is
// processed. Most batches have no candidate, so a batch is tested as a whole before its groups are.
template <int GROUPS>
__device__ __forceinline__ void stream_groups(MergeQueue& queue, const float* row, unsigned n) {
    constexpr unsigned BATCH = GROUPS * WARP;
    float next[GROUPS];
    auto load = [&](unsigned begin) {
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            unsigned at = begin + g * WARP + queue.lane;
            next[g] = at < n ? __ldcs(row + at) : infinite_distance();
        }
    };
    unsigned batches = (n - 1) / BATCH + 1;
    load(0);
#pragma unroll 1
    for (unsigned batch = 0; batch < batches; ++batch) {
        float distances[GROUPS];
        bool any = false;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            distances[g] = next[g];
            any |= next[g] < queue.bound();
        }
        if (batch + 1 < batches) {
            load((batch + 1) * BATCH);
        }
        if (!__any_sync(ALL_LANES, any)) {
            continue;
        }
        // Not unrolled, so that the long code exists once.
#pragma unroll 1
        for (int g = 0; g < GROUPS; ++g) {
            queue.add(register_at(distances, g), batch * BATCH + g * WARP + queue.lane);
        }
    }
}

// One warp per query, each with K keys and a buffer in shared memory.
template <bool COUNTED>
__device__ __forceinline__ void merge_queue(const Selection& selection) {
    extern __shared__ Key queues[];
    unsigned warp = threadIdx.x / WARP, query = blockIdx.x * (blockDim.x / WARP) + warp;
    if (query >= selection.query_count) {
        return;
    }
    MergeQueue queue(selection, queues + warp * (selection.capacity + selection.buffer));
    stream_groups<QUEUE_GROUPS>(queue, selection.distances + query * selection.pitch, selection.n);
    queue.finish();
    queue.write(AnswerRow(selection, selection.first_query + query), selection.k);
    if constexpr (COUNTED) {
        if (queue.lane == 0) {
            write_counts(selection.counts + query * COUNTS, queue.candidates, queue.flushes, queue.inserts,
                         queue.merges, queue.deepest);
        }
    }
}

}  // namespace warpscope::select

// Bitonic select: a block a query, which keeps the K smallest of a row sorted in registers and collects candidates in a buffer of K keys
// (Hanák 2023, §4.1). Twin of src/engines/select/bits.rs.
//
// Scope: all threads of the block call together, whoever holds keys, but for what says otherwise.
//
// The order is by (distance, position). In the timed build the warps read on by themselves and meet where the buffer is full, so a distance
// that equals the bound may be of an earlier position: what is not farther is compared by key. The counted build reads in step, batch after
// batch, and takes slots in the order of threads, so that its counts can be repeated.
#pragma once

#include "block/bitonic.cuh"
#include "key.cuh"
#include "select/interface.cuh"
#include "select/sample.cuh"
#include "warp/lanes.cuh"
#include "warp/reduce.cuh"

namespace warpscope::select {

// Nothing is added to the timed build.
struct Uncounted {
    static constexpr bool COUNTED = false;
    __device__ __forceinline__ void merge(bool) {}
    __device__ __forceinline__ void candidates(unsigned) {}
    __device__ __forceinline__ void restart() {}
    __device__ __forceinline__ void write(unsigned*) const {}
};

// Every thread keeps the same numbers.
struct Tally {
    static constexpr bool COUNTED = true;
    unsigned merges = 0, forced = 0, taken = 0, restarts = 0;

    __device__ __forceinline__ void merge(bool is_forced) {
        merges += 1;
        forced += is_forced;
    }
    __device__ __forceinline__ void candidates(unsigned count) { taken += count; }
    __device__ __forceinline__ void restart() { restarts += 1; }
    __device__ __forceinline__ void write(unsigned* counts) const {
        if (threadIdx.x == 0) {
            counts[0] = merges;
            counts[1] = forced;
            counts[2] = taken;
            counts[3] = restarts;
        }
    }
};

template <unsigned K, unsigned THREADS>
struct BitsMemory {
    Key buffer[K];
    Key exchange[K];
    Key limit;
    unsigned taken[2];
    unsigned warp_counts[THREADS / WARP];
};

// K, a power of two from 32 on; THREADS of the block.
template <unsigned K, unsigned THREADS, class Counts>
struct Bits {
    static constexpr unsigned N = K < THREADS ? K : THREADS;  // threads that hold keys
    static constexpr unsigned T = K / N;                      // keys of each
    static constexpr unsigned SLOTS = K;                      // of the buffer

    using Memory = BitsMemory<K, THREADS>;

    // Where a slot lies: slots are elements, T consecutive ones a thread, and row i holds the i-th of each thread.
    static __device__ __forceinline__ unsigned place(unsigned slot) { return slot % T * N + slot / T; }

    Memory& memory;
    unsigned k;
    unsigned by_ballot;
    unsigned buffered = 0;  // slots taken
    bool empty = true;      // whether nothing was merged yet
    unsigned all_taken = 0;
    Key keys[T];
    Key limit;    // what a candidate is below
    float bound;  // what its distance is not above
    Counts counts;

    __device__ __forceinline__ Bits(Memory& memory, unsigned k, unsigned by_ballot) : memory(memory), k(k), by_ballot(by_ballot) {}

    __device__ __forceinline__ void restart(float new_bound) {
        bound = new_bound;
        limit = key_of(new_bound, 0);
        buffered = 0;
        all_taken = 0;
        empty = true;
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            keys[i] = PADDING;
        }
    }

    // A slot for a candidate in the order of threads, after those that were taken; at least K if there is none.
    __device__ __forceinline__ unsigned next_slot(bool candidate) {
        unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
        unsigned lanes = __ballot_sync(ALL_LANES, candidate);
        if (lane == 0) {
            memory.warp_counts[warp] = __popc(lanes);
        }
        __syncthreads();
        unsigned before = memory.taken[0];
        unsigned all = before;
        for (unsigned other = 0; other < THREADS / WARP; ++other) {
            before += other < warp ? memory.warp_counts[other] : 0;
            all += memory.warp_counts[other];
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            memory.taken[0] = all;
        }
        __syncthreads();
        return before + __popc(lanes & warp::lanes_below(lane));
    }

    // A slot in whatever order threads come. A warp's lanes call together.
    __device__ __forceinline__ unsigned any_slot(bool candidate) {
        if (!by_ballot) {
            return candidate ? atomicAdd(&memory.taken[0], 1u) : K;
        }
        unsigned lanes = __ballot_sync(ALL_LANES, candidate);
        if (lanes == 0) {
            return K;
        }
        unsigned first = 0;
        if (warp::lane_id() == 0) {
            first = atomicAdd(&memory.taken[0], __popc(lanes));
        }
        return __shfl_sync(ALL_LANES, first, 0) + __popc(lanes & warp::lanes_below(warp::lane_id()));
    }

    // Appends the candidates of a batch: `waiting` has a bit for each of this thread's keys that may be one. Returns those for which there was
    // no slot; memory.taken[0] is the number of slots that were asked for.
    template <int ITEMS, bool IN_ORDER, class KeyAt>
    __device__ __forceinline__ unsigned append(unsigned waiting, KeyAt key_at) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            bool may = (waiting >> i & 1) != 0;
            // Most warps have none.
            if (!IN_ORDER && !__any_sync(ALL_LANES, may)) {
                continue;
            }
            Key key = key_at(i);
            bool candidate = may && key < limit;
            unsigned slot = IN_ORDER ? next_slot(candidate) : any_slot(candidate);
            if (candidate && slot < K) {
                memory.buffer[place(slot)] = key;
            }
            if (!candidate || slot < K) {
                waiting &= ~(1u << i);
            }
        }
        return waiting;
    }

    // Takes the candidates of a batch of all threads. Merges whenever the buffer is full.
    template <int ITEMS, bool IN_ORDER, class KeyAt>
    __device__ __forceinline__ void take(unsigned waiting, KeyAt key_at) {
        for (;;) {
            waiting = append<ITEMS, IN_ORDER>(waiting, key_at);
            // Slots were written by other threads than those that read them.
            __syncthreads();
            if (!is_full()) {
                return;
            }
            merge(false);
            if (!__syncthreads_or(waiting != 0)) {
                return;
            }
        }
    }

    // Takes the candidates of a source, each warp by itself. All meet in one place, where the buffer is full and at the end: whoever has
    // read all comes and waits for the others.
    template <int ITEMS, class Source>
    __device__ __forceinline__ void take_apart(Source& source) {
        const volatile unsigned* taken = memory.taken;
        unsigned waiting = 0;
        do {
            for (;;) {
                if (!__any_sync(ALL_LANES, waiting != 0)) {
                    if (!source.next()) {
                        break;
                    }
                    waiting = source.within(bound);
                }
                // Most batches have none.
                if (__any_sync(ALL_LANES, waiting != 0)) {
                    waiting = append<ITEMS, false>(waiting, [&](int i) { return source.key_at(i); });
                }
                // Somebody is without a slot, here or elsewhere.
                if (__any_sync(ALL_LANES, waiting != 0 || *taken >= K)) {
                    break;
                }
            }
        } while (meet());
    }

    // After a barrier: whether all slots are taken. What was appended since the last call is counted.
    __device__ __forceinline__ bool is_full() {
        unsigned taken = min(memory.taken[0], K);
        counts.candidates(taken - buffered);
        all_taken += taken - buffered;
        buffered = taken;
        return taken == K;
    }

    // All threads meet, and merge if the buffer is full. False if it is not: then nobody has anything left, since whoever has comes only for
    // that.
    __device__ __forceinline__ bool meet() {
        __syncthreads();
        bool full = is_full();
        if (full) {
            merge(false);
        }
        return full;
    }

    // Merges the buffer into what is kept.
    __device__ __forceinline__ void merge(bool forced) {
        Bitonic network{memory.exchange};
        unsigned thread = threadIdx.x;
        counts.merge(forced);
        if (buffered < K) {
            for (unsigned slot = buffered + thread; slot < K; slot += THREADS) {
                memory.buffer[place(slot)] = PADDING;
            }
            __syncthreads();
        }
        // Of a buffer that is not full the threads that hold what was taken are sorted, and what is after them is padding.
        unsigned threads = N;
        while (threads > 1 && threads / 2 * T >= buffered) {
            threads /= 2;
        }
        // 1. Swap: each slot is read and written by the same thread.
        if (thread < N) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                Key candidate = memory.buffer[i * N + thread];
                memory.buffer[i * N + thread] = keys[i];
                keys[i] = candidate;
            }
        }
        // 2. Sort it.
        network.sort(keys, threads);
        if (!empty) {
            __syncthreads();
            // 3. min(i, K - 1 - i) with what was kept: element K - 1 - i lies with the mirrored thread, in its mirrored row.
            if (thread < N) {
#pragma unroll
                for (unsigned i = 0; i < T; ++i) {
                    Key other = memory.buffer[(T - 1 - i) * N + (N - 1 - thread)];
                    keys[i] = choose(other < keys[i], other, keys[i]);
                }
            }
            // 4. What is left is bitonic.
            network.merge(keys);
        }
        empty = false;
        Key last = keys[0];
#pragma unroll
        for (unsigned i = 1; i < T; ++i) {
            last = choose((k - 1) % T == i, keys[i], last);
        }
        if (thread == (k - 1) / T) {
            memory.limit = last;
        }
        if (thread == 0) {
            memory.taken[0] = 0;
        }
        // Also: what is taken next must not overtake the reads of the minimum.
        __syncthreads();
        limit = memory.limit;
        bound = distance_of(limit);
        buffered = 0;
    }

    __device__ __forceinline__ void write(unsigned* indices, float* squared_distances) const {
        if (threadIdx.x < N) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                unsigned element = threadIdx.x * T + i;
                if (element < k) {
                    indices[element] = index_of(keys[i]);
                    squared_distances[element] = distance_of(keys[i]);
                }
            }
        }
    }

   private:
    using Bitonic = block::Bitonic<static_cast<int>(T), static_cast<int>(N)>;
};

// Distances that a thread of THREADS reads at a time, four beside one another.
template <unsigned THREADS, unsigned ITEMS>
struct Batch {
    float distances[ITEMS];

    static __device__ __forceinline__ unsigned place(unsigned thread, unsigned item) { return (item / 4 * THREADS + thread) * 4 + item % 4; }

    __device__ __forceinline__ void load(const float* row, unsigned first, unsigned end, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += 4) {
            unsigned at = first + place(thread, i);
            float inf = infinite_distance();
            float4 four = at < end ? __ldcs(reinterpret_cast<const float4*>(row + at)) : make_float4(inf, inf, inf, inf);
            distances[i] = four.x;
            distances[i + 1] = four.y;
            distances[i + 2] = four.z;
            distances[i + 3] = four.w;
        }
    }

    static __device__ __forceinline__ void prefetch(const float* row, unsigned first, unsigned end, unsigned thread) {
#pragma unroll
        for (unsigned i = 0; i < ITEMS; i += 4) {
            unsigned at = first + place(thread, i);
            // A line of the cache is eight of these, so one of eight threads asks.
            if (thread % 8 == 0 && at < end) {
                asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
            }
        }
    }

    // A bit for each distance that is not farther than the bound.
    __device__ __forceinline__ unsigned within(float bound) const {
        unsigned mask = 0;
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
            mask |= distances[i] <= bound ? 1u << i : 0;
        }
        return mask;
    }
};

// The candidates of distances `begin` to `end` of a row, all threads in step; both are multiples of four, or `end` is n.
template <unsigned THREADS, unsigned ITEMS, class Selector>
__device__ __forceinline__ void stream(Selector& bits, const float* row, unsigned begin, unsigned end) {
    using Read = Batch<THREADS, ITEMS>;
    for (unsigned first = begin; first < end; first += THREADS * ITEMS) {
        Read batch;
        batch.load(row, first, end, threadIdx.x);
        unsigned waiting = batch.within(bits.bound);
        if (__syncthreads_or(waiting != 0)) {
            bits.template take<ITEMS, true>(waiting, [&](int i) { return key_of(batch.distances[i], first + Read::place(threadIdx.x, i)); });
        }
    }
}

// A warp's batches of distances `begin` to `end` of a row: every so many of the block's.
template <unsigned THREADS, unsigned ITEMS>
struct RowBatches {
    using Read = Batch<WARP, ITEMS>;
    static constexpr unsigned STRIDE = THREADS * ITEMS;

    const float* row;
    unsigned end;
    unsigned prefetch;
    unsigned first;  // of the batch that comes next
    unsigned left;   // distances from there on
    unsigned lane = warp::lane_id();
    Read batch, coming;

    __device__ __forceinline__ RowBatches(const float* row, unsigned begin, unsigned end, unsigned prefetch) : row(row), end(end), prefetch(prefetch) {
        unsigned skipped = threadIdx.x / WARP * (WARP * ITEMS);
        // Where a row ends close to 2^32, what is behind it would be before it.
        left = begin < end && end - begin > skipped ? end - begin - skipped : 0;
        first = begin + skipped;
        coming.load(row, left > 0 ? first : end, end, lane);
    }

    __device__ __forceinline__ bool next() {
        if (left == 0) {
            return false;
        }
        batch = coming;
        // Begun before what is here is looked at. Past the end nothing is read.
        coming.load(row, left > STRIDE ? first + STRIDE : end, end, lane);
        if (prefetch && left > 2 * STRIDE) {
            Read::prefetch(row, first + 2 * STRIDE, end, lane);
        }
        first += STRIDE;
        left = left > STRIDE ? left - STRIDE : 0;
        return true;
    }

    __device__ __forceinline__ unsigned within(float bound) const { return batch.within(bound); }
    __device__ __forceinline__ Key key_at(int i) const { return key_of(batch.distances[i], first - STRIDE + Read::place(lane, i)); }
};

// A warp's keys of what the parts of a row kept: every so many parts, a key a lane. They are in no order of positions.
template <unsigned K, unsigned THREADS>
struct KeptKeys {
    const Key* kept;
    const unsigned* counts;
    unsigned parts;
    unsigned part = threadIdx.x / WARP;
    unsigned first = 0;
    Key key = PADDING;

    __device__ __forceinline__ bool next() {
        while (part < parts && first >= counts[part]) {
            part += THREADS / WARP;
            first = 0;
        }
        if (part >= parts) {
            return false;
        }
        unsigned at = first + warp::lane_id();
        key = at < counts[part] ? kept[static_cast<size_t>(part) * K + at] : PADDING;
        first += WARP;
        return true;
    }

    __device__ __forceinline__ unsigned within(float bound) const { return distance_of(key) <= bound ? 1 : 0; }
    __device__ __forceinline__ Key key_at(int) const { return key; }
};

// A row that is not divided: one block finds its k smallest.
template <unsigned K, unsigned THREADS, unsigned ITEMS, class Counts>
__device__ __forceinline__ void select_row(const Selection& selection) {
    using Selector = Bits<K, THREADS, Counts>;
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, selection.by_ballot);
    unsigned query = blockIdx.x;
    const float* row = selection.distances + query * selection.pitch;
    float bound = infinite_distance();
    if (selection.sampled > 0) {
        bound = sampled_bound<THREADS>(row, selection.n, {selection.minima, selection.group, selection.sampled}, memory.taken);
    }
    for (;;) {
        if (threadIdx.x == 0) {
            memory.taken[0] = 0;
        }
        __syncthreads();
        bits.restart(bound);
        if constexpr (Counts::COUNTED) {
            stream<THREADS, ITEMS>(bits, row, 0, selection.n);
        } else {
            RowBatches<THREADS, ITEMS> batches(row, 0, selection.n, selection.prefetch);
            bits.template take_apart<ITEMS>(batches);
        }
        // The bound was too small: once more, without.
        if (bits.all_taken >= min(selection.k, selection.n) || bound == infinite_distance()) {
            break;
        }
        bits.counts.restart();
        bound = infinite_distance();
    }
    if (bits.buffered > 0) {
        bits.merge(true);
    }
    size_t at = static_cast<size_t>(selection.first_query + query) * selection.k;
    bits.write(selection.indices + at, selection.squared_distances + at);
    bits.counts.write(selection.counts + query * COUNTS);
}

// The bounds of rows that are divided. A block a row.
template <unsigned THREADS>
__device__ __forceinline__ void bound_row(const Selection& selection) {
    __shared__ unsigned totals[2];
    float bound = infinite_distance();
    if (selection.sampled > 0) {
        const float* row = selection.distances + blockIdx.x * selection.pitch;
        bound = sampled_bound<THREADS>(row, selection.n, {selection.minima, selection.group, selection.sampled}, totals);
    }
    if (threadIdx.x == 0) {
        selection.bounds[blockIdx.x] = bound;
    }
}

// A part of a row: its keys that may be among the k smallest, in any order unless they were merged.
template <unsigned K, unsigned THREADS, unsigned ITEMS>
__device__ __forceinline__ void select_part(const Selection& selection) {
    using Selector = Bits<K, THREADS, Uncounted>;
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, selection.by_ballot);
    unsigned part = blockIdx.x, query = blockIdx.y;
    const float* row = selection.distances + query * selection.pitch;
    unsigned begin = part * selection.part, end = min(selection.n, begin + selection.part);
    if (threadIdx.x == 0) {
        memory.taken[0] = 0;
    }
    __syncthreads();
    bits.restart(selection.bounds[query]);
    RowBatches<THREADS, ITEMS> batches(row, begin, end, selection.prefetch);
    bits.template take_apart<ITEMS>(batches);
    size_t number = static_cast<size_t>(query) * selection.parts + part;
    Key* kept = selection.kept + number * K;
    unsigned count = bits.buffered;
    if (bits.all_taken > bits.buffered) {
        if (bits.buffered > 0) {
            bits.merge(true);
        }
        count = min(bits.all_taken, selection.k);
        if (threadIdx.x < Selector::N) {
#pragma unroll
            for (unsigned i = 0; i < Selector::T; ++i) {
                kept[threadIdx.x * Selector::T + i] = bits.keys[i];
            }
        }
    } else {
        for (unsigned slot = threadIdx.x; slot < count; slot += THREADS) {
            kept[slot] = memory.buffer[Selector::place(slot)];
        }
    }
    if (threadIdx.x == 0) {
        selection.part_counts[number] = count;
    }
}

// The k smallest of what the parts of a row kept; of the whole row, if the bound was too small for that. A block a row.
template <unsigned K, unsigned THREADS, unsigned ITEMS>
__device__ __forceinline__ void combine_parts(const Selection& selection) {
    using Selector = Bits<K, THREADS, Uncounted>;
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, 0);
    unsigned query = blockIdx.x;
    const unsigned* part_counts = selection.part_counts + static_cast<size_t>(query) * selection.parts;
    unsigned found = 0;
    if (threadIdx.x < 2) {
        memory.taken[threadIdx.x] = 0;
    }
    __syncthreads();
    for (unsigned part = threadIdx.x; part < selection.parts; part += THREADS) {
        found += part_counts[part];
    }
    found = warp::reduce_add(found);
    if (warp::lane_id() == 0) {
        atomicAdd(&memory.taken[1], found);
    }
    bits.restart(infinite_distance());
    __syncthreads();
    found = memory.taken[1];
    if (found < min(selection.k, selection.n)) {
        RowBatches<THREADS, ITEMS> batches(selection.distances + query * selection.pitch, 0, selection.n, 0);
        bits.template take_apart<ITEMS>(batches);
    } else {
        KeptKeys<K, THREADS> keys{selection.kept + static_cast<size_t>(query) * selection.parts * K, part_counts, selection.parts};
        bits.template take_apart<1>(keys);
    }
    if (bits.buffered > 0) {
        bits.merge(true);
    }
    size_t at = static_cast<size_t>(selection.first_query + query) * selection.k;
    bits.write(selection.indices + at, selection.squared_distances + at);
}

}  // namespace warpscope::select

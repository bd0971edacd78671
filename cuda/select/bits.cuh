// Bitonic select: a block a query, which keeps the K smallest of a row sorted in registers and collects
// candidates in a buffer of K keys (Hanák 2023, §4.1). Twin of crates/engines/src/select/bits.rs.
//
// Scope: all threads of the block call together, whoever holds keys, but for what says otherwise.
//
// The order is by (distance, position). In the timed build the warps read on by themselves and meet where the
// buffer is full, so a distance that equals the bound may be of an earlier position: what is not farther is
// compared by key. The counted build reads in step, batch after batch, and takes slots in the order of
// threads, so that its counts can be repeated. Both ways are here, hence more than 300 lines.
#pragma once

#include "block/bitonic.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "ptx.cuh"
#include "select/interface.cuh"
#include "select/row_batches.cuh"
#include "select/sample.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// What is counted of a row, the same in every thread. The timed build does not write it, so the compiler
// leaves it out.
struct RowCounts {
    unsigned merges = 0, forced = 0, taken = 0, restarts = 0;

    __device__ __forceinline__ void write(unsigned* counts) const {
        if (threadIdx.x == 0) {
            write_counts(counts, merges, forced, taken, restarts);
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

// K, a power of two from 64 on: sorting fewer has no barrier between the reads of `taken` and its reset.
// THREADS of the block.
template <unsigned K, unsigned THREADS>
struct Bits {
    static_assert(K > WARP, "a merge needs a barrier");
    static constexpr unsigned N = K < THREADS ? K : THREADS;  // threads that hold keys
    static constexpr unsigned T = K / N;                      // keys of each
    static constexpr unsigned SLOTS = K;                      // of the buffer

    using Memory = BitsMemory<K, THREADS>;

    // Where a slot lies: slots are elements, T consecutive ones a thread, and row i holds the i-th of each
    // thread.
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
    RowCounts counts;

    __device__ __forceinline__ Bits(Memory& memory, unsigned k, unsigned by_ballot)
        : memory(memory), k(k), by_ballot(by_ballot) {}

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

    // Begins again, once all threads have read how many slots were taken.
    __device__ __forceinline__ void begin(float new_bound) {
        __syncthreads();
        if (threadIdx.x == 0) {
            memory.taken[0] = 0;
        }
        __syncthreads();
        restart(new_bound);
    }

    // A slot for a candidate in the order of threads, after those that were taken; at least K if there is
    // none.
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

    // Appends the candidates of a batch: `waiting` has a bit for each of this thread's keys that may be one.
    // Returns those for which there was no slot; memory.taken[0] is the number of slots that were asked for.
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

    // Takes the candidates of a source, each warp by itself. All meet in one place, where the buffer is full
    // and at the end: whoever has read all comes and waits for the others.
    template <int ITEMS, class Source>
    __device__ __forceinline__ void take_apart(Source& source) {
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
                if (__any_sync(ALL_LANES, waiting != 0 || ptx::load_relaxed_shared(memory.taken) >= K)) {
                    break;
                }
            }
        } while (meet());
    }

    // After a barrier: whether all slots are taken. What was appended since the last call is counted.
    __device__ __forceinline__ bool is_full() {
        unsigned taken = min(memory.taken[0], K);
        counts.taken += taken - buffered;
        all_taken += taken - buffered;
        buffered = taken;
        return taken == K;
    }

    // All threads meet, and merge if the buffer is full. False if it is not: then nobody has anything left,
    // since whoever has comes only for that.
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
        counts.merges += 1;
        counts.forced += forced;
        if (buffered < K) {
            for (unsigned slot = buffered + thread; slot < K; slot += THREADS) {
                memory.buffer[place(slot)] = PADDING;
            }
            __syncthreads();
        }
        // Of a buffer that is not full the threads that hold what was taken are sorted, and what is after
        // them is padding.
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
            // 3. min(i, K - 1 - i) with what was kept: element K - 1 - i lies with the mirrored thread, in
            //    its mirrored row.
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
        Key last = register_at(keys, (k - 1) % T);
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

    __device__ __forceinline__ void write(const AnswerRow& row) const {
        if (threadIdx.x < N) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                unsigned element = threadIdx.x * T + i;
                if (element < k) {
                    row.put(element, keys[i]);
                }
            }
        }
    }

   private:
    using Bitonic = block::Bitonic<T, N>;
};

// Takes the candidates of a batch of all threads, in the order of threads where that is counted. Merges
// whenever the buffer is full.
template <unsigned ITEMS, bool IN_ORDER, class Selector, class KeyAt>
__device__ __forceinline__ void take(Selector& bits, unsigned waiting, KeyAt key_at) {
    for (;;) {
        waiting = bits.template append<ITEMS, IN_ORDER>(waiting, key_at);
        // Slots were written by other threads than those that read them.
        __syncthreads();
        if (!bits.is_full()) {
            return;
        }
        bits.merge(false);
        if (!__syncthreads_or(waiting != 0)) {
            return;
        }
    }
}

// The candidates of distances `begin` to `end` of a row, all threads in step; both are multiples of four, or
// `end` is n.
template <unsigned THREADS, unsigned ITEMS, bool IN_ORDER, class Selector>
__device__ __forceinline__ void stream(Selector& bits, const float* row, unsigned begin, unsigned end) {
    using Read = Batch<THREADS, ITEMS>;
    for (unsigned first = begin; first < end; first += THREADS * ITEMS) {
        Read batch;
        batch.load(row, first, end, threadIdx.x);
        unsigned waiting = batch.within(bits.bound);
        if (__syncthreads_or(waiting != 0)) {
            take<ITEMS, IN_ORDER>(bits, waiting, [&](int i) {
                return key_of(batch.distances[i], first + Read::place(threadIdx.x, i));
            });
        }
    }
}

// Merges what is left in the buffer, and writes a query's answer.
template <bool COUNTED, class Selector>
__device__ __forceinline__ void finish(Selector& bits, const Selection& selection, unsigned query) {
    if (bits.buffered > 0) {
        bits.merge(true);
    }
    bits.write(AnswerRow(selection, selection.first_query + query));
    if constexpr (COUNTED) {
        bits.counts.write(selection.counts + query * COUNTS);
    }
}

// A row that is not divided: one block finds its k smallest.
template <unsigned K, unsigned THREADS, unsigned ITEMS, unsigned STAGES, bool COUNTED>
__device__ __forceinline__ void select_row(const Selection& selection) {
    using Selector = Bits<K, THREADS>;
    extern __shared__ float4 ring[];
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, selection.by_ballot);
    unsigned query = blockIdx.x;
    const float* row = selection.distances + query * selection.pitch;
    for (bool sampled = selection.sampled > 0;; sampled = false) {
        auto bound = [&] {
            return sampled ? sampled_bound<THREADS>(row, selection.n,
                                                    {selection.minima, selection.group, selection.sampled},
                                                    memory.taken)
                           : infinite_distance();
        };
        if constexpr (COUNTED) {
            bits.begin(bound());
            stream<THREADS, ITEMS, true>(bits, row, 0, selection.n);
        } else {
            // The first batches are under way while the sample is looked at.
            RowBatches<THREADS, ITEMS, STAGES> batches(ring, row, 0, selection.n, selection.prefetch);
            bits.begin(bound());
            bits.template take_apart<ITEMS>(batches);
        }
        if (!sampled || bits.all_taken >= min(selection.k, selection.n)) {
            break;
        }
        // The bound was too small: once more, without.
        bits.counts.restarts += 1;
    }
    finish<COUNTED>(bits, selection, query);
}

}  // namespace warpscope::select

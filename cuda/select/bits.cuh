// Bitonic select: one block per query keeps the K smallest of a row sorted in registers and collects
// candidates in a buffer of K keys (Hanák 2023, §4.1). Twin of crates/engines/src/select/bits.rs.
//
// Scope: all threads of the block call together, including those without keys, unless stated otherwise.
//
// The order is by (distance, position). In the timed build, warps read ahead independently and meet when the
// buffer is full. A distance equal to the bound may therefore have an earlier position, so distances that do
// not exceed the bound are compared by key. The counted build reads batch by batch in lockstep and fills
// slots in the order of threads, so that its counts are reproducible. Both variants are here, hence more than
// 300 lines.
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

// The counters of a row, equal in all threads. The timed build does not write them, so the compiler removes
// them.
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

// K is a power of two, at least 64: sorting fewer has no barrier between the reads of `taken` and its reset.
// THREADS per block.
template <unsigned K, unsigned THREADS>
struct Bits {
    static_assert(K > WARP, "a merge needs a barrier");
    static constexpr unsigned N = K < THREADS ? K : THREADS;  // threads that hold keys
    static constexpr unsigned T = K / N;                      // keys of each
    static constexpr unsigned SLOTS = K;                      // of the buffer

    using Memory = BitsMemory<K, THREADS>;

    // Location of a slot in the buffer. Slots are elements, T consecutive ones per thread; row i holds the
    // i-th of each thread.
    static __device__ __forceinline__ unsigned slot_index(unsigned slot) { return slot % T * N + slot / T; }

    Memory& memory;
    unsigned k;
    unsigned by_ballot;
    unsigned buffered = 0;  // occupied slots
    bool empty = true;      // no merge yet
    unsigned all_taken = 0;
    Key keys[T];
    Key limit;    // candidates must be below this key
    float bound;  // candidates must not be above this distance
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

    // Restarts, after all threads have read the number of occupied slots.
    __device__ __forceinline__ void begin(float new_bound) {
        __syncthreads();
        if (threadIdx.x == 0) {
            memory.taken[0] = 0;
        }
        __syncthreads();
        restart(new_bound);
    }

    // A slot for a candidate, in the order of threads; at least K if none is free.
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

    // A slot for a candidate, in any order of threads. All lanes of a warp call together.
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
    // Returns the keys that got no slot; memory.taken[0] is the number of slots requested.
    template <int ITEMS, bool IN_ORDER, class KeyAt>
    __device__ __forceinline__ unsigned append(unsigned waiting, KeyAt key_at) {
#pragma unroll
        for (int i = 0; i < ITEMS; ++i) {
            bool may = (waiting >> i & 1) != 0;
            // Most warps have no candidate.
            if (!IN_ORDER && !__any_sync(ALL_LANES, may)) {
                continue;
            }
            Key key = key_at(i);
            bool candidate = may && key < limit;
            unsigned slot = IN_ORDER ? next_slot(candidate) : any_slot(candidate);
            if (candidate && slot < K) {
                memory.buffer[slot_index(slot)] = key;
            }
            if (!candidate || slot < K) {
                waiting &= ~(1u << i);
            }
        }
        return waiting;
    }

    // Collects the candidates of a source, each warp independently. All warps meet when the buffer is full
    // and at the end: a warp that has read everything waits there for the others.
    template <int ITEMS, class Source>
    __device__ __forceinline__ void collect_by_warp(Source& source) {
        unsigned waiting = 0;
        do {
            for (;;) {
                if (!__any_sync(ALL_LANES, waiting != 0)) {
                    if (!source.next()) {
                        break;
                    }
                    waiting = source.within(bound);
                }
                // Most batches have no candidate.
                if (__any_sync(ALL_LANES, waiting != 0)) {
                    waiting = append<ITEMS, false>(waiting, [&](int i) { return source.key_at(i); });
                }
                // The buffer is full: some lane, here or in another warp, got no slot.
                if (__any_sync(ALL_LANES, waiting != 0 || ptx::load_relaxed_shared(memory.taken) >= K)) {
                    break;
                }
            }
        } while (sync_and_merge());
    }

    // After a barrier: whether all slots are occupied. Counts the candidates appended since the last call.
    __device__ __forceinline__ bool is_full() {
        unsigned taken = min(memory.taken[0], K);
        counts.taken += taken - buffered;
        all_taken += taken - buffered;
        buffered = taken;
        return taken == K;
    }

    // All threads meet, and merge if the buffer is full. Returns false if it is not: then all warps have read
    // everything, since only that brings them here.
    __device__ __forceinline__ bool sync_and_merge() {
        __syncthreads();
        bool full = is_full();
        if (full) {
            merge(false);
        }
        return full;
    }

    // Merges the buffer into the kept keys.
    __device__ __forceinline__ void merge(bool forced) {
        Bitonic network{memory.exchange};
        unsigned thread = threadIdx.x;
        counts.merges += 1;
        counts.forced += forced;
        if (buffered < K) {
            for (unsigned slot = buffered + thread; slot < K; slot += THREADS) {
                memory.buffer[slot_index(slot)] = PADDING;
            }
            __syncthreads();
        }
        // If the buffer is not full, only the threads that hold candidates sort; the rest is padding.
        unsigned threads = N;
        while (threads > 1 && threads / 2 * T >= buffered) {
            threads /= 2;
        }
        // 1. Swap: the same thread reads and writes each slot.
        if (thread < N) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                Key candidate = memory.buffer[i * N + thread];
                memory.buffer[i * N + thread] = keys[i];
                keys[i] = candidate;
            }
        }
        // 2. Sort the candidates.
        network.sort(keys, threads);
        if (!empty) {
            __syncthreads();
            // 3. min(i, K - 1 - i) with the kept keys: element K - 1 - i is in the mirrored thread's mirrored
            //    row.
            if (thread < N) {
#pragma unroll
                for (unsigned i = 0; i < T; ++i) {
                    Key other = memory.buffer[(T - 1 - i) * N + (N - 1 - thread)];
                    keys[i] = choose(other < keys[i], other, keys[i]);
                }
            }
            // 4. The result is bitonic, so one merge sorts it.
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
        // Also, the next append must not overtake the reads of the minimum.
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

// Appends all candidates of a batch, in the order of threads if IN_ORDER. Merges whenever the buffer is full.
template <unsigned ITEMS, bool IN_ORDER, class Selector, class KeyAt>
__device__ __forceinline__ void append_all(Selector& bits, unsigned waiting, KeyAt key_at) {
    for (;;) {
        waiting = bits.template append<ITEMS, IN_ORDER>(waiting, key_at);
        // Other threads read the slots.
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

// Collects the candidates among distances `begin` to `end` of a row, with all threads in lockstep. Both are
// multiples of four, or `end` is n.
template <unsigned THREADS, unsigned ITEMS, bool IN_ORDER, class Selector>
__device__ __forceinline__ void stream(Selector& bits, const float* row, unsigned begin, unsigned end) {
    using Read = Batch<THREADS, ITEMS>;
    for (unsigned first = begin; first < end; first += THREADS * ITEMS) {
        Read batch;
        batch.load(row, first, end, threadIdx.x);
        unsigned waiting = batch.within(bits.bound);
        if (__syncthreads_or(waiting != 0)) {
            append_all<ITEMS, IN_ORDER>(bits, waiting, [&](int i) {
                return key_of(batch.distances[i], first + Read::offset(threadIdx.x, i));
            });
        }
    }
}

// Merges the rest of the buffer, and writes a query's answer.
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

// Finds the k smallest of an undivided row, as one block.
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
            // The first batches are in flight while the sample is processed.
            RowBatches<THREADS, ITEMS, STAGES> batches(ring, row, 0, selection.n, selection.prefetch);
            bits.begin(bound());
            bits.template collect_by_warp<ITEMS>(batches);
        }
        if (!sampled || bits.all_taken >= min(selection.k, selection.n)) {
            break;
        }
        // The bound was too small: repeat without a bound.
        bits.counts.restarts += 1;
    }
    finish<COUNTED>(bits, selection, query);
}

}  // namespace warpscope::select

// Bitonic select for more neighbours than a block's registers hold: one block per query, K = 4,096 sorted
// keys in global memory, and a buffer of half that size in shared memory (Hanák 2023, §5.6). Twin of
// crates/engines/src/select/bits_global.rs.
//
// Scope: all threads of the block call together. The row is read batch by batch, in lockstep.
//
// A merge sorts the buffer in registers, as bits does, and takes the minimum with the upper half of the list.
// The result is bitonic. Its first layer of comparators is between the halves; each half is then sorted in
// registers and written back. Element e of a half is stored in row e % T of thread e / T, so a thread reads
// only what it wrote.
#pragma once

#include "select/bits.cuh"

namespace warpscope::select {

template <unsigned THREADS>
struct BitsGlobal : Bits<GLOBAL_SLOTS, THREADS> {
    using Buffered = Bits<GLOBAL_SLOTS, THREADS>;
    using Buffered::T;
    using Buffered::N;
    using Network = block::Bitonic<T, N>;
    static constexpr unsigned SLOTS = GLOBAL_SLOTS;
    static_assert(GLOBAL_KEPT == 2 * SLOTS && N == THREADS,
                  "two halves, and every thread has a part of each");

    Key* kept;  // GLOBAL_KEPT keys, valid after the first merge

    __device__ __forceinline__ BitsGlobal(typename Buffered::Memory& memory, unsigned k, Key* kept)
        : Buffered(memory, k, 0), kept(kept) {}

    // Merges the buffer into the kept keys.
    __device__ __forceinline__ void merge(bool forced) {
        auto& memory = this->memory;
        unsigned thread = threadIdx.x, k = this->k;
        Network network{memory.exchange};
        this->counts.merges += 1;
        this->counts.forced += forced;
        for (unsigned slot = this->buffered + thread; slot < SLOTS; slot += THREADS) {
            memory.buffer[Buffered::slot_index(slot)] = PADDING;
        }
        __syncthreads();
        // Only the threads that hold candidates sort; the rest is padding.
        unsigned threads = N;
        while (threads > 1 && threads / 2 * T >= this->buffered) {
            threads /= 2;
        }
        Key keys[T];
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            keys[i] = memory.buffer[i * N + thread];
        }
        network.sort(keys, threads);
        // The same thread reads and writes each slot, so this needs no barrier before.
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            memory.buffer[i * N + thread] = keys[i];
        }
        __syncthreads();
#pragma unroll 2
        for (unsigned i = 0; i < T; ++i) {
            unsigned at = i * N + thread;
            Key low = this->empty ? PADDING : kept[at], high = this->empty ? PADDING : kept[SLOTS + at];
            // min(i, K - 1 - i): the buffer's mirrored element is in the mirrored thread's mirrored row.
            Key other = memory.buffer[(T - 1 - i) * N + (N - 1 - thread)];
            high = choose(other < high, other, high);
            kept[at] = choose(high < low, high, low);
            kept[SLOTS + at] = choose(high < low, low, high);
        }
        this->empty = false;
        Key last = PADDING;
#pragma unroll 1
        for (Key* half = kept; half < kept + GLOBAL_KEPT; half += SLOTS) {
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                keys[i] = half[i * N + thread];
            }
            network.merge(keys);
#pragma unroll
            for (unsigned i = 0; i < T; ++i) {
                half[i * N + thread] = keys[i];
                last = choose((k - 1) / SLOTS * SLOTS == half - kept && (k - 1) % T == i, keys[i], last);
            }
        }
        if (thread == (k - 1) % SLOTS / T) {
            memory.limit = last;
        }
        if (thread == 0) {
            memory.taken[0] = 0;
        }
        // Also, the next append must not overtake the reads of the minimum.
        __syncthreads();
        // After a merge there may still be fewer than k keys; a row's padding must not become a candidate.
        this->limit = min(memory.limit, key_of(infinite_distance(), 0));
        this->bound = distance_of(this->limit);
        this->buffered = 0;
    }

    __device__ __forceinline__ void write(const AnswerRow& row) const {
        for (unsigned i = 0; i < 2 * T; ++i) {
            unsigned element = i / T * SLOTS + threadIdx.x * T + i % T;
            if (element < this->k) {
                row.put(element, kept[i * N + threadIdx.x]);
            }
        }
    }
};

// Finds the k smallest of a row, as one block.
template <unsigned THREADS, unsigned ITEMS, bool COUNTED>
__device__ __forceinline__ void select_row_global(const Selection& selection) {
    using Selector = BitsGlobal<THREADS>;
    __shared__ typename Selector::Memory memory;
    unsigned query = blockIdx.x;
    Selector bits(memory, selection.k, row_of(selection.kept, query, GLOBAL_KEPT));
    const float* row = selection.distances + query * selection.pitch;
    float bound = infinite_distance();
    if (selection.sampled > 0) {
        bound = sampled_bound<THREADS>(row, selection.n,
                                       {selection.minima, selection.group, selection.sampled}, memory.taken);
    }
    for (;;) {
        bits.begin(bound);
        stream<THREADS, ITEMS, COUNTED>(bits, row, 0, selection.n);
        // The bound was too small: repeat without a bound.
        if (bits.all_taken >= min(selection.k, selection.n) || bound == infinite_distance()) {
            break;
        }
        bits.counts.restarts += 1;
        bound = infinite_distance();
    }
    finish<COUNTED>(bits, selection, query);
}

}  // namespace warpscope::select

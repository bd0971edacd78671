// Merge path: one block per query sorts a row run by run, by merging shorter runs, and merges each run into
// the K smallest (Hanák 2023, §3.4.2). Twin of crates/engines/src/select/merge_path.rs.
//
// Two sorted runs a and b span a matrix, and their merge is a path through it: down for a key of a, right for
// one of b. Output i is on the cross diagonal i, where a binary search finds how many keys of a precede it.
// So each thread finds where its outputs begin, and merges them one after another. Merges are cut off after K
// outputs.
//
// Scope: all threads of the block call together, unless stated otherwise.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "lane.cuh"
#include "select/interface.cuh"
#include "select/row_batches.cuh"

namespace warpscope::select {

// K, a power of two, at least 128.
template <unsigned KEYS>
struct PathShape {
    static constexpr unsigned K = KEYS;
    static constexpr unsigned THREADS = K <= 1024 ? PATH_FEW_THREADS : PATH_THREADS;
    static constexpr unsigned RUN = THREADS * PATH_KEYS;  // distances read at a time, at least K

    // Inserts one key of padding after every sixteen keys, which span all banks, so that threads that walk
    // side by side avoid bank conflicts.
    static __device__ __forceinline__ constexpr unsigned padded_index(unsigned i) { return i + i / 16; }

    struct Memory {
        Key kept[K + K / 16];
        Key runs[RUN + RUN / 16];
    };
};

template <unsigned KEYS>
struct MergePath {
    using Shape = PathShape<KEYS>;
    static constexpr unsigned K = Shape::K;
    static constexpr unsigned THREADS = Shape::THREADS;

    typename Shape::Memory& memory;
    // Merges and pairs are equal in all threads; steps are per thread. The timed build does not write them.
    unsigned merges = 0, pairs = 0, steps = 0;

    __device__ __forceinline__ explicit MergePath(typename Shape::Memory& memory) : memory(memory) {
        for (unsigned i = threadIdx.x; i < K; i += THREADS) {
            memory.kept[Shape::padded_index(i)] = PADDING;
        }
    }

    // A key, by its index without padding.
    static __device__ __forceinline__ Key at(const Key* keys, unsigned i) {
        return keys[Shape::padded_index(i)];
    }

    // Reads PATH_KEYS distances per thread. Sorts them by odd-even transposition.
    __device__ __forceinline__ void load_runs(const float* row, unsigned first, unsigned n) {
        Key keys[PATH_KEYS];
        read_keys<THREADS>(keys, row, first, n, threadIdx.x);
        transpose(keys);
        put(memory.runs, threadIdx.x * PATH_KEYS, keys);
    }

    // Sorts a thread's own keys: each round compares every other pair of neighbours, with as many rounds as
    // keys.
    static __device__ __forceinline__ void transpose(Key (&keys)[PATH_KEYS]) {
#pragma unroll
        for (unsigned round = 0; round < PATH_KEYS; ++round) {
#pragma unroll
            for (unsigned i = round % 2; i + 1 < PATH_KEYS; i += 2) {
                exchange(keys[i], keys[i + 1]);
            }
        }
    }

    // Writes this thread's keys, after all threads have read the old ones.
    template <unsigned ITEMS>
    static __device__ __forceinline__ void put(Key* to, unsigned first, const Key (&keys)[ITEMS]) {
        __syncthreads();
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
            to[Shape::padded_index(first + i)] = keys[i];
        }
        __syncthreads();
    }

    // The number of keys of a among the first `diagonal` of the merge of a and b, which have `length` keys
    // each. Those of a begin at `as[a]`, those of b at `bs[b]`.
    __device__ __forceinline__ unsigned search_path(const Key* as, unsigned a, const Key* bs, unsigned b,
                                                    unsigned length, unsigned diagonal) {
        unsigned low = diagonal > length ? diagonal - length : 0, high = min(diagonal, length);
#pragma unroll 1
        while (low < high) {
            unsigned middle = (low + high) / 2;
            steps += 1;
            if (at(as, a + middle) < at(bs, b + diagonal - 1 - middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    // A thread's part of a merge: ITEMS outputs from `diagonal` on.
    template <unsigned ITEMS>
    __device__ __forceinline__ void merge_along(Key (&out)[ITEMS], const Key* as, unsigned a, const Key* bs,
                                                unsigned b, unsigned length, unsigned diagonal) {
        unsigned of_a = search_path(as, a, bs, b, length, diagonal), of_b = diagonal - of_a;
        // Padding represents the end of a run: it is never chosen before a real key.
        Key key_a = of_a < length ? at(as, a + of_a) : PADDING;
        Key key_b = of_b < length ? at(bs, b + of_b) : PADDING;
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
            bool takes_a = key_a < key_b;
            out[i] = choose(takes_a, key_a, key_b);
            if (i + 1 < ITEMS) {
                of_a += takes_a;
                of_b += !takes_a;
                Key next = PADDING;
                if (takes_a ? of_a < length : of_b < length) {
                    next = takes_a ? at(as, a + of_a) : at(bs, b + of_b);
                }
                key_a = choose(takes_a, next, key_a);
                key_b = choose(takes_a, key_b, next);
            }
        }
    }

    // Merges COUNT runs of LENGTH keys, stored one after another in shared memory, in pairs until one is
    // left. It has K keys.
    template <unsigned COUNT, unsigned LENGTH>
    __device__ __forceinline__ void merge_runs() {
        if constexpr (COUNT > 1) {
            constexpr unsigned OUT = 2 * LENGTH < K ? 2 * LENGTH : K;
            constexpr unsigned ITEMS = COUNT / 2 * OUT / THREADS;
            unsigned first = threadIdx.x * ITEMS, a = first / OUT * 2 * LENGTH;
            Key out[ITEMS];
            merge_along(out, memory.runs, a, memory.runs, a + LENGTH, LENGTH, first % OUT);
            put(memory.runs, first, out);
            pairs += COUNT / 2;
            merge_runs<COUNT / 2, OUT>();
        }
    }

    // Merges the remaining run into the kept keys.
    __device__ __forceinline__ void merge_kept() {
        constexpr unsigned ITEMS = K / THREADS;
        unsigned first = threadIdx.x * ITEMS;
        Key out[ITEMS];
        merge_along(out, memory.kept, 0, memory.runs, 0, K, first);
        put(memory.kept, first, out);
        merges += 1;
    }
};

// One block per query.
template <unsigned K, bool COUNTED>
__device__ __forceinline__ void merge_path(const Selection& selection) {
    using Shape = PathShape<K>;
    __shared__ typename Shape::Memory memory;
    unsigned query = blockIdx.x;
    const float* row = selection.distances + query * selection.pitch;
    MergePath<K> path(memory);
    unsigned runs = (selection.n - 1) / Shape::RUN + 1;
#pragma unroll 1
    for (unsigned i = 0; i < runs; ++i) {
        path.load_runs(row, i * Shape::RUN, selection.n);
        path.template merge_runs<Shape::THREADS, PATH_KEYS>();
        path.merge_kept();
    }
    size_t first = static_cast<size_t>(selection.first_query + query) * selection.k;
    for (unsigned i = threadIdx.x; i < selection.k; i += Shape::THREADS) {
        Key key = path.at(memory.kept, i);
        selection.indices[first + i] = index_of(key);
        selection.squared_distances[first + i] = distance_of(key);
    }
    if constexpr (COUNTED) {
        // The counts are zero before.
        unsigned* counts = selection.counts + query * COUNTS;
        atomicAdd(counts + 2, path.steps);
        if (threadIdx.x == 0) {
            write_counts(counts, path.merges, path.pairs);
        }
    }
}

}  // namespace warpscope::select

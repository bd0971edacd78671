// Sort: a radix sort of all distances of a row, from the lowest digit to the highest; the baseline of all
// selectors (Hanák 2023, §3.4.3). Twin of crates/engines/src/select/sort.rs. It also sorts the results of the
// multi-pass selectors.
//
// Scope: one block per row, of ROW_THREADS threads, one per digit. It counts the digits of all passes while
// reading the row once. A block processes its whole row tile by tile, so it knows where the next keys of each
// digit go without communicating with other blocks. The keys are the distances alone. The sort is stable, so
// equal distances stay in the order of positions.
//
// A single row is sorted on all multiprocessors by the index's radix sort (index/radix_sort.cuh).
#pragma once

#include "block/radix_tile.cuh"
#include "instrumentation.cuh"
#include "key.cuh"
#include "select/interface.cuh"

namespace warpscope::select {

// Keys of a tile per thread: with more, registers would limit the blocks per multiprocessor.
constexpr unsigned ROW_ITEMS = 10;
using RowTile = block::RadixTile<ROW_BITS, ROW_ITEMS>;
constexpr unsigned ROW_DIGITS = RowTile::DIGITS;
static_assert(ROW_DIGITS == ROW_THREADS, "a thread has a digit");

// Copies of the digit counters, used by different lanes, because the upper bits of distances are often equal.
constexpr unsigned TALLIES = 8;

struct SortMemory {
    union {
        unsigned tallies[ROW_PASSES][ROW_DIGITS][TALLIES];
        RowTile tile;
    };
    unsigned counts[ROW_PASSES][ROW_DIGITS];
};

// Keys in device memory: the bits of distances, and their positions.
struct Keys {
    unsigned* distances;
    unsigned* positions;
};

// Counts the digits of all passes: a pass changes the order of keys, not their digits.
__device__ __forceinline__ void tally(SortMemory& memory, const unsigned* distances, unsigned count) {
    for (unsigned i = 0; i < ROW_PASSES * TALLIES; ++i) {
        (&memory.tallies[0][0][0])[i * ROW_THREADS + threadIdx.x] = 0;
    }
    __syncthreads();
    unsigned rest = count;
    for (const unsigned* begin = distances; rest > 0;
         begin += min(rest, RowTile::KEYS), rest -= min(rest, RowTile::KEYS)) {
#pragma unroll
        for (unsigned item = 0; item < ROW_ITEMS; ++item) {
            unsigned at = item * ROW_THREADS + threadIdx.x;
            if (at < rest) {
                unsigned key = begin[at];
#pragma unroll
                for (unsigned pass = 0; pass < ROW_PASSES; ++pass) {
                    atomicAdd(
                        &memory.tallies[pass][RowTile::digit_of(key, pass * ROW_BITS)][threadIdx.x % TALLIES],
                        1);
                }
            }
        }
    }
    __syncthreads();
    for (unsigned pass = 0; pass < ROW_PASSES; ++pass) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned i = 0; i < TALLIES; ++i) {
            // Neighbouring threads start at different copies, which avoids bank conflicts.
            sum += memory.tallies[pass][threadIdx.x][(threadIdx.x + i) % TALLIES];
        }
        memory.counts[pass][threadIdx.x] = sum;
    }
    __syncthreads();
}

// Writes each key after those with lower digits and after earlier ones with the same digit; keys whose index
// is not below `kept` are dropped. Keys without positions are in the order of positions.
__device__ __forceinline__ void sort_pass(SortMemory& memory, Keys from, Keys to, unsigned count,
                                          unsigned kept, unsigned pass) {
    RowTile& tile = memory.tile;
    unsigned shift = pass * ROW_BITS;
    // Where the next key of this thread's digit goes.
    unsigned place = block::exclusive_sum(memory.counts[pass][threadIdx.x], tile.sums);
    unsigned first = 0;
    for (unsigned rest = count; rest > 0; first += RowTile::KEYS) {
        unsigned in_this = min(rest, RowTile::KEYS);
        RowTile::Items items;
        RowTile::read(items, from.distances, from.positions, first, in_this);
        unsigned own = tile.rank(items, in_this, shift);
        unsigned in_tile = block::exclusive_sum(own, tile.sums);
        tile.write(items, in_this, shift, in_tile, place, [&](unsigned at, unsigned key, unsigned number) {
            if (at < kept) {
                to.distances[at] = key;
                to.positions[at] = number;
            }
        });
        place += own;
        rest -= in_this;
        // The next tile reuses the memory read here; and all writes become visible to all threads.
        __syncthreads();
    }
}

// Sorts `count` keys and writes the first `kept`. `keys(pass)` is the input of a pass and the output of the
// previous one; passes 0, 2 and 4 may share it.
template <class At>
__device__ __forceinline__ void sort_row(unsigned count, unsigned kept, At keys) {
    __shared__ SortMemory memory;
    tally(memory, keys(0).distances, count);
#pragma unroll 1
    for (unsigned pass = 0; pass < ROW_PASSES; ++pass) {
        sort_pass(memory, keys(pass), keys(pass + 1), count, pass + 1 < ROW_PASSES ? count : kept, pass);
    }
}

// Pads rows with fewer than k distances.
__device__ __forceinline__ void pad(const Keys& answer, unsigned count, unsigned k) {
    for (size_t at = static_cast<size_t>(count) + threadIdx.x; at < k; at += ROW_THREADS) {
        answer.distances[at] = static_cast<unsigned>(PADDING >> 32);
        answer.positions[at] = index_of(PADDING);
    }
}

__device__ __forceinline__ Keys answer_keys(const Selection& selection, unsigned query) {
    size_t at = static_cast<size_t>(selection.first_query + query) * selection.k;
    return {reinterpret_cast<unsigned*>(selection.squared_distances) + at, selection.indices + at};
}

// The counts, which do not depend on the distances.
__device__ __forceinline__ void sort_counts(unsigned* counts, unsigned n, unsigned kept) {
    unsigned long long read = static_cast<unsigned long long>(n) * (1 + ROW_PASSES);
    unsigned long long written = static_cast<unsigned long long>(n) * (ROW_PASSES - 1) + kept;
    write_counts(counts, ROW_PASSES, saturated(read), saturated(written));
}

// Sorts a row of the matrix. A row needs four auxiliary words per distance.
template <bool COUNTED>
__device__ __forceinline__ void sort_distances(const MultiPass& passes) {
    const Selection& selection = passes.selection;
    unsigned query = blockIdx.x, kept = min(selection.n, selection.k);
    sort_row(selection.n, kept, [&](unsigned pass) -> Keys {
        if (pass == 0) {
            // This pointer is only read.
            return {const_cast<unsigned*>(
                        reinterpret_cast<const unsigned*>(selection.distances + query * selection.pitch)),
                    nullptr};
        }
        if (pass == ROW_PASSES) {
            return answer_keys(selection, query);
        }
        size_t quarter = passes.auxiliary_words / 4;
        unsigned* words =
            passes.auxiliary + query * passes.auxiliary_words + (pass % 2 == 0 ? 2 * quarter : 0);
        return {words, words + quarter};
    });
    pad(answer_keys(selection, query), kept, selection.k);
    if (COUNTED && threadIdx.x == 0) {
        sort_counts(selection.counts + query * COUNTS, selection.n, kept);
    }
}

// Sorts the selected distances of a row in place. A row needs two auxiliary words per distance.
__device__ __forceinline__ void sort_found(const MultiPass& passes) {
    const Selection& selection = passes.selection;
    unsigned query = blockIdx.x, kept = min(selection.n, selection.k);
    sort_row(kept, kept, [&](unsigned pass) -> Keys {
        unsigned* words = passes.auxiliary + query * passes.auxiliary_words;
        return pass % 2 == 0 ? answer_keys(selection, query) : Keys{words, words + kept};
    });
    pad(answer_keys(selection, query), kept, selection.k);
}

}  // namespace warpscope::select

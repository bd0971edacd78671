// Rows divided between blocks (Hanák 2023, §5.4.2), because few whole rows leave most of a GPU idle. One
// kernel bounds each row, one collects each part's keys within the bound, and one selects from those.
#pragma once

#include "select/bits.cuh"

namespace warpscope::select {

// A warp's share of the keys collected from the parts of a row: parts are assigned to warps in turn, and each
// lane reads one key. They are not ordered by position.
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

    __device__ __forceinline__ unsigned within(float bound) const {
        return distance_of(key) <= bound ? 1 : 0;
    }
    __device__ __forceinline__ Key key_at(int) const { return key; }
};

// The bounds of divided rows, with one block per row.
template <unsigned THREADS>
__device__ __forceinline__ void bound_row(const Selection& selection) {
    __shared__ unsigned totals[2];
    float bound = infinite_distance();
    if (selection.sampled > 0) {
        const float* row = selection.distances + blockIdx.x * selection.pitch;
        bound = sampled_bound<THREADS>(row, selection.n,
                                       {selection.minima, selection.group, selection.sampled}, totals);
    }
    if (threadIdx.x == 0) {
        selection.bounds[blockIdx.x] = bound;
    }
}

// Collects the keys of a part of a row that may be among the k smallest; unordered unless they were merged.
template <unsigned K, unsigned THREADS, unsigned ITEMS, unsigned STAGES>
__device__ __forceinline__ void select_part(const Selection& selection) {
    using Selector = Bits<K, THREADS>;
    extern __shared__ float4 ring[];
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, selection.by_ballot);
    unsigned part = blockIdx.x, query = blockIdx.y;
    const float* row = selection.distances + query * selection.pitch;
    // Parts are rounded up, so the last ones may be empty. The comparison avoids overflow past 2^32.
    unsigned begin = part * selection.part;
    unsigned end =
        begin < selection.n && selection.n - begin > selection.part ? begin + selection.part : selection.n;
    RowBatches<THREADS, ITEMS, STAGES> batches(ring, row, begin, end, selection.prefetch);
    if (threadIdx.x == 0) {
        memory.taken[0] = 0;
    }
    __syncthreads();
    bits.restart(selection.bounds[query]);
    bits.template collect_by_warp<ITEMS>(batches);
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
            kept[slot] = memory.buffer[Selector::slot_index(slot)];
        }
    }
    if (threadIdx.x == 0) {
        selection.part_counts[number] = count;
    }
}

// The k smallest of the keys collected from the parts of a row, or of the whole row if the bound was too
// small. One block per row.
template <unsigned K, unsigned THREADS, unsigned ITEMS, unsigned STAGES>
__device__ __forceinline__ void combine_parts(const Selection& selection) {
    using Selector = Bits<K, THREADS>;
    extern __shared__ float4 ring[];
    __shared__ typename Selector::Memory memory;
    Selector bits(memory, selection.k, 0);
    unsigned query = blockIdx.x;
    const unsigned* part_counts = row_of(selection.part_counts, query, selection.parts);
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
        RowBatches<THREADS, ITEMS, STAGES> batches(ring, selection.distances + query * selection.pitch, 0,
                                                   selection.n, 0);
        bits.template collect_by_warp<ITEMS>(batches);
    } else {
        KeptKeys<K, THREADS> keys{selection.kept + static_cast<size_t>(query) * selection.parts * K,
                                  part_counts, selection.parts};
        bits.template collect_by_warp<1>(keys);
    }
    finish<false>(bits, selection, query);
}

}  // namespace warpscope::select

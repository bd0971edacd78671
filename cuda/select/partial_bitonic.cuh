// Partial bitonic: one block per query sorts a row chunk by chunk and merges each chunk into the K smallest
// (Hanák 2023, §3.5.1). Twin of crates/engines/src/select/partial_bitonic.rs.
//
// There is no filter and no buffer: the network does the same work for any distances. A chunk has K keys. The
// kept keys are sorted too: the smaller of their element i and the chunk's element K - 1 - i is kept, and the
// result is bitonic.
//
// Scope: a team; all threads call together. In registers, a thread has up to 16 keys. If a warp can
// hold a chunk, each warp of a block is a team that takes every fourth chunk and has its own K keys, and the
// teams merge at the end. Otherwise the team is the block.
#pragma once

#include "block/bitonic.cuh"
#include "block/shared_bitonic.cuh"
#include "key.cuh"
#include "select/interface.cuh"
#include "select/row_batches.cuh"
#include "warp/lanes.cuh"

namespace warpscope::select {

// Layers of a sort of `keys` keys whose stride is below a limit: each stride occurs once in every longer run.
__device__ constexpr unsigned sort_layers(unsigned keys, unsigned below) {
    unsigned layers = 0;
    for (unsigned size = 2; size <= keys; size *= 2) {
        for (unsigned stride = 1; stride < size && stride < below; stride *= 2) {
            layers += 1;
        }
    }
    return layers;
}

// The same for the merge of a bitonic sequence.
__device__ constexpr unsigned merge_layers(unsigned keys, unsigned below) {
    unsigned layers = 0;
    for (unsigned stride = 1; stride < keys && stride < below; stride *= 2) {
        layers += 1;
    }
    return layers;
}

// Adds a team's work to the counts, which are zero before.
template <class Chunk>
__device__ __forceinline__ void write(unsigned* counts, unsigned sorts, unsigned merges) {
    constexpr unsigned K = Chunk::K;
    // The minimum of the kept and the new keys is a layer in shared memory.
    unsigned all = sorts * sort_layers(K, K) + merges * (1 + merge_layers(K, K));
    unsigned shuffled =
        sorts * sort_layers(K, Chunk::SHUFFLED_BELOW) + merges * merge_layers(K, Chunk::SHUFFLED_BELOW);
    unsigned in_thread =
        sorts * sort_layers(K, Chunk::IN_THREAD_BELOW) + merges * merge_layers(K, Chunk::IN_THREAD_BELOW);
    atomicAdd(counts, merges);
    atomicAdd(counts + 1, all);
    atomicAdd(counts + 2, shuffled - in_thread);
    atomicAdd(counts + 3, all - shuffled);
}

// A chunk in the registers of a team, with T consecutive keys per thread once it is sorted. K is a power of
// two, at least 128.
template <unsigned KEYS>
struct RegisterChunk {
    static constexpr unsigned K = KEYS;
    static constexpr unsigned T = K / WARP < PARTIAL_KEYS ? K / WARP : PARTIAL_KEYS;
    static constexpr unsigned N = K / T;  // threads per team
    static constexpr unsigned TEAMS = N == WARP ? PARTIAL_TEAMS : 1;
    static constexpr unsigned THREADS = N * TEAMS;
    static constexpr unsigned IN_THREAD_BELOW = T;
    static constexpr unsigned SHUFFLED_BELOW = T * WARP;

    // Row i holds the i-th key of each thread.
    struct Memory {
        Key kept[K];
        Key exchange[N == WARP ? 1 : K];
    };

    Memory& memory;
    unsigned thread = threadIdx.x % N;
    Key keys[T];

    __device__ __forceinline__ explicit RegisterChunk(Memory& memory) : memory(memory) {
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            memory.kept[i * N + thread] = PADDING;
        }
    }

    static __device__ __forceinline__ void sync() {
        if (N == WARP) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }

    __device__ __forceinline__ void load(const float* row, unsigned first, unsigned n) {
        read_keys<N>(keys, row, first, n, thread);
    }

    __device__ __forceinline__ void sort() { network().sort(keys, N); }

    // Merges the sorted chunk into the kept keys.
    __device__ __forceinline__ void merge() {
        take_smaller(memory.kept);
        network().merge(keys);
        store_kept();
    }

    // Merges another team's kept keys into this team's.
    __device__ __forceinline__ void merge_team(const Memory& other) {
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            keys[i] = memory.kept[i * N + thread];
        }
        take_smaller(other.kept);
        network().merge(keys);
        store_kept();
    }

    // Element K - 1 - i is in the mirrored thread's mirrored row.
    __device__ __forceinline__ void take_smaller(const Key* kept) {
        sync();
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            Key other = kept[(T - 1 - i) * N + (N - 1 - thread)];
            keys[i] = choose(other < keys[i], other, keys[i]);
        }
    }

    __device__ __forceinline__ void store_kept() {
        // Others may still read the kept keys.
        sync();
#pragma unroll
        for (unsigned i = 0; i < T; ++i) {
            memory.kept[i * N + thread] = keys[i];
        }
    }

    static __device__ __forceinline__ Key element(const Memory& memory, unsigned i) {
        return memory.kept[i % T * N + i / T];
    }

  private:
    __device__ __forceinline__ block::Bitonic<T, N> network() const { return {memory.exchange, thread}; }
};

// A chunk in shared memory.
template <unsigned KEYS, bool SHUFFLES>
struct SharedChunk {
    static constexpr unsigned K = KEYS;
    static constexpr unsigned THREADS = K <= 512 ? PARTIAL_FEW_THREADS : PARTIAL_THREADS;
    static constexpr unsigned N = THREADS;
    static constexpr unsigned TEAMS = 1;
    static constexpr unsigned IN_THREAD_BELOW = 1;
    static constexpr unsigned SHUFFLED_BELOW = SHUFFLES ? WARP : 1;

    struct Memory {
        Key kept[K];
        Key chunk[K];
    };

    Memory& memory;

    __device__ __forceinline__ explicit SharedChunk(Memory& memory) : memory(memory) {
        for (unsigned i = threadIdx.x; i < K; i += THREADS) {
            memory.kept[i] = PADDING;
        }
    }

    __device__ __forceinline__ void load(const float* row, unsigned first, unsigned n) {
        for (unsigned i = threadIdx.x; i < K; i += THREADS) {
            unsigned at = first + i;
            memory.chunk[i] = at < n ? key_of(__ldcs(row + at), at) : PADDING;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void sort() { Network::sort(memory.chunk); }

    __device__ __forceinline__ void merge() {
        for (unsigned i = threadIdx.x; i < K; i += THREADS) {
            Key other = memory.chunk[K - 1 - i];
            if (other < memory.kept[i]) {
                memory.kept[i] = other;
            }
        }
        __syncthreads();
        Network::merge(memory.kept);
    }

    static __device__ __forceinline__ Key element(const Memory& memory, unsigned i) { return memory.kept[i]; }

  private:
    using Network = block::SharedBitonic<K, THREADS, SHUFFLES>;
};

// One block per query.
template <class Chunk, bool COUNTED>
__device__ __forceinline__ void partial_bitonic(const Selection& selection) {
    __shared__ typename Chunk::Memory memory[Chunk::TEAMS];
    unsigned query = blockIdx.x, team = threadIdx.x / Chunk::N;
    const float* row = selection.distances + query * selection.pitch;
    unsigned sorts = 0, merges = 0;  // per team; the timed build does not write them
    Chunk chunk(memory[team]);
    unsigned chunks = (selection.n - 1) / Chunk::K + 1;
#pragma unroll 1
    for (unsigned i = team; i < chunks; i += Chunk::TEAMS) {
        chunk.load(row, i * Chunk::K, selection.n);
        chunk.sort();
        sorts += 1;
        chunk.merge();
        merges += 1;
    }
    if constexpr (Chunk::TEAMS > 1) {
        // The lower half of the remaining teams merges the lists of the upper half.
#pragma unroll 1
        for (unsigned half = Chunk::TEAMS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (team < half) {
                chunk.merge_team(memory[team + half]);
                merges += 1;
            }
        }
    }
    __syncthreads();
    size_t first = static_cast<size_t>(selection.first_query + query) * selection.k;
    for (unsigned i = threadIdx.x; i < selection.k; i += Chunk::THREADS) {
        Key key = Chunk::element(memory[0], i);
        selection.indices[first + i] = index_of(key);
        selection.squared_distances[first + i] = distance_of(key);
    }
    if constexpr (COUNTED) {
        if (threadIdx.x % Chunk::N == 0) {
            write<Chunk>(selection.counts + query * COUNTS, sorts, merges);
        }
    }
}

}  // namespace warpscope::select

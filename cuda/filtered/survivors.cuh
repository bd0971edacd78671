// Searches the points that passed the tensor-core filter, in processing order: exact distances by the rule,
// the candidate buffer, the merges. A warp owns a query and resumes the state of the previous chunk.
//
// Scope: a grid of one-dimensional blocks; block b answers the queries from first_query + b * SURVIVOR_WARPS
// on.
//
//   search_survivors<R, Tally>(search)
//     R      registers of keys per lane: the kernel holds K = 32 R neighbours, R = 1, 2, 4, ... 32
//     Tally  NoCounters, Counted or Profiled (counters.cuh): the counters besides the answer
//
// Shared memory: static, some 25 KiB plus R / 2 KiB. Compute capability 8.0 or newer.
//
// The caller
// - launches blocks of exactly SURVIVOR_WARPS * 32 threads;
// - processes the points chunk by chunk, in order, from 0 to n, each chunk starting at a multiple of 256,
//   with one `state` for all chunks; the first chunk does not read it, the last one writes the answer;
// - passes `survivors` as written by mma_filter for this chunk, or null for all points, as in the first
//   chunk, before which no query has a radius;
// - filters the next chunk with the `radii` written by this one.
//
//   extern "C" __global__ void __launch_bounds__(SURVIVOR_WARPS * WARP)
//   kernel(const __grid_constant__ SurvivorSearch search) {
//       search_survivors<64 / 32, NoCounters>(search);
//   }
//
// Survivors are a superset of the candidates in the same order, and whether a point is a candidate depends
// only on the candidates before it. So candidates, merges and their counters equal those of
// direct/warp_knn.cuh.
#pragma once

#include "counters.cuh"
#include "distance.cuh"
#include "filtered/interface.cuh"
#include "key.cuh"
#include "ptx.cuh"
#include "warp/candidate_buffer.cuh"
#include "warp/lanes.cuh"

namespace warpscope::filtered {

// Tiles of a pack's dimensions in flight.
constexpr unsigned SURVIVOR_STAGES = 3;

// Up to 32 survivors, one per lane, whose rows are staged in shared memory: loaded row by row, read column by
// column.
template <unsigned STAGES>
struct Pack {
    static constexpr unsigned TILE = 32;  // dimensions
    // A row is eight 16-byte pieces, permuted so that eight lanes reading the same piece of their rows hit
    // all banks.
    float4 rows[STAGES][WARP][TILE / 4];
    float4 query[STAGES][TILE / 4];
    unsigned waiting[2 * WARP];  // survivors that do not fill a pack yet

    // The distances of the first `count` lanes' points to the query; infinity in the other lanes.
    __device__ __forceinline__ float distances(const SurvivorSearch& search, const float* query_row,
                                               unsigned index, unsigned count, unsigned lane) {
        unsigned tiles = (search.d + TILE - 1) / TILE;
        // Rows are 16-byte aligned if d is a multiple of four.
        bool aligned = search.d % 4 == 0;
        unsigned next = 0;
        auto fetch = [&] {
            if (next < tiles) {
                unsigned stage = next % STAGES, j0 = next * TILE;
                unsigned to = ptx::shared_address(rows[stage]);
                if (aligned) {
                    unsigned piece = lane % 8;
                    bool there = j0 + piece * 4 < search.d;
#pragma unroll
                    for (unsigned i = 0; i < 8; ++i) {
                        unsigned row = i * 4 + lane / 8;
                        size_t point = __shfl_sync(ALL_LANES, index, row);
                        if (row < count) {
                            const float* from = search.points + point * search.d;
                            ptx::copy_async<16>(to + (row * 8 + (piece ^ row % 8)) * 16,
                                                there ? from + j0 + piece * 4 : from, there);
                        }
                    }
                } else {
                    bool there = j0 + lane < search.d;
#pragma unroll 8
                    for (unsigned row = 0; row < WARP; ++row) {
                        size_t point = __shfl_sync(ALL_LANES, index, row);
                        if (row < count) {
                            const float* from = search.points + point * search.d;
                            ptx::copy_async<4>(to + (row * 8 + (lane / 4 ^ row % 8)) * 16 + lane % 4 * 4,
                                               there ? from + j0 + lane : from, there);
                        }
                    }
                }
                bool there = j0 + lane < search.d;
                ptx::copy_async<4>(ptx::shared_address(query[stage]) + lane * 4,
                                   there ? query_row + j0 + lane : query_row, there);
                ++next;
            }
            ptx::close_copies();
        };
        for (unsigned i = 0; i < STAGES - 1; ++i) {
            fetch();
        }
        float acc = 0.0f;
        for (unsigned tile = 0; tile < tiles; ++tile) {
            ptx::await_copies<STAGES - 2>();
            __syncwarp();  // the tile is loaded, and all lanes have left the previous one
            fetch();
            unsigned stage = tile % STAGES;
            // Past d both are 0, so the square of their difference adds nothing.
#pragma unroll
            for (unsigned piece = 0; piece < TILE / 4; ++piece) {
                float4 p = rows[stage][lane][piece ^ lane % 8];
                float4 q = query[stage][piece];
                acc = add_squared_difference(p.x, q.x, acc);
                acc = add_squared_difference(p.y, q.y, acc);
                acc = add_squared_difference(p.z, q.z, acc);
                acc = add_squared_difference(p.w, q.w, acc);
            }
        }
        __syncwarp();  // the next pack may overwrite what was read
        return lane < count ? acc : infinite_distance();
    }
};

// Appends the candidates of a pack in lane order, which is processing order. When the buffer is full it is
// merged, and the rest is filtered again. This is Warp::filter for points that need not be consecutive.
// `last_group` is the last group with a candidate.
template <class W>
__device__ __forceinline__ void append(W& warp, float distance, unsigned index, unsigned& last_group) {
    unsigned candidates = __ballot_sync(ALL_LANES, distance < warp.max_distance);
    if (candidates == 0) {
        return;
    }
    warp.enter(INSERT);
    do {
        unsigned slot = warp.buffered + __popc(candidates & warp::lanes_below(warp.lane));
        bool candidate = candidates >> warp.lane & 1;
        bool appends = candidate && slot < W::CAPACITY;
        if (appends) {
            warp.buffer[slot] = key_of(distance, index);
        }
        unsigned appended = __ballot_sync(ALL_LANES, appends);
        if constexpr (W::COUNTED) {
            unsigned group = index / WARP, before = appended & warp::lanes_below(warp.lane);
            unsigned previous = __shfl_sync(ALL_LANES, group, before != 0 ? WARP - 1 - __clz(before) : 0);
            bool first = appends && group != (before != 0 ? previous : last_group);
            warp.tally.groups_hit(first ? 1u << warp.lane : 0);
            last_group = __shfl_sync(ALL_LANES, group, WARP - 1 - __clz(appended));
            warp.tally.appended(__popc(appended));
        }
        warp.buffered += __popc(appended);
        if (warp.buffered == W::CAPACITY) {
            warp.merge_buffer(__shfl_sync(ALL_LANES, index, WARP - 1 - __clz(appended)) + 1);
        }
        candidates = __ballot_sync(ALL_LANES, candidate && !appends && distance < warp.max_distance);
    } while (candidates != 0);
    warp.enter(FILTER);
}

// The radius of a query without a max_distance: its square exceeds every norm that the filter accepts.
constexpr float UNBOUNDED_RADIUS = 0x1p60f;

// The filter's radius for a query: every point whose distance by the rule is below max_distance is within it.
__device__ __forceinline__ float filter_radius(float max_distance, unsigned d, float error, double scale,
                                               double epsilon) {
    if (max_distance == infinite_distance()) {
        return UNBOUNDED_RADIUS;
    }
    // The rule rounds each square at most d + 2 times and loses 2^-150 to underflow in each step.
    double exact = sqrt((max_distance + d * 0x1p-149) / (1.0 - (d + 4) * 0x1p-24)) * scale;
    return fminf(__double2float_ru((exact + error) * (1.0 + epsilon) + 0x1p-50), UNBOUNDED_RADIUS);
}

template <int R, class Tally>
__device__ __forceinline__ void search_survivors(const SurvivorSearch& search) {
    __shared__ Key buffers[SURVIVOR_WARPS][WARP * R];
    __shared__ Pack<SURVIVOR_STAGES> packs[SURVIVOR_WARPS];
    __shared__ TallyNotes notes[Tally::COUNTED ? SURVIVOR_WARPS : 1];
    __shared__ WarpClock clocks[Tally::PROFILED ? SURVIVOR_WARPS : 1];

    unsigned slot = threadIdx.x / WARP, lane = warp::lane_id();
    unsigned row = blockIdx.x * SURVIVOR_WARPS + slot;  // in this launch
    unsigned query = search.first_query + row;
    if (query >= search.last_query) {
        return;  // only barriers of single warps follow
    }
    Pack<SURVIVOR_STAGES>& pack = packs[slot];
    const float* query_row = row_of(search.queries, query, search.d);
    constexpr unsigned K = WARP * R;

    warp::Warp<R, Tally> warp;
    warp.start(buffers[slot], search.k);
    if constexpr (Tally::COUNTED) {
        warp.tally.start(&notes[slot], &search.tally, row, &clocks[Tally::PROFILED ? slot : 0]);
    }
    if (search.first_point > 0) {
        if constexpr (Tally::COUNTED) {
            warp.tally.resume();
        }
        uint2 saved = search.state.warps[row];
        warp.buffered = saved.x;
        warp.max_distance = __uint_as_float(saved.y);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            warp.keys[r] = search.state.keys[static_cast<size_t>(row) * K + r * WARP + lane];
        }
        for (unsigned i = lane; i < warp.buffered; i += WARP) {
            warp.buffer[i] = search.state.buffers[static_cast<size_t>(row) * K + i];
        }
        __syncwarp();
    }

    unsigned last_group = ~0u;
    unsigned waiting = 0;
    unsigned computed = 0;
    auto work_off = [&](unsigned count) {
        __syncwarp();
        unsigned index = pack.waiting[lane];
        unsigned left = pack.waiting[WARP + lane];
        __syncwarp();
        pack.waiting[lane] = left;
        computed += count;
        warp.enter(LOAD_BATCH);
        float distance = pack.distances(search, query_row, index, count, lane);
        warp.enter(FILTER);
        append(warp, distance, index, last_group);
    };

    // 16 bytes per lane: the bits of four groups.
    unsigned groups = (search.last_point - search.first_point + WARP - 1) / WARP;
    const uint4* survivors = reinterpret_cast<const uint4*>(search.survivors);
    auto read = [&](unsigned first) {
        unsigned word = first + lane * 4;
        if (word >= groups || warp.max_distance == 0.0f) {
            return make_uint4(0, 0, 0, 0);
        }
        if (survivors == nullptr) {
            auto all = [&](unsigned group) {
                unsigned start = search.first_point + (word + group) * WARP;
                unsigned left = search.last_point > start ? search.last_point - start : 0;
                return left < WARP ? warp::lanes_below(left) : ALL_LANES;
            };
            return make_uint4(all(0), all(1), all(2), all(3));
        }
        return __ldcs(survivors + (static_cast<size_t>(word / 8) * search.query_rows + row) * 2 +
                      word / 4 % 2);
    };
    warp.enter(FILTER);
    uint4 next = read(0);
#pragma unroll 1
    for (unsigned first = 0; first < groups; first += 4 * WARP) {
        uint4 words = next;
        next = first + 4 * WARP < groups ? read(first + 4 * WARP) : make_uint4(0, 0, 0, 0);
        unsigned hits = __ballot_sync(ALL_LANES, (words.x | words.y | words.z | words.w) != 0);
#pragma unroll 1
        while (hits != 0) {
            unsigned source = __ffs(hits) - 1;
            hits &= hits - 1;
#pragma unroll 1
            for (unsigned i = 0; i < 4; ++i) {
                unsigned word = i == 0 ? words.x : i == 1 ? words.y : i == 2 ? words.z : words.w;
                word = __shfl_sync(ALL_LANES, word, source);
                if (word == 0) {
                    continue;
                }
                if (word >> lane & 1) {
                    pack.waiting[waiting + __popc(word & warp::lanes_below(lane))] =
                        search.first_point + (first + source * 4 + i) * WARP + lane;
                }
                waiting += __popc(word);
                if (waiting >= WARP) {
                    work_off(WARP);
                    waiting -= WARP;
                }
            }
        }
    }
    if (waiting > 0) {
        work_off(waiting);
    }

    if (search.last_point == search.n) {
        warp.finish(search.n);
        warp.enter(WRITE_OUT);
        warp.write(AnswerRow(search, query));
    } else {
#pragma unroll
        for (int r = 0; r < R; ++r) {
            search.state.keys[static_cast<size_t>(row) * K + r * WARP + lane] = warp.keys[r];
        }
        __syncwarp();
        for (unsigned i = lane; i < warp.buffered; i += WARP) {
            search.state.buffers[static_cast<size_t>(row) * K + i] = warp.buffer[i];
        }
        if (lane == 0) {
            search.state.warps[row] = make_uint2(warp.buffered, __float_as_uint(warp.max_distance));
            search.radii[row] = filter_radius(warp.max_distance, search.d, search.errors[query], search.scale,
                                              search.epsilon);
        }
    }
    if (lane == 0) {
        atomicAdd(search.computed, static_cast<unsigned long long>(computed));
    }
    if constexpr (Tally::COUNTED) {
        warp.tally.write(1);
    }
}

}  // namespace warpscope::filtered

// What a warp counts of its search, and the three builds. Twin of src/engines/lockstep/counters.rs.
//
// Every number is of the whole warp, so each lane keeps a copy and lane 0 writes it.
#pragma once

#include "warp.cuh"

constexpr unsigned CONVERGENCE_ENTRIES = 64;  // the first 63 merges and the latest
constexpr unsigned WARP_PHASES = 6;

enum WarpPhase : unsigned { LOAD_BATCH, FILTER, INSERT, SORT, MERGE, WRITE_OUT };

// In global memory, an entry a query of this launch. The layouts are knn::Counters and knn::WarpSpan.
struct Counters {
    unsigned merges;
    unsigned candidates;
    unsigned groups_hit;
};

struct ConvergenceEntry {
    unsigned points_seen;
    float max_distance;
};

struct WarpSpan {
    unsigned long long start_ns;
    unsigned long long stop_ns;
    unsigned sm;
    unsigned warp;
};

struct TallyOut {
    Counters* counters;             // q
    ConvergenceEntry* convergence;  // q x CONVERGENCE_ENTRIES
    unsigned long long* cycles;     // q x WARP_PHASES
    WarpSpan* spans;                // q
};

// Nothing is added to the timed build: every call below is empty and every member is gone.
struct Timed {
    __device__ explicit Timed(const TallyOut&, unsigned) {}
    __device__ __forceinline__ void resume() {}
    __device__ __forceinline__ void groups_hit(unsigned, unsigned, unsigned&) {}
    __device__ __forceinline__ void group_hit() {}
    __device__ __forceinline__ void appended(unsigned) {}
    __device__ __forceinline__ void merged(unsigned, float) {}
    __device__ __forceinline__ void enter(WarpPhase) {}
    __device__ __forceinline__ void write() {}
};

struct Counted {
    Counters counters = {0, 0, 0};
    TallyOut out;
    unsigned query;

    __device__ explicit Counted(const TallyOut& out, unsigned query) : out(out), query(query) {}
    // Takes up what an earlier launch wrote of this query.
    __device__ __forceinline__ void resume() { counters = out.counters[query]; }
    // The lanes of `appended` append their points: counts the groups among them, the first unless it is `last`, the last
    // group that was counted.
    __device__ __forceinline__ void groups_hit(unsigned appended, unsigned index, unsigned& last) {
        unsigned lane = lane_id(), before = appended & lanes_below(lane);
        unsigned previous = __shfl_sync(ALL_LANES, index / WARP, before != 0 ? WARP - 1 - __clz(before) : lane);
        bool first = appended >> lane & 1 && index / WARP != (before != 0 ? previous : last);
        counters.groups_hit += __popc(__ballot_sync(ALL_LANES, first));
        last = __shfl_sync(ALL_LANES, index / WARP, WARP - 1 - __clz(appended));
    }
    __device__ __forceinline__ void group_hit() { counters.groups_hit += 1; }
    __device__ __forceinline__ void appended(unsigned count) { counters.candidates += count; }
    __device__ __forceinline__ void merged(unsigned points_seen, float max_distance) {
        unsigned entry = min(counters.merges, CONVERGENCE_ENTRIES - 1);
        counters.merges += 1;
        if (lane_id() == 0) {
            out.convergence[static_cast<size_t>(query) * CONVERGENCE_ENTRIES + entry] = {points_seen, max_distance};
        }
    }
    __device__ __forceinline__ void enter(WarpPhase) {}
    __device__ __forceinline__ void write() {
        if (lane_id() == 0) {
            out.counters[query] = counters;
        }
    }
};

__device__ __forceinline__ unsigned long long global_nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Also the clock at every change of phase: elapsed cycles, waiting included.
struct Profiled : Counted {
    unsigned long long cycles[WARP_PHASES] = {};
    WarpPhase phase = LOAD_BATCH;
    long long since;
    unsigned long long start_ns;

    __device__ explicit Profiled(const TallyOut& out, unsigned query)
        : Counted(out, query), since(clock64()), start_ns(global_nanoseconds()) {}
    __device__ __forceinline__ void resume() {
        Counted::resume();
#pragma unroll
        for (unsigned i = 0; i < WARP_PHASES; ++i) {
            cycles[i] = out.cycles[static_cast<size_t>(query) * WARP_PHASES + i];
        }
        start_ns = out.spans[query].start_ns;
    }
    __device__ __forceinline__ void enter(WarpPhase next) {
        long long now = clock64();
#pragma unroll
        for (unsigned i = 0; i < WARP_PHASES; ++i) {
            cycles[i] += i == phase ? now - since : 0;
        }
        phase = next;
        since = now;
    }
    __device__ __forceinline__ void write() {
        Counted::write();
        enter(WRITE_OUT);
        if (lane_id() == 0) {
            unsigned sm, warp;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
#pragma unroll
            for (unsigned i = 0; i < WARP_PHASES; ++i) {
                out.cycles[static_cast<size_t>(query) * WARP_PHASES + i] = cycles[i];
            }
            out.spans[query] = {start_ns, global_nanoseconds(), sm, warp};
        }
    }
};

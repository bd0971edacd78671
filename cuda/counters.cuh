// Counters of a warp's search, and the three builds of runs. Twin of crates/engines/src/lockstep/counters.rs.
//
// All numbers are per warp. Only lane 0 updates them.
#pragma once

#include "common_interface.cuh"
#include "instrumentation.cuh"
#include "warp/lanes.cuh"

namespace warpscope {

// A warp's clock. It is shared by its queries and in shared memory, because registers are for keys.
struct WarpClock {
    unsigned long long cycles[WARP_PHASES];
    unsigned long long start_ns;
    long long since;
    WarpPhase phase;
};

__device__ __forceinline__ unsigned long long global_nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// A query's tally, in shared memory, because registers are for keys. Only lane 0 reads and writes it, so no
// barrier is needed.
struct TallyNotes {
    const TallyOut* out;
    Counters counters;
    unsigned query;  // of this launch
    WarpClock* clock;
};

struct Counted {
    static constexpr bool COUNTED = true;
    static constexpr bool PROFILED = false;

    TallyNotes* notes;

    __device__ __forceinline__ void start(TallyNotes* notes_of_query, const TallyOut* out, unsigned query,
                                          WarpClock* clock) {
        notes = notes_of_query;
        if (warp::lane_id() == 0) {
            *notes = {out, {0, 0, 0}, query, clock};
        }
    }
    // Loads what an earlier launch wrote for this query.
    __device__ __forceinline__ void resume() {
        if (warp::lane_id() == 0) {
            notes->counters = notes->out->counters[notes->query];
        }
    }
    // Bit g of a lane's `groups`: group g has a candidate in this lane.
    __device__ __forceinline__ void groups_hit(unsigned groups) {
        unsigned all = warp::reduce_or(groups);
        if (warp::lane_id() == 0) {
            notes->counters.groups_hit += __popc(all);
        }
    }
    __device__ __forceinline__ void appended(unsigned count) {
        if (warp::lane_id() == 0) {
            notes->counters.candidates += count;
        }
    }
    __device__ __forceinline__ void merged(unsigned points_seen, float max_distance) {
        if (warp::lane_id() == 0) {
            unsigned entry = min(notes->counters.merges, CONVERGENCE_ENTRIES - 1);
            notes->counters.merges += 1;
            notes->out->convergence[static_cast<size_t>(notes->query) * CONVERGENCE_ENTRIES + entry] = {
                points_seen, max_distance};
        }
    }
    __device__ __forceinline__ void write(unsigned) {
        if (warp::lane_id() == 0) {
            notes->out->counters[notes->query] = notes->counters;
        }
    }
};

// Also accumulates the elapsed cycles of each phase, waiting included.
struct Profiled : Counted {
    static constexpr bool PROFILED = true;

    __device__ __forceinline__ void start(TallyNotes* notes_of_query, const TallyOut* out, unsigned query,
                                          WarpClock* clock) {
        Counted::start(notes_of_query, out, query, clock);
        if (warp::lane_id() == 0) {
            *clock = {{}, global_nanoseconds(), clock64(), LOAD_BATCH};
        }
    }
    __device__ __forceinline__ void resume() {
        Counted::resume();
        if (warp::lane_id() == 0) {
            for (unsigned i = 0; i < WARP_PHASES; ++i) {
                notes->clock->cycles[i] =
                    notes->out->cycles[static_cast<size_t>(notes->query) * WARP_PHASES + i];
            }
            notes->clock->start_ns = notes->out->spans[notes->query].start_ns;
        }
    }
    __device__ __forceinline__ void enter(WarpPhase next) {
        if (warp::lane_id() == 0) {
            WarpClock* clock = notes->clock;
            long long now = clock64();
            clock->cycles[clock->phase] += now - clock->since;
            clock->phase = next;
            clock->since = now;
        }
    }
    // A warp's cycles are divided evenly among its queries; the span is the warp's.
    __device__ __forceinline__ void write(unsigned queries) {
        Counted::write(queries);
        enter(WRITE_OUT);
        if (warp::lane_id() == 0) {
            unsigned sm, warp;
            asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
            asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
            for (unsigned i = 0; i < WARP_PHASES; ++i) {
                notes->out->cycles[static_cast<size_t>(notes->query) * WARP_PHASES + i] =
                    notes->clock->cycles[i] / queries;
            }
            notes->out->spans[notes->query] = {notes->clock->start_ns, global_nanoseconds(), sm, warp};
        }
    }
};

}  // namespace warpscope

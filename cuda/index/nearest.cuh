// The state of a query whose points arrive in any order. Twin of crates/engines/src/index/nearest.rs.
#pragma once

#include "instrumentation.cuh"
#include "key.cuh"
#include "warp/candidate_buffer.cuh"
#include "warp/lanes.cuh"

namespace warpscope::index {

// A warp that also stores the k-th element. Not a member of warp::Warp, where it would cost registers in
// kernels that never read it.
template <int R, class Tally>
struct Nearest : warp::Warp<R, Tally, NoTrace, warp::UNROLL_SHORT<R>> {
    using Warp = warp::Warp<R, Tally, NoTrace, warp::UNROLL_SHORT<R>>;
    Key last = PADDING;

    // Filters a group by the pair (distance, position): each lane has the key of a point, or PADDING.
    // Candidates are appended in lane order. When the buffer is full it is merged, and lanes not yet appended
    // are filtered again. Merges have no history.
    __device__ __forceinline__ void filter_keys(Key key) {
        unsigned candidates = __ballot_sync(ALL_LANES, key < last);
        if constexpr (Tally::TRACED) {
            this->tally.voted(key, candidates);
        }
        while (candidates != 0) {
            unsigned slot = this->buffered + __popc(candidates & warp::lanes_below(this->lane));
            bool candidate = candidates >> this->lane & 1;
            bool appends = candidate && slot < Warp::CAPACITY;
            if (appends) {
                this->buffer[slot] = key;
            }
            unsigned appended =
                min(static_cast<unsigned>(__popc(candidates)), Warp::CAPACITY - this->buffered);
            if constexpr (Tally::COUNTED) {
                this->tally.appended(appended);
            }
            if constexpr (Tally::TRACED) {
                this->tally.wrote(appends);
            }
            this->buffered += appended;
            if (this->buffered == Warp::CAPACITY) {
                this->merge_buffer(0);
                last = this->element(this->k - 1);
                if constexpr (Tally::TRACED) {
                    this->tally.bounded(last);
                }
            }
            candidates = __ballot_sync(ALL_LANES, candidate && !appends && key < last);
            if constexpr (Tally::TRACED) {
                this->tally.filtered_again(candidate && !appends, candidates);
            }
        }
    }

    // Merges the rest of the buffer after the last point.
    __device__ __forceinline__ void finish() {
        bool merges = this->buffered > 0;
        Warp::finish(0);
        // Only a trace needs the last element.
        if constexpr (Tally::TRACED) {
            if (merges) {
                this->tally.bounded(this->element(this->k - 1));
            }
            this->tally.finished();
        }
    }
};

}  // namespace warpscope::index

// Squared distances of pairs of rows in f64. Twin of crates/exact/src/vectors.rs.
//
// LANES lanes share a pair. Each lane sums every LANES-th term. The lane sums are added in lane order. The
// remaining count % LANES terms are summed separately, and that sum is added last. The intrinsics keep the compiler from
// fusing or reordering operations.
#pragma once

#include "exact/interface.cuh"
#include "warp/lanes.cuh"

namespace warpscope::exact {

// The sum of term(0..count), the same in all lanes of a group.
template <class Term>
__device__ __forceinline__ double sum_in_lanes(unsigned count, unsigned lane, Term term) {
    double sum = 0.0;
    unsigned whole = count - count % LANES;
#pragma unroll 8
    for (unsigned at = lane; at < whole; at += LANES) {
        sum = __dadd_rn(sum, term(at));
    }
    double last = whole + lane < count ? term(whole + lane) : 0.0;
    double total = 0.0;
    double rest = 0.0;
#pragma unroll
    for (unsigned other = 0; other < LANES; ++other) {
        total = __dadd_rn(total, __shfl_sync(ALL_LANES, sum, other, LANES));
        rest = __dadd_rn(rest, __shfl_sync(ALL_LANES, last, other, LANES));
    }
    return whole == 0 ? rest : __dadd_rn(total, rest);
}

__device__ __forceinline__ double square(double value) {
    return __dmul_rn(value, value);
}

// The number of this thread's group of lanes.
__device__ __forceinline__ unsigned group_number() {
    return blockIdx.x * (THREADS / LANES) + threadIdx.x / LANES;
}

__device__ __forceinline__ void scale_rows(const RowScales& work) {
    unsigned lane = threadIdx.x % LANES;
    unsigned number = group_number();
    // All lanes of a warp take part in the sums.
    unsigned row = min(number, work.count - 1);
    const float* values = work.rows + static_cast<size_t>(row) * work.d;
    double squared_length = sum_in_lanes(work.d, lane, [&](unsigned at) { return square(values[at]); });
    if (lane == 0 && number < work.count) {
        work.scales[row] = __ddiv_rn(1.0, __dsqrt_rn(squared_length));
    }
}

// NORMALISED: of unit vectors.
template <bool NORMALISED>
__device__ __forceinline__ void squared_distances(const Pairs& work) {
    unsigned lane = threadIdx.x % LANES;
    unsigned number = group_number();
    unsigned pair = min(number, work.count - 1);
    unsigned candidate = work.candidates[pair];
    // A list of fewer than k candidates is padded; the distances of padding are not read.
    size_t row = candidate == NONE ? 0 : candidate;
    size_t query_row = work.query_rows[pair / work.k];
    const float* point = work.points + row * work.d;
    const float* query = work.queries + query_row * work.d;
    double point_scale = NORMALISED ? work.point_scales[row] : 1.0;
    double query_scale = NORMALISED ? work.query_scales[query_row] : 1.0;
    double squared = sum_in_lanes(work.d, lane, [&](unsigned at) {
        double p = point[at];
        double q = query[at];
        if constexpr (NORMALISED) {
            p = __dmul_rn(p, point_scale);
            q = __dmul_rn(q, query_scale);
        }
        return square(__dsub_rn(q, p));
    });
    if (lane == 0 && number < work.count) {
        work.squared_distances[pair] = squared;
    }
}

}  // namespace warpscope::exact

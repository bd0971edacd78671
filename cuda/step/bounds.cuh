// A lower bound on the distances of a cluster's points. Twin of crates/engines/src/step/bounds.rs;
// docs/step.md has the proof. Every operation is rounded once, as there: the intrinsics keep the compiler
// from fusing them.
#pragma once

#include "key.cuh"
#include "step/interface.cuh"

namespace warpscope::step {

// Upper bound on how much too small the computed cosine of a difference of angles may be: 2^-48.
constexpr double COSINE = 1.0 / 281474976710656.0;

// The largest f32 that is not above `value`; 0 if that is negative.
__device__ __forceinline__ float round_down(double value) {
    return value > 0.0 ? __double2float_rd(value) : 0.0f;
}

// The sine of an angle up to a half turn, from its cosine.
__device__ __forceinline__ double sine(double cosine) {
    double squared = __dmul_rn(__dsub_rn(1.0, cosine), __dadd_rn(1.0, cosine));
    return __dsqrt_rn(squared > 0.0 ? squared : 0.0);
}

// A lower bound on the distances by the rule of a ball's points, given the query's squared distance from its
// centre.
__device__ __forceinline__ float beyond_ball(double squared, double radius, const Margins& margins) {
    double gap = __dsub_rn(__dmul_rn(__dsqrt_rn(squared), margins.centre), radius);
    gap = gap > 0.0 ? gap : 0.0;
    return round_down(__dsub_rn(__dmul_rn(__dmul_rn(gap, gap), margins.rule), margins.underflow));
}

// The same for a cone, given the cosine of the angle between query and axis, and the cosine `reach` of its
// angular radius: the chord of the difference of both angles.
__device__ __forceinline__ float beyond_cone(double cosine, double reach, const Margins& margins) {
    double near = __dadd_rn(cosine, margins.centre);
    double between = __dadd_rn(__dadd_rn(__dmul_rn(near, reach), __dmul_rn(sine(near), sine(reach))), COSINE);
    double chord = near < reach ? __dsub_rn(2.0, __dmul_rn(2.0, between)) : 0.0;
    return round_down(__dsub_rn(__dmul_rn(chord, margins.rule), margins.underflow));
}

__device__ __forceinline__ double add_squared_difference(double centre, double q, double acc) {
    double t = __dsub_rn(q, centre);
    return __fma_rn(t, t, acc);
}

__device__ __forceinline__ double add_product(double centre, double q, double acc) {
    return __fma_rn(q, centre, acc);
}

// The norm of a row of coordinates.
__device__ __forceinline__ double row_length(const float* row, unsigned d) {
    double acc = 0.0;
    for (unsigned j = 0; j < d; ++j) {
        acc = __fma_rn(row[j], row[j], acc);
    }
    return __dsqrt_rn(acc);
}

// The norm of a query, which only cones need.
__device__ __forceinline__ double norm_of(const Spheres& spheres, const float* query, unsigned d) {
    return spheres.angular ? row_length(query, d) : 0.0;
}

// The bound and the number of this lane's cluster of a group; meaningless for padding.
__device__ __forceinline__ Key keys(const Spheres& spheres, unsigned group, const float* query, unsigned d,
                                    double norm, unsigned lane) {
    const double* centre = spheres.centres + static_cast<size_t>(group) * d * WARP + lane;
    unsigned number = group * WARP + lane;
    double acc = 0.0;
    if (spheres.angular) {
        for (unsigned j = 0; j < d; ++j) {
            acc = add_product(centre[j * WARP], query[j], acc);
        }
        double cosine = __ddiv_rn(acc, __dmul_rn(norm, spheres.norms[number]));
        return key_of(beyond_cone(cosine, spheres.reaches[number], spheres.margins), number);
    }
    for (unsigned j = 0; j < d; ++j) {
        acc = add_squared_difference(centre[j * WARP], query[j], acc);
    }
    return key_of(beyond_ball(acc, spheres.reaches[number], spheres.margins), number);
}

}  // namespace warpscope::step

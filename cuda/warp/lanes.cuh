// A warp's lanes: how many there are, which this one is, and masks with a bit a lane. Twin of
// crates/engines/src/lockstep/lanes.rs.
#pragma once

namespace warpscope {

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

}  // namespace warpscope

namespace warpscope::warp {

__device__ __forceinline__ unsigned lane_id() { return threadIdx.x % WARP; }

// The lanes below this one, as a mask.
__device__ __forceinline__ unsigned lanes_below(unsigned lane) { return (1u << lane) - 1; }

}  // namespace warpscope::warp

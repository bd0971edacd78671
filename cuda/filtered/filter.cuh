// The tensor-core filter: which points of a chunk may be candidates for each query, one bit per pair.
// Excluded points are proven not to be candidates (docs/filter.md); survivors.cuh computes the distances of
// the others, the survivors, by the rule.
//
// Scope: a grid of blocks of FILTER_THREADS threads; all threads call.
//
//   round_tile(rounding)               block x rounds tile x: FILTER_TILE rows
//   mma_filter<SLAB, RESIDENT>(filter) block (x, y) compares tile x of the queries with tiles_a_block
//                                      tiles of points
//     SLAB      dimensions that are staged in shared memory together: 16, 32 or 64
//     RESIDENT  whether the tile of queries stays there, or is streamed with the points
//
// Shared memory: round_tile's is static. mma_filter's is dynamic: FilterShared<SLAB, RESIDENT>::QUERIES
// bytes, and with RESIDENT also Slab<SLAB>::BYTES for each slab of padded_d. Compute capability 8.0 or newer.
//
// The caller
// - rounds points (factor 1) and queries (factor 2) about one centre and scale, with one epsilon, padded_d a
//   multiple of SLAB;
// - has memory for whole tiles after the last row: rounding marks the padding, so that it never survives;
// - has written a radius for every query of the tiles (filter_radius in survivors.cuh);
// - treats a set bit as "may be a candidate", and a clear one as "is not".
//
//   extern "C" __global__ void __launch_bounds__(FILTER_THREADS, 2)
//   kernel(const __grid_constant__ Filter filter) {
//       mma_filter<64, true>(filter);
//   }
//
// How it decides, and why it is safe:
//
// Rows are rounded to BF16 once, relative to a common centre c and scaled by a power of two s: x~ = bf16(s (p
// - c)). The rounding error e = |s (p - c) - x~| is stored. By the triangle inequality a pair whose distance
// is below r has
//     |x~ - q~|^2 <= (r + e_q + e_x)^2,   that is   2 x~ q~ + (r + e_q + e_x)^2 - |q~|^2 - |x~|^2 >= 0,
// and only the sign of that sum matters. The accumulators start with all terms but the product, which the
// tensor cores add.
#pragma once

#include "filtered/interface.cuh"
#include "filtered/mma.cuh"
#include "ptx.cuh"
#include "warp/lanes.cuh"

namespace warpscope::filtered {

// Slabs in flight. Three of the largest slabs exceed the shared memory of some GPUs. PTX for 8.0 runs on all
// of these GPUs, so it must fit the smallest.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ != 900 && __CUDA_ARCH__ != 1000
constexpr unsigned FILTER_STAGES = 2;
#else
constexpr unsigned FILTER_STAGES = 3;
#endif

// Bounds that decide regardless of the product: a row past the end is excluded, one that BF16 cannot
// represent passes.
constexpr float EXCLUDES = -0x1p126f;
constexpr float LETS_THROUGH = 0x1p125f;

// A warp rounds one row, a block one tile.
__device__ __forceinline__ void round_tile(const Rounding& rounding) {
    __shared__ float errors[FILTER_THREADS / WARP];
    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    float largest = 0.0f;
    for (unsigned r = warp; r < FILTER_TILE; r += FILTER_THREADS / WARP) {
        size_t row = static_cast<size_t>(blockIdx.x) * FILTER_TILE + r;
        bool there = row < rounding.count;
        const float* source = rounding.rows + row * rounding.d;
        unsigned short* target = rounding.rounded + row * rounding.padded_d;
        double norm = 0.0, moved = 0.0;
        for (unsigned j = lane; j < rounding.padded_d; j += WARP) {
            double exact = there && j < rounding.d
                               ? (static_cast<double>(source[j]) - rounding.centre[j]) * rounding.scale
                               : 0.0;
            // Flush tiny values to zero: the tensor cores must not see subnormals.
            unsigned short bits = fabs(exact) < 0x1p-100 ? 0 : bf16_of(static_cast<float>(exact));
            double rounded = float_of_bf16(bits);
            target[j] = bf16_of(rounding.factor * static_cast<float>(rounded));
            norm += rounded * rounded;
            moved += (exact - rounded) * (exact - rounded);
        }
#pragma unroll
        for (unsigned stride = WARP / 2; stride > 0; stride /= 2) {
            norm += __shfl_xor_sync(ALL_LANES, norm, stride);
            moved += __shfl_xor_sync(ALL_LANES, moved, stride);
        }
        float bound = EXCLUDES, error = 0.0f;
        if (there && norm <= rounding.largest_norm) {
            bound = __double2float_ru(-(1.0 - rounding.epsilon) * norm);
            // The double-precision sums above have small rounding errors themselves.
            error = __double2float_ru(sqrt(moved) * (1.0 + 0x1p-20) + sqrt(norm) * 0x1p-40);
        } else if (there) {
            bound = LETS_THROUGH;
            for (unsigned j = lane; j < rounding.padded_d; j += WARP) {
                target[j] = 0;
            }
        }
        if (lane == 0) {
            rounding.bounds[row] = bound;
            if (rounding.errors != nullptr) {
                rounding.errors[row] = error;
            }
        }
        largest = fmaxf(largest, error);
    }
    if (rounding.largest_errors != nullptr) {
        if (lane == 0) {
            errors[warp] = largest;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned w = 1; w < FILTER_THREADS / WARP; ++w) {
                largest = fmaxf(largest, errors[w]);
            }
            rounding.largest_errors[blockIdx.x] = __double2float_ru(largest * (1.0 + rounding.epsilon));
        }
    }
}

// A tile's rows in shared memory, SLAB dimensions of each, in 16-byte pieces permuted within 128 bytes so
// that the eight rows of a matrix fall into different banks.
template <int SLAB>
struct Slab {
    static constexpr unsigned PIECES = SLAB / 8;
    static constexpr unsigned BYTES = FILTER_TILE * SLAB * 2;

    __device__ static __forceinline__ unsigned offset(unsigned row, unsigned piece) {
        return (row * PIECES + (piece ^ (row / (8 / PIECES) % PIECES))) * 16;
    }
};

// Shared-memory layout of a filter block.
template <int SLAB, bool RESIDENT>
struct FilterShared {
    // The query tile stays resident if it is small enough, and otherwise is streamed with the points.
    static constexpr unsigned STAGE_BYTES = Slab<SLAB>::BYTES * (RESIDENT ? 1 : 2);
    // the points' bounds and their tile's largest error
    static constexpr unsigned BOUNDS_BYTES = FILTER_TILE * 4 + 16;
    static constexpr unsigned BITS_BYTES = FILTER_TILE * 16;

    static constexpr unsigned ROWS_BYTES = FILTER_TILE * 8;
    // Byte offsets.
    static constexpr unsigned BOUNDS = FILTER_STAGES * STAGE_BYTES;
    static constexpr unsigned ROWS = BOUNDS + FILTER_STAGES * BOUNDS_BYTES;
    static constexpr unsigned BITS = ROWS + ROWS_BYTES;
    static constexpr unsigned QUERIES = BITS + 2 * BITS_BYTES;  // followed by all slabs
};

// A thread's share in copying slabs of a tile: one piece of every ROWS-th row. Rows of points are permuted
// within their group so that a lane's accumulators are neighbours: column 2 t + i of the warp's j-th matrix
// is point 8 t + 2 j + i.
template <int SLAB, bool POINTS>
struct SlabCopy {
    using S = Slab<SLAB>;
    static constexpr unsigned ROWS = FILTER_THREADS / S::PIECES;  // copied at a time
    static_assert(ROWS % 32 == 0, "permuting rows must not depend on which are copied");

    const unsigned short* from;
    size_t stride;
    unsigned to;

    __device__ __forceinline__ SlabCopy(const unsigned short* tile, unsigned padded_d)
        : stride(static_cast<size_t>(ROWS) * padded_d) {
        unsigned row = threadIdx.x / S::PIECES, piece = threadIdx.x % S::PIECES;
        unsigned place = POINTS ? row / 32 * 32 + row / 2 % 4 * 8 + row / 8 % 4 * 2 + row % 2 : row;
        from = row_of(tile, row, padded_d) + piece * 8;
        to = S::offset(place, piece);
    }

    // Copies to the slab at the given shared-memory address.
    __device__ __forceinline__ void copy(unsigned shared) const {
#pragma unroll
        for (unsigned i = 0; i < FILTER_TILE / ROWS; ++i) {
            ptx::copy_async<16>(shared + to + i * ROWS * SLAB * 2, from + i * stride, true);
        }
    }
};

template <int SLAB, bool RESIDENT>
__device__ __forceinline__ void mma_filter(const Filter& filter) {
    using S = Slab<SLAB>;
    using Shared = FilterShared<SLAB, RESIDENT>;
    extern __shared__ __align__(128) char filter_shared[];
    const unsigned base = ptx::shared_address(filter_shared);

    unsigned lane = warp::lane_id(), warp = threadIdx.x / WARP;
    unsigned first_row = warp % 2 * 64, first_column = warp / 2 * 32;
    size_t query_tile = blockIdx.x;
    unsigned begin = blockIdx.y * filter.tiles_a_block;
    unsigned end = min(begin + filter.tiles_a_block, filter.tiles);
    unsigned slabs = filter.padded_d / SLAB;
    unsigned steps = (end - begin) * slabs;
    size_t tile_size = static_cast<size_t>(FILTER_TILE) * filter.padded_d;
    SlabCopy<SLAB, true> next_points(filter.points + (filter.first_tile + begin) * tile_size,
                                     filter.padded_d);
    SlabCopy<SLAB, false> next_queries(filter.queries + query_tile * tile_size, filter.padded_d);

    // The next tile, slab and stage to enter the pipeline.
    unsigned next_tile = begin, next_slab = 0, next_stage = 0;
    auto fetch = [&] {
        if (next_tile < end) {
            unsigned stage = base + next_stage * Shared::STAGE_BYTES;
            next_points.copy(stage);
            next_points.from += SLAB;
            if constexpr (!RESIDENT) {
                next_queries.copy(stage + S::BYTES);
                next_queries.from += SLAB;
            }
            if (next_slab == 0) {
                size_t tile = filter.first_tile + next_tile;
                unsigned bounds = base + Shared::BOUNDS + next_stage * Shared::BOUNDS_BYTES;
                if (threadIdx.x < FILTER_TILE / 4) {
                    ptx::copy_async<16>(bounds + threadIdx.x * 16,
                                        filter.point_bounds + tile * FILTER_TILE + threadIdx.x * 4, true);
                } else if (threadIdx.x == FILTER_TILE / 4) {
                    ptx::copy_async<4>(bounds + FILTER_TILE * 4, filter.largest_errors + tile, true);
                }
            }
            if (++next_slab == slabs) {
                next_slab = 0;
                ++next_tile;
                next_points.from += tile_size - filter.padded_d;
                next_queries.from -= RESIDENT ? 0 : filter.padded_d;
            }
            next_stage = (next_stage + 1) % FILTER_STAGES;
        }
        ptx::close_copies();
    };

    if constexpr (RESIDENT) {
        for (unsigned slab = 0; slab < slabs; ++slab) {
            next_queries.copy(base + Shared::QUERIES + slab * S::BYTES);
            next_queries.from += SLAB;
        }
    }
    for (unsigned i = 0; i < FILTER_STAGES - 1; ++i) {
        fetch();
    }

    // Radius and bound of each query: reloaded for every tile, because registers are scarcer than time.
    float2* rows_of_tile = reinterpret_cast<float2*>(filter_shared + Shared::ROWS);
    if (threadIdx.x < FILTER_TILE) {
        size_t row = query_tile * FILTER_TILE + threadIdx.x;
        rows_of_tile[threadIdx.x] = make_float2(filter.radii[row], filter.query_bounds[row]);
    }

    // Writes the bits of a finished tile, 16 bytes per query.
    auto write_bits = [&](unsigned tile) {
        if (threadIdx.x < FILTER_TILE) {
            uint4 bits = *reinterpret_cast<const uint4*>(filter_shared + Shared::BITS +
                                                         tile % 2 * Shared::BITS_BYTES + threadIdx.x * 16);
            size_t row = static_cast<size_t>(tile / FILTER_TILES_TOGETHER) * filter.query_rows +
                         query_tile * FILTER_TILE + threadIdx.x;
            uint4* survivors = reinterpret_cast<uint4*>(filter.survivors);
            survivors[row * FILTER_TILES_TOGETHER + tile % FILTER_TILES_TOGETHER] = bits;
        }
    };

    // Offsets of this lane's matrix rows in a slab. The permutation of pieces is the same for all rows of a
    // lane, and makes the pieces of the k-th 16 dimensions differ from the first by an exclusive or.
    unsigned row_offset = S::offset(first_row + lane % 16, lane / 16);
    unsigned column_offset = S::offset(first_column + lane / 16 * 8 + lane % 8, lane / 8 % 2);

    float sums[4][4][4];  // [rows 16 i ...][points][fragment]
    unsigned tile = begin, slab = 0, stage = 0;
    for (unsigned step = 0; step < steps; ++step) {
        ptx::await_copies<FILTER_STAGES - 2>();
        __syncthreads();  // this step's slab is loaded, and all warps have left the previous step
        if (slab == 0 && tile > begin) {
            write_bits(tile - 1);
        }
        fetch();

        if (slab == 0) {
            const float* point_bounds =
                reinterpret_cast<const float*>(filter_shared + Shared::BOUNDS + stage * Shared::BOUNDS_BYTES);
            const float4* columns =
                reinterpret_cast<const float4*>(point_bounds + first_column + lane % 4 * 8);
            float4 low = columns[0], high = columns[1];
            float column_bounds[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
            float largest_error = point_bounds[FILTER_TILE];
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) {
                // Lane L holds rows 8 i + L / 4 of its warp.
                float2 query = rows_of_tile[first_row + i * 8 + lane / 4];
                float reach = __fadd_ru(query.x, largest_error);
                float row = __fmaf_ru(reach, reach, query.y);
#pragma unroll
                for (unsigned j = 0; j < 8; ++j) {
                    sums[i / 2][j / 2][i % 2 * 2 + j % 2] = __fadd_ru(row, column_bounds[j]);
                }
            }
        }

        unsigned points = base + stage * Shared::STAGE_BYTES;
        unsigned rows = RESIDENT ? base + Shared::QUERIES + slab * S::BYTES : points + S::BYTES;
#pragma unroll
        for (unsigned k = 0; k < SLAB / 16; ++k) {
            unsigned a[4][4], b[2][4];
#pragma unroll
            for (unsigned j = 0; j < 2; ++j) {
                load_matrices(b[j], points + (column_offset ^ k * 32) + j * 16 * SLAB * 2);
            }
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
                load_matrices(a[i], rows + (row_offset ^ k * 32) + i * 16 * SLAB * 2);
            }
#pragma unroll
            for (unsigned i = 0; i < 4; ++i) {
#pragma unroll
                for (unsigned j = 0; j < 4; ++j) {
                    multiply_add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
                }
            }
        }

        stage = (stage + 1) % FILTER_STAGES;
        if (++slab == slabs) {
            // A negative sum excludes the point. The signs of eight neighbouring points form a byte.
            char* bits =
                filter_shared + Shared::BITS + tile % 2 * Shared::BITS_BYTES + first_column / 8 + lane % 4;
#pragma unroll
            for (unsigned i = 0; i < 8; ++i) {
                unsigned signs = 0;
#pragma unroll
                for (int j = 7; j >= 0; --j) {
                    signs = __funnelshift_l(__float_as_uint(sums[i / 2][j / 2][i % 2 * 2 + j % 2]), signs, 1);
                }
                bits[(first_row + i * 8 + lane / 4) * 16] = static_cast<char>(~signs);
            }
            slab = 0;
            ++tile;
        }
    }
    __syncthreads();
    write_bits(end - 1);
}

}  // namespace warpscope::filtered

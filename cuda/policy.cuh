// How the kernel is cut to size, per capacity and dimensions. src/engines/cuda/policy.rs mirrors it for the launch.
#pragma once

// R = K / 32; D = 2, 3, or 0 for any other d.
template <int R, int D>
struct Policy {
    // Warps, and so queries, in a block. The buffers of a block must leave its batch room in 48 KiB, the most that needs
    // no permission on any GPU.
    static constexpr unsigned WARPS = R <= 8 ? 8 : 4;
    // Blocks that a multiprocessor should hold at least, which caps registers; 0 leaves that to the compiler. With many
    // registers a lane what it chooses is a little too few, and it spills; uncapped it takes so many that a block less
    // fits. The profiled build needs more, and its speed matters to nobody.
    static constexpr unsigned MIN_BLOCKS = R == 32 ? (D == 0 ? 3 : 4) : R == 16 ? 5 : 0;
    static constexpr unsigned PROFILED_MIN_BLOCKS = R == 32 ? 3 : R == 16 ? 4 : 0;
    // Groups that a warp scans before it votes whether any of them has a candidate: most have none, and one vote is
    // cheaper than eight.
    static constexpr unsigned WINDOW = 8;
    // Points in a batch.
    static constexpr unsigned BATCH = D == 0 ? WINDOW * 32 : 1024;
    // General d: dimensions staged together.
    static constexpr unsigned TILE = R == 32 ? 8 : 16;

    static constexpr unsigned BATCH_FLOATS = D == 0 ? TILE * (BATCH + 1) + WARPS * TILE : BATCH * D;
    static constexpr unsigned SHARED_BYTES = WARPS * R * 32 * 8 + BATCH_FLOATS * 4;
    static_assert(SHARED_BYTES <= 48 * 1024, "a block's buffers and batch must fit into 48 KiB of shared memory");
};

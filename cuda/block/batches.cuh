// Batches of points in shared memory: a ring of slots that is filled ahead of the warps.
//
// A block barrier per batch would make every warp wait for one that is merging. Here a warp waits only for
// the batch that it needs next, and the last warp to leave a slot refills it, so that a merging warp holds up
// the others only once they have used up the ring.
//
// From compute capability 9.0 on, a slot is filled by one bulk copy, which runs asynchronously and counts its
// bytes into an mbarrier. Earlier GPUs have no bulk copies: the ring then has one slot, which the block fills
// together between barriers.
#pragma once

#include "ptx.cuh"
#include "warp/lanes.cuh"

namespace warpscope::block {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define WARPSCOPE_BULK_COPIES 1
#else
#define WARPSCOPE_BULK_COPIES 0
#endif

// Two mbarriers and a count for each slot of the ring.
struct Slot {
    unsigned long long filled;   // its phase completes when the batch has arrived
    unsigned long long emptied;  // its phase completes when every warp has left the batch
    unsigned left;               // warps that have left it
};

#if WARPSCOPE_BULK_COPIES
__device__ __forceinline__ void start_barrier(unsigned long long* barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ptx::shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

__device__ __forceinline__ void arrive(unsigned long long* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ptx::shared_address(barrier)) : "memory");
}

// One arrival that also sets how many bytes the phase waits for.
__device__ __forceinline__ void expect_bytes(unsigned long long* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ptx::shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

__device__ __forceinline__ void bulk_copy(void* to, const void* from, unsigned bytes,
                                          unsigned long long* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            ptx::shared_address(to)),
        "l"(from), "r"(bytes), "r"(ptx::shared_address(barrier))
        : "memory");
}

__device__ __forceinline__ void wait_for_phase(unsigned long long* barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "wait:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra wait;\n"
        "}" ::"r"(ptx::shared_address(barrier)),
        "r"(parity)
        : "memory");
}
#endif

// `count` batches of FLOATS floats, contiguous in `points`, for a block of WARPS warps. A partial last batch
// is padded with infinity: those distances are infinite and never pass the filter, so neither the copies nor
// the filter check for the end of the points.
template <unsigned FLOATS, unsigned SLOTS, unsigned WARPS>
struct Batches {
    static constexpr unsigned RING = WARPSCOPE_BULK_COPIES ? SLOTS : 1;

    const float* points;
    unsigned count;  // of batches
    float* ring;
    Slot* slots;

    __device__ __forceinline__ Batches(const float* points, unsigned count, float* ring, Slot* slots)
        : points(points), count(count), ring(ring), slots(slots) {
#if WARPSCOPE_BULK_COPIES
        if (threadIdx.x == 0) {
            for (unsigned slot = 0; slot < RING; ++slot) {
                start_barrier(&slots[slot].filled, 1);
                start_barrier(&slots[slot].emptied, WARPS * WARP);
                slots[slot].left = 0;
            }
            // The asynchronous proxy does not see ordinary stores to the barriers without this fence.
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            for (unsigned batch = 0; batch < min(RING, count); ++batch) {
                fill(batch, batch);
            }
        }
        __syncthreads();
#endif
    }

    // Returns a batch once it has arrived. Called by all lanes of all warps, in the order of the batches.
    __device__ __forceinline__ const float* enter(unsigned batch) {
#if WARPSCOPE_BULK_COPIES
        wait_for_phase(&slots[batch % RING].filled, batch / RING % 2);
        return ring + batch % RING * FLOATS;
#else
        __syncthreads();  // all warps have left the previous batch
        const float* from = row_of(points, batch, FLOATS);
        for (unsigned i = threadIdx.x; i < FLOATS; i += blockDim.x) {
            ring[i] = from[i];
        }
        __syncthreads();
        return ring;
#endif
    }

    // Called when the warp has read everything it needs from the batch.
    __device__ __forceinline__ void leave(unsigned batch) {
#if WARPSCOPE_BULK_COPIES
        if (batch + RING < count) {
            // Opaque to the compiler, which would otherwise keep the slot's address in a register throughout
            // the batch.
            asm volatile("" : "+r"(batch));
            Slot& slot = slots[batch % RING];
            arrive(&slot.emptied);
            // The count identifies the last warp; the barrier orders every lane's reads before the copy.
            if (warp::lane_id() == 0 && atomicAdd(&slot.left, 1) == WARPS - 1) {
                slot.left = 0;
                wait_for_phase(&slot.emptied, batch / RING % 2);
                fill(batch + RING, batch % RING);
            }
        }
#endif
    }

  private:
#if WARPSCOPE_BULK_COPIES
    __device__ __forceinline__ void fill(unsigned batch, unsigned slot) {
        expect_bytes(&slots[slot].filled, FLOATS * 4);
        bulk_copy(ring + slot * FLOATS, row_of(points, batch, FLOATS), FLOATS * 4, &slots[slot].filled);
    }
#endif
};

}  // namespace warpscope::block

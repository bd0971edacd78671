//! The interface between host and kernels, generated from `cuda/**/*interface.cuh` by `build/interface.rs`.
//! This module has what all kernels write besides the answer; the constants and structs of a folder are in
//! the module of its name.

use cudarc::driver::ValidAsZeroBits;
use cudarc::driver::sys::CUdeviceptr;

use crate::knn;

include!(concat!(env!("OUT_DIR"), "/common_interface.rs"));

// SAFETY: plain numbers, for which all-zero bits are valid.
unsafe impl ValidAsZeroBits for ConvergenceEntry {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for Counters {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for WarpSpan {}

impl From<Counters> for knn::Counters {
    fn from(Counters { merges, candidates, groups_hit }: Counters) -> Self {
        Self { merges, candidates, groups_hit }
    }
}

impl From<WarpSpan> for knn::WarpSpan {
    fn from(WarpSpan { start_ns, stop_ns, sm, warp }: WarpSpan) -> Self {
        Self { start_ns, stop_ns, sm, warp }
    }
}

const _: () = {
    assert!(
        CONVERGENCE_ENTRIES as usize == knn::CONVERGENCE_ENTRIES
            && WARP_PHASES as usize == knn::warp::PHASES.len()
    );
    // The order of the names in `knn::warp::PHASES`.
    assert!(warp_phase::LOAD_BATCH == 0 && warp_phase::FILTER == 1 && warp_phase::INSERT == 2);
    assert!(warp_phase::SORT == 3 && warp_phase::MERGE == 4 && warp_phase::WRITE_OUT == 5);
};

impl TallyOut {
    /// The buffers, advanced to the entries of `query`.
    pub fn from(self, query: usize) -> Self {
        let after = |pointer: CUdeviceptr, bytes: usize| {
            if pointer == 0 { 0 } else { pointer + (query * bytes) as u64 }
        };
        Self {
            counters: after(self.counters, size_of::<Counters>()),
            convergence: after(
                self.convergence,
                CONVERGENCE_ENTRIES as usize * size_of::<ConvergenceEntry>(),
            ),
            cycles: after(self.cycles, WARP_PHASES as usize * size_of::<u64>()),
            spans: after(self.spans, size_of::<WarpSpan>()),
        }
    }
}

/// Checks that the counters of a query, which the host reads as numbers, have the twin's memory layout.
macro_rules! laid_out_as_the_twin {
    ($twin:ty: $($member:ident)*) => {
        assert!(size_of::<Visits>() == size_of::<$twin>());
        $(assert!(std::mem::offset_of!(Visits, $member) == std::mem::offset_of!($twin, $member));)*
    };
}

pub mod direct {
    //! `cuda/direct/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use super::TallyOut;

    include!(concat!(env!("OUT_DIR"), "/direct_interface.rs"));
}

pub mod filtered {
    //! `cuda/filtered/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use super::TallyOut;

    include!(concat!(env!("OUT_DIR"), "/filtered_interface.rs"));
}

pub mod index {
    //! `cuda/index/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use crate::index;

    include!(concat!(env!("OUT_DIR"), "/index_interface.rs"));

    const _: () = {
        laid_out_as_the_twin!(index::Visits: merges candidates distance_evals leaves nodes pruned);
        assert!(HEIGHTS as usize == index::HEIGHTS && MAX_DIMS as usize == index::BVH.limits.d);
    };
}

pub mod kdtree {
    //! `cuda/kdtree/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use crate::kdtree_threads;

    include!(concat!(env!("OUT_DIR"), "/kdtree_interface.rs"));

    const _: () = {
        laid_out_as_the_twin!(kdtree_threads::Visits: distance_evals candidates steps);
    };
}

pub mod exact {
    //! `cuda/exact/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use crate::knn;

    include!(concat!(env!("OUT_DIR"), "/exact_interface.rs"));

    const _: () = assert!(NONE == knn::NONE && LANES as usize == knn::exact_distances::LANES);
}

pub mod peaks {
    //! `cuda/peaks/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    include!(concat!(env!("OUT_DIR"), "/peaks_interface.rs"));
}

pub mod split {
    //! `cuda/split/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    include!(concat!(env!("OUT_DIR"), "/split_interface.rs"));
}

pub mod step {
    //! `cuda/step/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use crate::step;

    include!(concat!(env!("OUT_DIR"), "/step_interface.rs"));

    const _: () = {
        laid_out_as_the_twin!(step::Visits: merges candidates distance_evals clusters pruned groups);
        assert!(CANDIDATES as usize == step::CANDIDATES && SEED_THREADS as usize == step::BLOCK);
    };
}

pub mod select {
    //! `cuda/select/interface.cuh`.
    use cudarc::driver::sys::CUdeviceptr;

    use crate::select;
    use crate::select::partial_bitonic::Storage;

    include!(concat!(env!("OUT_DIR"), "/select_interface.rs"));

    // The twin uses the same sizes and numbers as the device.
    const _: () = {
        assert!(COUNTS as usize == select::COUNTS);
        assert!(BITS_ITEMS as usize == select::bits::ITEMS && BITS_KEYS as usize == select::bits::KEYS);
        assert!(
            BITS_FEWEST_THREADS as usize == select::bits::FEWEST_THREADS
                && MAX_MINIMA as usize == select::MAX_MINIMA
        );
        assert!(BITS_STAGES as usize == select::bits::stages(select::bits::FEWEST_THREADS));
        assert!(BITS_WIDE_STAGES as usize == select::bits::stages(2 * select::bits::FEWEST_THREADS));
        assert!(QUEUE_GROUPS as usize == select::merge_queue::GROUPS);
        assert!(
            PARTIAL_KEYS as usize == select::partial_bitonic::KEYS
                && PARTIAL_TEAMS as usize == select::partial_bitonic::TEAMS
        );
        assert!(
            storage::REGISTERS == Storage::Registers as u32 && storage::SHUFFLES == Storage::Shuffles as u32
        );
        assert!(storage::SHARED == Storage::Shared as u32);
        assert!(PATH_KEYS as usize == select::merge_path::KEYS);
        assert!(
            GLOBAL_KEPT as usize == select::bits_global::KEPT
                && GLOBAL_SLOTS as usize == select::bits_global::SLOTS
        );
        assert!(GLOBAL_THREADS as usize == select::bits_global::THREADS);
        assert!(
            FUSED_QUERIES as usize == select::bits_fused::QUERIES
                && FUSED_GROUPS as usize == select::bits_fused::GROUPS
        );
        assert!(
            SELECT_WARPS as usize == select::warp_select::WARPS
                && SELECT_GROUPS as usize == select::warp_select::GROUPS
        );
        assert!(SELECT_FEW as usize == select::warp_select::FEW);
        assert!(
            FEW as usize == select::multi_pass::FEW
                && MAX_BUCKETS as usize == select::sample_select::MAX_BUCKETS
        );
        assert!(ROW_BITS == select::sort::SORT_BITS && ROW_PASSES as usize == select::sort::SORT_PASSES);
    };
}

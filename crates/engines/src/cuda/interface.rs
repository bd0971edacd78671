//! Kernel output other than the answer: `cuda/common_interface.cuh`, as parsed by `build/interface.rs`.

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
    assert!(CONVERGENCE_ENTRIES as usize == knn::CONVERGENCE_ENTRIES && WARP_PHASES as usize == knn::warp::PHASES.len());
    // The order of the names in `knn::warp::PHASES`.
    assert!(warp_phase::LOAD_BATCH == 0 && warp_phase::FILTER == 1 && warp_phase::INSERT == 2);
    assert!(warp_phase::SORT == 3 && warp_phase::MERGE == 4 && warp_phase::WRITE_OUT == 5);
};

impl TallyOut {
    /// The buffers advanced to the entries of `query`.
    pub fn from(self, query: usize) -> Self {
        let after = |pointer: CUdeviceptr, bytes: usize| if pointer == 0 { 0 } else { pointer + (query * bytes) as u64 };
        Self {
            counters: after(self.counters, size_of::<Counters>()),
            convergence: after(self.convergence, CONVERGENCE_ENTRIES as usize * size_of::<ConvergenceEntry>()),
            cycles: after(self.cycles, WARP_PHASES as usize * size_of::<u64>()),
            spans: after(self.spans, size_of::<WarpSpan>()),
        }
    }
}

//! Warp select: one queue per lane, and one of the warp.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use std::sync::LazyLock;

use super::kernel::BufferCounts;
use super::{Algorithm, Pseudocode, SpecificStep};
use crate::Result;
use crate::engines::cuda::Cuda;
use crate::engines::select;
use crate::knn::Descriptor;
use crate::recording::Recording;
use crate::step::Step;
pub use state::WarpSelectStep;

// Warp select, with the kernel's buffer as its baseline.

/// Final counts of warp select, and of the kernel's candidate buffer for the same neighbours.
#[derive(Clone, Copy, Debug)]
pub struct WarpSelectBaseline {
    /// Keys of a lane's queue, Q.
    pub length: u32,
    /// Merges of the lanes' queues into the warp's.
    pub merges: u32,
    /// Keys that lanes inserted into their queues.
    pub inserts: u32,
    /// Keys that merges brought into the warp's queue.
    pub keys_merged: u32,
    /// Counts of the kernel's twin, whose buffer has as many slots as the warp's queue has keys.
    pub buffer: BufferCounts,
}

impl WarpSelectBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&select::WARP_SELECT, "warp select's twin");
}

impl Algorithm for WarpSelectBaseline {
    fn code(&self) -> &'static Pseudocode {
        &QUEUES
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Key taken"), Some("Merge"), Some("k-th")]
    }

    fn initial_words(&self) -> &'static str {
        "all queues are empty"
    }

    fn sizes(&self) -> String {
        format!(", Q = {}", self.length)
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
        let trace = cuda.trace_queues(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (recorder::compare(&trace, twin, self.length)?, trace.device)))
    }
}

// Warp select in a few lines of pseudocode, and the matching lines of `cuda/`.

/// Warp select: the scan, then a merge.
pub static QUEUES: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        ["Warp select, in short", "Warp select, in short: its search", "Warp select, in short: its merge"],
        include_str!("code.txt"),
        line_of_queues,
    )
});

fn line_of_queues(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Own(SpecificStep::WarpSelect(step)) => match step {
            WarpSelectStep::Queues { .. } => 0,
            WarpSelectStep::Inserted { .. } => 3,
            WarpSelectStep::Checked { .. } => 4,
            WarpSelectStep::Drained => 5,
            WarpSelectStep::QueuesSorted => 9,
            WarpSelectStep::Exchanged { .. } => 10,
            WarpSelectStep::WarpQueueSorted => 11,
            WarpSelectStep::QueuesDescend => 12,
        },
        Step::Group { .. } => 2,
        Step::Finished => 6,
        Step::MaxDistance { .. } => 13,
        _ => return None,
    })
}

//! The tree search: the index, traversed by a warp.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use std::sync::LazyLock;

use super::{Algorithm, Pseudocode, SpecificStep};
use crate::Result;
use crate::cursor::Level;
use crate::engines::cuda::Cuda;
use crate::engines::index::{BVH, Tree, Visits};
use crate::knn::{Counters, Descriptor};
use crate::recording::Recording;
use crate::step::Step;
pub use state::TreeStep;

// The algorithm of the index, with other searches as its baseline.

/// The searched tree, and the counts of other searches for the same neighbours.
#[derive(Clone, Debug)]
pub struct TreeBaseline {
    /// The tree over the problem's points.
    pub tree: Tree,
    /// Final counts of the recorded search.
    pub visits: Visits,
    /// Counts if boxes are visited in curve order.
    pub curve_order: Visits,
    /// Counts of brute force.
    pub brute: Counters,
}

impl TreeBaseline {
    /// The engine whose twin records, and the name of the twin.
    pub(crate) const TWIN: (&Descriptor, &str) = (&BVH, "the index's twin");
}

impl Algorithm for TreeBaseline {
    fn code(&self) -> &'static Pseudocode {
        &TRAVERSAL
    }

    /// Most leaves have few candidates or none, so a ballot is a stage.
    fn ballot_level(&self) -> Level {
        Level::Stage
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording> {
        let trace = cuda.trace_tree(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (recorder::compare(&trace, twin)?, trace.device)))
    }
}

// The traversal of a tree in a few lines of pseudocode, and the matching lines of `cuda/`.

/// The traversal of a tree: its nodes, then its leaves.
pub static TRAVERSAL: LazyLock<Pseudocode> = LazyLock::new(|| {
    Pseudocode::new(
        ["The traversal, in short", "The traversal, in short: a node", "The traversal, in short: a leaf"],
        include_str!("code.txt"),
        line_of_tree,
    )
});

fn line_of_tree(step: &Step) -> Option<usize> {
    Some(match step {
        Step::Own(SpecificStep::Tree(step)) => match step {
            TreeStep::OwnLeaf { .. } => 0,
            TreeStep::Node { .. } => 2,
            TreeStep::Boxes { .. } => 3,
            TreeStep::Pruned { .. } => 6,
            TreeStep::Child { .. } => 7,
            TreeStep::Leaf { .. } => 13,
            TreeStep::Merged => 20,
        },
        Step::Padded { .. } => 9,
        Step::Finished => 10,
        Step::Ballot { .. } => 14,
        Step::Positions { .. } => 16,
        Step::Appended { .. } => 17,
        Step::BufferFull => 19,
        Step::MaxDistance { .. } => 21,
        Step::FilteredAgain { .. } => 22,
        _ => return None,
    })
}

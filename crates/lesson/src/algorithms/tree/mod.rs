//! The tree search: the index, traversed by a warp.

pub(crate) mod describe;
pub(crate) mod panel;
pub(crate) mod questions;
pub(crate) mod recorder;
pub mod state;

use super::{Algorithm, BUFFER, CodeLine, Pseudocode, SpecificStep, line, plain};
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
pub static TRAVERSAL: Pseudocode = Pseudocode {
    lines: &TREE,
    second_part: 12,
    titles: ["The traversal, in short", "The traversal, in short: a node", "The traversal, in short: a leaf"],
    line_of: line_of_tree,
};

const TRAVERSE: &str = "index/traverse.cuh";
const NEAREST: &str = "index/nearest.cuh";

const TREE: [CodeLine; 23] = [
    line(
        0,
        "own \u{2190} the leaf where the query's code would be; filter own",
        TRAVERSE,
        "unsigned leaf_of(const Tree& tree",
    ),
    plain(0, "visit a node, first the root:"),
    line(
        1,
        "box \u{2190} the box of my child of the node",
        "index/boxes.cuh",
        "const float* low = tree.corners",
    ),
    line(
        1,
        "key \u{2190} (squared distance of clamp(query, box), smallest position in box)",
        "index/boxes.cuh",
        "acc = add_squared_difference(clamp(query[j]",
    ),
    plain(1, "loop:"),
    plain(2, "nearest \u{2190} the smallest key of the warp"),
    line(
        2,
        "if nearest \u{2265} the k-th key: leave out what is left, and return",
        TRAVERSE,
        "if (nearest >= warp.last) {",
    ),
    line(
        2,
        "the lane that holds nearest: key \u{2190} \u{221e}",
        TRAVERSE,
        "child = mine ? PADDING : child;",
    ),
    plain(2, "filter its child, if it is a leaf; or else visit it"),
    line(0, "if buffered > 0: fill the buffer up with \u{221e}, merge", BUFFER, "buffer[slot] = PADDING;"),
    line(
        0,
        "the first k elements are the neighbours",
        BUFFER,
        "__device__ __forceinline__ void write(const AnswerRow& row) const {",
    ),
    plain(0, ""),
    plain(0, "filter a leaf:"),
    line(
        1,
        "key \u{2190} (squared distance of my point, its position)",
        TRAVERSE,
        "acc = add_squared_difference(point[j * WARP], query[j], acc);",
    ),
    line(
        1,
        "candidates \u{2190} ballot(key < the k-th key)",
        NEAREST,
        "unsigned candidates = __ballot_sync(ALL_LANES, key < last);",
    ),
    plain(1, "while candidates \u{2260} 0:"),
    line(
        2,
        "slot \u{2190} buffered + popcount(candidates & lanes below me)",
        NEAREST,
        "unsigned slot = this->buffered",
    ),
    line(2, "if I vote and slot < K: buffer[slot] \u{2190} key", NEAREST, "this->buffer[slot] = key;"),
    plain(2, "buffered \u{2190} buffered + slots written"),
    line(2, "if buffered = K:", NEAREST, "if (this->buffered == Warp::CAPACITY) {"),
    line(3, "merge the buffer into the intermediate result", NEAREST, "this->merge_buffer(0);"),
    line(3, "the k-th key \u{2190} element k\u{2212}1", NEAREST, "last = this->element(this->k - 1);"),
    line(
        2,
        "candidates \u{2190} ballot(I vote, had no slot, and key < the k-th key)",
        NEAREST,
        "candidate && !appends && key < last",
    ),
];

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

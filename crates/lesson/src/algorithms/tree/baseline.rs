//! The algorithm of the index, whose search is held against other searches.

use std::io::{self, Write};

use super::{TreeStep, account, boxes, code, from_gpu};
use crate::algorithms::Algorithm;
use crate::cursor::Level;
use crate::engines::cuda::Cuda;
use crate::engines::index::{BVH, Tree, Visits};
use crate::knn::{Counters, Descriptor};
use crate::lessons::{Shows, Take};
use crate::picture::kinds::of_buffer;
use crate::picture::legend::Entry;
use crate::picture::page::Layout;
use crate::picture::scene::Area;
use crate::picture::{Film, Panel, Scene, View};
use crate::pseudocode::Code;
use crate::recording::{LessonError, Recording};
use crate::step::Step;

/// The tree that was searched, and what other searches for the same neighbours look at.
#[derive(Clone, Debug)]
pub struct Index {
    /// The tree over the problem's points.
    pub tree: Tree,
    /// What the recorded search visited in the end.
    pub visits: Visits,
    /// What is visited if boxes are visited as they lie on the curve, from its beginning.
    pub as_they_lie: Visits,
    /// What brute force counts.
    pub brute: Counters,
}

impl Index {
    /// The engine whose twin records, and what that is called.
    pub(crate) const TWIN: (&Descriptor, &str) = (&BVH, "the index's twin");
}

impl Algorithm for Index {
    fn code(&self) -> &'static Code {
        &code::TRAVERSAL
    }

    /// Most leaves have few candidates, or none: what they are is the stage.
    fn ballot_level(&self) -> Level {
        Level::Stage
    }

    fn panels(&self, _shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        let leaves_node = matches!(layout.view.cursor.step().as_deref().and_then(Step::tree), Some(TreeStep::LeftOut { .. }));
        match layout.large {
            true if layout.is_done() || leaves_node => layout.pair(Panel::Cloud, Panel::Lanes, Panel::Account, [0.6, 0.4]),
            true => layout.pair(Panel::Lanes, Panel::Cloud, Panel::Cloud, [0.66, 0.34]),
            false => layout.of_search(Panel::Lanes, [0.44, 0.56], 0.47),
        }
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        account::draw(view, self, size)
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        boxes::legend(view, of_buffer(view))
    }

    fn table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        account::write_table(self, take.recording.shape().n, out)
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
        let trace = cuda.trace_tree(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (from_gpu::compare(&trace, twin)?, trace.device)))
    }
}

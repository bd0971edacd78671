//! Threads with a query each, which are held against one thread and the kernel's warp.

use std::io::{self, Write};

use super::{account, code, panel};
use crate::algorithms::Algorithm;
use crate::algorithms::kernel::recorder::record;
use crate::engines::select::THREAD_HEAP;
use crate::knn::Descriptor;
use crate::lessons::{Shows, Take};
use crate::meter::{Meter, Track, Way};
use crate::picture::legend::Entry;
use crate::picture::page::{Layout, split};
use crate::picture::scene::Area;
use crate::picture::{self, Film, Panel, Scene, View};
use crate::pseudocode::Code;
use crate::recording::Recording;
use crate::state::Shape;

/// Threads with a query each are held against one thread, and the kernel, by the [`Meter`].
#[derive(Clone, Copy, Debug)]
pub struct Metered;

impl Metered {
    /// The engine whose twin records, and what that is called.
    pub(crate) const TWIN: (&Descriptor, &str) = (&THREAD_HEAP, "thread heap's twin");
}

impl Algorithm for Metered {
    fn code(&self) -> &'static Code {
        &code::HEAPS
    }

    fn round(&self) -> [&'static str; 2] {
        ["insertion", "insertions"]
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Some lane inserts"), Some("Lane 0 inserts"), Some("k-th")]
    }

    fn start(&self) -> &'static str {
        "of each of the lanes' queries, and all heaps are empty"
    }

    fn state_bytes(&self, shape: Shape) -> usize {
        8 * (shape.width * shape.k) as usize
    }

    /// The meter is as wide as the lanes, as its bars have three columns.
    fn panels(&self, _shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        match layout.large {
            true if layout.is_done() => return layout.pair(Panel::Meter, Panel::Cloud, Panel::Cloud, [0.62, 0.38]),
            true => return layout.pair(Panel::Heaps, Panel::Cloud, Panel::Cloud, [0.62, 0.38]),
            false => {}
        }
        let [left, right] = layout.columns(&[0.34, 0.66])[..] else { return Vec::new() };
        let (left, right) = (split(left, &[0.56, 0.44], layout.gap, true), split(right, &[0.58, 0.42], layout.gap, true));
        vec![(Panel::Cloud, left[0]), (Panel::Heaps, right[0]), (Panel::Meter, right[1]), (Panel::Code, left[1])]
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        picture::meter::draw(view, size)
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        panel::legend(view)
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        if view.cursor.state().max_distance.is_infinite() {
            return "Lane 0's heap is not full yet".to_owned();
        }
        match view.cursor.recording().problem().dims() {
            1 => format!("Bar: as far as lane 0's k-th on both sides, squared distance {bound}"),
            2 => format!("Circle: through lane 0's k-th, squared distance {bound}"),
            dims => format!("Lane 0's k-th: squared distance {bound}; no circle, as distances are in all {dims} dimensions"),
        }
    }

    fn table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        account::table(take, out)
    }

    fn meter(&self, recording: &Recording) -> Option<Meter> {
        let (problem, width, data) = (recording.problem(), recording.shape().width, &recording.parameters.data);
        let kernel = record(problem.clone(), recording.query(), width, None, data).ok()?;
        Some(Meter::new(recording, Way::ThreadAQuery, Track::of(recording), Track::of(&kernel)))
    }
}

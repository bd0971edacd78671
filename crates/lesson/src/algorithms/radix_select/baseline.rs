//! A selection by digits, which is held against the kernel.

use std::io::{self, Write};

use super::{account, code, from_gpu, panel};
use crate::algorithms::Algorithm;
use crate::algorithms::kernel::Buffered;
use crate::engines::cuda::Cuda;
use crate::engines::select::RADIX_SELECT;
use crate::knn::Descriptor;
use crate::lessons::{Shows, Take};
use crate::picture::legend::Entry;
use crate::picture::page::Layout;
use crate::picture::scene::Area;
use crate::picture::{Film, Panel, Scene, View, cloud};
use crate::pseudocode::Code;
use crate::recording::{LessonError, Recording};

/// What a selection by digits counts in the end, and what the kernel does for the same neighbours.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The squared distances of all points, by position.
    pub distances: Vec<f32>,
    /// Distances that were read, in all passes and to keep the neighbours.
    pub reads: u32,
    /// Passes until the k-th was known.
    pub passes: u32,
    /// What the kernel's twin counts.
    pub buffer: Buffered,
}

impl Chosen {
    /// The engine whose twin records, and what that is called.
    pub(crate) const TWIN: (&Descriptor, &str) = (&RADIX_SELECT, "radix select's twin");
}

impl Algorithm for Chosen {
    fn code(&self) -> &'static Code {
        &code::SELECTION
    }

    fn round(&self) -> [&'static str; 2] {
        ["pass", "passes"]
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [None, Some("Pass"), None]
    }

    fn start(&self) -> &'static str {
        "and no distance is computed yet"
    }

    fn panels(&self, _shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        if layout.large {
            layout.pair(Panel::Buckets, Panel::Cloud, Panel::Account, [0.62, 0.38])
        } else {
            layout.of_search(Panel::Buckets, [0.36, 0.64], 0.6)
        }
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        account::draw(view, self, size)
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        panel::legend(view)
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        let state = view.cursor.state();
        if state.max_distance.is_infinite() {
            let is_known = state.buckets().is_some_and(|buckets| buckets.is_gathered);
            return if is_known { "All points are neighbours: there are no k of them" } else { "No point is decided yet" }.to_owned();
        }
        cloud::kth_words(view, &format!("squared distance {bound}"))
    }

    fn table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        account::table(self, take, out)
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
        let trace = cuda.trace_passes(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (from_gpu::compare(&trace, twin)?, trace.device)))
    }
}

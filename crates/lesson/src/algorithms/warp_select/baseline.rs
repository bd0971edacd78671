//! Warp select, which is held against the kernel's buffer.

use std::io::{self, Write};

use super::panel::moves_kth;
use super::{account, code, from_gpu, panel};
use crate::algorithms::Algorithm;
use crate::algorithms::kernel::Buffered;
use crate::engines::cuda::Cuda;
use crate::engines::select::WARP_SELECT;
use crate::knn::Descriptor;
use crate::lessons::{Shows, Take};
use crate::picture::legend::Entry;
use crate::picture::page::Layout;
use crate::picture::scene::Area;
use crate::picture::{Film, Panel, Scene, View, cloud};
use crate::pseudocode::Code;
use crate::recording::{LessonError, Recording};

/// What a recorded search of warp select counts in the end, and what the kernel's candidate buffer needs for the same neighbours.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Keys of a lane's queue, Q.
    pub length: u32,
    /// Merges of the lanes' queues into the warp's.
    pub merges: u32,
    /// Keys that lanes took into their queues.
    pub inserts: u32,
    /// Keys that merges brought into the warp's queue.
    pub came: u32,
    /// What the kernel's twin counts, whose buffer has as many slots as the warp's queue has keys.
    pub buffer: Buffered,
}

impl Queued {
    /// The engine whose twin records, and what that is called.
    pub(crate) const TWIN: (&Descriptor, &str) = (&WARP_SELECT, "warp select's twin");
}

impl Algorithm for Queued {
    fn code(&self) -> &'static Code {
        &code::QUEUES
    }

    fn mark_names(&self) -> [Option<&'static str>; 3] {
        [Some("Key taken"), Some("Merge"), Some("k-th")]
    }

    fn start(&self) -> &'static str {
        "and all queues are empty"
    }

    fn sizes(&self) -> String {
        format!(", Q = {}", self.length)
    }

    fn panels(&self, _shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        if layout.large {
            layout.pair(Panel::Queues, Panel::Cloud, Panel::Account, [0.62, 0.38])
        } else {
            layout.of_search(Panel::Queues, [0.36, 0.64], 0.6)
        }
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        account::draw(view, self, size)
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        panel::legend(view)
    }

    fn caption(&self, view: &View<'_>, bound: &str) -> String {
        if view.cursor.state().max_distance.is_infinite() {
            return "Fewer than k neighbours are known".to_owned();
        }
        let before = if moves_kth(view) { " before this merge" } else { "" };
        cloud::kth_words(view, &format!("squared distance {bound}{before}"))
    }

    fn table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        account::table(self, take, out)
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
        let trace = cuda.trace_queues(twin.problem(), twin.query())?;
        Ok(crate::from_gpu::recording(twin, (from_gpu::compare(&trace, twin, self.length)?, trace.device)))
    }
}

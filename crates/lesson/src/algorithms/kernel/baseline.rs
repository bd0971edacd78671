//! The algorithm of the kernel, whose search is held against theory.

use std::io::{self, Write};

use super::{account, code, from_gpu, layout};
use crate::algorithms::Algorithm;
use crate::algorithms::heap::recorder::record_lanes;
use crate::engines::cuda::Cuda;
use crate::engines::lockstep::LOCKSTEP;
use crate::knn::Descriptor;
use crate::lessons::{Shows, Take};
use crate::meter::{Meter, Track, Way};
use crate::picture::page::Layout;
use crate::picture::scene::Area;
use crate::picture::{self, Film, Panel, Scene, View};
use crate::pseudocode::Code;
use crate::recording::{LessonError, Recording};

/// The kernel's search is held against theory.
#[derive(Clone, Copy, Debug)]
pub struct Theory;

impl Theory {
    /// The engine whose twin records, and what that is called.
    pub(crate) const TWIN: (&Descriptor, &str) = (&LOCKSTEP, "the kernel's twin");
}

impl Algorithm for Theory {
    fn code(&self) -> &'static Code {
        &code::KERNEL
    }

    fn panels(&self, shows: Shows, layout: &Layout<'_>) -> Vec<(Panel, Area)> {
        layout::panels(shows, layout)
    }

    fn draw_account(&self, view: &View<'_>, size: [f32; 2]) -> Scene {
        picture::account::draw(view, size)
    }

    fn table(&self, film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        account::table(film, take, out)
    }

    fn meter(&self, recording: &Recording) -> Option<Meter> {
        let (problem, width, data) = (recording.problem(), recording.shape().width, &recording.parameters.data);
        let threads = record_lanes(problem.clone(), recording.query(), width, data);
        Some(Meter::new(recording, Way::Warp, Track::of(&threads), Track::of(recording)))
    }

    fn record_on_gpu(&self, twin: &Recording, cuda: &mut Cuda) -> Result<Recording, LessonError> {
        from_gpu::record(twin, cuda)
    }
}

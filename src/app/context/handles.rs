//! Threads that live as long as the window, GPU objects, and what was made by either: what a saved state cannot hold.

use std::sync::Arc;

use eframe::egui_wgpu;
use egui_commonmark::CommonMarkCache;

use crate::app::features::color::work::Coloring;
use crate::app::features::lesson::picture::Picture;
use crate::app::features::picking::lookup::Lookup;
use crate::app::features::projection::Projecting;
use crate::app::gpu::Gpu;
use crate::app::model::answer::Answered;
use crate::run::{Asker, JobId, Worker};

pub struct Handles {
    /// For repaints from threads.
    pub ctx: egui::Context,
    /// Runs whole problems, one at a time.
    pub worker: Arc<Worker>,
    /// Answers the picked query at once, beside the worker.
    pub asker: Arc<Asker>,
    /// The last job's name.
    pub last_job: JobId,
    /// Other columns of points that the pointer rests on.
    pub lookup: Lookup,
    /// Those of the neighbours that are listed.
    pub beside: Lookup,
    /// Whether the picked point is shown large once it is answered.
    pub focus_when_answered: bool,
    pub picture_of_lesson: Picture,
    /// Projections of the cloud.
    pub projecting: Projecting,
    /// Values by which points are coloured.
    pub coloring: Coloring,
    /// Of which answer theory is worked out next.
    pub theory_wanted: Option<Answered>,
    /// Whether the desktop has turned out to have no file dialogs.
    pub without_dialogs: bool,
    /// What was laid out of the documents.
    pub manual: CommonMarkCache,
    /// What draws; `None` where nothing does (tests of the logic).
    pub render_state: Option<egui_wgpu::RenderState>,
    /// The points on it.
    pub gpu: Option<Gpu>,
}

impl Handles {
    /// Starts the worker and installs the pipelines.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn new(ctx: &egui::Context, render_state: Option<&egui_wgpu::RenderState>) -> std::io::Result<Self> {
        let wake = ctx.clone();
        let worker = Worker::spawn(move || wake.request_repaint())?;
        let wake = ctx.clone();
        let asker = Asker::spawn(worker.resident().clone(), move || wake.request_repaint())?;
        let gpu = render_state.map(|render_state| {
            let wake = ctx.clone();
            Gpu::new(render_state, move || wake.request_repaint())
        });
        Ok(Self {
            ctx: ctx.clone(),
            worker: Arc::new(worker),
            asker: Arc::new(asker),
            last_job: 0,
            lookup: Lookup::default(),
            beside: Lookup::default(),
            focus_when_answered: false,
            picture_of_lesson: Picture::default(),
            projecting: Projecting::default(),
            coloring: Coloring::default(),
            theory_wanted: None,
            without_dialogs: false,
            manual: crate::app::features::manual::controls::cache(),
            render_state: render_state.cloned(),
            gpu,
        })
    }

    /// Lets go of what belongs to the cloud that was shown.
    pub fn forget(&mut self) {
        (self.theory_wanted, self.focus_when_answered) = (None, false);
        if let Some(gpu) = &mut self.gpu {
            gpu.forget();
        }
    }
}

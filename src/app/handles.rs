//! Threads and GPU objects: what a saved state cannot hold.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui_wgpu;

use super::derived::{Derived, TheoryCurve};
use super::export::ExportKind;
use super::gpu::{self, ViewPoints};
use super::loader::Loading;
use super::session::{EngineStatus, FileColumns, Picked};
use crate::cloud::PointCloud;
use crate::run::{JobId, RunRecord, RunSpec, Worker};

/// What background threads tell the window.
pub enum Message {
    /// Whether an engine can run.
    Engine(EngineStatus),
    /// A record's histogram and bands.
    Derived(Arc<RunRecord>, Derived),
    /// What theory expects of a query of a record.
    Theory(Arc<RunRecord>, usize, TheoryCurve),
    /// What columns a file has.
    Columns(FileColumns),
    /// The data's file was chosen, or not.
    DataPath(Option<PathBuf>),
    /// The query file was chosen, or not.
    QueryPath(Option<PathBuf>),
    /// The export's file was chosen, or not.
    ExportPath(Option<PathBuf>),
    /// A file was written, or why not.
    Saved(Result<PathBuf, String>),
    /// The window as it was painted.
    Picture(Arc<egui::ColorImage>),
}

/// What happens after a load.
pub enum Then {
    /// It is shown.
    Show,
    /// It is shown, and this is run.
    Run(RunSpec),
    /// It holds the queries of this.
    RunQueries(RunSpec),
}

/// A job that the worker has.
pub struct Running {
    /// Its name.
    pub id: JobId,
    /// What was picked, when that is all it answers.
    pub pick: Option<Picked>,
}

/// What the graphics adapter is.
#[derive(Clone, Copy, Debug)]
pub struct Gpu {
    /// Whether a processor plays the adapter.
    pub software: bool,
    /// Points that one buffer holds.
    pub most_points: u64,
}

impl Gpu {
    /// Points that are drawn while the view moves, before it is known how fast that is.
    fn first_moving_points(self) -> u32 {
        if self.software { 60_000 } else { 4_000_000 }
    }
}

/// A picture that was asked for: the frame without the dialog is taken.
pub struct PendingPicture {
    /// The window or a pane.
    pub kind: ExportKind,
    /// Where it goes.
    pub path: PathBuf,
    /// Whether the picture was requested.
    pub requested: bool,
}

/// Points gathered for a pane: of which cloud, along which axes.
type Gathered = (Arc<PointCloud>, Vec<usize>, Arc<ViewPoints>);

/// All of it.
pub struct Handles {
    /// For repaints from threads.
    pub ctx: egui::Context,
    /// Runs jobs.
    pub worker: Worker,
    /// The last job's name.
    pub last_job: JobId,
    /// What it does.
    pub running: Option<Running>,
    /// What is being loaded, and what then.
    pub loading: Option<(Loading, Then)>,
    /// A point picked while a run went on.
    pub waiting_pick: Option<Picked>,
    /// A picture to take.
    pub picture: Option<PendingPicture>,
    /// Points that are drawn while a view moves.
    pub moving_points: u32,
    /// The adapter; `None` where nothing draws (tests of the logic).
    pub gpu: Option<Gpu>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    points: HashMap<u64, Gathered>,
    last_upload: u64,
}

impl Handles {
    /// Starts the worker and installs the pipelines.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn new(ctx: &egui::Context, render_state: Option<&egui_wgpu::RenderState>) -> std::io::Result<Self> {
        let wake = ctx.clone();
        let worker = Worker::spawn(move || wake.request_repaint())?;
        let gpu = render_state.map(|render_state| {
            gpu::install(render_state);
            let software = render_state.adapter.get_info().device_type == wgpu::DeviceType::Cpu;
            Gpu { software, most_points: gpu::most_points(render_state) }
        });
        let (sender, receiver) = bounded(64);
        Ok(Self {
            ctx: ctx.clone(),
            worker,
            last_job: 0,
            running: None,
            loading: None,
            waiting_pick: None,
            picture: None,
            moving_points: gpu.map_or(0, Gpu::first_moving_points),
            gpu,
            sender,
            receiver,
            points: HashMap::new(),
            last_upload: 0,
        })
    }

    /// Learns from how long a frame took in which a view moved, so that about 20 come in a second.
    pub fn adapt(&mut self, frame_secs: f32) {
        if frame_secs > 0.06 {
            self.moving_points = (self.moving_points / 4 * 3).max(10_000);
        } else if frame_secs < 0.03 {
            self.moving_points = self.moving_points.saturating_add(self.moving_points / 4).min(50_000_000);
        }
    }

    /// Runs something on a thread of its own; what it gives comes back through [`Self::try_recv`].
    ///
    /// Without a thread it runs here: late is better than never.
    pub fn spawn(&self, name: &str, work: impl FnOnce() -> Message + Send + 'static) {
        let (sender, ctx) = (self.sender.clone(), self.ctx.clone());
        let work = Box::new(move || {
            // The window may be gone by now.
            let _ = sender.send(work());
            ctx.request_repaint();
        });
        if let Err(error) = thread::Builder::new().name(format!("warpscope-{name}")).spawn(work) {
            eprintln!("warpscope: no thread for {name}: {error}");
        }
    }

    /// What a callback needs to send a message later.
    pub fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }

    /// The next message, if there is one.
    pub fn try_recv(&self) -> Option<Message> {
        self.receiver.try_recv().ok()
    }

    /// The points of a cloud for a pane: gathered once per cloud and axes.
    pub fn points(&mut self, slot: u64, cloud: &Arc<PointCloud>, axes: &[usize]) -> Arc<ViewPoints> {
        if let Some((of, along, points)) = self.points.get(&slot)
            && Arc::ptr_eq(of, cloud)
            && along == axes
        {
            return Arc::clone(points);
        }
        self.last_upload += 1;
        let points = Arc::new(ViewPoints::new(self.last_upload, cloud, axes));
        self.points.insert(slot, (Arc::clone(cloud), axes.to_vec(), Arc::clone(&points)));
        points
    }
}

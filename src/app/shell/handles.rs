//! Threads and GPU objects: what a saved state cannot hold.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui_wgpu;

use crate::app::features::color::work::Coloring;
use crate::app::features::lesson::picture::Picture;
use crate::app::features::lesson::record::Recording;
use crate::app::features::picking::lookup::Lookup;
use crate::app::gpu::Gpu;
use crate::app::jobs::loader::Loading;
use crate::app::model::activity::Activity;
use crate::app::model::answer::Answered;
use crate::app::model::derived::{Derived, TheoryCurve};
use crate::app::model::export::ExportDialog;
use crate::app::model::files::SessionFile;
use crate::app::model::parts::Then;
use crate::app::model::runs::compared::Compared;
use crate::app::model::session::{EngineStatus, FileColumns};
use crate::app::shell::underway::Checking;
use crate::app::shell::underway::Opening;
use crate::app::shell::underway::Picking;
use crate::app::shell::underway::Projecting;
use crate::app::shell::underway::Selecting;
use crate::app::shell::underway::Snapping;
use crate::cloud::Source;
use crate::run::{Asker, JobId, RunRecord, Worker};

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
    /// Two runs were compared.
    Compared(Arc<Compared>),
    /// Files were written, or why not, as a dialog asked for.
    Saved(Result<Vec<PathBuf>, String>, Box<ExportDialog>),
    /// A thread broke down.
    Broken {
        /// What it was to do.
        task: &'static str,
        /// What it said.
        why: String,
    },
}

/// A job that the worker has.
pub struct Running {
    /// Its name.
    pub id: JobId,
    /// As the worker says it.
    pub stage: String,
    /// 0 to 1.
    pub fraction: f32,
}

/// Who waits for the theory's curve.
#[derive(Default)]
pub struct Theory {
    /// Whether a thread works one out.
    pub busy: bool,
    /// Whose is next.
    pub wanted: Option<Answered>,
}

/// All of it.
pub struct Handles {
    /// For repaints from threads.
    pub ctx: egui::Context,
    /// Runs jobs.
    pub worker: Worker,
    /// Answers the picked query at once, beside the worker.
    pub asker: Asker,
    /// The last job's name.
    pub last_job: JobId,
    /// What it does.
    pub running: Option<Running>,
    /// What is being loaded, and what then.
    pub loading: Option<(Loading, Then)>,
    /// A recording that is being read.
    pub opening: Option<Opening>,
    /// A file that is read again, to see whether it has changed.
    pub checking: Option<Checking>,
    /// A change of the selection that is being worked out.
    pub selecting: Option<Selecting>,
    /// A search for the row that a dragged query goes to.
    pub snapping: Option<Snapping>,
    /// A search for what a click means.
    pub picking: Option<Picking>,
    /// A search for what the pointer rests on.
    pub hovering: Option<Picking>,
    /// Other columns of points that the pointer rests on.
    pub lookup: Lookup,
    /// Those of the neighbours that are listed.
    pub beside: Lookup,
    /// Whether the picked point is shown large once it is answered.
    pub focus_when_answered: bool,
    /// A lesson that is being recorded.
    pub recording: Option<Recording>,
    /// A file of the lesson, a recording or a session that is being written.
    pub exporting: Option<Exporting>,
    /// The lesson's picture.
    pub picture_of_lesson: Picture,
    /// Projections of the cloud.
    pub projecting: Projecting,
    /// Values by which points are coloured.
    pub coloring: Coloring,
    /// The theory's curve of what is answered.
    pub theory: Theory,
    /// What draws; `None` where nothing does (tests of the logic).
    pub render_state: Option<egui_wgpu::RenderState>,
    /// The points on it.
    pub gpu: Option<Gpu>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
    saves: Vec<JoinHandle<()>>,
}

impl Drop for Handles {
    /// Lets files that are being written be finished: tables, pictures, recordings and sessions, however large. Those of a
    /// lesson, which can be had again, are removed.
    fn drop(&mut self) {
        if let Some(recording) = self.recording.take() {
            recording.stop();
        }
        if let Some(exporting) = self.exporting.take() {
            match exporting.what {
                Written::Lesson => exporting.task.stop(),
                Written::Recording | Written::Session(_) => exporting.task.finish(),
            }
        }
        for save in self.saves.drain(..) {
            // Nobody reads any more, and the last thing a thread does is to say that it is done.
            while self.receiver.try_recv().is_ok() {}
            let _ = save.join();
        }
    }
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
        let (sender, receiver) = bounded(64);
        Ok(Self {
            ctx: ctx.clone(),
            worker,
            asker,
            last_job: 0,
            running: None,
            loading: None,
            opening: None,
            checking: None,
            selecting: None,
            snapping: None,
            picking: None,
            hovering: None,
            lookup: Lookup::default(),
            beside: Lookup::default(),
            focus_when_answered: false,
            recording: None,
            exporting: None,
            picture_of_lesson: Picture::default(),
            projecting: Projecting::default(),
            coloring: Coloring::default(),
            theory: Theory::default(),
            render_state: render_state.cloned(),
            gpu,
            sender,
            receiver,
            saves: Vec::new(),
        })
    }

    /// What goes on: a load before a run, because it is what the next run waits for.
    pub fn activity(&self) -> Activity {
        match (&self.loading, &self.running) {
            (Some((loading, _)), _) => {
                let what = match &loading.job.source {
                    Source::File { path, .. } => path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
                    Source::Generate { spec, .. } => spec.clone(),
                    Source::Place(at) => at.clone(),
                };
                Activity::Loading { what, fraction: loading.task.fraction() }
            }
            (None, _) if let Some(opening) = &self.opening => {
                let what = opening.path.file_name().unwrap_or(opening.path.as_os_str()).to_string_lossy().into_owned();
                Activity::Loading { what, fraction: opening.task.fraction() }
            }
            (None, Some(running)) => Activity::Running { stage: running.stage.clone(), fraction: running.fraction },
            (None, None) => match (&self.recording, &self.exporting) {
                (Some(recording), _) => Activity::Recording { what: recording.what(), fraction: recording.fraction() },
                (None, Some(Exporting { path, task, .. })) => Activity::Exporting { path: path.clone(), fraction: task.fraction() },
                (None, None) => match self.projecting.activity().or_else(|| self.coloring.activity()) {
                    Some((what, fraction)) => Activity::Preparing { what, fraction },
                    None => match self.checking.as_ref().and_then(Checking::activity) {
                        Some((what, fraction)) => Activity::Checking { what, fraction },
                        None => Activity::Idle,
                    },
                },
            },
        }
    }

    /// Whether the theory of something is worked out, or will be.
    pub fn theory_goes_on(&self) -> bool {
        self.theory.busy || self.theory.wanted.is_some()
    }

    /// Lets go of what belongs to the cloud that was shown.
    pub fn forget(&mut self) {
        (self.snapping, self.picking, self.hovering, self.focus_when_answered) = (None, None, None, false);
        (self.lookup, self.beside) = (Lookup::default(), Lookup::default());
        (self.theory.wanted, self.checking) = (None, None);
        self.projecting.forget();
        if let Some(gpu) = &mut self.gpu {
            gpu.forget();
        }
    }

    /// Runs something on a thread of its own; what it gives comes back through [`Self::try_recv`].
    ///
    /// Where the system has no thread to give, or the work panics, the message says so.
    pub fn spawn(&self, task: &'static str, work: impl FnOnce() -> Message + Send + 'static) {
        let _ = self.start(task, work);
    }

    /// Writes what a dialog asks for on a thread of its own, which is waited for when the window closes.
    pub fn save(&mut self, dialog: ExportDialog, work: impl FnOnce() -> Result<Vec<PathBuf>, String> + Send + 'static) {
        self.saves.retain(|save| !save.is_finished());
        self.saves.extend(self.start("save", move || Message::Saved(work(), Box::new(dialog))));
    }

    fn start(&self, task: &'static str, work: impl FnOnce() -> Message + Send + 'static) -> Option<JoinHandle<()>> {
        let (sender, ctx) = (self.sender.clone(), self.ctx.clone());
        let work = move || {
            let message = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref::<String>().cloned());
                Message::Broken { task, why: text.unwrap_or_else(|| "it panicked".to_owned()) }
            });
            // The window may be gone by now.
            let _ = sender.send(message);
            ctx.request_repaint();
        };
        match thread::Builder::new().name(format!("warpscope-{task}")).spawn(work) {
            Ok(thread) => Some(thread),
            Err(error) => {
                let _ = self.sender.try_send(Message::Broken { task, why: format!("the system has no thread to give: {error}") });
                None
            }
        }
    }

    /// The next message, if there is one.
    pub fn try_recv(&self) -> Option<Message> {
        self.receiver.try_recv().ok()
    }
}

/// What is written on a thread of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file of a lesson. It can be had again, and may take minutes.
    Lesson,
    /// Runs.
    Recording,
    /// A session, into which the next save goes once this one is there.
    Session(SessionFile),
}

/// An export on its way.
pub struct Exporting {
    /// What it is.
    pub what: Written,
    /// Which file.
    pub path: PathBuf,
    /// How far it is.
    pub task: crate::app::jobs::task::Task<Result<String, String>>,
    /// What was asked for, where a dialog asked.
    pub dialog: Option<Box<ExportDialog>>,
}

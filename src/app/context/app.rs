//! The application: settings, session, background tasks, queued actions.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use eframe::egui_wgpu;
use egui_commonmark::CommonMarkCache;

use super::motion::SystemMotion;
use super::settings::{Launch, SettingsFile, Startup};
use crate::app::features::color::ColoringCache;
use crate::app::features::export::state::ExportDialog;
use crate::app::features::history::state::History;
use crate::app::features::lesson::picture::LessonPicture;
use crate::app::features::picking::lookup::Lookup;
use crate::app::features::picking::state::PaneCamera;
use crate::app::features::projection::ProjectionCache;
use crate::app::features::runs::state::RunId;
use crate::app::features::second;
use crate::app::gpu::Gpu;
use crate::app::jobs::table::{ExitPolicy, Jobs, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::look::tokens;
use crate::app::model::{Draft, FailureReason, Log, SessionFile, absolute, camera, commands};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::files::StagingDir;
use crate::lesson::picture::Target;
use crate::run::{JobId, LiveQueryWorker, ResidentPoints, RunRecord, Worker};

/// Keys in eframe's storage under which the first version kept the state and the open file.
const STORAGE_KEY: &str = "warpscope";

const LAST_KEY: &str = "last session";

pub struct App {
    pub(in crate::app) state: State,
    pub(in crate::app) session: Session,
    pub(in crate::app) jobs: Jobs<App>,
    pub(in crate::app) handles: Handles,
    pub(in crate::app) actions: Actions,
    pub(in crate::app) history: History,
    /// The saved session that this launch should restore, as text.
    pub(in crate::app) last: Option<String>,
    /// The settings on disk; `None` in a window without them.
    pub(in crate::app) settings: Option<SettingsFile>,
    /// Folder for samples in a window without settings.
    pub(in crate::app) samples: Option<StagingDir>,
    /// Records whether this launch succeeded.
    pub(in crate::app) start: Arc<Launch>,
    /// Rectangles of visible panes, for their pictures.
    pub(in crate::app) pane_rects: HashMap<PaneKind, Rect>,
    /// Whether the next Escape leaves a field or ends a drag, which egui handles before us.
    pub(in crate::app) gives_up: bool,
    /// Whether the user named a file at launch.
    pub(in crate::app) is_named: bool,
    /// Whether the user started a run; the first launch runs on its own.
    pub(in crate::app) asked_to_run: bool,
    /// Whether the window may close without asking, set when the program is stopped from outside.
    pub(in crate::app) leaves: Arc<AtomicBool>,
}

/// Queries of the first launch, which shows counters and convergence. Few enough that `auto` picks an engine
/// with counters even without a GPU, as it answers within 5 ms.
pub const FIRST_QUERIES: u64 = 500;

impl App {
    /// A window without saved settings.
    ///
    /// # Errors
    /// See [`App::begin`].
    pub fn new(cc: &eframe::CreationContext<'_>, file: Option<PathBuf>) -> std::io::Result<Self> {
        Self::begin(cc, file, None)
    }

    /// Restores settings, or prepares the first launch; opens `file`, or else what was open before.
    ///
    /// # Errors
    /// If a thread cannot be spawned.
    pub fn begin(
        cc: &eframe::CreationContext<'_>,
        file: Option<PathBuf>,
        startup: Option<Startup>,
    ) -> std::io::Result<Self> {
        let (settings, start, found, is_first, warnings) = match startup {
            Some(Startup { settings, start, found, is_first, warnings }) => {
                (Some(settings), start, found, is_first, warnings)
            }
            None => (None, Default::default(), None, true, Vec::new()),
        };
        let of_first_version = || {
            let storage = cc.storage?;
            let last = storage.get_string(LAST_KEY).filter(|last| !last.is_empty());
            Some((eframe::get_value::<State>(storage, STORAGE_KEY)?.clamped(), last))
        };
        let found = if is_first { found.or_else(of_first_version) } else { found };
        let first = found.is_none();
        let (state, last) = found.unwrap_or_default();
        let mut app = Self::with_state(cc, state)?;
        (app.last, app.settings, app.start) = (last.clone(), settings, start);
        let wake = cc.egui_ctx.clone();
        app.handles.system_motion.follow(move || wake.request_repaint());
        app.is_named = file.is_some();
        match file {
            Some(path) => {
                if !app.state.draft.names(&absolute(&path)) {
                    app.start_fresh();
                }
                app.open(&path);
            }
            // Only the first launch runs at once; a restored session is just shown.
            None if first => {
                app.state.draft.query_count = FIRST_QUERIES.to_string();
                app.run();
            }
            None => app.restore_session(&last.unwrap_or_default()),
        }
        for warning in warnings {
            app.session.log.warn(Subject::Other, warning);
        }
        Ok(app)
    }

    /// Saves settings and open session, as the window does periodically and on closing.
    pub fn save_settings(&mut self) {
        let last = self.session_text();
        let written = self.settings.as_mut().map(|settings| settings.write(&self.state, last));
        if let Some(Err(sentence)) = written {
            self.session.log.error_once(Subject::File, &sentence);
        }
    }

    /// Starts an app with nothing loaded, and finds out which engines can run.
    ///
    /// # Errors
    /// If a thread cannot be spawned.
    pub fn with_state(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let mut app = Self::bare(cc, state)?;
        app.probe_engines();
        Ok(app)
    }

    /// Like [`App::with_state`], without probing the engines.
    pub fn bare(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let ctx = &cc.egui_ctx;
        let handles = Handles::new(ctx, cc.wgpu_render_state.as_ref())?;
        let wake = ctx.clone();
        let jobs = Jobs::new(move || wake.request_repaint());
        tokens::install_fonts(ctx);
        state.look.apply(ctx);
        tokens::reduce_motion(ctx, state.reduces_motion(None));
        ctx.set_zoom_factor(state.scale);
        // Our own commands handle Ctrl + and Ctrl -, with different limits.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut app = Self {
            state,
            session: Session::default(),
            jobs,
            handles,
            actions: Actions::default(),
            history: History::default(),
            last: None,
            settings: None,
            samples: None,
            start: Arc::default(),
            pane_rects: HashMap::new(),
            gives_up: false,
            is_named: false,
            asked_to_run: false,
            leaves: Arc::default(),
        };
        app.register_threads();
        Ok(app)
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the last frame shows all points: large clouds take several frames.
    pub fn is_drawn(&self) -> bool {
        self.handles.gpu.as_ref().is_none_or(|gpu| gpu.pace().is_complete())
    }

    /// Whether the colours of points are still being computed.
    pub fn is_coloring(&self) -> bool {
        matches!(self.session.colored, crate::app::features::color::state::channel::ColoringState::Working)
    }

    /// Fixes the seed of quiz questions, for tests and pictures.
    pub fn set_question_seed(&mut self, seed: u64) {
        self.session.lesson.questions_seed = Some(seed);
    }

    /// Queues an action, as a pane would.
    pub fn send(&mut self, action: impl Into<commands::Action>) {
        self.actions.send(action);
        self.handles.ctx.request_repaint();
    }

    /// Handles an Escape with nothing to cancel: closes the shortcut sheet, or else dismisses the problem in
    /// the status line.
    pub fn close_with_escape(&mut self, ctx: &egui::Context) {
        let session = &self.session;
        let open = session.has_dialog() || egui::Popup::is_any_open(ctx);
        let taken = self.gives_up
            || open
            || session.live.is_held()
            || session.tool != crate::app::features::picking::state::Tool::Move
            || session.runs.renaming.is_some();
        if taken || !ctx.input(|input| input.key_pressed(Key::Escape)) {
            return;
        }
        if session.help {
            self.actions.send(commands::Action::CloseShortcuts);
        } else if session.about {
            self.actions.send(commands::Action::CloseAbout);
        } else if session.manual.is_some() {
            self.actions.send(commands::Action::SetManual(None));
        } else if session.log.problem().is_some() {
            self.actions.send(commands::Action::DismissProblem);
        }
    }

    /// Shows a finished run as if it had just completed; for recordings and pictures of panes.
    pub fn show_record(&mut self, record: Arc<RunRecord>) {
        self.show_cloud(Arc::clone(&record.cloud));
        self.finished(record);
    }

    /// Shows a cloud as if it had just been loaded.
    pub fn show_loaded(&mut self, cloud: Arc<PointCloud>) {
        self.show_cloud(cloud);
    }

    /// The result of a task; if it did not complete, an error is logged, because nothing else reports it.
    pub(in crate::app) fn done<T>(&mut self, task: &str, outcome: Outcome<T>) -> Option<T> {
        outcome.map_err(|stopped| self.session.log.error(Subject::Other, format!("{task}: {stopped}"))).ok()
    }

    pub(in crate::app) fn cancelled(&mut self) -> FailureReason {
        self.session.log.info("cancelled");
        FailureReason::Cancelled
    }

    pub(in crate::app) fn failed(&mut self, about: Subject, why: impl Into<String>) -> FailureReason {
        let why = why.into();
        self.session.log.error(about, why.clone());
        FailureReason::Failed(why)
    }

    pub fn set_log(&mut self, log: Log) {
        self.session.log = log;
    }
}

/// Screen position of the picked query, if Plane fills `rect`.
pub fn plane_position(app: &App, rect: Rect) -> Option<Pos2> {
    let (cloud, row) = app.session.picked_point()?;
    let (axes, scene) = (app.state.plane.axes, app.session.scene()?);
    let camera = camera::PlaneCamera::for_view(rect, &app.state.plane, scene.data());
    Some(camera.screen(camera::place(scene.drawn(cloud), row, axes)))
}

/// Screen position of a row, if Plane, Space or the second view fills `rect`; `None` behind the eye, or without
/// a cloud.
pub fn screen_position(app: &App, pane: PaneKind, rect: Rect, row: usize) -> Option<Pos2> {
    let (state, session) = (&app.state, &app.session);
    let is_second = pane == PaneKind::Second;
    let scene = if is_second { second::session_of(session).scene()? } else { session.scene()? };
    let data = scene.data();
    let view = if is_second { state.second.plane } else { state.plane };
    let eye = match pane {
        PaneKind::Space => {
            PaneCamera::Space(camera::SpaceCamera::new(rect, &state.space, data), state.space.axes)
        }
        _ => PaneCamera::Plane(camera::PlaneCamera::for_view(rect, &view, data), view.axes),
    };
    eye.screen(data, row)
}

/// Screen position of a target in the lesson's picture.
pub fn target_position(app: &crate::app::context::app::App, target: Target) -> Option<Pos2> {
    let (scene, place) = app.handles.picture_of_lesson.shown()?;
    let spot = scene
        .spots
        .iter()
        .rev()
        .find(|spot| spot.target == target && scene.target_at(spot.area.center()) == Some(target))?;
    Some(place.pos(spot.area.center()))
}

/// Whether the lesson's picture is animating.
pub fn is_moving(app: &crate::app::context::app::App) -> bool {
    app.handles.picture_of_lesson.is_moving()
}

/// Screen position of data coordinates in the lesson's first map, or of its query; for tests.
pub fn place_in_map(app: &crate::app::context::app::App, at: Option<[f32; 2]>) -> Option<Pos2> {
    let (scene, place) = app.handles.picture_of_lesson.shown()?;
    let map = scene.maps.first()?;
    Some(place.pos(map.point(at.unwrap_or(map.query))))
}

// The interface of a feature.

/// A row of the table of features. The shell iterates over the table without knowing any feature.
pub struct Feature {
    /// Handles an action, or returns one that belongs to another feature.
    pub apply: fn(&mut App, Action) -> Option<Action>,
    /// Starts pending work; once per frame, before drawing.
    pub update: fn(&mut App),
    /// Drops the state of the session's cloud, which the given cloud is about to replace.
    pub leave_cloud: fn(&mut App, &PointCloud),
    /// Initialises state for the cloud now shown.
    pub enter_cloud: fn(&mut App),
    /// Called after the problem in the left panel changed; the argument is the previous one.
    pub draft_changed: fn(&mut App, &Draft),
    /// Cancels work that the status line does not name yet.
    pub give_up: fn(&mut App),
    /// Draws the feature's dialogs over everything else.
    pub dialogs: fn(&mut App, &Ui, &Palette),
}

impl Feature {
    /// A feature that does nothing, as a base for rows.
    pub const NONE: Self = Self {
        apply: |_, action| Some(action),
        update: |_| {},
        leave_cloud: |_, _| {},
        enter_cloud: |_| {},
        draft_changed: |_, _| {},
        give_up: |_| {},
        dialogs: |_, _, _| {},
    };
}

// Long-lived threads, GPU objects and their products, which cannot be part of a saved state.

pub struct Handles {
    /// For repaint requests from threads.
    pub ctx: egui::Context,
    /// Runs whole problems, one at a time.
    pub worker: Arc<Worker>,
    /// Answers the picked query without waiting for the worker.
    pub live_queries: Arc<LiveQueryWorker>,
    pub last_job: JobId,
    /// The file's other columns for the hovered point.
    pub lookup: Lookup,
    /// The file's other columns for the listed neighbours.
    pub neighbor_lookup: Lookup,
    /// The same for the second view's neighbours.
    pub second_lookup: Lookup,
    /// Points of the second view's file, resident in engines.
    pub second_points: ResidentPoints,
    /// The layout to restore when the second view is hidden.
    pub tree_before_second: Option<egui_tiles::Tree<PaneKind>>,
    /// The file's other columns for the listed points.
    pub point_lookup: Lookup,
    /// Whether to zoom to the picked point once it is answered.
    pub focus_when_answered: bool,
    pub picture_of_lesson: LessonPicture,
    pub projecting: ProjectionCache,
    pub coloring: ColoringCache,
    /// The next answer whose expected convergence is computed.
    pub theory_wanted: Option<QueryAnswer>,
    /// Whether the desktop asks for less motion.
    pub system_motion: SystemMotion,
    /// Whether the desktop has proved to lack file dialogs.
    pub without_dialogs: bool,
    /// Layout cache of the documents.
    pub manual: CommonMarkCache,
    /// The renderer; `None` in tests of the logic.
    pub render_state: Option<egui_wgpu::RenderState>,
    pub gpu: Option<Gpu>,
}

impl Handles {
    /// Starts the worker and installs the pipelines.
    ///
    /// # Errors
    /// If a thread cannot be spawned.
    pub fn new(ctx: &egui::Context, render_state: Option<&egui_wgpu::RenderState>) -> std::io::Result<Self> {
        let wake = ctx.clone();
        let worker = Worker::spawn(move || wake.request_repaint())?;
        let wake = ctx.clone();
        let live_queries = LiveQueryWorker::spawn(worker.resident().clone(), move || wake.request_repaint())?;
        let gpu = render_state.map(|render_state| {
            let wake = ctx.clone();
            Gpu::new(render_state, move || wake.request_repaint())
        });
        Ok(Self {
            ctx: ctx.clone(),
            worker: Arc::new(worker),
            live_queries: Arc::new(live_queries),
            last_job: 0,
            lookup: Lookup::default(),
            neighbor_lookup: Lookup::default(),
            second_lookup: Lookup::default(),
            second_points: ResidentPoints::default(),
            tree_before_second: None,
            point_lookup: Lookup::default(),
            focus_when_answered: false,
            picture_of_lesson: LessonPicture::default(),
            projecting: ProjectionCache::default(),
            coloring: ColoringCache::default(),
            theory_wanted: None,
            system_motion: SystemMotion::default(),
            without_dialogs: false,
            manual: crate::app::features::manual::cache(),
            render_state: render_state.cloned(),
            gpu,
        })
    }

    /// Drops state of the cloud that was shown.
    pub fn forget(&mut self) {
        (self.theory_wanted, self.focus_when_answered) = (None, false);
        if let Some(gpu) = &mut self.gpu {
            gpu.forget();
        }
    }
}

// The background task that features share: writing a file, with progress and cancellation.

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportContent {
    /// A file of a lesson: reproducible, but may take minutes.
    Lesson,
    /// The graph of all rows' neighbours; also reproducible.
    Graph,
    /// Runs, without view state.
    Recording,
    /// A session; later saves go to the same file.
    Session(SessionFile),
}

pub struct ExportTask {
    pub what: ExportContent,
    pub path: PathBuf,
    /// The listed runs that the file contains.
    pub runs: Vec<RunId>,
    /// The dialog that requested it, if any.
    pub dialog: Option<Box<ExportDialog>>,
}

/// The end of an export: the result and what the file lacks, or the error; the flag says whether it was
/// cancelled.
pub type Exported = (Result<Vec<String>, String>, bool);

/// Writes files in the background; one export at a time.
pub static EXPORT: TaskKind<App, ExportTask, Exported> = TaskKind {
    purpose: |exporting, fraction| Some(Activity::Exporting { path: exporting.path.clone(), fraction }),
    at_exit: |exporting| match exporting.what {
        ExportContent::Lesson | ExportContent::Graph => ExitPolicy::Stop,
        ExportContent::Recording | ExportContent::Session(_) => ExitPolicy::Finish,
    },
    ..TaskKind::new(TaskPurpose::Export, "export", App::exported)
};

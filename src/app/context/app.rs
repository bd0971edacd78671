//! The window's content: what is known, what goes on, what is asked for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use eframe::egui_wgpu;
use egui_commonmark::CommonMarkCache;

use super::settings::{Beginning, Kept, Start};
use crate::app::features::color::Coloring;
use crate::app::features::export::state::ExportDialog;
use crate::app::features::history::state::History;
use crate::app::features::lesson::picture::Picture;
use crate::app::features::picking::lookup::Lookup;
use crate::app::features::projection::Projecting;
use crate::app::features::runs::state::RunId;
use crate::app::gpu::Gpu;
use crate::app::jobs::table::{AtExit, Jobs, Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::look::tokens;
use crate::app::model::{Draft, Ended, Log, SessionFile, absolute, camera, commands};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::files::PartFolder;
use crate::lesson::picture::Target;
use crate::run::{Asker, JobId, RunRecord, Worker};

/// Where the first version kept the state in eframe's storage, and where what was open.
const STORAGE_KEY: &str = "warpscope";

const LAST_KEY: &str = "last session";

pub struct App {
    pub(in crate::app) state: State,
    pub(in crate::app) session: Session,
    pub(in crate::app) jobs: Jobs<App>,
    pub(in crate::app) handles: Handles,
    pub(in crate::app) actions: Actions,
    pub(in crate::app) history: History,
    /// What this start was to go on with.
    pub(in crate::app) last: Option<String>,
    /// Where settings are kept; `None` in a window that keeps none.
    pub(in crate::app) kept: Option<Kept>,
    /// Where samples are written in a window that keeps no settings.
    pub(in crate::app) samples: Option<PartFolder>,
    /// Whether this start is over.
    pub(in crate::app) start: Arc<Start>,
    /// Where each visible pane is, for pictures of it.
    pub(in crate::app) pane_rects: HashMap<PaneKind, Rect>,
    /// Whether the next Escape leaves a field or gives up a drag, which egui does before anybody else sees
    /// the key.
    pub(in crate::app) gives_up: bool,
    /// Whether it began with a file that somebody named.
    pub(in crate::app) is_named: bool,
    /// Whether the user had something run: the first start runs by itself.
    pub(in crate::app) asked_to_run: bool,
    /// Whether the window may close without a question, also by who stops the program.
    pub(in crate::app) leaves: Arc<AtomicBool>,
}

/// Queries of the first start, which shows counters and convergence: so few that `auto` takes an engine that
/// counts also where there is no GPU, since it answers them within 5 ms.
pub const FIRST_QUERIES: u64 = 500;

impl App {
    /// A window that keeps nothing.
    ///
    /// # Errors
    /// As [`App::begin`].
    pub fn new(cc: &eframe::CreationContext<'_>, file: Option<PathBuf>) -> std::io::Result<Self> {
        Self::begin(cc, file, None)
    }

    /// Restores what was kept, or prepares the first start; opens `file` if there is one, else what was open
    /// before.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn begin(
        cc: &eframe::CreationContext<'_>,
        file: Option<PathBuf>,
        beginning: Option<Beginning>,
    ) -> std::io::Result<Self> {
        let (kept, start, found, is_first, warnings) = match beginning {
            Some(Beginning { kept, start, found, is_first, warnings }) => {
                (Some(kept), start, found, is_first, warnings)
            }
            None => (None, Default::default(), None, true, Vec::new()),
        };
        let of_first_version = || {
            let storage = cc.storage?;
            let last = storage.get_string(LAST_KEY).filter(|last| !last.is_empty());
            Some((eframe::get_value::<State>(storage, STORAGE_KEY)?.settled(), last))
        };
        let found = if is_first { found.or_else(of_first_version) } else { found };
        let first = found.is_none();
        let (state, last) = found.unwrap_or_default();
        let mut app = Self::with_state(cc, state)?;
        (app.last, app.kept, app.start) = (last.clone(), kept, start);
        app.is_named = file.is_some();
        match file {
            Some(path) => {
                if !app.state.draft.names(&absolute(&path)) {
                    app.start_fresh();
                }
                app.open(&path);
            }
            // The first start is answered already; what was open before is only shown again.
            None if first => {
                app.state.draft.query_count = FIRST_QUERIES.to_string();
                app.run();
            }
            None => app.pick_up(&last.unwrap_or_default()),
        }
        for warning in warnings {
            app.session.log.warn(About::Other, warning);
        }
        Ok(app)
    }

    /// Keeps the settings and what is open for the next start, as the window does from time to time and when
    /// it closes.
    pub fn keep(&mut self) {
        let last = self.put_down();
        if let Some(Err(sentence)) = self.kept.as_mut().map(|kept| kept.write(&self.state, last)) {
            self.session.log.error_once(About::File, &sentence);
        }
    }

    /// An app that does nothing yet.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn with_state(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let mut app = Self::bare(cc, state)?;
        app.probe_engines();
        Ok(app)
    }

    /// The same, without a look at what can run.
    pub fn bare(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let ctx = &cc.egui_ctx;
        let handles = Handles::new(ctx, cc.wgpu_render_state.as_ref())?;
        let wake = ctx.clone();
        let jobs = Jobs::new(move || wake.request_repaint());
        tokens::install_fonts(ctx);
        state.look.apply(ctx);
        tokens::reduce_motion(ctx, state.reduce_motion);
        ctx.set_zoom_factor(state.scale);
        // Ctrl + and Ctrl - are commands of our own, with limits of our own.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        let mut app = Self {
            state,
            session: Session::default(),
            jobs,
            handles,
            actions: Actions::default(),
            history: History::default(),
            last: None,
            kept: None,
            samples: None,
            start: Arc::default(),
            pane_rects: HashMap::new(),
            gives_up: false,
            is_named: false,
            asked_to_run: false,
            leaves: Arc::default(),
        };
        app.hear_threads();
        Ok(app)
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether the last frame shows all points: large clouds take several.
    pub fn is_drawn(&self) -> bool {
        self.handles.gpu.as_ref().is_none_or(|gpu| gpu.pace().is_complete())
    }

    /// Whether the colours of points are still worked out.
    pub fn is_coloring(&self) -> bool {
        matches!(self.session.colored, crate::app::features::color::state::channel::Colored::Working)
    }

    /// Draws the same questions in every round, as tests and pictures need it.
    pub fn draw_questions_by(&mut self, seed: u64) {
        self.session.lesson.questions_seed = Some(seed);
    }

    /// Asks for something, as a pane would.
    pub fn send(&mut self, action: impl Into<commands::Action>) {
        self.actions.send(action);
        self.handles.ctx.request_repaint();
    }

    /// Escape that has nothing to cancel closes the sheet of shortcuts, or else dismisses what the status
    /// line says went wrong.
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
        } else if session.log.trouble().is_some() {
            self.actions.send(commands::Action::DismissTrouble);
        }
    }

    /// Shows a finished run, as if it had just been done: recordings, and pictures of panes.
    pub fn show_record(&mut self, record: Arc<RunRecord>) {
        self.show_cloud(Arc::clone(&record.cloud));
        self.finished(record);
    }

    /// Shows a cloud, as if it had just been loaded.
    pub fn show_loaded(&mut self, cloud: Arc<PointCloud>) {
        self.show_cloud(cloud);
    }

    /// The result of a task; if it did not complete, an error is logged, because nothing else reports it.
    pub(in crate::app) fn done<T>(&mut self, task: &str, outcome: Outcome<T>) -> Option<T> {
        outcome.map_err(|stopped| self.session.log.error(About::Other, format!("{task}: {stopped}"))).ok()
    }

    /// Says that something was cancelled.
    pub(in crate::app) fn cancelled(&mut self) -> Ended {
        self.session.log.info("cancelled");
        Ended::Cancelled
    }

    /// Says why something failed.
    pub(in crate::app) fn failed(&mut self, about: About, why: impl Into<String>) -> Ended {
        let why = why.into();
        self.session.log.error(about, why.clone());
        Ended::Failed(why)
    }

    /// Replaces what was said.
    pub fn set_log(&mut self, log: Log) {
        self.session.log = log;
    }
}

/// Where the picked query is on the screen when Plane fills `rect`.
pub fn plane_position(app: &App, rect: Rect) -> Option<Pos2> {
    let (cloud, row) = app.session.picked_point()?;
    let (axes, scene) = (app.state.plane.axes, app.session.scene()?);
    let camera = camera::PlaneCamera::of(rect, &app.state.plane, scene.data());
    Some(camera.screen(camera::place(scene.drawn(cloud), row, axes)))
}

/// Where a row of the cloud is on the screen when Plane or Space fills `rect`; `None` behind the eye, or
/// without a cloud.
pub fn screen_position(app: &App, pane: PaneKind, rect: Rect, row: usize) -> Option<Pos2> {
    let scene = app.session.scene()?;
    let (data, state) = (scene.data(), &app.state);
    let eye = match pane {
        PaneKind::Space => crate::app::features::picking::state::Eye::Space(
            camera::SpaceCamera::new(rect, &state.space, data),
            state.space.axes,
        ),
        _ => crate::app::features::picking::state::Eye::Plane(
            camera::PlaneCamera::of(rect, &state.plane, data),
            state.plane.axes,
        ),
    };
    eye.screen(data, row)
}

/// Where the picture shows something, on the screen.
pub fn target_position(app: &crate::app::context::app::App, target: Target) -> Option<Pos2> {
    let (scene, place) = app.handles.picture_of_lesson.shown()?;
    let spot = scene
        .spots
        .iter()
        .rev()
        .find(|spot| spot.target == target && scene.target_at(spot.area.center()) == Some(target))?;
    Some(place.pos(spot.area.center()))
}

/// Whether something of the lesson's picture is on its way to its place.
pub fn is_moving(app: &crate::app::context::app::App) -> bool {
    app.handles.picture_of_lesson.is_moving()
}

/// Where coordinates of the data lie in the lesson's first map on the screen, and where the query is in it,
/// for tests.
pub fn place_in_map(app: &crate::app::context::app::App, at: Option<[f32; 2]>) -> Option<Pos2> {
    let (scene, place) = app.handles.picture_of_lesson.shown()?;
    let map = scene.maps.first()?;
    Some(place.pos(map.point(at.unwrap_or(map.query))))
}

// A feature as the shell sees it.

/// A row of the table of features. The shell goes through the table, and knows none of them.
pub struct Feature {
    /// Carries out an action, or gives back one that is not the feature's.
    pub apply: fn(&mut App, Action) -> Option<Action>,
    /// Starts work that is wanted now: once a frame, before anything is drawn.
    pub update: fn(&mut App),
    /// Forgets what belongs to the cloud that is still in the session: this one takes its place.
    pub leave_cloud: fn(&mut App, &PointCloud),
    /// Takes up the cloud that is shown now.
    pub enter_cloud: fn(&mut App),
    /// The problem on the left has changed from this.
    pub draft_changed: fn(&mut App, &Draft),
    /// Gives up on work that Cancel means although the status line does not name it yet.
    pub give_up: fn(&mut App),
    /// Draws the feature's dialogs, over everything else.
    pub dialogs: fn(&mut App, &Ui, &Palette),
}

impl Feature {
    /// A feature that does nothing: what rows begin with.
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

// Threads that live as long as the window, GPU objects, and what was made by either: what a saved state
// cannot hold.

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
            manual: crate::app::features::manual::cache(),
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

// The one background task that several features share: a file is written, with progress and cancel.

/// What is written with progress and cancel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// A file of a lesson. It can be had again, and may take minutes.
    Lesson,
    /// The graph of all rows' neighbours. So can this.
    Graph,
    /// Runs, without what the window shows of them.
    Recording,
    /// A session, into which the next save goes once this one is there.
    Session(SessionFile),
}

/// A file that is written.
pub struct Exporting {
    pub what: Written,
    pub path: PathBuf,
    /// The runs of the list that go into it.
    pub runs: Vec<RunId>,
    /// What was asked for, where a dialog asked.
    pub dialog: Option<Box<ExportDialog>>,
}

/// What is said of a file that was written, and then what is missing in it; or why it was not written, and
/// whether that was cancelled.
pub type Exported = (Result<Vec<String>, String>, bool);

/// Writes files in the background; one export at a time.
pub static EXPORT: Kind<App, Exporting, Exported> = Kind {
    purpose: |exporting, fraction| Some(Activity::Exporting { path: exporting.path.clone(), fraction }),
    at_exit: |exporting| match exporting.what {
        Written::Lesson | Written::Graph => AtExit::Stop,
        Written::Recording | Written::Session(_) => AtExit::Finish,
    },
    ..Kind::new(Slot::Export, "export", App::exported)
};

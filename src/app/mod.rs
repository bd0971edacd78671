//! The window.
//!
//! | part | does |
//! |---|---|
//! | [`state`] | what is kept between two starts |
//! | [`session`] | what is open now |
//! | `selection` | rows and queries that every pane highlights |
//! | `projection` | principal components and random directions |
//! | `scene` | what is drawn for a cloud: itself, or its projection |
//! | `history` | undo and redo |
//! | `picking` | what is under the pointer, in a rectangle, in a lasso |
//! | `color` | numbers of points as colours |
//! | `saved` | a session put down and picked up |
//! | [`runs`] | what was run and opened, and two of them compared |
//! | `dropped` | files that are dropped together |
//! | `handles` | threads and GPU objects |
//! | `logic` | takes in what threads say; draws nothing |
//! | [`commands`] | what can be asked for: one enum feeds menus, shortcuts and the sheet |
//! | `apply` | the one place that changes anything |
//! | `ui`, `panels`, `panes` | draw, read, and send actions |
//! | [`lesson`] | the lesson: a mode of its own |
//! | [`tokens`] | the one place where colours are |

mod apply;
mod camera;
mod color;
pub mod commands;
mod derived;
mod draft;
mod dropped;
mod export;
mod finder;
mod format;
mod gpu;
mod handles;
mod headless;
mod history;
pub mod lesson;
pub mod live;
mod loader;
mod log;
mod logic;
mod panels;
mod panes;
pub mod parts;
mod picking;
mod portrait;
mod projection;
pub mod runs;
pub mod saved;
mod scene;
pub mod selection;
pub mod session;
pub mod state;
mod svg;
mod task;
#[cfg(test)]
mod testing;
mod ticks;
mod timeline;
pub mod tokens;
mod ui;
mod widgets;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
pub use color::{Channel, ColorAction, ColorBy, ColorMap, ColorView};
use commands::Actions;
pub use draft::{DataKind, Draft, QueryKind};
pub use export::{ExportKind, PaneData};
pub use gpu::{FrameBench, FrameReport, FrameTimes, Heard, Method, measure as measure_frames};
use handles::{Handles, Message};
pub use headless::{Headless, check_adapter, render_headless, write_picture};
pub use log::{About, Entry, Level, Log};
pub use picking::{PickTimes, measure as measure_picking};
pub use projection::{ProjectionKind, ProjectionView};
use session::{EngineStatus, Session};
use state::{PaneKind, State};

use crate::cloud::PointCloud;
use crate::knn::EngineKind;
use crate::run::RunRecord;

/// Where the saved state lies in eframe's storage, and where what was open.
const STORAGE_KEY: &str = "warpscope";
const LAST_KEY: &str = "last session";

/// Opens the window, with a file if one is given and on a lesson if one is named, and returns when it is closed.
///
/// # Errors
/// When there is no display or no graphics adapter, in one sentence.
pub fn run(file: Option<PathBuf>, lesson: Option<u32>) -> anyhow::Result<()> {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Warpscope")
        .with_app_id("warpscope")
        .with_icon(icon())
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size([720.0, 480.0]);
    #[cfg(all(unix, not(target_os = "macos")))]
    if ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty())) {
        anyhow::bail!(
            "cannot open a window: there is no display, neither DISPLAY nor WAYLAND_DISPLAY is set; `warpscope gui --png FILE` draws the window into a PNG"
        );
    }
    let mut options = eframe::NativeOptions { viewport, persist_window: true, ..Default::default() };
    // With the adapter's clock, where it has one: what a frame has time for is learnt from it.
    if let eframe::egui_wgpu::WgpuSetup::CreateNew(setup) = &mut options.wgpu_options.wgpu_setup {
        setup.device_descriptor = Arc::new(gpu::device_descriptor);
    }
    eframe::run_native(
        "warpscope",
        options,
        Box::new(move |cc| {
            let mut app = App::new(cc, file)?;
            if let Some(number) = lesson {
                app.send(lesson::LessonAction::Open(number));
            }
            Ok(Box::new(app))
        }),
    )
    .map_err(|error| anyhow::anyhow!("{error}"))
    .context("cannot open a window (without a graphics driver, install mesa-vulkan-drivers)")
}

fn icon() -> egui::IconData {
    match image::load_from_memory(include_bytes!("../../assets/icon.png")) {
        Ok(icon) => {
            let icon = icon.into_rgba8();
            let (width, height) = icon.dimensions();
            egui::IconData { rgba: icon.into_raw(), width, height }
        }
        Err(_) => egui::IconData::default(),
    }
}

/// The window's content.
pub struct App {
    state: State,
    session: Session,
    handles: Handles,
    actions: Actions,
    history: history::History,
    /// What this start was to go on with.
    last: Option<String>,
    /// Where each visible pane is, for pictures of it.
    pane_rects: HashMap<PaneKind, egui::Rect>,
    /// Whether the next Escape leaves a field or gives up a drag, which egui does before anybody else sees the key.
    gives_up: bool,
}

impl App {
    /// Restores what was saved, or prepares the first start; opens `file` if there is one, else what was open before.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn new(cc: &eframe::CreationContext<'_>, file: Option<PathBuf>) -> std::io::Result<Self> {
        let saved: Option<State> = cc.storage.and_then(|storage| eframe::get_value(storage, STORAGE_KEY));
        let first = saved.is_none();
        let last = cc.storage.and_then(|storage| storage.get_string(LAST_KEY)).filter(|last| !last.is_empty());
        let mut app = Self::with_state(cc, saved.unwrap_or_default())?;
        app.last = last.clone();
        match file {
            Some(path) => app.open(&path),
            // The first start is answered already; what was open before is only shown again.
            None if first => app.run(),
            None => app.pick_up(&last.unwrap_or_default()),
        }
        Ok(app)
    }

    /// An app that does nothing yet.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn with_state(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let mut app = Self::bare(cc, state)?;
        for kind in EngineKind::ALL {
            app.handles.spawn("probe", move || {
                let device = crate::engines::open(kind).map(|engine| engine.device()).map_err(|error| error.to_string());
                Message::Engine(EngineStatus { kind, device: Some(device) })
            });
        }
        app.session.engines = EngineKind::ALL.map(|kind| EngineStatus { kind, device: None }).to_vec();
        Ok(app)
    }

    /// The same, without a look at what can run.
    fn bare(cc: &eframe::CreationContext<'_>, state: State) -> std::io::Result<Self> {
        let ctx = &cc.egui_ctx;
        let handles = Handles::new(ctx, cc.wgpu_render_state.as_ref())?;
        tokens::install_fonts(ctx);
        state.look.apply(ctx);
        ctx.set_zoom_factor(state.scale);
        // Ctrl + and Ctrl - are commands of our own, with limits of our own.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        Ok(Self {
            state,
            session: Session::default(),
            handles,
            actions: Actions::default(),
            history: history::History::default(),
            last: None,
            pane_rects: HashMap::new(),
            gives_up: false,
        })
    }

    /// What is kept.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is open.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Whether a load, a run or the recording of a lesson goes on.
    pub fn is_busy(&self) -> bool {
        let handles = &self.handles;
        let works = handles.loading.is_some() || handles.running.is_some() || handles.recording.is_some() || handles.opening.is_some();
        works || self.session.live.is_waiting()
    }

    /// Whether the last frame shows all points: large clouds take several.
    pub fn is_drawn(&self) -> bool {
        self.handles.gpu.as_ref().is_none_or(|gpu| gpu.pace().is_complete())
    }

    /// Whether the colours of points are still worked out.
    fn is_coloring(&self) -> bool {
        matches!(self.session.colored, session::Colored::Working)
    }

    /// Asks for something, as a pane would.
    pub fn send(&mut self, action: impl Into<commands::Action>) {
        self.actions.send(action);
        self.handles.ctx.request_repaint();
    }

    /// Escape that has nothing to cancel closes the sheet of shortcuts, or else dismisses what the status line says went wrong.
    fn close_with_escape(&mut self, ctx: &egui::Context) {
        let session = &self.session;
        let open = session.has_dialog() || egui::Popup::is_any_open(ctx);
        let taken = self.gives_up || open || session.live.is_held() || session.tool != picking::Tool::Move || session.runs.renaming.is_some();
        if taken || !ctx.input(|input| input.key_pressed(egui::Key::Escape)) {
            return;
        }
        if session.help {
            self.actions.send(commands::Action::CloseShortcuts);
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

    /// Replaces what was said.
    pub fn set_log(&mut self, log: Log) {
        self.session.log = log;
    }
}

/// Where the picked query is on the screen when Plane fills `rect`.
pub fn plane_position(app: &App, rect: egui::Rect) -> Option<egui::Pos2> {
    let (cloud, row) = app.session.picked_point()?;
    let (axes, scene) = (app.state.plane.axes, app.session.scene()?);
    let camera = camera::PlaneCamera::new(rect, app.state.plane.window, scene.data(), axes);
    Some(camera.screen(camera::place(scene.drawn(cloud), row, axes)))
}

/// Where a row of the cloud is on the screen when Plane or Space fills `rect`; `None` behind the eye, or without a cloud.
pub fn screen_position(app: &App, pane: PaneKind, rect: egui::Rect, row: usize) -> Option<egui::Pos2> {
    let scene = app.session.scene()?;
    let (data, state) = (scene.data(), &app.state);
    let eye = match pane {
        PaneKind::Space => picking::Eye::Space(camera::SpaceCamera::new(rect, &state.space, data), state.space.axes),
        _ => picking::Eye::Plane(camera::PlaneCamera::new(rect, state.plane.window, data, state.plane.axes), state.plane.axes),
    };
    eye.screen(data, row)
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        let look = self.look();
        if look.is_lost(ctx) {
            look.apply(ctx);
        }
        self.poll();
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        if let Some(gpu) = &self.handles.gpu {
            gpu.pace().begin_frame();
        }
        let lesson = &self.session.lesson;
        let mode = if lesson.open { commands::Mode::Lesson } else { commands::Mode::Explorer };
        // A dialog has the keys to itself, and the finder's own close it.
        let (dialog, finder) = (self.session.has_dialog(), self.session.finder.is_some());
        if let Some(quiz) = lesson.quiz.as_ref().filter(|_| lesson.open && !dialog) {
            lesson::question_keys(ui.ctx(), quiz, &mut self.actions);
        }
        // While the query is held, Escape puts it back.
        let busy = self.session.activity.is_busy() && !self.session.live.is_held();
        let cancels = busy || (lesson.open && lesson.presenting != lesson::Presenting::No);
        // Escape closes the sheet of shortcuts first.
        let cancels = cancels && !self.session.help;
        let allows = |command| match command {
            commands::Command::Find => finder || !dialog,
            commands::Command::Cancel => cancels && !dialog,
            _ => !dialog,
        };
        commands::shortcuts(ui.ctx(), mode, allows, &mut self.actions);
        self.close_with_escape(ui.ctx());
        let dropped: Vec<PathBuf> = ui.input(|input| input.raw.dropped_files.iter().map(|file| file.path().to_owned()).collect());
        if !dropped.is_empty() {
            self.actions.send(commands::Action::OpenPaths(dropped));
        }
        self.window_ui(ui);
        for action in self.actions.take() {
            self.apply(action);
            // What an action changed is seen in the next frame.
            ui.ctx().request_repaint();
        }
        self.watch_history();
        self.gives_up = ui.ctx().text_edit_focused() || ui.ctx().dragged_id().is_some();
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        eframe::set_value(storage, STORAGE_KEY, &self.state);
        storage.set_string(LAST_KEY, self.put_down().unwrap_or_default());
    }
}

//! The window without a display: rendered to a file, for servers and for pictures in documents.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use egui_kittest::Harness;

use crate::app::context::adapter::{check_adapter, check_memory};
use crate::app::context::app::{App, FIRST_QUERIES};
use crate::app::context::offscreen_render::{CompleteFrameCounter, OutputFormat};
use crate::app::features::export::state::is_svg;
use crate::app::features::lesson::state::LessonAction;
use crate::app::model::{
    Background, PictureDraft, PictureSettings, PictureSize, SCALES, Theme, single_layout, title_of,
};
use crate::app::prelude::*;
use crate::cloud::formats::FormatError;
use crate::lesson::moments;

/// Time limit for the first answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(300);

/// What to show and render.
#[derive(Clone, Debug, Default)]
pub struct HeadlessOptions {
    /// A file to open; without one, the generated cloud of the first launch.
    pub file: Option<PathBuf>,
    /// A generator spec, used without a file.
    pub generator: Option<String>,
    /// Number of sampled queries and of repeats; defaults if `None`.
    pub queries: Option<u32>,
    pub repeats: Option<u32>,
    /// A lesson, by number, instead of the explorer.
    pub lesson: Option<u32>,
    /// Position in the lesson; defaults to the start of its excerpt.
    pub at: Option<usize>,
    /// Whether the lesson fills the window, with large type.
    pub presenter: bool,
    /// Width and height in pixels.
    pub size: [u32; 2],
    pub look: Theme,
    /// Pixels per point; 1 is the normal text size.
    pub scale: f32,
    /// A single pane to draw instead of the window.
    pub pane: Option<SinglePane>,
}

/// A picture of a single pane.
#[derive(Clone, Debug)]
pub struct SinglePane {
    pub pane: PaneKind,
    /// [`PictureSize::Window`] uses the window's size.
    pub size: PictureSize,
    /// `None` uses the pane's default title.
    pub title: Option<String>,
    pub legend: bool,
    pub names: bool,
}

/// Opens the app, waits for the answer, and writes the window to files in the formats of their extensions.
///
/// # Errors
/// If there is no graphics adapter, the file cannot be read, or a picture cannot be written.
pub fn render_headless(show: &HeadlessOptions, files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    check_memory(show.size)?;
    check_adapter()?;
    let (file, generator) = (show.file.clone(), show.generator.clone());
    let asked = file.is_some() || generator.is_some();
    let needs_run = show.lesson.is_none();
    let (look, single) = (show.look, show.pane.clone());
    let scale = show.scale.clamp(*SCALES.start(), *SCALES.end());
    // In points; the scale converts them to pixels.
    let [width, height] = show.size.map(|pixels| pixels as f32 / scale);
    // Draws characters missing from the fonts as boxes, as in a window; by default the test harness panics.
    let mut harness =
        Harness::builder().with_size([width, height]).allow_missing_glyphs().wgpu().build_eframe(move |cc| {
            let mut state = State { look, scale, ..State::default() };
            // Before the first frame, because only visible panes are computed.
            if let Some(single) = &single {
                (state.tree, state.plane.names, state.space.names) =
                    (single_layout(single.pane), single.names, single.names);
            }
            // Hides the dragging hint: a picture is not interactive.
            state.lesson.has_dragged = true;
            state.lesson.presenter_look =
                if look == Theme::System { state.lesson.presenter_look } else { look };
            if let Some(path) = file {
                state.draft.data = crate::app::model::DataKind::File;
                state.draft.path = path.display().to_string();
            }
            if let Some(spec) = generator {
                state.draft.generator = spec;
            }
            let mut app = App::with_state(cc, state).expect("a thread for the worker");
            if needs_run || asked {
                app.send(crate::app::model::commands::Action::Load);
            }
            app
        });
    let wait_for = |harness: &mut Harness<'static, App>,
                    what: &str,
                    patience: Duration,
                    done: &mut dyn FnMut(&mut App) -> bool|
     -> anyhow::Result<()> {
        let started = Instant::now();
        loop {
            harness.step();
            if done(harness.state_mut()) {
                return Ok(());
            }
            let app = harness.state();
            // Dialogs cannot be answered here.
            if let Some(dialog) = &app.session().datasets {
                return Err(FormatError::Ambiguous {
                    datasets: dialog.datasets.clone(),
                    path: dialog.path.clone(),
                }
                .into());
            }
            if let Some(dialog) = &app.session().unusable {
                bail!("{}", dialog.error);
            }
            if !app.is_busy()
                && started.elapsed() > Duration::from_secs(1)
                && let Some(entry) = app
                    .session()
                    .log
                    .entries()
                    .iter()
                    .rev()
                    .find(|entry| entry.level == crate::app::model::log::Level::Error)
            {
                bail!("{}", entry.text);
            }
            if started.elapsed() > patience {
                bail!(
                    "no {what} within {} s{}",
                    patience.as_secs(),
                    if asked { "; use `warpscope run` for long jobs" } else { "" }
                );
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    let wait = |harness: &mut Harness<'static, App>,
                what: &str,
                done: &mut dyn FnMut(&mut App) -> bool|
     -> anyhow::Result<()> { wait_for(harness, what, ANSWER_TIMEOUT, done) };
    if needs_run || asked {
        wait(&mut harness, "cloud", &mut |app| app.session().cloud.is_some())?;
    }
    let recorded = show.file.as_deref().is_some_and(|file| crate::run::recording::split_run(file).is_some());
    let answered = &mut |app: &mut App| {
        let session = app.session();
        session.record.is_some() && session.derived.is_some() && !app.is_busy() && !app.is_computing_theory()
    };
    match show.lesson {
        None if recorded => wait(&mut harness, "answer", &mut |app| {
            let session = app.session();
            // Wait for what a session may show with a run: a projection, colours.
            let listed = session.file_columns().is_some()
                || session.cloud.as_ref().is_none_or(|cloud| cloud.file().is_none());
            let still = listed
                && !app.is_busy()
                && !app.is_walking()
                && matches!(session.activity, Activity::Idle | Activity::Checking { .. });
            let counted = session.record.as_ref().is_none_or(|record| record.convergence.queries() > 0);
            let without = session.record.is_none() || (!counted && session.derived.is_some());
            still && (without || answered(app))
        })?,
        None => {
            let app = harness.state_mut();
            let mut draft = app.state().draft.clone();
            let rows = app.session().cloud.as_ref().map_or(0, |cloud| cloud.len() as u64);
            let usual =
                if asked { draft.query_count.parse().unwrap_or(FIRST_QUERIES) } else { FIRST_QUERIES };
            let count = show.queries.map_or(usual, u64::from);
            draft.query_count = count.min(rows).to_string();
            if let Some(repeats) = show.repeats {
                draft.repeats = repeats.to_string();
            }
            app.send(crate::app::model::commands::Action::SetDraft(Box::new(draft)));
            app.send(crate::app::model::commands::command::Command::Run);
            wait(&mut harness, "answer", answered)?;
            if show.pane.as_ref().is_some_and(|single| single.pane == PaneKind::Engines) {
                wait(&mut harness, "list of engines", &mut |app| {
                    app.session().engines.iter().all(|status| status.device.is_some())
                })?;
                harness.state_mut().send(crate::app::model::commands::command::Command::CompareEngines);
                // No time limit: engines predicted to take more than a minute are skipped anyway.
                wait_for(&mut harness, "answer of all engines", Duration::MAX, &mut |app| {
                    app.session().engine_comparison.under_way().is_none() && !app.is_busy()
                })?;
            }
        }
        Some(number) => {
            harness.state_mut().send(LessonAction::Open(number));
            wait(&mut harness, "lesson", &mut |app| app.session().lesson.player.is_some())?;
            let app = harness.state_mut();
            if let (Some(at), Some(player)) = (show.at, &app.session().lesson.player) {
                let at = moments::check(&player.take().recording, at)?;
                // The position may be outside the lesson's excerpt.
                app.send(LessonAction::SetWhole(true));
                app.send(LessonAction::Seek(at));
            }
            if show.presenter {
                app.send(crate::app::model::commands::command::Command::Presenter);
            }
        }
    }
    harness.run_steps(4);
    let started = Instant::now();
    // Neighbours becomes visible only now, and reads the file's other columns.
    while harness.state().is_reading_neighbor_columns() {
        if started.elapsed() > ANSWER_TIMEOUT {
            bail!("reading the file's other columns took more than {} s", ANSWER_TIMEOUT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(10));
        harness.step();
    }
    if show.pane.is_some() || files.iter().any(|file| is_svg(file)) {
        return save(show, harness.state(), files);
    }
    let started = Instant::now();
    let mut still = CompleteFrameCounter::default();
    let picture = loop {
        let picture = harness.render().map_err(|error| anyhow!("cannot draw the window: {error}"))?;
        if still.is_reached() {
            break picture;
        }
        harness.step();
        still.after_frame(harness.state());
        if started.elapsed() > ANSWER_TIMEOUT {
            bail!("the points were not drawn within {} s", ANSWER_TIMEOUT.as_secs());
        }
    };
    let (width, height) = picture.dimensions();
    let picture =
        egui::ColorImage::from_rgba_unmultiplied([width as usize, height as usize], picture.as_raw());
    files.iter().map(|file| write_picture(file, &picture)).collect()
}

/// Redraws the app and writes it: a single pane, or vector shapes.
fn save(show: &HeadlessOptions, app: &App, files: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let render_state =
        app.handles.render_state.as_ref().context("there is no graphics adapter to draw with")?;
    let single = show.pane.as_ref();
    let draft = PictureDraft {
        choice: PictureSettings {
            size: single.map_or(PictureSize::Window, |single| single.size),
            background: Background::Window,
            legend: single.is_none_or(|single| single.legend),
        },
        title: single.map_or_else(String::new, |single| {
            single.title.clone().unwrap_or_else(|| title_of(single.pane, &app.state, &app.session))
        }),
        names: single.is_some_and(|single| single.names),
    };
    let layout =
        draft.choice.size.layout((show.size.map(|pixels| pixels as f32 / show.scale), show.scale), 1);
    let written = |file: &PathBuf| {
        let render = app.offscreen_render(single.map(|single| single.pane), &draft, &layout);
        render
            .save(OutputFormat::for_path(&layout, file), render_state, file)
            .map_err(|error| anyhow!(error))
            .context("cannot write the picture")
    };
    files.iter().map(written).collect()
}

/// Writes a PNG.
///
/// # Errors
/// If the file cannot be written.
pub fn write_picture(png: &Path, picture: &egui::ColorImage) -> anyhow::Result<PathBuf> {
    crate::app::features::export::write_png(png, picture, None)
        .map_err(|error| anyhow!(error))
        .context("cannot write the picture")
}

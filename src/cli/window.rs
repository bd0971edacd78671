//! `warpscope [FILE]` and `warpscope gui`: the window.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::PossibleValuesParser;

use super::bar::Bar;
use super::paths::ending_in;
use super::usage::UsageError;
use super::values;
use crate::cloud::generate;
use crate::lesson::lessons::{self, Overrides};
use crate::lesson::moments;
use crate::run::recording;

#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("picture").args(["png", "svg", "frames"]).multiple(true),
    group = clap::ArgGroup::new("drawn").args(["png", "svg"]).multiple(true)
)]
pub struct WindowArgs {
    /// File to open
    ///
    /// A cloud, a recording (FILE.warpscope) or one of its runs (FILE.warpscope#NAME).
    file: Option<PathBuf>,
    /// Open a lesson, by number or name
    #[arg(long, value_name = "LESSON")]
    lesson: Option<String>,
    /// Save a screenshot as PNG; needs no display
    ///
    /// Taken when the search has finished.
    #[arg(long, value_name = "FILE", value_parser = ending_in("png"))]
    png: Option<PathBuf>,
    /// Save the window as SVG, for documents
    ///
    /// Text and shapes stay vectors; points are embedded as a bitmap.
    #[arg(long, value_name = "FILE", value_parser = ending_in("svg"), conflicts_with = "frames")]
    svg: Option<PathBuf>,
    /// Size of the picture in pixels
    ///
    /// With --pane also slide (1920x1080), column (85 mm wide, 300 dpi) or page (180 mm).
    #[arg(
        long,
        value_name = "WxH",
        default_value = "1280x800",
        value_parser = size,
        requires = "picture",
        help_heading = "With --png, --svg or --frames"
    )]
    size: Size,
    /// Theme [default: system; with --pane: light]
    #[arg(
        long = "theme",
        alias = "look",
        value_name = "THEME",
        value_parser = PossibleValuesParser::new(LOOKS),
        requires = "drawn",
        help_heading = WITH_PICTURE
    )]
    look: Option<String>,
    /// Draw one pane alone, with its legend and a title
    ///
    /// For slides and papers. --pane engines compares the engines first.
    #[arg(
        long,
        value_parser = PossibleValuesParser::new(PANES),
        requires = "drawn",
        conflicts_with_all = ["lesson", "frames"],
        help_heading = WITH_PICTURE
    )]
    pane: Option<String>,
    /// Title of the pane [default: what it shows]; "" for none
    #[arg(long, value_name = "TEXT", requires = "pane", help_heading = WITH_PICTURE)]
    title: Option<String>,
    /// Omit the legend of the pane
    #[arg(long, requires = "pane", help_heading = WITH_PICTURE)]
    no_legend: bool,
    /// Label the query and its neighbours in plane and space
    #[arg(long, requires = "pane", help_heading = WITH_PICTURE)]
    names: bool,
    /// Scale of text and controls, 0.75 to 3
    #[arg(
        long,
        default_value_t = 1.0,
        value_name = "FACTOR",
        value_parser = values::number_in(0.75..=3.0),
        requires = "drawn",
        help_heading = WITH_PICTURE
    )]
    scale: f32,
    /// Step of the lesson to show [default: start of its part]
    #[arg(
        long,
        value_name = "STEP",
        requires = "drawn",
        requires = "lesson",
        value_parser = values::whole::<usize>,
        help_heading = WITH_PICTURE
    )]
    at: Option<usize>,
    /// Show only the lesson, in large type
    #[arg(long, requires = "drawn", requires = "lesson", help_heading = WITH_PICTURE)]
    presenter: bool,
    /// Measure frame times of an orbit, without a window
    ///
    /// Draws this many frames; with --png, the last one is written.
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = values::whole_in::<u32>(1..=100_000),
        conflicts_with = "lesson"
    )]
    frames: Option<u32>,
    /// Generated cloud instead of a file
    #[arg(
        long,
        value_name = "SPEC",
        requires = "picture",
        conflicts_with_all = ["file", "lesson"],
        help_heading = "With --png, --svg or --frames"
    )]
    generate: Option<String>,
    /// Number of rows to use as queries
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = values::at_least_one::<u32>,
        requires = "drawn",
        conflicts_with = "lesson",
        help_heading = WITH_PICTURE
    )]
    queries: Option<u32>,
    /// Timed repeats (per engine with --pane engines)
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = values::whole_in::<u32>(1..=100_000),
        requires = "drawn",
        conflicts_with = "lesson",
        help_heading = WITH_PICTURE
    )]
    repeats: Option<u32>,
    /// Draw two axes instead of three
    #[arg(long, requires = "frames", help_heading = "With --frames")]
    plane: bool,
    /// Diameter of a point in pixels, 0.1 to 100
    #[arg(
        long,
        value_name = "PIXELS",
        default_value_t = 2.0,
        value_parser = values::number_in(0.1..=100.0),
        allow_negative_numbers = true,
        requires = "frames",
        help_heading = "With --frames"
    )]
    point_size: f32,
    /// Draw with the CPU even if there is a GPU
    #[arg(long, requires = "frames", help_heading = "With --frames")]
    software: bool,
}

impl WindowArgs {
    /// Whether the interactive window opens, as opposed to pictures or measurements of it.
    pub fn opens_window(&self) -> bool {
        self.png.is_none() && self.svg.is_none() && self.frames.is_none()
    }
}

const WITH_PICTURE: &str = "With --png or --svg";

/// Panes that can be drawn alone.
const PANES: [&str; 7] = ["plane", "space", "timings", "timeline", "counts", "convergence", "engines"];

/// The size of a picture, or the medium that determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Pixels([u32; 2]),
    Slide,
    Column,
    Page,
}

impl Size {
    /// The size in pixels, for pictures of the whole window.
    #[cfg(feature = "gui")]
    fn pixels(self) -> anyhow::Result<[u32; 2]> {
        match self {
            Self::Pixels(size) => Ok(size),
            _ => bail!(
                "sizes `slide`, `column` and `page` require --pane; otherwise give WIDTHxHEIGHT, such as \
                 1280x720"
            ),
        }
    }
}

const LOOKS: [&str; 4] = ["system", "light", "dark", "high-contrast"];

/// Parses a size: `1280x720`, in pixels, or the name of a medium.
fn size(text: &str) -> Result<Size, String> {
    match text {
        "slide" => Ok(Size::Slide),
        "column" => Ok(Size::Column),
        "page" => Ok(Size::Page),
        _ => pixels(text).map(Size::Pixels),
    }
}

fn pixels(text: &str) -> Result<[u32; 2], String> {
    /// Limits of every adapter: pixels per side, and in total, at four bytes each in a buffer.
    const MAX_SIDE: u32 = 8192;
    const MAX_PIXELS: u64 = (128 << 20) / 4;
    let parsed = text
        .split_once(['x', '×'])
        .and_then(|(width, height)| Some([width.trim().parse().ok()?, height.trim().parse().ok()?]));
    match parsed {
        Some(size) if size.iter().all(|side| (64..=MAX_SIDE).contains(side)) => {
            let area = size.iter().map(|&side| u64::from(side)).product::<u64>();
            if area <= MAX_PIXELS {
                Ok(size)
            } else {
                Err(format!("{area} pixels: at most {MAX_PIXELS} are supported, such as 8192x4096"))
            }
        }
        Some(_) => Err(format!("each side must be between 64 and {MAX_SIDE} pixels")),
        None => Err("expected WIDTHxHEIGHT, such as 1280x720".to_owned()),
    }
}

/// Opens the window and returns once it is closed.
///
/// # Errors
/// When there is no display or the window fails.
pub fn run(args: &WindowArgs) -> anyhow::Result<()> {
    let lesson = lesson_number(args.lesson.as_deref())?;
    if let Some(frames) = args.frames {
        check(args.file.as_deref())?;
        args.generate.as_deref().map(generate::check).transpose()?;
        return measure(args, frames);
    }
    let files: Vec<PathBuf> = args.png.iter().chain(&args.svg).cloned().collect();
    if files.is_empty() {
        return open(args.file.clone(), lesson);
    }
    check(args.file.as_deref())?;
    if let Some((number, at)) = lesson.zip(args.at) {
        check_position(number, at)?;
    }
    draw(args, lesson, &files)
}

/// The number of a lesson, given by number or name.
///
/// # Errors
/// If there is no such lesson.
pub fn lesson_number(name: Option<&str>) -> anyhow::Result<Option<u32>> {
    Ok(name.map(lessons::named).transpose()?.map(|lesson| lesson.number))
}

/// Refuses a step that the lesson does not have; the lesson alone decides this, so it is a usage error.
fn check_position(lesson: u32, at: usize) -> anyhow::Result<()> {
    let takes = lessons::lesson(lesson)?.record(Overrides::default(), &Bar::new("recording the lesson"))?;
    // The window opens a lesson with its first recording.
    match takes.first().map(|take| moments::check(&take.recording, at)) {
        Some(Err(why)) => bail!(UsageError(why.to_string())),
        _ => Ok(()),
    }
}

#[cfg(feature = "gui")]
fn draw(args: &WindowArgs, lesson: Option<u32>, files: &[PathBuf]) -> anyhow::Result<()> {
    use crate::app::state::PaneKind;
    use crate::app::tokens::Theme;
    use crate::app::{HeadlessOptions, PictureSize, SinglePane};
    /// Size of the window behind a pane that is drawn at its own size.
    const WINDOW: [u32; 2] = [1280, 800];
    let usual = if args.pane.is_some() { "light" } else { "system" };
    let named = args.look.as_deref().unwrap_or(usual);
    let look = LOOKS
        .iter()
        .zip(Theme::ALL)
        .find(|(name, _)| **name == named)
        .map_or(Theme::System, |(_, look)| look);
    let kinds = [
        PaneKind::Plane,
        PaneKind::Space,
        PaneKind::Timings,
        PaneKind::Timeline,
        PaneKind::Merges,
        PaneKind::Convergence,
        PaneKind::Engines,
    ];
    let kind =
        args.pane.as_deref().and_then(|pane| PANES.iter().position(|name| *name == pane)).map(|at| kinds[at]);
    let pane = kind.map(|pane| SinglePane {
        pane,
        size: match args.size {
            Size::Pixels(_) => PictureSize::Window,
            Size::Slide => PictureSize::Slide,
            Size::Column => PictureSize::Column,
            Size::Page => PictureSize::Page,
        },
        title: args.title.clone(),
        legend: !args.no_legend,
        names: args.names,
    });
    let size = if pane.is_some() { args.size.pixels().unwrap_or(WINDOW) } else { args.size.pixels()? };
    crate::app::leave_displays();
    args.generate.as_deref().map(generate::check).transpose()?;
    let WindowArgs { file, generate, queries, repeats, at, presenter, scale, .. } = args;
    let (file, generator) = (file.clone(), generate.clone());
    let show = HeadlessOptions {
        file,
        generator,
        queries: *queries,
        repeats: *repeats,
        lesson,
        at: *at,
        presenter: *presenter,
        size,
        look,
        scale: *scale,
        pane,
    };
    let written = crate::app::render_headless(&show, files)?;
    super::output::print(&written.iter().map(|path| format!("{}\n", path.display())).collect::<String>())
}

/// Prints frame times as a table.
#[cfg(feature = "gui")]
fn measure(args: &WindowArgs, frames: u32) -> anyhow::Result<()> {
    use std::sync::Arc;

    use super::output;
    use crate::app::{BenchEvent, FrameBench, FrameTimes, Method, measure_frames};
    use crate::cloud::{self, Source};
    use crate::run::defaults;
    use crate::text;

    let source = match (&args.file, &args.generate) {
        (Some(path), _) => Source::File { path: path.clone(), columns: Default::default() },
        (None, spec) => {
            let usual = if args.plane { "uniform:n=1e6,d=2" } else { "uniform:n=1e6,d=3" };
            Source::Generate { spec: spec.clone().unwrap_or_else(|| usual.to_owned()), seed: defaults::SEED }
        }
    };
    crate::app::leave_displays();
    crate::app::check_adapter()?;
    let cloud = Arc::new(cloud::load(&source, false, &Bar::new("reading the cloud"))?);
    let needed = if args.plane { 2 } else { 3 };
    anyhow::ensure!(cloud.dims() >= needed, "the cloud has {} dimensions; {needed} are needed", cloud.dims());
    let size = args.size.pixels()?;
    let bench =
        FrameBench { frames, size, point_size: args.point_size, plane: args.plane, software: args.software };
    let report = {
        let bar = Bar::new("");
        let mut stage = bar.stage();
        measure_frames(&cloud, &bench, &mut |event| match event {
            BenchEvent::Stage(what, fraction) => _ = stage(what, fraction),
            BenchEvent::Row(row) => {
                bar.line(&format!("{}: {} a frame", row.name(), text::time(row.quantile(0.5))))
            }
        })?
    };
    let [width, height] = size;
    let mut said = format!(
        "{}\n{} of {source} in {}, {width} × {height} pixels, points of {} pixels, {frames} frames each\n",
        report.adapter,
        text::count(cloud.len() as u64, "point", "points"),
        if args.plane { "Plane" } else { "Space" },
        args.point_size,
    );
    said += &format!(
        "opened in {}; longest frame while opening: {}\n",
        text::time(report.opened_ms),
        text::time(report.longest_ms)
    );
    let heads = ["", "points", "median", "95 %", "frames/s", "quads ÷ this"].map(str::to_owned).to_vec();
    let rows = report.rows.iter().map(|row| {
        // Ratios need the same number of points.
        let quads = report
            .rows
            .iter()
            .find(|other| other.method == Method::Quads && !other.level_of_detail && !row.level_of_detail);
        let median = row.quantile(0.5);
        vec![
            row.name(),
            text::thousands(u64::from(row.points)),
            text::time(median),
            text::time(row.quantile(0.95)),
            text::significant(1e3 / median),
            quads.map_or_else(String::new, |quads| text::significant(quads.quantile(0.5) / median)),
        ]
    });
    let table: Vec<Vec<String>> = std::iter::once(heads).chain(rows).collect();
    said += &text::table(&table, &[1, 2, 3, 4, 5]);
    let measured = |row: &FrameTimes| row.milliseconds.len();
    for row in report.rows.iter().filter(|row| measured(row) < frames as usize) {
        let time = text::time(row.quantile(0.5));
        said += &format!("{}: only {} of {frames} frames drawn, at {time} each\n", row.name(), measured(row));
    }
    output::print(&said)?;
    if let Some(png) = &args.png {
        let written = crate::app::write_picture(png, &report.picture)?;
        output::print(&format!("{}\n", written.display()))?;
    }
    Ok(())
}

#[cfg(not(feature = "gui"))]
fn measure(_args: &WindowArgs, _frames: u32) -> anyhow::Result<()> {
    bail!("{NO_WINDOW}")
}

#[cfg(not(feature = "gui"))]
fn draw(_args: &WindowArgs, _lesson: Option<u32>, _files: &[PathBuf]) -> anyhow::Result<()> {
    bail!("{NO_WINDOW}")
}

/// Opens the window on a file, and on a lesson if given.
///
/// # Errors
/// As [`run`], or when the file does not exist.
pub fn open(file: Option<PathBuf>, lesson: Option<u32>) -> anyhow::Result<()> {
    check(file.as_deref())?;
    #[cfg(feature = "gui")]
    {
        crate::app::check_runtime_folder().iter().for_each(|said| super::output::note(said));
        crate::app::run(file, lesson, super::stop::watch_window)
    }
    #[cfg(not(feature = "gui"))]
    {
        let _ = lesson;
        bail!("{NO_WINDOW}");
    }
}

#[cfg(not(feature = "gui"))]
const NO_WINDOW: &str = "cannot open the window: this build excludes it; build with `cargo build --release`, \
                       or see `warpscope --help` for commands that work without it";

fn check(file: Option<&Path>) -> anyhow::Result<()> {
    let there = |file: &Path| {
        recording::split_run(file)
            .map_or_else(|| crate::cloud::formats::file_of(file), |(file, _)| file)
            .exists()
    };
    match file.filter(|file| !there(file)) {
        // A mistyped_command subcommand lands here too.
        Some(file) if let Some(sentence) = file.to_str().and_then(super::usage::mistyped_command) => {
            bail!(UsageError(sentence))
        }
        Some(file) => bail!("no such file or subcommand (see --help): {}", file.display()),
        None => Ok(()),
    }
}

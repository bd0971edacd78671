//! `warpscope [FILE]` and `warpscope gui`: the window.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::builder::PossibleValuesParser;

use crate::lesson::lessons;
use crate::run::recording;

/// `warpscope gui`
#[derive(Debug, clap::Args)]
pub struct WindowArgs {
    /// A cloud or a recording (FILE.warpscope, or one of its runs: FILE.warpscope#NAME) to open
    file: Option<PathBuf>,
    /// Opens a lesson, 1 to 7: how a warp finds its neighbours, step by step
    #[arg(long, value_name = "NUMBER")]
    lesson: Option<u32>,
    /// Draws the window into a PNG instead, once it is answered: for machines without a display
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
    /// The picture's width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x800", value_parser = size, requires = "png", help_heading = "With --png")]
    size: [u32; 2],
    /// How the window looks
    #[arg(long, default_value = "system", value_parser = PossibleValuesParser::new(LOOKS), requires = "png", help_heading = "With --png")]
    look: String,
    /// How large text and controls are, 0.75 to 3
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = scale, requires = "png", help_heading = "With --png")]
    scale: f32,
    /// Shows the lesson after so many steps [default: where its part begins]
    #[arg(long, value_name = "STEP", requires = "png", requires = "lesson", help_heading = "With --png")]
    at: Option<usize>,
    /// Gives the lesson the whole window, with large type
    #[arg(long, requires = "png", requires = "lesson", help_heading = "With --png")]
    presenter: bool,
}

const LOOKS: [&str; 4] = ["system", "light", "dark", "high-contrast"];

/// `1280x720`.
fn size(text: &str) -> Result<[u32; 2], String> {
    /// What every adapter can draw.
    const MOST: u32 = 8192;
    let parsed = text.split_once(['x', '×']).and_then(|(width, height)| Some([width.trim().parse().ok()?, height.trim().parse().ok()?]));
    match parsed {
        Some(size) if size.iter().all(|side| (64..=MOST).contains(side)) => Ok(size),
        Some(_) => Err(format!("each side may have 64 to {MOST} pixels")),
        None => Err("write it as 1280x720".to_owned()),
    }
}

fn scale(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(scale) if (0.75..=3.0).contains(&scale) => Ok(scale),
        _ => Err("it may be 0.75 to 3".to_owned()),
    }
}

/// Opens the window.
///
/// # Errors
/// When there is none to open, or it fails.
pub fn run(args: &WindowArgs) -> anyhow::Result<()> {
    if let Some(number) = args.lesson {
        lessons::lesson(number)?;
    }
    let Some(png) = &args.png else { return open(args.file.clone(), args.lesson) };
    check(args.file.as_deref())?;
    draw(args, png)
}

#[cfg(feature = "gui")]
fn draw(args: &WindowArgs, png: &Path) -> anyhow::Result<()> {
    use crate::app::tokens::Look;
    let look = LOOKS.iter().zip(Look::ALL).find(|(name, _)| **name == args.look).map_or(Look::System, |(_, look)| look);
    let WindowArgs { file, lesson, at, presenter, size, scale, .. } = args;
    let show = crate::app::Headless { file: file.clone(), lesson: *lesson, at: *at, presenter: *presenter, size: *size, look, scale: *scale };
    let written = crate::app::render_headless(&show, png)?;
    super::output::print(&format!("{}\n", written.display()))
}

#[cfg(not(feature = "gui"))]
fn draw(_args: &WindowArgs, _png: &Path) -> anyhow::Result<()> {
    bail!("{WITHOUT}")
}

/// Opens the window on a file, and on a lesson if one is named.
///
/// # Errors
/// As [`run`], and when the file is not there.
pub fn open(file: Option<PathBuf>, lesson: Option<u32>) -> anyhow::Result<()> {
    check(file.as_deref())?;
    #[cfg(feature = "gui")]
    return crate::app::run(file, lesson);
    #[cfg(not(feature = "gui"))]
    {
        let _ = lesson;
        bail!("{WITHOUT}");
    }
}

#[cfg(not(feature = "gui"))]
const WITHOUT: &str =
    "the window cannot open: this build is without it; `cargo build --release` builds it in, and `warpscope --help` shows what works without";

fn check(file: Option<&Path>) -> anyhow::Result<()> {
    let there = |file: &Path| recording::split_run(file).map_or_else(|| crate::cloud::formats::file_of(file), |(file, _)| file).exists();
    match file.filter(|file| !there(file)) {
        // A mistyped subcommand lands here too.
        Some(file) => bail!("cannot open: there is no such file, nor such a subcommand (see --help): {}", file.display()),
        None => Ok(()),
    }
}

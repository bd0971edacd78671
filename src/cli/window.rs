//! `warpscope [FILE]` and `warpscope gui`: the window.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// `warpscope gui`
#[derive(Debug, clap::Args)]
pub struct WindowArgs {
    /// A cloud to open
    file: Option<PathBuf>,
    /// Draws the window into a PNG instead, once it is answered: for machines without a display
    #[arg(long, value_name = "FILE")]
    png: Option<PathBuf>,
}

/// Opens the window.
///
/// # Errors
/// When there is none to open, or it fails.
pub fn run(args: &WindowArgs) -> anyhow::Result<()> {
    let Some(png) = &args.png else { return open(args.file.clone()) };
    check(args.file.as_deref())?;
    draw(args.file.as_deref(), png)
}

/// The size of the picture: that of a window when it is first opened.
#[cfg(feature = "gui")]
const PICTURE: [u32; 2] = [1280, 800];

#[cfg(feature = "gui")]
fn draw(file: Option<&Path>, png: &Path) -> anyhow::Result<()> {
    let written = crate::app::render_headless(file, png, PICTURE, crate::app::tokens::Look::default())?;
    super::output::print(&format!("{}\n", written.display()))
}

#[cfg(not(feature = "gui"))]
fn draw(_file: Option<&Path>, _png: &Path) -> anyhow::Result<()> {
    bail!("{WITHOUT}")
}

/// Opens the window on a file.
///
/// # Errors
/// As [`run`], and when the file is not there.
pub fn open(file: Option<PathBuf>) -> anyhow::Result<()> {
    check(file.as_deref())?;
    #[cfg(feature = "gui")]
    return crate::app::run(file);
    #[cfg(not(feature = "gui"))]
    bail!("{WITHOUT}");
}

#[cfg(not(feature = "gui"))]
const WITHOUT: &str =
    "the window cannot open: this build is without it; `cargo build --release` builds it in, and `warpscope --help` shows what works without";

fn check(file: Option<&Path>) -> anyhow::Result<()> {
    // `FILE.npz:NAME` is an array of an archive.
    let there = |file: &Path| {
        file.exists() || file.to_str().and_then(|text| text.rsplit_once(".npz:")).is_some_and(|(stem, _)| Path::new(&format!("{stem}.npz")).exists())
    };
    match file.filter(|file| !there(file)) {
        // A mistyped subcommand lands here too.
        Some(file) => bail!("cannot open: there is no such file, nor such a subcommand (see --help): {}", file.display()),
        None => Ok(()),
    }
}

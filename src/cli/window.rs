//! `warpscope [FILE]` and `warpscope gui`: the window.

use std::path::{Path, PathBuf};

use anyhow::bail;

/// `warpscope gui`
#[derive(Debug, clap::Args)]
pub struct WindowArgs {
    /// A cloud to open
    file: Option<PathBuf>,
    /// Draw the answered window into a PNG file instead of opening it; needs no display
    #[arg(long, value_name = "PNG")]
    picture: Option<PathBuf>,
}

/// Opens the window.
///
/// # Errors
/// When there is none to open, or it fails.
pub fn run(args: &WindowArgs) -> anyhow::Result<()> {
    match &args.picture {
        None => open(args.file.clone()),
        Some(png) => draw(args.file.as_deref(), png),
    }
}

/// Draws the window without a display.
fn draw(file: Option<&Path>, png: &Path) -> anyhow::Result<()> {
    #[cfg(feature = "gui")]
    {
        let written = crate::app::render_headless(file, png, [1280, 800], crate::app::tokens::Look::Light)?;
        println!("{}", written.display());
        Ok(())
    }
    #[cfg(not(feature = "gui"))]
    bail!(
        "the window cannot be drawn: this build is without it: {}{}",
        file.map(|file| format!("{}: ", file.display())).unwrap_or_default(),
        png.display()
    );
}

/// Opens the window on a file.
///
/// # Errors
/// As [`run`], and when the file is not there.
pub fn open(file: Option<PathBuf>) -> anyhow::Result<()> {
    if let Some(file) = file.as_ref().filter(|file| !file.exists()) {
        // A mistyped subcommand lands here too.
        bail!("cannot open: there is no such file, nor such a subcommand (see --help): {}", file.display());
    }
    #[cfg(feature = "gui")]
    return crate::app::run(file);
    #[cfg(not(feature = "gui"))]
    bail!(
        "the window cannot open: this build is without it; `cargo install warpscope` builds it in, and `warpscope --help` shows what works without"
    );
}

//! `warpscope [FILE]` and `warpscope gui`: the window.

use std::path::PathBuf;

use anyhow::bail;

/// `warpscope gui`
#[derive(Debug, clap::Args)]
pub struct WindowArgs {
    /// A cloud to open
    file: Option<PathBuf>,
}

/// Opens the window.
///
/// # Errors
/// When there is none to open, or it fails.
pub fn run(args: &WindowArgs) -> anyhow::Result<()> {
    open(args.file.clone())
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

//! `-` for a file that is read, or a pipe such as `<(zcat a.csv.gz)`: what comes through it, kept in a file while it is searched.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use super::output;
use super::usage::Usage;
use crate::files::Scratch;

/// What standard input is called in errors and reports.
pub const NAME: &str = "stdin";

/// Whether a path means standard input.
pub fn is(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads what comes through pipes to its end, standard input among them; the paths then are those of files, whose formats are recognised by
/// their first bytes. The files are gone when what is returned is dropped.
///
/// # Errors
/// [`Usage`] where two paths mean standard input; that one cannot be read, or kept.
pub fn spool<'a>(paths: impl IntoIterator<Item = &'a mut PathBuf>) -> anyhow::Result<Vec<Scratch>> {
    let piped: Vec<&mut PathBuf> = paths.into_iter().filter(|path| is(path) || is_pipe(path)).collect();
    if piped.iter().filter(|path| is(path)).count() > 1 {
        bail!(Usage("- stands for standard input, which is read once: write one of the two to a file".to_owned()));
    }
    piped.into_iter().map(kept).collect()
}

fn kept(path: &mut PathBuf) -> anyhow::Result<Scratch> {
    let name = if is(path) { NAME.to_owned() } else { path.display().to_string() };
    let what = if is(path) { "standard input" } else { &name };
    let failed = |why: io::Error| anyhow!("cannot keep what is read from {what}: {why}: {}", std::env::temp_dir().display());
    let scratch = Scratch::new().map_err(failed)?;
    if is(path) {
        io::copy(&mut io::stdin().lock(), &mut scratch.file()).map_err(failed)?;
    } else {
        let mut pipe = File::open(&*path).with_context(|| format!("cannot read: {name}"))?;
        io::copy(&mut pipe, &mut scratch.file()).map_err(failed)?;
    }
    scratch.path().clone_into(path);
    output::call(scratch.path(), name);
    Ok(scratch)
}

/// Other devices may go on for ever.
#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|of| of.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

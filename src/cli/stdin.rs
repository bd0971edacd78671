//! `-` for a file that is read: what comes through standard input, kept in a file while it is searched.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

use super::output;
use super::usage::Usage;
use crate::files::Scratch;

/// What standard input is called in errors and reports.
pub const NAME: &str = "stdin";

/// Whether a path means standard input.
pub fn is(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads standard input to its end, where one of the paths means it, which then is that of a file; its format is recognised by its first bytes.
/// The file is gone when what is returned is dropped.
///
/// # Errors
/// [`Usage`] where two paths mean it; that it cannot be read, or kept.
pub fn spool<'a>(paths: impl IntoIterator<Item = &'a mut PathBuf>) -> anyhow::Result<Option<Scratch>> {
    let mut named: Vec<&mut PathBuf> = paths.into_iter().filter(|path| is(path)).collect();
    let path = match &mut named[..] {
        [] => return Ok(None),
        [path] => path,
        _ => bail!(Usage("- stands for standard input, which is read once: write one of the two to a file".to_owned())),
    };
    let failed = |why: io::Error| anyhow!("cannot keep what is read from standard input: {why}: {}", std::env::temp_dir().display());
    let scratch = Scratch::new().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut scratch.file()).map_err(failed)?;
    scratch.path().clone_into(path);
    output::call(scratch.path(), NAME);
    Ok(Some(scratch))
}

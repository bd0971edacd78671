//! Paths: wrong extensions and outputs that are inputs are refused before the work; `-` and pipes such as
//! `<(zcat a.csv.gz)` are copied to a temporary file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use super::output;
use super::usage::UsageError;
use crate::cloud::{Source, formats};
use crate::export::ExportError;
use crate::export::table::TableFormat;
use crate::files::{self, ScratchFile};
use crate::run::{QuerySpec, RunSpec};

/// Accepts paths with an extension, in either case. Special files such as pipes may have any name.
pub fn ending_in(
    ending: &'static str,
) -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    move |name| {
        let path = PathBuf::from(name);
        let special = path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        let fits = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
        if fits || special { Ok(path) } else { Err(format!("the name must end in .{ending}")) }
    }
}

/// Accepts the path of a table.
pub fn table_path(text: &str) -> Result<PathBuf, ExportError> {
    let path = PathBuf::from(text);
    TableFormat::from_path(&path).map(|_| path)
}

/// Accepts the path of a folder, but refuses extensions of files that other flags write. An existing folder
/// may have any name.
pub fn folder(
    files: &'static [(&'static str, &'static str)],
) -> impl Fn(&str) -> Result<PathBuf, String> + Clone + Send + Sync + 'static {
    move |name| {
        if name.is_empty() {
            return Err("folder name missing; use . for the current folder".to_owned());
        }
        let path = PathBuf::from(name);
        let ends =
            |ending: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending));
        match files.iter().find(|(ending, _)| ends(ending)).filter(|_| !path.is_dir()) {
            Some((ending, flag)) => {
                Err(format!("expected a folder, not a .{ending} file; use {flag} for that file"))
            }
            None => Ok(path),
        }
    }
}

/// Name of standard input in errors and reports.
const STDIN_NAME: &str = "stdin";

/// Whether a path means standard input.
fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Copies standard input and pipes to temporary files and replaces their paths; formats are then recognised
/// by content. The files are deleted when the returned values are dropped.
///
/// # Errors
/// [`UsageError`] if two paths are standard input; errors of reading and writing.
pub fn spool<'a>(paths: impl IntoIterator<Item = &'a mut PathBuf>) -> anyhow::Result<Vec<ScratchFile>> {
    let piped: Vec<&mut PathBuf> = paths.into_iter().filter(|path| is_stdin(path) || is_pipe(path)).collect();
    if piped.iter().filter(|path| is_stdin(path)).count() > 1 {
        bail!(UsageError(
            "`-` (standard input) is given twice, but can be read only once; save one of the inputs to a \
             file"
                .to_owned()
        ));
    }
    piped.into_iter().map(copy_to_temp).collect()
}

fn copy_to_temp(path: &mut PathBuf) -> anyhow::Result<ScratchFile> {
    let name = if is_stdin(path) { STDIN_NAME.to_owned() } else { path.display().to_string() };
    let what = if is_stdin(path) { "standard input" } else { &name };
    let failed = |why: io::Error| {
        anyhow!("cannot store {what} in a temporary file: {why}: {}", std::env::temp_dir().display())
    };
    let scratch = ScratchFile::new().map_err(failed)?;
    if is_stdin(path) {
        io::copy(&mut io::stdin().lock(), &mut scratch.file()).map_err(failed)?;
    } else {
        let mut pipe = File::open(&*path).with_context(|| format!("cannot read: {name}"))?;
        io::copy(&mut pipe, &mut scratch.file()).map_err(failed)?;
    }
    scratch.path().clone_into(path);
    output::set_display_name(scratch.path(), name);
    Ok(scratch)
}

/// Whether a path is a pipe. Other special files may be endless.
#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(path).is_ok_and(|of| of.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// The folder of an output, as the system's folder for temporary files may be in memory or small.
pub fn scratch_folder(outputs: &[&Path]) -> PathBuf {
    let file = outputs.iter().find(|path| files::room(path).is_some());
    let Some(folder) = file.and_then(|path| path.parent()) else { return std::env::temp_dir() };
    if folder.as_os_str().is_empty() { ".".into() } else { folder.to_owned() }
}

/// Refuses to overwrite the files that are searched.
///
/// # Errors
/// When one of `outputs` is an input.
pub fn protect_inputs(spec: &RunSpec, outputs: impl IntoIterator<Item = PathBuf>) -> anyhow::Result<()> {
    let data = if let Source::File { path, .. } = &spec.data { Some(path) } else { None };
    let queries = if let QuerySpec::File { path, .. } = &spec.queries { Some(path) } else { None };
    protect_files("the searched cloud", data.into_iter().chain(queries), outputs)
}

/// As [`protect_inputs`], for any input files; `what` describes them in the error.
///
/// # Errors
/// As [`protect_inputs`].
pub fn protect_files<'a>(
    what: &str,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
    outputs: impl IntoIterator<Item = PathBuf>,
) -> anyhow::Result<()> {
    let inputs: Vec<PathBuf> =
        inputs.into_iter().filter_map(|path| formats::file_of(path).canonicalize().ok()).collect();
    let is_input = |path: &Path| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
    match outputs.into_iter().find(|path| is_input(path)) {
        Some(path) => {
            bail!(UsageError(format!(
                "cannot write: this would overwrite {what}; choose another name: {}",
                path.display()
            )))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_names_with_a_file_extension_are_rejected() {
        let place = tempfile::tempdir().unwrap();
        let there = place.path().join("there.csv");
        std::fs::create_dir(&there).unwrap();
        let out = folder(&[("csv", "--neighbors"), ("warpscope", "--record")]);
        assert!(out("").is_err());
        for name in ["out", "run.2", "a.csv/run", "csv", there.to_str().unwrap()] {
            assert_eq!(out(name), Ok(name.into()));
        }
        for (name, flag) in
            [("a.csv", "--neighbors"), ("a.CSV", "--neighbors"), ("b/a.warpscope", "--record")]
        {
            assert!(out(name).unwrap_err().ends_with(&format!("; use {flag} for that file")), "{name}");
        }
    }

    #[test]
    fn wrong_extensions_are_rejected() {
        let png = ending_in("png");
        for name in ["a.png", "b/A.PNG", "two.dots.png"] {
            assert_eq!(png(name), Ok(name.into()));
        }
        for name in ["a.jpg", "a", "png", ".png", "a.png/b", "a.png.gz"] {
            assert_eq!(png(name).unwrap_err(), "the name must end in .png");
        }
        #[cfg(unix)]
        assert!(png("/dev/null").is_ok());
    }
}

//! Printing: results to stdout, notes and errors to stderr.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::cloud::{Axis, Source};
use crate::printable;
use crate::run::{QuerySpec, SchemaVersion};

/// stdout was closed by its reader, as after `| head`.
#[derive(Debug, thiserror::Error)]
#[error("stdout was closed")]
pub struct BrokenPipe;

/// Display names of temporary files, which hold standard input or pipes.
static DISPLAY_NAMES: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

/// Shows a path under another name in all later output.
pub fn set_display_name(path: &Path, name: String) {
    display_names().push((path.display().to_string(), name));
}

fn with_display_names(text: &str) -> Cow<'_, str> {
    display_names()
        .iter()
        .fold(Cow::Borrowed(text), |text, (path, name)| Cow::Owned(text.replace(path, name)))
}

fn display_names() -> MutexGuard<'static, Vec<(String, String)>> {
    DISPLAY_NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a path to store in files.
fn stored_name(path: &Path) -> PathBuf {
    let shown = path.display().to_string();
    let name = display_names().iter().find(|(own, _)| *own == shown).map(|(_, name)| name.into());
    name.unwrap_or_else(|| path.to_owned())
}

/// A source with the name to store: the temporary file behind standard input will be deleted.
pub fn source_to_store(source: &Source) -> Source {
    match source {
        Source::File { path, columns } => Source::File { path: stored_name(path), columns: columns.clone() },
        other => other.clone(),
    }
}

/// The same for queries.
pub fn queries_to_store(queries: QuerySpec) -> QuerySpec {
    match queries {
        QuerySpec::File { path, columns } => QuerySpec::File { path: stored_name(&path), columns },
        other => other,
    }
}

/// Prints text for people; control characters in names are replaced.
///
/// # Errors
/// [`BrokenPipe`], or why it could not be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    write_stdout(&printable::lines(&with_display_names(text)))
}

/// Prints the rows of a file: sanitised like [`print()`] on a terminal, verbatim otherwise.
///
/// # Errors
/// As [`print()`].
pub fn print_rows(rows: &str) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() { print(rows) } else { write_stdout(rows) }
}

/// Writes to standard output, and flushes.
fn write_stdout(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    stdout_result(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Turns a failed write to standard output into an error.
///
/// # Errors
/// As [`print()`].
pub fn stdout_result<T>(result: std::io::Result<T>) -> anyhow::Result<T> {
    match result {
        Ok(value) => Ok(value),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(BrokenPipe.into()),
        Err(error) => Err(anyhow::anyhow!("cannot write: {error}: stdout")),
    }
}

/// Prints a value as indented JSON, with JSON escapes where [`print()`] replaces characters.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    write_stdout(&printable::json(&with_display_names(&(serde_json::to_string_pretty(value)? + "\n"))))
}

/// Set by `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// Suppresses notes and progress (`--quiet`).
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Set by [`set_silent`].
static SILENT: AtomicBool = AtomicBool::new(false);

/// Suppresses all notes, also of inferred choices: another process prints the same.
pub fn set_silent() {
    set_quiet(true);
    SILENT.store(true, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a report as JSON in a version of its schema.
///
/// # Errors
/// When stdout cannot be written.
pub fn print_report(report: &impl serde::Serialize, schema: SchemaVersion) -> anyhow::Result<()> {
    if schema == SchemaVersion::default() {
        return print_json(report);
    }
    let mut report = serde_json::to_value(report)?;
    if let Some(keys) = report.as_object_mut() {
        schema.rename_keys(keys);
    }
    print_json(&report)
}

/// Adds the version of the layout before a value.
pub fn versioned<T: serde::Serialize>(schema_version: u32, content: &T) -> impl serde::Serialize {
    #[derive(serde::Serialize)]
    struct Envelope<'a, T> {
        schema_version: u32,
        #[serde(flatten)]
        content: &'a T,
    }
    Envelope { schema_version, content }
}

/// Prints a note on stderr, on one line.
pub fn note(text: &str) {
    if !is_quiet() {
        line("note", text);
    }
}

/// Notes what was chosen for the user; even with `--quiet` if the choice was inferred and may be wrong.
pub fn note_choice(text: &str, inferred: bool) {
    if (inferred && !SILENT.load(Ordering::Relaxed)) || !is_quiet() {
        line("note", text);
    }
}

/// Prints an error on stderr, on one line.
pub fn error(text: &str) {
    line("error", text);
}

fn line(kind: &str, text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = printable::line(&with_display_names(&text)).into_owned();
    let _ = writeln!(std::io::stderr().lock(), "{kind}: {text}");
}

/// Longer lists of names are shortened.
const SHOWN: usize = 8;

/// Joins names; long lists are shortened to the first ones and the last.
pub fn names(names: &[impl AsRef<str>]) -> String {
    let join = |names: &[_]| names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match names {
        [first @ .., last] if names.len() > SHOWN => {
            format!("{}, … {}", join(&first[..SHOWN - 1]), last.as_ref())
        }
        _ => join(names),
    }
}

/// The names of the columns, with their origins if any.
pub fn columns(axes: &[Axis]) -> String {
    let shown: Vec<_> = axes.iter().map(|axis| printable::line(&axis.name)).collect();
    let list = names(&shown);
    let moved: Vec<String> = axes
        .iter()
        .filter(|axis| axis.origin != 0.0)
        .map(|axis| format!("{} {}", printable::line(&axis.name), axis.origin))
        .collect();
    if moved.is_empty() || moved.len() > SHOWN {
        list
    } else {
        format!("{list} (origin {})", moved.join(", "))
    }
}

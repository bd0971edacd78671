//! What is printed, and where.

use std::io::{ErrorKind, IsTerminal, Write};

use crate::cloud::Axis;
use crate::export::table::Table;
use crate::printable;

/// Nobody reads stdout any more, as after `| head`.
#[derive(Debug, thiserror::Error)]
#[error("stdout was closed")]
pub struct Closed;

/// Writes text for people to standard output, with names that cannot command their terminal.
///
/// # Errors
/// [`Closed`], or why it could not be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    exactly(&printable::lines(text))
}

/// Writes the rows of a file: to a terminal as [`print()`], to all else as they are.
///
/// # Errors
/// As [`print()`].
pub fn print_rows(rows: &str) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() { print(rows) } else { exactly(rows) }
}

/// Writes a table as CSV: to a terminal as [`print()`], to all else row by row as it is made.
///
/// # Errors
/// As [`print()`].
pub fn print_table(table: &Table<'_>) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        let mut csv = Vec::new();
        table.csv(&mut csv)?;
        return print(&String::from_utf8(csv)?);
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    written(table.csv(&mut out).and_then(|()| out.flush()))
}

/// Writes to standard output, and flushes.
fn exactly(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// What became of something written to standard output.
///
/// # Errors
/// As [`print()`].
pub fn written(result: std::io::Result<()>) -> anyhow::Result<()> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Closed.into()),
        Err(error) => Err(anyhow::anyhow!("cannot write: {error}: stdout")),
    }
}

/// Prints a value as indented JSON. What [`print()`] would replace is escaped as JSON has it.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    exactly(&printable::json(&(serde_json::to_string_pretty(value)? + "\n")))
}

/// A value with the version of its layout before it.
pub fn versioned<T: serde::Serialize>(schema_version: u32, content: &T) -> impl serde::Serialize {
    #[derive(serde::Serialize)]
    struct Versioned<'a, T> {
        schema_version: u32,
        #[serde(flatten)]
        content: &'a T,
    }
    Versioned { schema_version, content }
}

/// Says something worth knowing on stderr, on one line.
pub fn note(text: &str) {
    line("note", text);
}

/// Says why the job failed on stderr, on one line.
pub fn error(text: &str) {
    line("error", text);
}

fn line(kind: &str, text: &str) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = printable::line(&text);
    // When stderr is closed, too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr().lock(), "{kind}: {text}");
}

/// The names of the columns, and of those whose values are searched about an origin of their own.
pub fn columns(axes: &[Axis]) -> String {
    const SHOWN: usize = 8;
    let names: Vec<_> = axes.iter().map(|axis| printable::line(&axis.name)).collect();
    let list = match names.len() {
        0..=SHOWN => names.join(", "),
        _ => format!("{}, … {}", names[..SHOWN - 1].join(", "), names[names.len() - 1]),
    };
    let moved: Vec<String> =
        axes.iter().filter(|axis| axis.origin != 0.0).map(|axis| format!("{} {}", printable::line(&axis.name), axis.origin)).collect();
    if moved.is_empty() || moved.len() > SHOWN { list } else { format!("{list} (about the origin {})", moved.join(", ")) }
}

//! What is printed, and where.

use std::io::{ErrorKind, Write};

/// Nobody reads stdout any more, as after `| head`.
#[derive(Debug, thiserror::Error)]
#[error("stdout was closed")]
pub struct Closed;

/// Prints results.
///
/// # Errors
/// [`Closed`], or why it could not be written.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(Closed.into()),
        Err(error) => Err(anyhow::anyhow!("cannot write: {error}: stdout")),
    }
}

/// Prints a value as indented JSON.
///
/// # Errors
/// As [`print`].
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
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
    // When stderr is closed, too, there is nobody left to tell.
    let _ = writeln!(std::io::stderr().lock(), "{kind}: {text}");
}

//! Isolates panics of third-party decoders.

use std::any::Any;
use std::sync::Once;
use std::{fmt, io, panic, thread};

use super::{FormatError, Input, Result};

/// The name of the threads whose panics are not printed.
const NAME: &str = "decoder";

/// Why work gave no result.
#[derive(Debug)]
pub enum DecoderError {
    /// The decoder panicked with this message, on unexpected input.
    Panicked(String),
    /// A thread could not be spawned; the file may be fine.
    NoThread(io::Error),
}

impl DecoderError {
    /// Converts to a file error that calls `what` damaged.
    pub(super) fn error(self, what: &str, input: &Input<'_>) -> FormatError {
        match self {
            Self::Panicked(_) => input.malformed(what, "damaged, and cannot be decoded"),
            Self::NoThread(why) => input.io(why),
        }
    }
}

impl fmt::Display for DecoderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked(message) => f.write_str(message),
            Self::NoThread(why) => write!(f, "cannot spawn a thread: {why}"),
        }
    }
}

/// Runs `work` on a separate thread and returns a panic as an error, without printing it.
///
/// # Errors
/// [`DecoderError`].
pub fn catch_panics<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, DecoderError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(NAME) {
                before(info);
            }
        }));
    });
    thread::scope(|scope| match thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, work) {
        Ok(running) => running.join().map_err(|payload| DecoderError::Panicked(message(&*payload))),
        Err(why) => Err(DecoderError::NoThread(why)),
    })
}

/// Like [`catch_panics`], for work on a file; a panic means that `what` is damaged.
pub(super) fn decoded<T: Send>(
    what: &str,
    input: &Input<'_>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    catch_panics(work).map_err(|why| why.error(what, input))?
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.and_then(|text| text.lines().next()).unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        assert_eq!(catch_panics(|| 7).unwrap(), 7);
        let broken = catch_panics(|| -> u8 { panic!("index {} out of range", 9) }).unwrap_err();
        assert_eq!(broken.to_string(), "index 9 out of range");
        assert_eq!(catch_panics(|| 8).unwrap(), 8);
    }

    #[test]
    fn thread_spawn_failures_are_io_errors() {
        let input = Input::new(
            std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")),
            &crate::progress::NoProgress,
        )
        .unwrap();
        let broken = || DecoderError::NoThread(io::Error::from_raw_os_error(11));
        assert!(matches!(broken().error("E57", &input), FormatError::Io { .. }));
        assert!(matches!(
            DecoderError::Panicked(String::new()).error("E57", &input),
            FormatError::Malformed { .. }
        ));
    }
}

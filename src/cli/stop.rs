//! Ctrl-C and SIGTERM: stops the job, removes temporary files and sets the exit code.
//!
//! The first signal sets a flag that [`Bar`](super::bar::Bar) passes on to the work. Work that does not check
//! it, such as building an index, is ended after a moment; a second signal ends it at once. No temporary file
//! remains either way.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::Duration;
#[cfg(unix)]
use std::time::Instant;

/// The signal that came first; 0 for none.
static FIRST_SIGNAL: AtomicI32 = AtomicI32::new(0);

/// A signal that asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

/// The signal that asked to stop, if one did.
pub fn requested() -> Option<Signal> {
    Some(Signal(FIRST_SIGNAL.load(Ordering::Relaxed))).filter(|signal| signal.0 != 0)
}

impl Signal {
    /// As in shells: 130 for SIGINT, 143 for SIGTERM.
    pub fn exit_code(self) -> u8 {
        u8::try_from(128 + self.0).unwrap_or(1)
    }

    /// The error message for the signal.
    pub fn sentence(self) -> String {
        #[cfg(unix)]
        let name = signal_hook::low_level::signal_name(self.0).unwrap_or("a signal");
        #[cfg(not(unix))]
        let name = "a signal";
        format!("stopped by {name}; incomplete files were removed")
    }

    fn end(self) -> ! {
        end(&self.sentence(), self.exit_code())
    }
}

/// Starts listening for signals. Work that does not stop in time is ended.
#[cfg(unix)]
pub fn watch() {
    // Makes exceeding `ulimit -f` an error of the write instead of the end of the program.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    watch_with(|signal| {
        let wait = move || {
            std::thread::sleep(GRACE);
            Signal(signal).end();
        };
        if std::thread::Builder::new().name("stopping".to_owned()).spawn(wait).is_err() {
            Signal(signal).end();
        }
    });
}

/// Starts listening for a window. `close` asks it to close as its user would, so that everything is saved,
/// however long it takes. If `close` finds no window yet, the process ends.
#[cfg(all(unix, feature = "gui"))]
pub fn watch_window(close: impl Fn() -> bool + Send + 'static) {
    watch_with(move |signal| {
        if !close() {
            Signal(signal).end();
        }
    });
}

/// Calls `first` at the first signal, and ends the process at the next one that is not an echo of it.
#[cfg(unix)]
fn watch_with(first: impl Fn(i32) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // Signals ignored at start are left alone, as for background jobs and `nohup`.
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    // Otherwise the system's default remains: the process ends.
    let Ok(mut signals) = Signals::new(handled) else { return };
    let listen = move || {
        let mut began = None;
        for signal in signals.forever() {
            match began {
                None => {
                    began = Some(Instant::now());
                    FIRST_SIGNAL.store(signal, Ordering::Relaxed);
                    first(signal);
                }
                Some(began) if began.elapsed() < ECHO => {}
                Some(_) => Signal(signal).end(),
            }
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
}

/// Here the system ends the process; the next one removes its temporary files.
#[cfg(not(unix))]
pub fn watch() {}

#[cfg(all(not(unix), feature = "gui"))]
pub fn watch_window(_: impl Fn() -> bool + Send + 'static) {}

/// Ends the process because another one of its job has failed. A signal that stopped both has precedence.
pub fn abandon(why: &str) -> ! {
    match requested() {
        Some(signal) => signal.end(),
        None => end(why, 1),
    }
}

/// How long work may take to stop.
const GRACE: Duration = Duration::from_secs(1);

/// One request may arrive as several signals: `timeout` signals the process and its group, and an ending
/// session sends SIGTERM and SIGHUP.
#[cfg(unix)]
const ECHO: Duration = Duration::from_millis(300);

/// Ends the process from any thread.
fn end(sentence: &str, exit_code: u8) -> ! {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::Relaxed) {
        // Another thread is ending the process, but may wait for a blocked terminal.
        std::thread::sleep(GRACE);
    } else {
        crate::files::remove_all();
        super::output::error(sentence);
    }
    // Skips exit handlers, as the work is still running on other threads.
    #[cfg(unix)]
    signal_hook::low_level::exit(exit_code.into());
    #[cfg(not(unix))]
    std::process::exit(exit_code.into())
}

/// Whether the process was started with a signal ignored, if the system reports it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

//! Ctrl-C and SIGTERM: the job is asked to stop, what is temporary is removed, and the exit code says which
//! it was.
//!
//! The first signal sets a flag, which [`Bar`](super::bar::Bar) passes on to the work. Work that does not
//! look at it, such as building an index, is ended after a moment; a second signal ends it at once. Either
//! way no temporary file stays.

#[cfg(unix)]
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
#[cfg(unix)]
use std::time::{Duration, Instant};

/// The signal that came first; 0 for none.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// A signal that asks to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal(i32);

/// The signal that asked to stop, if one did.
pub fn asked() -> Option<Signal> {
    Some(Signal(ASKED.load(Ordering::Relaxed))).filter(|signal| signal.0 != 0)
}

impl Signal {
    /// As shells have it: 130 for SIGINT, 143 for SIGTERM.
    pub fn exit_code(self) -> u8 {
        u8::try_from(128 + self.0).unwrap_or(1)
    }

    /// What is said of it, as an error.
    pub fn sentence(self) -> String {
        #[cfg(unix)]
        let name = signal_hook::low_level::signal_name(self.0).unwrap_or("a signal");
        #[cfg(not(unix))]
        let name = "a signal";
        format!("stopped by {name}; what was not complete is removed")
    }
}

/// Listens from now on, for work that is ended if it does not stop by itself.
#[cfg(unix)]
pub fn watch() {
    // A file beyond `ulimit -f` is an error of the write then, and not the end of the program.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
    watch_with(|signal| {
        let wait = move || {
            std::thread::sleep(GRACE);
            end(signal);
        };
        if std::thread::Builder::new().name("stopping".to_owned()).spawn(wait).is_err() {
            end(signal);
        }
    });
}

/// Listens from now on for a window, which `close` asks to close as its user would: what is kept is saved,
/// however long it takes. The process ends where `close` says that there is no window yet.
#[cfg(all(unix, feature = "gui"))]
pub fn watch_window(close: impl Fn() -> bool + Send + 'static) {
    watch_with(move |signal| {
        if !close() {
            end(signal);
        }
    });
}

/// Does `first` at the first signal, and ends the process at the next one that is no echo of it.
#[cfg(unix)]
fn watch_with(first: impl Fn(i32) + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    // A shell's background job and `nohup` are not meant by what they were told to ignore.
    let meant = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal));
    // Without them the system's own way remains: the process just ends.
    let Ok(mut signals) = Signals::new(meant) else { return };
    let listen = move || {
        let mut began = None;
        for signal in signals.forever() {
            match began {
                None => {
                    began = Some(Instant::now());
                    ASKED.store(signal, Ordering::Relaxed);
                    first(signal);
                }
                Some(began) if began.elapsed() < ECHO => {}
                Some(_) => end(signal),
            }
        }
    };
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
}

/// Elsewhere the system ends the process; what it leaves is removed by the next one.
#[cfg(not(unix))]
pub fn watch() {}

#[cfg(all(not(unix), feature = "gui"))]
pub fn watch_window(_: impl Fn() -> bool + Send + 'static) {}

/// How long work may take to stop by itself.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(1);

/// One request may come as several signals: `timeout` sends it to the process and to its group, and a session
/// that ends SIGTERM and SIGHUP.
#[cfg(unix)]
const ECHO: Duration = Duration::from_millis(300);

#[cfg(unix)]
fn end(signal: i32) -> ! {
    static ENDS: AtomicBool = AtomicBool::new(false);
    if ENDS.swap(true, Ordering::Relaxed) {
        // Whoever ends it already may wait for a terminal that takes no more text.
        std::thread::sleep(GRACE);
    } else {
        crate::files::remove_all();
        super::output::error(&Signal(signal).sentence());
    }
    // Without what runs at a usual exit: the work goes on beside it.
    signal_hook::low_level::exit(Signal(signal).exit_code().into())
}

/// Whether the process was started with a signal ignored, where the system tells.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask =
        status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

//! Starts that fail. A file says that one is under way, and how many failed before it; it is removed once the window is there
//! and shows what it went on with, or is closed. What it went on with may be what it fails by: a state that no window can
//! show, a file that takes the program down.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::files;

/// After so many failed starts in a row, the next one has nothing to fail by.
const FAILED: u32 = 2;

/// Frames that are drawn before a start may be over.
const FRAMES: u32 = 3;

/// A start that is under way. If the program ends without a word, the file stays.
#[derive(Debug, Default)]
pub struct Start(Mutex<Option<Marker>>);

#[derive(Debug)]
struct Marker {
    /// Locked, as long as this program runs: a window that starts meanwhile does not take this start for one that failed.
    file: File,
    path: PathBuf,
    /// Frames that were drawn.
    frames: u32,
}

impl Start {
    /// Notes a start, and says whether so many failed before it that it should be a clean one. Where nothing can be noted, or
    /// while another window starts, nothing is.
    pub fn begin(folder: &Path) -> (Self, bool) {
        Self::note(folder).map_or_else(|| (Self::default(), false), |(marker, failed)| (Self(Mutex::new(Some(marker))), failed))
    }

    fn note(folder: &Path) -> Option<(Marker, bool)> {
        let path = folder.join("starting");
        let mut file = files::open_regular(&path, File::options().create(true).truncate(false).read(true).write(true)).ok()?;
        file.try_lock().ok()?;
        let mut text = String::new();
        // What is no number is none of ours, and counts as none.
        let before = (&file).take(32).read_to_string(&mut text).ok().and_then(|_| text.trim().parse::<u32>().ok()).unwrap_or(0);
        let failed = before >= FAILED;
        file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", if failed { 1 } else { before + 1 })).ok()?;
        Some((Marker { file, path, frames: 0 }, failed))
    }

    /// A frame was drawn; `settled` is whether what the start went on with is there.
    pub fn drawn(&self, settled: bool) {
        let mut marker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = marker.as_mut() else { return };
        found.frames += 1;
        if found.frames > FRAMES && settled {
            over(marker.take());
        }
    }

    /// The window is there, or was closed, or said why there is none.
    pub fn over(&self) {
        over(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn over(marker: Option<Marker>) {
    if let Some(Marker { file, path, .. }) = marker {
        // Where it cannot be removed, it says that nothing failed.
        if fs::remove_file(path).is_err() {
            let _ = file.set_len(0);
        }
    }
}

//! The rates on disk, and the peaks of devices: one JSON file in the user's cache folder, always replaced as a whole.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rates::Rates;
use crate::files;
use crate::knn::Peaks;

/// The largest file that is read; anything larger was not written by this module.
const MOST_BYTES: u64 = 4 << 20;

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// Version of the program that measured the rates: the kernels of another version may be faster.
    version: String,
    /// One entry for each engine on each device.
    pub rates: BTreeMap<String, Rates>,
    /// What each device does at most.
    #[serde(default)]
    pub peaks: BTreeMap<String, Peaks>,
}

impl Default for Known {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), rates: BTreeMap::new(), peaks: BTreeMap::new() }
    }
}

/// Path of the file; `None` if the user has no cache folder.
pub fn path() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "warpscope")?.cache_dir().join("planner.json"))
}

/// Reads the file; without any rates if it is missing, damaged or from another version.
pub fn read(path: &Path) -> Known {
    let known = files::read_small(path, MOST_BYTES).ok().and_then(|text| serde_json::from_slice::<Known>(&text).ok());
    let is_sensible = |known: &Known| known.rates.values().all(Rates::are_sensible) && known.peaks.values().all(Peaks::are_sensible);
    known.filter(|known| known.version == Known::default().version && is_sensible(known)).unwrap_or_default()
}

/// Replaces the file, for the next start.
///
/// # Errors
/// Those of writing the file.
pub fn write(path: &Path, known: &Known) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let text = serde_json::to_vec_pretty(known)?;
    files::write_small(path, |out| out.write_all(&text))
}

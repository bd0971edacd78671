//! What is known, on disk: one JSON file in the user's cache folder, replaced whole.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::rates::Rates;

/// Larger is no file of ours.
const MOST_BYTES: u64 = 4 << 20;

/// All that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Known {
    /// The program that measured it: another's kernels may be faster.
    version: String,
    /// Of each engine on each device.
    pub rates: BTreeMap<String, Rates>,
}

impl Default for Known {
    fn default() -> Self {
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), rates: BTreeMap::new() }
    }
}

/// Where it is kept, if the user has such a folder.
pub fn path() -> Option<PathBuf> {
    Some(directories::ProjectDirs::from("", "", "warpscope")?.cache_dir().join("planner.json"))
}

/// What a file knows; nothing where it is missing, broken, or of another version.
pub fn read(path: &Path) -> Known {
    let text = std::fs::metadata(path).ok().filter(|about| about.len() <= MOST_BYTES).and_then(|_| std::fs::read(path).ok());
    let known = text.and_then(|text| serde_json::from_slice::<Known>(&text).ok());
    known.filter(|known| known.version == Known::default().version && known.rates.values().all(Rates::are_sensible)).unwrap_or_default()
}

/// Writes what is known in place of the file, for the next start.
///
/// # Errors
/// Why it could not be written.
pub fn write(path: &Path, known: &Known) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec_pretty(known)?)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

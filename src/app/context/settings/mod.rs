//! Settings that persist between launches, in the user's folder.
//!
//! | file | contents |
//! |---|---|
//! | `state.json` | the window's [`State`], and what was open; written atomically |
//! | `state.lock` | empty; locked while `state.json` is written |
//! | `starting` | marks a launch in progress, see [`Launch`] |
//! | `app.ron` | eframe's own settings: window position, panel widths; in the first version also the state |
//!
//! Several windows may be open. Each saves what was changed in it and keeps what the others wrote, see
//! [`merge`].

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::app::model::State;
use crate::{export, files};

const FORMAT: &str = "warpscope state";

/// The version of the file. It is raised when a program that knows only the previous one would misread it;
/// fields that are merely added are ignored by older programs.
pub const SCHEMA_VERSION: u64 = 1;

/// Maximum size: a state is a few KB, so a larger file is not a state.
const MAX_BYTES: u64 = 64 << 20;

/// The contents of `state.json`: settings and open session of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredSettings {
    pub state: Map<String, Value>,
    /// What was open, as returned by `App::session_text`.
    pub last: Option<String>,
}

impl StoredSettings {
    pub fn new(state: &State, last: Option<String>) -> Self {
        let state = match serde_json::to_value(state) {
            Ok(Value::Object(fields)) => fields,
            // Unreachable: a state is plain data.
            _ => Map::new(),
        };
        Self { state, last }
    }

    /// The state, with defaults for invalid fields.
    fn to_state(&self) -> State {
        let read = |fields: Map<String, Value>| serde_json::from_value::<State>(Value::Object(fields));
        let whole = read(self.state.clone()).or_else(|_| {
            let one = |(key, value): (&String, &Value)| Map::from_iter([(key.clone(), value.clone())]);
            read(self.state.iter().map(one).filter(|field| read(field.clone()).is_ok()).flatten().collect())
        });
        whole.unwrap_or_default().clamped()
    }
}

/// The file, for writing.
#[derive(Serialize)]
struct StateFileRef<'a> {
    format: &'a str,
    schema_version: u64,
    warpscope_version: &'a str,
    state: &'a Map<String, Value>,
    last: &'a Option<String>,
}

/// The file, for reading.
#[derive(Deserialize)]
struct StateFile {
    format: String,
    schema_version: u64,
    #[serde(default)]
    warpscope_version: String,
    #[serde(default)]
    state: Map<String, Value>,
    #[serde(default)]
    last: Option<String>,
}

/// The result of reading the file.
enum ReadOutcome {
    Nothing,
    Valid(StoredSettings),
    /// Written by a later version. The sentence names both schema versions and the program's version.
    Later(String),
    /// The contents are invalid, with the reason.
    Damaged(String),
    /// The file cannot be read now, with the reason.
    Unreadable(String),
}

fn read(path: &Path) -> ReadOutcome {
    let text = match files::read_small(path, MAX_BYTES) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return ReadOutcome::Nothing,
        Err(why) if why.kind() == io::ErrorKind::FileTooLarge => {
            return ReadOutcome::Damaged(why.to_string());
        }
        Err(why) => return ReadOutcome::Unreadable(why.to_string()),
        Ok(text) => text,
    };
    match serde_json::from_slice::<StateFile>(&text) {
        Err(why) => ReadOutcome::Damaged(why.to_string()),
        Ok(stored) if stored.format != FORMAT => ReadOutcome::Damaged("it holds something else".to_owned()),
        Ok(stored) if stored.schema_version > SCHEMA_VERSION => ReadOutcome::Later(format!(
            "the settings are from a newer Warpscope ({}, schema {}; this version reads up to \
             {SCHEMA_VERSION}): using defaults, saving nothing; use that version or remove the file: {}",
            stored.warpscope_version,
            stored.schema_version,
            path.display()
        )),
        Ok(stored) => ReadOutcome::Valid(StoredSettings { state: stored.state, last: stored.last }),
    }
}

/// Renames a file to an unused name. `None` if there is no file.
///
/// # Errors
/// As reported by the system.
fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    if !path.try_exists()? {
        return Ok(None);
    }
    let (stem, extension) = (
        path.file_stem().unwrap_or_default().to_string_lossy(),
        path.extension().unwrap_or_default().to_string_lossy(),
    );
    for number in 1u32.. {
        let aside = path.with_file_name(format!("{stem}.set-aside-{number}.{extension}"));
        if !aside.try_exists()? {
            fs::rename(path, &aside)?;
            return Ok(Some(aside));
        }
    }
    Ok(None)
}

/// A window's access to the saved settings.
#[derive(Debug)]
pub struct SettingsFile {
    folder: PathBuf,
    /// The contents when this window last read or wrote the file. Differences from them are this window's
    /// changes.
    base: StoredSettings,
    /// False if a later version wrote the file or it cannot be read: it is then left alone.
    writes: bool,
    /// How long to wait for another window to finish writing.
    patience: Duration,
}

/// Writing takes milliseconds; a window that hangs must not block this one.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

/// The result of [`begin`].
#[derive(Debug)]
pub struct Startup {
    pub settings: SettingsFile,
    pub start: Arc<Launch>,
    /// The saved state; `None` without one, or if only the first version's exists in eframe's file.
    pub found: Option<(State, Option<String>)>,
    /// Whether `state.json` never existed, so that the first version's state may.
    pub is_first: bool,
    pub warnings: Vec<String>,
}

/// Begins a launch with settings in a folder. After two failed launches, or if the state is unreadable, the
/// files are set aside. Must be called before eframe reads its own file.
pub fn begin(folder: &Path) -> Startup {
    let mut warnings = Vec::new();
    if let Err(why) = fs::create_dir_all(folder) {
        warnings.push(cannot_save(&why, folder));
    }
    let (start, failed) = Launch::begin(folder);
    let path = state_path(folder);
    let _lock = lock(folder, LOCK_TIMEOUT);
    if failed {
        let aside = ["state.json", "app.ron"].map(|name| set_aside(&folder.join(name)));
        let names: Vec<String> =
            aside.iter().flatten().flatten().map(|path| path.display().to_string()).collect();
        let what = if names.is_empty() {
            "there were no settings".to_owned()
        } else {
            format!("old settings set aside: {}", names.join(", "))
        };
        warnings.push(format!("two starts failed, so this one uses defaults; {what}"));
        warnings.extend(aside.into_iter().filter_map(Result::err).map(|why| cannot_save(&why, folder)));
    }
    // eframe reads its file completely, whatever its size.
    let frame = folder.join("app.ron");
    if files::read_small(&frame, MAX_BYTES).is_err_and(|why| why.kind() != io::ErrorKind::NotFound) {
        warnings.extend(set_aside(&frame).err().map(|why| cannot_save(&why, folder)));
    }
    let mut settings = SettingsFile {
        folder: folder.to_owned(),
        base: StoredSettings::default(),
        writes: true,
        patience: LOCK_TIMEOUT,
    };
    let mut is_first = false;
    let found = match read(&path) {
        ReadOutcome::Nothing => {
            is_first = true;
            None
        }
        ReadOutcome::Valid(content) => {
            Some((content.to_state(), content.last.filter(|last| !last.is_empty())))
        }
        ReadOutcome::Later(sentence) => {
            warnings.push(sentence);
            settings.writes = false;
            None
        }
        ReadOutcome::Unreadable(why) => {
            warnings.push(unreadable(&why, &path));
            settings.writes = false;
            None
        }
        ReadOutcome::Damaged(why) => {
            let aside = set_aside(&path).ok().flatten().unwrap_or(path);
            warnings.push(format!(
                "cannot read the settings ({why}), so this start uses defaults; old settings set aside: {}",
                aside.display()
            ));
            None
        }
    };
    if let Some((state, last)) = &found {
        settings.base = StoredSettings::new(state, last.clone());
    }
    Startup { settings, start: Arc::new(start), found, is_first, warnings }
}

fn state_path(folder: &Path) -> PathBuf {
    folder.join("state.json")
}

fn cannot_save(why: &dyn std::fmt::Display, folder: &Path) -> String {
    format!("cannot save settings: {why}: {}", folder.display())
}

fn unreadable(why: &str, path: &Path) -> String {
    format!(
        "cannot read the settings, so this window uses defaults and saves none: {why}: {}",
        path.display()
    )
}

impl SettingsFile {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Saves the state and what is open.
    ///
    /// # Errors
    /// A sentence, if the file cannot be written.
    pub fn write(&mut self, state: &State, last: Option<String>) -> Result<(), String> {
        let mine = StoredSettings::new(state, last);
        if !self.writes || mine == self.base {
            return Ok(());
        }
        let path = state_path(&self.folder);
        let _lock = lock(&self.folder, self.patience);
        let content = match read(&path) {
            ReadOutcome::Valid(theirs) => merge(&self.base, &mine, &theirs),
            ReadOutcome::Nothing => mine.clone(),
            ReadOutcome::Later(sentence) => {
                self.writes = false;
                return Err(sentence);
            }
            ReadOutcome::Unreadable(why) => return Err(unreadable(&why, &path)),
            ReadOutcome::Damaged(_) => {
                set_aside(&path).map_err(|why| cannot_save(&why, &self.folder))?;
                mine.clone()
            }
        };
        let written = StateFileRef {
            format: FORMAT,
            schema_version: SCHEMA_VERSION,
            warpscope_version: env!("CARGO_PKG_VERSION"),
            state: &content.state,
            last: &content.last,
        };
        let text = serde_json::to_vec_pretty(&written).map_err(|why| cannot_save(&why, &self.folder))?;
        export::write(&path, |out| out.write_all(&text))
            .map_err(|why| format!("cannot save settings: {why}"))?;
        self.base = mine;
        Ok(())
    }
}

/// Locks `state.lock` until dropped, so that no other window writes between our reading and writing.
/// Continues without the lock after `patience`.
fn lock(folder: &Path, patience: Duration) -> Option<File> {
    let file = files::open_regular(
        &folder.join("state.lock"),
        File::options().create(true).truncate(false).write(true),
    )
    .ok()?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(20))
            }
            Err(_) => return None,
        }
    }
}

// Merging the changes of several windows into one file.

/// The field of recent files, merged from all windows.
const RECENT: &str = "recent";

/// The field of column choices, also merged.
const FILE_ROLES: &str = "file_roles";

/// Three-way merge: `base` is what this window last read or wrote, `mine` its current contents, `theirs` the
/// file. If both changed a field, this window wins. Fields that only the file has are kept.
pub fn merge(base: &StoredSettings, mine: &StoredSettings, theirs: &StoredSettings) -> StoredSettings {
    let mut state: Map<String, Value> = theirs.state.clone();
    for (key, value) in &mine.state {
        let known = base.state.get(key);
        match theirs.state.get(key) {
            Some(there) if key == RECENT => {
                let recent = merge_lists(known, value, there, State::MAX_RECENT, |path| path);
                _ = state.insert(key.clone(), recent)
            }
            Some(there) if key == FILE_ROLES => {
                _ = state.insert(
                    key.clone(),
                    merge_lists(known, value, there, State::MAX_FILE_ROLES, |chosen| &chosen["path"]),
                );
            }
            Some(_) if known == Some(value) => {}
            _ => _ = state.insert(key.clone(), value.clone()),
        }
    }
    let last = if mine.last == base.last { theirs.last.clone() } else { mine.last.clone() };
    StoredSettings { state, last }
}

/// Merges lists: this window's entries, then those added by others. Entries removed by others are dropped.
/// Changes by others are kept unless this window changed the same entry. `key` identifies an entry.
fn merge_lists(
    base: Option<&Value>,
    mine: &Value,
    theirs: &Value,
    most: usize,
    key: impl Fn(&Value) -> &Value,
) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (base, mine, theirs) = (base.map(list).unwrap_or_default(), list(mine), list(theirs));
    let of = |list: &[Value], entry: &Value| list.iter().find(|other| key(other) == key(entry)).cloned();
    let kept = mine.iter().filter_map(|entry| match (of(&base, entry), of(&theirs, entry)) {
        (Some(known), Some(changed)) if known == *entry => Some(changed),
        (Some(_), None) => None,
        _ => Some(entry.clone()),
    });
    let added =
        theirs.iter().filter(|entry| of(&mine, entry).is_none() && of(&base, entry).is_none()).cloned();
    Value::Array(kept.chain(added).take(most).collect())
}

// Detection of failed launches. A file marks a launch in progress and counts the failed launches before it.
// The file is removed once the window shows the restored state, or is closed. That state may cause the
// failure: it may be impossible to show, or name a file that crashes the program.

/// After this many failed launches in a row, the next one starts clean.
const MAX_FAILED_STARTS: u32 = 2;

/// Frames to draw before a launch may count as successful.
const FRAMES: u32 = 3;

/// A launch in progress. If the program crashes, the marker file remains.
#[derive(Debug, Default)]
pub struct Launch(Mutex<Option<Marker>>);

#[derive(Debug)]
struct Marker {
    /// Locked while the program runs, so that another window does not take this launch for a failed one.
    file: File,
    path: PathBuf,
    frames: u32,
}

impl Launch {
    /// Records a launch, and returns whether to start clean because of earlier failures. Records nothing if
    /// the file cannot be written or another window is starting.
    pub fn begin(folder: &Path) -> (Self, bool) {
        Self::note(folder).map_or_else(
            || (Self::default(), false),
            |(marker, failed)| (Self(Mutex::new(Some(marker))), failed),
        )
    }

    fn note(folder: &Path) -> Option<(Marker, bool)> {
        let path = folder.join("starting");
        let mut file =
            files::open_regular(&path, File::options().create(true).truncate(false).read(true).write(true))
                .ok()?;
        file.try_lock().ok()?;
        let mut text = String::new();
        // Invalid contents count as no failures.
        let before = (&file)
            .take(32)
            .read_to_string(&mut text)
            .ok()
            .and_then(|_| text.trim().parse::<u32>().ok())
            .unwrap_or(0);
        let failed = before >= MAX_FAILED_STARTS;
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| writeln!(file, "{}", if failed { 1 } else { before + 1 }))
            .ok()?;
        Some((Marker { file, path, frames: 0 }, failed))
    }

    /// A frame was drawn; `settled` says whether the restored state is shown.
    pub fn drawn(&self, settled: bool) {
        let mut marker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(found) = marker.as_mut() else { return };
        found.frames += 1;
        if found.frames > FRAMES && settled {
            over(marker.take());
        }
    }

    /// Marks the launch as finished: the window is shown or closed, or the missing display was reported.
    pub fn over(&self) {
        over(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

fn over(marker: Option<Marker>) {
    if let Some(Marker { file, path, .. }) = marker {
        // If the file cannot be removed, empty it: an empty file means no failures.
        if fs::remove_file(path).is_err() {
            let _ = file.set_len(0);
        }
    }
}

#[cfg(test)]
mod tests;

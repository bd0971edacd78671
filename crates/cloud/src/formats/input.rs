//! A file being read: path, progress, errors, memory budget, and change detection.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::SystemTime;

use super::datasets::{lines_before, split};
use super::limits::{MAX_EMPTY_COLUMNS, MAX_LINE};
use super::sheet::no_memory;
use super::{FormatError, RecordIndex, Result, file_of};
pub(super) use crate::printable::name as printable;
use crate::progress::Progress;
use crate::suggest::suggest;
use crate::{Hint, memory};

/// Gives a reader access to a file, reports progress, and builds errors with its path.
pub(super) struct Input<'a> {
    pub path: PathBuf,
    /// The cloud to read, from `FILE:NAME`.
    dataset: Option<String>,
    /// Lines to skip, from `FILE:skip-lines=COUNT`.
    pub skipped: u64,
    /// The size of the file in bytes.
    pub size: u64,
    /// The state of the file when reading began.
    pub stamp: FileStamp,
    pub marks: Option<&'a RecordIndex>,
    /// The requested columns; `None` for all.
    only: Option<Vec<usize>>,
    /// Whether numbers in text files keep the file's spelling.
    pub spelled: bool,
    budget: Budget,
    pub progress: &'a dyn Progress,
}

/// The memory budget for reading a file: the memory that was free when it was opened, and the claims so far.
struct Budget {
    free: u64,
    claimed: AtomicU64,
}

/// Adds the most similar file name in the folder to a not-found error.
fn with_similar(why: io::Error, path: &Path) -> io::Error {
    /// Maximum number of folder entries considered.
    const MAX_ENTRIES: usize = 10_000;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(stem) =
        path.file_stem().and_then(|stem| stem.to_str()).filter(|_| why.kind() == ErrorKind::NotFound)
    else {
        return why;
    };
    let there = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .take(MAX_ENTRIES)
        .flatten()
        .map(|entry| PathBuf::from(entry.file_name()));
    let there: Vec<PathBuf> = there.filter(|other| other.extension() == path.extension()).collect();
    let meant = suggest(stem, there.iter().filter_map(|other| other.file_stem()?.to_str()));
    match meant
        .and_then(|meant| there.iter().find(|other| other.file_stem().is_some_and(|stem| stem == meant)))
    {
        Some(meant) => {
            io::Error::new(why.kind(), format!("{why}, but there is {}", printable(&meant.to_string_lossy())))
        }
        None => why,
    }
}

impl<'a> Input<'a> {
    /// Checks a path; only regular files are accepted.
    pub fn new(path: &Path, progress: &'a dyn Progress) -> Result<Self> {
        let (path, dataset) = split(path);
        let skipped = dataset.as_deref().and_then(lines_before);
        let io = |why| FormatError::Io { why, path: path.clone() };
        let metadata = std::fs::metadata(&path).map_err(|why| io(with_similar(why, &path)))?;
        if metadata.is_dir() {
            return Err(io(io::ErrorKind::IsADirectory.into()));
        }
        if !metadata.is_file() {
            return Err(FormatError::Unsupported {
                what: "not a regular file".into(),
                why: "write it to disk first".into(),
                path,
            });
        }
        let free = memory::available().unwrap_or(u64::MAX);
        Ok(Self {
            stamp: FileStamp::from_metadata(&path, &metadata),
            path,
            dataset: dataset.filter(|_| skipped.is_none()),
            skipped: skipped.unwrap_or(0),
            size: metadata.len(),
            marks: None,
            only: None,
            spelled: false,
            budget: Budget { free, claimed: AtomicU64::new(0) },
            progress,
        })
    }

    /// Reads the next bytes.
    pub fn read<const N: usize>(&self, reader: &mut impl Read) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        reader.read_exact(&mut bytes).map_err(|why| self.io(why))?;
        Ok(bytes)
    }

    /// Skips to the end of a reader; returns the number of bytes skipped.
    pub fn skip_rest(&self, mut reader: impl Read) -> Result<u64> {
        io::copy(&mut reader, &mut io::sink()).map_err(|why| self.io(why))
    }

    /// Uses the marks of an earlier call to find records, and adds new ones.
    pub fn with_index(self, marks: &'a RecordIndex) -> Self {
        Self { marks: Some(marks), ..self }
    }

    /// Restricts reading to some columns; `spelled` keeps the file's spelling of numbers.
    pub fn with_columns(self, columns: &[usize], spelled: bool) -> Self {
        Self { only: Some(columns.to_vec()), spelled, ..self }
    }

    /// Whether a column is requested.
    pub fn wants(&self, column: usize) -> bool {
        self.only.as_ref().is_none_or(|columns| columns.contains(&column))
    }

    /// Overrides the free memory, in bytes.
    #[cfg(test)]
    pub fn with_free(self, free: u64) -> Self {
        Self { budget: Budget { free, claimed: AtomicU64::new(0) }, ..self }
    }

    /// The name of the requested cloud.
    pub fn dataset(&self) -> Option<&str> {
        self.dataset.as_deref()
    }

    /// Returns `read`, unless the file has changed meanwhile.
    ///
    /// # Errors
    /// As [`FileStamp::check`].
    pub fn finish<T>(&self, read: Result<T>) -> Result<T> {
        self.stamp.check(read)
    }

    /// Opens the file. Reads report progress, and fail once the work is cancelled.
    pub fn open(&self) -> Result<BufReader<ProgressReader<'a>>> {
        let file = File::open(&self.path).map_err(|why| self.io(why))?;
        // A small file gets a small buffer, because clearing a large one would take longer than reading.
        let room = self.size.clamp(1 << 10, 1 << 18) as usize;
        Ok(BufReader::with_capacity(
            room,
            ProgressReader { file, done: 0, size: self.size, progress: self.progress },
        ))
    }

    /// Fails if the work has been cancelled; for loops that do not read.
    pub fn check(&self) -> Result<()> {
        if self.progress.cancelled() { Err(FormatError::Cancelled) } else { Ok(()) }
    }

    /// Maps an I/O error to a [`FormatError`], or unwraps the one inside.
    pub fn io(&self, why: io::Error) -> FormatError {
        if self.progress.cancelled() {
            return FormatError::Cancelled;
        }
        let why = match why.downcast::<FormatError>() {
            Ok(why) => return why,
            Err(why) => why,
        };
        if why.kind() == ErrorKind::UnexpectedEof {
            self.malformed("cut short", "the file ends in the middle of its data")
        } else if why.raw_os_error().is_none()
            && [ErrorKind::InvalidData, ErrorKind::InvalidInput, ErrorKind::Other].contains(&why.kind())
        {
            // Decompressors return these kinds of error.
            self.malformed("data", "damaged, and cannot be unpacked")
        } else {
            FormatError::Io { why, path: self.path.clone() }
        }
    }

    /// Fails if a requested record is beyond the last of `rows`.
    pub fn check_records(&self, wanted: &[u64], rows: u64) -> Result<()> {
        match wanted.iter().find(|&&record| record >= rows) {
            Some(record) => {
                Err(self.malformed(format!("record {record}"), format!("the file has {rows} records")))
            }
            None => Ok(()),
        }
    }

    /// The error for a record count that differs from the first line's.
    pub fn miscounted(&self, what: &str, rows: u64, promised: u64) -> FormatError {
        let way_out =
            if rows < promised { "if the file is not cut short" } else { "if they all belong there" };
        self.malformed(
            what,
            format!(
                "the first line declares {promised}, but the file has {rows}; {way_out}, correct that line"
            ),
        )
    }

    /// The error for columns that cannot be coordinates.
    pub fn unusable(&self, what: String, why: String, hint: Option<Hint>) -> FormatError {
        FormatError::Column { what, why, hint, path: self.path.clone() }
    }

    /// The extension, in lower case.
    pub fn extension(&self) -> String {
        self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
    }

    pub fn malformed(&self, what: impl Into<String>, why: impl Into<String>) -> FormatError {
        FormatError::Malformed {
            what: printable(&what.into()),
            why: printable(&why.into()),
            path: self.path.clone(),
        }
    }

    pub fn unsupported(&self, what: impl Into<String>, why: impl Into<String>) -> FormatError {
        FormatError::Unsupported {
            what: printable(&what.into()),
            why: printable(&why.into()),
            path: self.path.clone(),
        }
    }

    /// Claims memory before it is allocated. Every allocation whose size comes from the file goes through
    /// here, [`Self::reserve`] or [`Self::reserve_all`]. `what` names it in the error.
    ///
    /// # Errors
    /// [`FormatError::Memory`] if all claims together exceed what was free when the file was opened.
    pub fn claim(&self, bytes: u64, what: &str) -> Result<()> {
        let Budget { free, claimed } = &self.budget;
        let sum = |claimed: u64| claimed.checked_add(bytes).filter(|sum| sum <= free);
        let refused = |claimed: u64| FormatError::Memory {
            what: printable(what),
            needed: claimed.saturating_add(bytes),
            free: *free,
            path: self.path.clone(),
        };
        claimed.fetch_update(Relaxed, Relaxed, sum).map(|_| ()).map_err(refused)
    }

    /// Whether this many bytes could be claimed.
    pub fn can_claim(&self, bytes: u64) -> bool {
        self.budget.free.saturating_sub(self.budget.claimed.load(Relaxed)) >= bytes
    }

    /// Returns a claim after freeing the memory.
    pub fn release(&self, bytes: u64) {
        let left = |claimed: u64| Some(claimed.saturating_sub(bytes));
        let before = self.budget.claimed.fetch_update(Relaxed, Relaxed, left);
        debug_assert!(before.is_ok_and(|claimed| claimed >= bytes), "released more than was claimed");
    }

    /// Reserves capacity for `more` values when the total is unknown, growing by at least an eighth to limit
    /// both copying and unused capacity.
    pub fn reserve<T>(&self, values: &mut Vec<T>, more: usize) -> Result<()> {
        self.reserve_for(values, more, "values")
    }

    /// Like [`Self::reserve`], for data other than coordinates; `what` names it in the error.
    pub fn reserve_for<T>(&self, values: &mut Vec<T>, more: usize, what: &str) -> Result<()> {
        if values.capacity() - values.len() >= more {
            return Ok(());
        }
        let count = values.len() as u64 + more as u64;
        let step = more.max(values.len() / 8);
        let grown = (values.len() + step).saturating_sub(values.capacity());
        self.claim((grown as u64).saturating_mul(size_of::<T>() as u64), what)?;
        values.try_reserve_exact(step).map_err(|_| no_memory(count, size_of::<T>(), self.path.clone()))
    }

    /// Appends a line to `line`, up to and including its end; returns its length, 0 at the end of the text.
    ///
    /// # Errors
    /// [`FormatError::Unsupported`] for a line of more than [`MAX_LINE`] bytes; I/O errors and those of
    /// [`Self::claim`].
    pub fn read_line(
        &self,
        text: &mut (impl BufRead + ?Sized),
        end: u8,
        line: &mut Vec<u8>,
    ) -> Result<usize> {
        /// Bytes read at a time. The memory of a line up to this size is not claimed.
        const STEP: usize = 1 << 16;
        let before = line.len();
        loop {
            if line.len() > before {
                self.reserve_for(line, STEP, "a line of text")?;
            }
            let count = (&mut *text).take(STEP as u64).read_until(end, line).map_err(|why| self.io(why))?;
            if count < STEP || line.last() == Some(&end) {
                return Ok(line.len() - before);
            }
            if (line.len() - before) as u64 >= MAX_LINE {
                return Err(self.too_long("a line"));
            }
        }
    }

    /// Checks the rows and columns that a header declares, before columns are created.
    ///
    /// # Errors
    /// [`FormatError::Malformed`] for more than [`MAX_EMPTY_COLUMNS`] columns without a row.
    pub fn check_shape(&self, rows: u64, columns: u64) -> Result<()> {
        if rows == 0 && columns > MAX_EMPTY_COLUMNS {
            return Err(self.malformed("nothing to read", "the header declares 0 rows"));
        }
        Ok(())
    }

    /// The error for a line, a record or a text of more than [`MAX_LINE`] bytes.
    pub fn too_long(&self, what: &str) -> FormatError {
        self.unsupported(
            format!("{what} of more than {MAX_LINE} bytes"),
            "the supported maximum, because it is held in memory",
        )
    }

    /// Reserves capacity for all `rows` × `width` values at once if the file has at least a byte per row;
    /// otherwise the header is not trusted and memory grows as data arrives.
    pub fn reserve_all<T>(&self, values: &mut Vec<T>, rows: u64, width: usize) -> Result<()> {
        if rows > self.size {
            return Ok(());
        }
        let count = rows.saturating_mul(width as u64);
        self.claim(count.saturating_mul(size_of::<T>() as u64), "values")?;
        let room = usize::try_from(count).ok().and_then(|count| values.try_reserve_exact(count).ok());
        room.ok_or_else(|| no_memory(count, size_of::<T>(), self.path.clone()))
    }
}

/// A file that reports progress and observes cancellation.
pub(super) struct ProgressReader<'a> {
    file: File,
    done: u64,
    size: u64,
    progress: &'a dyn Progress,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let count = self.file.read(buffer)?;
        self.done += count as u64;
        self.progress.update(self.done, self.size);
        Ok(count)
    }
}

impl Seek for ProgressReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.done = self.file.seek(to)?;
        Ok(self.done)
    }
}

// Detects changes of a file: reading it while it is written could mix two versions.

/// A file's metadata at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStamp {
    path: PathBuf,
    /// `None` if the file does not exist.
    state: Option<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Device and inode, because another file may have been renamed over it; 0 if unsupported.
    file: (u64, u64),
}

impl State {
    fn from_metadata(about: &Metadata) -> Self {
        #[cfg(unix)]
        let file = (std::os::unix::fs::MetadataExt::dev(about), std::os::unix::fs::MetadataExt::ino(about));
        #[cfg(not(unix))]
        let file = (0, 0);
        Self { bytes: about.len(), modified: about.modified().ok(), file }
    }
}

impl FileStamp {
    /// The current metadata of a file, or of the file of a `FILE:NAME`.
    pub fn now(path: &Path) -> Self {
        let path = file_of(path);
        Self { state: path.metadata().ok().as_ref().map(State::from_metadata), path }
    }

    pub(super) fn from_metadata(path: &Path, about: &Metadata) -> Self {
        Self { path: path.to_owned(), state: Some(State::from_metadata(about)) }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `made`, unless the file has changed since.
    ///
    /// # Errors
    /// [`FormatError::Changed`], also in place of an error that the change may have caused.
    pub fn check<T>(&self, made: Result<T>) -> Result<T> {
        let state = || self.path.metadata().ok().as_ref().map(State::from_metadata);
        if matches!(made, Err(FormatError::Cancelled)) || state() == self.state {
            made
        } else {
            Err(FormatError::Changed { path: self.path.clone() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn any_file_change_is_detected() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let changes: [fn(&Path); 5] = [
            |path| fs::write(path, "1,2\n3,4\n5,6\n").unwrap(),
            |path| fs::write(path, "1,2\n").unwrap(),
            |path| fs::remove_file(path).unwrap(),
            // Same size and time.
            |path| {
                let modified = path.metadata().unwrap().modified().unwrap();
                let new = path.with_extension("new");
                fs::write(&new, "5,6\n7,8\n").unwrap();
                fs::File::options().write(true).open(&new).unwrap().set_modified(modified).unwrap();
                fs::rename(new, path).unwrap();
            },
            |path| {
                fs::File::options()
                    .write(true)
                    .open(path)
                    .unwrap()
                    .set_modified(SystemTime::UNIX_EPOCH)
                    .unwrap()
            },
        ];
        for (at, change) in changes.into_iter().enumerate() {
            fs::write(&path, "1,2\n3,4\n").unwrap();
            let stamp = FileStamp::now(&path);
            assert_eq!(stamp.check(Ok(5)).unwrap(), 5);
            change(&path);
            assert!(matches!(stamp.check(Ok(5)), Err(FormatError::Changed { .. })), "change {at}");
            assert!(
                matches!(stamp.check::<u8>(Err(FormatError::Cancelled)), Err(FormatError::Cancelled)),
                "change {at}"
            );
        }
    }
}

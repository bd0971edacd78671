//! Replaces several files of one folder atomically.
//!
//! The files are written into a temporary folder inside the target folder. One rename of the temporary folder
//! to [`COMMIT`] is the commit point: before it the old files are valid, after it the new ones. Only then are
//! the files moved to their destinations, one by one. If the program is killed before all files are moved,
//! [`locate`] still gives readers the new files, and the next writer or [`recover`] completes the moves. The
//! folder is locked during the moves, because a second program following an outdated list would remove newer
//! files. Other files in the folder are not touched.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::live;
use super::small::read_small;
use super::target::{fill, replaceable};
use super::temp::{StagingDir, remove_abandoned};

/// Folder of committed files that have not been moved to their destinations yet.
const COMMIT: &str = ".warpscope-commit";

/// Name of the file in [`COMMIT`] that lists the remaining actions, one per line: `+name` is moved to its
/// destination, `-name` is removed.
const LIST: &str = ".list";

/// Prefix for renaming a foreign file or folder that is named like a commit.
const ASIDE: &str = ".warpscope-aside-";

/// Maximum size of the list in bytes. Longer lists were not written by this program.
const MAX_LIST: u64 = 1 << 24;

/// Whether a file with this name belongs to the caller, who may then replace or remove it.
pub type IsOwn = fn(&str) -> bool;

/// New files of a folder that replace the old ones together.
#[derive(Debug)]
pub struct Batch {
    folder: PathBuf,
    ours: IsOwn,
    part: StagingDir,
    names: Vec<String>,
}

impl Batch {
    /// An empty batch for an existing folder.
    ///
    /// # Errors
    /// I/O errors, including those of completing an interrupted commit.
    pub fn new(folder: &Path, ours: IsOwn) -> io::Result<Self> {
        recover(folder, ours)?;
        Ok(Self { folder: folder.to_owned(), ours, part: StagingDir::new(folder)?, names: Vec::new() })
    }

    /// Adds a file, with the permissions of the file it replaces. A symbolic link is replaced rather than
    /// followed, because its target may be on another file system, where a folder rename cannot be atomic.
    ///
    /// # Errors
    /// I/O errors, and those of `content`.
    pub fn write(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        debug_assert!((self.ours)(name), "{name} would not be put in place");
        let path = self.folder.join(name);
        replaceable(&path)?;
        fill(self.part.create(name, &path)?, &path, content)?;
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Commits all files in the order of adding, and removes `obsolete` files.
    ///
    /// # Errors
    /// I/O errors. The folder still has the old files. If only the final moves failed, [`locate`] gives the
    /// new ones.
    pub fn put(self, obsolete: &[&str]) -> io::Result<()> {
        let lines = obsolete
            .iter()
            .map(|name| format!("-{name}\n"))
            .chain(self.names.iter().map(|name| format!("+{name}\n")));
        let list = lines.collect::<String>();
        // The list does not replace an existing file.
        let none = Path::new("");
        fill(self.part.create(LIST, none)?, none, |out| out.write_all(list.as_bytes()))?;
        let _hold = FolderLock::new(&self.folder)?;
        live::uninterrupted(|| {
            // Another program may have been killed since the batch began.
            settle(&self.folder, self.ours)?;
            fs::rename(self.part.path(), self.folder.join(COMMIT))?;
            // Committed. A temporary failure, such as on a network drive, is worth one retry.
            settle(&self.folder, self.ours).or_else(|_| settle(&self.folder, self.ours))
        })
    }
}

/// Completes interrupted commits and removes abandoned temporary files in the folder.
///
/// # Errors
/// Those of the system.
pub fn recover(folder: &Path, ours: IsOwn) -> io::Result<()> {
    remove_abandoned(folder);
    let _hold = FolderLock::new(folder)?;
    live::uninterrupted(|| settle(folder, ours))
}

/// The path from which to read a file, which an interrupted commit may not have moved yet; `None` if the file
/// does not exist.
pub fn locate(folder: &Path, name: &str) -> Option<PathBuf> {
    let (own, commit) = (folder.join(name), folder.join(COMMIT));
    let list = list(&commit).ok().flatten().unwrap_or_default();
    let listed = |sign| lines(&list, |listed| listed == name).any(|(its, _)| its == sign);
    if listed("+") && is_plain(&commit.join(name)) {
        return Some(commit.join(name));
    }
    (!listed("-") && own.exists()).then_some(own)
}

/// The list of a commit; `None` if the commit is not ours.
fn list(commit: &Path) -> io::Result<Option<String>> {
    let path = commit.join(LIST);
    // Do not follow links: a link could lead to another folder's list, and opening a pipe would block.
    if !fs::symlink_metadata(commit).is_ok_and(|meta| meta.is_dir()) || !is_plain(&path) {
        return Ok(None);
    }
    match read_small(&path, MAX_LIST) {
        Ok(text) => Ok(String::from_utf8(text).ok()),
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::FileTooLarge) => Ok(None),
        Err(why) => Err(why),
    }
}

/// The valid entries of a list: sign and name.
fn lines(list: &str, ours: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, &str)> {
    list.lines()
        .filter_map(|line| line.split_at_checked(1))
        .filter(move |(_, name)| is_entry(name) && ours(name))
}

/// Performs the actions of the list, or continues those that another program began. The folder must be
/// locked.
fn settle(folder: &Path, ours: IsOwn) -> io::Result<()> {
    let commit = folder.join(COMMIT);
    // Do not follow links, which would move files of another folder.
    match fs::symlink_metadata(&commit) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return set_aside(&commit),
        result => return missing_is_done(result.map(drop)),
    }
    for (sign, name) in lines(&list(&commit)?.unwrap_or_default(), ours) {
        let (own, new) = (folder.join(name), commit.join(name));
        match sign {
            "+" if is_plain(&new) => missing_is_done(fs::rename(&new, &own))?,
            "-" if own.is_file() => missing_is_done(fs::remove_file(&own))?,
            _ => {}
        }
    }
    if is_plain(&commit.join(LIST)) {
        missing_is_done(fs::remove_file(commit.join(LIST)))?;
    }
    clear(&commit, ours)
}

/// Removes an uncommitted folder without a list. Foreign content in it is kept.
fn clear(commit: &Path, ours: IsOwn) -> io::Result<()> {
    for entry in fs::read_dir(commit)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(ours) && is_plain(&entry.path()) {
            missing_is_done(fs::remove_file(entry.path()))?;
        }
    }
    match fs::remove_dir(commit) {
        Err(why) if matches!(why.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists) => {
            set_aside(commit)
        }
        result => missing_is_done(result),
    }
}

/// Renames a foreign file or folder that is named like a commit.
fn set_aside(commit: &Path) -> io::Result<()> {
    let folder = commit.parent().unwrap_or(Path::new(""));
    let aside = tempfile::Builder::new()
        .prefix(ASIDE)
        .rand_bytes(10)
        .make_in(folder, |path| fs::rename(commit, path))?;
    // Prevents removal on drop.
    let _ = aside.into_temp_path().keep();
    Ok(())
}

/// Whether a name refers to a direct entry of the folder.
fn is_entry(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name)
}

/// Whether the path is a regular file, not a link to one.
fn is_plain(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn missing_is_done(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Timeout for another program's lock. A commit locks the folder for a few renames only, so a longer wait
/// means a hung program or a foreign lock.
const PATIENCE: Duration = Duration::from_mins(1);

/// An exclusive lock on a folder, released on drop or when the process ends.
#[derive(Debug)]
struct FolderLock(#[expect(dead_code, reason = "it is locked while it is open")] Option<File>);

impl FolderLock {
    /// Waits for the lock. Must not be called inside [`super::live::uninterrupted`], which would delay
    /// signals too. Does nothing if folders cannot be locked.
    fn new(folder: &Path) -> io::Result<Self> {
        Self::within(folder, PATIENCE)
    }

    #[cfg(unix)]
    fn within(folder: &Path, patience: Duration) -> io::Result<Self> {
        use std::fs::TryLockError;
        use std::time::Instant;
        let Ok(file) = File::open(folder) else { return Ok(Self(None)) };
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(Some(file))),
                // The file system does not support locks.
                Err(TryLockError::Error(why)) if why.kind() != io::ErrorKind::Interrupted => {
                    return Ok(Self(None));
                }
                Err(_) if began.elapsed() > patience => {
                    return Err(io::Error::new(
                        io::ErrorKind::WouldBlock,
                        "another program has locked the folder",
                    ));
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }

    /// Folders cannot be opened on this platform.
    #[cfg(not(unix))]
    fn within(_folder: &Path, _patience: Duration) -> io::Result<Self> {
        Ok(Self(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::testing::{beside, names};

    fn ours(name: &str) -> bool {
        ["a", "b", "c", "gone"].contains(&name)
    }

    fn read(folder: &Path, name: &str) -> Option<String> {
        locate(folder, name).map(|path| fs::read_to_string(path).unwrap())
    }

    /// A folder with one file to replace, one to remove and one foreign file, and a batch for it.
    fn started(folder: &Path) -> Batch {
        for (name, text) in [("a", "old a"), ("gone", "old"), ("foreign", "mine")] {
            fs::write(folder.join(name), text).unwrap();
        }
        let mut batch = Batch::new(folder, ours).unwrap();
        for name in ["b", "a"] {
            batch.write(name, |out| write!(out, "new {name}")).unwrap();
        }
        batch
    }

    #[test]
    fn commits_replace_files_atomically() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let batch = started(folder);
        assert_eq!(
            (read(folder, "a"), read(folder, "b")),
            (Some("old a".to_owned()), None),
            "before the commit"
        );
        batch.put(&["gone"]).unwrap();
        assert_eq!(names(folder), ["a", "b", "foreign"]);
        assert_eq!(
            (read(folder, "a").unwrap(), read(folder, "foreign").unwrap()),
            ("new a".to_owned(), "mine".to_owned())
        );
        drop(started(folder));
        assert_eq!(names(folder), ["a", "b", "foreign", "gone"], "a dropped batch leaves no files");
        assert_eq!(read(folder, "a").unwrap(), "old a");
    }

    #[test]
    fn interrupted_commits_are_readable_and_recoverable() {
        for steps in 0..=5 {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let batch = started(folder);
            let commit = folder.join(COMMIT);
            fs::write(batch.part.path().join(LIST), "-gone\n+b\n+a\n").unwrap();
            fs::rename(batch.part.path(), &commit).unwrap();
            // The first steps of `settle`.
            let moves: [&dyn Fn(); 5] = [
                &|| fs::remove_file(folder.join("gone")).unwrap(),
                &|| fs::rename(commit.join("b"), folder.join("b")).unwrap(),
                &|| fs::rename(commit.join("a"), folder.join("a")).unwrap(),
                &|| fs::remove_file(commit.join(LIST)).unwrap(),
                &|| fs::remove_dir(&commit).unwrap(),
            ];
            moves[..steps].iter().for_each(|step| step());
            let seen = || ["a", "b", "gone", "foreign"].map(|name| read(folder, name));
            let new = [Some("new a"), Some("new b"), None, Some("mine")].map(|text| text.map(str::to_owned));
            assert_eq!(seen(), new, "read after {steps} steps");
            recover(folder, ours).unwrap();
            assert_eq!(
                (seen(), names(folder)),
                (new, ["a", "b", "foreign"].map(str::to_owned).to_vec()),
                "recovered after {steps} steps"
            );
        }
    }

    #[test]
    fn commit_lists_cannot_reference_paths_outside_their_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        fs::create_dir_all(folder.join(COMMIT)).unwrap();
        fs::write(place.path().join("kept"), "mine").unwrap();
        fs::write(
            folder.join(COMMIT).join(LIST),
            format!("-../kept\n-{}\n-.\n-..\n-\n?x\n", place.path().join("kept").display()),
        )
        .unwrap();
        recover(&folder, |_| true).unwrap();
        assert_eq!(
            (names(place.path()), names(&folder).len()),
            (vec!["folder".to_owned(), "kept".to_owned()], 0)
        );
    }

    #[test]
    fn recovery_does_not_touch_foreign_files() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let commit = folder.join(COMMIT);
        fs::create_dir(&commit).unwrap();
        for (name, text) in
            [("thesis.tex", "mine"), ("notes", "mine"), ("gone", "a run's"), (".warpscope-commit/a", "new a")]
        {
            fs::write(folder.join(name), text).unwrap();
        }
        fs::write(commit.join(LIST), "-thesis.tex\n+notes\n+a\n-gone\n").unwrap();
        assert_eq!(["a", "gone", "c"].map(|name| read(folder, name)), [Some("new a".to_owned()), None, None]);
        recover(folder, ours).unwrap();
        assert_eq!(names(folder), ["a", "notes", "thesis.tex"]);
    }

    #[test]
    fn files_missing_from_the_commit_list_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let batch = started(folder.path());
        fs::write(batch.part.path().join("c"), "stray").unwrap();
        fs::write(batch.part.path().join(LIST), "+a\n").unwrap();
        fs::rename(batch.part.path(), folder.path().join(COMMIT)).unwrap();
        assert_eq!(
            ["a", "b", "c"].map(|name| read(folder.path(), name)),
            [Some("new a".to_owned()), None, None]
        );
    }

    #[cfg(unix)]
    #[test]
    fn commits_wait_for_the_folder_lock() {
        let folder = tempfile::tempdir().unwrap();
        let batch = started(folder.path());
        let hold = FolderLock::new(folder.path()).unwrap();
        let putting = beside(move || batch.put(&["gone"]));
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "old a");
        drop(hold);
        putting.join().unwrap().unwrap();
        assert_eq!(names(folder.path()), ["a", "b", "foreign"]);
    }

    #[test]
    fn stale_commits_do_not_block_the_next_writer() {
        // No list, invalid lists, and lists with unexpected entries.
        for list in [None, Some("+a\n"), Some("\u{0}\n"), Some("+b\n")] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            let commit = folder.join(COMMIT);
            fs::create_dir_all(commit.join("b")).unwrap();
            for name in [".DS_Store", "a", "c"] {
                fs::write(commit.join(name), name).unwrap();
            }
            if let Some(list) = list {
                fs::write(commit.join(LIST), list).unwrap();
            }
            started(folder).put(&["gone"]).unwrap();
            let aside = names(folder).remove(0);
            assert!(aside.starts_with(ASIDE), "{aside}");
            assert_eq!(
                (names(folder)[1..].to_vec(), names(&folder.join(aside))),
                (
                    ["a", "b", "foreign"].map(str::to_owned).to_vec(),
                    [".DS_Store", "b"].map(str::to_owned).to_vec()
                )
            );
            assert_eq!(read(folder, "a").unwrap(), "new a");
        }
        // A foreign file with the name of a commit.
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(COMMIT), "mine").unwrap();
        started(folder.path()).put(&["gone"]).unwrap();
        let aside = names(folder.path()).remove(0);
        assert_eq!(
            (fs::read_to_string(folder.path().join(aside)).unwrap().as_str(), names(folder.path()).len()),
            ("mine", 4)
        );
    }

    #[test]
    fn commit_lists_with_invalid_utf8_are_discarded() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(COMMIT)).unwrap();
        fs::write(folder.path().join(COMMIT).join(LIST), b"+a\n\xff\n").unwrap();
        fs::write(folder.path().join(COMMIT).join("a"), "new").unwrap();
        assert_eq!(read(folder.path(), "a"), None);
        recover(folder.path(), ours).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_replaced_but_their_targets_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("folder");
        fs::create_dir(&folder).unwrap();
        fs::write(place.path().join("elsewhere"), "mine").unwrap();
        let batch = started(&folder);
        fs::remove_file(folder.join("a")).unwrap();
        for name in ["a", "c"] {
            std::os::unix::fs::symlink("../elsewhere", folder.join(name)).unwrap();
        }
        batch.put(&["c", "gone"]).unwrap();
        assert!(fs::symlink_metadata(folder.join("a")).unwrap().is_file());
        assert_eq!(
            (names(&folder), read(place.path(), "elsewhere").unwrap()),
            (["a", "b", "foreign"].map(str::to_owned).to_vec(), "mine".to_owned())
        );
    }

    #[cfg(unix)]
    #[test]
    fn symlinked_commits_are_ignored() {
        let place = tempfile::tempdir().unwrap();
        let (folder, other) = (place.path().join("folder"), place.path().join("other"));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(other.join(LIST), "+a\n").unwrap();
        fs::write(other.join("a"), "another's").unwrap();
        std::os::unix::fs::symlink(&other, folder.join(COMMIT)).unwrap();
        assert_eq!(read(&folder, "a"), None);
    }

    #[test]
    fn folders_are_refused_as_commit_targets() {
        let folder = tempfile::tempdir().unwrap();
        let mut batch = started(folder.path());
        fs::create_dir(folder.path().join("c")).unwrap();
        assert_eq!(batch.write("c", |_| Ok(())).unwrap_err().to_string(), "it is a folder");
        drop(batch);
        assert_eq!(names(folder.path()), ["a", "c", "foreign", "gone"]);
    }

    #[cfg(unix)]
    #[test]
    fn folder_locks_are_exclusive() {
        let folder = tempfile::tempdir().unwrap();
        let held = FolderLock::new(folder.path()).unwrap();
        let refused = FolderLock::within(folder.path(), Duration::ZERO).unwrap_err();
        assert_eq!(refused.to_string(), "another program has locked the folder");
        let waiting = beside({
            let folder = folder.path().to_owned();
            move || FolderLock::new(&folder).is_ok()
        });
        drop(held);
        assert!(waiting.join().unwrap());
        assert!(FolderLock::new(&folder.path().join("none")).is_ok(), "a missing folder is reported later");
    }
}

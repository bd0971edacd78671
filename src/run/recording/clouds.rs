//! Clouds of recordings without points. The paths of their files are stored relative to the recording, so
//! that a folder with both can be moved, and absolute, so that a recording alone can. The files are read
//! again and must be unchanged.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::manifest::{CloudEntry, RunEntry};
use crate::cloud::formats::{FormatError, file_of};
use crate::cloud::{self, CloudError, Fingerprint, PointCloud, Source};
use crate::progress::Progress;
use crate::run::{CloudDescription, QuerySpec, RunSpec};

/// The paths of a source's file: relative if it is in the recording's folder, and absolute. Empty for other
/// sources and missing files.
pub(super) fn stored_paths(source: &Source, folder: &Path) -> Vec<PathBuf> {
    let Source::File { path, .. } = source else { return Vec::new() };
    let file = file_of(path);
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let Some(absolute) = std::path::absolute(&file).ok().filter(|file| file.exists()) else {
        return Vec::new();
    };
    // Compares paths as written and with links resolved, as either may contain a link.
    let below = |file: &Path, folder: &Path| file.strip_prefix(folder).ok().map(portable);
    let written = std::path::absolute(folder).ok().and_then(|folder| below(&absolute, &folder));
    let relative = written.or_else(|| below(&absolute.canonicalize().ok()?, &folder.canonicalize().ok()?));
    // The manifest is text, so other paths could not be found again.
    relative
        .into_iter()
        .chain([absolute])
        .map(|place| moved(path, &file, &place))
        .filter(|place| place.to_str().is_some())
        .collect()
}

/// Where to look for a source's file, without duplicates: in the recording's folder or below, at its stored
/// paths and by its name. A recording may name any file on its reader's machine, so no other file is opened.
pub(super) fn candidates(path: &Path, paths: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    let named = paths.last().map_or(path, PathBuf::as_path);
    let below = |place: &PathBuf| Some(folder.join(place)).filter(|place| is_below(&file_of(place), folder));
    let name = named.file_name().map(PathBuf::from);
    let mut seen = HashSet::new();
    let all = paths.iter().chain([&path.to_owned()]).chain(&name).filter_map(below).collect::<Vec<_>>();
    all.into_iter().filter(|place| seen.insert(place.clone())).collect()
}

/// Whether a file is in a folder or below, both as written and, if the file exists, with links resolved.
pub fn is_below(file: &Path, folder: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let climbs = |path: &Path| path.components().any(|part| part == Component::ParentDir);
    let [written_file, written_folder] = [file, folder].map(std::path::absolute);
    let written = written_file
        .ok()
        .zip(written_folder.ok())
        .is_some_and(|(file, folder)| file.strip_prefix(folder).is_ok_and(|way| !climbs(way)));
    let [real_file, real_folder] = [file, folder].map(Path::canonicalize);
    written && real_file.map_or(true, |file| real_folder.is_ok_and(|folder| file.starts_with(folder)))
}

/// Uses forward slashes, which every system reads.
fn portable(path: &Path) -> PathBuf {
    let parts: Vec<_> = path
        .components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/").into()
}

/// Replaces the file in a path: `FILE:NAME` becomes `TO:NAME`.
pub(super) fn moved(path: &Path, file: &Path, to: &Path) -> PathBuf {
    let part =
        path.to_str().zip(file.to_str()).and_then(|(path, file)| path.strip_prefix(file)).unwrap_or_default();
    let mut moved = to.as_os_str().to_owned();
    moved.push(part);
    moved.into()
}

/// A cloud, or why it is not available.
type Cloud = Result<Arc<PointCloud>, String>;

/// The clouds of a recording, each searched for once.
pub(super) struct CloudLoader<'a> {
    entries: &'a [CloudEntry],
    found: Vec<Option<Cloud>>,
    folder: &'a Path,
    progress: &'a dyn Progress,
}

impl<'a> CloudLoader<'a> {
    /// For the recording in `folder`; `there` are the clouds whose points it contains.
    pub fn new(
        entries: &'a [CloudEntry],
        there: Vec<Option<Arc<PointCloud>>>,
        folder: &'a Path,
        progress: &'a dyn Progress,
    ) -> Self {
        Self { entries, found: there.into_iter().map(|cloud| cloud.map(Ok)).collect(), folder, progress }
    }

    /// A run's clouds, or why one is missing, as a sentence. Updates the spec with the paths where files were
    /// found.
    pub fn clouds(
        &mut self,
        entry: &RunEntry,
        spec: &mut RunSpec,
    ) -> Result<(Arc<PointCloud>, Option<Arc<PointCloud>>), String> {
        let drop_nonfinite = spec.drop_nonfinite;
        let progress = self.progress;
        let data = self.cloud(entry.cloud, |source| cloud::load(source, drop_nonfinite, progress))?;
        if self.is_elsewhere(entry.cloud, &data) {
            spec.data = data.source().clone();
        }
        let Some(at) = entry.query_cloud else { return Ok((data, None)) };
        let frame = Arc::clone(&data);
        let queries =
            self.cloud(at, |source| cloud::load_queries(source, &frame, drop_nonfinite, progress))?;
        if self.is_elsewhere(at, &queries)
            && let (QuerySpec::File { path, .. }, Source::File { path: found, .. }) =
                (&mut spec.queries, queries.source())
        {
            path.clone_from(found);
        }
        Ok((data, Some(queries)))
    }

    /// The cloud that a window showed; `None` if it is not found or not listed.
    pub fn shown(&mut self, at: usize) -> Option<Arc<PointCloud>> {
        let (drop_nonfinite, progress) = (self.entries.get(at)?.cloud.dropped > 0, self.progress);
        self.cloud(at, |source| cloud::load(source, drop_nonfinite, progress)).ok()
    }

    /// Fingerprints of the clouds that were read from their sources.
    pub fn sources(&self) -> Vec<Fingerprint> {
        let read = self
            .entries
            .iter()
            .zip(&self.found)
            .filter(|(entry, found)| !entry.points && matches!(found, Some(Ok(_))));
        read.map(|(entry, _)| entry.cloud.fingerprint.clone()).collect()
    }

    fn is_elsewhere(&self, at: usize, cloud: &PointCloud) -> bool {
        self.entries[at].cloud.source != *cloud.source()
    }

    /// `check::entry` has verified that the cloud is listed.
    fn cloud(&mut self, at: usize, load: impl Fn(&Source) -> Result<PointCloud, CloudError>) -> Cloud {
        if let Some(found) = &self.found[at] {
            return found.clone();
        }
        let found = self.look_for(&self.entries[at], load);
        self.found[at] = Some(found.clone());
        found
    }

    fn look_for(
        &self,
        entry: &CloudEntry,
        load: impl Fn(&Source) -> Result<PointCloud, CloudError>,
    ) -> Cloud {
        let CloudDescription { source, fingerprint, .. } = &entry.cloud;
        // A matching fingerprint does not prove the sizes that the recording claims, against which its arrays
        // were checked.
        let same = |cloud: &PointCloud| {
            cloud.fingerprint() == fingerprint
                && cloud.len() as u64 == entry.cloud.rows
                && cloud.dims() == entry.cloud.axes.len()
        };
        let Source::File { path, columns } = source else {
            return match load(source) {
                Ok(cloud) if same(&cloud) => Ok(Arc::new(cloud)),
                Ok(_) => Err(format!(
                    "the recording has no points, and its generator now produces different ones: {source}"
                )),
                Err(why) => Err(format!("the recording has no points, and its source cannot be read: {why}")),
            };
        };
        let candidates = candidates(path, &entry.source_paths, self.folder);
        let mut unfit = None;
        for path in candidates.iter().filter(|path| file_of(path).is_file()) {
            let why = match load(&Source::File { path: path.clone(), columns: columns.clone() }) {
                Ok(cloud) if same(&cloud) => return Ok(Arc::new(cloud)),
                Err(CloudError::Format(FormatError::Memory { .. })) => {
                    "there is not enough memory to read this file"
                }
                Err(CloudError::Format(FormatError::Changed { .. })) => {
                    "this file is being changed; open the recording again"
                }
                Err(CloudError::Format(FormatError::Io { .. })) => "this file cannot be read",
                // Details of the error would quote a file that the recording chose.
                _ => "this file does not match it; restore the original",
            };
            unfit = unfit.or(Some((path, why)));
        }
        if let Some((path, why)) = unfit {
            return Err(format!("the recording has no points, and {why}: {}", path.display()));
        }
        let was = entry.source_paths.last().unwrap_or(path);
        Err(format!(
            "the recording does not contain its points, and their file is not next to it; copy it \
             there, open it separately, or record the run with its points: {}",
            was.display()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_stored_relative_and_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let (folder, file) = (folder.path(), folder.path().join("data/points.npz"));
        std::fs::create_dir(folder.join("data")).unwrap();
        std::fs::write(&file, "").unwrap();
        let named = |path: &Path| Source::File { path: path.to_owned(), columns: Default::default() };
        let part = folder.join("data/points.npz:train");
        assert_eq!(stored_paths(&named(&file), folder), [Path::new("data/points.npz"), &file]);
        assert_eq!(stored_paths(&named(&part), folder), [Path::new("data/points.npz:train"), &part]);
        assert_eq!(stored_paths(&named(&file), &folder.join("data")), [Path::new("points.npz"), &file]);
        std::fs::create_dir(folder.join("runs")).unwrap();
        assert_eq!(
            stored_paths(&named(&file), &folder.join("runs")),
            [file.as_path()],
            "a file outside the recording's folder has no relative path"
        );
        assert_eq!(stored_paths(&named(&folder.join("gone.npz")), folder), [""; 0].map(PathBuf::from));
        assert_eq!(
            stored_paths(&Source::Generate { spec: "uniform".to_owned(), seed: 1 }, folder),
            [""; 0].map(PathBuf::from)
        );
    }

    #[test]
    fn files_are_searched_only_in_the_recordings_folder() {
        let there = Path::new("elsewhere");
        let paths =
            ["data/points.npz", "/home/me/data/points.npz", "../points.npz", "/dev/zero", "/proc/kmsg"]
                .map(PathBuf::from);
        let expected =
            ["elsewhere/data/points.npz", "elsewhere/points.npz", "elsewhere/kmsg"].map(PathBuf::from);
        assert_eq!(candidates(Path::new("points.npz"), &paths, there), expected);
        assert_eq!(
            candidates(Path::new("points.npz"), &[], Path::new("")),
            ["points.npz"].map(PathBuf::from),
            "a recording without stored paths"
        );
        assert_eq!(candidates(Path::new("/proc/kmsg"), &[], there), ["elsewhere/kmsg"].map(PathBuf::from));
        let folder = Path::new("/home/me");
        let below =
            ["/home/me/a/b", "/home/me/b", "/home/me/../you/b", "/home/you/b", "/home/me/a/../../../etc/b"]
                .map(|file| is_below(Path::new(file), folder));
        assert_eq!(below, [true, true, false, false, false]);
    }

    /// A hostile file has room for this many paths; comparing each with all others would take minutes.
    #[test]
    fn duplicate_candidate_paths_are_listed_once() {
        let paths: Vec<PathBuf> =
            (0..400_000).map(|at| format!("{}/points.npz", at % 200_000).into()).collect();
        let all = candidates(Path::new("points.npz"), &paths, Path::new("recordings"));
        assert_eq!(all.len(), 200_000 + 1);
        assert_eq!(all[..2], [Path::new("recordings/0/points.npz"), Path::new("recordings/1/points.npz")]);
    }
}

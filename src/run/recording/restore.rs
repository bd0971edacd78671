//! The clouds of a recording without points: read again from where they came from, and only if they are the same.

use std::path::Path;
use std::sync::Arc;

use super::manifest::{CloudEntry, RunEntry};
use super::whereabouts::candidates;
use crate::cloud::formats::{FormatError, file_of};
use crate::cloud::{self, CloudError, Fingerprint, PointCloud, Source};
use crate::progress::Progress;
use crate::run::{CloudFile, QuerySpec, RunSpec};

/// A cloud, or why it is not there.
type Found = Result<Arc<PointCloud>, String>;

/// The clouds of a recording, each looked for once.
pub(super) struct Restored<'a> {
    entries: &'a [CloudEntry],
    found: Vec<Option<Found>>,
    folder: &'a Path,
    progress: &'a dyn Progress,
}

impl<'a> Restored<'a> {
    /// Of the recording in `folder`; `there` are the clouds whose points it holds.
    pub fn new(entries: &'a [CloudEntry], there: Vec<Option<Arc<PointCloud>>>, folder: &'a Path, progress: &'a dyn Progress) -> Self {
        Self { entries, found: there.into_iter().map(|cloud| cloud.map(Ok)).collect(), folder, progress }
    }

    /// A run's clouds, or why one is not there, as a sentence. What the run was asked names the files where they are found.
    pub fn clouds(&mut self, entry: &RunEntry, spec: &mut RunSpec) -> Result<(Arc<PointCloud>, Option<Arc<PointCloud>>), String> {
        let drop_nonfinite = spec.drop_nonfinite;
        let progress = self.progress;
        let data = self.cloud(entry.cloud, |source| cloud::load(source, drop_nonfinite, progress))?;
        if self.is_elsewhere(entry.cloud, &data) {
            spec.data = data.source().clone();
        }
        let Some(at) = entry.query_cloud else { return Ok((data, None)) };
        let frame = Arc::clone(&data);
        let queries = self.cloud(at, |source| cloud::load_queries(source, &frame, drop_nonfinite, progress))?;
        if self.is_elsewhere(at, &queries)
            && let (QuerySpec::File { path, .. }, Source::File { path: found, .. }) = (&mut spec.queries, queries.source())
        {
            path.clone_from(found);
        }
        Ok((data, Some(queries)))
    }

    /// The cloud that a window showed; none where it is not found, or not listed.
    pub fn shown(&mut self, at: usize) -> Option<Arc<PointCloud>> {
        let (drop_nonfinite, progress) = (self.entries.get(at)?.cloud.dropped > 0, self.progress);
        self.cloud(at, |source| cloud::load(source, drop_nonfinite, progress)).ok()
    }

    /// The clouds that were read from where they come from, by their names.
    pub fn sources(&self) -> Vec<Fingerprint> {
        let read = self.entries.iter().zip(&self.found).filter(|(entry, found)| !entry.points && matches!(found, Some(Ok(_))));
        read.map(|(entry, _)| entry.cloud.fingerprint.clone()).collect()
    }

    fn is_elsewhere(&self, at: usize, cloud: &PointCloud) -> bool {
        self.entries[at].cloud.source != *cloud.source()
    }

    /// `check::entry` has seen that the cloud is listed.
    fn cloud(&mut self, at: usize, load: impl Fn(&Source) -> Result<PointCloud, CloudError>) -> Found {
        if let Some(found) = &self.found[at] {
            return found.clone();
        }
        let found = self.look_for(&self.entries[at], load);
        self.found[at] = Some(found.clone());
        found
    }

    fn look_for(&self, entry: &CloudEntry, load: impl Fn(&Source) -> Result<PointCloud, CloudError>) -> Found {
        let CloudFile { source, fingerprint, .. } = &entry.cloud;
        // A fingerprint alone says nothing of the sizes that a recording claims, by which its arrays were judged.
        let same = |cloud: &PointCloud| {
            cloud.fingerprint() == fingerprint && cloud.len() as u64 == entry.cloud.rows && cloud.dims() == entry.cloud.axes.len()
        };
        let Source::File { path, columns } = source else {
            return match load(source) {
                Ok(cloud) if same(&cloud) => Ok(Arc::new(cloud)),
                Ok(_) => Err(format!("the recording has no points, and its generator now produces different ones: {source}")),
                Err(why) => Err(format!("the recording has no points, and its source cannot be read: {why}")),
            };
        };
        let candidates = candidates(path, &entry.places, self.folder);
        let mut unfit = None;
        for path in candidates.iter().filter(|path| file_of(path).is_file()) {
            let why = match load(&Source::File { path: path.clone(), columns: columns.clone() }) {
                Ok(cloud) if same(&cloud) => return Ok(Arc::new(cloud)),
                Err(CloudError::Format(FormatError::Memory { .. })) => "there is not enough memory to read this file",
                Err(CloudError::Format(FormatError::Changed { .. })) => "this file is being changed; open the recording again",
                Err(CloudError::Format(FormatError::Io { .. })) => "this file cannot be read",
                // What is wrong with it would quote a file that the recording chose.
                _ => "this file does not match it; restore the original",
            };
            unfit = unfit.or(Some((path, why)));
        }
        if let Some((path, why)) = unfit {
            return Err(format!("the recording has no points, and {why}: {}", path.display()));
        }
        let was = entry.places.last().unwrap_or(path);
        Err(format!(
            "the recording has no points, and their file is not in its folder; put it there, open it yourself, or record the run with its points: {}",
            was.display()
        ))
    }
}

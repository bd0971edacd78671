//! The clouds of a recording without points: read again from where they came from, and only if they are the same.

use std::sync::Arc;

use super::manifest::{CloudEntry, RunEntry};
use crate::cloud::{self, PointCloud};
use crate::progress::Progress;
use crate::run::CloudFile;

/// A cloud, or why it is not there.
type Found = Result<Arc<PointCloud>, String>;

/// The clouds of a recording, each looked for once.
pub(super) struct Restored<'a> {
    entries: &'a [CloudEntry],
    found: Vec<Option<Found>>,
    progress: &'a dyn Progress,
}

impl<'a> Restored<'a> {
    pub fn new(entries: &'a [CloudEntry], there: Vec<Option<Arc<PointCloud>>>, progress: &'a dyn Progress) -> Self {
        Self { entries, found: there.into_iter().map(|cloud| cloud.map(Ok)).collect(), progress }
    }

    /// A run's clouds, or why one is not there, as a sentence.
    pub fn clouds(&mut self, run: &RunEntry) -> Result<(Arc<PointCloud>, Option<Arc<PointCloud>>), String> {
        let drop_nonfinite = run.run.spec.drop_nonfinite;
        let progress = self.progress;
        let data = self.cloud(run.cloud, |file| cloud::load(&file.source, drop_nonfinite, progress))?;
        let Some(queries) = run.query_cloud else { return Ok((data, None)) };
        let frame = Arc::clone(&data);
        let queries = self.cloud(queries, |file| cloud::load_queries(&file.source, &frame, drop_nonfinite, progress))?;
        Ok((data, Some(queries)))
    }

    /// `check::entry` has seen that the cloud is listed.
    fn cloud(&mut self, at: usize, load: impl FnOnce(&CloudFile) -> Result<PointCloud, cloud::CloudError>) -> Found {
        if let Some(found) = &self.found[at] {
            return found.clone();
        }
        let file = &self.entries[at].cloud;
        let found = match load(file) {
            Ok(cloud) if *cloud.fingerprint() == file.fingerprint => Ok(Arc::new(cloud)),
            Ok(_) => Err(format!("the recording is without points, and those of its source have changed: {}", file.source)),
            Err(why) => Err(format!("the recording is without points, and its source cannot be read: {why}")),
        };
        self.found[at] = Some(found.clone());
        found
    }
}

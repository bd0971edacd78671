//! Reading and generating: what is asked for, and the work.

use std::sync::Arc;

use crate::app::model::files::{FileState, file_name};
use crate::cloud::{CloudError, PointCloud, Source, load, load_queries};
use crate::progress::Progress;

#[derive(Clone, Debug)]
pub struct LoadJob {
    pub source: Source,
    /// Whether rows with NaN or ±∞ are left out.
    pub drop_nonfinite: bool,
    /// For a file of queries: the data in whose frame they are.
    pub data: Option<Arc<PointCloud>>,
}

/// How a load ended. Cancelled, it is [`CloudError::Cancelled`].
pub type Loaded = Result<Arc<PointCloud>, CloudError>;

impl LoadJob {
    /// Reads or generates it, and says what the source's file was before: whoever changes the file meanwhile has changed what
    /// was read.
    pub fn work(&self, progress: &dyn Progress) -> (Loaded, Option<FileState>) {
        let file = FileState::of(&self.source);
        let loaded = match &self.data {
            None => load(&self.source, self.drop_nonfinite, progress),
            Some(data) => load_queries(&self.source, data, self.drop_nonfinite, progress),
        };
        (loaded.map(Arc::new), file)
    }

    /// A file's name or a generator's spec.
    pub fn name(&self) -> String {
        match &self.source {
            Source::File { path, .. } => file_name(path),
            Source::Generate { spec, .. } => spec.clone(),
            Source::Coordinates(at) => at.clone(),
        }
    }
}

//! The neighbours of every row, and their graph as a file.

use std::path::Path;
use std::sync::Arc;

use crate::app::features::errors::of_run;
use crate::app::model::Session;
use crate::cloud::PointCloud;
use crate::export::ExportError;
use crate::export::graph::GraphForm;
use crate::progress::{Progress, Stretch};
use crate::run::graph::{Cancelled, KnnGraph};
use crate::run::{Engines, Resident, RunError, RunRecord, RunSpec};
use crate::text;

/// Why there is nothing to show.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    Cancelled,
    /// The result in one sentence.
    Said(String),
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

/// A question that has every row of a cloud as a query, without itself.
#[derive(Clone, Debug)]
pub struct Question {
    pub cloud: Arc<PointCloud>,
    pub spec: RunSpec,
}

impl Question {
    /// Searches.
    pub fn answer(&self, resident: &Resident, progress: &dyn Progress) -> Result<Arc<RunRecord>, Failure> {
        let engines = Engines::default().sharing(resident.clone());
        answer(engines, &self.spec, &self.cloud, None, progress).map(Arc::new)
    }
}

/// Searches, and words what kept it from being done.
pub fn answer(
    mut engines: Engines,
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    queries: Option<&Arc<PointCloud>>,
    progress: &dyn Progress,
) -> Result<RunRecord, Failure> {
    let mut stage = |_: &str, fraction: f32| {
        progress.update((f64::from(fraction) * 1000.0) as u64, 1000);
        !progress.cancelled()
    };
    engines.answer(spec, cloud, queries, &mut stage).map_err(|why| match why {
        RunError::Cancelled => Failure::Cancelled,
        why => Failure::Said(of_run(&why)),
    })
}

/// The neighbours of every row: found already, or asked for.
#[derive(Clone, Debug)]
pub enum Neighbours {
    Known(Arc<RunRecord>),
    Asked(Question),
}

impl Neighbours {
    /// Those that the analysis found, where it asked the same.
    pub fn of(question: Question, session: &Session) -> Self {
        let same = |record: &RunRecord| {
            let asked = |spec: &RunSpec| (spec.k, spec.metric, spec.order, spec.seed);
            asked(&record.spec) == asked(&question.spec)
        };
        match session.analysed().filter(|analysed| same(&analysed.record)) {
            Some(analysed) => Self::Known(Arc::clone(&analysed.record)),
            None => Self::Asked(question),
        }
    }

    /// The cloud whose rows they are of.
    pub fn cloud(&self) -> &Arc<PointCloud> {
        match self {
            Self::Known(record) => &record.cloud,
            Self::Asked(question) => &question.cloud,
        }
    }

    /// What is asked of every row.
    pub fn spec(&self) -> &RunSpec {
        match self {
            Self::Known(record) => &record.spec,
            Self::Asked(question) => &question.spec,
        }
    }

    /// `The 15 nearest of each of 1,797 rows, which Analysis has found.`
    pub fn sentence(&self) -> String {
        let (rows, k, then) = match self {
            Self::Known(record) => (record.query_rows.len(), record.spec.k, "which Analysis has found."),
            Self::Asked(question) => (question.cloud.len(), question.spec.k, "with the k and the metric on the left. They are searched first."),
        };
        format!("The {} nearest of each of {}, {then}", text::thousands(k as u64), text::count(rows as u64, "row", "rows"))
    }

    pub fn find(&self, resident: &Resident, progress: &dyn Progress) -> Result<Arc<RunRecord>, Failure> {
        match self {
            Self::Known(record) => Ok(Arc::clone(record)),
            Self::Asked(question) => question.answer(resident, progress),
        }
    }

    /// Writes their graph.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    pub fn write(&self, form: GraphForm, path: &Path, resident: &Resident, progress: &dyn Progress) -> Result<(), String> {
        // How the times are to each other is not known; the search is the longer one of many dimensions.
        let searched = if matches!(self, Self::Asked(_)) { 0.7 } else { 0.0 };
        let record = self.find(resident, &Stretch { of: progress, from: 0.0, to: searched }).map_err(|why| match why {
            Failure::Cancelled => ExportError::Cancelled.to_string(),
            Failure::Said(why) => format!("cannot find the neighbours: {why}"),
        })?;
        let graph = KnnGraph::of_run(&record).map_err(|why| format!("cannot write: {why}: {}", path.display()))?;
        let writing = Stretch { of: progress, from: searched, to: 1.0 };
        form.write(&graph, &record.cloud, path, &writing).map_err(|why| why.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::cloud;
    use crate::progress::Silent;
    use crate::run::QuerySpec;

    fn asked(n: usize, k: usize) -> Neighbours {
        let cloud = cloud(n, 2, 1);
        let spec = RunSpec { exclude_self: true, ..RunSpec::new(cloud.source().clone(), QuerySpec::All, k) };
        Neighbours::Asked(Question { cloud, spec })
    }

    #[test]
    fn what_is_asked_for_is_found_and_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("graph.tsv");
        asked(9, 2).write(GraphForm::Edges, &path, &Resident::default(), &Silent).expect("a file");
        assert_eq!(std::fs::read_to_string(&path).expect("text").lines().count(), 1 + 9 * 2);
        assert_eq!(asked(9, 2).sentence(), "The 2 nearest of each of 9 rows, with the k and the metric on the left. They are searched first.");
    }

    #[test]
    fn one_row_has_no_graph_and_a_cancelled_one_is_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("graph.npz");
        let why = asked(1, 1).write(GraphForm::Umap, &path, &Resident::default(), &Silent).expect_err("one row");
        assert!(why.contains("at least two are needed") && why.ends_with("graph.npz"), "{why}");
        let stopped = std::sync::atomic::AtomicBool::new(true);
        let why = asked(9, 2).write(GraphForm::Csr, &path, &Resident::default(), &stopped).expect_err("cancelled");
        assert!(why == "cancelled" && !path.exists(), "{why}");
    }
}

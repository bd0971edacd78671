//! Searches the neighbours of every row once, and computes all analyses from them.
//!
//! | module | role |
//! |---|---|
//! | `state` | the analyses, their results, comparisons with other files |
//! | `apply` | starts them, stores results, writes the graph |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::color::column_title;
use super::errors::{cloud_error, run_error};
use super::opening::{LoadJob, LoadedCloud};
use crate::app::features::analysis::state::{
    AnalysisKind, AnalysisResults, AnalysisView, FileComparison, LeakResult,
};
use crate::app::model::{Session, UnusedColumn, file_name};
use crate::cloud::formats::{self, FormatError};
use crate::cloud::{CloudError, ColumnChoice, PointCloud, Source};
use crate::export::ExportError;
use crate::export::graph::GraphFormat;
use crate::progress::{Progress, SubProgress};
use crate::run::graph::labels::{self, Classification, Labels};
use crate::run::graph::other_cloud::{self, LeakCandidates, OverlapError};
use crate::run::graph::summary::{self, Components, Duplicates, Hubs, LocalDimensions, ScoreSummary};
use crate::run::graph::{Analysis, AnalysisError, Cancelled, KnnGraph, groups, scores, surface};
use crate::run::stats::SummaryStats;
use crate::run::{EnginePool, LoadedSpec, QuerySpec, ResidentPoints, RunError, RunRecord, RunSpec};
use crate::text;

pub mod apply;
pub mod state;

/// An analysis request.
#[derive(Clone, Debug)]
pub struct AnalysisRequest {
    pub question: CloudSearch,
    pub labels: Option<LabelColumn>,
    /// Maximum distance of near-duplicates, in the metric's unit.
    pub eps: f64,
}

#[derive(Clone, Debug)]
pub struct LabelColumn {
    pub path: PathBuf,
    /// The column's name or number.
    pub key: String,
    /// Its display name.
    pub title: String,
}

/// Key and title of the label column: the one chosen in the pane, if the file has it, else the file's label.
pub fn label_column(view: &AnalysisView, session: &Session) -> Option<(String, String)> {
    let chosen = match &view.labels {
        Some(key) if key.is_empty() => return None,
        Some(key) => column_title(session, key).map(|title| (key.clone(), title)),
        None => None,
    };
    let told = || session.roles.label.column().map(|column| (column.key.clone(), column.name.clone()));
    chosen.or_else(told)
}

/// Computes all analyses; `None` if cancelled.
///
/// # Errors
/// Why the neighbours could not be found, as a sentence. An unusable label column fails only its own
/// analysis.
pub fn work(
    asked: &AnalysisRequest,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<Option<AnalysisResults>, String> {
    none_if_cancelled(analysed(asked, resident, progress))
}

fn analysed(
    asked: &AnalysisRequest,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<AnalysisResults, Failure> {
    let AnalysisRequest { question, labels, eps } = asked;
    let cloud = &question.cloud;
    // Before the search, which may take long.
    let column = labels.as_ref().map(|of| {
        question.cloud.check_file(formats::column(&of.path, &of.key, progress)).map_err(|why| why.to_string())
    });
    let record = question.answer(resident, progress)?;
    let graph = KnnGraph::of_run(&record).map_err(|why| Failure::Message(why.to_string()))?;
    let mut all = Analysis {
        density: Some(scores::k_distances(&graph, progress)?),
        lof: Some(scores::outlier_factors(&graph, progress)?),
        occurrences: Some(scores::occurrences(&graph, progress)?),
        lid: Some(scores::dimensions(&graph, progress)?),
        duplicates: Some(groups::duplicates(&graph, *eps, progress)?),
        components: Some(groups::components(&graph, progress)?),
        shades: (cloud.dims() == 3).then(|| surface::shades(&graph, cloud, progress)).transpose()?,
        ..Analysis::default()
    };
    let mut unlabelled = None;
    if let Some(column) = column {
        match column
            .and_then(|column| Labels::of_column(&column, cloud, &graph).map_err(|why| why.to_string()))
        {
            Ok(labels) => {
                let votes = labels::votes(&graph, &labels, progress)?;
                all.labels = Some((labels, votes));
            }
            Err(why) => unlabelled = Some(why),
        }
    }
    let classified = all.labels.as_ref().map(|(labels, votes)| Classification::new(labels, votes));
    let labels = labels.as_ref().map(|of| of.title.clone());
    let sentences = sentences(asked, &graph, &all, (labels.as_deref(), classified.as_ref(), unlabelled));
    drop(graph);
    Ok(AnalysisResults { record, all, labels, classified, sentences })
}

/// A sentence for each analysis.
fn sentences(
    asked: &AnalysisRequest,
    graph: &KnnGraph<'_>,
    all: &Analysis,
    (labels, classified, unlabelled): (Option<&str>, Option<&Classification>, Option<String>),
) -> Vec<(AnalysisKind, Result<String, String>)> {
    let (cloud, metric) = (&asked.question.cloud, asked.question.spec.metric);
    let unit = metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
    let scores = |values: &[f64]| ScoreSummary::new(graph, cloud, values).sentence();
    let of = |kind: AnalysisKind| {
        Some(Ok(match kind {
            AnalysisKind::Density => {
                let nth = text::ordinal(graph.k().min(graph.len() - 1) as u64);
                format!("{} to the {nth} neighbour: {}", metric.heading(), scores(all.density.as_ref()?))
            }
            AnalysisKind::Outliers => scores(all.lof.as_ref()?),
            AnalysisKind::Hubness => Hubs::new(graph, cloud, all.occurrences.as_ref()?)?.sentence(),
            AnalysisKind::Dimension => LocalDimensions::new(all.lid.as_ref()?).sentence(),
            AnalysisKind::Labels => match (labels, classified, &unlabelled) {
                (Some(column), Some(classified), _) => summary::labels(column, classified),
                (Some(column), None, Some(why)) => return Some(Err(format!("column {column}: {why}"))),
                _ => return None,
            },
            AnalysisKind::Duplicates => Duplicates::new(all.duplicates.as_ref()?, asked.eps).sentence(&unit),
            AnalysisKind::Components => Components::new(all.components.as_ref()?).sentence(),
            AnalysisKind::Relief => {
                let shades = all.shades.as_ref()?;
                let flat = shades.iter().filter(|shade| shade.is_none()).count() as u64;
                let lit = "lit from the north-west, 45° above the horizon";
                match flat {
                    0 => lit.to_owned(),
                    _ => format!("{lit}; {} on lines, without a surface", text::count(flat, "row", "rows")),
                }
            }
            AnalysisKind::Overlap | AnalysisKind::Leaks => return None,
        }))
    };
    AnalysisKind::ALL.iter().filter_map(|&kind| Some((kind, of(kind)?))).collect()
}

// The neighbours of every row, and their graph as a file.

#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    Cancelled,
    /// An error in one sentence.
    Message(String),
}

impl From<Cancelled> for Failure {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<AnalysisError> for Failure {
    fn from(why: AnalysisError) -> Self {
        match why {
            AnalysisError::Cancelled(_) => Self::Cancelled,
            AnalysisError::Scratch(_) => Self::Message(why.to_string()),
        }
    }
}

/// Maps cancellation to `None`.
fn none_if_cancelled<T>(done: Result<T, Failure>) -> Result<Option<T>, String> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(Failure::Cancelled) => Ok(None),
        Err(Failure::Message(why)) => Err(why),
    }
}

/// A search over a cloud; analyses query every row, excluding itself.
#[derive(Clone, Debug)]
pub struct CloudSearch {
    pub cloud: Arc<PointCloud>,
    pub spec: RunSpec,
}

impl CloudSearch {
    /// Runs the search, sharing points that engines already hold.
    ///
    /// # Errors
    /// If the search fails.
    pub fn answer(
        &self,
        resident: &ResidentPoints,
        progress: &dyn Progress,
    ) -> Result<Arc<RunRecord>, Failure> {
        let engines = EnginePool::default().sharing(resident.clone());
        answer(engines, &self.spec, &self.cloud, None, progress).map(Arc::new)
    }

    /// Runs the search; `None` if cancelled.
    ///
    /// # Errors
    /// Why the search failed, as a sentence.
    pub fn answer_unless_cancelled(
        &self,
        resident: &ResidentPoints,
        progress: &dyn Progress,
    ) -> Result<Option<Arc<RunRecord>>, String> {
        none_if_cancelled(self.answer(resident, progress))
    }
}

/// Searches, and words its errors.
pub fn answer(
    mut engines: EnginePool,
    spec: &RunSpec,
    cloud: &Arc<PointCloud>,
    queries: Option<&Arc<PointCloud>>,
    progress: &dyn Progress,
) -> Result<RunRecord, Failure> {
    let mut stage = |_: &str, fraction: f32| {
        progress.update((f64::from(fraction) * 1000.0) as u64, 1000);
        !progress.cancelled()
    };
    engines.answer(LoadedSpec::new(spec, cloud, queries), &mut stage).map_err(|why| match why {
        RunError::Cancelled => Failure::Cancelled,
        why => Failure::Message(run_error(&why)),
    })
}

/// The neighbours of every row: already found, or to be searched.
#[derive(Clone, Debug)]
pub enum NeighborSource {
    Known(Arc<RunRecord>),
    Asked(CloudSearch),
}

impl NeighborSource {
    /// Uses the analysis's neighbours if its search was the same.
    pub fn new(question: CloudSearch, session: &Session) -> Self {
        let same = |record: &RunRecord| {
            let asked = |spec: &RunSpec| (spec.k, spec.metric, spec.order, spec.seed);
            asked(&record.spec) == asked(&question.spec)
        };
        match session.analysed().filter(|analysed| same(&analysed.record)) {
            Some(analysed) => Self::Known(Arc::clone(&analysed.record)),
            None => Self::Asked(question),
        }
    }

    pub fn cloud(&self) -> &Arc<PointCloud> {
        match self {
            Self::Known(record) => &record.cloud,
            Self::Asked(question) => &question.cloud,
        }
    }

    pub fn spec(&self) -> &RunSpec {
        match self {
            Self::Known(record) => &record.spec,
            Self::Asked(question) => &question.spec,
        }
    }

    /// `The 15 nearest neighbours of 1,797 rows, from Analysis.`
    pub fn sentence(&self) -> String {
        let (rows, k, then) = match self {
            Self::Known(record) => (record.query_rows.len(), record.spec.k, "from Analysis."),
            Self::Asked(question) => {
                (question.cloud.len(), question.spec.k, "searched first with k and metric on the left.")
            }
        };
        format!(
            "The {} nearest neighbours of {}, {then}",
            text::thousands(k as u64),
            text::count(rows as u64, "row", "rows")
        )
    }

    pub fn find(
        &self,
        resident: &ResidentPoints,
        progress: &dyn Progress,
    ) -> Result<Arc<RunRecord>, Failure> {
        match self {
            Self::Known(record) => Ok(Arc::clone(record)),
            Self::Asked(question) => question.answer(resident, progress),
        }
    }

    /// Writes the graph of these neighbours to a file.
    ///
    /// # Errors
    /// The failure, as a sentence.
    pub fn write(
        &self,
        form: GraphFormat,
        path: &Path,
        resident: &ResidentPoints,
        progress: &dyn Progress,
    ) -> Result<(), String> {
        // The ratio of the times is unknown; with many dimensions the search takes longer.
        let searched = if matches!(self, Self::Asked(_)) { 0.7 } else { 0.0 };
        let record = self
            .find(resident, &SubProgress { parent: progress, from: 0.0, to: searched })
            .map_err(|why| match why {
                Failure::Cancelled => ExportError::Cancelled.to_string(),
                Failure::Message(why) => format!("cannot find the neighbours: {why}"),
            })?;
        let graph =
            KnnGraph::of_run(&record).map_err(|why| format!("cannot write: {why}: {}", path.display()))?;
        let writing = SubProgress { parent: progress, from: searched, to: 1.0 };
        form.write(&graph, &record.cloud, path, &writing).map_err(|why| why.to_string())
    }
}

// Comparison with another file: shared neighbours, and rows close to its rows.

#[derive(Clone, Debug)]
pub enum ComparisonRequest {
    /// Neighbours of every row here, and the coordinate columns there.
    Overlap(NeighborSource, ColumnChoice),
    /// The search over every row here, and the maximum distance.
    Leaks(CloudSearch, f64),
}

/// Computes a comparison; `None` if cancelled.
///
/// # Errors
/// The failure, as a sentence that ends with the path.
pub fn compare(
    asked: &ComparisonRequest,
    path: &Path,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<Option<FileComparison>, String> {
    none_if_cancelled(match asked {
        ComparisonRequest::Overlap(neighbours, columns) => {
            overlap(neighbours, columns, path, resident, progress)
        }
        ComparisonRequest::Leaks(question, eps) => leaks(question, *eps, path, resident, progress),
    })
}

fn overlap(
    neighbours: &NeighborSource,
    columns: &ColumnChoice,
    path: &Path,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<FileComparison, Failure> {
    let spec = neighbours.spec();
    let LoadedCloud { cloud: there, left_out, .. } =
        load_same_rows(neighbours.cloud(), path, columns, &sub_progress(progress, 0.0, 0.2))?;
    let record = neighbours.find(resident, &sub_progress(progress, 0.2, 0.55))?;
    let theirs = CloudSearch { spec: RunSpec { data: there.source().clone(), ..spec.clone() }, cloud: there };
    // The other file's cloud is not shown, so its points do not stay resident.
    let theirs = theirs.answer(&ResidentPoints::default(), &sub_progress(progress, 0.55, 0.9))?;
    let graph = |record| {
        KnnGraph::of_run(record).map_err(|why| Failure::Message(format!("{why}: {}", path.display())))
    };
    let (here, theirs) = (graph(&*record)?, graph(&*theirs)?);
    let shares = other_cloud::overlap(&here, &theirs, &sub_progress(progress, 0.9, 1.0))
        .map_err(|why| overlap_failure(why, path))?;
    let mut values = vec![f64::NAN; record.cloud.len()];
    shares.iter().enumerate().for_each(|(point, &share)| values[here.row(point) as usize] = share);
    let other = file_name(path);
    let sentence =
        SummaryStats::new(shares).map_or_else(String::new, |spread| summary::overlap(&other, &spread));
    let without = not_used_there(&left_out);
    let sentence = format!("{sentence}; k = {}{without}", text::thousands(here.k() as u64));
    let cloud = Arc::clone(&record.cloud);
    Ok(FileComparison { cloud, other, values: values.into(), sentence, leaks: None })
}

fn leaks(
    question: &CloudSearch,
    eps: f64,
    path: &Path,
    resident: &ResidentPoints,
    progress: &dyn Progress,
) -> Result<FileComparison, Failure> {
    let CloudSearch { cloud, spec } = question;
    let there = load_other(cloud, path, spec.drop_nonfinite, &sub_progress(progress, 0.0, 0.2))?;
    let nearest = |data: &Arc<PointCloud>, queries: &PointCloud| {
        let (path, columns) = match queries.source() {
            Source::File { path, columns } => (path.clone(), columns.clone()),
            other => (PathBuf::from(other.to_string()), ColumnChoice::Default),
        };
        let queries = QuerySpec::File { path, columns };
        RunSpec { data: data.source().clone(), queries, k: 1, exclude_self: false, ..spec.clone() }
    };
    let engines = EnginePool::default().sharing(resident.clone());
    let progress_of_theirs = sub_progress(progress, 0.2, 0.6);
    let theirs = answer(engines, &nearest(cloud, &there), cloud, Some(&there), &progress_of_theirs)?;
    // Several rows here may be near one there, and vice versa, so both directions are searched.
    let ours = answer(
        EnginePool::default(),
        &nearest(&there, cloud),
        &there,
        Some(cloud),
        &sub_progress(progress, 0.6, 1.0),
    )?;
    let mut values = vec![f64::NAN; cloud.len()];
    let found = LeakCandidates::new(&ours.neighbors, spec.metric, eps);
    ours.query_rows
        .iter()
        .zip(&found.nearest)
        .for_each(|(&row, &(_, distance))| values[row as usize] = distance);
    let leaking = LeakResult {
        theirs: LeakCandidates::new(&theirs.neighbors, spec.metric, eps),
        record: Arc::new(theirs),
    };
    Ok(FileComparison::leaking(cloud, file_name(path), values.into(), leaking))
}

fn overlap_failure(why: OverlapError, path: &Path) -> Failure {
    match why {
        OverlapError::Cancelled => Failure::Cancelled,
        why => Failure::Message(format!("{why}: {}", path.display())),
    }
}

/// Loads another file and checks that it has the cloud's rows.
fn load_same_rows(
    cloud: &PointCloud,
    path: &Path,
    columns: &ColumnChoice,
    progress: &dyn Progress,
) -> Result<LoadedCloud, Failure> {
    let source = Source::File { path: path.to_owned(), columns: columns.clone() };
    let job = LoadJob { source, drop_nonfinite: cloud.dropped() > 0, data: None, infers_choices: true };
    let loaded = load(&job, progress)?;
    other_cloud::check_same_rows(cloud, &loaded.cloud).map_err(|why| overlap_failure(why, path))?;
    Ok(loaded)
}

/// Opens another file of the cloud's rows; `None` if cancelled.
///
/// # Errors
/// The failure, as a sentence that ends with the path.
pub fn open_same_rows(
    cloud: &PointCloud,
    path: &Path,
    columns: &ColumnChoice,
    progress: &dyn Progress,
) -> Result<Option<LoadedCloud>, String> {
    none_if_cancelled(load_same_rows(cloud, path, columns, progress))
}

/// The end of a sentence about another file: which of its numeric columns are not coordinates.
pub fn not_used_there(left_out: &[UnusedColumn]) -> String {
    let columns: Vec<&str> = left_out.iter().map(|column| column.name.as_str()).collect();
    if columns.is_empty() { String::new() } else { format!("; not used there: {}", columns.join(", ")) }
}

fn sub_progress(parent: &dyn Progress, from: f64, to: f64) -> SubProgress<'_> {
    SubProgress { parent, from, to }
}

fn load(job: &LoadJob, progress: &dyn Progress) -> Result<LoadedCloud, Failure> {
    job.work(progress).0.map_err(|why| match why {
        CloudError::Cancelled => Failure::Cancelled,
        why => Failure::Message(cloud_error(&why)),
    })
}

/// Loads the other file with the cloud's columns, by name or, if the names are missing, by number.
fn load_other(
    cloud: &Arc<PointCloud>,
    path: &Path,
    drop_nonfinite: bool,
    progress: &dyn Progress,
) -> Result<Arc<PointCloud>, Failure> {
    let job = |columns: ColumnChoice| {
        let source = Source::File { path: path.to_owned(), columns };
        LoadJob { source, drop_nonfinite, data: Some(Arc::clone(cloud)), infers_choices: false }
    };
    let numbers = match cloud.source() {
        Source::File { columns: ColumnChoice::Named(names), .. }
            if names.iter().all(|name| name.parse::<usize>().is_ok()) =>
        {
            Some(names.clone())
        }
        _ => None,
    };
    let by_name = job(ColumnChoice::Default);
    let opened = match (by_name.work(progress).0, numbers) {
        (
            Err(CloudError::Format(FormatError::NoColumn { .. } | FormatError::Column { .. })),
            Some(numbers),
        ) => load(&job(ColumnChoice::Named(numbers)), progress)?,
        (Err(CloudError::Cancelled), _) => return Err(Failure::Cancelled),
        (opened, _) => opened.map_err(|why| Failure::Message(cloud_error(&why)))?,
    };
    Ok(opened.cloud)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use tempfile::TempDir;

    use super::*;
    use crate::app::testing::{cloud, file_in, folder};
    use crate::progress::NoProgress;

    /// Two clusters on a line with one label each; one row of the first has the other label, and one row
    /// occurs twice.
    fn asked(folder: &TempDir, labels: &str) -> AnalysisRequest {
        let path = file_in(folder, "a.csv", "x,kind\n0,a\n1,a\n2,a\n3.5,b\n100,b\n101,b\n102,b\n102,b\n");
        let source = Source::File { path: path.clone(), columns: ColumnChoice::Named(vec!["x".to_owned()]) };
        let cloud = Arc::new(crate::cloud::load(&source, false, &NoProgress).expect("a cloud"));
        let spec = RunSpec { exclude_self: true, ..RunSpec::new(source, QuerySpec::All, 3) };
        let labels = Some(LabelColumn { path, key: labels.to_owned(), title: labels.to_owned() });
        AnalysisRequest { question: CloudSearch { cloud, spec }, labels, eps: 0.0 }
    }

    #[test]
    fn one_pass_computes_all_single_cloud_analyses() {
        let folder = folder();
        let analysed = work(&asked(&folder, "kind"), &ResidentPoints::default(), &NoProgress)
            .expect("no failure")
            .expect("not cancelled");
        let own: Vec<AnalysisKind> = AnalysisKind::ALL
            .iter()
            .copied()
            .filter(|&kind| !kind.is_comparison() && kind != AnalysisKind::Relief)
            .collect();
        assert_eq!(analysed.sentences.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), own);
        let said = |kind| {
            analysed
                .sentences
                .iter()
                .find(|(of, _)| *of == kind)
                .and_then(|(_, said)| said.as_ref().ok())
                .expect("worked out")
        };
        assert!(
            said(AnalysisKind::Components).starts_with("2 groups of mutual neighbours"),
            "{}",
            said(AnalysisKind::Components)
        );
        assert!(said(AnalysisKind::Duplicates).starts_with("1 group of rows at distance 0, 2 rows"));
        assert!(
            said(AnalysisKind::Labels).contains("leave-one-out accuracy 87.50 % (7 of 8)"),
            "{}",
            said(AnalysisKind::Labels)
        );
        assert_eq!(
            (
                analysed.disagreeing(None),
                analysed.disagreeing(Some((1, 0))),
                analysed.disagreeing(Some((0, 1)))
            ),
            (vec![3], vec![3], vec![])
        );
        for kind in own {
            assert_eq!(analysed.values(kind).expect("worked out").len(), 8, "{kind:?}");
        }
        let sizes = analysed.values(AnalysisKind::Duplicates).expect("groups");
        assert!(sizes[..6].iter().all(|size| size.is_nan()) && sizes[6..] == [2.0, 2.0]);
    }

    #[test]
    fn a_missing_label_column_fails_only_the_label_analysis() {
        let folder = folder();
        let analysed = work(&asked(&folder, "colour"), &ResidentPoints::default(), &NoProgress)
            .expect("no failure")
            .expect("not cancelled");
        let labels = analysed.sentences.iter().find(|(kind, _)| *kind == AnalysisKind::Labels);
        let (_, said) = labels.expect("a sentence");
        assert!(said.as_ref().is_err_and(|why| why.contains("colour")), "{said:?}");
        assert!(
            analysed.values(AnalysisKind::Labels).is_none()
                && analysed.values(AnalysisKind::Outliers).is_some()
        );
    }

    #[test]
    fn analysis_can_be_cancelled() {
        let folder = folder();
        let asked = AnalysisRequest { labels: None, ..asked(&folder, "kind") };
        assert!(
            work(&asked, &ResidentPoints::default(), &AtomicBool::new(true)).expect("no failure").is_none()
        );
    }

    fn neighbours(n: usize, k: usize) -> NeighborSource {
        let cloud = cloud(n, 2, 1);
        let spec = RunSpec { exclude_self: true, ..RunSpec::new(cloud.source().clone(), QuerySpec::All, k) };
        NeighborSource::Asked(CloudSearch { cloud, spec })
    }

    #[test]
    fn edge_export_searches_neighbours_first() {
        let folder = folder();
        let path = folder.path().join("graph.tsv");
        neighbours(9, 2)
            .write(GraphFormat::Edges, &path, &ResidentPoints::default(), &NoProgress)
            .expect("a file");
        assert_eq!(std::fs::read_to_string(&path).expect("text").lines().count(), 1 + 9 * 2);
        assert_eq!(
            neighbours(9, 2).sentence(),
            "The 2 nearest neighbours of 9 rows, searched first with k and metric on the left."
        );
    }

    #[test]
    fn one_row_graphs_and_cancelled_exports_write_nothing() {
        let folder = folder();
        let path = folder.path().join("graph.npz");
        let why = neighbours(1, 1)
            .write(GraphFormat::Umap, &path, &ResidentPoints::default(), &NoProgress)
            .expect_err("one row");
        assert!(why.contains("a graph needs at least two") && why.ends_with("graph.npz"), "{why}");
        let stopped = std::sync::atomic::AtomicBool::new(true);
        let why = neighbours(9, 2)
            .write(GraphFormat::Csr, &path, &ResidentPoints::default(), &stopped)
            .expect_err("cancelled");
        assert!(why == "cancelled" && !path.exists(), "{why}");
    }

    fn question(path: &Path, columns: ColumnChoice, k: usize) -> CloudSearch {
        let source = Source::File { path: path.to_owned(), columns };
        let cloud = Arc::new(crate::cloud::load(&source, false, &NoProgress).expect("a cloud"));
        CloudSearch { cloud, spec: RunSpec { exclude_self: true, ..RunSpec::new(source, QuerySpec::All, k) } }
    }

    fn done(asked: &ComparisonRequest, path: &Path) -> Result<FileComparison, String> {
        let compared = compare(asked, path, &ResidentPoints::default(), &NoProgress);
        compared.map(|comparison| comparison.expect("not cancelled"))
    }

    #[test]
    fn overlap_is_the_share_of_common_neighbours_per_row() {
        let folder = folder();
        let here = file_in(&folder, "here.csv", "x\n0\n1\n2.5\n4.5\n");
        let there = file_in(&folder, "there.csv", "u\n0\n1\n4.5\n2.5\n");
        let asked = ComparisonRequest::Overlap(
            NeighborSource::Asked(question(&here, ColumnChoice::Default, 2)),
            ColumnChoice::Default,
        );
        let comparison = done(&asked, &there).expect("the same rows");
        assert_eq!(comparison.values[..], [0.5, 0.5, 1.0, 1.0]);
        assert!(
            comparison.sentence.starts_with("share of neighbours in common with there.csv: mean 0.75")
                && comparison.sentence.ends_with("; k = 2"),
            "{}",
            comparison.sentence
        );
        let fewer = file_in(&folder, "fewer.csv", "u\n0\n1\n");
        let why = done(&asked, &fewer).expect_err("other rows");
        assert!(
            why.starts_with("the clouds have different rows: 4 points in the first, 2 in the second: ")
                && why.ends_with("fewer.csv"),
            "{why}"
        );
        assert!(
            compare(&asked, &there, &ResidentPoints::default(), &AtomicBool::new(true))
                .expect("no failure")
                .is_none()
        );
    }

    #[test]
    fn leaks_are_counted_in_both_directions() {
        let folder = folder();
        let here = file_in(&folder, "here.csv", "kind,x\n0,0\n0,1\n1,1\n1,50\n");
        let there = file_in(&folder, "there.csv", "x,more\n1,2\n1.5,2\n80,2\n");
        let by_number = ColumnChoice::Named(vec!["1".to_owned()]);
        let asked = ComparisonRequest::Leaks(question(&here, by_number.clone(), 7), 0.0);
        let comparison = done(&asked, &there).expect("x is in both");
        assert_eq!(comparison.values[..], [1.0, 0.0, 0.0, 30.0]);
        assert_eq!(comparison.leaking_rows(), [1, 2]);
        assert_eq!(
            comparison.sentence,
            "1 of 3 rows of there.csv (33.33 %) within 0 of a row here, 1 at 0; 2 rows here are within 0 of \
             its rows"
        );
        let wider = comparison.within(1.0);
        assert_eq!(wider.leaking_rows(), [0, 1, 2]);
        assert!(
            wider.sentence.starts_with("2 of 3 rows")
                && wider.sentence.ends_with("3 rows here are within 1 of its rows"),
            "{}",
            wider.sentence
        );
        // Without names, column numbers apply to both.
        let unnamed = file_in(&folder, "unnamed.csv", "a,b\n9,1\n");
        assert_eq!(done(&asked, &unnamed).expect("by number").leaking_rows(), [1, 2]);
        let why = done(&asked, &file_in(&folder, "narrow.csv", "a\n9\n")).expect_err("no such column");
        assert!(why.ends_with("narrow.csv"), "{why}");
    }
}

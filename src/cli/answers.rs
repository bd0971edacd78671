//! Reads neighbours that were computed elsewhere, with the provenance that the file declares, and applies it
//! to the search that checks them.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::bar::Bar;
use super::columns::AnswerColumns;
use super::job::Request;
use super::output;
use super::queries::QueryChoice;
use crate::cloud::Coordinates;
use crate::cloud::formats::{self, FormatError};
use crate::export::provenance::{KEY, Provenance};
use crate::files;
use crate::knn::{INNER_PRODUCT, Metric, Ranking};
use crate::progress::Progress;
use crate::run::compare::{MAX_RUN_BYTES, NEIGHBORS, RUN};
use crate::run::recording::{self, CloudLoadMode};
use crate::run::{LoadedRun, RunFile, answers};

pub struct Answers {
    /// The file with the answers, or the data set in it.
    pub path: PathBuf,
    /// Record numbers, one row per query.
    pub table: Coordinates,
    /// Distances of the same shape, if requested and present.
    pub distances: Option<Coordinates>,
    /// Each query's row number in its own file, if requested and present.
    pub query_rows: Option<Vec<u64>>,
    pub found: AnswerProvenance,
}

impl Answers {
    /// Adds the rows of the queries, which only recall needs. A recording has none.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn with_rows(self) -> anyhow::Result<Self> {
        if recording::split_run(&self.path).is_some_and(|(file, _)| !file.is_dir()) {
            return Ok(self);
        }
        let query_rows = answers::query_rows(&self.path, &Bar::new("reading the rows of the queries"))?;
        Ok(Self { query_rows, ..self })
    }

    /// Refuses answers to other queries than these, given by their rows.
    ///
    /// # Errors
    /// The first query that differs.
    pub fn check_rows(&self, flag: &str, asked: &[u64]) -> anyhow::Result<()> {
        let Some(rows) = self.query_rows.as_ref().filter(|rows| rows.len() == asked.len()) else {
            return Ok(());
        };
        match rows.iter().zip(asked).position(|(row, asked)| row != asked) {
            None => Ok(()),
            Some(query) => anyhow::bail!(
                "{flag}: query {query} is row {} in the answers, but row {} in this job; pass the --queries \
                 and --seed the answers were made with: {}",
                rows[query],
                asked[query],
                self.path.display()
            ),
        }
    }
}

/// Reads a recording, the folder of a run or a file of neighbours given by a flag; with `distances`, their
/// distances too.
///
/// # Errors
/// When they cannot be read.
pub fn read(flag: &str, path: &Path, distances: bool) -> anyhow::Result<Answers> {
    let bar = Bar::new(&format!("reading {flag}"));
    if let Some((file, name)) = recording::split_run(path).filter(|(file, _)| !file.is_dir()) {
        let recording = recording::read(&file, CloudLoadMode::Restore, &bar)?;
        let run = &recording.pick(name.as_deref(), &file)?.run;
        let (table, far) = answers::neighbors_of_run(run)
            .map_err(|why| anyhow::anyhow!("{flag}: {why}: {}", path.display()))?;
        return Ok(Answers {
            path: path.to_owned(),
            table,
            distances: distances.then_some(far),
            query_rows: None,
            found: AnswerProvenance::of_run(path, run),
        });
    }
    let of_folder = path.join(NEIGHBORS);
    let (path, folder) = if path.is_dir() { (&*of_folder, Some(path)) } else { (path, None) };
    let found = match folder.and_then(AnswerProvenance::of_folder) {
        Some(found) => found,
        None => AnswerProvenance::of_file(&formats::file_of(path), &bar)?,
    };
    let (path, table, distances) = if distances {
        answers::read_with_distances(path, &bar)?
    } else {
        let (path, table) = answers::read(path, &bar)?;
        (path, table, None)
    };
    Ok(Answers { path, table, distances, query_rows: None, found })
}

/// The provenance that a file of answers declares.
#[derive(Debug, Default)]
pub struct AnswerProvenance {
    /// The file or folder, as it was given.
    file: PathBuf,
    /// The name of a metric, `inner-product`, or another program's name for an unsupported distance.
    ranking: Option<String>,
    exclude_self: bool,
    columns: Option<Vec<String>>,
    query_columns: Option<Vec<String>>,
}

impl AnswerProvenance {
    /// Reads a file's metadata or, without metadata, infers the metric from the names of its arrays or
    /// columns.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_file(file: &Path, progress: &dyn Progress) -> Result<Self, FormatError> {
        if let Some(provenance) =
            formats::attribute(file, KEY, progress)?.and_then(|text| Provenance::read(&text))
        {
            return Ok(Self::from_metadata(file, provenance));
        }
        let ranking = match formats::attribute(file, "distance", progress)? {
            Some(theirs) => {
                Some(Ranking::from_alias(&theirs).map_or(theirs, |ranking| ranking.name().to_owned()))
            }
            None => metric_from_names(&answers::names(file, progress)?).map(str::to_owned),
        };
        Ok(Self { file: file.to_owned(), ranking, ..Self::default() })
    }

    /// The provenance of a run.
    pub fn of_run(path: &Path, run: &LoadedRun) -> Self {
        let query_columns =
            run.clouds().1.map(|queries| queries.axes.into_iter().map(|axis| axis.name).collect());
        Self { query_columns, ..Self::of_run_file(path, run.head()) }
    }

    /// Reads the `run.json` of a folder, if there is a valid one.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let text = files::read_small(&folder.join(RUN), MAX_RUN_BYTES).ok()?;
        Some(Self::of_run_file(folder, &RunFile::read(&text).ok()?))
    }

    fn of_run_file(path: &Path, run: &RunFile) -> Self {
        Self {
            file: path.to_owned(),
            ranking: Some(run.spec.metric.name().to_owned()),
            exclude_self: run.spec.exclude_self,
            columns: Some(run.axes.iter().map(|axis| axis.name.clone()).collect()),
            query_columns: None,
        }
    }

    fn from_metadata(file: &Path, provenance: Provenance) -> Self {
        let Provenance { metric, exclude_self, columns, query_columns, .. } = provenance;
        Self {
            file: file.to_owned(),
            ranking: Some(metric),
            exclude_self,
            columns: Some(columns),
            query_columns,
        }
    }

    /// Fills in the settings that were not given explicitly from the provenance, and prints notes. `flag` is
    /// the flag that named the answers.
    ///
    /// # Errors
    /// When another metric was given, or theirs is not a supported distance.
    pub fn fill(&self, flag: &str, request: &mut Request) -> anyhow::Result<()> {
        let file = self.file.display();
        if let Some(ranking) = &self.ranking {
            let theirs = Metric::named(ranking).ok_or_else(|| self.no_distance(flag, ranking))?;
            match request.ranking.map(Ranking::name) {
                Some(given) if !have_same_neighbors(theirs.name(), given) => {
                    bail!(
                        "{flag}: the answers use metric {theirs}, but --metric is {given}; drop --metric: \
                         {file}"
                    )
                }
                Some(_) => {}
                None => {
                    if theirs != Metric::default() {
                        output::note(&format!("using metric {theirs}, as in {file}"));
                    }
                    request.ranking = Some(Ranking::Distance(theirs));
                }
            }
        }
        // Queries from elsewhere are not rows of the cloud.
        let of_rows = !matches!(request.queries, Some(QueryChoice::File(_) | QueryChoice::At(_)));
        if self.exclude_self && of_rows && !request.exclude_self {
            output::note(&format!("excluding each query's own row, as in {file}"));
            request.exclude_self = true;
        }
        if request.answered.is_none() && self.columns.is_some() {
            let Self { file, columns, query_columns, .. } = self;
            request.answered = Some(AnswerColumns {
                file: file.clone(),
                columns: columns.clone(),
                query_columns: query_columns.clone(),
            });
        }
        Ok(())
    }

    fn no_distance(&self, flag: &str, ranking: &str) -> anyhow::Error {
        let file = self.file.display();
        if ranking == INNER_PRODUCT {
            anyhow::anyhow!(
                "{flag}: the answers use the inner product, which a distance search cannot check; write the \
                 truth with `knn --metric inner-product` and pass it to `recall --truth FILE` without \
                 --input: {file}"
            )
        } else {
            anyhow::anyhow!("{flag}: the answers use the metric `{ranking}`, which is not supported: {file}")
        }
    }

    /// Refuses a truth with another metric than the answers.
    ///
    /// # Errors
    /// When they differ.
    pub fn check_truth(&self, truth: &Self) -> anyhow::Result<()> {
        match (&self.ranking, &truth.ranking) {
            (Some(ranking), Some(of_truth)) if !have_same_neighbors(ranking, of_truth) => bail!(
                "--truth: the truth uses metric {of_truth}, but {} uses {ranking}; pass a truth made with \
                 {ranking}: {}",
                self.file.display(),
                truth.file.display()
            ),
            _ => Ok(()),
        }
    }
}

/// Whether two metrics have the same nearest rows.
fn have_same_neighbors(one: &str, other: &str) -> bool {
    let of_directions = |name| Metric::named(name).is_some_and(Metric::compares_directions);
    one == other || of_directions(one) && of_directions(other)
}

/// The metric that names of arrays or columns imply. `distance` alone implies none.
fn metric_from_names(names: &[String]) -> Option<&'static str> {
    let has = |name: &str| names.iter().any(|there| there == name);
    let squared = has("squared_distance") || has("squared_distances");
    let by =
        |metric: &Metric| (has(metric.column()) || has(metric.array())) && (*metric != Metric::L2 || squared);
    let product = || (has("inner_product") || has("inner_products")).then_some(INNER_PRODUCT);
    Metric::ALL.iter().find(|metric| by(metric)).map(|metric| metric.name()).or_else(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_names_identify_the_metric() {
        let by = |names: &str| metric_from_names(&names.split(',').map(str::to_owned).collect::<Vec<_>>());
        for (names, told) in [
            ("query,rank,index,squared_distance,distance", Some("l2")),
            ("indices,squared_distances,distances,query_rows", Some("l2")),
            ("neighbors,distances", None),
            ("query,rank,index,distance", None),
            ("rank,index,squared_distance,angle", Some("angular")),
            ("indices,cosine_distances", Some("cosine")),
            ("index,distance_km", Some("haversine")),
            ("indices,inner_products", Some("inner-product")),
            ("x,y", None),
        ] {
            assert_eq!(by(names), told, "{names}");
        }
    }

    #[test]
    fn angular_and_cosine_have_the_same_neighbours() {
        for one in Metric::ALL {
            for other in Metric::ALL {
                let same = one == other || one.compares_directions() && other.compares_directions();
                assert_eq!(have_same_neighbors(one.name(), other.name()), same, "{one} {other}");
            }
            assert!(
                !have_same_neighbors(one.name(), INNER_PRODUCT)
                    && !have_same_neighbors(one.name(), "hamming")
            );
        }
        assert!(have_same_neighbors("hamming", "hamming"));
    }
}

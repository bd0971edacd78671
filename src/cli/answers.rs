//! Neighbours that somebody else computed, from any file that holds them; how they were found, as far as the
//! file says so, and what a search that checks them makes of it.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::bar::Bar;
use super::columns::Answered;
use super::job::Request;
use super::output;
use super::queries::QueryChoice;
use crate::cloud::Coordinates;
use crate::cloud::formats::{self, FormatError};
use crate::export::provenance::{KEY, Provenance};
use crate::files;
use crate::knn::{INNER_PRODUCT, Metric, Ranking};
use crate::progress::Progress;
use crate::run::compare::{MOST_RUN_BYTES, NEIGHBORS, RUN};
use crate::run::recording::{self, Points};
use crate::run::{RunFile, SomeRun, answers};

pub struct Answers {
    /// The file, or the part of it, that they stand in.
    pub path: PathBuf,
    /// Record numbers, a row for each query.
    pub table: Coordinates,
    /// Distances in the same places, where they are asked for and the file has them.
    pub distances: Option<Coordinates>,
    /// Which row of its own file each query is, where that was asked for and the file says it.
    pub query_rows: Option<Vec<u64>>,
    pub found: Found,
}

impl Answers {
    /// With the rows of the queries, which only recall needs. A recording has none of its own to read.
    ///
    /// # Errors
    /// Whatever keeps them from being read.
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
    /// The first query that is another.
    pub fn check_rows(&self, flag: &str, asked: &[u64]) -> anyhow::Result<()> {
        let Some(rows) = self.query_rows.as_ref().filter(|rows| rows.len() == asked.len()) else {
            return Ok(());
        };
        match rows.iter().zip(asked).position(|(row, asked)| row != asked) {
            None => Ok(()),
            Some(query) => anyhow::bail!(
                "{flag}: its query {query} is row {}, and row {} is asked for; ask as they were asked, with \
                 --queries and --seed: {}",
                rows[query],
                asked[query],
                self.path.display()
            ),
        }
    }
}

/// Reads what a flag names: a recording, the folder of a run, or a file of neighbours; with `distances`,
/// those beside them too.
///
/// # Errors
/// Whatever keeps them from being read.
pub fn read(flag: &str, path: &Path, distances: bool) -> anyhow::Result<Answers> {
    let bar = Bar::new(&format!("reading {flag}"));
    if let Some((file, name)) = recording::split_run(path).filter(|(file, _)| !file.is_dir()) {
        let recording = recording::read(&file, Points::Restore, &bar)?;
        let run = &recording.pick(name.as_deref(), &file)?.run;
        let (table, far) =
            answers::of_run(run).map_err(|why| anyhow::anyhow!("{flag}: {why}: {}", path.display()))?;
        return Ok(Answers {
            path: path.to_owned(),
            table,
            distances: distances.then_some(far),
            query_rows: None,
            found: Found::of_run(path, run),
        });
    }
    let of_folder = path.join(NEIGHBORS);
    let (path, folder) = if path.is_dir() { (&*of_folder, Some(path)) } else { (path, None) };
    let found = match folder.and_then(Found::of_folder) {
        Some(found) => found,
        None => Found::of_file(&formats::file_of(path), &bar)?,
    };
    let (path, table, distances) = if distances {
        answers::read_with_distances(path, &bar)?
    } else {
        let (path, table) = answers::read(path, &bar)?;
        (path, table, None)
    };
    Ok(Answers { path, table, distances, query_rows: None, found })
}

/// How answers were found. What the file does not say is left open.
#[derive(Debug, Default)]
pub struct Found {
    /// What the answers stand in, as it was named.
    file: PathBuf,
    /// The name of a metric, `inner-product`, or what others call a distance that is not offered.
    ranking: Option<String>,
    exclude_self: bool,
    columns: Option<Vec<String>>,
    query_columns: Option<Vec<String>>,
}

impl Found {
    /// What a file of neighbours says: by its metadata or, where it has none, by the name of what stands
    /// beside them.
    ///
    /// # Errors
    /// Whatever keeps it from being read.
    pub fn of_file(file: &Path, progress: &dyn Progress) -> Result<Self, FormatError> {
        if let Some(provenance) =
            formats::attribute(file, KEY, progress)?.and_then(|text| Provenance::read(&text))
        {
            return Ok(Self::of(file, provenance));
        }
        let ranking = match formats::attribute(file, "distance", progress)? {
            Some(theirs) => {
                Some(Ranking::by_any_name(&theirs).map_or(theirs, |ranking| ranking.name().to_owned()))
            }
            None => by_names(&answers::names(file, progress)?).map(str::to_owned),
        };
        Ok(Self { file: file.to_owned(), ranking, ..Self::default() })
    }

    /// What a run says of itself.
    pub fn of_run(path: &Path, run: &SomeRun) -> Self {
        let query_columns =
            run.clouds().1.map(|queries| queries.axes.into_iter().map(|axis| axis.name).collect());
        Self { query_columns, ..Self::of_run_file(path, run.head()) }
    }

    /// What the `run.json` of a folder says, where there is one that can be read.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let text = files::read_small(&folder.join(RUN), MOST_RUN_BYTES).ok()?;
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

    fn of(file: &Path, provenance: Provenance) -> Self {
        let Provenance { metric, exclude_self, columns, query_columns, .. } = provenance;
        Self {
            file: file.to_owned(),
            ranking: Some(metric),
            exclude_self,
            columns: Some(columns),
            query_columns,
        }
    }

    /// Asks for the same answers: what was not given is as in theirs, and notes say so. `flag` is what names
    /// them.
    ///
    /// # Errors
    /// That another metric was given, and that theirs is no distance which is searched.
    pub fn fill(&self, flag: &str, request: &mut Request) -> anyhow::Result<()> {
        let file = self.file.display();
        if let Some(ranking) = &self.ranking {
            let theirs = Metric::named(ranking).ok_or_else(|| self.no_distance(flag, ranking))?;
            match request.ranking.map(Ranking::name) {
                Some(given) if !alike(theirs.name(), given) => {
                    bail!(
                        "{flag}: its answers were found by {theirs}, and the search is by {given}; leave \
                         --metric out: {file}"
                    )
                }
                Some(_) => {}
                None => {
                    if theirs != Metric::default() {
                        output::note(&format!(
                            "the answers of {file} were found by {theirs}, so that is taken"
                        ));
                    }
                    request.ranking = Some(Ranking::Distance(theirs));
                }
            }
        }
        // Other queries have no rows of their own.
        let of_rows = !matches!(request.queries, Some(QueryChoice::File(_) | QueryChoice::At(_)));
        if self.exclude_self && of_rows && !request.exclude_self {
            output::note(&format!(
                "the answers of {file} leave each query's own row out, and so does the search"
            ));
            request.exclude_self = true;
        }
        if request.answered.is_none() && self.columns.is_some() {
            let Self { file, columns, query_columns, .. } = self;
            request.answered = Some(Answered {
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
                "{flag}: its answers were found by inner product, and a search by distance says nothing of \
                 them; `knn --metric inner-product` writes their truth, which `recall --truth FILE` takes \
                 without --input: {file}"
            )
        } else {
            anyhow::anyhow!(
                "{flag}: its answers were found by the distance `{ranking}`, which is not searched here: \
                 {file}"
            )
        }
    }

    /// Refuses a truth that was found by another metric than the answers.
    ///
    /// # Errors
    /// That it was.
    pub fn check_truth(&self, truth: &Self) -> anyhow::Result<()> {
        match (&self.ranking, &truth.ranking) {
            (Some(ranking), Some(of_truth)) if !alike(ranking, of_truth) => bail!(
                "--truth: its answers were found by {of_truth}, and those of {} by {ranking}; take a truth \
                 by {ranking}: {}",
                self.file.display(),
                truth.file.display()
            ),
            _ => Ok(()),
        }
    }
}

/// Whether the same rows are nearest.
fn alike(one: &str, other: &str) -> bool {
    let of_directions = |name| Metric::named(name).is_some_and(Metric::is_of_directions);
    one == other || of_directions(one) && of_directions(other)
}

/// By what neighbours were found, by what stands beside them. A `distance` alone may be anybody's.
fn by_names(names: &[String]) -> Option<&'static str> {
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
    fn names_tell_the_metric() {
        let by = |names: &str| by_names(&names.split(',').map(str::to_owned).collect::<Vec<_>>());
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
                let same = one == other || one.is_of_directions() && other.is_of_directions();
                assert_eq!(alike(one.name(), other.name()), same, "{one} {other}");
            }
            assert!(!alike(one.name(), INNER_PRODUCT) && !alike(one.name(), "hamming"));
        }
        assert!(alike("hamming", "hamming"));
    }
}

//! Opens clouds and recordings.
//!
//! | module | role |
//! |---|---|
//! | `apply` | shows what was opened; opens samples and dropped files |

use std::sync::Arc;

use crate::app::model::{FileState, UnusedColumn, file_name};
use crate::cloud::formats::{self, ColumnGuess, GuessedColumn, Reason};
use crate::cloud::{AutoColumns, CloudError, PointCloud, Source, load_auto, load_queries};
use crate::knn::Metric;
use crate::progress::Progress;
use crate::run::DeclaredMetric;

pub mod apply;

// Jobs that read or generate clouds.

#[derive(Clone, Debug)]
pub struct LoadJob {
    pub source: Source,
    /// Whether to drop rows with NaN or ±∞.
    pub drop_nonfinite: bool,
    /// For a query file, the data that define its frame.
    pub data: Option<Arc<PointCloud>>,
    /// Whether to choose a first query and, unless the user has, the coordinate columns.
    pub infers_choices: bool,
}

#[derive(Clone, Debug)]
pub struct LoadedCloud {
    pub cloud: Arc<PointCloud>,
    /// Numeric columns that were not used as coordinates.
    pub left_out: Vec<UnusedColumn>,
    /// The metric that the file declares, if the job infers choices.
    pub declared: Option<Metric>,
    /// The first query, if the job infers choices.
    pub first: u32,
    /// A note on how the file was read.
    pub note: Option<String>,
}

/// The result of a load; [`CloudError::Cancelled`] if cancelled.
pub type Loaded = Result<LoadedCloud, CloudError>;

impl LoadJob {
    /// Reads or generates the cloud, and returns the file's state from before reading, so that later changes
    /// are noticed.
    pub fn work(&self, progress: &dyn Progress) -> (Loaded, Option<FileState>) {
        let file = FileState::read(&self.source);
        let how = if self.infers_choices { AutoColumns::Inferred } else { AutoColumns::AllNumeric };
        let loaded = match &self.data {
            None => load_auto(&self.source, how, self.drop_nonfinite, progress),
            Some(data) => {
                load_queries(&self.source, data, self.drop_nonfinite, progress).map(|cloud| (cloud, None))
            }
        };
        let opened = loaded.map(|(cloud, guess)| {
            let guess = guess.filter(|_| self.infers_choices);
            let (differs, decided) = guess.as_ref().map_or((false, false), |guess| {
                (guess.differs(), !matches!(guess.reason, Reason::Elements | Reason::AllNumeric))
            });
            // The left panel says how many columns are not used.
            let searches = guess.as_ref().filter(|_| decided).map(ColumnGuess::short_summary);
            let left_out = guess.filter(|_| differs).map_or_else(Vec::new, |guess| left_out(&guess));
            let first = if self.infers_choices { first_query(&cloud) } else { 0 };
            let path = if let Source::File { path, .. } = &self.source { Some(path) } else { None };
            let declared = path.filter(|_| self.infers_choices).and_then(|path| DeclaredMetric::read(path));
            let (declared, metric) = declared.map_or((None, None), |declared| declared.metric(&cloud));
            let read = path.and_then(|path| formats::note(path, progress));
            let notes: Vec<String> = searches.into_iter().chain(metric).chain(read).collect();
            let note = (!notes.is_empty()).then(|| notes.join("; "));
            LoadedCloud { cloud: Arc::new(cloud), left_out, declared, first, note }
        });
        (opened, file)
    }

    /// A file name or generator spec.
    pub fn name(&self) -> String {
        match &self.source {
            Source::File { path, .. } => file_name(path),
            Source::Generate { spec, .. } => spec.clone(),
            Source::Coordinates(at) => at.clone(),
        }
    }
}

/// Numeric columns that are not coordinates.
fn left_out(guess: &ColumnGuess) -> Vec<UnusedColumn> {
    let column = |(number, column): (usize, &GuessedColumn)| {
        let name = column.name.clone();
        let alone = name.parse::<usize>().is_err()
            && guess.columns.iter().filter(|other| other.name.eq_ignore_ascii_case(&name)).count() == 1;
        let key = if alone { name.clone() } else { number.to_string() };
        UnusedColumn { name, number, key, role: column.role }
    };
    guess.excluded().map(column).collect()
}

// The default query of a cloud.

/// Number of rows sampled.
const SAMPLED_ROWS: usize = 4096;

/// Number of candidates, best first.
const MAX_CANDIDATES: usize = 16;

/// The default query: a row near the median, so that it has neighbours on all sides, and without duplicates,
/// which would be neighbours at distance 0.
pub fn first_query(cloud: &PointCloud) -> u32 {
    let rows: Vec<usize> = cloud.sample_rows(SAMPLED_ROWS).collect();
    let mut far = vec![0.0_f64; rows.len()];
    for axis in 0..cloud.dims() {
        let values: Vec<f32> = rows.iter().map(|&row| cloud.point(row)[axis]).collect();
        let median = median(values.clone());
        let [low, high] = cloud.bulk(axis);
        let scale = if high > low { 1.0 / (high - low) } else { 0.0 };
        far.iter_mut()
            .zip(values)
            .for_each(|(far, value)| *far += ((f64::from(value) - f64::from(median)) * scale).powi(2));
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| far[a].total_cmp(&far[b]).then(a.cmp(&b)));
    let mut tried: Vec<usize> = Vec::with_capacity(MAX_CANDIDATES);
    for row in order.into_iter().map(|at| rows[at]) {
        if tried.len() == MAX_CANDIDATES {
            break;
        }
        if tried.iter().all(|&known| cloud.point(known) != cloud.point(row)) {
            tried.push(row);
        }
    }
    let mut equal = vec![0_u32; tried.len()];
    for point in cloud.points().chunks_exact(cloud.dims()) {
        for (equal, &row) in equal.iter_mut().zip(&tried) {
            // Usually the first coordinate decides.
            *equal += u32::from(point[0] == cloud.point(row)[0] && point == cloud.point(row));
        }
    }
    let alone = equal.iter().position(|&rows| rows == 1).unwrap_or(0);
    tried.get(alone).map_or(0, |&row| row as u32)
}

fn median(mut values: Vec<f32>) -> f32 {
    let middle = values.len() / 2;
    *values.select_nth_unstable_by(middle, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::{cloud_of, file_in, folder};
    use crate::cloud::ColumnChoice;
    use crate::cloud::roles::Role;
    use crate::progress::NoProgress;

    #[test]
    fn labels_are_inferred_only_without_headers() {
        let folder = folder();
        let rows: String = (0..60)
            .map(|at| {
                format!("{},{},{}\n", f64::from(at * 7 % 50) * 0.5, f64::from(at * 11 % 50) * 0.5, at % 3)
            })
            .collect();
        let opened = |name: &str, begin: &str| {
            let path = file_in(&folder, name, format!("{begin}{rows}"));
            let source = Source::File { path, columns: ColumnChoice::Default };
            let job = LoadJob { source, drop_nonfinite: false, data: None, infers_choices: true };
            let opened = job.work(&NoProgress).0.expect("it opens");
            (
                opened.cloud.dims(),
                opened.left_out.into_iter().map(|column| (column.name, column.role)).collect::<Vec<_>>(),
            )
        };
        let label = vec![("z".to_owned(), Role::Label)];
        assert_eq!(opened("bare.csv", ""), (2, label.clone()));
        assert_eq!(opened("headed.csv", "x,y,z\n"), (3, vec![]));
        assert_eq!(opened("commented.csv", "# x,y,z\n"), (3, vec![]));
        assert_eq!(opened("scan.xyz", ""), (3, vec![]));
    }

    #[test]
    fn the_first_query_is_central_and_distinct() {
        assert_eq!(first_query(&cloud_of(&["x"], &(0..101).map(f64::from).collect::<Vec<_>>())), 50);
        // Fifty equal rows in the middle, others around them.
        let values: Vec<f64> =
            (0..100).map(|at| if at < 50 { 10.25 } else { f64::from(at) - 64.5 }).collect();
        let row = first_query(&cloud_of(&["x"], &values)) as usize;
        assert!((50..100).contains(&row), "{row}");
    }

    #[test]
    fn identical_rows_still_have_a_first_query() {
        assert_eq!(first_query(&cloud_of(&["x"], &[2.0; 7])), 0);
        assert_eq!(first_query(&cloud_of(&["x"], &[2.0])), 0);
    }
}

//! The rows of the cloud held against another file: neighbours in common, and rows that are near.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::features::analysis::neighbours::{Failure, Neighbours, Question, answer};
use crate::app::features::analysis::state::{Against, Leaking};
use crate::app::features::errors::of_cloud;
use crate::app::jobs::loader::{LoadJob, Opened};
use crate::app::model::file_name;
use crate::cloud::formats::FormatError;
use crate::cloud::{CloudError, ColumnChoice, PointCloud, Source};
use crate::progress::{Progress, Stretch};
use crate::run::graph::other_cloud::{self, Leaks, OverlapError};
use crate::run::graph::{KnnGraph, summary};
use crate::run::stats::Spread;
use crate::run::{Engines, QuerySpec, Resident, RunSpec};
use crate::text;

/// What is asked of another file.
#[derive(Clone, Debug)]
pub enum Asked {
    /// The neighbours of every row here, and which columns are coordinates there.
    Overlap(Neighbours, ColumnChoice),
    /// The question of every row here, and the distance.
    Leaks(Question, f64),
}

/// Works it out; `None` where it was cancelled.
///
/// # Errors
/// Why it could not be done, as a sentence that ends with the path.
pub fn work(asked: &Asked, path: &Path, resident: &Resident, progress: &dyn Progress) -> Result<Option<Against>, String> {
    let done = match asked {
        Asked::Overlap(neighbours, columns) => overlap(neighbours, columns, path, resident, progress),
        Asked::Leaks(question, eps) => leaks(question, *eps, path, resident, progress),
    };
    match done {
        Ok(against) => Ok(Some(against)),
        Err(Failure::Cancelled) => Ok(None),
        Err(Failure::Said(why)) => Err(why),
    }
}

fn overlap(neighbours: &Neighbours, columns: &ColumnChoice, path: &Path, resident: &Resident, progress: &dyn Progress) -> Result<Against, Failure> {
    let said = |why: OverlapError| match why {
        OverlapError::Cancelled => Failure::Cancelled,
        why => Failure::Said(format!("{why}: {}", path.display())),
    };
    let spec = neighbours.spec();
    let source = Source::File { path: path.to_owned(), columns: columns.clone() };
    let job = LoadJob { source, drop_nonfinite: spec.drop_nonfinite, data: None, guesses: true };
    let Opened { cloud: there, left_out, .. } = load(&job, &stretch(progress, 0.0, 0.2))?;
    other_cloud::same_rows(neighbours.cloud(), &there).map_err(said)?;
    let record = neighbours.find(resident, &stretch(progress, 0.2, 0.55))?;
    let theirs = Question { spec: RunSpec { data: there.source().clone(), ..spec.clone() }, cloud: there };
    // Of a cloud that is not shown, nothing is kept.
    let theirs = theirs.answer(&Resident::default(), &stretch(progress, 0.55, 0.9))?;
    let graph = |record| KnnGraph::of_run(record).map_err(|why| Failure::Said(format!("{why}: {}", path.display())));
    let (here, theirs) = (graph(&*record)?, graph(&*theirs)?);
    let shares = other_cloud::shares(&here, &theirs, &stretch(progress, 0.9, 1.0)).map_err(said)?;
    let mut values = vec![f64::NAN; record.cloud.len()];
    here.rows().iter().zip(&shares).for_each(|(&row, &share)| values[row as usize] = share);
    let other = file_name(path);
    let sentence = Spread::of(shares).map_or_else(String::new, |spread| summary::overlap(&other, &spread));
    let columns: Vec<&str> = left_out.iter().map(|column| column.name.as_str()).collect();
    let without = match columns.len() {
        0 => String::new(),
        _ => format!("; there without {}", columns.join(", ")),
    };
    let said = format!("{sentence}; k = {}{without}", text::thousands(here.k() as u64));
    Ok(Against { cloud: Arc::clone(&record.cloud), other, values: values.into(), said, leaks: None })
}

fn leaks(question: &Question, eps: f64, path: &Path, resident: &Resident, progress: &dyn Progress) -> Result<Against, Failure> {
    let Question { cloud, spec } = question;
    let there = load_beside(cloud, path, spec.drop_nonfinite, &stretch(progress, 0.0, 0.2))?;
    let nearest = |data: &Arc<PointCloud>, queries: &PointCloud| {
        let (path, columns) = match queries.source() {
            Source::File { path, columns } => (path.clone(), columns.clone()),
            other => (PathBuf::from(other.to_string()), ColumnChoice::Default),
        };
        let queries = QuerySpec::File { path, columns };
        RunSpec { data: data.source().clone(), queries, k: 1, exclude_self: false, ..spec.clone() }
    };
    let engines = Engines::default().sharing(resident.clone());
    let theirs = answer(engines, &nearest(cloud, &there), cloud, Some(&there), &stretch(progress, 0.2, 0.6))?;
    // Several rows here may be near one there, and the other way round: both are asked.
    let ours = answer(Engines::default(), &nearest(&there, cloud), &there, Some(cloud), &stretch(progress, 0.6, 1.0))?;
    let mut values = vec![f64::NAN; cloud.len()];
    let found = Leaks::of(&ours.neighbors, spec.metric, eps);
    ours.query_rows.iter().zip(&found.nearest).for_each(|(&row, &(_, distance))| values[row as usize] = distance);
    let leaking = Leaking { theirs: Leaks::of(&theirs.neighbors, spec.metric, eps), record: Arc::new(theirs) };
    Ok(Against::leaking(cloud, file_name(path), values.into(), leaking))
}

fn stretch(of: &dyn Progress, from: f64, to: f64) -> Stretch<'_> {
    Stretch { of, from, to }
}

fn load(job: &LoadJob, progress: &dyn Progress) -> Result<Opened, Failure> {
    job.work(progress).0.map_err(|why| match why {
        CloudError::Cancelled => Failure::Cancelled,
        why => Failure::Said(of_cloud(&why)),
    })
}

/// The other file in the cloud's frame: by the names of the cloud's columns or, where it has not these, by their numbers.
fn load_beside(cloud: &Arc<PointCloud>, path: &Path, drop_nonfinite: bool, progress: &dyn Progress) -> Result<Arc<PointCloud>, Failure> {
    let job = |columns: ColumnChoice| {
        let source = Source::File { path: path.to_owned(), columns };
        LoadJob { source, drop_nonfinite, data: Some(Arc::clone(cloud)), guesses: false }
    };
    let numbers = match cloud.source() {
        Source::File { columns: ColumnChoice::Named(names), .. } if names.iter().all(|name| name.parse::<usize>().is_ok()) => Some(names.clone()),
        _ => None,
    };
    let by_name = job(ColumnChoice::Default);
    let opened = match (by_name.work(progress).0, numbers) {
        (Err(CloudError::Format(FormatError::NoColumn { .. } | FormatError::Column { .. })), Some(numbers)) => {
            load(&job(ColumnChoice::Named(numbers)), progress)?
        }
        (Err(CloudError::Cancelled), _) => return Err(Failure::Cancelled),
        (opened, _) => opened.map_err(|why| Failure::Said(of_cloud(&why)))?,
    };
    Ok(opened.cloud)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::progress::Silent;

    fn file(folder: &tempfile::TempDir, name: &str, rows: &str) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, rows).expect("a file");
        path
    }

    fn question(path: &Path, columns: ColumnChoice, k: usize) -> Question {
        let source = Source::File { path: path.to_owned(), columns };
        let cloud = Arc::new(crate::cloud::load(&source, false, &Silent).expect("a cloud"));
        Question { cloud, spec: RunSpec { exclude_self: true, ..RunSpec::new(source, QuerySpec::All, k) } }
    }

    fn done(asked: &Asked, path: &Path) -> Result<Against, String> {
        work(asked, path, &Resident::default(), &Silent).map(|against| against.expect("not cancelled"))
    }

    #[test]
    fn neighbours_in_common_are_counted_row_by_row() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = file(&folder, "here.csv", "x\n0\n1\n2.5\n4.5\n");
        let there = file(&folder, "there.csv", "u\n0\n1\n4.5\n2.5\n");
        let asked = Asked::Overlap(Neighbours::Asked(question(&here, ColumnChoice::Default, 2)), ColumnChoice::Default);
        let against = done(&asked, &there).expect("the same rows");
        assert_eq!(against.values[..], [0.5, 0.5, 1.0, 1.0]);
        assert!(
            against.said.starts_with("share of neighbours in common with there.csv: mean 0.75") && against.said.ends_with("; k = 2"),
            "{}",
            against.said
        );
        let fewer = file(&folder, "fewer.csv", "u\n0\n1\n");
        let why = done(&asked, &fewer).expect_err("other rows");
        assert!(why.starts_with("the clouds are not of the same rows: 4 points here and 2 there: ") && why.ends_with("fewer.csv"), "{why}");
        assert!(work(&asked, &there, &Resident::default(), &AtomicBool::new(true)).expect("no failure").is_none());
    }

    #[test]
    fn leaks_are_counted_both_ways_and_by_another_distance_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let here = file(&folder, "here.csv", "kind,x\n0,0\n0,1\n1,1\n1,50\n");
        let there = file(&folder, "there.csv", "x,more\n1,2\n1.5,2\n80,2\n");
        let by_number = ColumnChoice::Named(vec!["1".to_owned()]);
        let asked = Asked::Leaks(question(&here, by_number.clone(), 7), 0.0);
        let against = done(&asked, &there).expect("x is in both");
        assert_eq!((&against.values[..], against.leaking_rows()), (&[1.0, 0.0, 0.0, 30.0][..], vec![1, 2]));
        assert_eq!(against.said, "1 of 3 rows of there.csv (33.33 %) within 0 of a row here, 1 at 0; 2 rows here are within 0 of a row of it");
        let wider = against.within(1.0);
        assert_eq!(wider.leaking_rows(), [0, 1, 2]);
        assert!(wider.said.starts_with("2 of 3 rows") && wider.said.ends_with("3 rows here are within 1 of a row of it"), "{}", wider.said);
        // Without the name, the numbers are good for both.
        let unnamed = file(&folder, "unnamed.csv", "a,b\n9,1\n");
        assert_eq!(done(&asked, &unnamed).expect("by number").leaking_rows(), [1, 2]);
        let why = done(&asked, &file(&folder, "narrow.csv", "a\n9\n")).expect_err("no such column");
        assert!(why.ends_with("narrow.csv"), "{why}");
    }
}

//! Reading and generating: what is asked for, and the work.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use crate::app::model::files::{FileState, file_name};
use crate::app::model::opening;
use crate::app::model::roles::LeftOut;
use crate::cloud::roles::{self, Role};
use crate::cloud::{Axis, CloudError, ColumnChoice, PointCloud, Source, formats, load, load_queries};
use crate::progress::Progress;

#[derive(Clone, Debug)]
pub struct LoadJob {
    pub source: Source,
    /// Whether rows with NaN or ±∞ are left out.
    pub drop_nonfinite: bool,
    /// For a file of queries: the data in whose frame they are.
    pub data: Option<Arc<PointCloud>>,
    /// Whether it is opened to an answer: with a row to begin with, and, where nobody said which columns are coordinates, without labels and
    /// row numbers.
    pub guesses: bool,
}

/// A cloud that was loaded.
#[derive(Clone, Debug)]
pub struct Opened {
    pub cloud: Arc<PointCloud>,
    /// The numeric columns that were taken for no coordinates.
    pub left_out: Vec<LeftOut>,
    /// The row to begin with, where the job guesses.
    pub first: u32,
    /// What is to be said of how the file was read.
    pub note: Option<String>,
}

/// How a load ended. Cancelled, it is [`CloudError::Cancelled`].
pub type Loaded = Result<Opened, CloudError>;

impl LoadJob {
    /// Reads or generates it, and says what the source's file was before: whoever changes the file meanwhile has changed what
    /// was read.
    pub fn work(&self, progress: &dyn Progress) -> (Loaded, Option<FileState>) {
        let file = FileState::of(&self.source);
        let loaded = match &self.data {
            None => load(&self.source, self.drop_nonfinite, progress),
            Some(data) => load_queries(&self.source, data, self.drop_nonfinite, progress),
        };
        let opened = loaded.and_then(|cloud| {
            let guessed = if self.guesses { coordinates_only(&cloud, progress) } else { None };
            let (cloud, left_out) = match guessed {
                None => (cloud, Vec::new()),
                Some((source, left_out)) => {
                    // There may not be room for both.
                    drop(cloud);
                    (load(&source, self.drop_nonfinite, progress)?, left_out)
                }
            };
            let first = if self.guesses { opening::first_query(&cloud) } else { 0 };
            let note = if let Source::File { path, .. } = &self.source { formats::note(path, progress) } else { None };
            Ok(Opened { cloud: Arc::new(cloud), left_out, first, note })
        });
        (opened, file)
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

/// The source that takes coordinates alone out of a cloud's file, and what else its numeric columns are; `None` where they are all
/// coordinates, or were chosen.
fn coordinates_only(cloud: &PointCloud, progress: &dyn Progress) -> Option<(Source, Vec<LeftOut>)> {
    let Source::File { path, columns: ColumnChoice::Default } = cloud.source() else { return None };
    let roles = roles_of(cloud, path, progress);
    if roles.iter().all(|&role| role == Role::Coordinate) {
        return None;
    }
    // Columns are named by their numbers in the file: names may be no names of their own.
    let names: Vec<String> = formats::describe(path, progress).ok()?.columns.into_iter().map(|column| column.name).collect();
    let mut next = 0;
    let mut number_of = |name: &str| {
        let number = next + names.iter().skip(next).position(|known| known == name)?;
        next = number + 1;
        Some(number)
    };
    let numbers: Vec<usize> = cloud.axes().iter().map(|axis| number_of(&axis.name)).collect::<Option<_>>()?;
    let left_out = |((axis, &role), &number): ((&Axis, &Role), &usize)| {
        let alone = axis.name.parse::<usize>().is_err() && names.iter().filter(|name| name.eq_ignore_ascii_case(&axis.name)).count() == 1;
        let key = if alone { axis.name.clone() } else { number.to_string() };
        (role != Role::Coordinate).then(|| LeftOut { name: axis.name.clone(), number, key, is_label: role == Role::Label })
    };
    let left_out = cloud.axes().iter().zip(&roles).zip(&numbers).filter_map(left_out).collect();
    let kept = numbers.iter().zip(&roles).filter(|(_, role)| **role == Role::Coordinate).map(|(number, _)| number.to_string());
    Some((Source::File { path: path.clone(), columns: ColumnChoice::Named(kept.collect()) }, left_out))
}

/// What the columns of a file's cloud are, by their headings where it has any.
fn roles_of(cloud: &PointCloud, path: &Path, progress: &dyn Progress) -> Vec<Role> {
    let roles = roles::guess(cloud, true);
    if !roles::may_be_made_up(cloud) {
        return roles;
    }
    let by_values = roles::guess(cloud, false);
    if by_values == roles || has_headings(path, progress) { roles } else { by_values }
}

/// Whether a file of `x`, `y` and `z` has these names itself, or by convention.
fn has_headings(path: &Path, progress: &dyn Progress) -> bool {
    /// Endings of files of scans, whose first columns are places.
    const SCANS: [&str; 3] = ["pts", "xyz", "asc"];
    let file = formats::file_of(path);
    let name = file_name(&file).to_ascii_lowercase();
    let ending = name.strip_suffix(".gz").unwrap_or(&name).rsplit('.').next().unwrap_or_default().to_owned();
    let Ok(info) = formats::describe(path, progress) else { return true };
    let made_up = info.columns.iter().any(|column| column.made_up);
    !made_up || SCANS.contains(&ending.as_str()) || begins_with_a_comment(&file)
}

/// Whether a text begins with a comment, in which names may stand.
fn begins_with_a_comment(file: &Path) -> bool {
    let mut begin = [0; 64];
    let read = std::fs::File::open(file).and_then(|mut file| file.read(&mut begin)).unwrap_or(0);
    begin[..read].trim_ascii_start().first().is_some_and(|first| b"#/%;".contains(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Silent;

    #[test]
    fn a_label_in_a_file_without_headings_is_told_from_a_height_in_one_that_has_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let rows: String = (0..60).map(|at| format!("{},{},{}\n", f64::from(at * 7 % 50) * 0.5, f64::from(at * 11 % 50) * 0.5, at % 3)).collect();
        let opened = |name: &str, begin: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("{begin}{rows}")).expect("a file");
            let source = Source::File { path, columns: ColumnChoice::Default };
            let job = LoadJob { source, drop_nonfinite: false, data: None, guesses: true };
            let opened = job.work(&Silent).0.expect("it opens");
            (opened.cloud.dims(), opened.left_out.into_iter().map(|column| (column.name, column.is_label)).collect::<Vec<_>>())
        };
        let label = vec![("z".to_owned(), true)];
        assert_eq!(opened("bare.csv", ""), (2, label.clone()));
        assert_eq!(opened("headed.csv", "x,y,z\n"), (3, vec![]));
        assert_eq!(opened("commented.csv", "# x,y,z\n"), (3, vec![]));
        assert_eq!(opened("scan.xyz", ""), (3, vec![]));
    }
}

//! Reading and generating: what is asked for, and the work.

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
    let roles = roles::guess(cloud);
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

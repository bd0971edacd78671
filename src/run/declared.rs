//! The ranking that a file declares for itself, as benchmarks do.

use std::path::Path;

use crate::cloud::formats;
use crate::knn::{Metric, Ranking};
use crate::printable::name as printable;
use crate::progress::Silent;

/// A file's attribute `distance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// As the file has it.
    name: String,
    /// `None` where it is not offered.
    pub ranking: Option<Ranking>,
}

impl Declared {
    /// What a file declares. One that cannot be read is reported when its data are.
    pub fn of(path: &Path) -> Option<Self> {
        formats::attribute(path, "distance", &Silent).ok()?.map(|name| Self { ranking: Ranking::by_any_name(&name), name })
    }

    /// What is to be said of it; nothing of L2, which is the default.
    pub fn sentence(&self) -> Option<String> {
        match self.ranking {
            Some(Ranking::Distance(Metric::L2)) => None,
            Some(ranking) => Some(format!("metric {}, by the file's attribute `distance`", ranking.name())),
            None => Some(format!("the file's attribute `distance` is `{}`, which is not offered; l2 is used", printable(self.name.trim()))),
        }
    }
}

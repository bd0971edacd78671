//! The ranking that a file declares for itself, as benchmarks do.

use std::path::Path;

use crate::cloud::{Globe, PointCloud, formats};
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

    /// The metric for searching a cloud that only has distances, if the cloud allows it, and a note unless that is L2.
    pub fn metric(&self, cloud: &PointCloud) -> (Option<Metric>, Option<String>) {
        match self.ranking {
            Some(Ranking::InnerProduct) => {
                (None, Some("the file declares the inner product, which only `warpscope knn` supports; using l2".to_owned()))
            }
            Some(Ranking::Distance(metric)) if metric.is_on_sphere() && !Globe::fits(cloud) => {
                (None, Some(format!("the file declares the metric {}, which needs longitude and latitude; using l2", metric.name())))
            }
            Some(Ranking::Distance(metric)) => (Some(metric), self.sentence()),
            None => (None, self.sentence()),
        }
    }

    /// The note to show; `None` for L2, which is the default.
    pub fn sentence(&self) -> Option<String> {
        match self.ranking {
            Some(Ranking::Distance(Metric::L2)) => None,
            Some(ranking) => Some(format!("metric {}, from the file's `distance` attribute", ranking.name())),
            None => Some(format!("the file's `distance` attribute is `{}`, which is not supported; using l2", printable(self.name.trim()))),
        }
    }
}

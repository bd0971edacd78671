//! What another file says of the rows of the cloud: how many neighbours they have in common there, or how far its nearest row is.

use std::sync::Arc;

use crate::app::model::analysis::AnalysisKind;
use crate::cloud::PointCloud;
use crate::export::table::Table;
use crate::run::RunRecord;
use crate::run::graph::leaks::Leaks;
use crate::run::graph::summary;
use crate::text;

/// Of the cloud's rows and another file.
#[derive(Clone, Debug)]
pub struct Against {
    pub cloud: Arc<PointCloud>,
    /// The other file's name.
    pub other: String,
    /// Of each row of the cloud, NaN where it was not searched: the share of neighbours in common, or the distance to the nearest row there.
    pub values: Arc<[f64]>,
    /// As a sentence.
    pub said: String,
    pub leaks: Option<Leaking>,
}

/// Rows within a distance of rows of another file.
#[derive(Clone, Debug)]
pub struct Leaking {
    /// Of each row of the other file, the nearest here.
    pub theirs: Leaks,
    /// The search for these.
    pub record: Arc<RunRecord>,
}

impl Against {
    /// Near rows of another file, by the distance that is asked for; `values` are those of the rows here.
    pub fn leaking(cloud: &Arc<PointCloud>, other: String, values: Arc<[f64]>, leaking: Leaking) -> Self {
        let eps = leaking.theirs.eps;
        let unit = leaking.record.spec.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        let here = values.iter().filter(|&&distance| distance <= eps).count() as u64;
        let said = format!(
            "{}; {} here {} within {}{unit} of a row of it",
            summary::leaks(&other, &leaking.theirs.found(), &unit),
            text::count(here, "row", "rows"),
            if here == 1 { "is" } else { "are" },
            text::Exact(eps),
        );
        Self { cloud: Arc::clone(cloud), other, values, said, leaks: Some(leaking) }
    }

    /// The same leaks by another distance; what is no leak is as it was.
    pub fn within(&self, eps: f64) -> Self {
        let Some(Leaking { theirs, record }) = &self.leaks else { return self.clone() };
        let theirs = Leaks { eps, nearest: theirs.nearest.clone() };
        Self::leaking(&self.cloud, self.other.clone(), Arc::clone(&self.values), Leaking { theirs, record: Arc::clone(record) })
    }

    pub fn kind(&self) -> AnalysisKind {
        if self.leaks.is_some() { AnalysisKind::Leaks } else { AnalysisKind::Overlap }
    }

    /// The distance within which rows leak; `None` of an overlap.
    pub fn eps(&self) -> Option<f64> {
        self.leaks.as_ref().map(|leaking| leaking.theirs.eps)
    }

    /// The rows of this cloud that leak.
    pub fn leaking_rows(&self) -> Vec<u32> {
        let Some(eps) = self.eps() else { return Vec::new() };
        (0..).zip(&*self.values).filter(|(_, distance)| **distance <= eps).map(|(row, _)| row).collect()
    }

    /// Adds its columns to a table of rows; `row` is the cloud's row of each.
    pub fn with<'a>(&'a self, table: Table<'a>, row: impl Fn(usize) -> u32 + Copy + 'a) -> Table<'a> {
        let value = move |at: usize| self.values.get(row(at) as usize).copied().filter(|value| !value.is_nan());
        let table = table.with(self.kind().column(), value);
        match self.eps() {
            Some(eps) => table.with("leak", move |at| value(at).map(|distance| u32::from(distance <= eps))),
            None => table,
        }
    }
}

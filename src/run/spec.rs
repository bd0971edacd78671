//! What is to be run: everything that is needed to have the run again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::cloud::{ColumnChoice, Order, Source};
use crate::knn::{EngineKind, Metric};

/// What is asked for where nobody says otherwise, in the window and on the command line.
///
/// Three things differ with a reason. The window's seed is 1, that of the cloud which it shows first. The window searches in shuffled order, which is what the theory that it shows beside the
/// counters assumes, and the command line in the file's, so that equal distances come in the order of rows. And the window
/// makes 1 warm-up and 5 repeats, since somebody waits, where `warpscope run` makes 10 and 10.
pub mod usual {
    /// Neighbours per query.
    pub const K: usize = 32;
    /// Queries that are drawn, or all rows where there are fewer.
    pub const QUERIES: u64 = 1000;
    /// Seeds generated clouds, drawn queries and shuffled order.
    pub const SEED: u64 = 0;
}

/// Which engine answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineChoice {
    /// `cuda` where it can run, else `lockstep`.
    #[default]
    Auto,
    /// This one, or an error.
    #[serde(untagged)]
    Named(EngineKind),
}

impl EngineChoice {
    /// As it is spelled on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(kind) => kind.name(),
        }
    }

    /// All that can be chosen.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Auto).chain(EngineKind::ALL.into_iter().map(Self::Named))
    }
}

/// Whose neighbours are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuerySpec {
    /// Every row of the cloud.
    All,
    /// This many rows of the cloud, drawn with the run's seed.
    Count(u64),
    /// These records of the cloud's file, by 0-based number.
    Rows(Vec<u64>),
    /// One place, in the units of the data's file: no row of it.
    At(Vec<f64>),
    /// A file of queries.
    File {
        /// Where it lies.
        path: PathBuf,
        /// Which of its columns are coordinates.
        #[serde(default)]
        columns: ColumnChoice,
    },
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// The cloud.
    pub data: Source,
    /// Whose neighbours.
    pub queries: QuerySpec,
    /// Neighbours per query.
    pub k: usize,
    /// How distance is measured.
    pub metric: Metric,
    /// Which engine.
    pub engine: EngineChoice,
    /// In what order points are met.
    pub order: Order,
    /// Whether a query leaves its own row out.
    pub exclude_self: bool,
    /// Seeds shuffled order and drawn queries.
    pub seed: u64,
    /// Untimed repeats first.
    pub warmup: u32,
    /// Timed repeats.
    pub repeats: u32,
    /// Whether rows with NaN or ±∞ (and, under the angular metric, zero rows) are left out instead of refused.
    pub drop_nonfinite: bool,
    /// Whether the profiled build runs too.
    pub profile: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_saved_by_its_name() {
        for choice in EngineChoice::all() {
            let json = serde_json::to_string(&choice).unwrap();
            assert_eq!(json, format!("\"{}\"", choice.name()));
            assert_eq!(serde_json::from_str::<EngineChoice>(&json).unwrap(), choice);
        }
    }
}

//! Versions of the files and reports whose names changed: `run.json`, recordings, tables of counters and
//! sweeps, `--json`. All versions are read; names in memory are those of the latest.

use std::sync::Arc;

use super::RunRecord;
use crate::knn::Measurements;

/// Names of measures in schema 1, and since then.
const RENAMED: [(&str, &str); 2] = [("accessed", "distance_evals"), ("left_out", "pruned")];

/// Keys of `knn --json` and `info --json` in schema 1, and since then.
const RENAMED_KEYS: [(&str, &str); 4] = [
    ("most", "max_neighbors"),
    ("no_cloud", "cloud_error"),
    ("parts", "datasets"),
    ("without", "empty_queries"),
];

/// A version of the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SchemaVersion {
    First,
    #[default]
    Second,
}

impl SchemaVersion {
    /// The number in files.
    pub const fn number(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }

    /// The version with a number.
    pub fn numbered(number: u32) -> Option<Self> {
        [Self::First, Self::Second].into_iter().find(|schema| schema.number() == number)
    }

    /// A measure's name in files of this version.
    pub fn measure(self, current: &str) -> &str {
        let renamed = RENAMED.iter().find(|(_, new)| *new == current);
        renamed.filter(|_| self == Self::First).map_or(current, |(old, _)| old)
    }

    /// Renames the keys of a report of the latest version.
    pub fn rename_keys(self, report: &mut serde_json::Map<String, serde_json::Value>) {
        if self == Self::default() {
            return;
        }
        for (old, new) in RENAMED_KEYS {
            if let Some(value) = report.remove(new) {
                report.insert(old.to_owned(), value);
            }
        }
        report.insert("schema_version".to_owned(), self.number().into());
    }

    /// A record as files of this version show it.
    pub fn record(self, record: &Arc<RunRecord>) -> Arc<RunRecord> {
        if self == Self::default() {
            return Arc::clone(record);
        }
        let mut record = RunRecord::clone(record);
        record.head.schema_version = self.number();
        for measure in &mut record.head.summary.measures {
            measure.name = self.measure(&measure.name).to_owned();
        }
        let columns = record.measured.columns();
        record.measured =
            Measurements::new(columns.map(|(name, values)| (self.measure(name).to_owned(), values.to_vec())));
        Arc::new(record)
    }
}

/// The current name of a measure in a file of any version.
pub fn current_name(name: String) -> String {
    RENAMED.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| (*new).to_owned())
}

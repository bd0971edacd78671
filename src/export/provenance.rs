//! The provenance of neighbours, stored as JSON with the schema of Parquet and Arrow files.

use serde::{Deserialize, Serialize};

use crate::cloud::roles::ranges;
use crate::cloud::{PointCloud, Source, query_point};
use crate::run::{QuerySpec, RunSpec};

/// The key of the JSON.
pub const KEY: &str = "warpscope";

/// The version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// Queries given by rows are listed up to this number.
const MAX_LISTED_ROWS: usize = 1000;

/// The provenance of neighbours. Files are named as the user named them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    pub schema_version: u32,
    /// Version of the program, such as `0.1.0`.
    pub warpscope_version: String,
    /// The name of a metric, or `inner-product`.
    pub metric: String,
    /// `file` if the order follows the file's values, or `f32`; absent for other searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<String>,
    /// Neighbours per query; absent for a radius search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Radius in the metric's unit; absent for the k nearest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// The coordinates, in the order of the axes.
    pub columns: Vec<String>,
    /// How they were chosen: `by name`, or `--columns`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns_by: Option<String>,
    /// The columns of queries from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_columns: Option<Vec<String>>,
    /// Whether a query's own row was excluded.
    pub exclude_self: bool,
    pub cloud: String,
    pub queries: String,
    /// Seed of sampled queries; absent for other queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Provenance {
    /// The provenance of the k nearest. `query_cloud` has queries from a file.
    pub fn new(spec: &RunSpec, cloud: &PointCloud, query_cloud: Option<&PointCloud>) -> Self {
        let names = |cloud: &PointCloud| cloud.axes().iter().map(|axis| axis.name.clone()).collect();
        let of_file = query_cloud.filter(|_| matches!(spec.queries, QuerySpec::File { .. }));
        Self {
            schema_version: SCHEMA_VERSION,
            warpscope_version: env!("CARGO_PKG_VERSION").to_owned(),
            metric: spec.metric.name().to_owned(),
            arithmetic: None,
            k: Some(spec.k),
            radius: None,
            columns: names(cloud),
            columns_by: None,
            query_columns: of_file.map(names),
            exclude_self: spec.exclude_self,
            cloud: cloud_of(&spec.data),
            queries: queries_of(&spec.queries),
            seed: matches!(spec.queries, QuerySpec::Count(_)).then_some(spec.seed),
        }
    }

    /// Parses a file's provenance; `None` for other content or a later version.
    pub fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().filter(|read: &Self| read.schema_version == SCHEMA_VERSION)
    }

    /// The JSON to store in a file.
    pub fn json(&self) -> String {
        // Serialising cannot fail: a radius is finite.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn cloud_of(source: &Source) -> String {
    match source {
        Source::File { .. } | Source::Generate { .. } => source.to_string(),
        Source::Coordinates(at) => format!("at:{at}"),
    }
}

fn queries_of(queries: &QuerySpec) -> String {
    match queries {
        QuerySpec::All => "all".to_owned(),
        QuerySpec::Count(count) => count.to_string(),
        QuerySpec::Rows(rows) if rows.len() > MAX_LISTED_ROWS => format!("{} listed rows", rows.len()),
        QuerySpec::Rows(rows) => {
            format!("rows:{}", ranges(&rows.iter().map(|&row| row as usize).collect::<Vec<_>>()))
        }
        QuerySpec::At(at) => format!("at:{}", query_point::format(at)),
        QuerySpec::File { path, .. } => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::{self, ColumnChoice};
    use crate::progress::NoProgress;

    #[test]
    fn provenance_round_trips_and_omits_unknown_fields() {
        let data = Source::Generate { spec: "uniform:n=5,d=2".to_owned(), seed: 7 };
        let cloud = cloud::load(&data, false, &NoProgress).unwrap();
        let of = |queries| {
            Provenance::new(
                &RunSpec { seed: 3, ..RunSpec::new(data.clone(), queries, 4) },
                &cloud,
                Some(&cloud),
            )
        };
        let count = of(QuerySpec::Count(9));
        assert_eq!(
            (count.cloud.as_str(), count.queries.as_str(), count.seed),
            ("uniform:n=5,d=2 (seed 7)", "9", Some(3))
        );
        assert_eq!(
            (count.query_columns.as_ref(), count.columns.as_slice()),
            (None, &["x".to_owned(), "y".to_owned()][..])
        );
        assert_eq!(Provenance::read(&count.json()), Some(count.clone()));
        let said = |queries| of(queries).queries;
        assert_eq!(
            (said(QuerySpec::Rows(vec![2, 0, 1, 2])), said(QuerySpec::Rows(vec![0; 1001]))),
            ("rows:2,0-2".into(), "1001 listed rows".into())
        );
        assert_eq!(said(QuerySpec::At(vec![0.5, -1.0])), "at:0.5,-1");
        let file = of(QuerySpec::File { path: "asked.csv".into(), columns: ColumnChoice::Default });
        assert_eq!(
            (file.queries.as_str(), file.query_columns, file.seed),
            ("asked.csv", Some(file.columns.clone()), None)
        );
        let later = Provenance { schema_version: 2, ..count.clone() }.json();
        for other in ["", "{}", "[]", &later] {
            assert_eq!(Provenance::read(other), None, "{other}");
        }
        assert!(
            Provenance::read(&count.json().replacen('{', "{\"more\":[1],", 1)).is_some(),
            "unknown fields are ignored"
        );
    }
}

//! The analyses that were selected.

use std::path::PathBuf;

use crate::cli::columns;
use crate::cli::flags::GraphArgs;
use crate::cli::lists::ResultBytes;
use crate::cloud::ColumnChoice;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Analyses")]
pub struct AnalysisSelection {
    /// Distance to the k-th neighbour
    #[arg(long)]
    pub density: bool,
    /// Local outlier factor (LOF)
    ///
    /// As scikit-learn's LocalOutlierFactor(n_neighbors=k).
    #[arg(long)]
    pub lof: bool,
    /// Neighbour counts (in-degree) of rows, and their skewness
    ///
    /// How often each row is among the neighbours of others.
    #[arg(long)]
    pub hubness: bool,
    /// Local intrinsic dimension
    ///
    /// By maximum likelihood (Levina and Bickel 2004).
    #[arg(long)]
    pub lid: bool,
    /// Compare a column's values with those of the neighbours
    ///
    /// Share of neighbours with the same value, and leave-one-out classification by their majority.
    #[arg(long, value_name = "COLUMN")]
    pub labels: Option<String>,
    /// Group rows within this distance of each other
    ///
    /// In the metric's unit (km with haversine, radians with angular, 1 − cos with cosine). 0 groups rows at
    /// distance 0.
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true)]
    pub duplicates: Option<f64>,
    /// Compare neighbours with those in a cloud of the same rows
    ///
    /// Reports the share of neighbours in common.
    #[arg(long, value_name = "OTHER")]
    pub overlap: Option<PathBuf>,
    /// Coordinate columns of OTHER
    #[arg(long, value_name = "NAMES", requires = "overlap", value_parser = columns::parse)]
    pub overlap_columns: Option<ColumnChoice>,
    /// Connected components of the mutual graph
    ///
    /// Rows are joined if each is among the other's neighbours.
    #[arg(long)]
    pub components: bool,
    /// Find rows of OTHER within --eps of a row of IN
    #[arg(long, value_name = "OTHER", requires = "eps")]
    pub leaks: Option<PathBuf>,
    /// Distance for --leaks, in the metric's unit
    ///
    /// 0 finds rows at distance 0.
    #[arg(
        long,
        value_name = "EPS",
        value_parser = distance,
        allow_negative_numbers = true,
        requires = "leaks"
    )]
    pub eps: Option<f64>,
    #[command(flatten)]
    pub graph: GraphArgs,
}

fn distance(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|eps: &f64| *eps >= 0.0)
        .ok_or_else(|| format!("invalid distance `{text}`: must be 0 or more"))
}

impl AnalysisSelection {
    /// Whether the neighbours of every row are needed.
    pub fn needs_graph(&self) -> bool {
        let named = self.labels.is_some()
            || self.overlap.is_some()
            || self.duplicates.is_some()
            || self.graph.file().is_some();
        named || self.density || self.lof || self.hubness || self.lid || self.components
    }

    /// Bytes that the results need besides the neighbours.
    pub fn result_bytes(&self) -> ResultBytes {
        let sum = |parts: &[(bool, u64)]| parts.iter().map(|&(given, bytes)| u64::from(given) * bytes).sum();
        let (duplicates, labels) = (self.duplicates.is_some(), self.labels.is_some());
        ResultBytes {
            memory: sum(&[
                // A sorted copy of values, for quantiles.
                (true, 8),
                (self.hubness, 4),
                (self.overlap.is_some(), 8),
                (labels, 48),
                (duplicates, 16),
                (self.components, 16),
                // While groups are numbered.
                (duplicates || self.components, 24),
            ]),
            stored: sum(&[(self.density, 8), (self.lid, 8), (self.lof, 24)]),
        }
    }
}

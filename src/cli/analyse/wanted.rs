//! What is worked out, by flags.

use std::path::PathBuf;

use crate::cli::columns;
use crate::cli::graph::GraphArgs;
use crate::cloud::ColumnChoice;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Analyses")]
pub struct Wanted {
    /// Distance to the k-th neighbour
    #[arg(long)]
    pub density: bool,
    /// Local outlier factor, as scikit-learn's LocalOutlierFactor(n_neighbors=k)
    #[arg(long)]
    pub lof: bool,
    /// How often a row is among the neighbours of others, and the skewness of that
    #[arg(long)]
    pub hubness: bool,
    /// Local intrinsic dimension, by maximum likelihood (Levina and Bickel 2004)
    #[arg(long)]
    pub lid: bool,
    /// Share of neighbours with the same value in a column, and leave-one-out classification by their majority
    #[arg(long, value_name = "COLUMN")]
    pub labels: Option<String>,
    /// Groups of rows within a distance of one another, in the metric's unit (km with haversine, radians with angular, 1 − cos with cosine); 0 for rows at distance 0
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true)]
    pub duplicates: Option<f64>,
    /// Share of neighbours in common with another cloud of the same rows
    #[arg(long, value_name = "OTHER")]
    pub overlap: Option<PathBuf>,
    /// Columns of that cloud that are coordinates
    #[arg(long, value_name = "NAMES", requires = "overlap", value_parser = columns::parse)]
    pub overlap_columns: Option<ColumnChoice>,
    /// Connected components of the mutual graph: rows are joined where each is among the other's neighbours
    #[arg(long)]
    pub components: bool,
    /// Rows of OTHER within --eps of a row of IN
    #[arg(long, value_name = "OTHER", requires = "eps")]
    pub leaks: Option<PathBuf>,
    /// For --leaks: the distance, in the metric's unit; 0 for rows at distance 0
    #[arg(long, value_name = "EPS", value_parser = distance, allow_negative_numbers = true, requires = "leaks")]
    pub eps: Option<f64>,
    #[command(flatten)]
    pub graph: GraphArgs,
}

fn distance(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|eps: &f64| *eps >= 0.0).ok_or_else(|| format!("`{text}` is no distance, 0 or more"))
}

impl Wanted {
    /// Whether the neighbours of every row are needed.
    pub fn needs_graph(&self) -> bool {
        let named = self.labels.is_some() || self.overlap.is_some() || self.duplicates.is_some() || self.graph.file().is_some();
        named || self.density || self.lof || self.hubness || self.lid || self.components
    }
}

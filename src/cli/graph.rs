//! `--graph`: the graph of neighbours as a file, for `analyse` and `knn`.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::bar::Bar;
use super::paths;
use super::usage::Usage;
use crate::cloud::PointCloud;
use crate::export::graph::{GraphForm, linked};
use crate::export::table::TableFormat;
use crate::export::text;
use crate::run::graph::KnnGraph;
use crate::run::graph::links::Links;

#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Graph")]
pub struct GraphArgs {
    /// Writes the graph of neighbours to a file: an edge from every row to each of its neighbours, without the row itself
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    /// As what: umap (.npz of indices and distances, own row first, as precomputed_knn takes them), csr (.npz as SciPy's load_npz reads it) or edges (.csv, .tsv, .parquet, .arrow) [default: edges]
    #[arg(long, value_name = "KIND", requires = "graph", hide_possible_values = true)]
    graph_as: Option<GraphKind>,
    /// Joins two rows, both ways, where either is among the other's neighbours
    #[arg(long, requires = "graph", conflicts_with = "mutual")]
    symmetrise: bool,
    /// Joins two rows only where each is among the other's neighbours
    #[arg(long, requires = "graph")]
    mutual: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GraphKind {
    Umap,
    Csr,
    Edges,
}

impl GraphArgs {
    /// The file to write.
    pub fn file(&self) -> Option<&PathBuf> {
        self.graph.as_ref()
    }

    fn links(&self) -> Links {
        match (self.symmetrise, self.mutual) {
            (true, _) => Links::Either,
            (_, true) => Links::Both,
            _ => Links::Directed,
        }
    }

    /// Refuses a name that does not end as what is written, and what is no graph of its kind.
    ///
    /// # Errors
    /// [`Usage`], or that the ending is unknown.
    pub fn check(&self) -> anyhow::Result<()> {
        let Some(path) = &self.graph else { return Ok(()) };
        match self.graph_as {
            Some(GraphKind::Umap) if self.links() != Links::Directed => {
                let flag = if self.mutual { "--mutual" } else { "--symmetrise" };
                bail!(Usage(format!("{flag}: umap needs as many neighbours of each row; take --graph-as csr, or leave {flag} out")));
            }
            Some(GraphKind::Umap | GraphKind::Csr) => {
                let refused = |why| Usage(format!("--graph: {why}: {}", path.display()));
                paths::ending_in("npz")(&path.to_string_lossy()).map(|_| ()).map_err(refused)?;
            }
            Some(GraphKind::Edges) => TableFormat::of(path).map(|_| ())?,
            None if TableFormat::of(path)? == TableFormat::Npz => {
                bail!(Usage(format!("--graph: an .npz holds several kinds: give --graph-as umap or csr: {}", path.display())))
            }
            None => {}
        }
        Ok(())
    }

    /// Refuses more neighbours than there are other rows, where empty ranks have no meaning.
    ///
    /// # Errors
    /// That there are more.
    pub fn check_rows(&self, rows: usize, k: usize) -> anyhow::Result<()> {
        match &self.graph {
            Some(path) if self.graph_as == Some(GraphKind::Umap) && k >= rows => {
                bail!("--graph-as umap: k = {k} is more than the {}: {}", text::count(rows as u64 - 1, "other row", "other rows"), path.display())
            }
            _ => Ok(()),
        }
    }

    /// Writes it, and gives the file.
    ///
    /// # Errors
    /// Why it was not written.
    pub fn write(&self, graph: &KnnGraph<'_>, cloud: &PointCloud) -> anyhow::Result<Option<&Path>> {
        let Some(path) = &self.graph else { return Ok(None) };
        let form = match self.graph_as.unwrap_or(GraphKind::Edges) {
            GraphKind::Umap => GraphForm::Umap,
            GraphKind::Csr => GraphForm::Csr,
            GraphKind::Edges => GraphForm::Edges,
        };
        linked(form, (graph, self.links()), cloud, path, &Bar::new("writing the graph"))?;
        Ok(Some(path))
    }
}

//! Writes the k-nearest-neighbour graph of a cloud and its analyses to files.
//!
//! In tables, rows are record numbers, as everywhere. Matrices are indexed by the searched points, 0 to n −
//! 1; if rows were dropped, an array `rows` has the record number of each point.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use super::numpy::NpzWriter;
use super::table::Table;
use super::{ExportError, write};
use crate::cloud::PointCloud;
use crate::memory;
use crate::progress::Progress;
use crate::run::graph::links::{CsrGraph, LinkError, LinkMode};
use crate::run::graph::other_cloud::LeakCandidates;
use crate::run::graph::{Analysis, KnnGraph};

/// A file layout for graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphFormat {
    /// [`edges`], in the table format of the extension.
    Edges,
    /// [`csr`].
    Csr,
    /// [`umap`].
    Umap,
}

impl GraphFormat {
    pub const ALL: [Self; 3] = [Self::Edges, Self::Csr, Self::Umap];

    /// Writes a graph.
    ///
    /// # Errors
    /// [`ExportError`], and [`ExportError::Cancelled`], which leaves nothing behind.
    pub fn write(
        self,
        graph: &KnnGraph<'_>,
        cloud: &PointCloud,
        path: &Path,
        progress: &dyn Progress,
    ) -> Result<(), ExportError> {
        match self {
            Self::Edges => edges(graph, cloud).watched(progress).write(path),
            Self::Csr => csr(graph, cloud, path, progress),
            Self::Umap => umap(graph, cloud, path, progress),
        }
    }
}

/// Writes a graph with the given links. [`GraphFormat::Umap`] ignores `links` and has all neighbours.
///
/// # Errors
/// As [`GraphFormat::write`].
pub fn linked(
    form: GraphFormat,
    (graph, links): (&KnnGraph<'_>, LinkMode),
    cloud: &PointCloud,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    if links == LinkMode::Directed || form == GraphFormat::Umap {
        return form.write(graph, cloud, path, progress);
    }
    let linked = CsrGraph::new(graph, links, progress).map_err(|why| match why {
        LinkError::Cancelled(_) => ExportError::Cancelled,
        LinkError::Memory(short) => no_memory(short, path),
    })?;
    if form == GraphFormat::Edges {
        return linked_edges(&linked, graph, cloud).watched(progress).write(path);
    }
    let (others, distances) = (
        |point: usize| linked.edges_of(point).map(|edge| linked.to(edge)),
        |point: usize| linked.edges_of(point).map(|edge| linked.distance(edge)),
    );
    sparse((graph, others, distances), cloud, path, progress)
}

/// Iterates over the points while writing, reporting progress and stopping on cancellation.
struct PointProgress<'a> {
    progress: &'a dyn Progress,
    /// Number of passes over the points.
    passes: usize,
    done: Cell<u64>,
}

impl<'a> PointProgress<'a> {
    fn new(progress: &'a dyn Progress, passes: usize) -> Self {
        Self { progress, passes, done: Cell::new(0) }
    }

    fn points(&self, n: usize) -> impl Iterator<Item = usize> + '_ {
        (0..n).take_while(move |_| {
            let done = self.done.get();
            self.done.set(done + 1);
            if done.is_multiple_of(1 << 12) {
                self.progress.update(done, (n * self.passes) as u64);
            }
            !self.progress.cancelled()
        })
    }

    /// Writes a file, or nothing if cancelled.
    fn write(
        &self,
        path: &Path,
        content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let whole = |written: io::Result<()>| {
            if self.progress.cancelled() { Err(io::Error::other("cancelled")) } else { written }
        };
        write(path, |out| whole(content(out)))
            .map_err(|error| if self.progress.cancelled() { ExportError::Cancelled } else { error })
    }
}

/// The record number of a point.
fn record_of<'a>(graph: &'a KnnGraph<'a>, cloud: &'a PointCloud) -> impl Fn(usize) -> u64 + Copy + 'a {
    move |point| cloud.record(graph.row(point) as usize)
}

/// `row,rank,neighbor,distance`: one row per edge, from a row to each of its neighbours.
pub fn edges<'a>(graph: &'a KnnGraph<'a>, cloud: &'a PointCloud) -> Table<'a> {
    let (k, record) = (graph.k(), record_of(graph, cloud));
    // All points have the same number of neighbours.
    let width = k.min(graph.len().saturating_sub(1)).max(1);
    Table::new(graph.len() * width)
        .with("row", move |edge| record(edge / width))
        .with("rank", move |edge| (edge % width) as u32)
        .with("neighbor", move |edge| record(graph.neighbors(edge / width).0[edge % width] as usize))
        .with("distance", move |edge| graph.distance(edge / width, edge % width))
}

/// The columns of [`edges`] for linked edges; ranks are by distance.
fn linked_edges<'a>(linked: &'a CsrGraph, graph: &'a KnnGraph<'a>, cloud: &'a PointCloud) -> Table<'a> {
    let record = record_of(graph, cloud);
    Table::new(linked.edges())
        .with("row", move |edge| record(linked.from(edge)))
        .with("rank", move |edge| (edge - linked.edges_of(linked.from(edge)).start) as u32)
        .with("neighbor", move |edge| record(linked.to(edge) as usize))
        .with("distance", move |edge| linked.distance(edge))
}

/// Writes `indices` (i32) and `distances` (f32), n × (k + 1), each point first in its own row: the
/// `precomputed_knn` of umap-learn for `n_neighbors` up to k + 1. Missing neighbours are −1 and infinity.
///
/// # Errors
/// [`ExportError`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn umap(
    graph: &KnnGraph<'_>,
    cloud: &PointCloud,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    check_width(graph, path)?;
    let (n, width) = (graph.len(), graph.k() + 1);
    let watch = PointProgress::new(progress, 2);
    watch.write(path, |out| {
        let mut npz = NpzWriter::new(out);
        let places = || watch.points(n).flat_map(move |point| (0..width).map(move |rank| (point, rank)));
        let index = |(point, rank): (usize, usize)| match rank.checked_sub(1) {
            None => point as i32,
            Some(rank) => graph.neighbors(point).0.get(rank).map_or(-1, |&other| other as i32),
        };
        let distance = |(point, rank): (usize, usize)| match rank.checked_sub(1) {
            None => 0.0,
            Some(rank) => graph.distance(point, rank) as f32,
        };
        npz.matrix("indices", "<i4", (n, width), places().map(|place| index(place).to_le_bytes()))?;
        npz.matrix("distances", "<f4", (n, width), places().map(|place| distance(place).to_le_bytes()))?;
        finish(npz, graph, cloud)
    })
}

/// Writes a sparse n × n matrix of distances for `scipy.sparse.load_npz`: a row's neighbours, nearest first,
/// excluding the row itself. Distances of 0 are stored explicitly.
///
/// # Errors
/// [`ExportError`], and [`ExportError::Cancelled`], which leaves nothing behind.
pub fn csr(
    graph: &KnnGraph<'_>,
    cloud: &PointCloud,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    sparse(
        (graph, |point| graph.neighbors(point).0.iter().copied(), |point| graph.distances(point)),
        cloud,
        path,
        progress,
    )
}

/// As [`csr`], for edges given by functions from a point to its neighbours and their distances.
fn sparse<O: ExactSizeIterator<Item = u32>, D: Iterator<Item = f64>>(
    (graph, others, distances): (&KnnGraph<'_>, impl Fn(usize) -> O, impl Fn(usize) -> D),
    cloud: &PointCloud,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(), ExportError> {
    check_width(graph, path)?;
    let n = graph.len();
    let mut starts = memory::filled(n + 1, 0_i64).map_err(|short| no_memory(short, path))?;
    for point in 0..n {
        starts[point + 1] = starts[point] + others(point).len() as i64;
    }
    let watch = PointProgress::new(progress, 2);
    watch.write(path, |out| {
        let mut npz = NpzWriter::new(out);
        let count = starts[n];
        // SciPy expects both arrays to have the same type, and 32 bits where they suffice.
        if i32::try_from(count).is_ok() {
            let indices = watch.points(n).flat_map(&others).map(|other| (other as i32).to_le_bytes());
            npz.column("indices", "<i4", count as usize, indices)?;
            npz.column("indptr", "<i4", n + 1, starts.iter().map(|&start| (start as i32).to_le_bytes()))?;
        } else {
            let indices = watch.points(n).flat_map(&others).map(|other| i64::from(other).to_le_bytes());
            npz.column("indices", "<i8", count as usize, indices)?;
            npz.column("indptr", "<i8", n + 1, starts.iter().map(|start| start.to_le_bytes()))?;
        }
        npz.scalar("format", "|S3", *b"csr")?;
        npz.column("shape", "<i8", 2, [n as i64; 2].into_iter().map(i64::to_le_bytes))?;
        npz.column(
            "data",
            "<f8",
            count as usize,
            watch.points(n).flat_map(&distances).map(f64::to_le_bytes),
        )?;
        finish(npz, graph, cloud)
    })
}

fn no_memory(short: memory::InsufficientMemory, path: &Path) -> ExportError {
    ExportError::Memory {
        what: "the graph".to_owned(),
        short,
        remedy: "use fewer points or a smaller k",
        path: path.to_owned(),
    }
}

/// Refuses graphs with too many points for 32-bit indices.
fn check_width(graph: &KnnGraph<'_>, path: &Path) -> Result<(), ExportError> {
    let point = graph.len();
    if i32::try_from(point).is_ok() {
        return Ok(());
    }
    Err(ExportError::Width { what: format!("point {point}"), extension: "npz", path: path.to_owned() })
}

fn finish(mut npz: NpzWriter<'_>, graph: &KnnGraph<'_>, cloud: &PointCloud) -> io::Result<()> {
    let record = record_of(graph, cloud);
    if (0..graph.len()).any(|point| record(point) != point as u64) {
        npz.column(
            "rows",
            "<i8",
            graph.len(),
            (0..graph.len()).map(|point| (record(point) as i64).to_le_bytes()),
        )?;
    }
    npz.finish()
}

/// `row` and the columns of each analysis of n points; `record` returns the record number of a point.
pub fn analysis<'a>(n: usize, record: impl Fn(usize) -> u64 + 'a, analysis: &'a Analysis) -> Table<'a> {
    let mut table = Table::new(n).with("row", record);
    if let Some(values) = &analysis.density {
        table = table.with("k_distance", |point| values[point]);
    }
    if let Some(values) = &analysis.lof {
        table = table.with("lof", |point| values[point]);
    }
    if let Some(values) = &analysis.occurrences {
        table = table.with("k_occurrence", |point| values[point]);
    }
    if let Some(values) = &analysis.lid {
        table = table.with("lid", |point| Some(values[point]).filter(|value| !value.is_nan()));
    }
    if let Some(values) = &analysis.shades {
        table = table.with("shade", |point| values[point]);
    }
    if let Some((labels, votes)) = &analysis.labels {
        let name = |place: Option<u32>| place.map(|place| labels.names()[place as usize].as_str());
        table = table
            .with("label", move |point| name(labels.label(point)))
            .with("same_label", |point| votes[point].same)
            .with("predicted_label", move |point| name(votes[point].predicted));
    }
    if let Some(groups) = &analysis.duplicates {
        let group = |point: usize| groups.sets.group_of[point];
        table = table
            .with("duplicate_group", group)
            .with("duplicate_group_size", move |point| {
                group(point).map(|group| groups.sets.sizes[group as usize])
            })
            .with("duplicate_group_open", move |point| {
                group(point).map(|group| u32::from(groups.open[group as usize]))
            });
    }
    if let Some(values) = &analysis.overlap {
        table = table.with("overlap", |point| values[point]);
    }
    if let Some(sets) = &analysis.components {
        table = table.with("component", |point| sets.group_of[point]);
    }
    table
}

/// `row,nearest,distance,leak`: for each row of the other cloud, the nearest row of this one.
pub fn leaks<'a>(
    leaks: &'a LeakCandidates,
    other: &'a PointCloud,
    rows: &'a [u32],
    cloud: &'a PointCloud,
) -> Table<'a> {
    Table::new(leaks.nearest.len())
        .with("row", move |query| other.record(rows[query] as usize))
        .with("nearest", |query| cloud.record(leaks.nearest[query].0 as usize))
        .with("distance", |query| leaks.nearest[query].1)
        .with("leak", |query| u32::from(leaks.is_leak(query)))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::cloud::{ColumnChoice, formats};
    use crate::progress::NoProgress;
    use crate::run::{EnginePool, LoadedSpec, QuerySpec, RunRecord, RunSpec, testing};

    /// Rows 0, 1 and 3 of four on a line; row 2 has no value.
    fn neighbours(k: usize) -> RunRecord {
        let cloud = testing::named(&["x"], vec![0.0, 1.0, f64::NAN, 3.0]);
        let spec = RunSpec { exclude_self: true, ..RunSpec::new(cloud.source().clone(), QuerySpec::All, k) };
        EnginePool::default().answer(LoadedSpec::new(&spec, &cloud, None), &mut |_, _| true).unwrap()
    }

    fn array(path: &Path, name: &str) -> Vec<f64> {
        formats::read(&formats::path_of(path, name), &ColumnChoice::Default, &NoProgress)
            .unwrap()
            .values
            .iter()
            .collect()
    }

    #[test]
    fn sparse_matrices_match_scipys_format() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("csr.npz");
        let record = neighbours(1);
        let graph = KnnGraph::of_run(&record).unwrap();
        csr(&graph, &record.cloud, &path, &NoProgress).unwrap();
        let array = |name| array(&path, name);
        assert_eq!(
            (array("indptr"), array("indices"), array("data")),
            (vec![0.0, 1.0, 2.0, 3.0], vec![1.0, 0.0, 1.0], vec![1.0, 1.0, 2.0])
        );
        assert_eq!((array("shape"), array("rows")), (vec![3.0, 3.0], vec![0.0, 1.0, 3.0]));
        let mut archive = zip::ZipArchive::new(File::open(&path).unwrap()).unwrap();
        let mut format = Vec::new();
        archive.by_name("format.npy").unwrap().read_to_end(&mut format).unwrap();
        assert!(
            format.ends_with(b"\ncsr")
                && String::from_utf8_lossy(&format)
                    .contains("'descr': '|S3', 'fortran_order': False, 'shape': (), ")
        );
    }

    #[test]
    fn umap_rows_start_with_the_point_and_mark_missing_neighbours() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("umap.npz");
        let record = neighbours(3);
        umap(&KnnGraph::of_run(&record).unwrap(), &record.cloud, &path, &NoProgress).unwrap();
        assert_eq!(
            array(&path, "indices"),
            [[0.0, 1.0, 2.0, -1.0], [1.0, 0.0, 2.0, -1.0], [2.0, 1.0, 0.0, -1.0]].concat()
        );
        let inf = f64::INFINITY;
        assert_eq!(
            array(&path, "distances"),
            [[0.0, 1.0, 3.0, inf], [0.0, 1.0, 2.0, inf], [0.0, 2.0, 3.0, inf]].concat()
        );
    }

    #[test]
    fn edges_use_record_numbers() {
        let record = neighbours(5);
        let graph = KnnGraph::of_run(&record).unwrap();
        let tsv = edges(&graph, &record.cloud).tsv();
        assert_eq!(
            tsv,
            "row\trank\tneighbor\tdistance\n0\t0\t1\t1\n0\t1\t3\t3\n1\t0\t0\t1\n1\t1\t3\t2\n3\t0\t1\t2\n\
             3\t1\t0\t3\n"
        );
    }
    /// Counts reports, and cancels after some.
    struct CountdownProgress(std::sync::atomic::AtomicUsize);

    impl Progress for CountdownProgress {
        fn update(&self, done: u64, total: u64) {
            assert!(done <= total, "{done} of {total}");
            let left = &self.0;
            left.store(
                left.load(std::sync::atomic::Ordering::Relaxed).saturating_sub(1),
                std::sync::atomic::Ordering::Relaxed,
            );
        }

        fn cancelled(&self) -> bool {
            self.0.load(std::sync::atomic::Ordering::Relaxed) == 0
        }
    }

    #[test]
    fn cancelled_exports_preserve_the_existing_file() {
        let folder = tempfile::tempdir().unwrap();
        let record = neighbours(2);
        let graph = KnnGraph::of_run(&record).unwrap();
        for (form, name) in GraphFormat::ALL.into_iter().zip(["a.csv", "csr.npz", "umap.npz"]) {
            let path = folder.path().join(name);
            std::fs::write(&path, "before").unwrap();
            // A table of text checks for cancellation only once in thousands of rows.
            let stops = CountdownProgress(usize::from(form != GraphFormat::Edges).into());
            let error = form.write(&graph, &record.cloud, &path, &stops).unwrap_err();
            assert!(
                matches!(error, ExportError::Cancelled) && std::fs::read(&path).unwrap() == b"before",
                "{form:?}: {error}"
            );
            form.write(&graph, &record.cloud, &path, &CountdownProgress(usize::MAX.into())).unwrap();
            assert!(std::fs::read(&path).unwrap().len() > 20, "{form:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file remains");
        for ending in ["parquet", "npz"] {
            let path = folder.path().join("b").with_extension(ending);
            let error = GraphFormat::Edges
                .write(&graph, &record.cloud, &path, &CountdownProgress(1.into()))
                .unwrap_err();
            assert!(matches!(error, ExportError::Cancelled) && !path.exists(), "{ending}: {error}");
        }
    }
}

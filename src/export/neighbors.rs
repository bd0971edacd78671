//! Neighbours in common file formats.

mod arrays;
mod size;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::answers::{self, Annotations, FileColumns};
use super::numpy::NpyWriter;
use super::placed::PlacedArray;
use super::provenance::Provenance;
use super::table::{Appender, TableFormat, is_geojson};
use super::{ExportError, write};
use crate::cloud::{GlobeAxes, PointCloud};
use crate::files;
use crate::knn::Goal;
use crate::run::{AnswerBatch, BatchAnswers, RunRecord};
pub(super) use arrays::NeighborArrays;
use size::check_width;
pub use size::{Size, SizeEstimate, check_room};

/// A format for neighbours, selected by extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NeighborFormat {
    /// The columns of [`answers::table`], comma-separated.
    Csv,
    /// The same columns, tab-separated.
    Tsv,
    /// The same columns, typed as u32, u64, u32, i64, f32 and f64.
    Parquet,
    /// The same columns and types, as an Arrow IPC file.
    Arrow,
    /// `indices` (i64), `squared_distances` (f32) and true distances (f64,
    /// [`Metric::array`](crate::knn::Metric::array)), one row per query; if queries are rows, `query_rows`
    /// (i64), one value per query.
    Npz,
    /// A feature per neighbour with the same columns, for longitude and latitude.
    GeoJson,
    /// Record numbers only, as i64, one row per query.
    Npy,
    /// Record numbers as i32, each row preceded by its length; squared distances in a `.fvecs` of the same
    /// name.
    Vecs,
    /// Rows and columns as u32, then record numbers as i32 (big-ann-benchmarks); squared distances in a
    /// `.fbin`.
    Bin,
}

impl NeighborFormat {
    /// All formats, in display order.
    pub const ALL: [Self; 9] = [
        Self::Csv,
        Self::Tsv,
        Self::Parquet,
        Self::Arrow,
        Self::Npz,
        Self::GeoJson,
        Self::Npy,
        Self::Vecs,
        Self::Bin,
    ];

    /// The extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
            Self::Npz => "npz",
            Self::GeoJson => "geojson",
            Self::Npy => "npy",
            Self::Vecs => "ivecs",
            Self::Bin => "ibin",
        }
    }

    /// The extension of the companion file with the squared distances, for formats with one type of number
    /// per file.
    pub fn distance_extension(self) -> Option<&'static str> {
        match self {
            Self::Vecs => Some("fvecs"),
            Self::Bin => Some("fbin"),
            Self::Csv | Self::Tsv | Self::Parquet | Self::Arrow | Self::Npz | Self::GeoJson | Self::Npy => {
                None
            }
        }
    }

    /// Whether its files store the queries' row numbers; the others store a single matrix.
    pub fn has_query_rows(self) -> bool {
        self.is_table() || self == Self::Npz
    }

    /// Whether its files have a row per neighbour, to which columns can be added.
    pub fn is_table(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Parquet | Self::Arrow | Self::GeoJson)
    }

    /// The format for a path's extension.
    ///
    /// # Errors
    /// [`ExportError::Extension`] if no format has that extension.
    pub fn from_path(path: &Path) -> Result<Self, ExportError> {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let found = Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension));
        found.ok_or_else(|| ExportError::Extension { path: path.to_owned() })
    }

    /// The format for a path's extension. Goals other than the k nearest need a table or arrays.
    ///
    /// # Errors
    /// [`ExportError::Extension`], [`ExportError::TableExtension`].
    pub fn for_goal(goal: Goal, path: &Path) -> Result<Self, ExportError> {
        if goal != Goal::Nearest && !is_geojson(path) {
            TableFormat::from_path(path)?;
        }
        Self::from_path(path)
    }

    /// The files written for a path: itself and its companion, if any.
    pub fn files(self, path: &Path) -> Vec<PathBuf> {
        std::iter::once(path.to_owned())
            .chain(self.distance_extension().map(|distance_path| path.with_extension(distance_path)))
            .collect()
    }
}

/// Checks before a search that neighbours in a cloud have the positions that GeoJSON needs.
///
/// # Errors
/// [`ExportError::NoPositions`].
pub fn check_positions(path: &Path, cloud: &PointCloud) -> Result<(), ExportError> {
    if is_geojson(path) && GlobeAxes::on_earth(cloud.axes()).is_none() {
        return Err(ExportError::NoPositions { path: path.to_owned() });
    }
    Ok(())
}

/// Writes all neighbours in the format of the extension, and returns the paths of the files written. Missing
/// neighbours have index −1 and distance infinity.
///
/// # Errors
/// [`ExportError`] if the extension is unknown, a number exceeds the format, or writing fails.
pub fn neighbors(record: &RunRecord, path: &Path) -> Result<Vec<PathBuf>, ExportError> {
    neighbors_of(record, 0..record.neighbors.queries(), path)
}

/// As [`neighbors`], for a range of the run's queries; in tables, queries keep their numbers in the run.
///
/// # Errors
/// The same as those of [`neighbors`].
///
/// # Panics
/// If the range exceeds the run's queries.
pub fn neighbors_of(
    record: &RunRecord,
    queries: Range<usize>,
    path: &Path,
) -> Result<Vec<PathBuf>, ExportError> {
    let size = Size { q: queries.len(), k: record.neighbors.k, metric: record.spec.metric };
    let context = Annotations { columns: FileColumns::none(), provenance: &Provenance::of_run(record) };
    in_batches(path, Goal::Nearest, size, context, |writer| {
        writer.append(AnswerBatch::of_run(record, queries.clone(), queries.start))
    })
}

/// Writes neighbours as they arrive: `fill` appends them batch by batch, in query order. The files get their
/// names once it succeeds; if it fails, none are left. Batches do not affect the bytes, except that each ends
/// a Parquet row group or an Arrow record batch. Arrays of other goals than the k nearest need a single
/// batch. Only one batch is in memory.
///
/// # Errors
/// Errors of `fill`, and those of [`neighbors`], converted.
pub fn in_batches<E: From<ExportError>>(
    path: &Path,
    goal: Goal,
    size: Size,
    context: Annotations<'_>,
    fill: impl FnOnce(&mut NeighborWriter<'_>) -> Result<(), E>,
) -> Result<Vec<PathBuf>, E> {
    let format = NeighborFormat::for_goal(goal, path)?;
    check_width(format, size, path)?;
    let fill = |layout: Layout<'_>| {
        let mut writer = NeighborWriter { layout, size, format, path };
        fill(&mut writer)?;
        Ok::<(), E>(writer.finish()?)
    };
    match format {
        NeighborFormat::Csv => streamed(path, |out| fill(table(Appender::csv(out), context))),
        NeighborFormat::Tsv => streamed(path, |out| fill(table(Appender::tsv(out), context))),
        NeighborFormat::Parquet => streamed(path, |out| fill(table(Appender::parquet(out), context))),
        NeighborFormat::Arrow => streamed(path, |out| fill(table(Appender::arrow_file(out), context))),
        NeighborFormat::GeoJson => streamed(path, |out| fill(table(Appender::geojson(out), context))),
        // A pipe has no offsets.
        NeighborFormat::Npy if files::is_pipe(path) => streamed(path, |out| {
            let matrix = NeighborStream::new(format, size, context, out).map_err(ExportError::io(path))?;
            fill(Layout::Streamed(matrix))
        }),
        NeighborFormat::Npy => streamed(path, |out| {
            fill(Layout::Npy(arrays::matrix(out, size, format).map_err(ExportError::io(path))?))
        }),
        NeighborFormat::Npz => streamed(path, |out| fill(Layout::Npz(NeighborArrays::new(out, size.q)))),
        NeighborFormat::Vecs | NeighborFormat::Bin => {
            let distance_path = path.with_extension(format.distance_extension().unwrap_or_default());
            // Distances are renamed first, so that a program that waits for the named file finds both.
            streamed(path, |indices| {
                streamed(&distance_path, |distances| {
                    let indices = arrays::matrix(indices, size, format).map_err(ExportError::io(path))?;
                    let distances =
                        arrays::matrix(distances, size, format).map_err(ExportError::io(&distance_path))?;
                    fill(Layout::Pair { indices, distances, distance_path: &distance_path })
                })
            })
        }
    }?;
    Ok(format.files(path))
}

/// As [`write`], for content that may fail with errors besides I/O errors.
fn streamed<E: From<ExportError>>(
    path: &Path,
    content: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut failed = None;
    let written = write(path, |out| {
        content(out).map_err(|why| {
            failed = Some(why);
            io::Error::other("aborted")
        })
    });
    match failed {
        Some(why) => Err(why),
        None => Ok(written?),
    }
}

/// Files of neighbours that are being written ([`in_batches`]).
pub struct NeighborWriter<'a> {
    layout: Layout<'a>,
    size: Size,
    format: NeighborFormat,
    path: &'a Path,
}

enum Layout<'a> {
    Streamed(NeighborStream<'a, &'a mut BufWriter<File>>),
    Npz(NeighborArrays<'a>),
    Npy(PlacedArray<'a>),
    Pair { indices: PlacedArray<'a>, distances: PlacedArray<'a>, distance_path: &'a Path },
}

fn table<'a>(appender: Appender<&'a mut BufWriter<File>>, context: Annotations<'a>) -> Layout<'a> {
    Layout::Streamed(NeighborStream::for_tables(appender, context))
}

impl NeighborWriter<'_> {
    /// Appends a batch.
    ///
    /// # Errors
    /// [`ExportError::NoPositions`], [`ExportError::Width`], [`ExportError::Io`].
    ///
    /// # Panics
    /// If its k differs from the file's.
    pub fn append(&mut self, batch: AnswerBatch<'_>) -> Result<(), ExportError> {
        let io = ExportError::io;
        check_positions(self.path, batch.cloud)?;
        let squared: &[f32] = if let BatchAnswers::Nearest { k, squared, .. } = batch.found {
            assert_eq!(k, self.size.k, "all queries of a file have the same k");
            squared
        } else {
            &[]
        };
        match &mut self.layout {
            Layout::Streamed(table) => table.append(batch),
            Layout::Npz(arrays) => arrays.append(batch),
            Layout::Npy(indices) => arrays::append_indices(indices, batch),
            Layout::Pair { indices, distances, distance_path } => {
                if let Some(index) = arrays::long_index(batch) {
                    let (extension, path) = (self.format.extension(), self.path.to_owned());
                    return Err(ExportError::Width { what: format!("index {index}"), extension, path });
                }
                let rows = (self.size.k, self.format);
                arrays::append_rows(distances, rows, squared.len(), |at| squared[at].to_le_bytes())
                    .map_err(io(distance_path))?;
                let index = |at| (batch.record(at) as i32).to_le_bytes();
                arrays::append_rows(indices, rows, batch.len(), index)
            }
        }
        .map_err(io(self.path))
    }

    fn finish(self) -> Result<(), ExportError> {
        match self.layout {
            Layout::Streamed(table) => table.finish(),
            Layout::Npz(arrays) => arrays.finish(),
            Layout::Npy(_) | Layout::Pair { .. } => Ok(()),
        }
        .map_err(ExportError::io(self.path))
    }
}

#[cfg(test)]
mod tests;

/// Neighbours that are written to a stream.
pub struct NeighborStream<'a, W: Write + Send> {
    layout: StreamLayout<W>,
    context: Annotations<'a>,
}

enum StreamLayout<W: Write + Send> {
    Table(Appender<W>),
    Npy(NpyWriter<W>),
}

impl<'a, W: Write + Send> NeighborStream<'a, W> {
    /// A stream for a known number of neighbours, which a matrix needs in its header. Arrow is an IPC stream.
    ///
    /// # Errors
    /// I/O errors of the writer, and formats that cannot be streamed.
    pub fn new(format: NeighborFormat, size: Size, context: Annotations<'a>, out: W) -> io::Result<Self> {
        let layout = match format {
            NeighborFormat::Csv => StreamLayout::Table(Appender::csv(out)),
            NeighborFormat::Tsv => StreamLayout::Table(Appender::tsv(out)),
            NeighborFormat::Parquet => StreamLayout::Table(Appender::parquet(out)),
            NeighborFormat::Arrow => StreamLayout::Table(Appender::arrow_stream(out)),
            NeighborFormat::Npy => StreamLayout::Npy(NpyWriter::matrix(out, "<i8", (size.q, size.k))?),
            NeighborFormat::GeoJson => StreamLayout::Table(Appender::geojson(out)),
            NeighborFormat::Npz | NeighborFormat::Vecs | NeighborFormat::Bin => {
                return Err(io::ErrorKind::NotSeekable.into());
            }
        };
        Ok(Self { layout, context })
    }

    /// A stream of tables.
    pub(super) fn for_tables(appender: Appender<W>, context: Annotations<'a>) -> Self {
        Self { layout: StreamLayout::Table(appender), context }
    }

    /// Appends a batch.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn append(&mut self, batch: AnswerBatch<'_>) -> io::Result<()> {
        match &mut self.layout {
            StreamLayout::Table(appender) => {
                appender.append(&answers::table(batch, self.context.columns, self.context.provenance))
            }
            StreamLayout::Npy(npy) => npy.values((0..batch.len()).map(|at| batch.record(at).to_le_bytes())),
        }
    }

    /// Writes what is still buffered.
    ///
    /// # Errors
    /// I/O errors of the writer.
    pub fn finish(self) -> io::Result<()> {
        match self.layout {
            StreamLayout::Table(appender) => appender.finish(),
            StreamLayout::Npy(npy) => npy.finish(),
        }
    }
}

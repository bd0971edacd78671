//! Neighbours in common file formats.

mod size;

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::answers::{self, Annotations, FileColumns};
use super::numpy::{NpyWriter, NpzWriter};
use super::provenance::Provenance;
use super::table::{Appender, TableFormat, is_geojson};
use super::{ExportError, write};
use crate::cloud::{GlobeAxes, PointCloud};
use crate::knn::Goal;
use crate::run::{AnswerBatch, BatchAnswers, RunRecord};
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
        NeighborFormat::Npy => streamed(path, |out| {
            let matrix = NeighborStream::new(format, size, context, out).map_err(ExportError::io(path))?;
            fill(Layout::Streamed(matrix))
        }),
        NeighborFormat::Npz if goal != Goal::Nearest => streamed(path, |out| fill(Layout::Arrays(out))),
        NeighborFormat::Npz => streamed(path, |out| {
            let arrays =
                NpzArrayWriter::new(out, size, path, MAX_HELD_BYTES).map_err(ExportError::io(path))?;
            fill(Layout::Npz(Box::new(arrays)))
        }),
        NeighborFormat::Vecs | NeighborFormat::Bin => {
            let distance_path = path.with_extension(format.distance_extension().unwrap_or_default());
            // Distances are renamed first, so that a program that waits for the named file finds both.
            streamed(path, |indices| {
                streamed(&distance_path, |distances| {
                    let indices = RowWriter::new(indices, size, format).map_err(ExportError::io(path))?;
                    let distances =
                        RowWriter::new(distances, size, format).map_err(ExportError::io(&distance_path))?;
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
    Npz(Box<NpzArrayWriter<'a>>),
    /// For a single batch.
    Arrays(&'a mut BufWriter<File>),
    Pair {
        indices: RowWriter<'a>,
        distances: RowWriter<'a>,
        distance_path: &'a Path,
    },
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
        let indices = || (0..batch.len()).map(move |at| batch.record(at));
        let squared: &[f32] = if let BatchAnswers::Nearest { k, squared, .. } = batch.found {
            assert_eq!(k, self.size.k, "all queries of a file have the same k");
            squared
        } else {
            &[]
        };
        let distances = || squared.iter().map(|distance| distance.to_le_bytes());
        match &mut self.layout {
            Layout::Streamed(table) => table.append(batch).map_err(io(self.path)),
            Layout::Npz(arrays) => {
                arrays.push_queries(batch);
                let distances =
                    squared.iter().enumerate().map(|(at, &squared)| (squared, batch.distance(at)));
                arrays.append(indices().map(i64::to_le_bytes), distances).map_err(io(self.path))
            }
            Layout::Arrays(out) => answers::arrays(batch, out).map_err(io(self.path)),
            Layout::Pair { indices: of_indices, distances: of_distances, distance_path } => {
                if let Some(index) = indices().find(|&index| i32::try_from(index).is_err()) {
                    let extension = self.format.extension();
                    return Err(ExportError::Width {
                        what: format!("index {index}"),
                        extension,
                        path: self.path.to_owned(),
                    });
                }
                of_distances.append(distances()).map_err(io(distance_path))?;
                of_indices.append(indices().map(|index| (index as i32).to_le_bytes())).map_err(io(self.path))
            }
        }
    }

    fn finish(self) -> Result<(), ExportError> {
        match self.layout {
            Layout::Streamed(table) => table.finish(),
            Layout::Npz(arrays) => arrays.finish(),
            Layout::Arrays(_) => Ok(()),
            // Flushes both files before either takes its place.
            Layout::Pair { indices, distances, .. } => {
                indices.out.flush().and_then(|()| distances.out.flush())
            }
        }
        .map_err(ExportError::io(self.path))
    }
}

/// Rows of k values of four bytes.
struct RowWriter<'a> {
    out: &'a mut BufWriter<File>,
    k: usize,
    /// Whether each row is preceded by its length.
    lengths: bool,
}

impl<'a> RowWriter<'a> {
    fn new(out: &'a mut BufWriter<File>, size: Size, format: NeighborFormat) -> io::Result<Self> {
        let lengths = format == NeighborFormat::Vecs;
        if !lengths {
            out.write_all(&(size.q as u32).to_le_bytes())?;
            out.write_all(&(size.k as u32).to_le_bytes())?;
        }
        Ok(Self { out, k: size.k, lengths })
    }

    /// Appends whole rows.
    fn append(&mut self, values: impl Iterator<Item = [u8; 4]>) -> io::Result<()> {
        for (at, value) in values.enumerate() {
            if self.lengths && at % self.k == 0 {
                self.out.write_all(&(self.k as i32).to_le_bytes())?;
            }
            self.out.write_all(&value)?;
        }
        Ok(())
    }
}

/// Limit on distances that are held back in memory, in bytes.
const MAX_HELD_BYTES: usize = 64 << 20;

/// The arrays of [`NeighborFormat::Npz`]. An archive has one array after the other, so distances are held
/// back until all indices are written: in memory or, if they are many, in an unnamed file.
struct NpzArrayWriter<'a> {
    npz: NpzWriter<&'a mut BufWriter<File>>,
    distances: SpooledTempFile,
    /// The queries' record numbers so far; empty if the query is not a row.
    query_rows: Vec<u64>,
    size: Size,
}

impl<'a> NpzArrayWriter<'a> {
    /// Starts an archive. More than `max_held_bytes` bytes of distances are held back in a file in the folder
    /// of `path`.
    fn new(out: &'a mut BufWriter<File>, size: Size, path: &Path, max_held_bytes: usize) -> io::Result<Self> {
        let mut npz = NpzWriter::new(out);
        npz.begin_matrix("indices", "<i8", (size.q, size.k), 8)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Self { npz, distances: spooled_tempfile_in(max_held_bytes, folder), query_rows: Vec::new(), size })
    }

    fn push_queries(&mut self, batch: AnswerBatch<'_>) {
        if let Some((cloud, rows)) = batch.queries {
            self.query_rows.extend(rows.iter().map(|&row| cloud.record(row as usize)));
        }
    }

    fn append(
        &mut self,
        indices: impl Iterator<Item = [u8; 8]>,
        distances: impl Iterator<Item = (f32, f64)>,
    ) -> io::Result<()> {
        self.npz.values(indices)?;
        let mut waiting = BufWriter::with_capacity(CHUNK_BYTES, &mut self.distances);
        for (squared, distance) in distances {
            waiting.write_all(&squared.to_le_bytes())?;
            waiting.write_all(&distance.to_le_bytes())?;
        }
        waiting.flush()
    }

    fn finish(mut self) -> io::Result<()> {
        let Size { q, k, metric } = self.size;
        self.npz.begin_matrix("squared_distances", "<f4", (q, k), 4)?;
        self.distances(|npz, slots| npz.values(slots.iter().map(|slot| slot.as_chunks::<4>().0[0])))?;
        self.npz.begin_matrix(metric.array(), "<f8", (q, k), 8)?;
        self.distances(|npz, slots| npz.values(slots.iter().map(|slot| slot[4..].as_chunks::<8>().0[0])))?;
        if !self.query_rows.is_empty() {
            self.npz.column(
                "query_rows",
                "<i8",
                self.query_rows.len(),
                self.query_rows.iter().map(|row| row.to_le_bytes()),
            )?;
        }
        self.npz.finish()
    }

    /// Passes on the held-back distances, some at a time.
    fn distances(
        &mut self,
        mut write: impl FnMut(&mut NpzWriter<&'a mut BufWriter<File>>, &[[u8; SLOT]]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.distances.rewind()?;
        let mut left = self.size.q as u64 * self.size.k as u64 * SLOT as u64;
        let mut chunk = vec![0; CHUNK_BYTES / SLOT * SLOT];
        while left > 0 {
            let length = left.min(chunk.len() as u64) as usize;
            let chunk = &mut chunk[..length];
            self.distances.read_exact(chunk)?;
            write(&mut self.npz, chunk.as_chunks().0)?;
            left -= chunk.len() as u64;
        }
        Ok(())
    }
}

/// Bytes of a neighbour that are held back: its squared distance (f32) and its distance (f64).
const SLOT: usize = 12;

/// Bytes of distances to read or write at a time.
const CHUNK_BYTES: usize = 1 << 16;

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

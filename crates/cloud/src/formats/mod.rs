//! Readers, one file per format, behind one registry.
//!
//! The file's extension determines the format, and the first bytes must agree with it. A reader delivers a [`Sheet`]: the
//! names of all columns, and the values of those that may be needed. No reader allocates by a number in a header before
//! checking that number against the size of the file, and none panics on malformed content.

mod arrow;
mod bounded;
mod cell;
mod columns;
mod contain;
mod crs;
mod delimited;
mod e57;
mod guess;
mod hdf5;
mod idx;
mod input;
mod json;
mod las;
pub mod limits;
mod lzf;
mod marks;
mod molecule;
mod npy;
mod npz;
mod number;
mod parts;
mod pcd;
mod ply;
mod recognise;
mod sheet;
mod stamp;
mod unpacked;
mod vector_cell;
mod vectors;
mod words;

use std::io;
use std::path::{Path, PathBuf};

pub use arrow::Moment;
pub use columns::{Cell, ColumnData, Records, column, columns_of, records, records_by_marks, records_of_columns};
pub use contain::{Broken, contained};
pub use guess::{Guess, Guessed, Reason};
use input::Input;
pub use limits::MAX_CATEGORIES;
pub use marks::Marks;
pub use parts::{Entry, file_of, path_of, path_without_lines};
use recognise::recognise;
use sheet::Want;
pub use sheet::{ColumnInfo, ColumnKind, FileInfo, Sheet};
pub use stamp::Stamp;

use super::{ColumnChoice, Coordinates, Hint, Unchosen};
use crate::progress::Progress;

/// Why a file cannot be read. The path is always last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// An error of the operating system.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// The error as reported by the system.
        why: io::Error,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file was written, replaced or removed while it was read.
    #[error("the file changed while it was being read; try again when it is complete: {}", path.display())]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is not the one any more that a cloud was read from.
    #[error("the file has changed since its points were read; load it again: {}", path.display())]
    Outdated {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file violates its format.
    #[error("{what}: {why}: {}", path.display())]
    Malformed {
        /// The part of the file: a line, a record, the header.
        what: String,
        /// What is wrong with it.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file may be valid, but uses a feature that is not supported.
    #[error("{what}: {why}: {}", path.display())]
    Unsupported {
        /// The format or feature.
        what: String,
        /// What to do instead.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// The file contains several clouds, and the choice is ambiguous.
    #[error("several clouds: say which with FILE:NAME; there are {}: {}", parts::list(parts), path.display())]
    Ambiguous {
        /// All clouds in the file.
        parts: Vec<Entry>,
        /// Path of the file.
        path: PathBuf,
    },
    /// No column has a requested name.
    #[error("{what}: {why}: {}", path.display())]
    NoColumn {
        /// The column that was requested.
        what: String,
        /// The columns that do exist.
        why: String,
        /// Path of the file.
        path: PathBuf,
    },
    /// A requested column is ambiguous, or is not entirely numeric.
    #[error("{what}: {why}{}: {}", hint.map(|hint| format!("; {}", hint.option())).unwrap_or_default(), path.display())]
    Column {
        /// The column that was requested.
        what: String,
        /// What is wrong with it.
        why: String,
        /// The option that avoids the error; `None` if there is none.
        hint: Option<Hint>,
        /// Path of the file.
        path: PathBuf,
    },
    /// What would be made of the file does not fit into memory.
    #[error("{what}: it takes {} of memory, where {} are free: {}", mebibytes(*needed), mebibytes(*free), path.display())]
    Memory {
        /// What takes it: the points, the names of the columns.
        what: String,
        /// Bytes that the file would take so far.
        needed: u64,
        /// Bytes that were free when reading began.
        free: u64,
        /// Path of the file.
        path: PathBuf,
    },
    /// The work was cancelled.
    #[error("cancelled")]
    Cancelled,
}

/// A size for an error about memory.
fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

impl FormatError {
    /// The file that the error is about.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Io { path, .. }
            | Self::Malformed { path, .. }
            | Self::Unsupported { path, .. }
            | Self::Ambiguous { path, .. }
            | Self::NoColumn { path, .. }
            | Self::Column { path, .. }
            | Self::Changed { path }
            | Self::Outdated { path }
            | Self::Memory { path, .. } => Some(path),
            Self::Cancelled => None,
        }
    }

    /// The message without the path, for messages about a known file.
    pub fn reason(&self) -> String {
        let message = self.to_string();
        let end = self.path().map(|path| format!(": {}", path.display())).unwrap_or_default();
        message.strip_suffix(&end).unwrap_or(&message).to_owned()
    }
}

/// Finds the 1-based line of a record.
type LineOf = fn(&Input<'_>, u64) -> Result<u64, FormatError>;

/// Lists the clouds of a file.
type ListParts = fn(&Input<'_>) -> Result<Vec<Entry>, FormatError>;

/// Reads all columns of a few records.
type RecordsOf = fn(&Input<'_>, &[u64]) -> Result<Records, FormatError>;

/// Finds an attribute of a file by its name.
type AttributeOf = fn(&Input<'_>, &str) -> Result<Option<String>, FormatError>;

/// A supported file format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name shown to users.
    pub name: &'static str,
    /// Lower-case extensions without the dot.
    pub extensions: &'static [&'static str],
    /// A one-line description of what is supported.
    pub about: &'static str,
    /// The possible first bytes of a file; empty if there is no magic number.
    magic: &'static [&'static [u8]],
    /// Whether a file's beginning looks like this format. Consulted if there is no magic number and the extension is a
    /// generic one for text, or missing.
    looks: fn(&[u8]) -> bool,
    /// Whether the file may be gzipped.
    gzip: bool,
    read: fn(&Input<'_>, &Want<'_>) -> Result<Sheet, FormatError>,
    /// Lists the clouds of a file, for formats that can have several; `read` then reads the one of [`parts::choose`].
    parts: Option<ListParts>,
    /// The 1-based line of a record, for line-oriented formats.
    line_of: Option<LineOf>,
    /// Reads all columns of a few records, without holding others.
    records: RecordsOf,
    /// The text of an attribute of the whole file, for formats that have them.
    attribute: Option<AttributeOf>,
}

/// `looks` of formats that are recognised only by extension or magic number.
fn no(_: &[u8]) -> bool {
    false
}

impl Format {
    fn begins(&self, head: &[u8]) -> bool {
        self.magic.iter().any(|magic| head.starts_with(magic))
    }
}

/// Every supported format, in display order.
pub fn registry() -> &'static [Format] {
    const REGISTRY: &[Format] = &[
        Format {
            name: TEXT,
            extensions: &["csv", "tsv", "tab", "txt", "dat", "xyz", "asc", "pts"],
            about: "comma, tab, semicolon, bar or spaces; with or without a header; quotes, # comments; also as .gz",
            magic: &[],
            looks: no,
            gzip: true,
            read: delimited::read,
            parts: None,
            line_of: Some(delimited::line_of_record),
            records: delimited::records,
            attribute: None,
        },
        Format {
            name: "word vectors",
            extensions: &["vec"],
            about: "GloVe, word2vec and fastText as text: a word and its numbers a line; also as .txt and .gz",
            magic: &[],
            looks: words::looks,
            gzip: true,
            read: words::read,
            parts: None,
            line_of: Some(words::line_of_record),
            records: words::records,
            attribute: None,
        },
        Format {
            name: JSON,
            extensions: &["json", "jsonl", "ndjson", "jsonlines", "geojson"],
            about: "points in an array, an object or a line each, or column by column; GeoJSON points; also as .gz",
            magic: &[],
            looks: json::looks,
            gzip: true,
            read: json::read,
            parts: Some(json::parts),
            line_of: None,
            records: json::records,
            attribute: None,
        },
        Format {
            name: "XYZ file of atoms",
            extensions: &[],
            about: "an element and x, y, z a line, after their number and remarks; also as .gz",
            magic: &[],
            looks: molecule::looks,
            gzip: true,
            read: molecule::read,
            parts: Some(molecule::parts),
            line_of: None,
            records: molecule::records,
            attribute: None,
        },
        Format {
            name: "NumPy array",
            extensions: &["npy"],
            about: "one- or two-dimensional, any real type, C or Fortran order; structured ones as tables",
            magic: &[b"\x93NUMPY"],
            looks: no,
            gzip: false,
            read: npy::read,
            parts: None,
            line_of: None,
            records: npy::records,
            attribute: None,
        },
        Format {
            name: NPZ,
            extensions: &["npz"],
            about: "its two-dimensional array, or FILE:NAME",
            magic: &[b"PK\x03\x04", b"PK\x05\x06"],
            looks: no,
            gzip: false,
            read: npz::read,
            parts: Some(npz::parts),
            line_of: None,
            records: npz::records,
            attribute: None,
        },
        Format {
            name: "Parquet file",
            extensions: &["parquet", "pq"],
            about: "columns of numbers and lists of numbers; uncompressed, zstd, Snappy, LZ4 or gzip",
            magic: &[b"PAR1"],
            looks: no,
            gzip: false,
            read: arrow::read_parquet,
            parts: None,
            line_of: None,
            records: arrow::parquet_records,
            attribute: Some(arrow::parquet_attribute),
        },
        Format {
            name: "Arrow or Feather file",
            extensions: &["arrow", "arrows", "feather", "ipc"],
            about: "as Parquet, also as a stream; uncompressed or LZ4",
            magic: &[b"ARROW1"],
            looks: arrow::looks_streamed,
            gzip: false,
            read: arrow::read_ipc,
            parts: None,
            line_of: None,
            records: arrow::ipc_records,
            attribute: Some(arrow::ipc_attribute),
        },
        Format {
            name: "HDF5 file",
            extensions: &["hdf5", "h5", "hdf", "he5"],
            about: "its data sets of numbers, as FILE:PATH; `train` of ann-benchmarks",
            magic: &[b"\x89HDF\r\n\x1a\n"],
            looks: no,
            gzip: false,
            read: hdf5::read,
            parts: Some(hdf5::parts),
            line_of: None,
            records: hdf5::records,
            attribute: Some(hdf5::attribute),
        },
        Format {
            name: "TEXMEX vector file",
            extensions: &["fvecs", "bvecs", "ivecs"],
            about: "f32, u8 or i32 vectors, each with its dimension",
            magic: &[],
            looks: no,
            gzip: false,
            read: vectors::read_texmex,
            parts: None,
            line_of: None,
            records: vectors::texmex_records,
            attribute: None,
        },
        Format {
            name: "Big-ANN vector file",
            extensions: &["fbin", "u8bin", "i8bin", "ibin"],
            about: "f32, u8, i8 or i32 vectors after their number and dimension",
            magic: &[],
            looks: no,
            gzip: false,
            read: vectors::read_big_ann,
            parts: None,
            line_of: None,
            records: vectors::big_ann_records,
            attribute: None,
        },
        Format {
            name: "IDX file",
            extensions: &["idx", "idx1-ubyte", "idx2-ubyte", "idx3-ubyte", "idx4-ubyte", "idx1-int", "idx2-int", "idx3-int"],
            about: "MNIST and its like: an image is a row, its label a column; also as .gz",
            magic: &[],
            looks: idx::looks,
            gzip: true,
            read: idx::read,
            parts: None,
            line_of: None,
            records: idx::records,
            attribute: None,
        },
        Format {
            name: "PLY file",
            extensions: &["ply"],
            about: "ASCII or binary; the vertices, whatever else there is",
            magic: &[b"ply\n", b"ply\r"],
            looks: no,
            gzip: false,
            read: ply::read,
            parts: None,
            line_of: None,
            records: ply::records,
            attribute: None,
        },
        Format {
            name: "PCD file",
            extensions: &["pcd"],
            about: "ASCII, binary or compressed: all fields, packed colours as red, green, blue",
            magic: &[b"# .PCD"],
            looks: pcd::looks,
            gzip: false,
            read: pcd::read,
            parts: None,
            line_of: None,
            records: pcd::records,
            attribute: None,
        },
        Format {
            name: "E57 file",
            extensions: &["e57"],
            about: "x, y, z of a scan in the frame of the file, intensity, colours; FILE:NAME of several",
            magic: &[b"ASTM-E57"],
            looks: no,
            gzip: false,
            read: e57::read,
            parts: Some(e57::parts),
            line_of: None,
            records: e57::records,
            attribute: None,
        },
        Format {
            name: "LAS or LAZ file",
            extensions: &["las", "laz"],
            about: "LAS 1.0 to 1.5 and LAZ: x, y, z and the other fields; longitude and latitude if it says so",
            magic: &[b"LASF"],
            looks: no,
            gzip: false,
            read: las::read,
            parts: None,
            line_of: None,
            records: las::records,
            attribute: None,
        },
    ];
    REGISTRY
}

/// A common format that is not supported: name, extensions, magic number if any, and a hint.
struct Foreign(&'static str, &'static [&'static str], &'static [u8], &'static str);

const FOREIGN: &[Foreign] = &[
    Foreign("PTX", &["ptx"], b"", "export the scan as E57, PTS or PLY, for instance with CloudCompare -O FILE.ptx -C_EXPORT_FMT PLY -SAVE_CLOUDS"),
    Foreign("OBJ", &["obj"], b"", "convert its vertices to points, for instance awk '$1 == \"v\" {print $2, $3, $4}' FILE.obj > FILE.xyz"),
    Foreign("STL", &["stl"], b"", MESH),
    Foreign("OFF", &["off"], b"", MESH),
    Foreign("glTF", &["gltf", "glb"], b"glTF", MESH),
    Foreign("FBX", &["fbx"], b"Kaydara FBX", MESH),
    Foreign("VTK", &["vtk", "vtp", "vtu"], b"# vtk", MESH),
    Foreign("DXF", &["dxf", "dwg"], b"", "convert its points to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XYZ"),
    Foreign("Matrix Market", &["mtx"], b"%%MatrixMarket", "save the matrix dense as .npy, for instance with scipy.io.mmread(FILE).toarray()"),
    Foreign("KML or GPX", &["kml", "kmz", "gpx"], b"", "convert it to GeoJSON, for instance with ogr2ogr OUT.geojson IN"),
    Foreign("GeoPackage or SQLite", &["gpkg", "sqlite"], b"SQLite format 3", "convert it to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XY"),
    Foreign("MATLAB", &["mat"], b"MATLAB 5.0", "write the matrix as .npy or CSV"),
    Foreign("Excel", &["xlsx", "xls", "ods"], b"\xd0\xcf\x11\xe0", "save the sheet as CSV"),
    Foreign("TopoJSON", &["topojson"], b"", "convert it to GeoJSON, for instance with ogr2ogr OUT.geojson IN.topojson"),
    Foreign("Feather version 1", &[], b"FEA1", "write it as version 2, which is what pandas, pyarrow and polars write today"),
    Foreign("shapefile", &["shp"], b"\x00\x00\x27\x0a", "convert it to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XY"),
    Foreign("pickle", &["pkl", "pickle"], b"\x80\x04\x95", "it would run code; write the array with numpy.save"),
    Foreign(LIBSVM, &["libsvm", "svm", "svmlight"], b"", "write its values as rows, for instance load_svmlight_file(FILE)[0].toarray() in sklearn"),
    Foreign("7z", &["7z"], b"7z\xbc\xaf\x27\x1c", "unpack it first"),
    Foreign("RAR", &["rar"], b"Rar!\x1a", "unpack it first"),
    Foreign("tar", &["tar", "tgz"], b"", "unpack it first"),
    Foreign("zstd", &["zst"], b"\x28\xb5\x2f\xfd", "unpack it first"),
    Foreign("bzip2", &["bz2"], b"BZh", "unpack it first"),
    Foreign("xz", &["xz"], b"\xfd7zXZ\x00", "unpack it first"),
];

/// Recognised by its first line, because many of these files have no extension of their own.
const LIBSVM: &str = "LIBSVM";

/// What to do with a mesh.
const MESH: &str = "convert its vertices to PLY, for instance with CloudCompare -O FILE -C_EXPORT_FMT PLY -SAVE_CLOUDS";

const GZIP: &[u8] = &[0x1f, 0x8b];

/// The name of the format that is a zip archive.
const NPZ: &str = "NumPy archive";

/// The name of the format of tables.
const TEXT: &str = "delimited text";

/// The name of the format that other texts are easily mistaken for.
const JSON: &str = "JSON";

/// Reads a file's coordinates, one row per data record; missing values are NaN.
///
/// # Errors
/// [`FormatError`] if the file cannot be read, or the columns do not give coordinates.
pub fn read(path: &Path, columns: &ColumnChoice, progress: &dyn Progress) -> Result<Coordinates, FormatError> {
    let line = |record| line_of_record(path, record, progress);
    scan(path, &Want::Chosen(columns), progress)?.into_table(columns, &line)
}

/// As [`read`], of the columns with these names; `None` where the file has no names of its own and another number of columns, so
/// that the names that it was given mean nothing.
///
/// # Errors
/// As [`read`].
pub fn read_by_names(path: &Path, names: Vec<String>, progress: &dyn Progress) -> Result<Option<Coordinates>, FormatError> {
    let line = |record| line_of_record(path, record, progress);
    let columns = ColumnChoice::Named(names);
    let sheet = scan(path, &Want::Chosen(&columns), progress)?;
    if sheet.is_other_vector() { Ok(None) } else { sheet.into_table(&columns, &line).map(Some) }
}

/// As [`read`], where nobody chose: the columns by the rule, or those of the guess, which is there in either case.
///
/// # Errors
/// As [`read`].
pub fn read_unchosen(path: &Path, how: Unchosen, progress: &dyn Progress) -> Result<(Coordinates, Guess), FormatError> {
    let line = |record| line_of_record(path, record, progress);
    let sheet = scan(path, &Want::Chosen(&ColumnChoice::Default), progress)?;
    let guess = sheet.guess();
    if how == Unchosen::Guess && guess.taken.is_empty() && !guess.usual.is_empty() {
        let why = format!("the numeric columns are {}", guess.others());
        return Err(FormatError::Column { what: "no coordinates".to_owned(), why, hint: Some(Hint::OtherColumns), path: path.to_owned() });
    }
    let columns = if how == Unchosen::Guess { &guess.taken } else { &guess.usual };
    Ok((sheet.into_columns(columns, false, &line)?, guess))
}

/// Describes a file: its format, rows, and columns with their ranges.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn describe(path: &Path, progress: &dyn Progress) -> Result<FileInfo, FormatError> {
    Ok(scan(path, &Want::Everything, progress)?.info())
}

/// Lists the clouds of a file in file order; empty for formats with one cloud per file. Each is read as `FILE:NAME`
/// ([`path_of`]); a name in `path` is ignored.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn parts(path: &Path, progress: &dyn Progress) -> Result<Vec<Entry>, FormatError> {
    let input = Input::new(path, progress)?;
    input.finish(recognise(&input).and_then(|format| format.parts.map_or_else(|| Ok(Vec::new()), |list| list(&input))))
}

/// The text of a file-level attribute, for formats that have them (HDF5, Parquet, Arrow): ann-benchmarks stores its metric as `distance`.
///
/// # Errors
/// [`FormatError`] if the file cannot be read.
pub fn attribute(path: &Path, name: &str, progress: &dyn Progress) -> Result<Option<String>, FormatError> {
    let input = Input::new(path, progress)?;
    input.finish(recognise(&input).and_then(|format| format.attribute.map_or(Ok(None), |of| of(&input, name))))
}

/// What whoever reads the file should be told of it: that its first line was taken for none of the table.
pub fn note(path: &Path, progress: &dyn Progress) -> Option<String> {
    let input = Input::new(path, progress).ok()?;
    let format = recognise(&input).ok()?;
    if format.name == TEXT { delimited::note(&input).ok()? } else { None }
}

/// The 1-based line on which a record begins, if the file is text and still readable.
pub(super) fn line_of_record(path: &Path, record: u64, progress: &dyn Progress) -> Option<u64> {
    let input = Input::new(path, progress).ok()?;
    recognise(&input).ok()?.line_of?(&input, record).ok()
}

fn scan(path: &Path, want: &Want<'_>, progress: &dyn Progress) -> Result<Sheet, FormatError> {
    let input = Input::new(path, progress)?;
    input.finish(recognise(&input).and_then(|format| (format.read)(&input, want)))
}

fn known_extensions() -> String {
    let all: Vec<String> = registry().iter().flat_map(|format| format.extensions).map(|extension| format!(".{extension}")).collect();
    format!("what is read: {}", all.join(" "))
}

#[cfg(test)]
mod tests;

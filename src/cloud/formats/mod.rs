//! Readers, one file per format, behind one registry.
//!
//! The format is chosen by the file's extension, and the first bytes must agree with it. A reader delivers a [`Sheet`]:
//! every column's name, and the values of those that may be wanted. No reader allocates by a number in a header before
//! that number was held against the size of the file, and none panics on what a file holds.

mod columns;
mod contain;
mod delimited;
mod input;
mod las;
mod npy;
mod npz;
mod number;
mod ply;
mod sheet;
mod vectors;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use columns::{Cell, ColumnData, MAX_CATEGORIES, Records, column, records};
pub(crate) use contain::contained;
use input::Input;
use sheet::Want;
pub use sheet::{ColumnInfo, ColumnKind, FileInfo, Sheet};

use super::{ColumnChoice, Table};
use crate::progress::Progress;

/// Why a file is not read. The path is always last.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The operating system's word.
    #[error("cannot read: {why}: {}", path.display())]
    Io {
        /// What the system says.
        why: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The file breaks the rules of its format.
    #[error("{what}: {why}: {}", path.display())]
    Malformed {
        /// The part of the file: a line, a record, the header.
        what: String,
        /// What is wrong with it.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// The file may be fine, but is not read here.
    #[error("{what}: {why}: {}", path.display())]
    Unsupported {
        /// The format or the feature of it.
        what: String,
        /// What to do instead.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// No column has a name that was asked for.
    #[error("{what}: {why}: {}", path.display())]
    NoColumn {
        /// The column.
        what: String,
        /// Which columns there are.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// A column that was asked for has the name of others too, or does not hold numbers only.
    #[error("{what}: {why}: {}", path.display())]
    Column {
        /// The column.
        what: String,
        /// What is wrong with it.
        why: String,
        /// The file.
        path: PathBuf,
    },
    /// Somebody asked to stop.
    #[error("cancelled")]
    Cancelled,
}

/// Finds the 1-based line of a record.
type LineOf = fn(&Input<'_>, u64) -> Result<u64, FormatError>;

/// Reads all columns of a few records.
type RecordsOf = fn(&Input<'_>, &[u64]) -> Result<Records, FormatError>;

/// A file format that is read.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name shown to people.
    pub name: &'static str,
    /// Lower-case extensions without the dot.
    pub extensions: &'static [&'static str],
    /// What is read of it, in one line.
    pub about: &'static str,
    /// What a file of it begins with, any of these; empty where nothing is fixed.
    magic: &'static [&'static [u8]],
    /// Whether gzip may be around it.
    gzip: bool,
    read: fn(&Input<'_>, &Want<'_>) -> Result<Sheet, FormatError>,
    /// The 1-based line of a record, where records are lines.
    line_of: Option<LineOf>,
    /// All columns of a few records, where that can be had without a [`Sheet`] of everything.
    records: Option<RecordsOf>,
}

impl Format {
    fn begins(&self, head: &[u8]) -> bool {
        self.magic.iter().any(|magic| head.starts_with(magic))
    }
}

/// Every format that is read, in the order in which they are shown.
pub fn registry() -> &'static [Format] {
    const REGISTRY: &[Format] = &[
        Format {
            name: "delimited text",
            extensions: &["csv", "tsv", "tab", "txt", "dat", "xyz", "asc", "pts"],
            about: "comma, tab, semicolon, bar or spaces; with or without a header; quotes, # comments; also as .gz",
            magic: &[],
            gzip: true,
            read: delimited::read,
            line_of: Some(delimited::line_of_record),
            records: Some(delimited::records),
        },
        Format {
            name: "NumPy array",
            extensions: &["npy"],
            about: "one- or two-dimensional, any real type, C or Fortran order",
            magic: &[b"\x93NUMPY"],
            gzip: false,
            read: npy::read,
            line_of: None,
            records: Some(npy::records),
        },
        Format {
            name: "NumPy archive",
            extensions: &["npz"],
            about: "its two-dimensional array, or FILE.npz:NAME",
            magic: &[b"PK\x03\x04", b"PK\x05\x06"],
            gzip: false,
            read: npz::read,
            line_of: None,
            records: None,
        },
        Format {
            name: "TEXMEX vector file",
            extensions: &["fvecs", "bvecs", "ivecs"],
            about: "f32, u8 or i32 vectors, each with its dimension",
            magic: &[],
            gzip: false,
            read: vectors::read_texmex,
            line_of: None,
            records: Some(vectors::texmex_records),
        },
        Format {
            name: "Big-ANN vector file",
            extensions: &["fbin", "u8bin", "i8bin", "ibin"],
            about: "f32, u8, i8 or i32 vectors after their number and dimension",
            magic: &[],
            gzip: false,
            read: vectors::read_big_ann,
            line_of: None,
            records: Some(vectors::big_ann_records),
        },
        Format {
            name: "PLY file",
            extensions: &["ply"],
            about: "ASCII or binary; the vertices, whatever else there is",
            magic: &[b"ply\n", b"ply\r"],
            gzip: false,
            read: ply::read,
            line_of: None,
            records: Some(ply::records),
        },
        Format {
            name: "LAS or LAZ file",
            extensions: &["las", "laz"],
            about: "LAS 1.0 to 1.4 and LAZ: x, y, z and the other fields",
            magic: &[b"LASF"],
            gzip: false,
            read: las::read,
            line_of: None,
            records: Some(las::records),
        },
    ];
    REGISTRY
}

/// A format that people will try and that is not read: its name, extensions, magic and the way out.
struct Foreign(&'static str, &'static [&'static str], &'static [u8], &'static str);

const FOREIGN: &[Foreign] = &[
    Foreign("PCD", &["pcd"], b"# .PCD", "convert it to PLY, for instance with pcl_pcd2ply, or to text"),
    Foreign("Parquet", &["parquet", "pq"], b"PAR1", "write it as CSV, for instance pandas.read_parquet(…).to_csv(…), or as .npy"),
    Foreign("HDF5", &["hdf5", "h5", "hdf", "he5"], b"\x89HDF\r\n\x1a\n", "write the data set as .npy, for instance numpy.save(…, h5py.File(…)[…])"),
    Foreign("Arrow", &["arrow", "feather", "ipc"], b"ARROW1", "write it as CSV or .npy"),
    Foreign("E57", &["e57"], b"ASTM-E57", "convert it to LAS or PLY, for instance with pdal translate"),
    Foreign("MATLAB", &["mat"], b"MATLAB 5.0", "write the matrix as .npy or CSV"),
    Foreign("Excel", &["xlsx", "xls", "ods"], b"\xd0\xcf\x11\xe0", "save the sheet as CSV"),
    Foreign("GeoJSON", &["geojson", "json"], b"{\"type\"", "convert it to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XY"),
    Foreign("shapefile", &["shp"], b"\x00\x00\x27\x0a", "convert it to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XY"),
    Foreign("pickle", &["pkl", "pickle"], b"\x80\x04\x95", "it would run code; write the array with numpy.save"),
    Foreign("zstd", &["zst"], b"\x28\xb5\x2f\xfd", "unpack it first"),
    Foreign("bzip2", &["bz2"], b"BZh", "unpack it first"),
    Foreign("xz", &["xz"], b"\xfd7zXZ\x00", "unpack it first"),
];

const GZIP: &[u8] = &[0x1f, 0x8b];

/// Reads a file's coordinates, a row for each data record; what the file leaves empty is NaN.
///
/// # Errors
/// See [`FormatError`].
pub fn read(path: &Path, columns: &ColumnChoice, progress: &dyn Progress) -> Result<Table, FormatError> {
    scan(path, &Want::Chosen(columns), progress)?.into_table(columns)
}

/// Reads everything that a file holds, to look at it and choose columns later.
///
/// # Errors
/// See [`FormatError`].
pub fn open(path: &Path, progress: &dyn Progress) -> Result<Sheet, FormatError> {
    scan(path, &Want::Everything, progress)
}

/// Describes a file: its format, rows, and columns with their ranges.
///
/// # Errors
/// See [`FormatError`].
pub fn describe(path: &Path, progress: &dyn Progress) -> Result<FileInfo, FormatError> {
    Ok(open(path, progress)?.info())
}

/// The 1-based line on which a record begins, if the file is text and can still be read.
pub(super) fn line_of_record(path: &Path, record: u64, progress: &dyn Progress) -> Option<u64> {
    let input = Input::new(path, progress).ok()?;
    recognise(&input).ok()?.line_of?(&input, record).ok()
}

fn scan(path: &Path, want: &Want<'_>, progress: &dyn Progress) -> Result<Sheet, FormatError> {
    let input = Input::new(path, progress)?;
    let format = recognise(&input)?;
    (format.read)(&input, want)
}

/// The format that the name and the first bytes agree on.
fn recognise(input: &Input<'_>) -> Result<&'static Format, FormatError> {
    let mut head = Vec::new();
    input.open()?.take(4096).read_to_end(&mut head).map_err(|why| input.io(why))?;
    if head.is_empty() {
        return Err(input.malformed("nothing to read", "the file is empty"));
    }
    let name = input.path().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (name, gz_name) = name.strip_suffix(".gz").map_or((name.as_str(), false), |inner| (inner, true));
    let extension = Path::new(name).extension().map(|extension| extension.to_string_lossy().into_owned()).unwrap_or_default();
    let gzip = head.starts_with(GZIP);
    if gz_name && !gzip {
        return Err(input.malformed("named .gz", "it does not begin like gzip; is it damaged, or renamed?"));
    }

    let by_extension = registry().iter().find(|format| format.extensions.contains(&extension.as_str()));
    if gzip {
        return match by_extension {
            Some(format) if !format.gzip => Err(input.unsupported(format!("gzip around a {}", format.name), "unpack it first, with gunzip")),
            Some(format) => Ok(format),
            None => Ok(&registry()[0]),
        };
    }
    let by_magic = registry().iter().find(|format| format.begins(&head));
    if by_magic.is_none()
        && let Some(Foreign(what, _, _, way_out)) = FOREIGN
            .iter()
            .find(|Foreign(_, names, magic, _)| head.starts_with(magic) || by_extension.is_none() && names.contains(&extension.as_str()))
    {
        return Err(input.unsupported(format!("{what} files are not read"), *way_out));
    }
    match (by_extension, by_magic) {
        (Some(named), Some(found)) if named.name != found.name => {
            let why = format!("it begins like a {}; rename it to .{}", found.name, found.extensions[0]);
            Err(input.malformed(format!("named .{extension}"), why))
        }
        (Some(named), None) if !named.magic.is_empty() => {
            Err(input.malformed(format!("named .{extension}"), format!("it does not begin like a {}; is it damaged, or renamed?", named.name)))
        }
        (Some(format), _) | (None, Some(format)) => Ok(format),
        (None, None) if head.contains(&0) => {
            Err(input.unsupported("unknown format", format!("neither its extension nor its first bytes are known; {}", known_extensions())))
        }
        (None, None) => Ok(&registry()[0]),
    }
}

fn known_extensions() -> String {
    let all: Vec<String> = registry().iter().flat_map(|format| format.extensions).map(|extension| format!(".{extension}")).collect();
    format!("what is read: {}", all.join(" "))
}

#[cfg(test)]
mod tests;

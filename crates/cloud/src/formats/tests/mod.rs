//! Tests of every format, on generated files.

mod arrow;
mod blocks;
mod changing;
mod columns;
mod datasets;
mod deep;
mod e57;
mod fuzz;
mod hdf5;
mod idx;
mod json;
mod las;
mod memory;
mod molecule;
mod npy;
mod npz;
mod pcd;
mod ply;
mod text;
mod vector_cell;
mod vectors;
mod words;

use std::io::Write;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::*;
use crate::progress::NoProgress;
use crate::{CloudError, Source, load};

/// A file with this name and content, in a temporary folder.
struct SampleFile {
    path: PathBuf,
    _folder: TempDir,
}

/// Compares values as f64, whether stored as f32 or f64.
impl<V: AsRef<[f64]>> PartialEq<V> for crate::Values {
    fn eq(&self, other: &V) -> bool {
        self.iter().eq(other.as_ref().iter().copied())
    }
}

/// Runs work with this much free memory and an input that is only used in errors.
pub(super) fn with_input(free: u64, work: impl FnOnce(&Input<'_>)) {
    let sample = SampleFile::new("a.csv", "1");
    work(&Input::new(&sample.path, &NoProgress).unwrap().with_free(free));
}

impl SampleFile {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Self { path, _folder: folder }
    }

    fn read(&self, columns: &str) -> Result<Coordinates, FormatError> {
        read(&self.path, &columns.parse().unwrap(), &NoProgress)
    }

    /// Reads the cloud with this name.
    fn read_dataset(&self, name: &str) -> Result<Coordinates, FormatError> {
        read(&path_of(&self.path, name), &ColumnChoice::Default, &NoProgress)
    }

    /// The values of the cloud with this name.
    #[track_caller]
    fn dataset(&self, name: &str) -> Vec<f64> {
        assert_records_agree(&path_of(&self.path, name), "");
        self.read_dataset(name).unwrap().values.iter().collect()
    }

    /// Names and values of the chosen columns.
    #[track_caller]
    fn table(&self, columns: &str) -> (Vec<String>, Vec<f64>) {
        assert_records_agree(&self.path, columns);
        let table = self.read(columns).unwrap();
        (table.columns.into_iter().map(|column| column.name).collect(), table.values.iter().collect())
    }

    fn info(&self) -> FileInfo {
        describe(&self.path, &NoProgress).unwrap()
    }

    /// The error message without the path. Checks that it is one line and ends with the path.
    fn error(&self) -> String {
        self.error_of("")
    }

    fn error_of(&self, columns: &str) -> String {
        let message = self.read(columns).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        let (message, path) = message.rsplit_once(": ").unwrap();
        assert_eq!(path, self.path.display().to_string());
        message.to_owned()
    }
}

fn gzip(content: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_ref()).unwrap();
    encoder.finish().unwrap()
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Checks that rows of a cloud equal the records of the file, for each way of reading them.
#[track_caller]
fn assert_records_agree(path: &Path, columns: &str) {
    let source = Source::File { path: path.to_owned(), columns: columns.parse().unwrap() };
    let cloud = match load(&source, true, &NoProgress) {
        Err(CloudError::Empty { .. } | CloudError::TooLarge { .. }) => return,
        cloud => cloud.unwrap(),
    };
    let last = cloud.len() as u32 - 1;
    let rows = [last, 0, last / 2];
    let records = match records(path, &rows.map(|row| cloud.record(row as usize)), &NoProgress) {
        // A column that was not selected has an unsupported compression.
        Err(FormatError::Unsupported { .. }) => return,
        records => records.unwrap(),
    };
    assert!(
        cloud.was_read_from(&rows, &records),
        "{:?}: {records:?}",
        rows.map(|row| cloud.coordinate(row as usize, 0))
    );
}

/// Asserts equality, with NaN equal to NaN.
#[track_caller]
fn assert_values(found: &[f64], want: &[f64]) {
    let bits = |values: &[f64]| {
        values.iter().map(|value| if value.is_nan() { u64::MAX } else { value.to_bits() }).collect::<Vec<_>>()
    };
    assert_eq!(bits(found), bits(want), "{found:?} and {want:?}");
}

#[test]
fn extensions_must_match_the_content() {
    for (name, content, part) in [
        ("a.csv", &b"\x93NUMPY\x01\x00"[..], "named .csv: it begins like a NumPy array; rename it to .npy"),
        ("a.npy", b"1,2\n", "named .npy: does not begin like a NumPy array"),
        ("a.csv.gz", b"1,2\n", "named .gz: does not begin like gzip"),
        ("a.ptx", b"2\n3\n0 0 0\n", "PTX files are not supported: export the scan as E57"),
        (
            "a.asc",
            b"NCOLS 2\nNROWS 3\nXLLCORNER 0.0\n",
            "Esri ASCII grids are not supported: convert it to points, for instance with gdal_translate -of \
             XYZ",
        ),
        ("a.obj", b"v 1 2 3\nvn 0 0 1\n", "OBJ files are not supported: convert its vertices to points"),
        ("a.glb", b"glTF\x02", "glTF files are not supported: convert its vertices to PLY"),
        (
            "a.mtx",
            b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 5\n",
            "Matrix Market files are not supported",
        ),
        (
            "a.txt",
            b"-1 1:0.5 3:-1e-3 7:2 # first\n",
            "LIBSVM files are not supported: write its values as rows",
        ),
        ("a.txt", b"# sparse\n+1 3:1\n-1\n", "LIBSVM files are not supported"),
        ("a.dat", b"2 qid:1 1:0.5 4:2\n", "LIBSVM files are not supported"),
        ("a.libsvm", b"0\n", "LIBSVM files are not supported"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "7z files are not supported: unpack it first"),
        ("a.mat", b"MATLAB 5.0", "MATLAB files are not supported: write the matrix as .npy"),
        ("a.csv", b"\x89HDF\r\n\x1a\n\0\0", "named .csv: it begins like an HDF5 file; rename it to .hdf5"),
        ("a.parquet", b"PAR1....", "cut short: the footer with its columns is missing"),
        ("a.h5", b"\x89HDF\r\n\x1a\n", "cut short"),
        ("a.what", b"\x01\x00\x02", "unknown format: neither its extension nor its first bytes are known"),
        ("a.csv", b"", "the file is empty"),
        ("a.csv", b"\n \n", "the file contains only white space"),
        ("a.csv", b"# only this\n", "the file contains only comments"),
        ("a.csv", b"\xff\xfe1\0,\x002\0", "UTF-16 text is not supported"),
        ("a.csv", b"1,2\n\0\0\0", "NUL bytes"),
        ("a.csv", b"[\n {\"x\": 1},\n {\"x\": 2}\n]", "named .csv: it looks like JSON; rename it to .json"),
        ("a.tsv", b"{\"type\":\"FeatureCollection\"}", "named .tsv: it looks like JSON; rename it to .json"),
        ("a.topojson", b"{}", "TopoJSON files are not supported: convert it to GeoJSON"),
        ("a.warpscope", b"PK\x03\x04", "a recording of runs: open it with `warpscope FILE`"),
    ] {
        let message = SampleFile::new(name, content).error();
        assert!(message.contains(part), "{name}: {message}");
    }
    // A recording with another extension is still recognised.
    let message = SampleFile::new(
        "a.npz",
        npz::npz(&[("cloud0/points.npy", b"1".to_vec()), ("recording.json", b"{}".to_vec())]),
    )
    .error();
    assert!(message.starts_with("a recording of runs: "), "{message}");
    let message = SampleFile::new("a.tar.gz", gzip("a.csv\0\0")).error();
    assert_eq!(message, "tar files are not supported: unpack it first");
    let message = SampleFile::new("a.npy.gz", gzip("x")).error();
    assert!(message.contains("gzip around a NumPy array"), "{message}");
    let message = SampleFile::new("a.txt.gz", gzip("1 1:0.5 2:1\n")).error();
    assert!(message.starts_with("LIBSVM files are not supported"), "{message}");
    // Times of day and ratios are not sparse vectors.
    for text in ["21.5 10:30\n22 10:45\n", "21.5 08:00 09:30\n22 08:15 09:45\n", "21.5 1:4\n22 2:3\n"] {
        assert_values(&SampleFile::new("a.txt", text).table("0").1, &[21.5, 22.0]);
    }
    // Without a known extension, the content decides.
    assert_values(&SampleFile::new("cloud", "1 2\n3 4\n").table("").1, &[1.0, 2.0, 3.0, 4.0]);
    assert_values(&SampleFile::new("cloud", gzip("1 2\n3 4\n")).table("").1, &[1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn missing_files_are_reported() {
    let folder = TempDir::new().unwrap();
    let message =
        read(&folder.path().join("none.csv"), &ColumnChoice::Default, &NoProgress).unwrap_err().to_string();
    assert!(message.starts_with("cannot read: ") && message.ends_with("none.csv"), "{message}");
    let message = read(folder.path(), &ColumnChoice::Default, &NoProgress).unwrap_err().to_string();
    assert!(message.contains("directory"), "{message}");
}

#[test]
fn every_extension_belongs_to_one_format() {
    let mut all: Vec<&str> = registry().iter().flat_map(|format| format.extensions.iter().copied()).collect();
    all.extend(registry::FOREIGN.iter().flat_map(|foreign| foreign.1));
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn reading_can_be_cancelled() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let sample = SampleFile::new("a.csv", "1,2\n".repeat(10_000));
    assert!(matches!(read(&sample.path, &ColumnChoice::Default, &stop), Err(FormatError::Cancelled)));
}

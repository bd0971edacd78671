//! All formats, and recognition of a file's format.

use std::io::Read;
use std::path::Path;

use super::blocks::BlockLayout;
use super::{
    ColumnRequest, DatasetInfo, Input, Records, Result, Sheet, arrow, delimited, e57, hdf5, idx, json, las,
    molecule, npy, npz, pcd, ply, unpacked, vectors, words,
};

/// Lists the clouds of a file.
type ListDatasets = fn(&Input<'_>) -> Result<Vec<DatasetInfo>>;

/// Finds an attribute of a file by its name.
type FindAttribute = fn(&Input<'_>, &str) -> Result<Option<String>>;

/// Finds the layout of a file whose rows can be read from any position; `None` if this one has none.
type FindBlocks = fn(&Input<'_>, &ColumnRequest<'_>) -> Result<Option<BlockLayout>>;

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
    /// Whether a file's beginning looks like this format. Used if there is no magic number and the extension
    /// is missing or a generic one for text.
    sniff: fn(&[u8]) -> bool,
    /// Whether the file may be gzipped.
    gzip: bool,
    /// Whether all files are text, so that values are decimals.
    pub(super) decimals: bool,
    pub(super) read: fn(&Input<'_>, &ColumnRequest<'_>) -> Result<Sheet>,
    /// Lists the clouds of a file, for formats that can have several; `read` then reads the one chosen by
    /// [`super::datasets::choose`].
    pub(super) datasets: Option<ListDatasets>,
    /// The 1-based line of a record, for line-oriented formats.
    pub(super) line_of: Option<fn(&Input<'_>, u64) -> Result<u64>>,
    /// Reads all columns of a few records, without holding others.
    pub(super) records: fn(&Input<'_>, &[u64]) -> Result<Records>,
    /// Where rows of a fixed size are, for formats that have them; `None` for files that do not.
    pub(super) blocks: Option<FindBlocks>,
    /// The text of an attribute of the whole file, for formats that have them.
    pub(super) attribute: Option<FindAttribute>,
    /// Whether files are usually scans of surfaces.
    scans: bool,
}

impl Format {
    fn has_magic(&self, head: &[u8]) -> bool {
        self.magic.iter().any(|magic| head.starts_with(magic))
    }
}

/// Every supported format, in display order.
pub fn registry() -> &'static [Format] {
    /// Defaults of most formats.
    const PLAIN: Format = Format {
        name: TEXT,
        extensions: &[],
        about: "",
        magic: &[],
        sniff: |_| false,
        gzip: false,
        decimals: false,
        read: delimited::read,
        datasets: None,
        line_of: None,
        records: delimited::records,
        blocks: None,
        attribute: None,
        scans: false,
    };
    const REGISTRY: &[Format] = &[
        Format {
            name: TEXT,
            extensions: &["csv", "tsv", "tab", "txt", "dat", "xyz", "asc", "pts"],
            about: "comma, tab, semicolon, bar or spaces; with or without a header; quotes, # comments; \
                    also as .gz",
            gzip: true,
            decimals: true,
            read: delimited::read,
            line_of: Some(delimited::line_of_record),
            records: delimited::records,
            ..PLAIN
        },
        Format {
            name: "word vectors",
            extensions: &["vec"],
            about: "GloVe, word2vec and fastText as text: one word with its numbers per line; also as .txt \
                    and .gz",
            sniff: words::sniff,
            gzip: true,
            decimals: true,
            read: words::read,
            line_of: Some(words::line_of_record),
            records: words::records,
            ..PLAIN
        },
        Format {
            name: JSON,
            extensions: &["json", "jsonl", "ndjson", "jsonlines", "geojson"],
            about: "points in an array, in an object, one per line, or by column; GeoJSON points; also \
                    as .gz",
            sniff: json::sniff,
            gzip: true,
            decimals: true,
            read: json::read,
            datasets: Some(json::datasets),
            records: json::records,
            ..PLAIN
        },
        Format {
            name: "XYZ file of atoms",
            about: "one element with x, y, z per line, after their count and a comment; also as .gz",
            sniff: molecule::sniff,
            gzip: true,
            decimals: true,
            read: molecule::read,
            datasets: Some(molecule::datasets),
            records: molecule::records,
            ..PLAIN
        },
        Format {
            name: "NumPy array",
            extensions: &["npy"],
            about: "one- or two-dimensional, any real type, C or Fortran order; structured arrays as tables",
            magic: &[b"\x93NUMPY"],
            read: npy::read,
            records: npy::records,
            blocks: Some(|input, _| npy::blocks(input)),
            ..PLAIN
        },
        Format {
            name: NPZ,
            extensions: &["npz"],
            about: "the two-dimensional array, or any array by FILE:NAME",
            magic: &[b"PK\x03\x04", b"PK\x05\x06"],
            read: npz::read,
            datasets: Some(npz::datasets),
            records: npz::records,
            ..PLAIN
        },
        Format {
            name: "Parquet file",
            extensions: &["parquet", "pq"],
            about: "columns of numbers and lists of numbers; uncompressed, zstd, Snappy, LZ4 or gzip",
            magic: &[b"PAR1"],
            read: arrow::read_parquet,
            records: arrow::parquet_records,
            blocks: Some(arrow::parquet_blocks),
            attribute: Some(arrow::parquet_attribute),
            ..PLAIN
        },
        Format {
            name: "Arrow or Feather file",
            extensions: &["arrow", "arrows", "feather", "ipc"],
            about: "like Parquet, also as a stream; uncompressed or LZ4",
            magic: &[b"ARROW1"],
            sniff: arrow::is_stream,
            read: arrow::read_ipc,
            records: arrow::ipc_records,
            blocks: Some(arrow::ipc_blocks),
            attribute: Some(arrow::ipc_attribute),
            ..PLAIN
        },
        Format {
            name: "HDF5 file",
            extensions: &["hdf5", "h5", "hdf", "he5"],
            about: "numeric data sets, by FILE:PATH; `train` in files of ann-benchmarks",
            magic: &[b"\x89HDF\r\n\x1a\n"],
            read: hdf5::read,
            datasets: Some(hdf5::datasets),
            records: hdf5::records,
            attribute: Some(hdf5::attribute),
            ..PLAIN
        },
        Format {
            name: "TEXMEX vector file",
            extensions: &["fvecs", "bvecs", "ivecs"],
            about: "f32, u8 or i32 vectors, each preceded by its dimension",
            read: |input, request| vectors::texmex(input)?.read(input, request),
            records: |input, wanted| vectors::texmex(input)?.records(input, wanted),
            blocks: Some(|input, _| vectors::texmex(input)?.blocks(input).map(Some)),
            ..PLAIN
        },
        Format {
            name: "Big-ANN vector file",
            extensions: &["fbin", "u8bin", "i8bin", "ibin"],
            about: "f32, u8, i8 or i32 vectors, preceded by their number and dimension",
            read: |input, request| vectors::big_ann(input)?.read(input, request),
            records: |input, wanted| vectors::big_ann(input)?.records(input, wanted),
            blocks: Some(|input, _| vectors::big_ann(input)?.blocks(input).map(Some)),
            ..PLAIN
        },
        Format {
            name: "IDX file",
            extensions: &[
                "idx",
                "idx1-ubyte",
                "idx2-ubyte",
                "idx3-ubyte",
                "idx4-ubyte",
                "idx1-int",
                "idx2-int",
                "idx3-int",
            ],
            about: "MNIST and similar: one row per image, with its label as a column; also as .gz",
            sniff: idx::sniff,
            gzip: true,
            read: idx::read,
            records: idx::records,
            ..PLAIN
        },
        Format {
            name: "PLY file",
            extensions: &["ply"],
            about: "ASCII or binary; the vertices, ignoring other elements",
            magic: &[b"ply\n", b"ply\r"],
            read: ply::read,
            records: ply::records,
            scans: true,
            ..PLAIN
        },
        Format {
            name: "PCD file",
            extensions: &["pcd"],
            about: "ASCII, binary or compressed: all fields, packed colours as red, green, blue",
            magic: &[b"# .PCD"],
            sniff: pcd::sniff,
            read: pcd::read,
            records: pcd::records,
            scans: true,
            ..PLAIN
        },
        Format {
            name: "E57 file",
            extensions: &["e57"],
            about: "x, y, z of a scan in the file's frame, intensity, colours; FILE:NAME for one of several",
            magic: &[b"ASTM-E57"],
            read: e57::read,
            datasets: Some(e57::datasets),
            records: e57::records,
            scans: true,
            ..PLAIN
        },
        Format {
            name: "LAS or LAZ file",
            extensions: &["las", "laz"],
            about: "LAS 1.0 to 1.5 and LAZ: x, y, z and the other fields; longitude and latitude if it says \
                    so",
            magic: &[b"LASF"],
            read: las::read,
            records: las::records,
            blocks: Some(las::blocks),
            scans: true,
            ..PLAIN
        },
    ];
    REGISTRY
}

/// A common format that is not supported: name, extensions, magic number if any, and a hint.
pub(super) struct UnsupportedFormat(&'static str, pub &'static [&'static str], &'static [u8], &'static str);

pub(super) const FOREIGN: &[UnsupportedFormat] = &[
    UnsupportedFormat(
        "PTX",
        &["ptx"],
        b"",
        "export the scan as E57, PTS or PLY, for instance with CloudCompare -O FILE.ptx -C_EXPORT_FMT PLY \
         -SAVE_CLOUDS",
    ),
    UnsupportedFormat(
        "OBJ",
        &["obj"],
        b"",
        "convert its vertices to points, for instance awk '$1 == \"v\" {print $2, $3, $4}' FILE.obj > \
         FILE.xyz",
    ),
    UnsupportedFormat("STL", &["stl"], b"", MESH),
    UnsupportedFormat("OFF", &["off"], b"", MESH),
    UnsupportedFormat("glTF", &["gltf", "glb"], b"glTF", MESH),
    UnsupportedFormat("FBX", &["fbx"], b"Kaydara FBX", MESH),
    UnsupportedFormat("VTK", &["vtk", "vtp", "vtu"], b"# vtk", MESH),
    UnsupportedFormat(
        "DXF",
        &["dxf", "dwg"],
        b"",
        "convert its points to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XYZ",
    ),
    UnsupportedFormat(
        "Matrix Market",
        &["mtx"],
        b"%%MatrixMarket",
        "save the matrix dense as .npy, for instance with scipy.io.mmread(FILE).toarray()",
    ),
    UnsupportedFormat(
        "KML or GPX",
        &["kml", "kmz", "gpx"],
        b"",
        "convert it to GeoJSON, for instance with ogr2ogr OUT.geojson IN",
    ),
    UnsupportedFormat("GeoPackage or SQLite", &["gpkg", "sqlite"], b"SQLite format 3", TO_CSV),
    UnsupportedFormat("MATLAB", &["mat"], b"MATLAB 5.0", "write the matrix as .npy or CSV"),
    UnsupportedFormat("Excel", &["xlsx", "xls", "ods"], b"\xd0\xcf\x11\xe0", "save the sheet as CSV"),
    UnsupportedFormat(
        "TopoJSON",
        &["topojson"],
        b"",
        "convert it to GeoJSON, for instance with ogr2ogr OUT.geojson IN.topojson",
    ),
    UnsupportedFormat(
        "Feather version 1",
        &[],
        b"FEA1",
        "write it as version 2, which is what pandas, pyarrow and polars write today",
    ),
    UnsupportedFormat("shapefile", &["shp"], b"\x00\x00\x27\x0a", TO_CSV),
    UnsupportedFormat(
        "pickle",
        &["pkl", "pickle"],
        b"\x80\x04\x95",
        "it would run code; write the array with numpy.save",
    ),
    UnsupportedFormat(
        LIBSVM,
        &["libsvm", "svm", "svmlight"],
        b"",
        "write its values as rows, for instance load_svmlight_file(FILE)[0].toarray() in sklearn",
    ),
    UnsupportedFormat("7z", &["7z"], b"7z\xbc\xaf\x27\x1c", UNPACK),
    UnsupportedFormat("RAR", &["rar"], b"Rar!\x1a", UNPACK),
    UnsupportedFormat("tar", &["tar", "tgz"], b"", UNPACK),
    UnsupportedFormat("zstd", &["zst"], b"\x28\xb5\x2f\xfd", UNPACK),
    UnsupportedFormat("bzip2", &["bz2"], b"BZh", UNPACK),
    UnsupportedFormat("xz", &["xz"], b"\xfd7zXZ\x00", UNPACK),
];

/// Recognised by its first line, because many of these files have no extension of their own.
const LIBSVM: &str = "LIBSVM";

/// Advice for a compressed or archived file.
const UNPACK: &str = "unpack it first";

/// Advice for a table of positions.
const TO_CSV: &str = "convert it to CSV, for instance with ogr2ogr -lco GEOMETRY=AS_XY";

/// Advice for a mesh.
const MESH: &str =
    "convert its vertices to PLY, for instance with CloudCompare -O FILE -C_EXPORT_FMT PLY -SAVE_CLOUDS";

pub(super) const GZIP: &[u8] = &[0x1f, 0x8b];

/// Name of the format that is a zip archive.
const NPZ: &str = "NumPy archive";

/// Name of the table format.
pub(super) const TEXT: &str = "delimited text";

/// Name of the JSON format, which other texts may resemble.
const JSON: &str = "JSON";

/// All extensions, for errors about unknown files.
pub(super) fn known_extensions() -> String {
    let all: Vec<String> = registry()
        .iter()
        .flat_map(|format| format.extensions)
        .map(|extension| format!(".{extension}"))
        .collect();
    format!("supported extensions: {}", all.join(" "))
}

/// Whether a file's extension is that of a format for scans of surfaces.
pub fn is_of_scans(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let extension = name.trim_end_matches(".gz").rsplit_once('.').map_or("", |(_, extension)| extension);
    registry().iter().any(|format| format.scans && format.extensions.contains(&extension))
}

/// Bytes sampled from the start of a file.
const HEAD: u64 = 1 << 16;
/// Extensions of any text format.
const ANY_TEXT: [&str; 4] = ["txt", "dat", "text", "xyz"];

/// Recognises the format of a file; it must support several clouds if one is named.
pub(super) fn recognise(input: &Input<'_>) -> Result<&'static Format> {
    let format = recognise_name(input)?;
    if let (None, Some(name)) = (format.datasets, input.dataset()) {
        return Err(input.malformed(
            format!("part `{name}`"),
            format!("{} holds one cloud; leave the name out", article(format.name)),
        ));
    }
    Ok(format)
}

/// The format on which the extension and the first bytes agree.
fn recognise_name(input: &Input<'_>) -> Result<&'static Format> {
    // Files in /proc report a length of 0, and reading one such as /proc/kmsg can block.
    let head = if input.size > 0 { unpacked::beginning(input.open()?, HEAD, input)? } else { Vec::new() };
    if head.is_empty() {
        return Err(input.malformed("nothing to read", "the file is empty"));
    }
    let name = input.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let (name, gz_name) = name.strip_suffix(".gz").map_or((name.as_str(), false), |inner| (inner, true));
    let extension = Path::new(name)
        .extension()
        .map(|extension| extension.to_string_lossy().into_owned())
        .unwrap_or_default();
    let gzip = head.starts_with(GZIP);
    if gz_name && !gzip {
        return Err(input.malformed("named .gz", "does not begin like gzip; is it damaged, or renamed?"));
    }

    let by_extension = registry().iter().find(|format| format.extensions.contains(&extension.as_str()));
    let sniff = |head: &[u8]| registry().iter().find(|format| (format.sniff)(head));
    let open = by_extension.is_none() || ANY_TEXT.contains(&extension.as_str());
    let by_magic = registry().iter().find(|format| format.has_magic(&head));
    if input.skipped > 0 {
        // The first lines may differ from the rest.
        let text = &registry()[0];
        return match by_magic.or(by_extension).filter(|format| format.name != text.name) {
            Some(format) => Err(input.unsupported(
                "skip-lines",
                format!("{} is not read line by line; only text is", article(format.name)),
            )),
            None => Ok(text),
        };
    }
    if extension == "warpscope" || head.starts_with(b"PK") && npz::has(input, "recording.json") {
        return Err(input.unsupported(
            "a recording of runs",
            "open it with `warpscope FILE`, or give the data that it was made of",
        ));
    }
    let text = if gzip && open { unpacked_head(input)? } else { head.clone() };
    // Many formats are zip archives.
    if by_magic.is_none_or(|format| format.name == NPZ)
        && let Some(UnsupportedFormat(what, _, _, way_out)) =
            FOREIGN.iter().find(|UnsupportedFormat(what, names, magic, _)| {
                !magic.is_empty() && head.starts_with(magic)
                    || by_extension.is_none() && names.contains(&extension.as_str())
                    || *what == LIBSVM && is_libsvm(&text)
            })
    {
        return Err(input.unsupported(format!("{what} files are not supported"), *way_out));
    }
    if gzip {
        if let Some(format) = by_extension.filter(|format| !format.gzip) {
            return Err(input.unsupported(
                format!("gzip around {}", article(format.name)),
                "unpack it first, with gunzip",
            ));
        }
        let found = if open { sniff(&text).filter(|format| format.gzip) } else { None };
        return Ok(found.or(by_extension).unwrap_or(&registry()[0]));
    }
    let by_content = || if open { sniff(&head) } else { None };
    match (by_extension, by_magic) {
        (Some(named), Some(found)) if named.name != found.name => {
            let why =
                format!("it begins like {}; rename it to .{}", article(found.name), found.extensions[0]);
            Err(input.malformed(format!("named .{extension}"), why))
        }
        (Some(named), None) if !named.magic.is_empty() && !(named.sniff)(&head) => {
            let why = format!("does not begin like {}; is it damaged, or renamed?", article(named.name));
            Err(input.malformed(format!("named .{extension}"), why))
        }
        (Some(named), None)
            if !open && named.magic.is_empty() && named.name != JSON && json::is_json_prefix(&head) =>
        {
            Err(input.malformed(format!("named .{extension}"), "it looks like JSON; rename it to .json"))
        }
        (None, Some(format)) => Ok(format),
        (Some(format), _) => Ok(by_content().unwrap_or(format)),
        (None, None) => match by_content() {
            Some(format) => Ok(format),
            None if head.contains(&0) => Err(input.unsupported(
                "unknown format",
                format!("neither its extension nor its first bytes are known; {}", known_extensions()),
            )),
            None => Ok(&registry()[0]),
        },
    }
}

/// Whether each of the first lines of a text has a label followed only by `index:value` in ascending order of
/// index. As delimited text, only the label would be a number.
fn is_libsvm(head: &[u8]) -> bool {
    /// Maximum number of lines checked.
    const LINES: usize = 100;
    let text = String::from_utf8_lossy(head);
    // The last line may be truncated, unless it is the only one.
    let whole = text.rfind('\n').map_or(&*text, |end| &text[..end]);
    let lines = whole
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default())
        .filter(|line| !line.trim().is_empty());
    // Number of values per line.
    let Some(counts) = lines.take(LINES).map(sparse_values).collect::<Option<Vec<_>>>() else { return false };
    // A single value per line may be a ratio or a score.
    counts.iter().any(|&count| count > 1) || counts.iter().any(|&count| count != counts[0])
}

/// The number of values on a line of a LIBSVM file; `None` for other lines.
fn sparse_values(line: &str) -> Option<usize> {
    let mut fields = line.split_ascii_whitespace();
    fields.next()?.parse::<f64>().ok()?;
    let mut pairs: Vec<(&str, &str)> = fields.map(|field| field.split_once(':')).collect::<Option<_>>()?;
    if pairs.first().is_some_and(|&(index, _)| index == "qid") {
        pairs.remove(0);
    }
    let time = |&(hours, minutes): &(&str, &str)| hours.len() <= 2 && minutes.len() == 2 && minutes < "60";
    let indices = pairs
        .iter()
        .map(|(index, value)| value.parse::<f64>().ok().and(index.parse::<u32>().ok()))
        .collect::<Option<Vec<_>>>()?;
    let times = !pairs.is_empty() && pairs.iter().all(time);
    (!times && indices.is_sorted_by(|one, next| one < next)).then_some(pairs.len())
}

/// A format's name with its indefinite article.
fn article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'H', 'I', 'X']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// The decompressed beginning of a gzip file, possibly truncated.
fn unpacked_head(input: &Input<'_>) -> Result<Vec<u8>> {
    let mut head = Vec::new();
    match unpacked::bytes(input)?.0.take(HEAD).read_to_end(&mut head) {
        // The reader will report the error.
        Err(_) if !input.progress.cancelled() => Ok(head),
        Err(why) => Err(input.io(why)),
        Ok(_) => Ok(head),
    }
}

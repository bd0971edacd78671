//! Limits of the readers, which reject some valid files.
//!
//! These are plausibility limits. They limit how much memory and time a small file can require on any
//! machine. Below them, memory is still checked before it is allocated ([`super::FormatError::Memory`]).
//! `docs/reference.md` shows [`TABLE`].

/// Columns of a cloud. Each needs memory, even without rows.
pub const MAX_COLUMNS: usize = 1 << 20;
/// Columns of an array without rows: a few bytes of its header can declare any number.
pub const MAX_EMPTY_COLUMNS: u64 = 1 << 12;
/// Columns of a PCD file: a few bytes of its header can declare any number.
pub const MAX_PCD_COLUMNS: usize = 1 << 16;
/// Attributes of the points of an E57 scan; the decoder buffers values of each.
pub const MAX_E57_ATTRIBUTES: usize = 64;
/// Values of an E57 attribute buffered until the values of the other attributes follow. A packet has at most
/// half as many.
pub const MAX_E57_AHEAD: u64 = 1 << 20;
/// Characters of a column's name; longer names are cut.
pub const MAX_NAME: usize = 1000;
/// Characters of a column's name made from nested keys.
pub const MAX_NESTED_NAME: usize = 200;
/// Bytes of all column names of a Parquet file; each includes the names of the groups around it.
pub const MAX_NAMES: u64 = 1 << 28;
/// Bytes of the columns made from lists, including their names.
pub const MAX_LIST_COLUMNS: u64 = 1 << 29;
/// Columns of a list that is longer than the file in bytes: a schema can declare any number.
pub const MAX_PROMISED_COLUMNS: usize = 1 << 12;
/// Distinct texts of a column read as categories.
pub const MAX_CATEGORIES: usize = 1 << 16;
/// Bytes of a line or record of text, or of a text in JSON: an unclosed quote would include the rest of the
/// file.
pub const MAX_LINE: u64 = 1 << 28;
/// Members of a JSON object, and frames of an XYZ file, that are listed as clouds.
pub const MAX_DATASETS: usize = 1 << 16;
/// Values of a JSON table after filling gaps, per value present.
pub const MAX_PADDED: u64 = 64;
/// Nesting depth of JSON arrays and objects: the parser's own limit.
pub const MAX_JSON_DEPTH: u64 = 127;
/// Nodes of the tree of values in JSON points: columns, and the arrays and objects around them.
pub const MAX_NODES: usize = 1 << 22;
/// Data sets listed of an HDF5 file.
pub const MAX_HDF5_DATASETS: usize = 10_000;
/// Links of an HDF5 file to groups that were already listed under another name or are not searched.
pub const MAX_LISTED_AGAIN: usize = 10_000;
/// Links in an HDF5 group's header, each look-up scanning all of them. Eight are usual; larger groups store
/// them elsewhere, with an index.
pub const MAX_HDF5_LINKS: usize = 1024;
/// Nesting depth of HDF5 groups.
pub const MAX_HDF5_DEPTH: usize = 16;
/// Groups around a column of a Parquet file, including the root. A list has two.
pub const MAX_GROUPS: usize = 64;
/// Bytes of a Parquet page header, whose minimum and maximum may be long texts.
pub const MAX_PAGE_HEADER: u64 = 1 << 24;
/// Nesting depth of Parquet metadata, which is normally about a dozen.
pub const MAX_THRIFT_DEPTH: usize = 64;
/// Nesting depth of tables in an Arrow schema.
pub const MAX_ARROW_DEPTH: usize = 64;
/// Nesting depth of XML elements in an E57 file; the format needs about ten.
pub const MAX_XML_DEPTH: usize = 64;
/// Attributes of an XML element in an E57 file.
pub const MAX_XML_ATTRIBUTES: usize = 256;
/// Namespaces declared by nested XML elements in an E57 file.
pub const MAX_XML_NAMESPACES: usize = 64;
/// Bytes of the header of a NumPy array, a PLY or a PCD file; a few hundred are usual.
pub const MAX_HEADER: usize = 1 << 20;
/// Points of a LAZ chunk; fifty thousand are usual. Several chunks are in memory at a time.
pub const MAX_CHUNK_POINTS: u64 = 1 << 18;
/// Bytes of the points of a LAZ chunk decoded as a whole, and of all chunks decoded at a time.
pub const MAX_CHUNK_BYTES: u64 = 1 << 28;
/// Points per byte of compressed LAZ data; real scans have less than one.
pub const MAX_POINTS_PER_BYTE: u64 = 64;
/// Maximum expansion of deflate: a match of 258 bytes needs at least two bits. No valid stream exceeds this.
/// Sizes in headers are checked against it before allocation; text is decompressed as a stream, and its
/// results are claimed.
pub const DEFLATE: u64 = 1032;
/// Maximum expansion of Snappy: a copy of 64 bytes needs three.
pub const SNAPPY: u64 = 22;
/// Maximum expansion of LZF: three bytes give at most 264.
pub const LZF: u64 = 88;
/// Maximum expansion of LZ4: a byte extends a match by at most 255.
pub const LZ4: u64 = 256;
/// Maximum expansion of zstd: a block of 128 KiB needs at least four bytes.
pub const ZSTD: u64 = 1 << 15;
/// Window of zstd in bytes, allocated in addition to the output. Compression levels up to 19 need no more.
pub const MAX_ZSTD_WINDOW: u64 = 8 << 20;
/// Decompressed bytes of chunks allowed for even the smallest HDF5 file, because they include the padding of
/// the last chunk.
pub const MAX_HDF5_CHUNK: u64 = 1 << 28;
/// Bytes of values per byte of an HDF5 file: chunks that were never written are not stored.
pub const MAX_HDF5_VALUES: u64 = 4096;
/// Bytes of texts of a Parquet column read at a time, or one row: each text may be as long as the dictionary.
pub const BATCH_TEXTS: u64 = 1 << 28;
/// Values of a Parquet list column read at a time, or one row.
pub const BATCH_VALUES: u64 = 1 << 23;
/// Bytes of points of a LAS file read at a time, or one point.
pub const BATCH_POINTS: usize = 1 << 24;
/// Bytes of the description in a recording or session, `recording.json` or `session.json`.
pub const MAX_MANIFEST: u64 = 1 << 28;
/// Paths that a recording stores for a cloud's file; two are written.
pub const MAX_PLACES: usize = 64;
/// Total bytes of the data files copied into a recording, which are unpacked to disk.
pub const MAX_COPIES: u64 = 1 << 30;
/// Measures, counters or phases of a run in a recording, and characters of the name of each.
pub const MAX_MEASURES: usize = 64;

/// A limit as `docs/reference.md` shows it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The formats to which it applies.
    pub format: &'static str,
    /// What is limited.
    pub what: &'static str,
    /// The maximum.
    pub most: u64,
    /// The unit of a size, or "".
    pub unit: &'static str,
    /// What happens beyond it, and the reason for the limit.
    pub why: &'static str,
}

impl Limit {
    const fn new(format: &'static str, what: &'static str, most: u64, why: &'static str) -> Self {
        Self { format, what, most, unit: "", why }
    }

    const fn mebibytes(format: &'static str, what: &'static str, bytes: u64, why: &'static str) -> Self {
        Self { format, what, most: bytes >> 20, unit: " MiB", why }
    }
}

/// All limits, in the order of docs/reference.md; `as u64` because the constants have the types that their
/// readers use.
pub const TABLE: &[Limit] = &[
    Limit::new(
        "all",
        "columns",
        MAX_COLUMNS as u64,
        "rejected: each needs memory; the table may be transposed",
    ),
    Limit::new(
        "all",
        "characters of a column's name",
        MAX_NAME as u64,
        "cut: names are displayed, searched and copied",
    ),
    Limit::new(
        "all",
        "distinct texts of a column",
        MAX_CATEGORIES as u64,
        "rejected as categories: too many to distinguish",
    ),
    Limit::new(
        "gzip, `.npz`, recordings, Parquet",
        "bytes per compressed byte",
        DEFLATE,
        "rejected as damaged: the maximum of deflate",
    ),
    Limit::mebibytes(
        "text",
        "a line, or a record with quoted line ends",
        MAX_LINE,
        "rejected: it is held in memory; a quote may be unclosed",
    ),
    Limit::mebibytes("JSON", "one text, name or number", MAX_LINE, "rejected: it is held in memory"),
    Limit::new(
        "JSON",
        "nesting depth of arrays and objects",
        MAX_JSON_DEPTH,
        "rejected: each level needs stack space",
    ),
    Limit::new("JSON", "characters of a name made from nested keys", MAX_NESTED_NAME as u64, "cut"),
    Limit::new(
        "JSON",
        "arrays, objects and values in a point",
        MAX_NODES as u64,
        "rejected: each needs memory",
    ),
    Limit::new(
        "JSON",
        "values after filling gaps, per value present",
        MAX_PADDED,
        "rejected: objects with few common fields do not form a table",
    ),
    Limit::new(
        "JSON, XYZ of atoms",
        "arrays or frames listed",
        MAX_DATASETS as u64,
        "not listed; frames can still be opened as `FILE:NUMBER`",
    ),
    Limit::new(
        "Big-ANN, HDF5, IDX, NumPy",
        "columns of an array without rows",
        MAX_EMPTY_COLUMNS,
        "rejected: a few bytes of a header can declare any number",
    ),
    Limit::new(
        "PCD",
        "columns",
        MAX_PCD_COLUMNS as u64,
        "rejected: a few bytes of a header can declare any number",
    ),
    Limit::mebibytes(
        "NumPy, PLY, PCD",
        "the header",
        MAX_HEADER as u64,
        "rejected: a few hundred bytes are usual",
    ),
    Limit::new("Parquet", "bytes per byte of Snappy", SNAPPY, "rejected as damaged: the maximum of Snappy"),
    Limit::new("Parquet", "bytes per byte of zstd", ZSTD, "rejected as damaged: the maximum of zstd"),
    Limit::mebibytes(
        "Parquet",
        "the window of zstd",
        MAX_ZSTD_WINDOW,
        "rejected: it is held in addition to the page; levels up to 19 need no more",
    ),
    Limit::new("PCD, HDF5", "bytes per byte of LZF", LZF, "rejected as damaged: the maximum of LZF"),
    Limit::new(
        "E57",
        "attributes of a scan's points",
        MAX_E57_ATTRIBUTES as u64,
        "rejected: values of each are buffered",
    ),
    Limit::new(
        "E57",
        "values of an attribute before those of others",
        MAX_E57_AHEAD,
        "rejected: they are buffered until the others follow",
    ),
    Limit::new(
        "E57",
        "nesting depth of XML elements",
        MAX_XML_DEPTH as u64,
        "rejected: each level needs stack space",
    ),
    Limit::new(
        "E57",
        "attributes of an element of the XML",
        MAX_XML_ATTRIBUTES as u64,
        "rejected: time is quadratic in their number",
    ),
    Limit::new(
        "E57",
        "namespaces in scope of an XML element",
        MAX_XML_NAMESPACES as u64,
        "rejected: each element copies them",
    ),
    Limit::new(
        "LAZ",
        "points of a chunk",
        MAX_CHUNK_POINTS,
        "decoded sequentially: several chunks would be held in memory",
    ),
    Limit::new(
        "LAZ",
        "points per compressed byte",
        MAX_POINTS_PER_BYTE,
        "rejected: a point that differs from the previous one needs bits",
    ),
    Limit::mebibytes(
        "LAS",
        "points read at a time",
        BATCH_POINTS as u64,
        "read in smaller batches, down to one point",
    ),
    Limit::mebibytes(
        "HDF5",
        "chunks of a small file, uncompressed",
        MAX_HDF5_CHUNK,
        "rejected if they also exceed the bytes per byte",
    ),
    Limit::new(
        "HDF5",
        "nesting depth of groups",
        MAX_HDF5_DEPTH as u64,
        "not searched: links may form cycles",
    ),
    Limit::new(
        "HDF5",
        "data sets listed",
        MAX_HDF5_DATASETS as u64,
        "not listed, because each is opened; others can still be opened as `FILE:NAME`",
    ),
    Limit::new(
        "HDF5",
        "links to groups listed before, or not searched",
        MAX_LISTED_AGAIN as u64,
        "rejected: links may multiply without end",
    ),
    Limit::new(
        "HDF5",
        "links in the header of a group",
        MAX_HDF5_LINKS as u64,
        "rejected: each look-up scans all of them",
    ),
    Limit::new(
        "HDF5",
        "bytes of values, or of chunks, per byte of the file",
        MAX_HDF5_VALUES,
        "rejected: chunks that were never written are not stored",
    ),
    Limit::new(
        "Parquet",
        "groups around a column",
        MAX_GROUPS as u64,
        "rejected: each level needs stack space",
    ),
    Limit::new(
        "Parquet",
        "nesting depth of the metadata",
        MAX_THRIFT_DEPTH as u64,
        "rejected: each level needs stack space",
    ),
    Limit::mebibytes(
        "Parquet",
        "the header of a page",
        MAX_PAGE_HEADER,
        "rejected: its minimum and maximum are held in memory",
    ),
    Limit::mebibytes(
        "Parquet",
        "names of all columns",
        MAX_NAMES,
        "rejected: each includes the names of the groups around it",
    ),
    Limit::mebibytes(
        "Parquet",
        "texts of a column read at a time",
        BATCH_TEXTS,
        "read in smaller batches, down to one row",
    ),
    Limit::new(
        "Parquet",
        "values of a list column read at a time",
        BATCH_VALUES,
        "read in smaller batches, down to one row",
    ),
    Limit::mebibytes(
        "Parquet, Arrow",
        "list columns with their names",
        MAX_LIST_COLUMNS,
        "rejected: each list element has the list's name",
    ),
    Limit::new(
        "Parquet, Arrow",
        "elements of a list, if the file has fewer bytes",
        MAX_PROMISED_COLUMNS as u64,
        "rejected: a schema can declare any number",
    ),
    Limit::new(
        "Arrow",
        "nesting depth of fields",
        MAX_ARROW_DEPTH as u64,
        "rejected: each level needs stack space",
    ),
    Limit::new("Parquet, Arrow", "bytes per byte of LZ4", LZ4, "rejected as damaged: the maximum of LZ4"),
    Limit::mebibytes(
        "recording, session",
        "the description, `recording.json`",
        MAX_MANIFEST,
        "rejected: it is held in memory",
    ),
    Limit::mebibytes(
        "recording, session",
        "data files in it, in total",
        MAX_COPIES,
        "omitted with a note; keep the file next to it",
    ),
    Limit::new(
        "recording, session",
        "paths for a cloud's file",
        MAX_PLACES as u64,
        "ignored: each is searched for",
    ),
    Limit::new(
        "recording, session",
        "measures of a run, and characters of a name",
        MAX_MEASURES as u64,
        "rejected: no engine has that many",
    ),
];

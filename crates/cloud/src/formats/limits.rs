//! Limits of the readers: what is rejected although it may be valid.
//!
//! These are plausibility limits. They bound what a small file can request, independently of the machine;
//! within them, memory is still checked before it is allocated ([`super::FormatError::Memory`]).
//! `docs/limits.md` shows [`TABLE`], and `tests/limits.rs` keeps the two equal.

/// Columns of a cloud. Each needs memory, whatever the number of rows.
pub const MAX_COLUMNS: usize = 1 << 20;
/// Columns of an array without rows: a few bytes of its header can declare any number.
pub const MAX_EMPTY_COLUMNS: u64 = 1 << 12;
/// Columns of a PCD file: a few bytes of its header can declare any number.
pub const MAX_PCD_COLUMNS: usize = 1 << 16;
/// Attributes of the points of an E57 scan; the decoder buffers values of each.
pub const MAX_E57_ATTRIBUTES: usize = 64;
/// Values of an E57 attribute that may precede those of the others; a packet has at most half as many.
pub const MAX_E57_AHEAD: u64 = 1 << 20;
/// Characters of a column's name; longer names are cut.
pub const MAX_NAME: usize = 1000;
/// Characters of a column's name made from nested keys.
pub const MAX_NESTED_NAME: usize = 200;
/// Bytes of all column names of a Parquet file; each includes the names of the groups around it.
pub const MAX_NAMES: u64 = 1 << 28;
/// Bytes of the columns made from lists, including their names.
pub const MAX_LIST_COLUMNS: u64 = 1 << 29;
/// Columns of a list that exceed the bytes of the file: a schema can declare any number.
pub const MAX_PROMISED_COLUMNS: usize = 1 << 12;
/// Distinct texts of a column read as categories.
pub const MAX_CATEGORIES: usize = 1 << 16;
/// Bytes of a line or record of text, or of a text in JSON: an unclosed quote would include the rest of the
/// file.
pub const MAX_LINE: u64 = 1 << 28;
/// Members of a JSON object, and frames of an XYZ file, that are listed as clouds.
pub const MAX_PARTS: usize = 1 << 16;
/// Values of a JSON table after filling gaps, per value present.
pub const MAX_PADDED: u64 = 64;
/// Nesting depth of JSON arrays and objects: the parser's own limit.
pub const MAX_JSON_DEPTH: u64 = 127;
/// Nodes of the tree of values in JSON points: columns, and the arrays and objects around them.
pub const MAX_NODES: usize = 1 << 22;
/// Data sets listed of an HDF5 file.
pub const MAX_DATA_SETS: usize = 10_000;
/// Links of an HDF5 file to groups that were already listed under another name, or are not searched.
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
/// Points of a LAZ chunk, several of which are in memory at a time; fifty thousand are usual.
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
/// Maximum expansion of LZF: three bytes produce at most 264.
pub const LZF: u64 = 88;
/// Maximum expansion of LZ4: a byte extends a match by at most 255.
pub const LZ4: u64 = 256;
/// Maximum expansion of zstd: a block of 128 KiB needs at least four bytes.
pub const ZSTD: u64 = 1 << 15;
/// Window of zstd in bytes, held in addition to the output; streams with usual compression levels have no
/// larger one.
pub const MAX_ZSTD_WINDOW: u64 = 8 << 20;
/// Bytes that the chunks of any HDF5 file may decompress to, however small it is, because padding of the last
/// chunk counts.
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

/// A limit as `docs/limits.md` shows it.
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

/// All limits, in the order of docs/limits.md; `as u64` because the constants have the types that their
/// readers use.
pub const TABLE: &[Limit] = &[
    Limit::new(
        "all",
        "columns",
        MAX_COLUMNS as u64,
        "refused: each takes memory of its own; the table may be transposed",
    ),
    Limit::new(
        "all",
        "characters of a column's name",
        MAX_NAME as u64,
        "cut: a name is shown, searched for and copied",
    ),
    Limit::new(
        "all",
        "different texts of a column",
        MAX_CATEGORIES as u64,
        "refused as categories: nobody tells more apart",
    ),
    Limit::new(
        "gzip, `.npz`, recordings, Parquet",
        "bytes that one packed byte unpacks to",
        DEFLATE,
        "refused as damaged: deflate cannot pack more densely",
    ),
    Limit::mebibytes(
        "text",
        "a line, or a record with its quoted line ends",
        MAX_LINE,
        "refused: it is held whole; a quote may not be closed",
    ),
    Limit::mebibytes("JSON", "one text, name or number", MAX_LINE, "refused: it is held whole"),
    Limit::new(
        "JSON",
        "arrays and objects within one another",
        MAX_JSON_DEPTH,
        "refused: each level takes stack",
    ),
    Limit::new("JSON", "characters of a name made of nested keys", MAX_NESTED_NAME as u64, "cut"),
    Limit::new(
        "JSON",
        "arrays, objects and values that a point may consist of",
        MAX_NODES as u64,
        "refused: each takes memory of its own",
    ),
    Limit::new(
        "JSON",
        "values with gaps filled, for each value there is",
        MAX_PADDED,
        "refused: objects with little in common are no table",
    ),
    Limit::new(
        "JSON, XYZ of atoms",
        "arrays or frames that are listed",
        MAX_PARTS as u64,
        "not listed; frames still open as `FILE:NUMBER`",
    ),
    Limit::new(
        "Big-ANN, HDF5, IDX, NumPy",
        "columns of an array without rows",
        MAX_EMPTY_COLUMNS,
        "refused: a few bytes of the header can ask for any number",
    ),
    Limit::new(
        "PCD",
        "columns",
        MAX_PCD_COLUMNS as u64,
        "refused: a few bytes of the header can ask for any number",
    ),
    Limit::mebibytes(
        "NumPy, PLY, PCD",
        "the header",
        MAX_HEADER as u64,
        "refused: usual ones have a few hundred bytes",
    ),
    Limit::new(
        "Parquet",
        "bytes that one byte of Snappy unpacks to",
        SNAPPY,
        "refused as damaged: Snappy cannot pack more densely",
    ),
    Limit::new(
        "Parquet",
        "bytes that one byte of zstd unpacks to",
        ZSTD,
        "refused as damaged: zstd cannot pack more densely",
    ),
    Limit::mebibytes(
        "Parquet",
        "the window of zstd",
        MAX_ZSTD_WINDOW,
        "refused: it is held beside the page; levels up to 19 have no more",
    ),
    Limit::new(
        "PCD, HDF5",
        "bytes that one byte of LZF unpacks to",
        LZF,
        "refused as damaged: LZF cannot pack more densely",
    ),
    Limit::new(
        "E57",
        "attributes of a scan's points",
        MAX_E57_ATTRIBUTES as u64,
        "refused: values of each are buffered",
    ),
    Limit::new(
        "E57",
        "values of an attribute before those of others",
        MAX_E57_AHEAD,
        "refused: they are held until the others follow",
    ),
    Limit::new(
        "E57",
        "elements of the XML within one another",
        MAX_XML_DEPTH as u64,
        "refused: each level takes stack",
    ),
    Limit::new(
        "E57",
        "attributes of an element of the XML",
        MAX_XML_ATTRIBUTES as u64,
        "refused: the work grows with their square",
    ),
    Limit::new(
        "E57",
        "namespaces declared around an element of the XML",
        MAX_XML_NAMESPACES as u64,
        "refused: each element copies them",
    ),
    Limit::new(
        "LAZ",
        "points of a chunk",
        MAX_CHUNK_POINTS,
        "read one after the other: several chunks are held at a time",
    ),
    Limit::new(
        "LAZ",
        "points for each packed byte",
        MAX_POINTS_PER_BYTE,
        "refused: a point that differs from the one before takes bits",
    ),
    Limit::mebibytes(
        "LAS",
        "points that are read at a time",
        BATCH_POINTS as u64,
        "read in smaller parts, down to one point",
    ),
    Limit::mebibytes(
        "HDF5",
        "chunks of a small file, unpacked",
        MAX_HDF5_CHUNK,
        "refused if they are also beyond the bytes for each byte",
    ),
    Limit::new(
        "HDF5",
        "groups within one another",
        MAX_HDF5_DEPTH as u64,
        "not searched: links may go in circles",
    ),
    Limit::new(
        "HDF5",
        "data sets that are listed",
        MAX_DATA_SETS as u64,
        "not listed, as each is opened; others still open as `FILE:NAME`",
    ),
    Limit::new(
        "HDF5",
        "links to groups listed before, or not searched",
        MAX_LISTED_AGAIN as u64,
        "refused: links may multiply without end",
    ),
    Limit::new(
        "HDF5",
        "links in the header of a group",
        MAX_HDF5_LINKS as u64,
        "refused: each is looked for among all",
    ),
    Limit::new(
        "HDF5",
        "bytes of values, or of chunks, for each byte of the file",
        MAX_HDF5_VALUES,
        "refused: chunks that were never written are not stored",
    ),
    Limit::new("Parquet", "groups around a column", MAX_GROUPS as u64, "refused: each level takes stack"),
    Limit::new(
        "Parquet",
        "structures within one another in the metadata",
        MAX_THRIFT_DEPTH as u64,
        "refused: each level takes stack",
    ),
    Limit::mebibytes(
        "Parquet",
        "the header of a page",
        MAX_PAGE_HEADER,
        "refused: its least and largest value are held whole",
    ),
    Limit::mebibytes(
        "Parquet",
        "names of all columns",
        MAX_NAMES,
        "refused: each keeps the names of the groups around it",
    ),
    Limit::mebibytes(
        "Parquet",
        "texts of a column that are read at a time",
        BATCH_TEXTS,
        "read in smaller parts, down to one row",
    ),
    Limit::new(
        "Parquet",
        "values of a column of lists that are read at a time",
        BATCH_VALUES,
        "read in smaller parts, down to one row",
    ),
    Limit::mebibytes(
        "Parquet, Arrow",
        "columns of lists with their names",
        MAX_LIST_COLUMNS,
        "refused: each element of a list has the list's name",
    ),
    Limit::new(
        "Parquet, Arrow",
        "elements of a list, where the file has fewer bytes than that",
        MAX_PROMISED_COLUMNS as u64,
        "refused: a schema can promise any number",
    ),
    Limit::new(
        "Arrow",
        "fields within one another",
        MAX_ARROW_DEPTH as u64,
        "refused: each level takes stack",
    ),
    Limit::new(
        "Parquet, Arrow",
        "bytes that one byte of LZ4 unpacks to",
        LZ4,
        "refused as damaged: LZ4 cannot pack more densely",
    ),
    Limit::mebibytes(
        "recording, session",
        "the description, `recording.json`",
        MAX_MANIFEST,
        "refused: it is held whole",
    ),
    Limit::mebibytes(
        "recording, session",
        "data files that it holds, together",
        MAX_COPIES,
        "left out, which is said; keep the file beside it",
    ),
    Limit::new(
        "recording, session",
        "places where a cloud's file may be",
        MAX_PLACES as u64,
        "not looked at: each is looked for",
    ),
    Limit::new(
        "recording, session",
        "measures of a run, and characters of a name",
        MAX_MEASURES as u64,
        "refused: no engine has as many",
    ),
];

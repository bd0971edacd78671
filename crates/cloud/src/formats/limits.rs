//! What is refused though it may be valid, in one place: the most of everything that a reader takes.
//!
//! These are limits of plausibility. They keep what a small file can ask for within bounds that do not depend
//! on the machine; what is within them is still counted against free memory before it is taken
//! ([`super::FormatError::Memory`]). `docs/limits.md` shows [`TABLE`], and `tests/limits.rs` keeps the two
//! equal.

/// Columns of a cloud. Each takes memory of its own, whatever the number of rows.
pub const MAX_COLUMNS: usize = 1 << 20;
/// Columns of an array without rows: a few bytes of its header can ask for any number.
pub const MAX_EMPTY_COLUMNS: u64 = 1 << 12;
/// Columns of a PCD file: a few bytes of its header can ask for any number.
pub const MAX_PCD_COLUMNS: usize = 1 << 16;
/// Attributes of the points of an E57 scan; the decoder buffers values of each.
pub const MAX_E57_ATTRIBUTES: usize = 64;
/// Values of an attribute of an E57 scan that may come before those of the others; a packet has half as many
/// at most.
pub const MAX_E57_AHEAD: u64 = 1 << 20;
/// Characters of a column's name; the rest is cut off.
pub const MAX_NAME: usize = 1000;
/// Characters of a column's name made of the keys of nested objects.
pub const MAX_NESTED_NAME: usize = 200;
/// Bytes of the names of all columns of a Parquet file: each keeps the names of the groups around it.
pub const MAX_NAMES: u64 = 1 << 28;
/// Bytes of the columns that lists become, named after their list.
pub const MAX_LIST_COLUMNS: u64 = 1 << 29;
/// Columns that a list becomes where the whole file has fewer bytes: a schema can promise any number.
pub const MAX_PROMISED_COLUMNS: usize = 1 << 12;
/// Distinct texts of a column read as categories.
pub const MAX_CATEGORIES: usize = 1 << 16;
/// Bytes of a line or record of text, or of a text in JSON: an unclosed quote takes in the rest of the file.
pub const MAX_LINE: u64 = 1 << 28;
/// Members of a JSON object, and frames of an XYZ file, that are listed as clouds.
pub const MAX_PARTS: usize = 1 << 16;
/// Values of a JSON table with its gaps filled, for each value that there is.
pub const MAX_PADDED: u64 = 64;
/// Arrays and objects within one another in JSON: what the parser itself allows.
pub const MAX_JSON_DEPTH: u64 = 127;
/// Elements of the tree that the points of a JSON file form: columns, and what is around them.
pub const MAX_NODES: usize = 1 << 22;
/// Data sets of an HDF5 file that are listed.
pub const MAX_DATA_SETS: usize = 10_000;
/// Links of an HDF5 file to groups that were listed before under another name, or that are not searched.
pub const MAX_LISTED_AGAIN: usize = 10_000;
/// Links in the header of a group of an HDF5 file, each of which is looked for among all; eight are usual,
/// and more are kept elsewhere, where they are found at once.
pub const MAX_HDF5_LINKS: usize = 1024;
/// Groups of an HDF5 file within one another.
pub const MAX_HDF5_DEPTH: usize = 16;
/// Groups around a column of a Parquet file, with the root. A list takes two.
pub const MAX_GROUPS: usize = 64;
/// Bytes of the header of a page of a Parquet file; its least and largest values may be long texts.
pub const MAX_PAGE_HEADER: u64 = 1 << 24;
/// Structs, lists and maps within one another in the metadata of a Parquet file, which nest a dozen deep.
pub const MAX_THRIFT_DEPTH: usize = 64;
/// Tables within one another in the description of an Arrow file's columns.
pub const MAX_ARROW_DEPTH: usize = 64;
/// Elements within one another in the XML of an E57 file; the format needs about ten.
pub const MAX_XML_DEPTH: usize = 64;
/// Attributes of an element in the XML of an E57 file.
pub const MAX_XML_ATTRIBUTES: usize = 256;
/// Namespaces that elements within one another declare in the XML of an E57 file.
pub const MAX_XML_NAMESPACES: usize = 64;
/// Bytes of the header of a NumPy array, a PLY or a PCD file; usual ones have a few hundred.
pub const MAX_HEADER: usize = 1 << 20;
/// Points of a LAZ chunk, several of which are held at a time; fifty thousand are usual.
pub const MAX_CHUNK_POINTS: u64 = 1 << 18;
/// Bytes of the points of a LAZ chunk that is decoded as a whole, and of all chunks that are decoded at a
/// time.
pub const MAX_CHUNK_BYTES: u64 = 1 << 28;
/// Points for each byte of compressed LAZ data: real scans have less than one.
pub const MAX_POINTS_PER_BYTE: u64 = 64;
/// Bytes that one byte of deflate unpacks to: a match of 258 bytes takes at least two bits. No stream can
/// have more, so that nothing honest is refused: a size in a header is held to it before memory is taken, and
/// text is read as it is unpacked, where what is made of it is counted.
pub const DEFLATE: u64 = 1032;
/// Bytes that one byte of Snappy unpacks to: a copy of 64 bytes takes three.
pub const SNAPPY: u64 = 22;
/// Bytes that one byte of LZF unpacks to: three bytes stand for 264 at most.
pub const LZF: u64 = 88;
/// Bytes that one byte of LZ4 unpacks to: a byte lengthens a match by 255 at most.
pub const LZ4: u64 = 256;
/// Bytes that one byte of zstd unpacks to: a block of 128 KiB takes four at least.
pub const ZSTD: u64 = 1 << 15;
/// Bytes before the present one that zstd may repeat, which are held beside what they unpack to; streams
/// packed at usual levels have at most as many.
pub const MAX_ZSTD_WINDOW: u64 = 8 << 20;
/// Bytes that the chunks of any HDF5 file may unpack to, however small it is: what fills the last chunk
/// counts.
pub const MAX_HDF5_CHUNK: u64 = 1 << 28;
/// Bytes of values for each byte of an HDF5 file: chunks that were never written are not stored.
pub const MAX_HDF5_VALUES: u64 = 4096;
/// Bytes of the texts of a Parquet column that are read at a time, or one row: each text may be as long as
/// the dictionary.
pub const BATCH_TEXTS: u64 = 1 << 28;
/// Values of a Parquet column of lists that are read at a time, or one row.
pub const BATCH_VALUES: u64 = 1 << 23;
/// Bytes of the points of a LAS file that are read at a time, or one point.
pub const BATCH_POINTS: usize = 1 << 24;
/// Bytes of the description in a recording or session, `recording.json` or `session.json`.
pub const MAX_MANIFEST: u64 = 1 << 28;
/// Places that a recording gives for a cloud's file; two are written.
pub const MAX_PLACES: usize = 64;
/// Bytes of the copies of data files in a recording, together; they are unpacked onto the disk.
pub const MAX_COPIES: u64 = 1 << 30;
/// Measures, counters or phases of a run in a recording, and characters of the name of each.
pub const MAX_MEASURES: usize = 64;

/// A limit as `docs/limits.md` shows it.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The formats that it holds for.
    pub format: &'static str,
    /// What is limited.
    pub what: &'static str,
    /// The most that is read.
    pub most: u64,
    /// The unit of a size, or "".
    pub unit: &'static str,
    /// What happens beyond it, and why there is a limit.
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

/// All limits, in the order of the page; `as u64` because counts have the type that their readers use.
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

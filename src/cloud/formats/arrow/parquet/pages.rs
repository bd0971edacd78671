//! Checks the pages of a column before the decoder gets them, which allocates what their headers promise, and reads as many
//! values as it finds.

use parquet::basic::Compression;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader as _;

use super::super::super::FormatError;
use super::super::super::input::Input;
use super::footer::{EMPTY, STATISTICS};
use super::thrift::{Event, Kind, Shape, walk};
use super::{Source, failed};

/// Bytes in which the header of a page is looked for at first; one with long texts as least and largest values takes more.
const WINDOW: u64 = 1 << 12;
/// Bytes that any page may unpack to.
const ALWAYS: u64 = 1 << 10;

/// What a column takes while it is read.
#[derive(Default)]
pub(super) struct Size {
    /// Bytes of the dictionary, and of the largest page, packed and unpacked.
    pub dictionary: u64,
    pub page: u64,
}

/// The header of a page.
#[derive(Default)]
struct Page {
    /// Bytes of the header.
    length: u64,
    unpacked: i64,
    packed: i64,
    /// Number of values, if it has any.
    values: Option<i64>,
    dictionary: Option<i64>,
}

impl Page {
    fn read(bytes: &[u8]) -> Result<Self, String> {
        let mut page = Self::default();
        let mut each = |event: Event| {
            if let Event::Int { of, field, value } = event {
                let is = |shape: &'static Shape| std::ptr::eq(of, shape);
                match field {
                    2 if is(&PAGE) => page.unpacked = value,
                    3 if is(&PAGE) => page.packed = value,
                    1 if is(&DATA) || is(&DATA_2) => page.values = Some(value),
                    1 if is(&DICTIONARY) => page.dictionary = Some(value),
                    _ => {}
                }
            }
            Ok(())
        };
        page.length = walk(bytes, &PAGE, &mut each)? as u64;
        Ok(page)
    }
}

/// Walks over the pages of a column and holds what they promise against what there is of them. `rows` is the number of rows in
/// the row group, if each has one value.
pub(super) fn check(source: &Source, chunk: &ColumnChunkMetaData, rows: Option<i64>, input: &Input<'_>) -> Result<Size, FormatError> {
    let name = chunk.column_path().string();
    let bad = |why: String| input.malformed(format!("column `{name}`"), why);
    if let Some(rows) = rows.filter(|&rows| rows != chunk.num_values()) {
        return Err(bad(format!("it has {} values in a group of {rows} rows", chunk.num_values())));
    }
    let (start, length) = chunk.byte_range();
    let end = start.saturating_add(length);
    if end > input.size() {
        return Err(input.malformed("cut short", format!("column `{name}` ends at byte {end} of {}", input.size())));
    }
    let (mut at, mut values, mut size) = (start, 0i64, Size::default());
    while values < chunk.num_values() && at < end {
        input.check()?;
        let page = header(source, at, input).map_err(|why| why.unwrap_or_else(|why| bad(format!("the header of a page is damaged: {why}"))))?;
        let negative = || bad("a page has less than no bytes or values".to_owned());
        let (packed, unpacked) = (u64::try_from(page.packed).map_err(|_| negative())?, u64::try_from(page.unpacked).map_err(|_| negative())?);
        if unpacked > packed.saturating_mul(ratio(chunk.compression())).saturating_add(ALWAYS) {
            return Err(bad(format!("a page promises {unpacked} bytes, which {packed} packed ones cannot hold")));
        }
        at = at.saturating_add(page.length).saturating_add(packed);
        if at > input.size() {
            return Err(input.malformed("cut short", format!("a page of column `{name}` ends at byte {at} of {}", input.size())));
        }
        if let Some(count) = page.dictionary {
            // Each takes a byte at least.
            if u64::try_from(count).map_err(|_| negative())? > unpacked {
                return Err(bad(format!("its dictionary promises {count} values in {unpacked} bytes")));
            }
            size.dictionary = size.dictionary.max(unpacked);
        }
        if let Some(count) = page.values {
            values = values.saturating_add(u64::try_from(count).map_err(|_| negative())?.cast_signed());
        }
        size.page = size.page.max(packed.saturating_add(unpacked));
    }
    if values != chunk.num_values() {
        return Err(bad(format!("its pages have {values} values, and {} are promised", chunk.num_values())));
    }
    Ok(size)
}

/// Reads the header of the page at a byte offset. The error is a reason to doubt the header, or one to stop.
fn header(source: &Source, at: u64, input: &Input<'_>) -> Result<Page, Result<FormatError, String>> {
    let left = input.size() - at;
    let mut window = WINDOW;
    loop {
        let bytes = source.get_bytes(at, window.min(left) as usize).map_err(|why| Ok(failed(input, "columns", why)))?;
        match Page::read(&bytes) {
            Ok(page) => return Ok(page),
            Err(why) if window >= left => return Err(Err(why)),
            Err(_) => window = window.saturating_mul(16),
        }
    }
}

/// Upper bound on the bytes that one packed byte can stand for.
fn ratio(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        // A copy of 64 bytes takes three.
        Compression::SNAPPY => 22,
        Compression::LZ4 | Compression::LZ4_RAW => 256,
        // A match of 258 bytes takes two bits.
        _ => 1032,
    }
}

// What the decoder knows of parquet.thrift.

static PAGE: Shape = Shape {
    name: "PageHeader",
    fields: &[
        (1, Kind::Int),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::Int),
        (5, Kind::Struct(&DATA)),
        (6, Kind::Struct(&EMPTY)),
        (7, Kind::Struct(&DICTIONARY)),
        (8, Kind::Struct(&DATA_2)),
    ],
};

static DATA: Shape =
    Shape { name: "DataPageHeader", fields: &[(1, Kind::Int), (2, Kind::Int), (3, Kind::Int), (4, Kind::Int), (5, Kind::Struct(&STATISTICS))] };

static DICTIONARY: Shape = Shape { name: "DictionaryPageHeader", fields: &[(1, Kind::Int), (2, Kind::Int), (3, Kind::Bool)] };

static DATA_2: Shape = Shape {
    name: "DataPageHeaderV2",
    fields: &[
        (1, Kind::Int),
        (2, Kind::Int),
        (3, Kind::Int),
        (4, Kind::Int),
        (5, Kind::Int),
        (6, Kind::Int),
        (7, Kind::Bool),
        (8, Kind::Struct(&STATISTICS)),
    ],
};

//! Parquet and Arrow files from their reference writers. The zstd files and Feather version 1 were written by
//! pyarrow and polars, because no crate here can write them.

use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Int32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, RecordBatch, StringArray, Time32SecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};

use super::super::columns::Cell;
use super::*;

/// Columns of every supported type: numbers with a null, a boolean, a date, texts and a dictionary.
fn batch() -> RecordBatch {
    let columns: [(&str, ArrayRef); 7] = [
        ("height", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::INFINITY)]))),
        ("count", Arc::new(Int64Array::from(vec![1, -2, 3]))),
        ("level", Arc::new(UInt8Array::from(vec![7, 8, 255]))),
        (
            "price",
            Arc::new(Decimal128Array::from(vec![125, -50, 0]).with_precision_and_scale(10, 2).unwrap()),
        ),
        ("there", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("day", Arc::new(Date32Array::from(vec![0, 1, 20_000]))),
        (
            "class",
            Arc::new(
                vec![Some("oak"), Some("elm"), Some("oak")]
                    .into_iter()
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Embeddings with an id: lists of three, fixed-size or not, one of them null.
fn lists(even: bool, lengths: [usize; 3]) -> RecordBatch {
    let vectors: ArrayRef = if even {
        let mut builder = FixedSizeListBuilder::new(Float32Builder::new(), 3);
        for row in 0..3u8 {
            builder.values().append_slice(&[f32::from(row), 0.5, -1.0]);
            builder.append(row != 1);
        }
        Arc::new(builder.finish())
    } else {
        let mut builder = ListBuilder::new(Int32Builder::new());
        for (row, length) in lengths.into_iter().enumerate() {
            builder.values().append_slice(&vec![row as i32; length]);
            builder.append(row != 0);
        }
        Arc::new(builder.finish())
    };
    let id: ArrayRef = Arc::new(Int64Array::from(vec![10, 20, 30]));
    let name: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "a"]));
    RecordBatch::try_from_iter_with_nullable([
        ("id", id, false),
        ("vector", vectors, true),
        ("name", name, true),
    ])
    .unwrap()
}

fn parquet_of(batch: &RecordBatch, compression: Compression) -> Vec<u8> {
    let properties =
        WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(2)).build();
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    out
}

fn ipc_of(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut out = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
    let rows = batch.num_rows();
    writer.write(&batch.slice(0, rows - 1)).unwrap();
    writer.write(&batch.slice(rows - 1, 1)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

/// Batches with one number per row.
pub(super) fn batches(count: usize, rows: usize) -> Vec<u8> {
    let numbers = Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64))) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("a", numbers)]).unwrap();
    let mut out = Vec::new();
    let mut writer = FileWriter::try_new(&mut out, &batch.schema()).unwrap();
    (0..count).for_each(|_| writer.write(&batch).unwrap());
    writer.finish().unwrap();
    drop(writer);
    out
}

/// A table of coordinates of two types with an id and a name, in parts of `part` rows: as Parquet, as an Arrow
/// file with and without compression, and as an Arrow stream.
pub(super) fn tables(rows: usize, part: usize) -> [(&'static str, Vec<u8>); 4] {
    let value = |row: usize, axis: usize| 5e5 + (row * 7919 % 1013) as f64 * 0.001 + axis as f64;
    let floats = |axis| Float64Array::from_iter_values((0..rows).map(|row| value(row, axis)));
    let narrow = Float32Array::from_iter_values((0..rows).map(|row| (row % 331) as f32));
    let columns: [(&str, ArrayRef); 5] = [
        ("id", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("x", Arc::new(floats(0))),
        ("name", Arc::new(StringArray::from_iter_values((0..rows).map(|row| format!("n{}", row % 9))))),
        ("y", Arc::new(narrow)),
        ("z", Arc::new(floats(2))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let parts = || (0..rows).step_by(part).map(|first| batch.slice(first, part.min(rows - first)));
    let mut parquet = Vec::new();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(part)).build();
    let mut writer = ArrowWriter::try_new(&mut parquet, batch.schema(), Some(properties)).unwrap();
    parts().for_each(|part| writer.write(&part).unwrap());
    writer.close().unwrap();
    let file = |compression| {
        let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
        let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        parts().for_each(|part| writer.write(&part).unwrap());
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    };
    let mut stream = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    parts().for_each(|part| stream.write(&part).unwrap());
    stream.finish().unwrap();
    [
        ("a.parquet", parquet),
        ("a.arrow", file(None)),
        ("a.feather", file(Some(CompressionType::LZ4_FRAME))),
        ("a.arrows", stream.into_inner().unwrap()),
    ]
}

fn stream_of(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut out = Vec::new();
    let mut writer = StreamWriter::try_new_with_options(&mut out, &batch.schema(), options).unwrap();
    let rows = batch.num_rows();
    writer.write(&batch.slice(0, rows - 1)).unwrap();
    writer.write(&batch.slice(rows - 1, 1)).unwrap();
    writer.finish().unwrap();
    drop(writer);
    out
}

pub(super) fn stream() -> Vec<u8> {
    stream_of(&batch(), Some(CompressionType::LZ4_FRAME))
}

pub(super) fn parquet(compression: Compression) -> Vec<u8> {
    parquet_of(&lists(true, [3; 3]), compression)
}

pub(super) fn ipc(compression: Option<CompressionType>) -> Vec<u8> {
    ipc_of(&batch(), compression)
}

/// The same table with every compression.
fn everywhere(batch: &RecordBatch) -> Vec<SampleFile> {
    let gzip = ::parquet::basic::GzipLevel::default();
    let packings =
        [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW, Compression::GZIP(gzip)];
    let mut samples: Vec<SampleFile> = packings
        .into_iter()
        .map(|packing| SampleFile::new("a.parquet", parquet_of(batch, packing)))
        .collect();
    for packing in [None, Some(CompressionType::LZ4_FRAME)] {
        samples.push(SampleFile::new("a.feather", ipc_of(batch, packing)));
        samples.push(SampleFile::new("a.arrows", stream_of(batch, packing)));
        // Streams may have any Arrow extension, or none.
        samples.push(SampleFile::new("stream", stream_of(batch, packing)));
    }
    samples
}

#[test]
fn numbers_become_coordinates_and_texts_become_categories() {
    for sample in everywhere(&batch()) {
        let (columns, values) = sample.table("");
        assert_eq!(columns, names(&["height", "count", "level", "price"]));
        assert_values(
            &values,
            &[1.5, 1.0, 7.0, 1.25, f64::NAN, -2.0, 8.0, -0.5, f64::INFINITY, 3.0, 255.0, 0.0],
        );
        // Columns that are not coordinates can be selected explicitly, even more than once.
        assert_values(
            &sample.table("day,there,day").1,
            &[0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 20_000.0, 1.0, 20_000.0],
        );
        let info = sample.info();
        assert_eq!((info.rows, &info.default_columns[..]), (3, &[0, 1, 2, 3][..]));
        assert_eq!(
            (info.columns[0].missing, info.columns[0].infinite, info.columns[5].max),
            (1, 1, Some(20_000.0))
        );
        assert_eq!(
            (info.columns[6].kind, info.columns[6].example.as_deref()),
            (ColumnKind::Text, Some("oak"))
        );
        let class = column(&sample.path, "class", &NoProgress).unwrap();
        assert_eq!(class, ColumnData::Categories { names: names(&["oak", "elm"]), codes: vec![0, 1, 0] });
        assert_eq!(
            column(&sample.path, "count", &NoProgress).unwrap(),
            ColumnData::Numbers(vec![1.0, -2.0, 3.0])
        );
        assert!(sample.error_of("class").contains("column `class`"), "{}", sample.error_of("class"));
    }
}

#[test]
fn dates_read_as_numbers_and_display_as_dates() {
    let seconds = [Some(1_728_045_000), None, Some(-1)];
    let scaled = |by: i64| seconds.map(|at| at.map(|at| at * by)).to_vec();
    let columns: [(&str, ArrayRef); 6] = [
        ("day", Arc::new(Date32Array::from(vec![Some(20_000), None, Some(-1)]))),
        ("s", Arc::new(TimestampSecondArray::from(scaled(1)))),
        ("ms", Arc::new(TimestampMillisecondArray::from(scaled(1000)).with_timezone("Europe/Berlin"))),
        ("us", Arc::new(TimestampMicrosecondArray::from(scaled(1_000_000)).with_timezone("+00:00"))),
        (
            "ns",
            Arc::new(TimestampNanosecondArray::from(vec![
                Some(1_728_045_000_000_000_001),
                None,
                Some(-1_000_000_000),
            ])),
        ),
        ("noon", Arc::new(Time32SecondArray::from(vec![43_200; 3]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    for sample in [
        SampleFile::new("a.parquet", parquet_of(&batch, Compression::SNAPPY)),
        SampleFile::new("a.feather", ipc_of(&batch, None)),
    ] {
        let text = |text: &str| Cell::Text(text.to_owned());
        let rows = records(&sample.path, &[2, 0, 1], &NoProgress).unwrap().rows;
        // Seconds become milliseconds in a Parquet file.
        let before = [
            "1969-12-31",
            "1969-12-31T23:59:59",
            "1969-12-31T23:59:59Z",
            "1969-12-31T23:59:59Z",
            "1969-12-31T23:59:59",
        ]
        .map(text);
        assert_eq!(rows[0][..5], before);
        let day = [
            "2024-10-04",
            "2024-10-04T12:30:00",
            "2024-10-04T12:30:00Z",
            "2024-10-04T12:30:00Z",
            "2024-10-04T12:30:00.000000001",
        ]
        .map(text);
        assert_eq!(rows[1][..5], day);
        assert!(
            rows[2][..5].iter().all(|cell| *cell == Cell::Missing) && rows[1][5] == Cell::Number(43_200.0),
            "{rows:?}"
        );
        let ColumnData::Numbers(days) = column(&sample.path, "day", &NoProgress).unwrap() else {
            panic!("they are numbers")
        };
        assert_values(&days, &[20_000.0, f64::NAN, -1.0]);
        let info = sample.info();
        let shown = |at: usize| info.columns[at].max.and_then(|max| Some(info.columns[at].moment?.text(max)));
        assert_eq!(
            [0, 2, 4].map(shown),
            ["2024-10-04", "2024-10-04T12:30:00Z", "2024-10-04T12:30:00"].map(|text| Some(text.to_owned()))
        );
        assert_eq!((info.columns[5].max, info.columns[5].moment), (Some(43_200.0), None));
    }
}

#[test]
fn numeric_lists_become_coordinates() {
    for sample in everywhere(&lists(true, [3; 3])) {
        let (columns, values) = sample.table("");
        assert_eq!(columns, names(&["vector0", "vector1", "vector2"]));
        assert_values(&values, &[0.0, 0.5, -1.0, f64::NAN, f64::NAN, f64::NAN, 2.0, 0.5, -1.0]);
        assert_values(&sample.table("id,vector2").1, &[10.0, -1.0, 20.0, f64::NAN, 30.0, -1.0]);
    }
    for sample in everywhere(&lists(false, [0, 2, 2])) {
        assert_values(&sample.table("").1, &[f64::NAN, f64::NAN, 1.0, 1.0, 2.0, 2.0]);
    }
    for sample in everywhere(&lists(false, [0, 2, 5])) {
        let message = sample.error();
        assert_eq!(
            message,
            "record 2: the list in column `vector` has 5 numbers, but the first list has 2; all must have \
             the same length"
        );
    }
}

#[test]
fn empty_buffers_are_read_as_uncompressed() {
    // An empty buffer does not store an uncompressed size. The bytes at its offset belong to the next
    // column's validity bitmap, which is long enough to be compressed.
    let nothing: ArrayRef = Arc::new(StringArray::from(vec![""; 10_000]));
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.5; 10_000]));
    let batch = RecordBatch::try_from_iter([("nothing", nothing), ("x", x)]).unwrap();
    for content in [
        ipc_of(&batch, Some(CompressionType::LZ4_FRAME)),
        stream_of(&batch, Some(CompressionType::LZ4_FRAME)),
    ] {
        assert_eq!(SampleFile::new("a.arrow", content).table("").1, [1.5; 10_000]);
    }
}

#[test]
fn single_rows_are_read_from_their_batch() {
    for sample in everywhere(&batch()) {
        let found = records(&sample.path, &[2, 0, 2], &NoProgress).unwrap();
        assert_eq!(found.columns, names(&["height", "count", "level", "price", "there", "day", "class"]));
        let number = Cell::Number;
        let last = [
            number(f64::INFINITY),
            number(3.0),
            number(255.0),
            number(0.0),
            number(1.0),
            Cell::Text("2024-10-04".to_owned()),
            Cell::Text("oak".to_owned()),
        ];
        assert_eq!((&found.rows[0][..], &found.rows[2][..]), (&last[..], &last[..]));
        assert_eq!(found.rows[1][6], Cell::Text("oak".to_owned()));
        assert_eq!(records(&sample.path, &[1], &NoProgress).unwrap().rows[0][0], Cell::Missing);
        let why = records(&sample.path, &[0, 3], &NoProgress).unwrap_err().to_string();
        assert!(why.starts_with("record 3: the file has 3 records: "), "{why}");
    }
    for sample in everywhere(&lists(true, [3; 3])) {
        let found = records(&sample.path, &[2], &NoProgress).unwrap();
        let number = Cell::Number;
        assert_eq!(
            found.rows,
            [[number(30.0), number(2.0), number(0.5), number(-1.0), Cell::Text("a".to_owned())]]
        );
    }
    // Rows 0 and 1 are a separate group, which is not read for row 2.
    let mut content = parquet_of(&batch(), Compression::SNAPPY);
    content[4..40].fill(0xff);
    let sample = SampleFile::new("a.parquet", content);
    assert!(records(&sample.path, &[0], &NoProgress).is_err());
    assert_eq!(records(&sample.path, &[2], &NoProgress).unwrap().rows[0][1], Cell::Number(3.0));
}

#[test]
fn zstd_parquet_from_polars_and_pyarrow_is_read() {
    // Another column of this file is compressed with Snappy.
    assert_eq!(SampleFile::new("a.parquet", include_bytes!("zstd.parquet")).table("").1.len(), 4);
    // Several groups and pages, dictionaries, nulls and texts; version 2 pages with uncompressed levels,
    // lists included.
    const ROWS: usize = 3000;
    let z = |row: usize| if row % 10 == 3 { f64::NAN } else { (row / 100) as f64 };
    for content in [&include_bytes!("polars.parquet")[..], include_bytes!("pages-v2.parquet")] {
        let sample = SampleFile::new("a.parquet", content);
        let (names, values) = sample.table("x,y,z");
        assert_eq!((names.join(" ").as_str(), values.len()), ("x y z", 3 * ROWS));
        for (row, found) in values.chunks(3).enumerate() {
            let expected = [row as f64 * 0.5, (row * 7 % 50) as f64, z(row)];
            assert!(
                found.iter().zip(&expected).all(|(found, expected)| found.to_bits() == expected.to_bits()),
                "row {row}: {found:?}"
            );
        }
        let ColumnData::Categories { names, codes } = sample.column("name").unwrap() else { panic!("texts") };
        assert!(
            names.len() == 40
                && (0..ROWS).all(|row| names[codes[row] as usize] == format!("town {}", row % 40))
        );
        assert_eq!(
            records(&sample.path, &[2999], &NoProgress).unwrap().rows[0][0],
            Cell::Number(1499.5),
            "earlier groups are skipped"
        );
    }
    let lists = SampleFile::new("a.parquet", include_bytes!("pages-v2.parquet")).table("e0,e2").1;
    assert!(
        lists.len() == 2 * ROWS
            && (0..ROWS).all(|row| lists[2 * row] == row as f64 * 0.25 && lists[2 * row + 1] == 2.0)
    );
}

#[test]
fn damaged_zstd_is_an_error() {
    let whole = include_bytes!("polars.parquet");
    let frames: Vec<usize> =
        (0..whole.len() - 4).filter(|&at| whole[at..].starts_with(b"\x28\xb5\x2f\xfd")).collect();
    assert!(frames.len() > 10, "{}", frames.len());
    let mut refused = 0;
    for (turn, &at) in frames.iter().enumerate() {
        let mut content = whole.to_vec();
        // The magic number, the frame header, or the content.
        content[at + [0, 4, 9, 14][turn % 4]] ^= 0x5a;
        let sample = SampleFile::new("a.parquet", content);
        if let Err(why) = sample.read("x,y,z") {
            refused += 1;
            assert!(why.to_string().ends_with("a.parquet") && !why.to_string().contains('\n'), "{why}");
        }
    }
    assert!(refused > frames.len() / 2, "{refused} of {}", frames.len());
}

#[test]
fn unsupported_file_errors_suggest_a_remedy() {
    let stop = std::sync::atomic::AtomicBool::new(true);
    let sample = SampleFile::new("a.parquet", parquet(Compression::SNAPPY));
    assert!(matches!(read(&sample.path, &ColumnChoice::Default, &stop), Err(FormatError::Cancelled)));
    for (name, content) in
        [("a.parquet", parquet(Compression::SNAPPY)), ("a.arrow", ipc(None)), ("a.arrows", stream())]
    {
        let message = SampleFile::new(name, &content[..content.len() / 2]).error();
        assert!(message.starts_with("cut short: "), "{name}: {message}");
    }
    let feather = SampleFile::new("a.feather", include_bytes!("zstd.feather")).error();
    assert!(
        feather.starts_with("zstd compression of all columns: not supported; write the file with LZ4"),
        "{feather}"
    );
    let two = SampleFile::new("a.arrows", [stream(), stream()].concat()).error();
    assert!(two.contains("data follows the end of the stream"), "{two}");
    let version1 = SampleFile::new("a.feather", include_bytes!("version1.feather")).error();
    assert!(
        version1.starts_with("Feather version 1 files are not supported: write it as version 2"),
        "{version1}"
    );
}

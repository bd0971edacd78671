//! Small valid inputs of every target, written by our own writers and by the crates that we use for reading.
//! Files of the first version, two h5py files and a zstd Parquet file come from the test data of the main
//! package.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder, Int32Builder, ListBuilder};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int64Array, RecordBatch, StringArray, UInt8Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use e57::{E57Writer, Quaternion, Record, RecordDataType, RecordName, RecordValue, Transform, Translation};
use las::Vector;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel};
use parquet::file::properties::WriterProperties;
use warpscope::cloud::{self, ColumnChoice, Source};
use warpscope::export::table::{Table, TableFormat};
use warpscope::progress::NoProgress;
use warpscope::run::recording::{self, CloudStorage, Extras, WindowState};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::scratch;

/// The files of a run's folder, as the first version wrote them.
pub const FOLDER: [(&str, &[u8]); 3] = [
    ("run.json", include_bytes!("../../../tests/data/first-version/lockstep/run.json")),
    ("timings.csv", include_bytes!("../../../tests/data/first-version/lockstep/timings.csv")),
    ("neighbors.npz", include_bytes!("../../../tests/data/first-version/lockstep/neighbors.npz")),
];

/// Prefixes contents with the byte that chooses their file name.
fn named<'a>(contents: impl IntoIterator<Item = (u8, &'a [u8])>) -> Vec<Vec<u8>> {
    contents.into_iter().map(|(how, content)| [&[how], content].concat()).collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub fn delimited() -> Vec<Vec<u8>> {
    let ours = table(TableFormat::Csv);
    named([
        (0, &ours[..]),
        (0, b"name,x,y\n\"a, b\",1.5,2\nc,,-4e3\n\"d \"\"e\"\"\",nan,1_000\n"),
        (1, b"x\ty\tz\n1\t2\t3\n4\t5\t6\n"),
        (2, b"# x y\n1 2\n3 4\n"),
        (2, b"a;b;c\r\n1,5;2,5;06484\r\n3;4;2020-01-02\r\n"),
        (4, b"2\n1 2\n3 4\n"),
        (3, b"1 2 3\n4 5 6\n"),
        (0x80, b"x,y\n1,2\n3,4\n5,6\n"),
        (0, b"\xef\xbb\xbflon|lat\n1|2\n"),
        (0, b"\xff\xfex\0,\0y\0\n\x001\0,\x002\0\n\0"),
        // Numbers in other notations.
        (2, b"a;b;c\n1.234,5;1'234.5;1D-3\n-2.000.000,25;12'000;2.5D+04\n0,5;7;\n"),
        (1, b"a\tb\n1 234,5\t1,234\n2\xc2\xa0345,75\t12,345.5\n"),
        // Positions and vectors in one column.
        (0, b"id,geom\n7,\"POINT (11.6 48.1)\"\n8,SRID=4326;POINT Z(1 2 3)\n9,POINT EMPTY\n"),
        (
            0,
            b"id,geom\n1,0101000000000000000000F03F0000000000000040\n\
              2,\\x0101000020E6100000000000000000F03F0000000000000040\n",
        ),
        (0, b"name,vector\na,\"[0.1, 0.2, 3e1]\"\nb,\"array([1., 2., -3.], dtype=float32)\"\n"),
        (
            0,
            b"place\n\"(48.1, 11.6)\"\n\"{\"\"type\"\": \"\"Point\"\", \"\"coordinates\"\": [1, 2]}\"\n\
              \"{\"\"lon\"\": 1, \"\"lat\"\": 2}\"\n",
        ),
    ])
}

pub fn words() -> Vec<Vec<u8>> {
    let vectors = "the 0.5 -0.25 1\n, 0.1 0.2 0.3\n# 1 2 3\n2008 4 5 6\n. . . 7 8 9\nnan 1e-3 0 0\n";
    let sized = format!("6 3\n{vectors}");
    named([(0, vectors.as_bytes()), (1, sized.as_bytes()), (0x80, sized.as_bytes())])
}

pub fn json() -> Vec<Vec<u8>> {
    named([
        (0, &b"[[1,2.5,-3e2],[4,5,null]]"[..]),
        (0, br#"{"points":[{"x":1,"y":[2,3],"z":"a"},{"x":true,"y":[4,5]}],"b":[[1]]}"#),
        (0, br#"{"x":[1,2],"y":[3,null],"n":["a","b"]}"#),
        (0, br#"{"x":{"0":1,"1":2},"y":{"0":3,"1":4}}"#),
        (0, br#"{"columns":["x","y"],"index":[0,1],"data":[[1,2],[3,4]]}"#),
        (1, b"{\"x\":1,\"n\":\"a\\u00e9\"}\n{\"x\":2}\n"),
        (1, b"[1,2]\n[3,4]\n"),
        (
            2,
            b"{\"type\": \"FeatureCollection\", \"features\": [\
              {\"type\": \"Feature\", \"properties\": {\"name\": \"Ulm\", \"people\": 126}, \
              \"geometry\": {\"type\": \"Point\", \"coordinates\": [9.99, 48.4]}}, \
              {\"type\": \"Feature\", \"geometry\": {\"coordinates\": [[8.5, 47.4], [8.6, 47.5]], \
              \"type\": \"MultiPoint\"}, \"properties\": {\"people\": 421}}]}",
        ),
        (0x80, b"[[1,2],[3,4]]"),
    ])
}

pub fn molecule() -> Vec<Vec<u8>> {
    let water = b"3\nwater, at rest\nO 0.0 0.0 0.119\nH 0.0 0.763 -0.477\nH 0.0 -0.763 -0.477\n";
    let two = [&water[..], b"1\r\n\r\nNa1\t1 2 3 0.5\r\n"].concat();
    named([(0, &water[..]), (0, &two), (0x80, &two), (1, water)])
}

/// A `.npy` file of these numbers.
fn array(kind: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + header.len()) % 64 != 63 {
        header.push(' ');
    }
    header.push('\n');
    [b"\x93NUMPY\x01\0", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn floats(count: u8) -> Vec<u8> {
    (0..count).flat_map(|at| (f32::from(at) * 0.5).to_le_bytes()).collect()
}

pub fn npy() -> Vec<Vec<u8>> {
    vec![
        array("<f4", false, "(4, 3)", &floats(12)),
        array(">i2", true, "(5, 2)", &[3; 20]),
        array("<f8", false, "(3,)", &[7; 24]),
        array("|b1", false, "(3, 1)", &[1, 0, 1]),
        array("<f2", false, "(2, 2)", &[0; 8]),
        array("|u1", false, "(2, 2)", &[9; 4]),
        // Pictures, grey and in colour.
        array("|u1", false, "(3, 2, 2)", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]),
        array("<f4", false, "(2, 2, 1, 3)", &floats(12)),
    ]
}

pub fn npz() -> Vec<Vec<u8>> {
    let arrays = [
        ("a.npy", array("<f4", false, "(4, 3)", &floats(12))),
        ("train.npy", array("<i8", false, "(3, 2)", &[1; 48])),
    ];
    vec![
        zipped(&arrays, CompressionMethod::Stored),
        zipped(&arrays, CompressionMethod::Deflated),
        zipped(&arrays[..1], CompressionMethod::Deflated),
        table(TableFormat::Npz),
        FOLDER[2].1.to_vec(),
    ]
}

/// An archive of these members.
pub(super) fn zipped(members: &[(impl AsRef<str>, Vec<u8>)], method: CompressionMethod) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        archive
            .start_file(name.as_ref(), SimpleFileOptions::default().compression_method(method))
            .expect("a short name");
        archive.write_all(content).expect("writing to memory");
    }
    archive.finish().expect("writing to memory").into_inner()
}

/// A table with a column of each type, by our own writer.
fn table(format: TableFormat) -> Vec<u8> {
    let table = Table::new(3)
        .with("x", |row| row as f32 * 0.5)
        .with("y", |row| -(row as f64))
        .with("count", |row| row as u64)
        .with("index", |row| row as i64 - 1)
        .with("height", |row| (row != 1).then_some(f64::INFINITY))
        .with("name", |row| ["oak", "elm, \"old\"", ""][row]);
    let path = scratch::folder().join(format!("seed.{}", format.extension()));
    table.write(&path).expect("writing a temporary file");
    std::fs::read(path).expect("reading the file")
}

/// Columns of all supported types: numbers with a null, a boolean, a date, texts, and lists of two kinds.
fn batch() -> RecordBatch {
    let mut even = FixedSizeListBuilder::new(Float32Builder::new(), 3);
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in 0..3u8 {
        even.values().append_slice(&[f32::from(row), 0.5, -1.0]);
        even.append(row != 1);
        lists.values().append_slice(&[i32::from(row); 2]);
        lists.append(row != 0);
    }
    let columns: [(&str, ArrayRef); 10] = [
        ("height", Arc::new(Float64Array::from(vec![Some(1.5), None, Some(f64::INFINITY)]))),
        ("count", Arc::new(Int64Array::from(vec![1, -2, 3]))),
        ("level", Arc::new(UInt8Array::from(vec![7, 8, 255]))),
        (
            "price",
            Arc::new(
                Decimal128Array::from(vec![125, -50, 0]).with_precision_and_scale(10, 2).expect("it fits"),
            ),
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
        ("name", Arc::new(StringArray::from(vec!["a", "b", "a"]))),
        ("even", Arc::new(even.finish())),
        ("lists", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("equal lengths")
}

pub fn parquet() -> Vec<Vec<u8>> {
    let vectors = batch().project(&[1, 8]).expect("enough columns");
    let mut files = vec![table(TableFormat::Parquet)];
    for (batch, packing) in [
        (batch(), Compression::UNCOMPRESSED),
        (batch(), Compression::SNAPPY),
        (vectors.clone(), Compression::LZ4_RAW),
        (vectors, Compression::GZIP(GzipLevel::default())),
    ] {
        let properties =
            WriterProperties::builder().set_compression(packing).set_max_row_group_row_count(Some(2)).build();
        let mut out = Vec::new();
        let mut writer =
            ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).expect("a valid schema");
        writer.write(&batch).expect("writing to memory");
        writer.close().expect("writing to memory");
        files.push(out);
    }
    // The writers of these crates do not support zstd.
    files.push(include_bytes!("../../../crates/cloud/src/formats/tests/arrow/zstd.parquet").to_vec());
    files.push(positions());
    files
}

/// Points as WKB in a Parquet file.
fn positions() -> Vec<u8> {
    let point = |x: f64, y: f64| [&[1, 1, 0, 0, 0][..], &x.to_le_bytes(), &y.to_le_bytes()].concat();
    let points = [point(11.6, 48.1), point(-0.1, 51.5)];
    let geometry: ArrayRef = Arc::new(BinaryArray::from_iter_values(&points));
    let batch = RecordBatch::try_from_iter([("geometry", geometry)]).expect("one column");
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).expect("a valid schema");
    writer.write(&batch).expect("writing to memory");
    writer.into_inner().expect("writing to memory")
}

pub fn arrow() -> Vec<Vec<u8>> {
    let batch = batch();
    let mut files = Vec::new();
    for packing in [None, Some(CompressionType::LZ4_FRAME)] {
        let options = IpcWriteOptions::default().try_with_compression(packing).expect("a built-in codec");
        let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options.clone())
            .expect("a valid schema");
        file.write(&batch).expect("writing to memory");
        files.push(file.into_inner().expect("writing to memory"));
        let mut stream =
            StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).expect("a valid schema");
        stream.write(&batch.slice(0, 2)).expect("writing to memory");
        stream.write(&batch.slice(2, 1)).expect("writing to memory");
        files.push(stream.into_inner().expect("writing to memory"));
    }
    files
}

pub fn hdf5() -> Vec<Vec<u8>> {
    let unpacked = |packed: &[u8]| {
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).expect("a complete file");
        bytes
    };
    vec![
        unpacked(include_bytes!("../../../crates/cloud/src/formats/tests/hdf5/earliest.hdf5.gz")),
        unpacked(include_bytes!("../../../crates/cloud/src/formats/tests/hdf5/latest.hdf5.gz")),
    ]
}

pub fn texmex() -> Vec<Vec<u8>> {
    let row = [&2u32.to_le_bytes()[..], &floats(2)].concat();
    let bytes = [&3u32.to_le_bytes()[..], &[1, 2, 3]].concat();
    named([(0, &row.repeat(5)[..]), (1, &bytes.repeat(4)), (2, &row.repeat(2))])
}

pub fn bigann() -> Vec<Vec<u8>> {
    let sizes = [3u32, 2].map(u32::to_le_bytes).concat();
    named([
        (0, &[&sizes[..], &floats(6)].concat()[..]),
        (1, &[&sizes[..], &[5; 6]].concat()),
        (2, &[&sizes[..], &[200; 6]].concat()),
        (3, &[&sizes[..], &[1; 24]].concat()),
    ])
}

pub fn idx() -> Vec<Vec<u8>> {
    let idx = |kind: u8, sizes: &[u32], data: &[u8]| {
        [
            &[0, 0, kind, sizes.len() as u8][..],
            &sizes.iter().flat_map(|size| size.to_be_bytes()).collect::<Vec<_>>(),
            data,
        ]
        .concat()
    };
    named([
        (0, &idx(8, &[4, 2, 2], &[9; 16])[..]),
        (0x80, &idx(13, &[2, 3], &[1; 24])),
        (1, &idx(8, &[2, 3, 3], &(0..18).collect::<Vec<u8>>())),
        (0, &idx(14, &[3], &[0; 24])),
    ])
}

pub fn ply() -> Vec<Vec<u8>> {
    let header = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\ncomment c\nelement face 1\nproperty list uchar int l\n\
             element vertex 3\nproperty float x\nproperty list uchar short m\nproperty double y\nend_header\n"
        )
    };
    vec![
        [header("ascii").as_bytes(), b"2 7 7\n1 1 9 2\n3 0 4\n5 2 1 1 6\n"].concat(),
        [header("binary_little_endian").as_bytes(), &[0; 64]].concat(),
        [header("binary_big_endian").as_bytes(), &[0; 64]].concat(),
    ]
}

pub fn pcd() -> Vec<Vec<u8>> {
    let header = |data: &str| {
        format!(
            "# .PCD v0.7\nVERSION 0.7\nFIELDS x y rgb n\nSIZE 4 8 4 2\nTYPE F F U I\nCOUNT 1 1 1 2\nWIDTH 3\n\
             HEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\nDATA {data}\n"
        )
    };
    let points = [0x40; 60];
    // Two literals of LZF, of 32 and 28 bytes.
    let packed = [&[31][..], &points[..32], &[27], &points[32..]].concat();
    let sizes = [packed.len() as u32, 60].map(u32::to_le_bytes).concat();
    vec![
        [header("ascii").as_bytes(), b"0.5 -1 16711680 1 2\nnan 2 255 3 4\n1e3 0 0 -5 6\n"].concat(),
        [header("binary").as_bytes(), &points].concat(),
        [header("binary_compressed").as_bytes(), &sizes, &packed].concat(),
    ]
}

pub fn e57() -> Vec<Vec<u8>> {
    let double = || RecordDataType::Double { min: None, max: None };
    let record = |name, data_type| Record { name, data_type };
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let pose = Transform {
        rotation: Quaternion { w: half, x: 0.0, y: 0.0, z: half },
        translation: Translation { x: 100.0, y: 200.0, z: 300.0 },
    };
    let cartesian = || {
        vec![
            record(RecordName::CartesianX, RecordDataType::Single { min: None, max: None }),
            record(RecordName::CartesianY, double()),
            record(
                RecordName::CartesianZ,
                RecordDataType::ScaledInteger { min: -100, max: 1000, scale: 0.25, offset: 10.0 },
            ),
            record(RecordName::CartesianInvalidState, RecordDataType::Integer { min: 0, max: 2 }),
            record(RecordName::Intensity, RecordDataType::Integer { min: 0, max: 1000 }),
            record(RecordName::ColorRed, RecordDataType::Integer { min: 0, max: 255 }),
            record(RecordName::ColorGreen, RecordDataType::Integer { min: 7, max: 7 }),
            record(RecordName::ColorBlue, RecordDataType::Integer { min: 0, max: 255 }),
        ]
    };
    let point = |at: i64| {
        let [x, y] = [RecordValue::Single(at as f32), RecordValue::Double((at * at) as f64)];
        let integers = [i64::from(at == 1), at, at, 7, 255].map(RecordValue::Integer);
        [x, y, RecordValue::ScaledInteger(at)].into_iter().chain(integers).collect::<Vec<_>>()
    };
    let spherical = || {
        [RecordName::SphericalRange, RecordName::SphericalAzimuth, RecordName::SphericalElevation]
            .map(|name| record(name, double()))
            .to_vec()
    };
    let direction = |at: i64| [1.0 + at as f64, at as f64 * 0.1, -0.3].map(RecordValue::Double).to_vec();
    let file = |scans: &[&str]| {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = E57Writer::new(&mut bytes, "file").expect("writing to memory");
        for &name in scans {
            let dome = name == "dome";
            let mut scan = writer
                .add_pointcloud(name, if dome { spherical() } else { cartesian() })
                .expect("a valid prototype");
            scan.set_name(Some(name.to_owned()));
            scan.set_transform((!dome).then(|| pose.clone()));
            (0..10).for_each(|at| {
                scan.add_point(if dome { direction(at) } else { point(at) }).expect("values in range")
            });
            scan.finalize().expect("writing to memory");
        }
        writer.finalize().expect("writing to memory");
        drop(writer);
        bytes.into_inner()
    };
    vec![file(&["hall"]), file(&["hall", "dome"])]
}

pub fn las() -> Vec<Vec<u8>> {
    let scan = |format: u8, compressed: bool, count: i32| {
        let mut builder = las::Builder::from(if format >= 6 { (1, 4) } else { (1, 2) });
        builder.point_format = las::point::Format::new(format).expect("a format from 0 to 10");
        builder.point_format.is_compressed = compressed;
        let transform = |offset| las::Transform { scale: 0.00025, offset };
        builder.transforms =
            Vector { x: transform(515_384.0), y: transform(4_918_360.0), z: transform(2330.0) };
        let header = builder.into_header().expect("a valid header");
        let mut writer = las::Writer::new(Cursor::new(Vec::new()), header).expect("writing to memory");
        for i in 0..count {
            let format = *writer.header().point_format();
            let at = |raw: i32, offset: f64| f64::from(raw) * 0.00025 + offset;
            let point = las::Point {
                x: at(i * 7 % 1000, 515_384.0),
                y: at(-i, 4_918_360.0),
                z: at(i % 777, 2330.0),
                gps_time: format.has_gps_time.then_some(f64::from(i) * 0.1),
                color: format.has_color.then(|| las::Color::new(1, 2, i as u16)),
                nir: format.has_nir.then_some(5),
                intensity: i as u16,
                return_number: 1,
                number_of_returns: 1,
                ..Default::default()
            };
            writer.write_point(point).expect("coordinates on the grid");
        }
        writer.close().expect("writing to memory");
        writer.into_inner().expect("a closed writer").into_inner()
    };
    [
        (0, false, 5),
        (3, false, 5),
        (6, false, 5),
        (8, false, 3),
        (0, true, 40),
        (1, true, 40),
        (3, true, 40),
        (6, true, 40),
        (7, true, 40),
        (8, true, 20),
    ]
    .into_iter()
    .map(|(format, compressed, count)| scan(format, compressed, count))
    .collect()
}

pub fn recording() -> Vec<Vec<u8>> {
    vec![
        include_bytes!("../../../tests/data/first-version/lockstep.warpscope").to_vec(),
        include_bytes!("../../../tests/data/first-version/profiled.warpscope").to_vec(),
        include_bytes!("../../../tests/data/first-version/session.warpscope").to_vec(),
        session_with_file(),
    ]
}

/// A session as this version saves it, with a copy of the data file, in which one column is not searched.
fn session_with_file() -> Vec<u8> {
    let path = scratch::file("trees.csv", b"x,y,kind\n1,2,oak\n3,4.5,elm\n5,6,oak\n");
    let source = Source::File { path, columns: ColumnChoice::Named(vec!["x".into(), "y".into()]) };
    let cloud = Arc::new(cloud::load(&source, false, &NoProgress).expect("a complete file"));
    let shown = Some(WindowState { session: &session_text(), cloud: Some(&cloud) });
    let mut out = Cursor::new(Vec::new());
    let missing = recording::write_with(
        Extras { shown, compared: None },
        &[],
        CloudStorage::Points,
        &mut out,
        &NoProgress,
    )
    .expect("writing to memory");
    assert_eq!(missing, [""; 0], "a complete copy");
    out.into_inner()
}

/// A window of the first version.
fn session_text() -> Vec<u8> {
    let recording: &[u8] = include_bytes!("../../../tests/data/first-version/session.warpscope");
    let mut text = Vec::new();
    let mut archive = zip::ZipArchive::new(Cursor::new(recording)).expect("a complete file");
    archive.by_name("session.json").expect("session.json").read_to_end(&mut text).expect("a complete file");
    text
}

pub fn folder() -> Vec<Vec<u8>> {
    (0u8..).zip(FOLDER).map(|(at, (_, content))| [&[at], content].concat()).collect()
}

pub fn run_json() -> Vec<Vec<u8>> {
    let file: serde_json::Value = serde_json::from_slice(FOLDER[0].1).expect("a complete file");
    vec![
        FOLDER[0].1.to_vec(),
        serde_json::to_vec(&file).expect("serialisable data"),
        include_bytes!("../../../tests/data/first-version/kdtree/run.json").to_vec(),
    ]
}

#[cfg(feature = "gui")]
pub fn session() -> Vec<Vec<u8>> {
    let text = session_text();
    let again = warpscope::app::saved::SavedSession::read(&text)
        .ok()
        .and_then(|session| session.text().ok())
        .expect("a valid session");
    vec![text, again, br#"{"schema_version": 1, "saved_unix": 0, "points": true}"#.to_vec()]
}

pub fn generator() -> Vec<Vec<u8>> {
    texts(&[
        "uniform:n=100,d=2",
        "gaussian-mixture:n=50,d=3,clusters=4,spread=0.1",
        "rounded-normal:n=40,d=2,spread=9.5",
        "sphere:n=20,d=5",
        "swiss-roll:n=30,noise=0.5",
        "spiral:n=30,turns=2.5,noise=0",
        "grid:n=27,d=3",
        "duplicates:n=50,d=2,distinct=7",
        "descending:n=9,d=1",
        "uniform",
    ])
}

pub fn columns() -> Vec<Vec<u8>> {
    texts(&["lon,lat", "0,1", "0-63", "x, y ,z", "3-1,a-b", "-0.1275,51.5,1e3", "nan,inf"])
}

pub fn method() -> Vec<Vec<u8>> {
    texts(&[
        "cuda:warps=8",
        "cuda: warps = 8 , window=16",
        "kdtree",
        "cuda:warps=4|8,window=8|16,kdtree",
        "auto,lockstep:a=1",
        "cuda:kernel=direct",
    ])
}

pub fn arguments() -> Vec<Vec<u8>> {
    texts(&[
        "run\n--input\na.csv\n--queries\nrows:0,5,10-12\n--k\n10\n--engine\ncuda:warps=8\n--columns\n0-3\n\
         --out\nrun",
        "run\n--generate\nuniform:n=100,d=2\n--queries\nat:0.5,0.5\n--metric\nangular\n--order\nshuffled\n\
         --exclude-self\n--repeats\n3\n--warmup\n0",
        "run\n--input\na.csv\n--columns\nlon,lat\n--queries\nat:-0.1275,51.507\n--metric\nhaversine",
        "verify\n--input\na.npz:train\n--queries\n50",
        "recall\na.ivecs\n--truth\nb.hdf5\n--at\n1,10,100\n--worst\n3\n--json",
        "analyse\na.csv\n-k\n20\n--lof\n--labels\nkind\n--duplicates\n0\n--graph\ng.npz\n--graph-as\ncsr\n\
         --leaks\nb.csv\n--eps\n0.5",
        "sweep\n--generate\nuniform\n--n\n1000,2000\n--d\n2\n--q\n20\n--k\n4,40\n--engine\n\
         lockstep,cuda:warps=4|8",
        "compare\na\nb.warpscope#1",
        "lesson\n--lesson\n3\n--k\n64\n--out\nfolder\n--png\n--gif\n--size\n800x600",
        "info\na.csv\n--json",
        "generate\nuniform:n=10\nout.csv\n--seed\n7",
        "devices\n--json",
        "gui\na.csv",
        "a.csv",
        "--help",
    ])
}

pub fn config() -> Vec<Vec<u8>> {
    texts(&[
        "[knn]\nk = 10\nmetric = \"haversine\"\ncolumns = [\"lon\", \"lat\"]\nexclude-self = true\n",
        "# defaults\n[run]\nengine = \"cuda:warps=8\"\nrepeats = 3\nwarmup = 0\n\n[compare]\n\
         fail-if-slower = \"5%\"\n",
        "[lesson]\nscale = 2.0\ntext = 24\nlook = 'dark'\n[gui]\nscale = 1.5\n",
        "[knn]\nradius = '5km'\n[knn.more]\nday = 2020-01-02\n",
        "k = 5\n[kn]\n",
    ])
}

pub fn round() -> Vec<Vec<u8>> {
    (0..7u8)
        .map(|kind| {
            [
                &[3, 1, 5],
                &b"ab\",\n"[..],
                &[kind],
                &(0..200u8).map(|at| at.wrapping_mul(37 + kind)).collect::<Vec<_>>(),
            ]
            .concat()
        })
        .collect()
}

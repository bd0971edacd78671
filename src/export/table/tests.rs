use std::fs::File;
use std::io::{BufWriter, Read};

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::{Field, RowAccessor};

use super::*;

/// Every type, with missing values, and with numbers that a conversion would change.
fn table() -> Table<'static> {
    let (floats, doubles) = ([0.1f32, f32::INFINITY, f32::MIN_POSITIVE], [0.1f64, f64::NEG_INFINITY, 1e300]);
    Table::new(3)
        .with("count", |row| [0u32, 7, u32::MAX][row])
        .with("large", |row| [0u64, (1 << 53) + 1, u64::MAX][row])
        .with("index", |row| [-1i64, 5, i64::MIN][row])
        .with("single", move |row| floats[row])
        .with("double", move |row| doubles[row])
        .with("maybe", |row| [Some(1.5f64), None, Some(-0.25)][row])
        .with("lane", |row| [None, Some(3u32), None][row])
        .with("text", |row| ["a,b", "ü\"x", ""][row])
        .with("text", |row| format!("row {row}"))
}

fn written_bytes(format: TableFormat) -> Vec<u8> {
    let mut out = BufWriter::new(tempfile::tempfile().unwrap());
    table().write_as(format, &mut out).unwrap();
    let mut file = out.into_inner().unwrap();
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn text_tables_keep_every_digit_and_leave_missing_values_empty() {
    let csv = String::from_utf8(written_bytes(TableFormat::Csv)).unwrap();
    let expected = "count,large,index,single,double,maybe,lane,text,text\n0,0,-1,0.1,0.1,1.5,,\"a,b\",row \
                    0\n7,9007199254740993,5,inf,-inf,,3,\"ü\"\"x\",row \
                    1\n4294967295,18446744073709551615,-9223372036854775808,1.1754944e-38,1e300,-0.25,,,row \
                    2\n";
    assert_eq!(csv, expected);
    assert_eq!(table().tsv().lines().nth(1), Some("0\t0\t-1\t0.1\t0.1\t1.5\t\ta,b\trow 0"));
    assert_eq!(written_bytes(TableFormat::Tsv), table().tsv().into_bytes());
}

/// One row is too little to tell a separator from a text that contains it.
#[test]
fn text_with_separators_is_quoted() {
    let table = Table::new(1).with("a|b", |_| "1|2").with("c;d", |_| "3;4").with("e", |_| 5u32);
    let mut out = Vec::new();
    TextWriter::new(b',', &mut out).append(&table).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "\"a|b\",\"c;d\",e\n\"1|2\",\"3;4\",5\n");
    // In TSV only a tab separates.
    assert_eq!(table.tsv(), "a|b\tc;d\te\n1|2\t3;4\t5\n");
}

#[test]
fn parquet_preserves_types_bits_and_nulls() {
    let reader = SerializedFileReader::new(bytes::Bytes::from(written_bytes(TableFormat::Parquet))).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    let names: Vec<&String> = rows[0].get_column_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["count", "large", "index", "single", "double", "maybe", "lane", "text", "text_2"]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_uint(0).unwrap()), [0, 7, u32::MAX]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_ulong(1).unwrap()), [0, (1 << 53) + 1, u64::MAX]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_long(2).unwrap()), [-1, 5, i64::MIN]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_float(3).unwrap()), [0.1, f32::INFINITY, f32::MIN_POSITIVE]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_double(4).unwrap()), [0.1, f64::NEG_INFINITY, 1e300]);
    let column =
        |row: usize, at: usize| rows[row].get_column_iter().nth(at).map(|(_, field)| field.clone()).unwrap();
    assert_eq!([0, 1, 2].map(|row| column(row, 5)), [Field::Double(1.5), Field::Null, Field::Double(-0.25)]);
    assert_eq!([0, 1].map(|row| column(row, 6)), [Field::Null, Field::UInt(3)]);
    assert_eq!([0, 1, 2].map(|row| rows[row].get_string(7).unwrap().as_str()), ["a,b", "ü\"x", ""]);
}

#[test]
fn npz_has_one_array_per_column() {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(written_bytes(TableFormat::Npz))).unwrap();
    let mut array = |name: &str, dtype: &str| {
        let mut bytes = Vec::new();
        archive.by_name(&format!("{name}.npy")).unwrap().read_to_end(&mut bytes).unwrap();
        let length = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let head = String::from_utf8(bytes[10..length].to_vec()).unwrap();
        assert!(head.contains(&format!("'descr': '{dtype}'")) && head.contains("'shape': (3,)"), "{head}");
        bytes.split_off(length)
    };
    let doubles = |bytes: &[u8]| {
        bytes.as_chunks::<8>().0.iter().map(|word| f64::from_le_bytes(*word)).collect::<Vec<_>>()
    };
    assert_eq!(array("large", "<u8").as_chunks::<8>().0[2], u64::MAX.to_le_bytes());
    assert_eq!(array("count", "<u4").as_chunks::<4>().0[2], u32::MAX.to_le_bytes());
    assert_eq!(array("single", "<f4").as_chunks::<4>().0[1], f32::INFINITY.to_le_bytes());
    let maybe = doubles(&array("maybe", "<f8"));
    assert!(maybe[0] == 1.5 && maybe[1].is_nan() && maybe[2] == -0.25);
    let lane = doubles(&array("lane", "<f8"));
    assert!(lane[0].is_nan() && lane[1] == 3.0);
    let text: Vec<u32> =
        array("text", "<U3").as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    assert_eq!(text, "a,bü\"x\0\0\0".chars().map(u32::from).collect::<Vec<_>>());
}

#[test]
fn many_rows_are_split_into_row_groups() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.parquet");
    let rows = (1 << 20) + 70_000;
    Table::new(rows)
        .with("at", |row| row as u64)
        .with("odd", |row| (row % 2 == 1).then_some(row as u32))
        .write(&path)
        .unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!((reader.num_row_groups(), reader.metadata().file_metadata().num_rows()), (2, rows as i64));
    let second = reader.get_row_group(1).unwrap();
    let last = second.get_row_iter(None).unwrap().last().unwrap().unwrap();
    assert_eq!((last.get_ulong(0).unwrap(), last.get_uint(1).unwrap()), (rows as u64 - 1, rows as u32 - 1));
}

#[test]
fn unknown_table_extensions_are_rejected() {
    let message = table().write(Path::new("table.xlsx")).unwrap_err().to_string();
    assert_eq!(
        message,
        "unknown extension for a table; use .csv, .tsv, .parquet, .arrow or .npz: table.xlsx"
    );
}

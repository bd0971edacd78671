use super::*;
use crate::formats::columns::Cell;

/// An array in NumPy's format.
pub(super) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    let pad = 64 - (10 + header.len() + 1) % 64;
    let header = format!("{header}{}\n", " ".repeat(pad));
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// The bytes of a small number.
type Encode<'a> = &'a dyn Fn(u8) -> Vec<u8>;

#[test]
fn element_types_and_memory_orders_are_read() {
    let want = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let data =
        |bytes: Encode<'_>, order: [u8; 6]| order.iter().flat_map(|&value| bytes(value)).collect::<Vec<u8>>();
    let cases: [(&str, Encode<'_>); 15] = [
        ("<f4", &|v| f32::from(v).to_le_bytes().into()),
        (">f4", &|v| f32::from(v).to_be_bytes().into()),
        ("<f8", &|v| f64::from(v).to_le_bytes().into()),
        (">f8", &|v| f64::from(v).to_be_bytes().into()),
        ("<f2", &|v| {
            [0x3c00u16, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600][v as usize - 1].to_le_bytes().into()
        }),
        ("|i1", &|v| vec![v]),
        ("|u1", &|v| vec![v]),
        ("<i2", &|v| i16::from(v).to_le_bytes().into()),
        (">i2", &|v| i16::from(v).to_be_bytes().into()),
        ("<u2", &|v| u16::from(v).to_le_bytes().into()),
        ("<i4", &|v| i32::from(v).to_le_bytes().into()),
        (">u4", &|v| u32::from(v).to_be_bytes().into()),
        ("<i8", &|v| i64::from(v).to_le_bytes().into()),
        (">i8", &|v| i64::from(v).to_be_bytes().into()),
        ("<u8", &|v| u64::from(v).to_le_bytes().into()),
    ];
    for (descr, bytes) in cases {
        let c = SampleFile::new("a.npy", npy(descr, false, "(3, 2)", &data(bytes, [1, 2, 3, 4, 5, 6])));
        assert_eq!(c.table(""), (names(&["x", "y"]), want.to_vec()), "{descr}");
        assert_eq!(c.table("1,0").1, [2.0, 1.0, 4.0, 3.0, 6.0, 5.0], "{descr}");
        let fortran = SampleFile::new("a.npy", npy(descr, true, "(3, 2)", &data(bytes, [1, 3, 5, 2, 4, 6])));
        assert_eq!(fortran.table("").1, want, "{descr}");
        assert_eq!(fortran.table("1").1, [2.0, 4.0, 6.0], "{descr}");
        let line = SampleFile::new("a.npy", npy(descr, false, "(6,)", &data(bytes, [1, 2, 3, 4, 5, 6])));
        assert_eq!(line.table(""), (names(&["x"]), want.to_vec()), "{descr}");
    }
    assert_eq!(
        SampleFile::new("a.npy", npy("|b1", false, "(2, 2)", &[0, 1, 1, 0])).table("").1,
        [0.0, 1.0, 1.0, 0.0]
    );
}

#[test]
fn nan_and_infinity_are_preserved() {
    let info = SampleFile::new(
        "a.npy",
        npy("<f4", false, "(4, 1)", &floats(&[f32::NAN, f32::INFINITY, 2.0, f32::NEG_INFINITY])),
    )
    .info();
    let column = &info.columns[0];
    assert_eq!((column.missing, column.infinite, column.min, column.max), (1, 2, Some(2.0), Some(2.0)));
    assert_eq!((info.rows, info.format.as_str()), (4, "NumPy array, 4 × 1 f32"));
}

#[test]
fn large_arrays_are_read_in_batches() {
    let values: Vec<f32> = (0..300_000).map(|i| i as f32).collect();
    let sample = SampleFile::new("a.npy", npy("<f4", false, "(100000, 3)", &floats(&values)));
    assert_eq!(sample.table("").1, values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>());
    assert_eq!(
        sample.table("1").1,
        values.iter().skip(1).step_by(3).map(|&v| f64::from(v)).collect::<Vec<_>>()
    );
}

#[test]
fn image_arrays_have_one_row_per_image() {
    let values: Vec<u8> = (0..24).collect();
    let want: Vec<f64> = (0..24).map(f64::from).collect();
    let gray = SampleFile::new("a.npy", npy("|u1", false, "(4, 2, 3)", &values));
    assert_eq!(gray.table(""), (names(&["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]), want.clone()));
    assert_eq!(gray.info().format, "NumPy array, 4 × 2 × 3 u8");
    assert_eq!(
        SampleFile::new("a.npy", npy("|u1", false, "(4, 2, 3, 1)", &values)).table(""),
        gray.table("")
    );
    let colour = SampleFile::new("a.npy", npy("|u1", false, "(4, 1, 2, 3)", &values));
    assert_eq!(
        colour.table("").0,
        names(&["r0c0red", "r0c0green", "r0c0blue", "r0c1red", "r0c1green", "r0c1blue"])
    );
    assert_eq!((colour.table("").1, colour.table("r0c1green").1), (want, vec![4.0, 10.0, 16.0, 22.0]));
    let error = |shape: &str, fortran| SampleFile::new("a.npy", npy("|u1", fortran, shape, &values)).error();
    assert_eq!(
        error("(4, 2, 3)", true),
        "an array of 3 dimensions in Fortran order: save numpy.ascontiguousarray(…)"
    );
    assert_eq!(error("(2, 3, 2, 2)", false), "an array of 4 dimensions: reshape it to points × coordinates");
    assert!(
        error(&format!("(1, {0}, {0})", usize::MAX / 2), false).contains("more numbers than a file can hold")
    );
}

/// A structured array of three rows: each field with its code, and its bytes in row `i`.
fn structured(fields: &[(&str, &str)], of_row: &dyn Fn(u8) -> Vec<u8>) -> Vec<u8> {
    let fields: Vec<String> = fields.iter().map(|(name, code)| format!("({name}, {code})")).collect();
    let data: Vec<u8> = (0..3).flat_map(of_row).collect();
    let plain = npy("@", false, "(3,)", &data);
    // Without the quotes of a plain type.
    let header = String::from_utf8_lossy(&plain[10..plain.len() - data.len()])
        .trim_end()
        .replace("'@'", &format!("[{}]", fields.join(", ")));
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

#[test]
fn all_array_columns_are_coordinates() {
    // Small whole numbers, a count, and constants are neither labels nor ids.
    let grid: Vec<u8> = (0..80).flat_map(|i| [i, i / 20 % 5, i % 4, 7]).collect();
    for name in ["a.npy", "a.npz"] {
        let array = npy("|u1", false, "(80, 4)", &grid);
        let sample = SampleFile::new(
            name,
            if name == "a.npy" { array } else { super::npz::npz(&[("grid.npy", array)]) },
        );
        assert_eq!(
            (sample.info().guessed_columns, sample.info().default_columns),
            (vec![0, 1, 2, 3], vec![0, 1, 2, 3]),
            "{name}"
        );
    }
    let pictures = SampleFile::new("a.npy", npy("|u1", false, "(40, 2, 4)", &[0; 320]));
    assert_eq!(pictures.info().guessed_columns, (0..8).collect::<Vec<_>>());
}

#[test]
fn structured_arrays_are_read_as_tables() {
    let packed = [("'x'", "'<f4'"), ("'y [m]'", "'>f8'"), ("'class'", "'|u1'")];
    let row = |i: u8| {
        [f32::from(i).to_le_bytes().to_vec(), (-f64::from(i)).to_be_bytes().to_vec(), vec![i + 7]].concat()
    };
    // NumPy's notation of an aligned type, a titled field, and texts.
    let aligned = [
        ("'x'", "'<f4'"),
        ("''", "'|V4'"),
        ("('title', 'y [m]')", "'>f8'"),
        ("'class'", "'|u1'"),
        ("\"it's\"", "'<U2'"),
        ("''", "'|V7'"),
    ];
    let loose = |i: u8| [&row(i)[..4], &[99; 4], &row(i)[4..], &[0; 15]].concat();
    for (content, columns) in [(structured(&packed, &row), 3), (structured(&aligned, &loose), 4)] {
        let archive = |first: &str| super::npz::npz(&[(first, vec![]), ("a.npy", content.clone())]);
        // Alone, deflated and stored.
        for (name, content) in [
            ("a.npy", content.clone()),
            ("a.npz", super::npz::npz(&[("a.npy", content.clone())])),
            ("a.npz", archive("a.txt")),
        ] {
            let sample = SampleFile::new(name, content);
            assert_eq!(
                sample.table("class,y [m],x"),
                (names(&["class", "y [m]", "x"]), vec![7.0, 0.0, 0.0, 8.0, -1.0, 1.0, 9.0, -2.0, 2.0])
            );
            assert_eq!(sample.info().columns.len(), columns);
            let cells = records(&sample.path, &[2, 0], &NoProgress).unwrap().rows;
            assert_eq!(cells[0][..3], [Cell::Number(2.0), Cell::Number(-2.0), Cell::Number(9.0)]);
        }
    }
    let sample = SampleFile::new("a.npy", structured(&aligned, &loose));
    assert_eq!((sample.info().rows, sample.info().format.as_str()), (3, "NumPy array, 3 × 4 records"));
    assert_eq!(sample.error_of("it's"), "record 0, column `it's`: `<U2` is not a number");
    // Named coordinates take precedence over other columns.
    let named = [("'id'", "'|u1'"), ("'z'", "'|u1'"), ("'y'", "'|u1'"), ("'x'", "'|u1'")];
    let sample = SampleFile::new("a.npy", structured(&named, &|i| vec![i, 1, 2, 3]));
    assert_eq!(sample.table("").0, names(&["x", "y", "z"]));
}

#[test]
fn array_valued_fields_are_refused() {
    let error = |field: &str, code: &str| {
        SampleFile::new("a.npy", structured(&[("'id'", "'|u1'"), (field, code)], &|_| vec![0; 13])).error()
    };
    assert!(
        error("'pos'", "'<f4', (3,)")
            .starts_with("field `pos`: it holds several numbers; write each as a field"),
        "{}",
        error("'pos'", "'<f4', (3,)")
    );
    assert!(
        error("'pos'", "[('x', '<f4'), ('y', '<f8')]").starts_with("field `pos`: it holds several numbers")
    );
    assert!(error("'any'", "'|O'").starts_with("field `any`: they are pickled objects"));
    for (field, code) in [
        ("'a'", "3"),
        ("3", "'<f4'"),
        ("'a", "'<f4'"),
        ("'\\x'", "'<f4'"),
        ("'a'", "'<f4'), ("),
        ("'a'", "'<U99999999999999999999'"),
    ] {
        assert!(
            SampleFile::new("a.npy", structured(&[(field, code)], &|_| vec![0; 4])).read("").is_err(),
            "{field}, {code}"
        );
    }
    assert!(SampleFile::new("a.npy", structured(&[("'a'", "'<U0'")], &|_| vec![])).read("").is_err());
    let grid = structured(&[("'x'", "'|u1'")], &|_| vec![0]);
    let at = grid.windows(4).position(|bytes| bytes == b"(3,)").unwrap();
    let grid = [&grid[..at], b"(3,1)", &grid[at + 4..]].concat();
    assert!(SampleFile::new("a.npy", grid).read("").is_err());
}

#[test]
fn unsupported_arrays_are_refused() {
    let ok = npy("<f4", false, "(2, 2)", &floats(&[1.0; 4]));
    for (content, part) in [
        (npy("|O", false, "(2,)", b"...."), "pickled objects, which would run code"),
        (npy("<c8", false, "(2,)", &[0; 16]), "real and imaginary"),
        (npy("<U5", false, "(2,)", &[0; 40]), "text"),
        (npy("<f4", false, "()", &[0; 4]), "an array of 0 dimensions"),
        (npy("<f4", false, "(1, 1, 1, 1, 1)", &[0; 4]), "an array of 5 dimensions: reshape"),
        (npy("<f4", false, "(2, 0)", &[]), "no columns"),
        (npy("<f4", false, "(2, -2)", &[]), "'shape' is missing"),
        (npy("<f4", false, "(0, 4097)", &[]), "nothing to read: the header declares 0 rows"),
        (
            npy("<f4", false, "(1000000000000, 2)", &[0; 8]),
            "declares 8000000000000 bytes of data, but the file has 8",
        ),
        (
            npy("<f8", true, "(9223372036854775807, 9223372036854775807)", &[0; 8]),
            "more than a file can hold",
        ),
        (npy("<f8", false, "(1, 2000000)", &[0; 16_000_000]), "2000000 columns"),
        (ok[..ok.len() - 1].to_vec(), "cut short"),
        (ok[..50].to_vec(), "cut short"),
        (ok[..9].to_vec(), "cut short"),
        ([b"\x93NUMPY\x02\x00\xff\xff\xff\xff", &ok[10..]].concat(), "invalid length of 4294967295 bytes"),
    ] {
        let message = SampleFile::new("a.npy", &content).error();
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(SampleFile::new("a.npy", npy("<f4", false, "(0, 4096)", &[])).info().columns.len(), 4096);
    let more = SampleFile::new("a.npy", [&ok[..], b"more"].concat());
    assert_eq!(more.info().skipped, ["4 bytes after the array were not read"]);
}

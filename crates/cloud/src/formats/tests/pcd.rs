use super::super::lzf::tests::pack;
use super::*;

const NAN: f64 = f64::NAN;

/// Three points of x, y, a packed colour, a feature of three and a short, with padding between.
const FIELDS: &str = "FIELDS x y _ rgb f label\nSIZE 4 8 1 4 4 2\nTYPE F F U F F I\nCOUNT 1 1 3 1 3 \
                      1\nWIDTH 3\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 3\n";

fn header(encoding: &str) -> String {
    format!("# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\n{FIELDS}DATA {encoding}\n")
}

/// The bytes of field `at` of point `i`.
fn field(at: usize, i: u8) -> Vec<u8> {
    let value = f32::from(i);
    match at {
        0 => if i == 1 { f32::NAN } else { value + 0.5 }.to_le_bytes().to_vec(),
        1 => (-f64::from(i)).to_le_bytes().to_vec(),
        2 => vec![99; 3],
        3 => u32::from_be_bytes([0, 255, 128 + i, i]).to_le_bytes().to_vec(),
        4 => [value, 2.0 * value, 3.0 * value].iter().flat_map(|value| value.to_le_bytes()).collect(),
        _ => (-7i16).to_le_bytes().to_vec(),
    }
}

pub(super) fn binary() -> Vec<u8> {
    let points: Vec<u8> = (0..3).flat_map(|i| (0..6).flat_map(move |at| field(at, i))).collect();
    [header("binary").into_bytes(), points].concat()
}

fn compressed_of(points: &[u8]) -> Vec<u8> {
    let packed = pack(points);
    let sizes = [packed.len() as u32, points.len() as u32].map(u32::to_le_bytes).concat();
    [header("binary_compressed").into_bytes(), sizes, packed].concat()
}

pub(super) fn compressed() -> Vec<u8> {
    compressed_of(&(0..6).flat_map(|at| (0..3).flat_map(move |i| field(at, i))).collect::<Vec<_>>())
}

pub(super) fn ascii() -> Vec<u8> {
    let colour = |i: u8| u32::from_be_bytes([0, 255, 128 + i, i]);
    let x = |i: u8| if i == 1 { "nan".to_owned() } else { (f32::from(i) + 0.5).to_string() };
    let point = |i: u8| format!("{} -{i} 1 2 3 {} {i} {} {} -7\n", x(i), colour(i), 2 * i, 3 * i);
    let points: String = (0..3).map(point).collect();
    (header("ascii") + &points).into_bytes()
}

#[test]
fn all_three_encodings_agree() {
    let want: Vec<f64> = (0..3)
        .flat_map(|i| {
            let value = f64::from(i);
            [
                if i == 1 { NAN } else { value + 0.5 },
                -value,
                255.0,
                128.0 + value,
                value,
                value,
                2.0 * value,
                3.0 * value,
                -7.0,
            ]
        })
        .collect();
    for content in [ascii(), binary(), compressed()] {
        let sample = SampleFile::new("a.pcd", &content);
        let all = names(&["x", "y", "red", "green", "blue", "f_0", "f_1", "f_2", "label"]);
        let (found_names, values) = sample.table("0-8");
        assert_eq!(found_names, all);
        assert_values(&values, &want);
        assert_eq!(sample.table("").0, names(&["x", "y"]));
        assert_values(&sample.table("label,f_1").1, &[-7.0, 0.0, -7.0, 2.0, -7.0, 4.0]);
        let info = sample.info();
        assert_eq!((info.rows, info.columns[0].missing, info.default_columns), (3, 1, vec![0, 1]));
    }
    assert_eq!(SampleFile::new("a.pcd", compressed()).info().format, "PCD, binary, compressed");
}

#[test]
fn every_field_type_is_read() {
    let types =
        [("I", 1), ("I", 2), ("I", 4), ("I", 8), ("U", 1), ("U", 2), ("U", 4), ("U", 8), ("F", 4), ("F", 8)];
    let join = |part: &dyn Fn(usize) -> String| (0..types.len()).map(part).collect::<Vec<_>>().join(" ");
    let header = format!(
        "FIELDS {}\nSIZE {}\nTYPE {}\nWIDTH 1\nHEIGHT 1\nDATA binary\n",
        join(&|at| format!("f{at}")),
        join(&|at| types[at].1.to_string()),
        join(&|at| types[at].0.to_owned())
    );
    let mut body: Vec<u8> = types[..8].iter().flat_map(|&(_, size)| vec![255; size]).collect();
    body.extend(1.5f32.to_le_bytes());
    body.extend((-2.5f64).to_le_bytes());
    let want = [-1.0, -1.0, -1.0, -1.0, 255.0, 65535.0, f64::from(u32::MAX), u64::MAX as f64, 1.5, -2.5];
    assert_values(&SampleFile::new("a.pcd", [header.into_bytes(), body].concat()).table("").1, &want);
}

#[test]
fn padding_may_have_any_length() {
    let fields = "FIELDS _ x _ y _\nSIZE 1 4 2 1 1\nTYPE U F I U U\nCOUNT 3 1 0 1 2\nWIDTH 2\nHEIGHT \
                  1\nPOINTS 2\nDATA ";
    let points = [1.5f32, -2.0].map(|x| [&[9; 3], &x.to_le_bytes()[..], &[7], &[8; 2]].concat()).concat();
    let by_field =
        [&[9; 6], &[1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()[..], &[7; 2], &[8; 4]].concat();
    let packed = pack(&by_field);
    let sizes = [packed.len() as u32, by_field.len() as u32].map(u32::to_le_bytes).concat();
    for (encoding, body) in [
        ("ascii\n", b"9 9 9 1.5 7 8 8\n9 9 9 -2 7 8 8\n".to_vec()),
        ("binary\n", points),
        ("binary_compressed\n", [sizes, packed].concat()),
    ] {
        let content = [fields.as_bytes(), encoding.as_bytes(), &body].concat();
        assert_eq!(
            SampleFile::new("a.pcd", content).table(""),
            (names(&["x", "y"]), vec![1.5, 7.0, -2.0, 7.0]),
            "{encoding}"
        );
    }
}

#[test]
fn optional_header_lines_may_be_missing() {
    let old = "COLUMNS x y z\nWIDTH 2\nHEIGHT 1\nDATA ascii\n1 2 3\n\n4 5 6\n";
    assert_eq!(
        SampleFile::new("a.pcd", old).table(""),
        (names(&["x", "y", "z"]), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(SampleFile::new("a.pcd", old.replace('\n', "\r\n")).table("").1.len(), 6);
    // Without its first line, the other header lines identify it, also with a generic extension.
    assert_eq!(SampleFile::new("cloud", old).info().format, "PCD, ASCII");
    let counted = "FIELDS x\nPOINTS 2\nDATA ascii\n1\n2\n";
    assert_eq!(SampleFile::new("a.pcd", format!("# .PCD v.5\n{counted}")).table("").1, [1.0, 2.0]);
    let grid =
        "# .PCD v.7\nFIELDS x y\nSIZE 4 4\nTYPE F F\nCOUNT 1 1\nWIDTH 2\nHEIGHT 3\nPOINTS 6\nDATA ascii\n";
    assert_eq!(
        SampleFile::new("a.pcd", grid.to_owned() + &"1 2\n".repeat(6)).info().format,
        "PCD, ASCII, 2 × 3"
    );
}

#[test]
fn packed_colours_are_split_into_channels() {
    let colour = |kind: &str, text: &str| {
        let content = format!("# .PCD\nFIELDS rgba\nSIZE 4\nTYPE {kind}\nWIDTH 1\nDATA ascii\n{text}\n");
        SampleFile::new("a.pcd", content).table("").1
    };
    // Red, green, blue, alpha.
    assert_eq!(colour("U", "16744448"), [255.0, 128.0, 0.0, 0.0]);
    assert_eq!(colour("U", "4286611584"), [128.0, 128.0, 128.0, 255.0]);
    assert_eq!(colour("F", "4.2108e+06"), [64.0, 64.0, 112.0, 0.0]);
    assert_eq!(colour("F", &f32::from_bits(0x0012_3456).to_string()), [18.0, 52.0, 86.0, 0.0]);
    assert_values(&colour("F", "nan"), &[NAN; 4]);
}

#[test]
fn errors_report_the_position() {
    let error = |from: &str, to: &str| {
        let text = header("ascii").replace(from, to) + "1 2 1 2 3 4 5 6 7 8\n";
        SampleFile::new("a.pcd", text).error()
    };
    assert_eq!(error("HEIGHT 1", "HEIGHT 2"), "header: 3 × 2 points do not match POINTS 3");
    assert_eq!(error("SIZE 4 8", "SIZE 8"), "header: 6 fields but 5 values in `SIZE`");
    assert_eq!(error("TYPE F F", "TYPE F X"), "header: field `y` is X of 8 bytes, which is not a PCD type");
    assert_eq!(error("COUNT 1", "COUNT 0"), "header: field `x` has invalid count 0");
    assert_eq!(error("COUNT 1", "COUNT one"), "line 6: `COUNT one 1 3 1 3 1` is not a whole number");
    assert_eq!(error("VERSION", "VERION"), "line 2: `VERION 0.7` is not a line of a PCD header");
    assert_eq!(
        error("DATA ascii", "DATA text"),
        "line 11: `DATA text` is not ascii, binary or binary_compressed"
    );
    assert_eq!(error("FIELDS x y _ rgb f label\n", ""), "header: line `FIELDS` is missing");
    assert_eq!(
        error("COUNT 1 1 3 1 3 1", "COUNT 1 1 3 1 65537 1"),
        "header: field `f` has invalid count 65537"
    );
    assert_eq!(
        error("COUNT 1 1 3 1 3 1", "COUNT 1 1 3 1 65536 1"),
        "too many columns: at most 65536 are supported"
    );
    assert_eq!(error("POINTS 3", "POINTS 3"), "cut short: the header declares 3 points, but the file has 1");
    assert_eq!(
        SampleFile::new("a.pcd", header("ascii") + "1 2\n").error(),
        "line 12, point 0: expected 10 numbers, found 2"
    );
    let word = SampleFile::new("a.pcd", header("ascii") + "1 two 1 2 3 4 5 6 7 8\n").error();
    assert_eq!(word, "line 12, point 0: `y` is `two`, which is not a number");
    assert_eq!(SampleFile::new("a.pcd", "# .PCD\nFIELDS x\n").error(), "header: line `DATA` is missing");
    assert_eq!(
        SampleFile::new("a.pcd", "hello\n").error(),
        "named .pcd: does not begin like a PCD file; is it damaged, or renamed?"
    );
}

#[test]
fn invalid_headers_are_refused() {
    let whole = binary();
    assert_eq!(
        SampleFile::new("a.pcd", &whole[..whole.len() - 1]).error(),
        "cut short: the header declares 3 points of 33 bytes, but the file has 2"
    );
    let more = "points: the header declares 3, but the file has 4; if they all belong there, correct POINTS, \
                WIDTH and HEIGHT";
    assert_eq!(SampleFile::new("a.pcd", [&whole[..], &[7; 33]].concat()).error(), more);
    let text = String::from_utf8(ascii()).unwrap();
    let last = text.trim_end().lines().last().unwrap();
    assert_eq!(SampleFile::new("a.pcd", format!("{text}\n{last}\n")).error(), more);
    let many =
        header("binary").replace("POINTS 3", "POINTS 4000000000").replace("WIDTH 3", "WIDTH 4000000000");
    assert!(
        SampleFile::new("a.pcd", many)
            .error()
            .starts_with("cut short: the header declares 4000000000 points")
    );
    let packed = compressed();
    assert!(
        SampleFile::new("a.pcd", &packed[..packed.len() - 1])
            .error()
            .starts_with("cut short: the header declares")
    );
    let start = header("binary_compressed").len();
    let patched = |at: usize, number: u32| {
        let mut content = packed.clone();
        content[start + at..start + at + 4].copy_from_slice(&number.to_le_bytes());
        SampleFile::new("a.pcd", content).error()
    };
    assert_eq!(
        patched(4, 100),
        "compressed points: 3 points of 33 bytes do not match the declared 100 bytes"
    );
    assert_eq!(patched(0, 1), "compressed points: 99 bytes cannot fit in 1 compressed bytes");
    // The compressed data ends before the points.
    assert!(patched(0, 20).starts_with("cut short"));
    let mut broken = packed;
    broken[start + 8] = 0xff;
    assert_eq!(
        SampleFile::new("a.pcd", broken).error(),
        "compressed points: an LZF back-reference points before the start of the data"
    );
}

#[test]
fn trailing_data_is_reported() {
    for content in [binary(), compressed()] {
        assert_eq!(SampleFile::new("a.pcd", &content).info().skipped, [""; 0]);
        let sample = SampleFile::new("a.pcd", [&content[..], &[0]].concat());
        assert_eq!(sample.info().skipped, ["1 bytes after the points were not read"]);
    }
    // One literal byte after the last point.
    let mut content = compressed();
    let at = content.windows(5).position(|bytes| bytes == b"DATA ").unwrap();
    let at = at + content[at..].iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let packed = u32::from_le_bytes(*content[at..].first_chunk().unwrap()) + 2;
    content[at..at + 4].copy_from_slice(&packed.to_le_bytes());
    let message = SampleFile::new("a.pcd", [&content[..], &[0, 7]].concat()).error();
    assert!(message.starts_with("compressed points: they decompress to more than the "), "{message}");
}

/// A file of one compressed point of these fields, all 1.
fn one_point(names: &str, counts: &str, numbers: usize) -> Vec<u8> {
    let points = [1f32.to_le_bytes()].repeat(numbers).concat();
    let packed = pack(&points);
    let sizes = [packed.len() as u32, points.len() as u32].map(u32::to_le_bytes).concat();
    [format!("# .PCD\nFIELDS {names}\n{counts}WIDTH 1\nDATA binary_compressed\n").into_bytes(), sizes, packed]
        .concat()
}

#[test]
fn long_column_names_are_truncated_and_claim_memory() {
    let name = "n".repeat(900_000);
    let header = format!("# .PCD\nFIELDS {name}\nCOUNT 65536\nWIDTH 1\nDATA binary\n");
    let sample = SampleFile::new("a.pcd", [header.as_bytes(), &[0; 4 << 16]].concat());
    let read = |free: u64| {
        let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
        (recognise(&input).unwrap().read)(&input, &ColumnRequest::Everything)
    };
    assert!(
        matches!(read(1 << 26), Err(FormatError::Memory { what, .. }) if what == "the names of the columns"),
        "{:?}",
        read(1 << 26).err()
    );
    let sheet = read(1 << 32).unwrap();
    assert!(
        sheet.columns.len() == 1 << 16
            && sheet.columns.iter().all(|column| column.name.len() == limits::MAX_NAME)
    );
    let one = SampleFile::new("a.pcd", one_point(&name, "", 1));
    assert_eq!(one.table("0"), (vec!["n".repeat(limits::MAX_NAME)], vec![1.0]));
}

#[test]
fn fields_count_towards_the_column_limit() {
    let names = |count: usize| (0..count).map(|at| format!("f{at}")).collect::<Vec<_>>().join(" ");
    let message = "too many columns: at most 65536 are supported";
    let most = limits::MAX_PCD_COLUMNS;
    assert_eq!(SampleFile::new("a.pcd", one_point(&names(most + 1), "", most + 1)).error(), message);
    // Padding counts per point too.
    assert_eq!(
        SampleFile::new("a.pcd", one_point(&format!("x{}", " _".repeat(most)), "", most + 1)).error(),
        message
    );
    // A colour is three columns.
    let counts = format!("COUNT 1 {}\n", most - 2);
    assert_eq!(SampleFile::new("a.pcd", one_point("rgb f", &counts, most - 1)).error(), message);
    let started = std::time::Instant::now();
    let sample = SampleFile::new("a.pcd", one_point(&names(most), "", most));
    assert_eq!(sample.read("65535,0").unwrap().values, [1.0, 1.0]);
    assert_eq!(sample.info().columns.len(), most);
    // Scanning all columns for each field would take minutes.
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

use super::*;

const NAN: f64 = f64::NAN;

fn values(text: impl AsRef<[u8]>) -> Vec<f64> {
    SampleFile::new("a.csv", text).table("").1
}

#[test]
fn delimiters_line_endings_and_gzip_are_supported() {
    let want = [1.5, -2.0, 3e3, 4.0];
    for text in [
        "a,b\n1.5,-2\n3e3,4\n",
        "a,b\r\n1.5,-2\r\n3e3,4\r\n",
        "a,b\n1.5,-2\n3e3,4",
        "a\tb\n1.5\t-2\n3e3\t4\n",
        "a;b\n1.5;-2\n3e3;4\n",
        "a|b\n1.5|-2\n3e3|4\n",
        "a b\n1.5  -2\n  3e3\t4 \n",
        "a b\r\n1.5  -2\r\n  3e3\t4 \r\n",
        "a, b\n1.5, -2\n3e3, 4\n",
        "\u{feff}a,b\n1.5,-2\n3e3,4\n",
        "\u{feff}1.5,-2\n3e3,4\n",
        "\"a\",\"b\"\n\"1.5\",\"-2\"\n\"3e3\",\"4\"\n",
        "# hello\na,b\n1.5,-2\n# there\n\n3e3,4\n\n",
        "1.5,-2\n3e3,4\n",
        "1.5 -2\n3e3 4\n",
        "a,b\r1.5,-2\r3e3,4\r",
        "a b\r1.5 -2\r3e3 4\r",
        "2\r1.5 -2\r3e3 4",
    ] {
        assert_values(&values(text), &want);
        assert_values(&SampleFile::new("a.csv.gz", gzip(text)).table("").1, &want);
    }
    // Two consecutive gzip members are one file.
    assert_values(
        &SampleFile::new("a.csv.gz", [gzip("1.5,-2\n"), gzip("3e3,4\n")].concat()).table("").1,
        &want,
    );
}

#[test]
fn missing_values_become_nan_without_shifting_rows() {
    assert_values(&values("a,b\n1,\n,NA\nnan,null\n4,5\n"), &[1.0, NAN, NAN, NAN, NAN, NAN, 4.0, 5.0]);
    assert_values(&values("a,b\ninf,1\n-inf,2\n"), &[f64::INFINITY, 1.0, f64::NEG_INFINITY, 2.0]);
    // Three data records without a header.
    assert_values(&values("1,\n,2\n3,4\n"), &[1.0, NAN, NAN, 2.0, 3.0, 4.0]);
}

#[test]
fn text_columns_are_skipped_and_reported() {
    let sample = SampleFile::new("a.csv", "name,a,b,none\n\"x, y\",1,?,\n\"line\nend \"\"q\"\"\",3,2,\n");
    let info = sample.info();
    let kinds: Vec<_> = info.columns.iter().map(|column| column.kind).collect();
    assert_eq!(kinds, [ColumnKind::Text, ColumnKind::Numeric, ColumnKind::Text, ColumnKind::Empty]);
    assert_eq!(
        (info.rows, info.default_columns, info.columns[2].example.as_deref()),
        (2, vec![1], Some("?"))
    );
    assert_eq!((info.columns[1].min, info.columns[1].max), (Some(1.0), Some(3.0)));
    assert_eq!(sample.table(""), (names(&["a"]), vec![1.0, 3.0]));
    assert_eq!(sample.error_of("b"), "line 2, record 0, column `b`: `?` is not a number");
    assert_values(&sample.table("none,a").1, &[NAN, 1.0, NAN, 3.0]);
}

#[test]
fn summary_lines_are_skipped_and_reported() {
    let sample = SampleFile::new(
        "cancer.csv",
        "4,3,malignant,benign\n17.9,10.3,1,0\n20.5,17.7,2,0\n13.5,14.3,0,1\n9.5,12.4,5,1\n",
    );
    let info = sample.info();
    assert_eq!((info.rows, info.default_columns.len(), info.columns[3].name.as_str()), (4, 4, "d3"));
    let note =
        "the first line, `4,3,malignant,benign`, was not read: it counts rows and columns, and names classes";
    assert_eq!(info.skipped, [note]);
    assert_eq!(sample.table("0,3").1, [17.9, 0.0, 20.5, 0.0, 13.5, 1.0, 9.5, 1.0]);
    assert_eq!(crate::formats::note(&info.path, &crate::progress::NoProgress).as_deref(), Some(note));
    // Records and lines keep their numbers.
    let records =
        crate::formats::records(&info.path, &[2, 0], &crate::progress::NoProgress).expect("records");
    assert_eq!(records.rows.iter().map(|row| row[1].number()).collect::<Vec<_>>(), [Some(14.3), Some(10.3)]);
    let bad = SampleFile::new("bad.csv", "4,3,malignant,benign\n17.9,10.3,1,0\n20.5,a,2,0\n");
    assert_eq!(bad.error(), "line 3, record 1, column `d1`: `a` is not a number; --columns chooses others");
    // With as many fields as its records, it would be a header.
    let iris = SampleFile::new(
        "iris.csv",
        "2,4,setosa,versicolor,virginica\n5.1,3.5,1.4,0.2,0\n7.0,3.2,4.7,1.4,1\n",
    )
    .info();
    assert_eq!((iris.rows, iris.columns[0].name.as_str()), (2, "d0"));
    assert!(SampleFile::new("plain.csv", "a,b\n1,2\n").info().skipped.is_empty());
}

#[test]
fn late_text_in_a_numeric_column_is_an_error() {
    let mut text = "a,b,c\n".to_owned();
    for i in 0..3000 {
        text +=
            &format!("{i},{},{}\n", if i < 500 { "1" } else { "late" }, if i < 2500 { "2" } else { "later" });
    }
    let sample = SampleFile::new("a.csv", text);
    assert_eq!(sample.table("a"), (names(&["a"]), (0..3000).map(f64::from).collect()));
    assert_eq!(
        sample.error(),
        "line 502, record 500, column `b`: `late` is not a number; --columns chooses others"
    );
    assert_eq!(sample.error_of("a,c"), "line 2502, record 2500, column `c`: `later` is not a number");
    assert_eq!(
        (sample.info().columns[2].example.as_deref(), sample.info().columns[2].example_record),
        (Some("later"), Some(2500))
    );
    assert_eq!(sample.info().columns[0].max, Some(2999.0));
}

#[test]
fn headers_are_recognised() {
    assert_eq!(SampleFile::new("a.csv", "1,2\n3,4\n").table("").0, names(&["x", "y"]));
    assert_eq!(SampleFile::new("a.csv", "1,2,3,4\n").table("").0, names(&["d0", "d1", "d2", "d3"]));
    assert_eq!(SampleFile::new("a.csv", ",a,2\n0,1,2\n").table("").0, names(&["d0", "a", "2"]));
    assert_eq!(SampleFile::new("a.txt", "# a b\n1 2\n").table("").0, names(&["a", "b"]));
    assert_eq!(SampleFile::new("a.xyz", "//X Y Z\n1 2 3\n").table("").0, names(&["X", "Y", "Z"]));
    assert_eq!(SampleFile::new("a.csv", b"L\xe4nge,b\n1,2\n").table("").0, names(&["Länge", "b"]));
    assert_eq!(
        SampleFile::new("a.csv", ",0,1,2\n0,5,6,7\n").table("1,2"),
        (names(&["1", "2"]), vec![6.0, 7.0])
    );
    let counted = SampleFile::new("a.pts", "2\n1 2 3\n4 5 6\n");
    assert_eq!(counted.table("").1, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(counted.info().skipped, ["the first line, `2`, was not read: it counts the rows"]);
    let header_only = SampleFile::new("a.csv", "a,b\n");
    assert_eq!((header_only.table(""), header_only.info().rows), ((names(&["a", "b"]), vec![]), 0));
}

#[test]
fn pts_columns_are_named_by_convention() {
    let seven = "2\n1 2 3 -900 255 128 0\n4 5 6 -800 1 2 3\n";
    let sample = SampleFile::new("a.pts", seven);
    assert_eq!(sample.table(""), (names(&["x", "y", "z"]), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    assert_eq!(sample.table("blue,intensity").1, [0.0, -900.0, 3.0, -800.0]);
    assert_eq!(SampleFile::new("a.pts.gz", gzip(seven)).table("").0, names(&["x", "y", "z"]));
    assert_eq!(SampleFile::new("a.pts", "1 2 3 9\n").table("3"), (names(&["intensity"]), vec![9.0]));
    assert_eq!(SampleFile::new("a.pts", "1 2 3 7 8 9\n").table("red").1, [7.0]);
    // Other extensions have no convention for the columns after x, y, z.
    assert_eq!(SampleFile::new("a.xyz", "1 2 3 7 8 9\n").table("3-5").0, names(&["d3", "d4", "d5"]));
    assert_eq!(SampleFile::new("a.asc", "1,2,3,4\n").table("").0, names(&["x", "y", "z"]));
    // Leading labels and names take precedence; other extensions imply nothing.
    assert_eq!(SampleFile::new("a.xyz", "A 2 3 7\nB 5 6 8\n").table("").0, names(&["d1", "d2", "d3"]));
    assert_eq!(SampleFile::new("a.xyz", "a b c d\n1 2 3 4\n").table("").0, names(&["a", "b", "c", "d"]));
    assert_eq!(SampleFile::new("a.txt", "1 2 3 4\n").table("").0, names(&["d0", "d1", "d2", "d3"]));
}

#[test]
fn coordinate_columns_are_found_by_name() {
    let geo = SampleFile::new("a.csv", "id,Latitude,LONGITUDE\n7,1,2\n");
    assert_eq!(geo.table(""), (names(&["LONGITUDE", "Latitude"]), vec![2.0, 1.0]));
    assert_eq!(
        SampleFile::new("a.csv", "z,id,y,X\n1,2,3,4\n").table(""),
        (names(&["X", "y", "z"]), vec![4.0, 3.0, 1.0])
    );
    assert_eq!(SampleFile::new("a.csv", "y,id,x\n1,2,3\n").table("").1, [3.0, 1.0]);
    // Names of columns without numbers do not count.
    assert_eq!(SampleFile::new("a.csv", "x,id,n\nred,2,3\n").info().default_columns, [1, 2]);
}

#[test]
fn invalid_values_do_not_drop_a_coordinate_column() {
    let error = |text: &str| SampleFile::new("a.csv", text).error();
    assert_eq!(
        error("x,y,z\n1,2,3\n4,5,6\n7o,8,9\n"),
        "line 4, record 2, column `x`: `7o` is not a number; --columns chooses others"
    );
    assert_eq!(
        error("x,y,z,id\n1,2,?,4\n"),
        "line 2, record 0, column `z`: `?` is not a number; --columns chooses others"
    );
    assert_eq!(
        error("lat,lon\n1,2\n3,4W\n"),
        "line 3, record 1, column `lon`: `4W` is not a number; --columns chooses others"
    );
    assert_eq!(error("x,y,z\n1,2,\n3,4,\n"), "column `z`: it is empty; --columns chooses others");
    assert_eq!(
        error("a,b,c\n1,2,3\n4,5o,6\n"),
        "line 3, record 1, column `b`: `5o` is not a number; --columns chooses others"
    );
    // Text next to coordinates is allowed, wherever it begins.
    assert_eq!(SampleFile::new("a.csv", "x,id,y\n1,5,2\n3,6a,4\n").table("").1, [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        SampleFile::new("a.csv", "x,y,z\n1,2,3\n4,5,6\n7o,8,9\n").table("y,z").1,
        [2.0, 3.0, 5.0, 6.0, 8.0, 9.0]
    );
}

#[test]
fn labelled_points_do_not_need_a_header() {
    let sample = SampleFile::new("a.csv", "5.1,3.5,A\n4.9,3.0,A\n");
    assert_eq!(sample.table(""), (names(&["x", "y"]), vec![5.1, 3.5, 4.9, 3.0]));
    assert_eq!(sample.info().format, "delimited text, commas, no header");
    let years = SampleFile::new("a.csv", "country,2000,2001\nFrance,1,5\n");
    assert_eq!(years.table(""), (names(&["2000", "2001"]), vec![1.0, 5.0]));
    assert_eq!(years.info().format, "delimited text, commas, header");
    assert_eq!(
        years.info().skipped,
        ["the first line was taken as a header, though some of its names are numbers"]
    );
    let array = SampleFile::new("a.csv", "0,1,2,3\n0.5,1,2,3\n4,0,6,5\n");
    assert_eq!(array.info().skipped, ["the first line was taken as a header, though its names are numbers"]);
    assert_eq!(array.table(""), (names(&["0", "1", "2", "3"]), vec![0.5, 1.0, 2.0, 3.0, 4.0, 0.0, 6.0, 5.0]));
    let indexed = SampleFile::new("a.csv", ",0,1\n0,0.5,1.5\n1,3,4\n");
    assert_eq!(
        (indexed.table("").0, indexed.table("0-1").1),
        (names(&["d0", "0", "1"]), vec![0.5, 1.5, 3.0, 4.0])
    );
    assert!(
        indexed.info().skipped[1].starts_with("the first column has no name and is called d0; "),
        "{:?}",
        indexed.info().skipped
    );
}

#[test]
fn reading_time_is_linear_in_the_number_of_columns() {
    let read = |width: usize| {
        let header: Vec<String> = (0..width).map(|at| format!("c{at}")).collect();
        let text = format!("{}\n{}\n", header.join(","), vec!["1"; width].join(","));
        let sample = SampleFile::new("a.csv", text);
        let start = std::time::Instant::now();
        assert_eq!(sample.table("").1.len(), width);
        assert_eq!(sample.table(&header.join(",")).1.len(), width);
        assert_eq!(sample.info().default_columns.len(), width);
        start.elapsed()
    };
    // Eight times the width takes about eight times as long; comparing every column with every other would
    // take 64 times. Load on the machine can only add time.
    let narrow = (0..3).map(|_| read(10_000)).min().unwrap();
    let wide: Vec<_> = (0..3).map(|_| read(80_000)).take_while(|&wide| wide >= narrow * 32).collect();
    assert!(wide.len() < 3, "{narrow:?}, {wide:?}");
}

#[test]
fn too_many_columns_and_ambiguous_names_are_refused() {
    let wider = SampleFile::new("a.csv", vec!["1"; (1 << 20) + 1].join(",")).error();
    assert_eq!(wider, "more than 1048576 columns: not supported; is the table transposed?");
    let alike = SampleFile::new("a.csv", format!("{}\n", vec!["a"; 500].join(","))).error_of("a");
    assert_eq!(
        alike,
        "column `a`: 500 columns have this name; choose one by index: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, \
         … 500 in all"
    );
}

#[test]
fn gzip_at_the_maximum_deflate_ratio_is_read() {
    let sparse = gzip([b"1,2\n".as_slice(), &vec![b'\n'; 1 << 22]].concat());
    assert!(sparse.len() < (1 << 22) / 900, "{}", sparse.len());
    assert_eq!(SampleFile::new("a.csv.gz", sparse).table("").1, [1.0, 2.0]);
}

#[test]
fn errors_report_the_line_of_unusable_values() {
    let error = |name: &str, text: &str| {
        let sample = SampleFile::new(name, text);
        let source = crate::Source::File { path: sample.path.clone(), columns: ColumnChoice::Default };
        crate::load(&source, false, &NoProgress).unwrap_err().to_string()
    };
    for (text, place) in [
        ("a,b\n1,2\n3,\n", "line 3, row 1, column `b`: "),
        ("# one\na,b\n\n1,2\n   \n# two\n3,inf\n", "line 7, row 1, column `b`: "),
        ("nan,2\n3,4\n", "line 1, row 0, column `x`: "),
        ("a,name,b\n1,\"two\nlines\",2\n,c,4\n", "line 4, row 1, column `a`: "),
        ("3\n1 2\n3 4\n5 nan\n", "line 4, row 2, column `y`: "),
        ("a,b\n1e300,2\n-1e300,2\n", "line 2, row 0, column `a`: "),
    ] {
        let message = error("a.csv", text);
        assert!(message.starts_with(place), "{text:?}: {message}");
    }
    let message =
        error("a.ply", "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\nnan\n");
    assert!(message.starts_with("row 0, column `x`: "), "{message}");
}

#[test]
fn line_numbers_match_text_editors() {
    // All line ends, with blank lines, and with an error in each kind of reader.
    for end in ["\n", "\r\n", "\r"] {
        for (text, place) in [
            ("a,b|1,2||# no|3,4|5|", "line 6, record 2: "),
            ("a,b|1,2|5", "line 3, record 1: "),
            ("a\tb|1\t2|3|", "line 3, record 1: "),
            ("a b|1 2||3|", "line 4, record 1: "),
            ("a,b|1,2|3,x|", "line 3, record 1, column `b`: "),
            ("|a,b|1,2||# no||3,x|", "line 7, record 1, column `b`: "),
        ] {
            let message = SampleFile::new("a.csv", text.replace('|', end)).error_of(if text.contains('x') {
                "a,b"
            } else {
                ""
            });
            assert!(message.starts_with(place), "{text:?} with {end:?}: {message}");
        }
    }
    // A record without values is not a blank line.
    assert!(
        SampleFile::new("a.tsv", "a\tb\r\n1\t2\r\n\t\r\n3\tx\r\n")
            .error_of("b")
            .starts_with("line 4, record 2, ")
    );
}

#[test]
fn row_counts_must_match_the_file() {
    let error = |name: &str, text: &str| SampleFile::new(name, text).error();
    let few = "rows: the first line declares 5, but the file has 2; if the file is not cut short, correct \
               that line";
    assert_eq!(error("a.pts", "5\n1 2 3\n4 5 6\n"), few);
    assert_eq!(error("a.txt", "5\r\n1 2 3\r\n4 5 6"), few);
    assert!(
        error("a.pts", "1\n1 2 3\n4 5 6\n")
            .starts_with("rows: the first line declares 1, but the file has 2; if they all belong there")
    );
    assert!(error("a.pts", "5\n").starts_with("rows: the first line declares 5, but the file has 0"));
    assert_eq!(error("a.pts", "0\n"), "nothing to read: the first line declares 0 rows");
    // A single number is a value if the extension implies nothing.
    assert_eq!(SampleFile::new("a.csv", "5\n").table("").1, [5.0]);
    // Consecutive scans, each with its count.
    let both = SampleFile::new("a.pts", "2\n1 2 3\n4 5 6\n1\n7 8 9\n");
    assert_eq!((both.table("").1.len(), both.info().rows), (9, 3));
    assert!(
        error("a.pts", "2\n1 2 3\n4 5 6\n2\n7 8 9\n")
            .starts_with("rows: the first line declares 4, but the file has 3")
    );
}

#[test]
fn columns_are_selected_by_name_and_index() {
    let sample = SampleFile::new("a.csv", "a,B,c,1\n10,20,30,40\n");
    assert_eq!(sample.table("c,a").1, [30.0, 10.0]);
    assert_eq!(sample.table("b").1, [20.0]);
    assert_eq!(sample.table("0,2").1, [10.0, 30.0]);
    // A name wins over an index.
    assert_eq!(sample.table("1").1, [40.0]);
    assert_eq!(sample.table("0-2").1, [10.0, 40.0, 30.0]);
    assert_eq!(sample.error_of("d"), "column `d`: not found; available: 0 `a`, 1 `B`, 2 `c`, 3 `1`");
    assert_eq!(sample.error_of("4"), "column `4`: not found; available: 0 `a`, 1 `B`, 2 `c`, 3 `1`");
    assert_eq!(
        SampleFile::new("a.csv", "a,a\n1,2\n").error_of("a"),
        "column `a`: 2 columns have this name; choose one by index: 0, 1"
    );
}

#[test]
fn decimal_commas_are_read_or_refused() {
    for text in ["a;b\n1,5;2\n-3;4,125\n", "a;b\r\n\"1,5\";2\r\n-3;4,125\r\n"] {
        let sample = SampleFile::new("a.csv", text);
        assert_eq!(sample.table("").1, [1.5, 2.0, -3.0, 4.125]);
        assert_eq!(sample.info().format, "delimited text, semicolons, decimal commas, header");
        assert_eq!(
            records(&sample.path, &[1], &NoProgress).unwrap().rows,
            [[Cell::Number(-3.0), Cell::Number(4.125)]]
        );
    }
    assert_eq!(
        SampleFile::new("a.csv", "1,5;2\n3;4,5\n").table("").1,
        [1.5, 2.0, 3.0, 4.5],
        "the first line is not a header"
    );
    assert_eq!(
        SampleFile::new("a.csv", "a;b\n1.5;1\n2;2,5\n").table("").1,
        [1.5, 1.0, 2.0, 2.5],
        "columns differ"
    );
    for (text, want) in [
        ("1,5 2,25\n3,0 4,05\n", [1.5, 2.25, 3.0, 4.05]),
        ("x\ty\n1,5\t2,25\n3\t4,05\n", [1.5, 2.25, 3.0, 4.05]),
        ("x|y\n1,5|2,25\n3|4,05\n", [1.5, 2.25, 3.0, 4.05]),
        ("x,y\n\"1,5\",\"2,25\"\n\"3\",\"4,05\"\n", [1.5, 2.25, 3.0, 4.05]),
        (
            "E;N\n2'600'658.31;1'200'638.02\n2'600'125.83;452.94\n",
            [2_600_658.31, 1_200_638.02, 2_600_125.83, 452.94],
        ),
        (
            "E,N\n2’600’658.31,1’200’638.02\n2’600’125.83,452.94\n",
            [2_600_658.31, 1_200_638.02, 2_600_125.83, 452.94],
        ),
        ("E;N\n1.234.567,5;2.345,5\n1.000;0\n", [1_234_567.5, 2345.5, 1000.0, 0.0]),
        ("E,N\n\"1,234,567.5\",\"2,345.5\"\n\"1,000\",0\n", [1_234_567.5, 2345.5, 1000.0, 0.0]),
        ("E;N\n1\u{202f}234,5;2\u{a0}345\n1 000;\u{2212}1\n", [1234.5, 2345.0, 1000.0, -1.0]),
        ("  1.5D+00  2.5d-01\n -3.0D+02 +4.0D0\n", [1.5, 0.25, -300.0, 4.0]),
    ] {
        assert_eq!(SampleFile::new("a.csv", text).table("").1, want, "{text:?}");
    }
    // Whether a comma separates thousands or decimals is undecidable, but the column must not be dropped
    // silently.
    let both = |small: &str, large: &str| {
        format!(
            " but may be {small} or {large}; write numbers with a decimal point and without separators \
             between thousands"
        )
    };
    for (text, line, record, value, why) in [
        ("a;b\n1;1,234\n2;5,678\n", 2, 0, "1,234", both("1.234", "1234")),
        ("a,b\n1,\"1,234\"\n2,\"5,678\"\n", 2, 0, "1,234", both("1.234", "1234")),
        ("a;b\n1,5;1.234\n2;5.678\n", 2, 0, "1.234", both("1.234", "1234")),
        ("a;b\n1;1.5\n2;2,5\n", 3, 1, "2,5", " in the notation of its column; write 2.5".to_owned()),
        ("a;b\n1;2,5\n2;1.5\n", 2, 0, "2,5", " in the notation of its column; write 2.5".to_owned()),
    ] {
        let why = format!(
            "line {line}, record {record}, column `b`: `{value}` is not a number{why}; --columns chooses \
             others"
        );
        assert_eq!(SampleFile::new("a.csv", text).error(), why);
        assert_eq!(SampleFile::new("a.csv", text).table("a").1.len(), text.lines().count() - 1);
    }
    // A decimal point among decimal commas, after the sample.
    let late = format!("a;b\n{}1.5;2\n", "1,5;2\n".repeat(60_000));
    assert!(
        SampleFile::new("a.csv", late)
            .error()
            .starts_with("line 60002, record 60000, column `a`: `1.5` is not a number")
    );
    let unclear = "commas may be within numbers or between them; write decimal points and no other marks, \
                   or separate the numbers by semicolons";
    assert_eq!(
        SampleFile::new("a.xyz", "# made\n1,2 3,4\n5,6 7,8\n").error(),
        format!("line 2, `1,2 3,4`: {unclear}")
    );
}

#[test]
fn preambles_units_and_trailing_delimiters_are_skipped() {
    let points = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5];
    for (name, text) in [
        ("a.asc", "//X;Y;Z;Nx;Ny\n2\n1.5;2.5;3.5;0;1\n4.5;5.5;6.5;1;0\n"),
        ("a.txt", "//X Y Z\n2\n1.5 2.5 3.5\n4.5 5.5 6.5\n"),
        ("a.txt", "// X,Y,Z\n1.5 2.5 3.5\n// more\n4.5 5.5 6.5\n"),
        ("a.csv", "% X,Y,Z\n1.5,2.5,3.5\n% more\n4.5,5.5,6.5\n% end"),
        ("a.csv", "X,Y,Z,\n1.5,2.5,3.5,\n4.5,5.5,6.5,\n"),
        ("a.csv", "X,Y,Z\n1.5,2.5,3.5,\n4.5,5.5,6.5,\n"),
        ("a.csv", "\u{feff}sep=;\r\nX;Y;Z\r\n1,5;2,5;3,5\r\n4,5;5,5;6,5\r\n"),
        ("a.csv", "X,Y,Z\nm,m,m\n1.5,2.5,3.5\n4.5,5.5,6.5\n"),
        ("a.txt", "\"X\" \"Y\" \"Z\"\n\"1\" 1.5 2.5 3.5\n\"2\" 4.5 5.5 6.5\n"),
        ("a.txt", "X\tY\tZ\nfirst\t1.5\t2.5\t3.5\nsecond\t4.5\t5.5\t6.5\n"),
        ("a.txt", "; X Y Z\n1.5 2.5 3.5\n4.5 5.5 6.5\n"),
    ] {
        let sample = SampleFile::new(name, text);
        assert_eq!(sample.table("").1, points, "{text:?}");
        assert_eq!(sample.table("").0, names(&["X", "Y", "Z"]), "{text:?}");
        assert_values(&SampleFile::new("a.csv.gz", gzip(text)).table("X,Z").1, &[1.5, 3.5, 4.5, 6.5]);
    }
    let error = |text: &str| SampleFile::new("a.csv", text).error();
    assert_eq!(
        error("// X,Y\n2\n1;2\n\n// more\n3;a\n"),
        "line 6, record 1, column `Y`: `a` is not a number; --columns chooses others"
    );
    assert_eq!(error("sep=;\nX;Y\nm;m\n1;2\n3;4;5\n"), "line 5, record 1: expected 2 fields, found 3");
    assert_eq!(error("X,Y\n1,2,\n3,4,5\n"), "line 3, record 1: expected 2 fields, found 3");
    let late = format!("X,Y\n{}3,4,5\n", "1,2,\n".repeat(100_000));
    assert_eq!(error(&late), "line 100002, record 100000: expected 2 fields, found 3");
    let units = SampleFile::new("a.csv", "X,Y\nm,m\n1,2\n").info();
    assert_eq!(
        (units.rows, &units.skipped[..]),
        (1, &["the line under the header, `m,m`, was not read: it holds units".to_owned()][..])
    );
}

#[test]
fn column_numbers_are_read_as_a_header() {
    let sample = SampleFile::new("a.csv", "0,1,2\n2.5,5.25,7.5\n6.5,2.0,0.5\n");
    assert_eq!(sample.table(""), (names(&["0", "1", "2"]), vec![2.5, 5.25, 7.5, 6.5, 2.0, 0.5]));
    let note = |sample: &SampleFile| crate::formats::note(&sample.path, &NoProgress).unwrap();
    assert!(
        note(&sample).starts_with("the first line, `0,1,2`, was taken as a header, "),
        "{}",
        note(&sample)
    );
    let grid = SampleFile::new("a.csv", "0,1\n0,2\n1,1\n");
    assert_eq!(grid.table("").1, [0.0, 1.0, 0.0, 2.0, 1.0, 1.0]);
    assert!(note(&grid).starts_with("the first line, `0,1`, was read as a point; "), "{}", note(&grid));
}

#[test]
fn row_names_are_not_coordinates() {
    let sample = SampleFile::new("a.txt", "a b c\n1 1.5 2.5 3.5\n2 4.5 5.5 6.5\n");
    assert_eq!(sample.table("").0, names(&["a", "b", "c"]));
    assert_eq!(sample.info().guessed_columns, [1, 2, 3]);
    assert_eq!(sample.table("0").1, [1.0, 2.0]);
    let note = "the header has no name for the first column, which was taken as the names of the rows";
    assert_eq!(sample.info().skipped, [note]);
}

#[test]
fn errors_report_the_line() {
    assert_eq!(
        SampleFile::new("a.csv", "a,b\n1,2\n\n# no\n3\n").error(),
        "line 5, record 1: expected 2 fields, found 1"
    );
    assert_eq!(
        SampleFile::new("a.csv", "a,b\n\"1\n\",2\n3,4\n5,6,7\n").error(),
        "line 5, record 2: expected 2 fields, found 3"
    );
    assert_eq!(
        SampleFile::new("a.txt", "hello world\nthis is a letter\n").error(),
        "line 2, record 0: expected 2 fields, found 4; the file does not look like a table"
    );
    assert_eq!(
        SampleFile::new("a.txt", "1 2\r3 4\r\r5 6 7\r").error(),
        "line 4, record 2: expected 2 fields, found 3"
    );
    assert_eq!(
        SampleFile::new("a.txt", "1 2\n3 4\n\n5 6 7\n").error(),
        "line 4, record 2: expected 2 fields, found 3"
    );
    assert_eq!(
        SampleFile::new("a.csv", "a,b\nx,y\n").error(),
        "no coordinates: no column holds only numbers; column `a` has `x` in record 0"
    );
    assert_eq!(
        SampleFile::new("a.csv", "a;b\nx;2\n").error_of("a"),
        "line 2, record 0, column `a`: `x` is not a number"
    );
    let cut = gzip("1,2\n".repeat(1000));
    assert!(SampleFile::new("a.csv.gz", &cut[..cut.len() / 2]).error().starts_with("cut short"));
    let mut damaged = gzip((0..5000).map(|at| format!("{at},{}\n", at * 7919 % 1000)).collect::<String>());
    let middle = damaged.len() / 2;
    damaged[middle..middle + 8].fill(0xff);
    assert_eq!(SampleFile::new("a.csv.gz", damaged).error(), "data: damaged, and cannot be unpacked");
}

#[test]
fn unclosed_quotes_are_reported_with_their_line() {
    let rows = |from: usize| (from..from + 300).map(|at| format!("{at},2,n{at}\n")).collect::<String>();
    let text = |field: &str| format!("x,y,name\n{}7,8,{field}\n{}", rows(0), rows(400));
    assert_eq!(SampleFile::new("a.csv", text("\"open")).error(), "line 302, record 300: unclosed quote");
    assert_eq!(
        SampleFile::new("a.csv", text("9").replacen("7,8", "\"7,8", 1)).error(),
        "line 302, record 300: unclosed quote"
    );
    assert_eq!(SampleFile::new("a.csv", "a,\"b\n1,2\n").error(), "the first record: unclosed quote");
    // These are closed, or are not quotes.
    for (field, end) in
        [("\"a b\"", ""), ("\"a\"\"\"", ""), ("5\" pipe", "\n"), ("", "\n#"), ("\"a\nb\"", "")]
    {
        let sample = SampleFile::new("a.csv", format!("x,y,name\n1,2,a\n7,8,{field}{end}"));
        assert_eq!(sample.table("x,y").1, [1.0, 2.0, 7.0, 8.0], "{field}");
    }
}

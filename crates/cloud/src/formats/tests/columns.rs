//! One column of all records, and all columns of a few, of every format.

use super::*;

impl SampleFile {
    pub(super) fn column(&self, name: &str) -> Result<ColumnData, String> {
        column(&self.path, name, &NoProgress).map_err(|why| why.to_string())
    }

    #[track_caller]
    fn numbers(&self, name: &str) -> Vec<f64> {
        match self.column(name).unwrap() {
            ColumnData::Numbers(numbers) => numbers,
            ColumnData::Categories { names, .. } => panic!("{name} has categories {names:?}"),
        }
    }
}

#[test]
fn text_files_yield_numeric_and_categorical_columns() {
    let sample =
        SampleFile::new("a.csv", "x,city,y,late,none\n1,Ulm,5,7,\n,Köln,6,8,NA\ninf,Ulm,7,9z,\n4,,8,,\n");
    assert_values(&sample.numbers("X"), &[1.0, f64::NAN, f64::INFINITY, 4.0]);
    assert_values(&sample.numbers("2"), &[5.0, 6.0, 7.0, 8.0]);
    assert_values(&sample.numbers("none"), &[f64::NAN; 4]);
    let categories = |given: &[&str], codes: &[u32]| {
        Ok(ColumnData::Categories { names: names(given), codes: codes.to_vec() })
    };
    assert_eq!(sample.column("city"), categories(&["Ulm", "Köln", ""], &[0, 1, 0, 2]));
    // A column that turns into text late is text from the beginning.
    assert_eq!(sample.column("late"), categories(&["7", "8", "9z", ""], &[0, 1, 2, 3]));
    let error = sample.column("town").unwrap_err();
    assert!(error.starts_with("column `town`: not found; available: 0 `x`, 1 `city`"), "{error}");
}

#[test]
fn too_many_distinct_texts_are_refused() {
    let rows = |count: usize| (0..count).map(|at| format!("{at},n{at}\n")).collect::<String>();
    let most = SampleFile::new("a.csv", rows(MAX_CATEGORIES)).column("1").unwrap();
    assert!(matches!(most, ColumnData::Categories { names, .. } if names.len() == MAX_CATEGORIES));
    let error = SampleFile::new("a.csv", rows(MAX_CATEGORIES + 1)).column("1").unwrap_err();
    assert!(error.starts_with("column `y`: more than 65536 distinct texts"), "{error}");
}

#[test]
fn las_attributes_are_readable_as_columns() {
    for (format, compressed) in
        [(0, false), (1, true), (3, false), (3, true), (6, true), (7, false), (7, true)]
    {
        let sample =
            SampleFile::new(if compressed { "a.laz" } else { "a.las" }, las::scan(format, compressed, 9000));
        let counted: Vec<f64> = (0..9000).map(f64::from).collect();
        assert_eq!(sample.numbers("intensity"), counted, "format {format}, compressed {compressed}");
        assert_eq!(sample.numbers("number_of_returns"), vec![1.0; 9000]);
        if format != 0 {
            assert_eq!(sample.numbers("gps_time"), counted.iter().map(|at| at * 0.1).collect::<Vec<_>>());
        }
        if [3, 7].contains(&format) {
            assert_eq!((sample.numbers("blue"), sample.numbers("red")[8999]), (counted, 1.0));
        }
        assert_eq!(sample.table("").0, names(&["x", "y", "z"]));
    }
}

/// The cells of records. Checks them against a full read where the two must agree.
#[track_caller]
fn records_of(sample: &SampleFile, wanted: &[u64]) -> Vec<Vec<Cell>> {
    let found = records(&sample.path, wanted, &NoProgress).unwrap();
    let sheet = scan(&sample.path, &ColumnRequest::Everything, &NoProgress).unwrap();
    assert_eq!(found.columns, sheet.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>());
    if sheet.selected.len() == sheet.columns.len() {
        let width = sheet.selected.len();
        let cell = |at| super::super::columns::number_cell(sheet.values.get(at));
        let whole: Vec<Vec<Cell>> = wanted
            .iter()
            .map(|&record| (0..width).map(|at| cell(record as usize * width + at)).collect())
            .collect();
        assert_eq!(found.rows, whole);
    }
    assert_records_agree(&sample.path, "");
    let rows = sheet.rows;
    let error = records(&sample.path, &[0, rows], &NoProgress).unwrap_err().to_string();
    assert!(error.starts_with(&format!("record {rows}: the file has {rows} records: ")), "{error}");
    found.rows
}

#[test]
fn records_are_read_from_every_format() {
    let numbers = |values: &[f64]| values.iter().map(|&value| Cell::Number(value)).collect::<Vec<_>>();
    let floats: Vec<u8> = (0..15u8).flat_map(|at| f32::from(at).to_le_bytes()).collect();
    let wanted = [4, 0, 4, 2];
    let rows =
        [[12.0, 13.0, 14.0], [0.0, 1.0, 2.0], [12.0, 13.0, 14.0], [6.0, 7.0, 8.0]].map(|row| numbers(&row));
    assert_eq!(
        records_of(&SampleFile::new("a.npy", npy::npy("<f4", false, "(5, 3)", &floats)), &wanted),
        rows
    );
    let packed = npz::npz(&[("a.npy", npy::npy("<f4", false, "(5, 3)", &floats))]);
    assert_eq!(records_of(&SampleFile::new("a.npz", packed), &wanted), rows);
    // The second member is stored uncompressed.
    let array = |fortran| npy::npy("<f4", fortran, "(5, 3)", &floats);
    for fortran in [false, true] {
        let archive = |name: &str| {
            npz::npz(
                &[("first.npy", array(fortran)), ("second.npy", array(fortran))]
                    .map(|(at, array)| (if at.starts_with(name) { "x.npy" } else { at }, array)),
            )
        };
        let want = if fortran {
            [[4.0, 9.0, 14.0], [0.0, 5.0, 10.0], [4.0, 9.0, 14.0], [2.0, 7.0, 12.0]].map(|row| numbers(&row))
        } else {
            rows.clone()
        };
        for packed in ["first", "second"] {
            assert_eq!(
                records_of(&SampleFile::new("a.npz", archive(packed)), &wanted),
                want,
                "{packed}, {fortran}"
            );
        }
    }
    let big_endian: Vec<u8> = (0..15u8).flat_map(|at| f32::from(at).to_be_bytes()).collect();
    let images = idx::idx(13, &[5, 3], &big_endian);
    assert_eq!(records_of(&SampleFile::new("a.idx", &images), &wanted), rows);
    assert_eq!(records_of(&SampleFile::new("a.idx.gz", gzip(&images)), &wanted), rows);
    let atoms: String =
        (0..5).map(|row| format!("H {} {} {}\n", 3 * row, 3 * row + 1, 3 * row + 2)).collect();
    let with_element = |row: &Vec<Cell>| [&[Cell::Text("H".to_owned())], &row[..]].concat();
    assert_eq!(
        records_of(&SampleFile::new("a.xyz", format!("5\n\n{atoms}")), &wanted),
        rows.each_ref().map(with_element)
    );
    for content in [pcd::ascii(), pcd::binary(), pcd::compressed()] {
        let found = records_of(&SampleFile::new("a.pcd", content), &[2, 1, 2]);
        assert_eq!((&found[0], &found[0][1], &found[1][0]), (&found[2], &Cell::Number(-2.0), &Cell::Missing));
    }
    assert_eq!(records_of(&SampleFile::new("a.e57", e57::one()), &[1, 0, 1]).len(), 3);
    let by_column = records_of(&SampleFile::new("a.npy", npy::npy("<f4", true, "(5, 3)", &floats)), &wanted);
    assert_eq!(by_column[0], numbers(&[4.0, 9.0, 14.0]));
    let texmex: Vec<u8> = floats.chunks(12).flat_map(|row| [&3i32.to_le_bytes()[..], row].concat()).collect();
    assert_eq!(records_of(&SampleFile::new("a.fvecs", texmex), &wanted), rows);
    assert_eq!(
        records_of(
            &SampleFile::new("a.fbin", [&5u32.to_le_bytes()[..], &3u32.to_le_bytes(), &floats].concat()),
            &wanted
        ),
        rows
    );
    let header = "ply\nformat FORMAT 1.0\nelement face 2\nproperty list uchar uchar l\nelement vertex \
                  5\nproperty float x\nproperty float y\nproperty float z\nend_header\n";
    let binary =
        [header.replace("FORMAT", "binary_little_endian").as_bytes(), &[1, 7, 2, 7, 7], &floats].concat();
    assert_eq!(records_of(&SampleFile::new("a.ply", binary), &wanted), rows);
    let text: String = (0..5).map(|row| format!("{} {} {}\n", 3 * row, 3 * row + 1, 3 * row + 2)).collect();
    let ascii = header.replace("FORMAT", "ascii").replace("face 2", "face 0") + &text;
    assert_eq!(records_of(&SampleFile::new("a.ply", ascii), &wanted), rows);
    // Lists among a vertex's properties make records uneven.
    let uneven: Vec<u8> = floats
        .chunks(12)
        .enumerate()
        .flat_map(|(at, row)| [&[at as u8][..], &vec![9; at], row].concat())
        .collect();
    let lists = header
        .replace("FORMAT", "binary_little_endian")
        .replace("face 2", "face 0")
        .replace("property float x", "property list uchar uchar m\nproperty float x");
    assert_eq!(records_of(&SampleFile::new("a.ply", [lists.as_bytes(), &uneven].concat()), &wanted), rows);
    assert_eq!(records_of(&SampleFile::new("a.txt", text), &wanted), rows);
    for (format, compressed) in [(3, false), (1, true), (7, true)] {
        let sample = SampleFile::new("a.las", las::scan(format, compressed, 60_000));
        let found = records_of(&sample, &[59_999, 3, 8192]);
        assert_eq!(
            found.iter().map(|row| row[3].clone()).collect::<Vec<_>>(),
            numbers(&[59_999.0, 3.0, 8192.0])
        );
    }
}

#[test]
fn records_of_delimited_text_are_typed_cells() {
    let sample = SampleFile::new("a.csv", "x,city\n1,\"Ulm, \"\n# no\n\n,b\nNaN,3\n");
    let found = records_of(&sample, &[2, 0, 1]);
    assert_eq!(found[0], [Cell::Missing, Cell::Number(3.0)]);
    assert_eq!(found[1], [Cell::Number(1.0), Cell::Text("Ulm,".to_owned())]);
    assert_eq!(found[2], [Cell::Missing, Cell::Text("b".to_owned())]);
    assert_eq!(serde_json::to_string(&found[1]).unwrap(), "[1.0,\"Ulm,\"]");
    assert_eq!(records(&sample.path, &[], &NoProgress).unwrap().rows.len(), 0);
}

#[test]
fn codes_with_leading_zeros_display_as_text_and_remain_numeric() {
    for (name, text) in [
        ("a.csv", "x,zip\n1.5, 06484\n007,10115\n"),
        ("a.csv", "x;zip\n1,5;06484\n007;10115\n"),
        ("a.json", r#"[{"x":1.5,"zip":"06484"},{"x":"007","zip":10115}]"#),
    ] {
        let sample = SampleFile::new(name, text);
        let found = records(&sample.path, &[0, 1], &NoProgress).unwrap().rows;
        let code = |text: &str| Cell::Text(text.to_owned());
        assert_eq!(
            found,
            [[Cell::Number(1.5), code("06484")], [code("007"), Cell::Number(10_115.0)]],
            "{text}"
        );
        let numbers: Vec<Option<f64>> = found.iter().flatten().map(Cell::number).collect();
        assert_eq!(numbers, [1.5, 6484.0, 7.0, 10_115.0].map(Some));
        assert_eq!(
            column(&sample.path, "zip", &NoProgress).unwrap(),
            ColumnData::Numbers(vec![6484.0, 10_115.0])
        );
        assert_eq!(sample.table("").1, [1.5, 6484.0, 7.0, 10_115.0]);
    }
    assert_eq!(
        [Cell::Text("2024-10-04".to_owned()), Cell::Text("12".to_owned()), Cell::Missing]
            .map(|cell| cell.number()),
        [None; 3]
    );
}

/// Remembers which bytes of the file were read.
#[derive(Default)]
struct ReadRecorder(std::sync::Mutex<Vec<u64>>);

impl crate::progress::Progress for ReadRecorder {
    fn update(&self, done: u64, _: u64) {
        self.0.lock().unwrap().push(done);
    }

    fn cancelled(&self) -> bool {
        false
    }
}

#[test]
fn index_from_earlier_reads_speeds_up_record_lookup() {
    let marks = RecordIndex::default();
    for (start, end, separator) in
        [("", "\n", ","), ("\u{feff}x,n\r\n", "\r\n", ","), ("# about\nx n\n", "\n", " ")]
    {
        let record = |at: usize| {
            format!(
                "{at}{separator}\"text {at}\"{}{end}",
                if at % 1000 == 7 { format!("{end}# comment") } else { String::new() }
            )
        };
        let sample =
            SampleFile::new("a.csv", start.to_owned() + &(0..60_000).map(record).collect::<String>());
        let size = std::fs::metadata(&sample.path).unwrap().len();
        let cells = |at: u64, reads: &ReadRecorder| {
            records_indexed(&sample.path, &[at], &marks, reads).unwrap().rows.remove(0)
        };
        let want = |at: u64| [Cell::Number(at as f64), Cell::Text(format!("text {at}"))];
        assert_eq!(cells(55_000, &ReadRecorder::default()), want(55_000));
        let reads = ReadRecorder::default();
        assert_eq!(cells(59_999, &reads), want(59_999));
        // The beginning determines the dialect; the text in between is skipped.
        let between =
            reads.0.lock().unwrap().iter().filter(|&&done| (size / 2..3 * size / 4).contains(&done)).count();
        assert_eq!(between, 0, "{:?} of {size}", reads.0.lock().unwrap());
        let scattered = [0, 1, 16_383, 16_384, 16_385, 32_768, 7, 54_999];
        for at in scattered {
            assert_eq!(cells(at, &ReadRecorder::default()), want(at), "{start:?}");
        }
        // The text between records that are requested together is skipped too.
        assert_eq!(
            records_indexed(&sample.path, &scattered, &marks, &NoProgress).unwrap().rows,
            scattered.map(want)
        );
        let reads = ReadRecorder::default();
        assert_eq!(
            records_indexed(&sample.path, &[59_999, 3, 59_999], &marks, &reads).unwrap().rows,
            [59_999, 3, 59_999].map(want)
        );
        let between =
            reads.0.lock().unwrap().iter().filter(|&&done| (size / 2..3 * size / 4).contains(&done)).count();
        assert_eq!(between, 0, "{:?} of {size}", reads.0.lock().unwrap());
        // Errors have the right line even if reading began at a mark, and marks are not used for another
        // file.
        std::fs::write(&sample.path, "x,n\n1,a\n2\n").unwrap();
        assert!(
            records_indexed(&sample.path, &[1], &marks, &NoProgress)
                .unwrap_err()
                .to_string()
                .starts_with("line 3, record 1: ")
        );
    }
}

#[test]
fn record_index_works_across_scan_boundaries() {
    let marks = RecordIndex::default();
    let scan =
        |from: usize| -> String { (from..from + 20_000).map(|at| format!("{at} 0.5 1 7\n")).collect() };
    let text: String = (0..3).map(|at| format!("20000\n{}", scan(at * 20_000))).collect();
    let sample = SampleFile::new("a.pts", text);
    // Reading the last record of each scan leaves marks; count lines occur between marks.
    for at in [50_000, 41_000, 39_999, 40_000, 59_999, 19_999, 20_000, 0] {
        let row = records_indexed(&sample.path, &[at], &marks, &NoProgress).unwrap().rows.remove(0);
        assert_eq!(row[0], Cell::Number(at as f64));
    }
}

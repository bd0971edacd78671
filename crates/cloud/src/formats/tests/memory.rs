//! Low memory: readers fail with an error that gives the amount, instead of aborting in a failed allocation.

use super::*;

/// Text of each kind that needs more than 16 KiB.
fn texts() -> Vec<(&'static str, String)> {
    let vector = |word: usize| format!("w{word} {}", vec!["0.5"; 30].join(" "));
    let feature = |at: usize| {
        format!(
            "{{\"type\":\"Feature\",\"geometry\":{{\"type\":\"Point\",\"coordinates\":[1,2]}},\"properties\"\
             :{{\"p{at}\":\"{at}\"}}}}"
        )
    };
    let features = |features: String| format!("{{\"type\":\"FeatureCollection\",\"features\":[{features}]}}");
    let many = |one: &dyn Fn(usize) -> String, by: &str| (0..500).map(one).collect::<Vec<_>>().join(by);
    vec![
        ("rows.csv", "1,2,3\n".repeat(5000)),
        ("rows.txt", "1 2 3\n".repeat(5000)),
        ("columns.csv", vec!["1"; 5000].join(",")),
        ("columns.txt", vec!["1"; 5000].join(" ")),
        ("quote.csv", format!("a,b\n1,\"{}\n", "x".repeat(1 << 20))),
        ("line.txt", format!("a b\n1 {}\n", "x".repeat(1 << 20))),
        ("rows.json", format!("[{}]", vec!["[1,2,3]"; 5000].join(","))),
        ("rows.jsonl", "{\"a\":1,\"b\":[2,3]}\n".repeat(5000)),
        ("columns.json", format!("[[{}]]", vec!["1"; 5000].join(","))),
        ("keys.json", format!("[{{{}}}]", many(&|at| format!("\"k{at}\":{at}"), ","))),
        ("table.json", format!("{{\"a\":[{0}],\"b\":[{0}]}}", vec!["1"; 5000].join(","))),
        ("text.json", format!("[{{\"a\":1,\"b\":\"{}\"}}]", "x".repeat(1 << 20))),
        ("members.json", format!("{{{}}}", many(&|at| format!("\"a{at}\":[[1,2],[3,4]]"), ","))),
        ("new.geojson", features(many(&feature, ","))),
        (
            "properties.geojson",
            features(feature(0).replace(
                "\"p0\":",
                &many(&|at| format!("\"p{at}\":{at},"), "").replace("\"p499\":499,", "\"p499\":"),
            )),
        ),
        (
            "places.geojson",
            features(
                feature(0)
                    .replace("Point", "MultiPoint")
                    .replace("[1,2]", &format!("[{}]", vec!["[1,2]"; 5000].join(","))),
            ),
        ),
        ("atoms.xyz", format!("5000\n\n{}", "H 1 2 3\n".repeat(5000))),
        ("frames.xyz", "1\n\nH 1 2 3\n".repeat(5000)),
        ("fields.xyz", format!("1\n\nH{}\n", " 1".repeat(5000))),
        ("words.vec", many(&vector, "\n")),
    ]
}

#[test]
fn text_readers_respect_the_memory_limit() {
    for (name, text) in texts() {
        let sample = SampleFile::new(name, text);
        let read = |free: u64| {
            let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
            let format = recognise(&input).unwrap();
            (format.read)(&input, &ColumnRequest::Everything)
        };
        match read(1 << 14) {
            Err(FormatError::Memory { needed, free, .. }) => {
                assert!(needed > free && free == 1 << 14, "{name}: {needed} of {free}")
            }
            other => panic!("{name}: {other:?}"),
        }
        assert!(!matches!(read(1 << 26), Err(FormatError::Memory { .. })), "{name}");
    }
}

#[test]
fn text_columns_respect_the_memory_limit() {
    let lines: String = (0..5000).map(|at| format!("{at},name {at}\n")).collect();
    let objects: Vec<String> = (0..5000).map(|at| format!("{{\"0\":{at},\"1\":\"name {at}\"}}")).collect();
    for (name, text) in [("a.csv", lines), ("a.json", format!("[{}]", objects.join(",")))] {
        let sample = SampleFile::new(name, text);
        let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(1 << 16);
        let read = (recognise(&input).unwrap().read)(&input, &ColumnRequest::Column(&"1".to_owned()));
        assert!(matches!(read, Err(FormatError::Memory { .. })), "{name}: {read:?}");
    }
}

#[test]
fn empty_arrays_and_objects_claim_no_memory() {
    for empty in ["[],", "{},", "[[],{}],"] {
        let sample =
            SampleFile::new("a.json", format!("[[{}1],[{}2]]", empty.repeat(5000), empty.repeat(5000)));
        let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(1 << 16);
        let sheet = (recognise(&input).unwrap().read)(&input, &ColumnRequest::Everything).unwrap();
        assert_eq!(sheet.columns.len(), 1, "{empty}");
        assert!(sheet.values.iter().eq([1.0, 2.0]), "{empty}");
    }
}

#[test]
fn columns_with_truncated_names_are_found_by_full_name() {
    let long = "n".repeat(limits::MAX_NAME + 7);
    let sample = SampleFile::new("a.csv", format!("{long},b\n1,2\n"));
    assert_eq!(sample.info().columns[0].name.len(), limits::MAX_NAME);
    assert_eq!(sample.table(&long).1, [1.0]);
}

#[test]
fn unlisted_frames_open_by_number() {
    let sample = SampleFile::new("a.xyz", "1\n\nH 1 2 3\n".repeat(limits::MAX_DATASETS + 2));
    assert_eq!(datasets(&sample.path, &NoProgress).unwrap().len(), limits::MAX_DATASETS);
    assert_eq!(
        sample.error(),
        format!("too many frames to list: choose one with FILE:NUMBER; frames: {}", limits::MAX_DATASETS + 2)
    );
    let last = sample.read_dataset(&(limits::MAX_DATASETS + 1).to_string()).unwrap();
    assert_eq!(last.values, [1.0, 2.0, 3.0]);
}

/// These files fit in little memory only if readers release exactly what they claimed.
#[test]
fn streamed_files_release_the_memory_they_claim() {
    let feature = |at: usize| {
        format!(
            "{{\"type\":\"Feature\",\"geometry\":{{\"type\":\"Point\",\"coordinates\":[{at},2]}},\"\
             properties\":{{}}}}"
        )
    };
    let features: Vec<String> = (0..2000).map(feature).collect();
    let places = SampleFile::new(
        "a.geojson",
        format!("{{\"type\":\"FeatureCollection\",\"features\":[{}]}}", features.join(",")),
    );
    let batches = SampleFile::new("a.feather", arrow::batches(64, 1000));
    for (sample, rows, free) in [(&places, 2000, 1 << 17), (&batches, 64_000, 1 << 16)] {
        let input = || Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
        let format = recognise(&input()).unwrap();
        if rows == 2000 {
            assert_eq!((format.read)(&input(), &ColumnRequest::Everything).unwrap().rows, rows);
        }
        let wanted: Vec<u64> = (0..rows).step_by(1000).chain([rows - 1]).collect();
        let read = (format.records)(&input(), &wanted).unwrap();
        assert_eq!(read.rows.len(), wanted.len());
    }
}

use super::*;

#[test]
fn deeply_nested_json_is_refused() {
    const SAID: &str = "arrays and objects nest more than 127 levels deep, the supported maximum";
    let depth = 1_000_000;
    let arrays = ["[".repeat(depth), "]".repeat(depth)].concat();
    let objects = ["{\"a\":".repeat(depth), "1".to_owned(), "}".repeat(depth)].concat();
    for (name, text) in [
        ("a.json", arrays.clone()),
        ("a.json", format!("[{objects}]")),
        ("a.json", format!("[1,2]\n{arrays}")),
        ("a.jsonl", arrays.clone()),
        ("a.jsonl", format!("[[1]]\n{objects}")),
        ("a.json", format!("{{\"points\":{arrays}}}")),
        ("a.json", format!("{{\"other\":[[1,2]],\"points\":[{objects}]}}")),
        ("a.geojson", format!("{{\"type\":\"Point\",\"coordinates\":{arrays}}}")),
        (
            "a.geojson",
            format!(
                "{{\"type\":\"FeatureCollection\",\"features\":[{{\"geometry\":{{\"type\":\"Point\",\"\
                 coordinates\":{arrays}}}}}]}}"
            ),
        ),
        (
            "a.geojson",
            format!("{{\"type\":\"FeatureCollection\",\"features\":[{{\"properties\":{objects}}}]}}"),
        ),
        ("a.txt", arrays),
    ] {
        let message = SampleFile::new(name, &text).error();
        assert!(message.ends_with(SAID), "{name} {}: {message}", &text[..20]);
    }
    let nested =
        |depth: usize| SampleFile::new("a.json", [&"[".repeat(depth), "1", &"]".repeat(depth)].concat());
    assert_eq!(nested(128).error(), format!("line 1, column 128: {SAID}"));
    assert_eq!(nested(127).table("").1, [1.0]);
}

#[test]
fn deeply_nested_unused_members_are_skipped() {
    // These are skipped at any depth.
    let deep = ["[".repeat(100_000), "]".repeat(100_000)].concat();
    for text in [
        format!("{{\"type\":\"Point\",\"other\":{deep},\"coordinates\":[1,2]}}"),
        format!("{{\"type\":\"Point\",\"coordinates\":[1,2],\"other\":{deep}}}"),
    ] {
        assert_eq!(SampleFile::new("a.geojson", text).table("").1, [1.0, 2.0]);
    }
    let objects = ["{\"a\":".repeat(100_000), "1".to_owned(), "}".repeat(100_000)].concat();
    assert!(SampleFile::new("a.json", objects).error().starts_with("no array of points: "));
}

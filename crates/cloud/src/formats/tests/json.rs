use super::*;

const NAN: f64 = f64::NAN;

fn format(name: &str, text: &str) -> String {
    SampleFile::new(name, text).info().format
}

#[test]
fn points_are_read_from_every_json_layout() {
    let want = (names(&["x", "y"]), vec![1.5, -2.0, 3e3, 4.0]);
    for (name, text, format) in [
        ("a.json", "[[1.5,-2],[3e3,4]]", "JSON, an array of arrays"),
        ("a.json", "\u{feff} [\n [ 1.5 , -2 ] ,\n [3e3,4]\n]\n", "JSON, an array of arrays"),
        ("a.jsonl", "[[1.5,-2],[3e3,4]]", "JSON, an array of arrays"),
        ("a.json", "[1.5,-2]\n[3e3,4]\n", "JSON Lines of arrays"),
        ("a.jsonl", "[1.5,-2]\r\n\r\n[3e3,4]", "JSON Lines of arrays"),
        ("a.json", "[{\"x\":1.5,\"y\":-2},{\"y\":4,\"x\":3e3}]", "JSON, an array of objects"),
        ("a.ndjson", "{\"x\":1.5,\"y\":-2}\n{\"x\":3e3,\"y\":4}\n", "JSON Lines of objects"),
        ("a.json", "{\"x\":1.5,\"y\":-2}\n{\"x\":3e3,\"y\":4}\n", "JSON Lines of objects"),
        (
            "a.json",
            "{\"n\":2,\"rows\":[[1.5,-2],[3e3,4]],\"more\":{\"a\":[[1]]}}",
            "JSON, `rows`: an array of arrays",
        ),
        (
            "a.json",
            "{\"rows\":[{\"x\":\"1.5\",\"y\":-2,\"id\":\"a\"},{\"x\":3e3,\"y\":4}]}",
            "JSON, `rows`: an array of objects",
        ),
        ("a.json", "[[\"x\",\"y\"],[1.5,-2],[3e3,4]]", "JSON, an array of arrays, header"),
        ("a.txt", "[[1.5,-2],[3e3,4]]", "JSON, an array of arrays"),
        ("cloud", "{\"x\":1.5,\"y\":-2}\n{\"x\":3e3,\"y\":4}\n", "JSON Lines of objects"),
    ] {
        let sample = SampleFile::new(name, text);
        assert_eq!(sample.table(""), want, "{text:?}");
        assert_eq!((sample.info().format.as_str(), sample.info().rows), (format, 2), "{text:?}");
        assert_eq!(sample.table("y").1, [-2.0, 4.0], "{text:?}");
        assert_eq!(sample.table("1,0").1.len(), 4);
        if name.ends_with("json") {
            assert_eq!(SampleFile::new("a.json.gz", gzip(text)).table(""), want);
        }
    }
    assert_eq!(SampleFile::new("a.json", "[1, 2.5, null]").table("0").0, names(&["x"]));
    assert_values(&SampleFile::new("a.json", "[1, 2.5, null]").table("").1, &[1.0, 2.5, NAN]);
    assert_eq!(SampleFile::new("a.jsonl", "[1, 2.5, 3]").table("").1, [1.0, 2.5, 3.0]);
    assert_eq!(SampleFile::new("a.json", "[[1,2,3,4]]").table("").0, names(&["d0", "d1", "d2", "d3"]));
}

#[test]
fn missing_values_become_nan_without_shifting_rows() {
    let sample = SampleFile::new(
        "a.json",
        "[{\"a\":1},{\"b\":2,\"a\":null},{\"c\":true},{\"a\":4,\"b\":\"NaN\",\"c\":false}]",
    );
    assert_eq!(sample.info().default_columns, [0, 1, 2]);
    assert_values(&sample.table("a,b,c").1, &[1.0, NAN, NAN, NAN, 2.0, NAN, NAN, NAN, 1.0, 4.0, NAN, 0.0]);
    // The last of two members with the same name wins.
    assert_eq!(SampleFile::new("a.json", "[{\"a\":1,\"a\":2},{\"a\":3}]").table("").1, [2.0, 3.0]);
    assert_eq!(
        SampleFile::new("a.json", "[{\"a\":1,\"b\":null},{\"a\":1}]").info().columns[1].kind,
        ColumnKind::Empty
    );
}

#[test]
fn arrays_in_objects_become_coordinates() {
    let text = "{\"id\":7,\"text\":\"a b\",\"embedding\":[1,2,3],\"at\":{\"lat\":5}}\n\
                {\"id\":8,\"text\":\"c\",\"embedding\":[4,5,6],\"at\":{\"lat\":6}}\n";
    let sample = SampleFile::new("a.jsonl", text);
    assert_eq!(
        sample.table(""),
        (names(&["embedding_0", "embedding_1", "embedding_2"]), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    );
    assert_eq!(sample.table("at.lat,id").1, [5.0, 7.0, 6.0, 8.0]);
    // Images are rows of rows.
    assert_eq!(
        SampleFile::new("a.json", "[[[1,2],[3,4]],[[5,6],[7,8]]]").table(""),
        (names(&["d0_0", "d0_1", "d1_0", "d1_1"]), (1..9).map(f64::from).collect())
    );
}

#[test]
fn text_columns_are_read_on_request() {
    let text = "[{\"x\":1,\"name\":\"b\"},{\"x\":2},{\"x\":3,\"name\":\"a\"},{\"x\":4,\"name\":\"b\"}]";
    let sample = SampleFile::new("a.json", text);
    let ColumnData::Categories { names: found, codes } = column(&sample.path, "name", &NoProgress).unwrap()
    else {
        panic!("names are text")
    };
    assert_eq!((found, codes), (names(&["b", "", "a"]), vec![0, 1, 2, 0]));
    assert_eq!(
        column(&sample.path, "x", &NoProgress).unwrap(),
        ColumnData::Numbers(vec![1.0, 2.0, 3.0, 4.0])
    );
    let picked = records(&sample.path, &[2, 1], &NoProgress).unwrap();
    assert_eq!(picked.columns, names(&["x", "name"]));
    assert_eq!(
        picked.rows,
        [[Cell::Number(3.0), Cell::Text("a".to_owned())], [Cell::Number(2.0), Cell::Missing]]
    );
    assert!(
        records(&sample.path, &[4], &NoProgress)
            .unwrap_err()
            .to_string()
            .starts_with("record 4: the file has 4 records")
    );
    // Data after the last requested record is not examined.
    let picked = records(&SampleFile::new("a.json", "[[1,2],[3,4],[5,oops").path, &[1], &NoProgress).unwrap();
    assert_eq!(picked.rows, [[Cell::Number(3.0), Cell::Number(4.0)]]);
    assert_eq!(sample.error_of("name"), "record 0, column `name`: `b` is not a number");
}

#[test]
fn objects_with_several_arrays_require_a_choice() {
    let sample =
        SampleFile::new("a.json", "{\"one\":[[1,2],[3,4]],\"two\":[{\"a\":5}],\"list\":[1,2,3],\"none\":1}");
    assert_eq!(
        sample.error(),
        "the file contains several clouds: choose one with FILE:NAME; available: `one` (2 × 2), `two` (1 × \
         1), `list` (3)"
    );
    assert_eq!(sample.dataset("two"), [5.0]);
    assert_eq!(sample.dataset("list"), [1.0, 2.0, 3.0]);
    assert_eq!(datasets(&sample.path, &NoProgress).unwrap().len(), 3);
    // The one with the usual name is selected.
    assert_eq!(SampleFile::new("a.json", "{\"other\":[[1,2]],\"points\":[[3,4]]}").table("").1, [3.0, 4.0]);
}

#[test]
fn pandas_json_orients_are_read() {
    let want = (names(&["x", "y"]), vec![1.5, -2.0, 3e3, 4.0]);
    for (text, format) in [
        // Formats written by pandas: to_dict("list"), to_json() and its orients index and split.
        ("{\"x\":[1.5,3e3],\"n\":[\"a\",\"b\"],\"y\":[-2,4]}", "JSON, an object of columns"),
        ("{\"name\":\"two\",\"x\":[1.5,3e3],\"y\":[-2,4],\"n\":[\"a\",\"b\"]}", "JSON, an object of columns"),
        (
            "{\"x\":{\"0\":1.5,\"1\":3e3},\"y\":{\"0\":-2,\"1\":4},\"n\":{\"0\":\"a\",\"1\":\"b\"}}",
            "JSON, an object of columns",
        ),
        (
            "{\"0\":{\"x\":1.5,\"y\":-2,\"n\":\"a\"},\"1\":{\"x\":3e3,\"y\":4,\"n\":\"b\"}}",
            "JSON, an object of objects",
        ),
        (
            "{\"columns\":[\"x\",\"y\",\"n\"],\"index\":[0,1],\"data\":[[1.5,-2,\"a\"],[3e3,4,\"b\"]]}",
            "JSON, `data`: an array of arrays",
        ),
    ] {
        let sample = SampleFile::new("a.json", text);
        assert_eq!(sample.table(""), want, "{text}");
        assert_eq!(sample.table("y").1, [-2.0, 4.0], "{text}");
        assert_eq!((sample.info().format.as_str(), sample.info().rows), (format, 2), "{text}");
        let ColumnData::Categories { names: found, codes } = column(&sample.path, "n", &NoProgress).unwrap()
        else {
            panic!("n is text")
        };
        assert_eq!((found, codes), (names(&["a", "b"]), vec![0, 1]), "{text}");
        let picked = records(&sample.path, &[1], &NoProgress).unwrap();
        let place = |name: &str| picked.columns.iter().position(|column| column == name).unwrap();
        assert_eq!(
            (&picked.rows[0][place("y")], &picked.rows[0][place("n")]),
            (&Cell::Number(4.0), &Cell::Text("b".to_owned())),
            "{text}"
        );
    }
    let sample = SampleFile::new("a.json", "{\"x\":[1,null,3],\"y\":[4,5,6]}");
    assert_values(&sample.table("").1, &[1.0, 4.0, NAN, 5.0, 3.0, 6.0]);
    // It is one cloud, but each of its lists can still be selected by name.
    assert!(datasets(&sample.path, &NoProgress).unwrap().is_empty());
    assert_eq!(sample.dataset("y"), [4.0, 5.0, 6.0]);
}

/// Two features, one of them with two points.
pub(super) const PLACES: &str = concat!(
    r#"{"type": "FeatureCollection", "name": "towns", "features": [
    {"type": "Feature", "properties": {"name": "Ulm", "people": 126}, "#,
    r#""geometry": {"type": "Point", "coordinates": [9.99, 48.4]}},
    {"type": "Feature", "geometry": {"coordinates": [[8.5, 47.4], [8.6, 47.5]], "#,
    r#""type": "MultiPoint"}, "properties": {"people": 421, "x": 7}}
]}"#,
);

#[test]
fn geojson_points_and_properties_are_read() {
    for (name, text) in [("a.geojson", PLACES.to_owned()), ("a.json", PLACES.replace(['\n', ' '], ""))] {
        let sample = SampleFile::new(name, text);
        assert_eq!(sample.info().format, "GeoJSON of points");
        assert_eq!(
            sample.table(""),
            (names(&["longitude", "latitude"]), vec![9.99, 48.4, 8.5, 47.4, 8.6, 47.5])
        );
        assert_eq!(sample.table("people").1, [126.0, 421.0, 421.0]);
        let ColumnData::Categories { names: found, .. } = column(&sample.path, "name", &NoProgress).unwrap()
        else {
            panic!("names are text")
        };
        assert_eq!(found, names(&["Ulm", ""]));
        let picked = records(&sample.path, &[2], &NoProgress).unwrap();
        assert_eq!(
            (&picked.columns[..2], &picked.rows[0][..2]),
            (&names(&["longitude", "latitude"])[..], &[Cell::Number(8.6), Cell::Number(47.5)][..])
        );
    }
    let values = |text: &str| SampleFile::new("a.json", text).table("").1;
    assert_eq!(values("{\"type\":\"Point\",\"coordinates\":[1,2,3]}"), [1.0, 2.0], "without its height");
    assert_eq!(values("{\"type\":\"MultiPoint\",\"coordinates\":[[1,2],[3,4]]}"), [1.0, 2.0, 3.0, 4.0]);
    let nowhere = "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":null,\
                   \"properties\":null},\
                   {\"type\":\"Feature\",\"geometry\":{\"type\":\"Point\",\"coordinates\":[1,2]}}]}";
    assert_values(&values(nowhere), &[NAN, NAN, 1.0, 2.0]);
    let error = |text: &str| SampleFile::new("a.geojson", text).error();
    let area = "{\"type\":\"FeatureCollection\",\"features\":[{\"type\":\"Feature\",\"geometry\":\
                {\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[0,1],[0,0]]]},\"properties\":{}}]}";
    assert!(error(area).starts_with("feature 0, a Polygon: points are read only"), "{}", error(area));
    let flat = error("{\"type\":\"Point\",\"coordinates\":[1]}");
    assert_eq!(flat, "feature 0: invalid coordinates for a Point: expected x, y and optionally z");
    assert!(
        error("{\"type\":\"FeatureCollection\",\"features\":7}")
            .contains("expected an array of features, found 7")
    );
}

#[test]
fn errors_report_the_position() {
    let error = |text: &str| SampleFile::new("a.json", text).error();
    assert_eq!(error("[[1,2],[3]]"), "record 1: expected 2 fields, found 1");
    assert_eq!(error("[[1,2],{\"a\":3}]"), "record 1: it is an object, but the first one is an array");
    assert_eq!(
        error("[[1,2],\n[3,NaN]]"),
        "line 2, column 4: expected value; NaN and Infinity are not JSON: write null"
    );
    assert_eq!(error("[[1,2],[3,4"), "cut short: the file ends in the middle of its data, in line 1");
    assert_eq!(error("[[1,tru]]"), "line 1, column 8: unknown word; expected true, false or null");
    assert_eq!(error("[{\"a\":1,\nb:2}]"), "line 2, column 1: object keys must be strings in quotes");
    assert_eq!(
        error("{\"points\":[[1]],\"points\":[[1]],\"b\":[\"\n\"]}"),
        "line 2, column 0: a string contains a line break or a control character"
    );
    assert!(error("[[1,2]] x").starts_with("line 1, column 9: expected value"));
    assert_eq!(error("[]"), "nothing to read: the array is empty");
    assert_eq!(error("[[],[]]"), "no coordinates: the points are empty");
    assert_eq!(
        error("{\"a\":1}"),
        "no array of points: the object has none; write an array of arrays or of objects, for \
         instance df.to_json(…, orient=\"records\")"
    );
    // Lists of different lengths are not a table, and one list is one column.
    assert!(error("{\"x\":[1,2],\"y\":[3]}").starts_with("the file contains several clouds: "));
    assert_eq!(error("{\"points\":{\"x\":[1]}}"), error("{\"a\":1}"));
    assert_eq!(
        error("[[\"a\"],[\"b\"]]"),
        "no coordinates: no column holds only numbers; column `a` has `b` in record 0"
    );
    assert_eq!(error("  \n"), "nothing to read: the file contains only white space");
    assert_eq!(error("[\0]"), "not JSON: the file contains NUL bytes; is it UTF-16? Save it as UTF-8");
}

#[test]
fn objects_without_common_fields_are_refused() {
    let text: String = (0..20_000).map(|at| format!("{{\"f{at}\":1}}\n")).collect();
    let message = SampleFile::new("a.jsonl", text).error();
    assert!(message.starts_with("objects with few common fields: "), "{message}");
    let name = "n".repeat(10_000);
    let long = format!("[{{\"{name}\":[{}]}}]", vec!["1"; 5000].join(","));
    assert_eq!(SampleFile::new("a.json", long).table("").0[4999].len(), 200);
    assert_eq!(format("a.json", "[[1]]"), "JSON, an array of arrays");
}

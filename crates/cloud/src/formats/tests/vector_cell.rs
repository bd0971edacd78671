//! Positions and vectors in one column of a table.

use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use arrow_array::builder::{FixedSizeListBuilder, Float64Builder, Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BinaryArray, Float64Array, Int64Array, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field, Schema};

use super::super::crs::Crs;
use super::super::vector_cell::{CellContent, parse};
use super::*;

/// The searched columns as `names: values`, or the error.
fn taken(name: &str, content: impl AsRef<[u8]>) -> String {
    let sample = SampleFile::new(name, content);
    match read_auto(&sample.path, AutoColumns::Inferred, &NoProgress) {
        Ok((table, _)) => {
            assert_records_agree(&sample.path, "");
            let names: Vec<String> = table.columns.into_iter().map(|column| column.name).collect();
            format!(
                "{}: {}",
                names.join(" "),
                table.values.iter().map(|value| value.to_string()).collect::<Vec<_>>().join(" ")
            )
        }
        Err(why) => why.to_string().rsplit_once(": ").unwrap().0.to_owned(),
    }
}

/// A table of an id and a quoted column.
fn csv(name: &str, cells: &[&str]) -> String {
    let rows: String = cells
        .iter()
        .enumerate()
        .map(|(at, cell)| format!("{},\"{}\"\n", at + 7, cell.replace('"', "\"\"")))
        .collect();
    format!("count,{name}\n{rows}")
}

fn little(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// The WKB of a point in little-endian bytes.
fn wkb(kind: u32, numbers: &[f64]) -> Vec<u8> {
    [vec![1], kind.to_le_bytes().to_vec(), little(numbers)].concat()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

#[test]
fn text_lists_are_parsed_in_every_notation() {
    for [first, second] in [
        ["[1, 2.5, -3]", "[4,5,6e1]"],
        ["[ 1.   2.5 -3. ]", "[ 4.  5.\n  60. ]"],
        ["(1, 2.5, -3)", "(4, 5, 60)"],
        ["{1,2.5,-3}", "{4,5,60}"],
        ["[[1, 2.5, -3]]", "[[4, 5, 60]]"],
        ["array([1. , 2.5, -3. ], dtype=float32)", "array([ 4.,  5., 60.], dtype=float32)"],
        ["tensor([1.0, 2.5, -3.0], device='cuda:0')", "tensor([4.0, 5.0, 60.0], device='cuda:0')"],
        [
            "[np.float64(1), np.float64(2.5), np.float64(-3)]",
            "[np.float64(4), np.float64(5), np.float64(60)]",
        ],
        ["['1', '2.5', '-3']", "['4', '5', '60']"],
        ["1.0 2.5 -3.0", "4.0 5.0 60.0"],
        ["1.0, 2.5, -3.0", "4.0, 5.0, 60.0"],
    ] {
        let want = "v0 v1 v2: 1 2.5 -3 4 5 60";
        assert_eq!(taken("a.csv", csv("v", &[first, second])), want, "{first}");
        let json = |cell: &str| format!("{{\"id\":7,\"v\":{}}}\n", serde_json::to_string(cell).unwrap());
        assert_eq!(taken("a.jsonl", json(first) + &json(second)), want.replace('v', "v_"), "{first}");
    }
    let numbers = (0..2304).map(|at| (at % 256).to_string()).collect::<Vec<_>>().join(" ");
    assert!(taken("a.csv", csv("pixels", &[&numbers, &numbers])).starts_with("pixels0 pixels1 "));
    // A vector longer than the sample for the dialect.
    let long = format!("[{}]", vec!["0.123456789"; 30_000].join(", "));
    assert!(taken("a.csv", csv("v", &[&long, &long])).starts_with("v0 v1 "));
    // Missing vectors keep their rows, and a header is optional.
    assert_eq!(taken("a.csv", csv("v", &["[1, 2]", "", "[3, 4]"])), "v0 v1: 1 2 NaN NaN 3 4");
    assert_eq!(taken("a.csv", "a,\"[1, 2]\"\nb,\"[3, 4]\"\n"), "y0 y1: 1 2 3 4");
    // The column itself and single elements can be selected.
    let sample = SampleFile::new("a.csv", csv("v", &["[1, 2]", "[3, 4]"]));
    assert_eq!(sample.table("v1,count").1, [2.0, 7.0, 4.0, 8.0]);
    assert!(matches!(
        sample.column("v").unwrap(),
        ColumnData::Categories { names, .. } if names == ["[1, 2]", "[3, 4]"]
    ));
    assert_eq!(sample.column("v1").unwrap(), ColumnData::Numbers(vec![2.0, 4.0]));
}

#[test]
fn unrelated_text_is_not_parsed_as_a_vector() {
    for cells in [
        ["(see 1, 2)", "[3] and [4]"],
        ["1,234 EUR", "2,345 EUR"],
        ["555 1234", "555 2345"],
        ["2020-01-02 10:00", "2020-01-03 11:30"],
        ["['a', 'b']", "['c', 'd']"],
        ["[{'id': 1, 'name': 'x'}]", "[]"],
        ["[28, 12]", "[3, 4, 5]"],
        ["(1)", "(2)"],
        [
            "d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2",
            "a2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2d2",
        ],
        ["192.168.0.1", "192.168.0.2"],
        ["aGVsbG8gd29ybGQhISEh", "AAAAAAAAAAAAAAAAAAAAAA=="],
        ["Point of sale", "polygon count"],
        [": 1 2", "= 3"],
    ] {
        assert_eq!(taken("a.csv", csv("genres", &cells)), "count: 7 8", "{cells:?}");
    }
    // Lists that are not vectors by their names.
    for name in ["input_ids", "bbox", "shape", "label_ids"] {
        assert_eq!(taken("a.csv", csv(name, &["[1, 2]", "[3, 4]"])), "count: 7 8", "{name}");
    }
}

#[test]
fn points_are_read_from_wkt_wkb_and_objects() {
    let globe = "where.longitude where.latitude: 11.5 48.25 -3 60";
    let big = |x: f64, y: f64| {
        [vec![0], 1u32.to_be_bytes().to_vec(), x.to_be_bytes().to_vec(), y.to_be_bytes().to_vec()].concat()
    };
    let ewkb = |x: f64, y: f64| {
        [vec![1], 0x2000_0001u32.to_le_bytes().to_vec(), 4326u32.to_le_bytes().to_vec(), little(&[x, y])]
            .concat()
    };
    let mysql = |x: f64, y: f64| [4326u32.to_le_bytes().to_vec(), wkb(1, &[x, y])].concat();
    for [first, second] in [
        ["POINT(11.5 48.25)", "POINT(-3 60)"].map(str::to_owned),
        ["Point (11.5  48.25)", " point(-3.0 60)"].map(str::to_owned),
        ["SRID=4326;POINT(11.5 48.25)", "srid=4326; POINT(-3 60)"].map(str::to_owned),
        ["POINT Z (11.5 48.25 500)", "POINTZ(-3 60 5)"].map(str::to_owned),
        ["POINT M (11.5 48.25 500)", "POINT ZM(-3 60 5 6)"].map(str::to_owned),
        ["POINT(11.5 48.25 500)", "POINT(-3 60)"].map(str::to_owned),
        [hex(&wkb(1, &[11.5, 48.25])), hex(&wkb(1, &[-3.0, 60.0]))],
        [
            format!("\\x{}", hex(&wkb(1001, &[11.5, 48.25, 9.0])).to_lowercase()),
            hex(&wkb(0x8000_0001, &[-3.0, 60.0, 9.0])),
        ],
        [hex(&wkb(2001, &[11.5, 48.25, 9.0])), hex(&wkb(0xc000_0001, &[-3.0, 60.0, 9.0, 9.0]))],
        [hex(&big(11.5, 48.25)), hex(&big(-3.0, 60.0))],
        [hex(&ewkb(11.5, 48.25)), hex(&ewkb(-3.0, 60.0))],
        [hex(&mysql(11.5, 48.25)), hex(&mysql(-3.0, 60.0))],
        [
            "{\"type\": \"Point\", \"coordinates\": [11.5, 48.25]}",
            "{'type': 'Point', 'coordinates': [-3, 60]}",
        ]
        .map(str::to_owned),
        ["{'lat': 48.25, 'lon': 11.5}", "{\"latitude\": \"60\", \"lng\": -3}"].map(str::to_owned),
    ] {
        assert_eq!(taken("a.csv", csv("where", &[&first, &second])), globe, "{first}");
        if !first.contains("lat") {
            let json =
                |cell: &str| format!("{{\"id\":7,\"where\":{}}}\n", serde_json::to_string(cell).unwrap());
            assert_eq!(taken("a.jsonl", json(&first) + &json(&second)), globe, "{first}");
        }
    }
    // Planar points, with heights in all rows or in none.
    let flat = |cells: [&str; 2]| taken("a.csv", csv("geom", &cells));
    assert_eq!(flat(["POINT(500000 48.5)", "POINT(1 2)"]), "geom.x geom.y: 500000 48.5 1 2");
    assert_eq!(
        flat(["POINT Z(500000 48.5 7)", "POINT Z(1 2 8)"]),
        "geom.x geom.y geom.z: 500000 48.5 7 1 2 8"
    );
    assert_eq!(flat(["SRID=25832;POINT(1 2)", "SRID=25832;POINT(3 4)"]), "geom.x geom.y: 1 2 3 4");
    assert_eq!(
        flat(["{'x': 1, 'y': 2, 'z': 3}", "{'x': 4, 'y': 5, 'z': 6}"]),
        "geom.x geom.y geom.z: 1 2 3 4 5 6"
    );
    assert_eq!(flat(["POINT EMPTY", "POINT(300 4)"]), "geom.x geom.y: NaN NaN 300 4");
}

#[test]
fn coordinate_pairs_become_longitude_and_latitude() {
    for (name, cells, want) in [
        (
            "location",
            ["(48.1, 11.6)", "(40.7, -73.9)"],
            "location.longitude location.latitude: 11.6 48.1 -73.9 40.7",
        ),
        (
            "Location 1",
            ["(40.7, -73.9)", "(40.8, -173.9)"],
            "Location 1.longitude Location 1.latitude: -73.9 40.7 -173.9 40.8",
        ),
        (
            "geo_point_2d",
            ["48.1, 11.6", "48.2, 11.7"],
            "geo_point_2d.longitude geo_point_2d.latitude: 11.6 48.1 11.7 48.2",
        ),
        ("latlng", ["48.1,11.6", "48.2,11.7"], "longitude latitude: 11.6 48.1 11.7 48.2"),
        ("lon_lat", ["[11.6, 48.1]", "[11.7, 48.2]"], "longitude latitude: 11.6 48.1 11.7 48.2"),
        ("gps", ["(111.6, 48.1)", "(11.7, 48.2)"], "gps.longitude gps.latitude: 111.6 48.1 11.7 48.2"),
        (
            "coordinates",
            ["[11.6123, 48.1]", "[11.7, 48.2]"],
            "coordinates.longitude coordinates.latitude: 11.6123 48.1 11.7 48.2",
        ),
        (
            "coordinates",
            ["(48.1234, 11.6)", "(48.2, 11.7)"],
            "coordinates.longitude coordinates.latitude: 11.6 48.1234 11.7 48.2",
        ),
        // Not places on the Earth.
        ("position", ["(12.5, 3.25)", "(11.5, 48.5)"], "position0 position1: 12.5 3.25 11.5 48.5"),
        ("location", ["(480.5, 11.5)", "(11.5, 480.5)"], "location0 location1: 480.5 11.5 11.5 480.5"),
        ("pair", ["(48.1, 11.6)", "(1.5, 2.5)"], "pair0 pair1: 48.1 11.6 1.5 2.5"),
    ] {
        assert_eq!(taken("a.csv", csv(name, &cells)), want);
    }
}

#[test]
fn unsupported_vector_types_are_refused() {
    for (cells, why) in [
        (
            &["POLYGON((0 0,1 0,1 1,0 0))", "POINT(1 2)"] as &[&str],
            "it holds a Polygon, and only points are read",
        ),
        (&["LINESTRING Z (0 0 1, 1 0 1)", "LINESTRING EMPTY"], "it holds a LineString"),
        (&["MULTIPOINT((0 0))", "MULTIPOINT((1 1))"], "it holds a MultiPoint"),
        (&["{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[1,0],[1,1],[0,0]]]}", ""], "it holds a Polygon"),
        (
            &["010300000001000000040000000000000000000000", "010300000001000000040000000000000000000000"],
            "it holds a Polygon",
        ),
        (&["[0.5, 1]", "[0.5, 1, 2]"], "it holds lists of 2 and of 3 numbers"),
        (&["[0.1 0.2 ... 0.3]", "[0.1 0.2 ... 0.3]"], "it holds a list abbreviated with `…`"),
        (&["[[0.1, 0.2], [0.3, 0.4]]", "[[0.1, 0.2], [0.3, 0.4]]"], "it holds a list of lists"),
        (&["[0.1, 0.2, 0.", "[0.1, 0.2, 0."], "it holds lists without a closing bracket"),
        (&["[0.1, 0.2]", "[0.1, 0.2]", "failed"], "some of its values are vectors and others are text"),
        (&["aGVsbG8gd29ybGQhISEh", "AAAAAAAAAAAAAAAAAAAAAA=="], "it holds packed bytes or base64"),
        (&["48°8'14\"N 11°34'31\"E", "48°8'14\"N 11°34'31\"E"], "it holds degrees, minutes and seconds"),
        (&["POINT(1 2)", "SRID=25832;POINT(1 2)"], "it holds points of several reference systems"),
    ] {
        let text = csv("embedding", cells);
        let message = taken("a.csv", &text);
        assert!(message.starts_with("column `embedding`: ") && message.contains(why), "{message}");
        assert!(message.ends_with("; --columns chooses others"), "{message}");
        let sample = SampleFile::new("a.csv", &text);
        assert_eq!(sample.table("count").1[..2], [7.0, 8.0], "chosen columns are read");
        assert!(sample.info().skipped.iter().any(|note| note.contains(why)), "{:?}", sample.info().skipped);
        // Named coordinates are searched.
        let named = text
            .lines()
            .map(|line| format!("{},{line}\n", if line.starts_with("count") { "x,y" } else { "1,2" }))
            .collect::<String>();
        assert!(taken("a.csv", named).starts_with("x y: 1 2 1 2"));
    }
    // Beyond the sampled rows.
    let rows = |last: &str| format!("n,v\n{}1,\"{last}\"\n", "0,\"[0.5, 1.5]\"\n".repeat(30_000));
    assert_eq!(
        taken("a.csv", rows("[1]")),
        "line 30002, record 30000, column `v`: it has 1 numbers, but earlier rows have 2; --columns chooses \
         others"
    );
    assert_eq!(
        taken("a.csv", rows("none?")),
        "line 30002, record 30000, column `v`: `none?` is not a list of numbers; --columns chooses others"
    );
    // Several candidates.
    let two = "id,one,two\n1,\"[1.5, 2]\",\"[3, 4.5]\"\n2,\"[5, 6.5]\",\"[7.5, 8]\"\n";
    assert_eq!(
        taken("a.csv", two),
        "several vectors: any of `one` (columns 3-4), `two` (columns 5-6) could be meant; --columns chooses \
         others"
    );
    assert_eq!(taken("a.csv", two.replace("two", "embedding")), "embedding0 embedding1: 3 4.5 7.5 8");
    assert_eq!(SampleFile::new("a.csv", two).table("3-4").1, [1.5, 2.0, 5.0, 6.5]);
}

#[test]
fn float_arrays_in_objects_are_preferred_as_vectors() {
    let line = |more: &str| format!("{{\"input_ids\":[1,2],\"scores\":[0.5,1],{more}}}\n");
    assert_eq!(taken("a.jsonl", line("\"bbox\":[1.5,2,3,4]")), "scores_0 scores_1: 0.5 1");
    assert_eq!(taken("a.jsonl", line("\"embedding\":[1,2]")), "embedding_0 embedding_1: 1 2");
    let message = taken("a.jsonl", line("\"other\":[1.5,2]"));
    assert_eq!(
        message,
        "several vectors: any of `scores` (columns 2-3), `other` (columns 4-5) could be meant; --columns \
         chooses others"
    );
    assert_eq!(
        taken("a.jsonl", "{\"velocity\":[1.5,2],\"position\":[3.5,4]}"),
        "position_0 position_1: 3.5 4"
    );
    // GeoJSON geometries, one per line or inside other objects.
    let geometry = |kind: &str, coordinates: &str| {
        format!("{{\"n\":1,\"at\":{{\"type\":\"{kind}\",\"coordinates\":{coordinates}}}}}\n")
    };
    assert_eq!(taken("a.jsonl", geometry("Point", "[11.5,48.5,500]")), "at.longitude at.latitude: 11.5 48.5");
    assert_eq!(SampleFile::new("a.jsonl", geometry("Point", "[11.5,48.5]")).table("at.latitude").1, [48.5]);
    assert!(
        taken("a.jsonl", geometry("LineString", "[[1,2],[3,4]]"))
            .starts_with("column `at`: it holds a LineString")
    );
    // An array of arrays has no columns to infer, unless some are named or text.
    let rows: String = (0..40)
        .map(|at| format!("[{},{},{}]", f64::from(at) * 0.37, f64::from(at).sqrt(), at % 3))
        .collect::<Vec<_>>()
        .join(",");
    assert!(taken("a.json", format!("[{rows}]")).starts_with("x y z: "));
}

#[test]
fn bar_separated_vectors_and_address_coordinates_are_read() {
    assert_eq!(
        taken("a.csv", csv("vector", &["0.5|-1.5|2.5", "1.5|0.5|0.25"])),
        "vector0 vector1 vector2: 0.5 -1.5 2.5 1.5 0.5 0.25"
    );
    let address = "1 Main St\nNew York, NY\n(40.75, -73.5)";
    assert_eq!(
        taken("a.csv", csv("Location", &[address, address])),
        "Location.longitude Location.latitude: -73.5 40.75 -73.5 40.75"
    );
}

#[test]
fn geojson_is_geographic_unless_another_crs_is_declared() {
    let features = |crs: &str, more: &str| {
        let point = "{\"type\":\"Feature\",\"properties\":{\"pop\":3MORE},\"geometry\":{\"type\":\"Point\",\
                     \"coordinates\":[11.5,48.5,500]}}";
        format!("{{\"type\":\"FeatureCollection\",\"features\":[{}]{crs}}}", point.replace("MORE", more))
    };
    assert_eq!(taken("a.geojson", features("", "")), "longitude latitude: 11.5 48.5");
    let named = |name: &str| {
        features(&format!(",\"crs\":{{\"type\":\"name\",\"properties\":{{\"name\":\"{name}\"}}}}"), "")
    };
    assert_eq!(taken("a.geojson", named("urn:ogc:def:crs:OGC:1.3:CRS84")), "longitude latitude: 11.5 48.5");
    assert_eq!(taken("a.geojson", named("urn:ogc:def:crs:OGC:1.3:CRS83")), "longitude latitude: 11.5 48.5");
    assert_eq!(taken("a.geojson", named("ogc:crs27")), "longitude latitude: 11.5 48.5");
    assert_eq!(taken("a.geojson", named("urn:ogc:def:crs:EPSG::25832")), "x y z: 11.5 48.5 500");
    // The previous names, and properties with these names.
    let sample = SampleFile::new("a.geojson", features("", ",\"latitude\":1,\"longitude\":2"));
    assert_eq!(sample.table("x,y,z,latitude").1, [11.5, 48.5, 500.0, 1.0]);
    assert_eq!(sample.table("").0, names(&["geometry.longitude", "geometry.latitude"]));
}

/// A Parquet file with a count and other columns, and schema metadata.
fn parquet(columns: Vec<(Field, ArrayRef)>, geo: &str) -> Vec<u8> {
    let rows = columns[0].1.len();
    let count: ArrayRef = Arc::new(Int64Array::from_iter_values(7..7 + rows as i64));
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
        std::iter::once((Field::new("count", DataType::Int64, false), count)).chain(columns).unzip();
    let schema = Arc::new(Schema::new(fields));
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, Arc::clone(&schema), None).unwrap();
    if !geo.is_empty() {
        writer.append_key_value_metadata(::parquet::file::metadata::KeyValue::new(
            "geo".to_owned(),
            geo.to_owned(),
        ));
    }
    writer.write(&RecordBatch::try_new(schema, arrays).unwrap()).unwrap();
    writer.close().unwrap();
    out
}

fn column_of(name: &str, array: ArrayRef) -> (Field, ArrayRef) {
    (Field::new(name, array.data_type().clone(), true), array)
}

/// Lists of the same numbers.
fn lists(values: &[&[f64]]) -> ArrayRef {
    let mut builder = ListBuilder::new(Float64Builder::new());
    values.iter().for_each(|list| builder.append_value(list.iter().copied().map(Some)));
    Arc::new(builder.finish())
}

#[test]
fn geoparquet_uses_its_crs() {
    let points = |numbers: [&[f64]; 2]| -> ArrayRef {
        Arc::new(BinaryArray::from_iter_values(
            numbers.map(|numbers| wkb(if numbers.len() > 2 { 1001 } else { 1 }, numbers)),
        ))
    };
    let geo = |crs: &str| {
        format!(
            "{{\"version\":\"1.0.0\",\"primary_column\":\"geometry\",\"columns\":{{\"geometry\":\
             {{\"encoding\":\"WKB\"{crs}}}}}}}"
        )
    };
    let table = |numbers: [&[f64]; 2], geo: &str| {
        taken("a.parquet", parquet(vec![column_of("geometry", points(numbers))], geo))
    };
    let (globe, plane) = ("geometry.longitude geometry.latitude: 1 2 3 4", "geometry.x geometry.y: 1 2 3 4");
    let near: [&[f64]; 2] = [&[1.0, 2.0], &[3.0, 4.0]];
    for (crs, want) in [
        ("", globe),
        (",\"crs\":null", globe),
        (
            ",\"crs\":{\"type\":\"GeographicCRS\",\"name\":\"ETRS89\",\"id\":{\"authority\":\"EPSG\",\
             \"code\":4258}}",
            globe,
        ),
        (
            ",\"crs\":{\"type\":\"ProjectedCRS\",\"name\":\"UTM 32N\",\"id\":{\"authority\":\"EPSG\",\
             \"code\":25832}}",
            plane,
        ),
        (
            ",\"crs\":{\"type\":\"CompoundCRS\",\"name\":\"c\",\"components\":[{\"type\":\"ProjectedCRS\",\
             \"name\":\"UTM 32N\"}]}",
            plane,
        ),
        (",\"crs\":\"PROJCS[\\\"UTM\\\",GEOGCS[\\\"WGS 84\\\"]]\"", plane),
        (",\"crs\":\"GEOGCRS[\\\"WGS 84\\\"]\"", globe),
    ] {
        assert_eq!(table(near, &geo(crs)), want, "{crs}");
    }
    // Without metadata, the value range decides; heights are omitted.
    assert_eq!(table(near, ""), globe);
    assert_eq!(table([&[1.0, 200.0], &[3.0, 4.0]], ""), "geometry.x geometry.y: 1 200 3 4");
    assert_eq!(table([&[1.0, 2.0, 9.0], &[3.0, 4.0, 9.0]], &geo("")), globe);
    // Polygons are rejected, and the primary column of the file is used.
    let polygons: ArrayRef = Arc::new(BinaryArray::from_iter_values([wkb(3, &[0.0]), wkb(3, &[0.0])]));
    let message = taken("a.parquet", parquet(vec![column_of("geometry", polygons)], &geo("")));
    assert!(message.starts_with("column `geometry`: it holds a Polygon"), "{message}");
    let both =
        vec![column_of("other", points([&[8.0, 8.0], &[8.0, 8.0]])), column_of("geometry", points(near))];
    assert_eq!(taken("a.parquet", parquet(both, &geo(""))), globe);
    let other: ArrayRef = Arc::new(BinaryArray::from_iter_values([b"abc", b"def"]));
    assert_eq!(taken("a.parquet", parquet(vec![column_of("hash", Arc::clone(&other))], "")), "count: 7 8");
    let message = taken("a.parquet", parquet(vec![column_of("embedding", other)], ""));
    assert!(message.starts_with("column `embedding`: it holds packed bytes"), "{message}");
}

#[test]
fn geoarrow_points_are_read_from_structs_and_lists() {
    let number = |values: [f64; 2]| -> ArrayRef { Arc::new(Float64Array::from(values.to_vec())) };
    let structure = |names: [&str; 2]| -> ArrayRef {
        let field = |name: &str| Arc::new(Field::new(name, DataType::Float64, true));
        Arc::new(StructArray::from(vec![
            (field(names[0]), number([1.0, 3.0])),
            (field(names[1]), number([2.0, 4.0])),
        ]))
    };
    let (globe, plane) = ("geometry.longitude geometry.latitude: 1 2 3 4", "geometry.x geometry.y: 1 2 3 4");
    assert_eq!(taken("a.parquet", parquet(vec![column_of("geometry", structure(["x", "y"]))], "")), plane);
    assert_eq!(
        taken("a.parquet", parquet(vec![column_of("geometry", structure(["lon", "lat"]))], "")),
        globe
    );
    let extension = |(field, array): (Field, ArrayRef), name: &str, crs: &str| {
        let metadata = [("ARROW:extension:name", name), ("ARROW:extension:metadata", crs)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()));
        vec![(field.with_metadata(HashMap::from(metadata)), array)]
    };
    let known = |crs: &str| {
        taken(
            "a.parquet",
            parquet(extension(column_of("geometry", structure(["x", "y"])), "geoarrow.point", crs), ""),
        )
    };
    assert_eq!(known("{\"crs\":\"EPSG:4326\"}"), globe);
    assert_eq!(known("{}"), plane);
    let mut builder = FixedSizeListBuilder::new(Float64Builder::new(), 2);
    for pair in [[1.0, 2.0], [3.0, 4.0]] {
        builder.values().append_slice(&pair);
        builder.append(true);
    }
    let interleaved = column_of("geometry", Arc::new(builder.finish()));
    assert_eq!(taken("a.parquet", parquet(vec![interleaved.clone()], "")), "geometry0 geometry1: 1 2 3 4");
    let known = extension(
        interleaved,
        "geoarrow.point",
        "{\"crs\":{\"type\":\"GeographicCRS\",\"name\":\"WGS 84\"}}",
    );
    assert_eq!(taken("a.parquet", parquet(known, "")), globe);
}

#[test]
fn float_list_columns_are_preferred_as_vectors() {
    let mut tokens = ListBuilder::new(Int64Builder::new());
    (0..2).for_each(|_| tokens.append_value([Some(101), Some(7)]));
    let tokens = || column_of("input_ids", Arc::new(tokens.finish_cloned()));
    let floats = |name: &str| column_of(name, lists(&[&[0.5, 1.0], &[2.0, 3.0]]));
    let table = |columns: Vec<(Field, ArrayRef)>| taken("a.parquet", parquet(columns, ""));
    assert_eq!(table(vec![tokens(), floats("v")]), "v0 v1: 0.5 1 2 3");
    assert_eq!(table(vec![floats("bbox"), floats("v"), tokens()]), "v0 v1: 0.5 1 2 3");
    assert_eq!(
        table(vec![floats("scores"), floats("text_embedding")]),
        "text_embedding0 text_embedding1: 0.5 1 2 3"
    );
    let message = table(vec![floats("title"), floats("body")]);
    assert_eq!(
        message,
        "several vectors: any of `title` (columns 1-2), `body` (columns 3-4) could be meant; --columns \
         chooses others"
    );
    // Texts with vectors are read, also after rows without one, unless a list is the vector by name.
    let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("[0.5, 1.5]")]));
    assert_eq!(table(vec![column_of("embedding", texts)]), "embedding0 embedding1: NaN NaN 0.5 1.5");
    // Lists of lists are rejected, unless another list is the vector by name.
    let mut nested = ListBuilder::new(ListBuilder::new(Float64Builder::new()));
    for _ in 0..2 {
        nested.values().append_value([Some(0.5)]);
        nested.append(true);
    }
    let nested = || column_of("tokens_emb", Arc::new(nested.finish_cloned()));
    assert_eq!(
        table(vec![nested()]),
        "column `tokens_emb`: it holds lists of lists, not of numbers; --columns chooses others"
    );
    let index = column_of("__index_level_0__", Arc::new(Float64Array::from(vec![0.5, 0.5])));
    assert_eq!(table(vec![index]), "count: 7 8");
}

#[test]
fn crs_codes_and_notations_are_recognised() {
    let degrees = |text: &str| Crs::of_json(&serde_json::from_str(text).unwrap()).map(|crs| crs.geographic);
    for text in [
        "\"OGC:CRS84\"",
        "\"EPSG:4326\"",
        "\"http://www.opengis.net/def/crs/OGC/1.3/CRS84\"",
        "\"GEOGCS[\\\"NAD83\\\"]\"",
        "{\"type\":\"GeographicCRS\"}",
    ] {
        assert_eq!(degrees(text), Some(true), "{text}");
    }
    for text in [
        "\"EPSG:3857\"",
        "\"EPSG:32632\"",
        "\"PROJCRS[\\\"a\\\",BASEGEOGCRS[\\\"b\\\"]]\"",
        "{\"type\":\"ProjectedCRS\",\"name\":\"a\"}",
    ] {
        assert_eq!(degrees(text), Some(false), "{text}");
    }
    assert_eq!(
        (degrees("null"), degrees("{}"), degrees("\"\""), degrees("{\"type\":\"CompoundCRS\"}")),
        (None, None, None, None)
    );
    let bound = "{\"type\":\"BoundCRS\",\"source_crs\":{\"type\":\"GeographicCRS\",\"name\":\"a\"},\
                 \"target_crs\":{\"type\":\"ProjectedCRS\"}}";
    assert_eq!(
        (degrees(bound), degrees("\"{\\\"type\\\":\\\"ProjectedCRS\\\"}\"")),
        (Some(true), Some(false))
    );
}

/// Damaged cells never panic. Only lists and points return numbers.
#[test]
fn damaged_cells_never_panic() {
    let cells = [
        "[np.float64(0.5), 2]",
        "SRID=4326;POINT ZM(1 2 3 4)",
        "{'lat': 1, 'lon': '2'}",
        "array([1, 2], dtype=float32)",
        "é°…(1,2",
    ];
    let binary =
        [wkb(1, &[1.0, 2.0]), wkb(3001, &[1.0, 2.0, 3.0, 4.0]), wkb(0xe000_0001, &[1.0, 2.0, 3.0, 4.0])];
    let mut numbers = Vec::new();
    for (cell, is_binary) in
        cells.iter().map(|cell| (cell.as_bytes(), false)).chain(binary.iter().map(|cell| (&cell[..], true)))
    {
        for at in 0..cell.len() {
            for byte in [0, b'(', b'[', b')', b'=', b':', b'.', b'\'', b'9', b'e', 0xff] {
                let mut damaged = cell.to_vec();
                damaged[at] = byte;
                for cell in [&damaged[..], &damaged[..at], &damaged[at..]] {
                    let content = parse(cell, is_binary, &mut numbers);
                    let holds = matches!(content, CellContent::List(_) | CellContent::Point(_));
                    assert_eq!(holds, !numbers.is_empty(), "{:?}", String::from_utf8_lossy(cell));
                }
            }
        }
    }
}

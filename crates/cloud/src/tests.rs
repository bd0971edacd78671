//! Queries from a file, in the frame of the data.

use super::*;
use crate::progress::NoProgress;

/// A cloud with these column names and row-major values.
pub fn cloud(names: &[&str], values: Vec<f64>) -> PointCloud {
    let columns = names.iter().map(|&name| Column { name: name.to_owned() }).collect();
    PointCloud::from_table(
        Table { columns, values },
        Source::Generate { spec: "test".to_owned(), seed: 0 },
        None,
        false,
    )
    .unwrap()
}

/// The queries of one file against the data of another: the names of their axes and their first point, or the
/// error.
fn queries(data: &str, columns: &str, asked: &str) -> Result<(Vec<String>, Vec<f64>), String> {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str, columns: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Source::File { path, columns: columns.parse().unwrap() }
    };
    let data = load(&file("d.csv", data, columns), false, &NoProgress).unwrap();
    let cloud =
        load_queries(&file("q.csv", asked, ""), &data, false, &NoProgress).map_err(|why| why.to_string())?;
    let names = cloud.axes().iter().map(|axis| axis.name.clone()).collect();
    Ok((names, (0..cloud.dims()).map(|axis| cloud.coordinate(0, axis)).collect()))
}

#[test]
fn selected_query_columns_are_matched_by_name() {
    let data = "lat,lon\n10,100\n20,120\n";
    let error = queries(data, "lat,lon", "latitude,longitude\n10,100\n").unwrap_err();
    assert!(
        error.starts_with(
            "column `lat`: not found; available: 0 `latitude`, 1 `longitude`; name the columns like the \
             data's"
        ),
        "{error}"
    );
    assert!(error.ends_with("q.csv"), "{error}");
    // The same names in another order, with additional columns.
    let found = queries(data, "lat,lon", "lon,id,lat\n100,7,10\n").unwrap();
    assert_eq!(found, (vec!["lat".to_owned(), "lon".to_owned()], vec![10.0, 100.0]));
}

#[test]
fn default_columns_are_chosen_for_each_file() {
    let found = queries("lat,lon\n10,100\n20,120\n", "", "latitude,longitude\n10,100\n").unwrap();
    assert_eq!(found, (vec!["longitude".to_owned(), "latitude".to_owned()], vec![100.0, 10.0]));
    assert_eq!(queries("a,a\n1,2\n", "", "a,a\n3,4\n").unwrap().1, [3.0, 4.0]);
    assert_eq!(queries("a,b\n1,2\n", "", "3,4\n").unwrap().1, [3.0, 4.0]);
}

#[test]
fn unnamed_queries_must_match_the_data_dimensions() {
    let error = queries("1,2\n3,4\n", "", "5,6,7\n").unwrap_err();
    assert!(error.starts_with("queries have 3 dimensions, but the data has 2"), "{error}");
    let error = queries("1,2,3,4\n", "", "5,6,7,8,9\n").unwrap_err();
    assert!(error.starts_with("queries have 5 dimensions, but the data has 4"), "{error}");
    // If the query file has column names, they are used.
    assert_eq!(queries("x,y\n1,2\n", "", "y,z,x\n6,7,5\n").unwrap().1, [5.0, 6.0]);
}

#[test]
fn geographic_queries_need_geographic_data() {
    let globe = "longitude,latitude\n1,2\n3,4\n";
    let error = queries(globe, "", "size,score\n7,0.5\n").unwrap_err();
    assert!(
        error.starts_with(
            "query columns (size, score) do not match data columns (longitude, latitude); if they do \
             correspond, select both by number"
        ),
        "{error}"
    );
    let error = queries("easting,northing\n1,2\n", "", "lon,lat\n7,0.5\n").unwrap_err();
    assert!(
        error.starts_with("query columns (lon, lat) do not match data columns (easting, northing)"),
        "{error}"
    );
    assert_eq!(queries(globe, "", "lat,lon\n5,6\n").unwrap().1, [6.0, 5.0]);
    assert_eq!(queries(globe, "", "5,6\n").unwrap().1, [5.0, 6.0], "without names");
    assert_eq!(queries("a,b\n1,2\n", "", "c,d\n5,6\n").unwrap().1, [5.0, 6.0], "neither is geographic");
}

#[test]
fn errors_in_the_query_file_are_reported() {
    let error = queries("a,b\n1,2\n", "", "b,a,c\n3,x,5\n").unwrap_err();
    assert!(error.starts_with("line 2, record 0, column `a`: `x` is not a number"), "{error}");
    let error = queries("a,b\n1,2\n", "", "a,b,b\n3,4,5\n").unwrap_err();
    assert!(error.starts_with("column `b`: 2 columns have this name"), "{error}");
    let error = queries("a,b\n1,2\n", "", "a,b\n3,\n").unwrap_err();
    assert!(error.starts_with("line 2, row 0, column `b`: the value is NaN"), "{error}");
}

#[test]
fn integers_beyond_f64_precision_are_preserved() {
    let folder = tempfile::tempdir().unwrap();
    // The shortest decimal of the last one's f64 is another integer.
    let integers = [9_007_199_254_740_993i64, 9_007_199_254_740_992, -9_007_199_254_740_995, 7, 1 << 60];
    let csv = folder.path().join("a.csv");
    let lines = integers.map(|value| format!("{value},0.1\n")).concat();
    std::fs::write(&csv, format!("x,y\n{lines}")).unwrap();
    let npy = folder.path().join("a.npy");
    let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (5, 2), }";
    let header = format!("{header}{}\n", " ".repeat(117 - header.len()));
    let data = integers.map(|value| [value.to_le_bytes(), 3i64.to_le_bytes()].concat()).concat();
    let head = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..]].concat();
    std::fs::write(&npy, [head, header.into_bytes(), data].concat()).unwrap();
    let json = folder.path().join("a.json");
    let records = integers.map(|value| format!("{{\"x\": 1, \"x\": {value}, \"y\": 0.1}}")).join(",\n");
    std::fs::write(&json, format!("[{records}]")).unwrap();
    for path in [csv, npy, json] {
        let source = Source::File { path, columns: ColumnChoice::Default };
        let cloud = load(&source, false, &NoProgress).unwrap();
        assert!(cloud.has_long_decimals());
        for (row, integer) in integers.into_iter().enumerate() {
            let found = match cloud.value(row, 0) {
                FileValue::Binary(value) => value as i128,
                FileValue::Decimal { mantissa, exponent } => mantissa * 10i128.pow(exponent as u32),
            };
            assert_eq!(found, i128::from(integer), "{source}");
        }
    }
}

#[test]
fn decimals_of_more_than_15_digits_are_preserved() {
    let folder = tempfile::tempdir().unwrap();
    let value = |decimal: &str| FileValue::parse_decimal(decimal).unwrap();
    for (name, text) in [
        (
            "a.csv",
            "id,y,x\nA,2,0.30000000000000001\nB,,9\nC,0.30000000000000001,0.3\nD,2,0.30000000000000001\n",
        ),
        ("b.csv", "y;x\n2;0,30000000000000001\n;9\n0,30000000000000001;0,3\n2;0,30000000000000001\n"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let columns = ColumnChoice::Named(vec!["x".to_owned(), "y".to_owned()]);
        let cloud = load(&Source::File { path, columns }, true, &NoProgress).unwrap();
        let rows =
            [["0.30000000000000001", "2"], ["0.3", "0.30000000000000001"], ["0.30000000000000001", "2"]];
        for (row, decimals) in rows.into_iter().enumerate() {
            assert_eq!([0, 1].map(|axis| cloud.value(row, axis)), decimals.map(value), "{name}, row {row}");
        }
        assert_eq!(cloud.coordinate(0, 0), cloud.coordinate(1, 0));
        assert!(cloud.rows_are_equal(0, 2) && !cloud.rows_are_equal(0, 1));
        assert_eq!(cloud.decimal_places(), None, "integers of a common unit would be rounded");
    }
    let path = folder.path().join("c.csv");
    std::fs::write(&path, "x\n0.3\n0.30000000000000001\n0.3\n0.300000000000000005\n").unwrap();
    let cloud = load(&Source::File { path, columns: ColumnChoice::Default }, false, &NoProgress).unwrap();
    assert_eq!(cloud.duplicates(), Duplicates { before_rounding: 1, after_rounding: 3 });
}

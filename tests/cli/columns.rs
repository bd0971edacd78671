//! Which columns commands use, and their notes about it.

use std::fmt::Write as _;

use super::{TestDir, json};

/// Beacons: half have no height, and one in ten has a second position.
fn beacons() -> String {
    let mut text = "id,ident,frequency_khz,latitude_deg,longitude_deg,elevation_ft,dme_latitude_deg,\
                    dme_longitude_deg\n"
        .to_owned();
    for at in 0..40 {
        let (latitude, longitude) = (f64::from(at) * 1.5 - 30.0, f64::from(at * 7 % 40) * 8.5 - 160.0);
        let height = if at % 2 == 0 { String::new() } else { (at * 10).to_string() };
        let second = if at % 10 == 1 { format!("{latitude},{longitude}") } else { ",".to_owned() };
        writeln!(text, "{},N{at},{},{latitude},{longitude},{height},{second}", 85_000 + at, 300 + at % 5)
            .unwrap();
    }
    text
}

#[test]
fn knn_reports_inferred_coordinates() {
    let place = TestDir::new();
    place.write("beacons.csv", &beacons());
    let done = place.ok("knn beacons.csv rows:1 -k 2 --engine kdtree --json");
    let report = json(&done.stdout);
    assert_eq!(
        (&report["columns"], &report["points"]),
        (&serde_json::json!(["longitude_deg", "latitude_deg"]), &40.into())
    );
    assert_eq!(report["metric"], "haversine");
    let note = "note: searches longitude_deg, latitude_deg (by name), not id (id), dme_latitude_deg, \
                dme_longitude_deg (mostly empty), frequency_khz, elevation_ft (other numbers); override \
                with --columns\n";
    assert_eq!((done.searches.as_str(), report["columns_by"].as_str()), (note, Some("by name")));
    assert_eq!(
        place.ok("knn beacons.csv rows:1 -k 2 --engine kdtree -o - --quiet").searches,
        note,
        "names alone do not imply coordinates"
    );
    // The same columns chosen explicitly, then others.
    let chosen =
        place.ok("knn beacons.csv rows:1 -k 2 --engine kdtree --json --columns longitude_deg,latitude_deg");
    assert_eq!((chosen.searches.as_str(), &json(&chosen.stdout)["columns_by"]), ("", &"--columns".into()));
    assert_eq!(json(&chosen.stdout)["columns"], report["columns"]);
    assert_eq!(
        json(
            &place
                .ok("knn beacons.csv rows:1 -k 2 --engine kdtree \
                     --json --columns 2")
                .stdout
        )["dimensions"],
        1
    );
}

#[test]
fn labels_and_ids_are_not_coordinates() {
    let place = TestDir::new();
    let rows: String = (0..60)
        .map(|at| format!("{},{},{},{}\n", 100 + at, at * 7 % 50, f64::from(at * 11 % 50) * 0.5, at % 3))
        .collect();
    place.write("plants.csv", &format!("plant_id,width,height,class\n{rows}"));
    let done = place.ok("knn plants.csv all -k 3 --engine kdtree --json");
    assert_eq!(json(&done.stdout)["columns"], serde_json::json!(["width", "height"]));
    let note = "note: searches width, height (by value), not class (label), plant_id (id); override with \
                --columns\n";
    assert_eq!(done.searches, note);
    // All commands follow the same rule.
    let run =
        place.ok("run --input plants.csv --queries all --k 3 --engine kdtree --warmup 0 --repeats 1 --json");
    assert_eq!((&json(&run.stdout)["summary"]["d"], run.searches.as_str()), (&2.into(), note));
    for command in [
        "analyse plants.csv -k 3 --density",
        "verify --input plants.csv --queries all --k 3",
        "sweep --input plants.csv --q 2 --k 1",
    ] {
        assert_eq!(place.ok(&format!("{command} --engine kdtree")).searches, note, "{command}");
    }
    let refused = place.fails(1, "knn plants.csv --columns none");
    assert!(refused.starts_with("column `none`"), "{refused}");
    place.write("ids.csv", "id,name\n1,a\n2,b\n3,c\n");
    let refused = place.fails(1, "knn ids.csv -k 1");
    assert_eq!(refused, "no coordinates: the numeric columns are id (id); --columns chooses others: ids.csv");
    // The heading alone decides the role of columns that are not read.
    place.write("scan.csv", "x,y,point_id,mass,name\n1,2,7,0.5,a\n3,4,8,0.5,b\n");
    let note =
        "note: searches x, y (by name), not point_id (id), mass (other numbers); override with --columns\n";
    assert_eq!(place.ok("knn scan.csv all -k 1 --engine kdtree --json").searches, note);
    place.write("plane.csv", "width,height\n1,2\n3,4\n5,9\n");
    let note = "note: searches width, height (all numeric columns); override with --columns\n";
    assert_eq!(place.ok("knn plane.csv all -k 1 --engine kdtree --json --quiet").searches, note);
    let vectors: String =
        (0..60).map(|at| format!("{} {} {}\n", at * 7 % 50, at * 11 % 50, at % 3)).collect();
    place.write("vectors.txt", &vectors);
    place.ok("generate uniform:n=9,d=2 plane.fvecs");
    let note = "note: searches x, y (every value of a row); override with --columns\n";
    assert_eq!(place.ok("knn plane.fvecs all -k 1 --engine kdtree --json").searches, note);
    assert_eq!(
        place.ok("knn plane.fvecs all -k 1 --engine kdtree --json --quiet").searches,
        "",
        "nothing was inferred"
    );
    assert_eq!(
        json(&place.ok("knn vectors.txt all -k 1 --engine kdtree --json").stdout)["columns"],
        serde_json::json!(["x", "y"])
    );
}

#[test]
fn query_columns_are_matched_to_data_columns() {
    let place = TestDir::new();
    place.write("beacons.csv", &beacons());
    place.write("same.csv", "note,latitude_deg,longitude_deg\n7,0.5,10\n");
    place.write("other.csv", "note,lat,lon\n7,0.5,10\n");
    place.write("three.csv", "a,b,c\n7,0.5,10\n");
    let rows =
        |queries: &str| place.ok(&format!("knn beacons.csv {queries} -k 5 --engine kdtree --out -")).stdout;
    // Rows have a number and positions do not.
    let without_row = |table: String| table.replace("query,query_row,", "query,").replace("\n0,0,", "\n0,");
    let expected = rows("at:0.5,10");
    assert_eq!((without_row(rows("same.csv")), without_row(rows("other.csv"))), (expected.clone(), expected));
    let refused = place.fails(1, "knn beacons.csv three.csv -k 5");
    assert!(refused.starts_with("queries have 3 dimensions, but the data has 2"), "{refused}");
}

#[test]
fn errors_about_missing_values_suggest_columns_first() {
    let place = TestDir::new();
    place.write("beacons.csv", &beacons());
    place.ok("run --input beacons.csv --engine kdtree --warmup 0 --repeats 1");
    // Each of two columns lacks a value in 40 % of the rows, in different rows.
    let rows: String = (0..20)
        .map(|at| {
            format!(
                "{at},{},{},{}\n",
                at * 7 % 11,
                if at % 5 < 2 { "" } else { "3" },
                if at % 5 > 2 { "" } else { "4" }
            )
        })
        .collect();
    place.write("holes.csv", &format!("a,b,c,d\n{rows}"));
    let refused = place.fails(1, "run --input holes.csv --engine kdtree");
    assert_eq!(
        refused,
        "line 2, row 0, column `c`: the value is NaN; --columns a,b selects columns without such values, \
         --drop-nonfinite drops such rows (4 of 20 remain): holes.csv"
    );
    // One missing value in many rows does not exclude a column.
    place.write("hole.csv", "a,b\n1,2\n3,\n5,6\n7,8\n");
    for command in ["knn hole.csv", "run --input hole.csv"] {
        let refused = place.fails(1, command);
        assert_eq!(
            refused,
            "line 3, row 1, column `b`: the value is NaN; --drop-nonfinite drops such rows (3 of 4 remain): \
             hole.csv"
        );
    }
}

#[test]
fn info_lists_the_role_of_each_column() {
    let place = TestDir::new();
    place.write("beacons.csv", &beacons());
    let report = json(&place.ok("info beacons.csv --json").stdout);
    let roles: Vec<&str> =
        report["columns"].as_array().unwrap().iter().map(|column| column["role"].as_str().unwrap()).collect();
    assert_eq!(
        roles,
        ["id", "text", "other", "coordinate", "coordinate", "other", "mostly_empty", "mostly_empty"]
    );
    assert_eq!(
        (&report["schema_version"], &report["guessed_columns"], &report["cloud"]["dims"]),
        (&2.into(), &serde_json::json!([4, 3]), &2.into())
    );
    assert!(report["cloud"].get("duplicates").is_none(), "not requested");
    let text = place.ok("info beacons.csv").stdout;
    assert!(
        text.contains("searches longitude_deg, latitude_deg (by name), not id (id)")
            && !text.contains("duplicate"),
        "{text}"
    );
    // Rounded to f32, the first two are equal.
    place.write("near.csv", "x,y\n0.1,0\n0.10000000001,0\n3,4\n3,4\n");
    let counted = serde_json::json!({"before_rounding": 1, "after_rounding": 2});
    assert_eq!(json(&place.ok("info near.csv --duplicates --json").stdout)["cloud"]["duplicates"], counted);
    let text = place.ok("info near.csv --duplicates").stdout;
    assert!(
        text.contains("2 duplicates as 32-bit floats, 1 as in the file (points less distinct points)"),
        "{text}"
    );
}

#[test]
fn duplicate_coordinate_columns_are_refused() {
    let place = TestDir::new();
    place.write("plane.csv", "x,y\n1,2\n3,4\n");
    for (columns, twice) in [("x,0", "0"), ("x,y,X", "X"), ("1,01", "01")] {
        for command in ["knn plane.csv", "run --input plane.csv", "analyse plane.csv --density"] {
            let refused = place.fails(2, &format!("{command} --columns {columns}"));
            assert_eq!(
                refused,
                format!("column `{twice}` given twice, by different names: plane.csv"),
                "{command}"
            );
        }
    }
    place.write("cases.csv", "x,X\n1,2\n3,4\n");
    assert!(place.ok("knn cases.csv -k 1 --columns x,X").stdout.contains("2 dimensions"), "these are two");
    for (columns, twice) in [("x,y,x", "x"), ("0-1,1", "1")] {
        let refused = place.fails(2, &format!("knn plane.csv --columns {columns}"));
        assert!(refused.contains(&format!("column `{twice}` given twice")), "{refused}");
    }
}

#[test]
fn lines_before_a_table_are_skipped() {
    let place = TestDir::new();
    let table = "name,lon,lat\na,0,0\nb,3,4\nc,1,x\n";
    place.write("plain.csv", table);
    let preface = "Measured in May, by hand; see the report\nstation 7, \"open quote\n\n";
    let written = |name: &str, text: &str| place.write(name, text);
    written("headed.csv", &format!("{preface}{table}"));
    written("marked.csv", &format!("\u{feff}{preface}{table}"));
    written("old.csv", &format!("{preface}{table}").replace('\n', "\r"));
    let fails = |args: &str| place.fails(1, &format!("run --input {args} --columns lon,lat"));
    assert_eq!(fails("plain.csv"), "line 4, record 2, column `lat`: `x` is not a number: plain.csv");
    for name in ["headed.csv", "marked.csv", "old.csv"] {
        // Lines are counted from 1, as in an editor.
        assert_eq!(
            fails(&format!("{name} --skip-lines 3")),
            format!("line 7, record 2, column `lat`: `x` is not a number: {name}")
        );
    }
    let numbers = "1,2\n3,4\n5,9\n";
    written("numbers.txt", &format!("{preface}{numbers}"));
    for command in [
        "knn numbers.txt rows:1 -k 1 --engine kdtree --json",
        "analyse numbers.txt -k 1 --engine kdtree --density --json",
    ] {
        let report = json(&place.ok(&format!("{command} --skip-lines 3")).stdout);
        assert_eq!(report["points"], 3, "{command}: {report}");
    }
    // Joined columns come from the same lines.
    let beside = place.ok("knn headed.csv rows:1 -k 1 --columns lon --skip-lines 3 --with name -o -").stdout;
    assert_eq!(beside.lines().nth(1).and_then(|row| row.rsplit(',').next()), Some("b"), "{beside}");
    let run = json(
        &place
            .ok("run --input numbers.txt --skip-lines 3 --queries all --k 1 --engine kdtree --warmup 0 \
                 --repeats 1 --json")
            .stdout,
    );
    // The record stores the lines, so that it can find its points again.
    assert_eq!(
        (&run["summary"]["n"], &run["spec"]["data"]["file"]["path"]),
        (&3.into(), &"numbers.txt:skip-lines=3".into())
    );
    let info = place.ok("info numbers.txt:skip-lines=3").stdout;
    assert!(
        info.contains("3 points × 2 dimensions") && info.contains("lines skipped before the table: 3"),
        "{info}"
    );
    for (count, lines) in [(6, 6), (7, 6), (1_000_000, 6)] {
        let refused = place.fails(1, &format!("knn numbers.txt --skip-lines {count}"));
        assert_eq!(refused, format!("skip-lines={count}: the file has only {lines}: numbers.txt"));
    }
    place.ok("generate uniform:n=9,d=2 plane.npy");
    let refused = place.fails(1, "knn plane.npy --skip-lines 2");
    assert_eq!(refused, "skip-lines: a NumPy array is not read line by line; only text is: plane.npy");
    assert!(place.fails(2, "knn numbers.txt --skip-lines -1").contains("--skip-lines"));
}

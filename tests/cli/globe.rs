//! Longitude and latitude on the command line: `--metric haversine`, and the hint if another metric is used.

use super::{TestDir, json, table};

/// Woodburn, Iowa, and places around it. The second is nearer in degrees and farther in kilometres. One lies
/// at the antimeridian.
const PLACES: &str = "name,latitude,longitude\nWoodburn,41.029822,-93.614875\neast,41.029822,-93.250875\n\
                      north,41.359822,-93.614875\nFiji,-17.0,179.9\n";

const NOTE: &str = "note: longitude and latitude: using metric haversine, in km; --metric l2 treats degrees \
                    as plane coordinates\n";

#[test]
fn the_globe_hint_is_printed_once() {
    let place = TestDir::new();
    place.write("places.csv", PLACES);
    let search = "--input places.csv --warmup 0 --repeats 1";
    for (args, said) in [
        (format!("run {search} --queries all --k 2 --engine kdtree"), 1),
        (format!("sweep {search} --q 2,3 --k 1,2 --engine kdtree,lockstep"), 1),
        ("verify --input places.csv --queries all --k 2 --engine kdtree".to_owned(), 1),
        (format!("run {search} --queries all --k 2 --engine kdtree --metric l2"), 0),
        (format!("run {search} --queries all --k 2 --engine kdtree --metric haversine"), 0),
        (format!("run {search} --queries all --k 2 --engine kdtree --metric angular"), 0),
        (
            "run --generate uniform:n=9,d=2 --queries all --k 2 --engine kdtree --warmup 0 --repeats 1"
                .to_owned(),
            0,
        ),
    ] {
        let stderr = place.ok(&args).stderr;
        assert_eq!(stderr.matches(NOTE).count(), said, "{args}: {stderr}");
    }
}

#[test]
fn haversine_distances_are_in_kilometres() {
    let place = TestDir::new();
    place.write("places.csv", PLACES);
    let search = "--input places.csv --queries all --k 3 --metric haversine";
    let run = |more: &str| place.ok(&format!("run {search} --engine kdtree --warmup 0 --repeats 1 {more}"));
    let done = run("--neighbors found.csv --out run --json");
    assert_eq!(done.stderr, "");
    let (run_json, (head, rows)) = (json(&done.stdout), table(&place.path("found.csv")));
    assert_eq!((&run_json["spec"]["metric"], &run_json["summary"]["d"]), (&"haversine".into(), &3.into()));
    assert_eq!(head, ["query", "query_row", "rank", "index", "squared_distance", "distance_km"]);
    let km = |row: usize| (rows[row][3].as_str(), rows[row][5].parse::<f64>().unwrap());
    assert_eq!((km(0), km(1).0, km(2).0), (("0", 0.0), "1", "2"));
    assert!((km(1).1 - 30.53).abs() < 0.01 && (km(2).1 - 36.69).abs() < 0.01, "{rows:?}");
    // In degrees the order is reversed.
    place.ok("run --input places.csv --queries rows:0 --k 3 --metric l2 --engine kdtree --warmup 0 \
         --repeats 1 --neighbors plane.csv");
    assert_eq!(table(&place.path("plane.csv")).1[1][3], "2");

    let verified = place.ok(&format!("verify {search} --reference found.csv")).stdout;
    assert!(verified.starts_with("n = 4, q = 4, d = 3, k = 3, haversine, file order\n"), "{verified}");
    assert!(verified.contains("reference answers agree with the oracle: 4 queries"), "{verified}");
    place.ok(&format!("verify {search} --engine kdtree --reference run"));
}

#[test]
fn queries_may_cross_the_antimeridian() {
    let place = TestDir::new();
    place.write("places.csv", PLACES);
    place.ok("run --input places.csv --queries at:-17,-179.9 --k 1 --metric haversine --engine kdtree \
              --warmup 0 --repeats 1 --neighbors found.tsv");
    let found = std::fs::read_to_string(place.path("found.tsv")).unwrap();
    let row: Vec<&str> = found.lines().nth(1).unwrap().split('\t').collect();
    assert_eq!(row[2], "3");
    assert!((row[4].parse::<f64>().unwrap() - 21.27).abs() < 0.01, "{found}");
    let far = place.fails(1, "run --input places.csv --queries at:91,0 --metric haversine");
    assert_eq!(
        far,
        "query point 0,91, column `latitude`: invalid latitude 91: must be between -90 and 90 degrees"
    );
}

#[test]
fn invalid_positions_are_refused_with_a_remedy() {
    let place = TestDir::new();
    place.write("map.csv", "x,y\n10,20\n515370.5,4918340\n");
    let refused = place.fails(1, "run --input map.csv --metric haversine --queries all --k 1");
    let row = "row 1, column `x`: invalid longitude 515370.5: must be between -360 and 360 degrees";
    assert_eq!(refused, format!("{row}; choose a longitude and a latitude with --columns: map.csv"));
    let three = place.fails(1, "verify --generate uniform:n=9,d=3 --metric haversine --queries all --k 1");
    assert_eq!(
        three,
        "haversine needs two columns, longitude and latitude in degrees, but the cloud has 3: choose a \
         longitude and a latitude with --columns"
    );
    place.write("trips.csv", "pickup_lon,dropoff_lon\n1,2\n");
    let alike = place.fails(1, "run --input trips.csv --metric haversine --queries all --k 1");
    assert!(alike.starts_with("columns `pickup_lon` and `dropoff_lon` are both longitudes: "), "{alike}");

    place.write("unnamed.csv", "x,y\n10,20\n11,21\n");
    let done = place.ok("run --input unnamed.csv --metric haversine --queries all --k 1 --engine kdtree \
                         --warmup 0 --repeats 1");
    assert_eq!(
        done.stderr,
        "note: column x is taken as longitude and y as latitude, in degrees; override with --columns\n"
    );
}

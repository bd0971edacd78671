//! `knn`: the answer, once.

use super::*;

fn place() -> Place {
    let place = Place::new();
    place.write("line.csv", "x\n0\n1\n-1\n2\n-2\n9\n");
    place.write("places.csv", "name,longitude,latitude\nhere,0,0\nnear,0,0.01\nfar,0,1\nacross,180,0\n");
    place
}

#[test]
fn the_nearest_are_written_in_any_format_or_printed() {
    let place = place();
    let csv = "query,rank,index,squared_distance\n0,0,1,1\n0,1,2,1\n1,0,0,1\n1,1,3,1\n";
    assert_eq!(place.ok("knn line.csv rows:0,1 -k 2 --exclude-self -o -").stdout, csv);
    place.ok("knn line.csv rows:0,1 -k 2 --exclude-self -o found.csv");
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), csv);
    let report = json(&place.ok("knn line.csv -k 2 -o found.ivecs --json").stdout);
    assert_eq!((&report["queries"], &report["k"], &report["neighbors"]), (&6.into(), &2.into(), &12.into()));
    assert!(place.path("found.fvecs").exists());
    let text = place.ok("knn line.csv at:8 -k 1 --engine kdtree").stdout;
    assert!(text.contains("1 nearest neighbour, l2") && text.contains("kdtree on ") && text.contains("   0      5                 1"), "{text}");
}

#[test]
fn all_within_a_radius_are_listed() {
    let place = place();
    for engine in ["auto", "bvh", "kdtree"] {
        let done = place.ok(&format!("knn line.csv rows:0,5 --radius 1 --engine {engine} -o -"));
        let csv = "query,query_row,rank,index,squared_distance,distance\n0,0,0,0,0,0\n0,0,1,1,1,1\n0,0,2,2,1,1\n1,5,0,5,0,0\n";
        assert_eq!(done.stdout, csv, "{engine}");
    }
    let report = json(&place.ok("knn line.csv --radius 1 --exclude-self -o found.npz --json").stdout);
    let of = |name: &str| report[name].as_f64().unwrap();
    assert_eq!([of("neighbors"), of("without"), of("most"), of("radius")], [8.0, 1.0, 2.0, 1.0]);
    place.ok("knn line.csv --radius 1 -o found.parquet");
    assert!(place.path("found.npz").exists() && place.path("found.parquet").exists());
}

#[test]
fn places_are_searched_on_the_globe_unless_asked_otherwise() {
    let place = place();
    let done = place.ok("knn places.csv rows:0 --radius 2km -o -");
    assert!(done.stderr.contains("searched on the globe, in km; --metric l2 takes them as a plane"), "{}", done.stderr);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines[..2], ["query,query_row,rank,index,squared_distance,distance_km", "0,0,0,0,0,0"]);
    assert!(lines.len() == 3 && lines[2].starts_with("0,0,1,1,") && lines[2].contains(",1.11"), "{lines:?}");
    assert_eq!(place.ok("knn places.csv rows:0 --radius 1100m -o -").stdout.lines().count(), 2, "1.1119 km are farther");
    assert_eq!(place.ok("knn places.csv rows:0 --radius 0.01 --metric l2 -o -").stdout.lines().count(), 3);
}

#[test]
fn wrong_usage_is_said() {
    let place = place();
    for (code, args, said) in [
        (2, "--radius 1 -k 3", "the argument '--radius <DISTANCE>' cannot be used with '--k <NUMBER>'"),
        (2, "--radius 1km", "--radius: with the l2 metric a distance is in the cloud's own unit: write 1, not `1km`"),
        (2, "--radius=-1", "--radius: `-1` is not a distance: write a number of 0 or more"),
        (2, "--radius 1 --engine bvh:packets=on", "--engine bvh:packets=on: a search by radius has no parameters"),
        (2, "--radius 1 --engine lockstep", "lockstep finds the k nearest only: bvh and kdtree list all within a radius"),
        (2, "-o - --json", "--json and --out - both print to standard output: write the neighbours to a file"),
        (2, "at:1 --exclude-self", "--exclude-self: the query is a place, and so no row of the cloud"),
    ] {
        let error = place.fails(code, &format!("knn line.csv {args}"));
        assert!(error.contains(said), "{args}: {error}");
    }
    assert!(place.fails(2, "knn line.csv --radius 1 -o found.ivecs").contains("found.ivecs"));
    // Distances are written beside: here over the cloud.
    place.ok("generate uniform:n=9,d=2 cloud.fvecs");
    assert!(place.fails(2, "knn cloud.fvecs -k 2 -o cloud.ivecs").contains("cloud.fvecs"));
    assert!(place.fails(2, "knn line.csv -o line.csv").contains("line.csv"));
}

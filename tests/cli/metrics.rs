//! Metrics and their names.

use super::*;

/// 1 − cos of the angle between two rows, in f64.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    1.0 - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Rows with different directions, as text and as numbers.
fn directions(place: &TestDir, name: &str, n: usize) -> Vec<Vec<f64>> {
    let value =
        |row: usize, axis: usize| ((row * 7919 + axis * 104_729 + row * axis * 31) % 2003) as f64 - 1001.0;
    let rows: Vec<Vec<f64>> = (0..n).map(|row| (0..5).map(|axis| value(row, axis)).collect()).collect();
    let lines = rows.iter().map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
    place.write(name, &format!("a,b,c,d,e\n{}\n", lines.collect::<Vec<_>>().join("\n")));
    rows
}

#[test]
fn cosine_distance_is_half_the_squared_chord() {
    let place = TestDir::new();
    let rows = directions(&place, "rows.csv", 60);
    place.ok("knn rows.csv -k 8 --metric cosine -o cosine.csv");
    place.ok("knn rows.csv -k 8 --metric angular -o angular.csv");
    let (head, found) = table(&place.path("cosine.csv"));
    assert_eq!(head, ["query", "query_row", "rank", "index", "squared_distance", "cosine_distance"]);
    let but_distances =
        |rows: &[Vec<String>]| -> Vec<Vec<String>> { rows.iter().map(|row| row[..5].to_vec()).collect() };
    assert_eq!(
        but_distances(&table(&place.path("angular.csv")).1),
        but_distances(&found),
        "neighbours differ from those by angle"
    );
    for row in &found {
        let [query, rank, index] = [1, 2, 3].map(|at| row[at].parse::<usize>().unwrap());
        let mut all: Vec<f64> = rows.iter().map(|other| cosine(&rows[query], other)).collect();
        let said: f64 = row[5].parse().unwrap();
        assert!((said - all[index]).abs() < 5e-7, "{row:?}: {}", all[index]);
        all.sort_by(f64::total_cmp);
        assert!((said - all[rank]).abs() < 5e-7, "{row:?}: another row is nearer");
    }
    let one = place.ok("knn rows.csv rows:0 -k 2 --metric cosine").stdout;
    assert!(one.contains("2 nearest neighbours, cosine") && one.contains(" cosine_distance"), "{one}");
    let own =
        place.ok("verify --input rows.csv --queries 60 --k 8 --metric cosine --engine lockstep --f64").stdout;
    assert!(
        own.contains("64-bit values the nearest neighbours of all 60 queries")
            || own.contains("of 60 queries are the same"),
        "{own}"
    );
    place.ok("knn rows.csv -k 3 --metric cosine -o found.npz");
    let info = json(&place.ok("info found.npz --json").stdout).to_string();
    assert!(info.contains("cosine_distances"), "{info}");
}

#[test]
fn every_command_accepts_cosine() {
    let place = TestDir::new();
    let rows = directions(&place, "rows.csv", 60);
    let within = rows.iter().filter(|row| cosine(&rows[0], row) <= 0.5).count();
    assert!((2..59).contains(&within), "{within}");
    let listed = place.ok("knn rows.csv rows:0 --radius 0.5 --metric cosine -o -").stdout;
    assert_eq!(
        (listed.lines().next(), listed.lines().count()),
        (Some("query,query_row,rank,index,squared_distance,cosine_distance"), within + 1)
    );
    let refused = place.fails(2, "knn rows.csv --radius 0.5rad --metric cosine");
    assert_eq!(
        refused,
        "--radius `0.5rad`: a cosine distance (1 − cos of the angle, 0 to 2) has no unit; write 0.5"
    );
    place.ok("run --input rows.csv --k 3 --metric cosine --engine lockstep --warmup 0 --repeats 1 --out out");
    assert_eq!(json(&fs::read_to_string(place.path("out/run.json")).unwrap())["spec"]["metric"], "cosine");
    place.ok("verify --input rows.csv --k 3 --metric cosine --engine kdtree,lockstep");
    place.ok("analyse rows.csv -k 3 --metric cosine --density --graph graph.csv --out density.csv");
    assert_eq!(table(&place.path("graph.csv")).1.len(), 180);
    assert!(
        place
            .ok("sweep --input rows.csv --q 5 --k 2,3 --metric cosine --engine lockstep --warmup 0 \
                 --repeats 1")
            .stdout
            .lines()
            .count()
            >= 3
    );
    place.write("zero.csv", "x,y\n1,0\n0,0\n0,2\n");
    assert!(
        place
            .fails(1, "knn zero.csv -k 1 --metric cosine")
            .starts_with("data row 1 is a zero vector, which has no direction")
    );
    assert_eq!(
        place.ok("knn zero.csv rows:0 -k 1 --metric cosine --drop-nonfinite -o -").stdout.lines().count(),
        2
    );
}

/// Rows of integers with ties, including a zero row, two equal rows and negative values.
const WHOLE: &str = "x,y\n1,2\n-3,1\n0,0\n1,2\n2000000,-1\n-1,-2\n";

#[test]
fn the_largest_inner_products_come_first() {
    let place = TestDir::new();
    place.write("rows.csv", WHOLE);
    let csv = "query,query_row,rank,index,inner_product\n0,0,0,4,1999998\n0,0,1,0,5\n0,0,2,3,5\n1,5,0,5,5\n\
               1,5,1,1,1\n1,5,2,2,0\n";
    for name in ["inner-product", "ip"] {
        assert_eq!(
            place.ok(&format!("knn rows.csv rows:0,5 -k 3 --metric {name} -o -")).stdout,
            csv,
            "{name}"
        );
    }
    place.ok("knn rows.csv rows:0,5 -k 3 --metric ip --engine gemm-heap -o found.csv");
    assert_eq!(fs::read_to_string(place.path("found.csv")).unwrap(), csv);
    let own = place.ok("knn rows.csv rows:0 -k 6 --metric ip --exclude-self -o -").stdout;
    let rest = "0,0,0,4,1999998\n0,0,1,3,5\n0,0,2,2,0\n0,0,3,1,-1\n0,0,4,5,-5\n0,0,5,-1,-inf\n";
    assert_eq!(own, format!("query,query_row,rank,index,inner_product\n{rest}"));
    place.write("asked.csv", "x,y\n0,0\n0,7\n");
    let asked = place.ok("knn rows.csv asked.csv -k 2 --metric ip -o -").stdout;
    assert_eq!(
        asked,
        "query,query_row,rank,index,inner_product\n0,0,0,0,0\n0,0,1,1,0\n1,1,0,0,14\n1,1,1,3,14\n"
    );
    assert_eq!(
        place.ok("knn rows.csv at:0,-1 -k 1 --metric ip -o -").stdout,
        "query,rank,index,inner_product\n0,0,5,2\n"
    );
    let report = json(&place.ok("knn rows.csv -k 3 --metric ip -o found.npz --json").stdout);
    assert_eq!(
        (&report["metric"], &report["neighbors"], &report["engine"]),
        (&"inner-product".into(), &18.into(), &"gemm-heap".into())
    );
    place.ok("knn rows.csv -k 3 --metric ip -o found.parquet");
    let text = place.ok("knn rows.csv rows:0 -k 2 --metric ip").stdout;
    assert!(text.contains("2 nearest neighbours, inner-product") && text.contains("1999998"), "{text}");
}

#[test]
fn inner_products_use_unshifted_coordinates() {
    let place = TestDir::new();
    // Far from 0, coordinates are stored relative to an origin. Inner products have no origin and use
    // the file's values.
    place.write("far.csv", "x,y\n4000000.3,1\n4000001.6,-2\n4000000.8,3\n");
    let found = place.ok("knn far.csv at:1,0 -k 3 --metric ip -o -").stdout;
    assert_eq!(found, "query,rank,index,inner_product\n0,0,1,4000001.6\n0,1,2,4000000.8\n0,2,0,4000000.3\n");
    place.write("gap.csv", "x,y\n1,2\n3,\n5,6\n");
    assert!(place.fails(1, "knn gap.csv -k 1 --metric ip --columns x,y").contains("row 1, column `y`"));
    let dropped = place.ok("knn gap.csv at:1,1 -k 3 --metric ip --columns x,y --drop-nonfinite -o -").stdout;
    assert_eq!(
        dropped, "query,rank,index,inner_product\n0,0,2,11\n0,1,0,3\n0,2,-1,-inf\n",
        "rows keep their numbers"
    );
}

#[test]
fn options_unsupported_for_inner_products_are_refused() {
    let place = TestDir::new();
    place.write("rows.csv", WHOLE);
    for (args, said) in [
        ("--radius 3", "--radius: an inner product is not a distance; drop --radius or change --metric"),
        ("--engine lockstep", "lockstep computes distances only; use gemm-heap for inner products"),
        ("--device 0", "--device 0: inner-product searches run on the CPU only; drop --device"),
        ("-k 2049", "k = 2049: must be between 1 and 2048 for inner products"),
        ("-k 0", "k = 0: must be between 1 and 2048 for inner products"),
    ] {
        assert_eq!(place.fails(2, &format!("knn rows.csv --metric ip {args}")), said, "{args}");
    }
    assert!(place.fails(2, "knn rows.csv --metric ip -o found.ivecs").ends_with("found.ivecs"));
    place.write("one.csv", "x\n1\n");
    assert!(place.fails(1, "knn rows.csv one.csv --metric ip").contains("one.csv"));
}

#[test]
fn metric_names_of_other_libraries_get_suggestions() {
    let place = TestDir::new();
    place.write("rows.csv", WHOLE);
    let knn = "knn rows.csv -k 2";
    let run = "run --input rows.csv --k 2";
    let offered = "not supported; available: l2, angular, cosine, haversine, sky";
    for (command, name, said) in [
        (knn, "euclidean", "use l2".to_owned()),
        (run, "l2sq", "use l2".to_owned()),
        ("analyse rows.csv", "cos", "use cosine".to_owned()),
        (knn, "mips", "use inner-product".to_owned()),
        (
            run,
            "dot",
            "the inner product is not a distance; only `warpscope knn IN --metric inner-product` supports it"
                .to_owned(),
        ),
        (knn, "geo", "use haversine".to_owned()),
        (knn, "Cosine", "use cosine".to_owned()),
        (knn, "manhattan", format!("{offered}, inner-product")),
        (run, "l1", offered.to_owned()),
        ("verify --input rows.csv", "jaccard", offered.to_owned()),
    ] {
        assert_eq!(
            place.fails(2, &format!("{command} --metric {name}")),
            format!(
                "invalid value '{name}' \
                 for '--metric <METRIC>': \
                 {said}"
            )
        );
    }
    let typo = place.fails(2, "knn rows.csv --metric haversin");
    assert!(
        typo.contains("[possible values: l2, angular, cosine, haversine, sky, inner-product]")
            && typo.contains("'haversine'"),
        "{typo}"
    );
}

#[test]
fn searches_use_the_metric_declared_by_the_file() {
    let place = TestDir::new();
    let packed = include_bytes!("../../crates/cloud/src/formats/tests/hdf5/earliest.hdf5.gz");
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).unwrap();
    let at = content.windows(9).position(|bytes| bytes == b"euclidean").unwrap();
    let mut declare = |name: &str| {
        content[at..at + 9].copy_from_slice(format!("{name:9}").as_bytes());
        fs::write(place.path("b.hdf5"), &content).unwrap();
    };
    declare("Angular");
    let asked = "--input b.hdf5 --queries b.hdf5:test";
    for args in [
        "knn b.hdf5 b.hdf5:test -k 3 -o found.npy".to_owned(),
        format!("run {asked} --k 3 --engine lockstep --repeats 1"),
        format!("verify {asked} --k 3 --engine lockstep"),
        format!("recall found.npy {asked} --at 3 --json"),
        "sweep --input b.hdf5 --q 2 --k 3 --engine lockstep --repeats 1".to_owned(),
        "analyse b.hdf5 -k 2 --density --json".to_owned(),
    ] {
        let done = place.ok(&args);
        assert!(
            done.stderr.contains("note: metric angular, from the file's `distance` attribute: b.hdf5\n"),
            "{args}: {}",
            done.stderr
        );
        assert!(done.stdout.contains("angular"), "{args}: {}", done.stdout);
        let other = place.call(&format!("{args} --metric l2"));
        assert!(!other.stderr.contains("attribute"), "{args}: {}", other.stderr);
    }
    declare("hamming");
    let unknown = place.ok("knn b.hdf5 -k 2 -o found.csv");
    assert!(
        unknown.stderr.contains(
            "note: the file's `distance` attribute is `hamming`, which is not supported; using l2: b.hdf5\n"
        ),
        "{}",
        unknown.stderr
    );
    assert!(unknown.stdout.contains(", l2, by the file's values\n"), "{}", unknown.stdout);
    declare("dot");
    assert!(place.ok("knn b.hdf5 -k 2 -o -").stdout.starts_with("query,query_row,rank,index,inner_product"));
    assert!(place.fails(2, "knn b.hdf5 --radius 1 -o -").contains("inner"));
    assert!(
        place
            .fails(1, &format!("run {asked} --k 3 --repeats 1"))
            .starts_with("the data declares the inner product as its metric, which only `knn` supports")
    );
}

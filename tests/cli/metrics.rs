//! Metrics: cosine, and names that are none.

use super::*;

/// 1 − cos of the angle between two rows, in f64.
fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    1.0 - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// Rows whose directions all differ, as text and as numbers.
fn directions(place: &Place, name: &str, n: usize) -> Vec<Vec<f64>> {
    let value = |row: usize, axis: usize| ((row * 7919 + axis * 104_729 + row * axis * 31) % 2003) as f64 - 1001.0;
    let rows: Vec<Vec<f64>> = (0..n).map(|row| (0..5).map(|axis| value(row, axis)).collect()).collect();
    let lines = rows.iter().map(|row| row.iter().map(f64::to_string).collect::<Vec<_>>().join(","));
    place.write(name, &format!("a,b,c,d,e\n{}\n", lines.collect::<Vec<_>>().join("\n")));
    rows
}

#[test]
fn cosine_is_half_of_the_squared_chord() {
    let place = Place::new();
    let rows = directions(&place, "rows.csv", 60);
    place.ok("knn rows.csv -k 8 --metric cosine -o cosine.csv");
    place.ok("knn rows.csv -k 8 --metric angular -o angular.csv");
    let (head, found) = table(&place.path("cosine.csv"));
    assert_eq!(head, ["query", "rank", "index", "squared_distance", "cosine_distance"]);
    let of_angular: Vec<Vec<String>> = found.iter().map(|row| row[..4].to_vec()).collect();
    assert_eq!(table(&place.path("angular.csv")).1, of_angular, "the neighbours are those of the angle");
    for row in &found {
        let [query, rank, index] = [0, 1, 2].map(|at| row[at].parse::<usize>().unwrap());
        let mut all: Vec<f64> = rows.iter().map(|other| cosine(&rows[query], other)).collect();
        let said: f64 = row[4].parse().unwrap();
        assert!((said - all[index]).abs() < 5e-7, "{row:?}: {}", all[index]);
        all.sort_by(f64::total_cmp);
        assert!((said - all[rank]).abs() < 5e-7, "{row:?}: no other is nearer");
    }
    let one = place.ok("knn rows.csv rows:0 -k 2 --metric cosine").stdout;
    assert!(one.contains("2 nearest neighbours, cosine") && one.contains(" cosine_distance"), "{one}");
    place.ok("knn rows.csv -k 3 --metric cosine -o found.npz");
    let info = json(&place.ok("info found.npz --json").stdout).to_string();
    assert!(info.contains("cosine_distances"), "{info}");
}

#[test]
fn every_command_takes_cosine() {
    let place = Place::new();
    let rows = directions(&place, "rows.csv", 60);
    let within = rows.iter().filter(|row| cosine(&rows[0], row) <= 0.5).count();
    assert!((2..59).contains(&within), "{within}");
    let listed = place.ok("knn rows.csv rows:0 --radius 0.5 --metric cosine -o -").stdout;
    assert_eq!((listed.lines().next(), listed.lines().count()), (Some("query,query_row,rank,index,squared_distance,cosine_distance"), within + 1));
    let refused = place.fails(2, "knn rows.csv --radius 0.5rad --metric cosine");
    assert_eq!(refused, "--radius: a cosine distance, 1 − cos of the angle, is from 0 to 2 and has no unit: write 0.5, not `0.5rad`");
    place.ok("run --input rows.csv --k 3 --metric cosine --engine lockstep --warmup 0 --repeats 1 --out out");
    assert_eq!(json(&fs::read_to_string(place.path("out/run.json")).unwrap())["spec"]["metric"], "cosine");
    place.ok("verify --input rows.csv --k 3 --metric cosine --engine kdtree,lockstep");
    place.ok("analyse rows.csv -k 3 --metric cosine --density --graph graph.csv --out density.csv");
    assert_eq!(table(&place.path("graph.csv")).1.len(), 180);
    assert!(place.ok("sweep --input rows.csv --q 5 --k 2,3 --metric cosine --engine lockstep --warmup 0 --repeats 1").stdout.lines().count() >= 3);
    place.write("zero.csv", "x,y\n1,0\n0,0\n0,2\n");
    assert!(place.fails(1, "knn zero.csv -k 1 --metric cosine").starts_with("data row 1 is zero and has no direction"));
    assert_eq!(place.ok("knn zero.csv rows:0 -k 1 --metric cosine --drop-nonfinite -o -").stdout.lines().count(), 2);
}

//! Presets of sweeps, and their figures.

use super::{TestDir, table};
use std::fs;

#[test]
fn preset_sizes_can_be_overridden() {
    let place = TestDir::new();
    let small = "--device cpu --n 300 --q 20 --d 2,3,5 --k 5 --warmup 0 --repeats 1";
    let done = place.ok(&format!("sweep --preset step-12a {small} --out rows.csv --figure spheres.svg"));
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let (head, rows) = table(&place.path("rows.csv"));
    let column = |row: &[String], name: &str| row[head.iter().position(|head| head == name).unwrap()].clone();
    let run =
        |row: &Vec<String>| ["data", "engine", "q", "k", "metric"].map(|name| column(row, name)).join(" ");
    assert_eq!(rows.len(), 9);
    assert_eq!(run(&rows[0]), "rounded-normal:n=300,d=2 step:spheres=naive,switch=1024 20 5 angular");
    assert_eq!(run(&rows[8]), "rounded-normal:n=300,d=5 step:spheres=exact,switch=1024 20 5 angular");
    assert!(rows.iter().all(|row| column(row, "mean_distance_evals").parse::<f64>().unwrap() > 0.0
        && column(row, "error").is_empty()));
    let figure = fs::read_to_string(place.path("spheres.svg")).unwrap();
    for said in [
        "<svg ",
        "warpscope sweep --preset step-12,",
        "step:spheres=ritter",
        "Bounding spheres, random data",
        "d, dimensions",
        "2.9 times as fast",
        "than these",
    ] {
        assert!(figure.contains(said), "{said} is missing from\n{figure}");
    }
    place.ok("sweep --preset step-11a --device cpu --n 300,900 --q 300 --k 5 --warmup 0 --repeats 1 --out \
              rows.csv --figure active.svg");
    let (head, rows) = table(&place.path("rows.csv"));
    let active = head.iter().position(|head| head == "active_threads").unwrap();
    for row in &rows {
        let of_a_thread = row.iter().any(|cell| cell == "kdtree-threads");
        let active: f64 = row[active].parse().unwrap();
        // Lanes with a query each diverge; a warp with one query keeps nearly all lanes active.
        assert!(
            active > 1.0 && if of_a_thread { active < 25.0 } else { (25.0..=32.0).contains(&active) },
            "{row:?}"
        );
    }
    assert!(fs::read_to_string(place.path("active.svg")).unwrap().contains("Active threads of 32 in a warp"));
    // If there are fewer rows than the preset's queries, every row is a query.
    let done = place.ok(&format!(
        "sweep --preset step-10a {} --figure a.svg",
        small.replace("--n 300 --q 20 --d 2,3,5", "--n 100,200")
    ));
    assert_eq!(done.stderr, "note: cuda:kernel=direct does not run on the CPU; its twin lockstep does\n");
    assert_eq!(
        done.stdout.lines().filter(|line| line.starts_with("rounded-normal:d=2,n=200,")).count(),
        0,
        "{}",
        done.stdout
    );
    assert_eq!(done.stdout.lines().count(), 1 + 2 * 4);
}

#[test]
fn selectors_are_compared_by_throughput() {
    let place = TestDir::new();
    let small = "--device cpu --n 2000 --q 16 --warmup 1 --repeats 3 --out rows.csv --figure figure.svg";
    let done = place.ok(&format!("sweep --preset hanak-5.5 {small} --k 8,64"));
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let (head, rows) = table(&place.path("rows.csv"));
    assert_eq!(rows.len(), 2 * 10);
    for row in &rows {
        let number =
            |name: &str| row[head.iter().position(|head| head == name).unwrap()].parse::<f64>().unwrap();
        let [least, mean, most] = ["search_ms_min", "search_ms_mean", "search_ms_max"].map(number);
        assert!(least <= mean && mean <= most && number("search_ms_deviation") <= most - least, "{row:?}");
        assert!(number("download_ms") > 0.0 && number("warmup") == 1.0, "{row:?}");
        let share = &row[head.iter().position(|head| head == "bandwidth_share").unwrap()];
        assert!(share.is_empty() || share.parse::<f64>().unwrap() > 0.0, "{row:?}");
    }
    let upload = head.iter().position(|head| head == "upload_ms").unwrap();
    assert!(
        rows.iter().enumerate().all(|(at, row)| row[upload].is_empty() == (at > 0)),
        "later runs find the points prepared"
    );
    let figure = fs::read_to_string(place.path("figure.svg")).unwrap();
    for said in [
        "--preset hanak-5.5,",
        ">warp-select, best queue<",
        ">k, neighbours per query<",
        "timed=selection",
        "than these",
    ] {
        assert!(figure.contains(said), "{said} is missing from\n{figure}");
    }
    // Sizes above a method's largest k are skipped with a note.
    let done = place.ok(&format!("sweep --preset hanak-5.5 {small} --k 1024,2048 --engine warp-select,bits"));
    assert_eq!(done.stderr, "note: warp-select finds at most 1,024 neighbours; runs with more skip it\n");
    assert_eq!(table(&place.path("rows.csv")).1.len(), 3);
    place.ok(&format!("sweep --preset hanak-5.14 {small} --k 8,16 --d 2,4"));
    assert!(
        fs::read_to_string(place.path("figure.svg"))
            .unwrap()
            .contains(">Search time as a multiple of upload and download<")
    );
    let why = place.fails(2, "sweep --preset hanak-5.7 --device cpu --n 100 --d 2,3 --figure figure.svg");
    assert_eq!(why, "the figure of hanak-5.7 cannot show several values of --d; give one");
}

#[test]
fn presets_are_listed_with_their_requirements() {
    let place = TestDir::new();
    let list = place.ok("sweep --preset list").stdout;
    for said in [
        "step-5a, step-5b",
        "step-12, step-12a, step-12b",
        "figures of k-selection on GPUs",
        "hanak-5.14",
        "--input, such as zip codes or airports",
    ] {
        assert!(list.contains(said), "{said} is missing from\n{list}");
    }
    assert!(place.ok("sweep --help").stdout.contains("step-5a, step-5b"));
    for (args, why) in [
        ("", "--input <FILE>, --generate <SPEC> or --preset <NAME> is required"),
        ("--preset step-13", "unknown preset `step-13`; `--preset list` lists them"),
        ("--preset step-8a", "preset `step-8a` needs --input FILE"),
        ("--generate uniform --input a.csv", "cannot be used with"),
        ("--generate uniform --k 1,2 --n 10,20 --figure a.svg", "a figure needs exactly one varying size"),
        ("--generate uniform --k 1,2 --figure a.png", "the name must end in .svg"),
    ] {
        let error = place.fails(2, &format!("sweep {args}"));
        assert!(error.contains(why), "{args}: {error}");
    }
    place.write("points.csv", "x,y\n0,0\n3,4\n0,1\n");
    let done = place.ok("sweep --preset step-9a --input points.csv --device cpu --k 1,2 --warmup 0 \
                         --repeats 1 --figure k.svg");
    assert_eq!(done.stdout.lines().count(), 1 + 2 * 4);
    assert!(fs::read_to_string(place.path("k.svg")).unwrap().contains("points.csv"));
}

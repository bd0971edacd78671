//! Presets of sweeps, and their figures.

use super::{Place, table};
use std::fs;

#[test]
fn a_preset_is_a_sweep_whose_sizes_can_be_given() {
    let place = Place::new();
    let small = "--device cpu --n 300 --q 20 --d 2,3,5 --k 5 --warmup 0 --repeats 1";
    let done = place.ok(&format!("sweep --preset step-12a {small} --out rows.csv --figure spheres.svg"));
    assert_eq!((done.stdout.as_str(), done.stderr.as_str()), ("", ""));
    let (head, rows) = table(&place.path("rows.csv"));
    let column = |row: &[String], name: &str| row[head.iter().position(|head| head == name).unwrap()].clone();
    let run = |row: &Vec<String>| ["data", "engine", "q", "k", "metric"].map(|name| column(row, name)).join(" ");
    assert_eq!(rows.len(), 9);
    assert_eq!(run(&rows[0]), "rounded-normal:n=300,d=2 step:spheres=naive,switch=1024 20 5 angular");
    assert_eq!(run(&rows[8]), "rounded-normal:n=300,d=5 step:spheres=exact,switch=1024 20 5 angular");
    assert!(rows.iter().all(|row| column(row, "mean_accessed").parse::<f64>().unwrap() > 0.0 && column(row, "error").is_empty()));
    let figure = fs::read_to_string(place.path("spheres.svg")).unwrap();
    for said in [
        "<svg ",
        "warpscope sweep --preset step-12,",
        "step:spheres=ritter",
        "Bounding spheres, random data",
        "d, dimensions",
        "2.9 times as fast",
        "which differ from these",
    ] {
        assert!(figure.contains(said), "{said} is missing from\n{figure}");
    }
    place.ok("sweep --preset step-11a --device cpu --n 300,900 --q 300 --k 5 --warmup 0 --repeats 1 --out rows.csv --figure active.svg");
    let (head, rows) = table(&place.path("rows.csv"));
    let active = head.iter().position(|head| head == "active_threads").unwrap();
    for row in &rows {
        let of_a_thread = row.iter().any(|cell| cell == "kdtree-threads");
        let active: f64 = row[active].parse().unwrap();
        // Lanes with a query each go ways of their own; a warp with one query has points for nearly all.
        assert!(active > 1.0 && if of_a_thread { active < 25.0 } else { (25.0..=32.0).contains(&active) }, "{row:?}");
    }
    assert!(fs::read_to_string(place.path("active.svg")).unwrap().contains("Active threads of a warp, of 32"));
    // With fewer rows than the preset has queries, all are asked for.
    let done = place.ok(&format!("sweep --preset step-10a {} --figure a.svg", small.replace("--n 300 --q 20 --d 2,3,5", "--n 100,200")));
    assert_eq!(done.stderr, "note: cuda:kernel=direct does not run on the CPU; its twin lockstep does\n");
    assert_eq!(done.stdout.lines().filter(|line| line.starts_with("rounded-normal:d=2,n=200,")).count(), 0, "{}", done.stdout);
    assert_eq!(done.stdout.lines().count(), 1 + 2 * 4);
}

#[test]
fn presets_are_listed_and_say_what_they_need() {
    let place = Place::new();
    let list = place.ok("sweep --preset list").stdout;
    for said in ["step-5a, step-5b", "step-12, step-12a, step-12b", "--input, such as zip codes or airports"] {
        assert!(list.contains(said), "{said} is missing from\n{list}");
    }
    assert!(place.ok("sweep --help").stdout.contains("step-5a, step-5b"));
    for (args, why) in [
        ("", "one of --input <FILE>, --generate <SPEC> and --preset <NAME> is needed"),
        ("--preset step-13", "there is no preset `step-13`; `--preset list` lists them"),
        ("--preset step-8a", "step-8a needs --input FILE"),
        ("--generate uniform --input a.csv", "cannot be used with"),
        ("--generate uniform --k 1,2 --n 10,20 --figure a.svg", "a figure is drawn against one size"),
        ("--generate uniform --k 1,2 --figure a.png", "it is written as .svg"),
    ] {
        let error = place.fails(2, &format!("sweep {args}"));
        assert!(error.contains(why), "{args}: {error}");
    }
    place.write("points.csv", "x,y\n0,0\n3,4\n0,1\n");
    let done = place.ok("sweep --preset step-9a --input points.csv --device cpu --k 1,2 --warmup 0 --repeats 1 --figure k.svg");
    assert_eq!(done.stdout.lines().count(), 1 + 2 * 4);
    assert!(fs::read_to_string(place.path("k.svg")).unwrap().contains("points.csv"));
}

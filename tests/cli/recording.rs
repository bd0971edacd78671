//! Recordings: written, described, compared, damaged.

use super::*;

#[test]
fn a_recording_can_be_described_and_compared_without_its_input() {
    let place = TestDir::new();
    place.write("points.csv", POINTS);
    let run =
        "run --input points.csv --columns x,y --drop-nonfinite --queries all --k 3 --warmup 0 --repeats 4";
    let done = place.ok(&format!("{run} --engine lockstep --profile --record one.warpscope --json"));
    let record = json(&done.stdout);
    place.ok(&format!("{run} --engine kdtree --record other.warpscope"));
    fs::remove_file(place.path("points.csv")).unwrap();

    let report = json(&place.ok("info one.warpscope --json").stdout);
    assert_eq!(report["runs"][0]["run"], record, "the recording must contain run.json unchanged");
    assert_eq!(
        (&report["clouds"][0]["rows"], &report["clouds"][0]["dropped"], &report["runs"][0]["counted"]),
        (&5.into(), &1.into(), &true.into())
    );
    let text = place.ok("info one.warpscope").stdout;
    for part in [
        "Warpscope recording, of 1 run",
        "points.csv, 5 × 5, k = 3, lockstep",
        "counters",
        "5 points × 2 dimensions, 1 row dropped",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }

    let compared = place.ok("compare one.warpscope other.warpscope").stdout;
    assert!(
        compared.contains("search (lockstep against kdtree)")
            && compared.contains("engine: lockstep against kdtree"),
        "{compared}"
    );
    assert!(compared.contains("The same neighbours, to the bit (5 queries, 3 ranks each)."), "{compared}");
    let compared = json(&place.ok("compare one.warpscope one.warpscope#1 --json").stdout);
    assert_eq!(
        (&compared["differences"], &compared["answers"]["other_rows"]),
        (&Value::Array(vec![]), &0.into())
    );
    assert_eq!(compared["phases"][0]["delta_ms"], 0.0);
    let search =
        compared["phases"].as_array().unwrap().iter().find(|phase| phase["phase"] == "search").unwrap();
    assert_eq!(search["a"]["median"], record["summary"]["search_ms_median"]);
}

#[test]
fn schema_1_recordings_with_old_counter_names_are_read() {
    let place = TestDir::new();
    let timing = "--engine bvh --device cpu --warmup 0 --repeats 1";
    let run = format!("run --generate uniform:n=400,d=2 --queries 20 --k 4 {timing}");
    let old = json(&place.ok(&format!("{run} --schema 1 --out old --record old.warpscope --json")).stdout);
    let new = json(&place.ok(&format!("{run} --out new --record new.warpscope --json")).stdout);
    assert_eq!((&old["schema_version"], &new["schema_version"]), (&1.into(), &2.into()));
    let (old, new) = (&old["summary"], &new["summary"]);
    assert!(new["mean_distance_evals"].as_f64().unwrap() > 0.0);
    assert_eq!(
        (&old["mean_accessed"], &old["mean_left_out"]),
        (&new["mean_distance_evals"], &new["mean_pruned"])
    );
    assert!(old["mean_pruned"].is_null() && new["mean_left_out"].is_null());
    let head = |folder: &str| {
        let counters = fs::read_to_string(place.path(&format!("{folder}/counters.csv"))).unwrap();
        counters.lines().next().unwrap().to_owned()
    };
    assert_eq!(head("old"), "query,row,merges,candidates,accessed,leaves,nodes,left_out");
    assert_eq!(head("new"), "query,row,merges,candidates,distance_evals,leaves,nodes,pruned");
    // Old files are read, and shown with the current names.
    let described = json(&place.ok("info old.warpscope --json").stdout);
    assert_eq!(described["runs"][0]["run"]["summary"]["mean_pruned"], new["mean_pruned"]);
    place.ok("compare old new");
    place.ok("compare old.warpscope new.warpscope");

    let sweep =
        "sweep --generate uniform:n=400,d=2 --q 20 --k 4 --engine bvh --device cpu --warmup 0 --repeats 1";
    let head = |flags: &str| place.ok(&format!("{sweep}{flags}")).stdout.lines().next().unwrap().to_owned();
    assert!(head(" --schema 1").contains(",mean_accessed,") && head("").contains(",mean_distance_evals,"));

    let steps = |flags: &str| {
        place.ok(&format!("lesson --lesson pruning --out lesson{flags}"));
        fs::read_to_string(place.path("lesson/steps.jsonl")).unwrap()
    };
    let (old, new) = (steps(" --schema 1"), steps(""));
    assert!(old.starts_with(r#"{"schema":1,"#) && old.contains(r#""step":"left_out""#));
    assert_eq!(old.replacen(r#"{"schema":1,"#, r#"{"schema":2,"#, 1).replace("left_out", "pruned"), new);
}

#[test]
fn a_sweep_is_recorded_with_all_its_runs() {
    let place = TestDir::new();
    let sweep = "sweep --generate uniform --n 100,200 --d 2 --q 5 --k 4,300 --engine lockstep,kdtree \
                 --warmup 0 --repeats 3";
    let done = place.ok(&format!("{sweep} --record all.warpscope --no-points"));
    assert_eq!(done.stdout.lines().count(), 9);
    let report = json(&place.ok("info all.warpscope --json").stdout);
    assert_eq!(
        (report["runs"].as_array().unwrap().len(), report["clouds"].as_array().unwrap().len()),
        (8, 2)
    );
    assert_eq!(report["points"], false);
    assert!(place.ok("info all.warpscope").stdout.contains("without points"));
    assert_eq!(report["runs"][7]["name"], "uniform, 5 × 200, k = 300, kdtree");
    assert_eq!(json(&place.ok("info all.warpscope#8 --json").stdout)["runs"].as_array().unwrap().len(), 1);

    let name = "all.warpscope#uniform, 5 × 100, k = 4, kdtree";
    let output = place.command("compare all.warpscope#1").arg(name).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("lockstep against kdtree") && text.contains("The same neighbours"), "{text}");
    let text = place.ok("compare all.warpscope#1 all.warpscope#5").stdout;
    assert!(text.contains("Neighbours not compared: they searched different clouds."), "{text}");
    let refused = place.fails(1, "compare all.warpscope all.warpscope#1");
    assert!(
        refused.starts_with(
            "several runs: select one with all.warpscope#NUMBER: #1 uniform, 5 × 100, k = 4, lockstep; #2 "
        ),
        "{refused}"
    );
    assert!(
        place.fails(1, "compare all.warpscope#9 all.warpscope#1").starts_with("no run `9`: available: #1 ")
    );
}

#[test]
fn recording_errors_are_reported_before_the_search() {
    let place = TestDir::new();
    place.write("no.warpscope", "x,y\n");
    let generated = "run --generate uniform:n=50 --engine lockstep --queries all --repeats 1 --warmup 0";
    assert!(
        place
            .fails(2, &format!("{generated} --record out.zip"))
            .contains("the name of a recording must end in .warpscope")
    );
    assert!(place.fails(2, &format!("{generated} --no-points")).contains("--record"));
    let folder = place.fails(1, &format!("{generated} --record no/out.warpscope"));
    assert_eq!(folder, "cannot write: there is no folder no: no/out.warpscope");
    assert_eq!(place.fails(1, "info no.warpscope"), "not a recording: it is not a zip archive: no.warpscope");
    assert_eq!(
        place.fails(1, "info gone.warpscope"),
        "cannot read: No such file or directory (os error 2): gone.warpscope"
    );
    assert!(place.fails(1, "gui gone.warpscope#1 --png a.png").starts_with("no such file or subcommand"));
}

#[test]
fn a_damaged_recording_gives_a_one_line_error() {
    let place = TestDir::new();
    place.ok("run --generate uniform:n=500,d=3 --queries all --k 3 --warmup 0 --repeats 4 --engine \
              lockstep --record one.warpscope");
    let whole = fs::read(place.path("one.warpscope")).unwrap();
    // The damage is in the points, which neither command reads.
    let mut flipped = whole.clone();
    let name = b"clouds/0/points.npy";
    let points = flipped.windows(name.len()).position(|window| window == name).unwrap();
    flipped[points + 1000] ^= 1;
    fs::write(place.path("flipped.warpscope"), flipped).unwrap();
    fs::write(place.path("cut.warpscope"), &whole[..whole.len() - 300]).unwrap();
    for (file, what) in
        [("flipped.warpscope", "damaged: clouds/0/points.npy: "), ("cut.warpscope", "damaged: zip archive: ")]
    {
        for call in [
            format!("info {file}"),
            format!("compare one.warpscope {file}"),
            format!("compare {file} one.warpscope"),
        ] {
            let error = place.fails(1, &call);
            assert!(error.starts_with(what) && error.ends_with(file), "{call}: {error}");
        }
    }
}

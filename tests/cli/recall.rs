//! `recall`: answers of an approximate index against the truth.

use super::*;

/// Rows 0 to 5 on a line, at 0, 1, −1, 2, −2 and 3; the queries are rows 0 and 5.
fn place() -> TestDir {
    let place = TestDir::new();
    place.write("line.csv", "x\n0\n1\n-1\n2\n-2\n3\n");
    place.write("asked.csv", "x\n0\n3\n");
    // A correct row; then a tie (2 instead of 1), a miss, a duplicate and a gap.
    place.write("answers.csv", "0,2,1\n5,5,-1\n");
    place
}

#[test]
fn computed_ground_truth_counts_ties_as_hits() {
    let place = place();
    let done = place.ok("recall answers.csv --input line.csv --queries asked.csv --at 1,3,2 --engine \
                         kdtree --out each.csv --json");
    assert_eq!(done.stderr, "");
    let report = json(&done.stdout);
    assert_eq!(
        (&report["schema_version"], &report["queries"], &report["width"]),
        (&1.into(), &2.into(), &3.into())
    );
    assert_eq!(report["ties"], "computed");
    assert!(report["truth"].as_str().unwrap().starts_with("computed by kdtree on "));
    assert_eq!(
        report["flaws"],
        serde_json::json!({"missing": 1, "duplicates": 1, "out_of_range": 0, "own": 0})
    );
    let at = |index: usize, name: &str| report["recall"][index][name].as_f64().unwrap();
    assert_eq!([at(0, "k"), at(1, "k"), at(2, "k")], [1.0, 2.0, 3.0]);
    assert_eq!([at(0, "mean"), at(1, "mean"), at(2, "min"), at(2, "perfect")], [1.0, 0.75, 1.0 / 3.0, 1.0]);
    assert_eq!(
        (&report["worst"][0]["row"], &report["worst"][0]["hits"], report["worst"].as_array().unwrap().len()),
        (&1.into(), &1.into(), 1)
    );
    assert_eq!(
        fs::read_to_string(place.path("each.csv")).unwrap(),
        "query,row,recall_at_1,recall_at_2,recall_at_3,missing,duplicates,out_of_range,own\n0,0,1,1,1,0,0,0,\
         0\n1,1,1,0.5,0.3333333333333333,1,1,0,0\n"
    );
    let text = place.ok("recall answers.csv --input line.csv --queries asked.csv --engine kdtree").stdout;
    for said in [
        "2 queries, 3 neighbours each: answers.csv",
        "1 missing, 1 duplicate",
        "answers that tie with the k-th neighbour are hits",
    ] {
        assert!(text.contains(said), "`{said}` is missing from\n{text}");
    }
    assert!(text.contains("        3  0.6667  0.3333"), "{text}");
}

#[test]
fn ground_truth_files_need_distances_to_accept_ties() {
    let place = place();
    let truth =
        "run --input line.csv --queries asked.csv --k 4 --engine lockstep --warmup 0 --repeats 1 --neighbors";
    let mean = |args: &str| {
        json(&place.ok(&format!("recall answers.csv --at 2 {args} --json")).stdout)["recall"][0]["mean"]
            .as_f64()
            .unwrap()
    };
    for name in ["truth.csv", "truth.ibin", "truth.ivecs", "truth.npz", "truth.parquet"] {
        place.ok(&format!("{truth} {name}"));
        let report = json(&place.ok(&format!("recall answers.csv --truth {name} --at 2 --json")).stdout);
        assert_eq!(
            (&report["ties"], report["recall"][0]["mean"].as_f64()),
            (&"listed".into(), Some(0.75)),
            "{name}"
        );
        assert_eq!(mean(&format!("--truth {name} --input line.csv --queries asked.csv")), 0.75, "{name}");
    }
    // By row number alone, row 2 differs from row 1.
    place.write("named.csv", "0,1,2\n5,3,1\n");
    assert_eq!(mean("--truth named.csv"), 0.5);
    let text = place.ok("recall answers.csv --truth named.csv").stdout;
    assert!(text.contains("unknown without distances"), "{text}");
    assert_eq!(mean("--truth named.csv --input line.csv --queries asked.csv"), 0.75);
    // Exact answers have recall 1 in every format.
    let perfect =
        place.ok("recall truth.npz --input line.csv --queries asked.csv --engine kdtree --json").stdout;
    assert_eq!(json(&perfect)["recall"][0]["min"], 1.0);
}

#[test]
fn recall_uses_the_metric_of_the_answers() {
    let place = TestDir::new();
    // Under angular, row 2 ties with row 0; under l2, row 1 is nearest.
    place.write("points.csv", "x,y\n1,0\n1,0.5\n8,0\n0,1\n");
    let search = "--input points.csv --queries all --engine kdtree";
    let mean = |args: &str| {
        json(&place.ok(&format!("recall {args} --json")).stdout)["recall"][0]["mean"].as_f64().unwrap()
    };
    for name in ["cosine.parquet", "cosine.csv", "cosine.arrow", "cosine.npz"] {
        place.ok(&format!("run {search} --k 2 --metric cosine --warmup 0 --repeats 1 --neighbors {name}"));
        let done = place.ok(&format!("recall {name} {search} --json"));
        assert_eq!(done.stderr, format!("note: using metric cosine, as in {name}\n"));
        assert_eq!(
            (&json(&done.stdout)["metric"], json(&done.stdout)["recall"][0]["mean"].as_f64()),
            (&"cosine".into(), Some(1.0))
        );
        assert_eq!(
            place.ok(&format!("recall {name} {search} --metric angular")).stderr,
            "",
            "the same neighbours"
        );
        let other = place.fails(1, &format!("recall {name} {search} --metric l2"));
        assert_eq!(
            other,
            format!("ANSWERS: the answers use metric cosine, but --metric is l2; drop --metric: {name}")
        );
    }
    // Without a stored metric, the metric of the command or of the truth applies.
    place.ok(&format!("run {search} --k 2 --metric cosine --warmup 0 --repeats 1 --neighbors cosine.npy"));
    assert!(mean(&format!("cosine.npy {search}")) < 1.0, "by l2");
    assert_eq!(mean(&format!("cosine.npy {search} --truth cosine.parquet")), 1.0);
    // The metrics stored in a run's folder and in a recording are used.
    place.ok(&format!(
        "run {search} --k 2 --metric angular --exclude-self --warmup 0 --repeats 1 --out folder --record \
         run.warpscope"
    ));
    for name in ["folder", "run.warpscope"] {
        let done = place.ok(&format!("recall {name} {search} --json"));
        assert!(
            done.stderr.contains("using metric angular, as in")
                && done.stderr.contains("excluding each query's own row"),
            "{}",
            done.stderr
        );
        assert_eq!(json(&done.stdout)["recall"][0]["mean"].as_f64(), Some(1.0), "{name}");
    }
}

#[test]
fn ground_truth_with_another_metric_is_refused() {
    let place = place();
    for (metric, name) in [
        ("l2", "l2.csv"),
        ("haversine", "km.csv"),
        ("inner-product", "product.csv"),
        ("inner-product", "product.parquet"),
    ] {
        let columns = if metric == "haversine" { "lon,lat\n0,0\n1,1\n2,2\n" } else { "x,y\n0,0\n1,1\n2,2\n" };
        place.write("some.csv", columns);
        place.ok(&format!("knn some.csv -k 2 --metric {metric} -o {name}"));
    }
    let why = place.fails(1, "recall l2.csv --truth km.csv");
    assert_eq!(
        why,
        "--truth: the truth uses metric haversine, but l2.csv uses l2; pass a truth made with l2: km.csv"
    );
    place.fails(1, "recall product.csv --truth l2.csv");
    let same = json(&place.ok("recall product.csv --truth product.parquet --json").stdout);
    assert_eq!((&same["recall"][0]["mean"], &same["metric"]), (&1.0.into(), &Value::Null));
    let distances = place.fails(1, "recall product.csv --input some.csv --queries all --engine kdtree");
    assert!(distances.starts_with("ANSWERS: the answers use the inner product, "), "{distances}");
}

#[test]
fn invalid_arguments_are_refused() {
    let place = place();
    place.write("three.csv", "0,1,2\n1,0,2\n5,3,1\n");
    let none = "no truth to compare with: add --input and --queries to compute it, or --truth FILE";
    for (code, args, message) in [
        (2, "", none),
        (
            2,
            "--truth three.csv --exclude-self",
            "--exclude-self and --metric need a search; add --input and --queries",
        ),
        (
            2,
            "--input line.csv --at 0",
            "invalid value '0' for '--at <LIST>': invalid number of neighbours `0`: must be 1 or more",
        ),
        (1, "--truth three.csv", "the answers have 2 queries, but the truth has 3: answers.csv"),
        (
            1,
            "--truth three.csv --at 4",
            "recall at 4 needs 4 neighbours per query, but the file of answers has 3; pass --at 3 or less: \
             answers.csv",
        ),
        (
            2,
            "--truth three.csv --out answers.csv",
            "cannot write: this would overwrite an input file; choose another name: answers.csv",
        ),
        (1, "--truth none.csv", "cannot read: No such file or directory (os error 2): none.csv"),
    ] {
        assert_eq!(place.fails(code, &format!("recall answers.csv {args}")), message, "{args}");
    }
    let error = place.fails(1, "recall answers.csv --input line.csv --engine kdtree");
    assert!(error.starts_with("the file answers 2 queries, but this job has 6 queries"), "{error}");
}

#[test]
fn answers_for_different_query_rows_are_refused() {
    let place = TestDir::new();
    place.write("line.csv", "x\n0\n1\n-1.5\n2.5\n-3\n4\n");
    place.ok("knn line.csv rows:5,3 -k 2 --engine kdtree -o five-three.parquet");
    place.ok("knn line.csv rows:3,5 -k 2 --engine kdtree -o three-five.npz");
    let recall = "recall five-three.parquet --input line.csv --engine kdtree --queries";
    let other = place.fails(1, &format!("{recall} rows:3,5"));
    let why = "ANSWERS: query 0 is row 5 in the answers, but row 3 in this job; pass the --queries and \
               --seed the answers were made with: five-three.parquet";
    assert_eq!(other, why);
    assert!(place.ok(&format!("{recall} rows:5,3")).stdout.contains("        2  1.0000"));
    let truth = "recall three-five.npz --truth five-three.parquet";
    assert!(
        place.fails(1, truth).starts_with("ANSWERS: query 0 is row 3 in the answers, but row 5 in this job")
    );
    // Row numbers must exist in the file.
    place.write("wrong.csv", "query,query_row,rank,index\n0,5,0,0\n0,5,1,3\n1,3,0,3\n1,3,1,5\n");
    let worst = json(&place.ok("recall wrong.csv --truth five-three.parquet --json").stdout);
    assert_eq!((&worst["worst"][0]["query"], &worst["worst"][0]["row"]), (&0.into(), &5.into()));
    place.write("bare.csv", "0,3\n3,5\n");
    place.write("truth.csv", "5,3\n3,5\n");
    let bare = place.ok("recall bare.csv --truth truth.csv --json --out each.csv").stdout;
    assert_eq!(json(&bare)["worst"][0].get("row"), None);
    assert!(fs::read_to_string(place.path("each.csv")).unwrap().starts_with("query,recall_at_2,"));
    // Gaps beyond the number of points do not count as missing.
    place.ok("knn line.csv -k 9 --engine kdtree -o all.npz");
    assert!(!place.ok("recall all.npz --input line.csv --engine kdtree").stdout.contains("missing"));
}

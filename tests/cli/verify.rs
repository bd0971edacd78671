//! `verify`: checks against searched values and against the file's values, and recall of an approximate
//! reference.

use super::*;

#[test]
fn verify_f64_compares_with_file_values() {
    let place = TestDir::new();
    // From row 0, row 1 is farther than row 2 by less than f32 resolves.
    place.write("close.csv", "x\n0\n1.000000001\n1\n1e9\n");
    let verify =
        "verify --input close.csv --columns x --queries rows:0 --k 1 --exclude-self --engine lockstep,kdtree";
    let plain = place.ok(verify).stdout;
    assert!(
        plain.ends_with(
            "\nexact on the coordinates in f32, as they are searched; --f64 also compares with \
             the file's own 64-bit values\n"
        ),
        "{plain}"
    );
    let text = place.ok(&format!("{verify} --f64")).stdout;
    assert!(
        text.ends_with(
            "by the file's own 64-bit values the nearest neighbours of 1 of 1 query differ, ties aside, by \
             at most 1.00e-9\n"
        ),
        "{text}"
    );
    let report = json(&place.ok(&format!("{verify} --f64 --json")).stdout);
    let values = &report["file_values"];
    assert_eq!(
        (&values["queries"], &values["different"], &values["missing"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(report["agreed"], true, "the search uses f32");
    assert_eq!(json(&place.ok(&format!("{verify} --json")).stdout)["file_values"], Value::Null);
    let two = place.ok(&format!("{verify} --f64").replace("--k 1", "--k 2")).stdout;
    assert!(two.contains("1 of 1 query differ, ties aside, all only in order"), "{two}");
    place.ok("generate uniform:n=300,d=3 cloud.npy");
    let same = place.ok("verify --input cloud.npy --queries all --k 3 --engine kdtree --f64").stdout;
    assert!(same.contains("of 300 queries are the same, ties aside"), "{same}");
}

/// Woodburn, Iowa, a place to the east that is nearer in kilometres, and one to the north that is nearer in
/// degrees.
const PLACES: &str = "name,latitude,longitude\nWoodburn,41.029822,-93.614875\neast,41.029822,-93.250875\n\
                      north,41.359822,-93.614875\n";

#[test]
fn answers_are_verified_with_their_own_metric() {
    let place = TestDir::new();
    place.write("places.csv", PLACES);
    let note = |name: &str| format!("note: using metric haversine, as in {name}\n");
    let verify = "verify --input places.csv --queries all --k 3 --engine kdtree --reference";
    // Parquet and Arrow store the metric; for others, names of columns and arrays imply it.
    for name in ["found.parquet", "found.arrow", "found.csv", "found.tsv", "found.npz"] {
        place.ok(&format!("knn places.csv -k 3 --engine kdtree -o {name}"));
        let done = place.ok(&format!("{verify} {name}"));
        assert_eq!(done.stderr, note(name));
        assert!(
            done.stdout.contains("haversine")
                && done.stdout.contains("reference answers agree with the oracle: 3 queries"),
            "{}",
            done.stdout
        );
        assert_eq!(place.ok(&format!("{verify} {name} --metric haversine")).stderr, "");
    }
    assert_eq!(json(&place.ok(&format!("{verify} found.csv --json")).stdout)["metric"], "haversine");
    let other = place.fails(1, &format!("{verify} found.csv --metric l2"));
    assert_eq!(
        other,
        "--reference: the answers use metric haversine, but --metric is l2; drop --metric: found.csv"
    );
    // Row numbers alone imply nothing: the metric is the default of `knn`.
    place.ok("knn places.csv -k 3 --engine kdtree -o found.npy");
    place.ok(&format!("{verify} found.npy"));
    let asked = place.call(&format!("{verify} found.npy --metric l2"));
    assert!(
        asked.stderr.contains("wrong reference answers") && !asked.stderr.contains("by default"),
        "{}",
        asked.stderr
    );
}

#[test]
fn answers_are_verified_on_their_own_columns() {
    let place = TestDir::new();
    // By x and y alone, row 2 is nearest to row 0; with the numeric column `weight`, row 1 is.
    let rows = "1,0,0,0\n2,3,0,1\n3,1,0,90\n4,9,9,5\n";
    place.write("named.csv", &format!("id,left,up,weight\n{rows}"));
    place.write("posed.csv", &format!("id,pos_x,pos_y,weight\n{rows}"));
    place.write("asked.csv", "weight,there_x,there_y\n7,0,0\n8,9,8\n");
    let verify = "verify --input named.csv --engine kdtree";
    for name in ["found.parquet", "found.arrow"] {
        place.ok(&format!("knn named.csv --columns left,up -k 2 --engine kdtree --exclude-self -o {name}"));
        let done = place.ok(&format!("{verify} --queries all --k 2 --reference {name}"));
        let notes = format!(
            "note: excluding each query's own row, as in {name}\nnote: using columns left, up of named.csv, \
             as in {name}; override with --columns\n"
        );
        assert_eq!(done.stderr, notes);
        assert!(
            done.stdout.contains("columns left, up\n")
                && done.stdout.contains("agree with the oracle: 4 queries"),
            "{}",
            done.stdout
        );
        let all = place
            .call(&format!("{verify} --columns 0-3 --queries all --k 2 --exclude-self --reference {name}"));
        assert_eq!(
            (all.code, all.stderr.contains("note: ")),
            (1, false),
            "given columns must be used: {}",
            all.stderr
        );
    }
    // Queries from a file have their own columns.
    place.ok("knn posed.csv asked.csv -k 2 --engine kdtree -o of_file.parquet");
    let of_file = place
        .ok("verify --input posed.csv --engine kdtree --queries asked.csv --k 2 --reference of_file.parquet");
    assert!(
        of_file.stdout.contains("columns pos_x, pos_y; queries: there_x, there_y\n"),
        "{}",
        of_file.stdout
    );
    // Missing values in columns that are not searched do not matter.
    place.write("holes.csv", "pos_x,pos_y,weight\n0,0,0\n3,0,\n1,0,90\n9,9,5\n");
    place.ok("knn holes.csv -k 2 --engine kdtree -o holes.parquet");
    let holes =
        place.ok("verify --input holes.csv --queries all --k 2 --engine kdtree --reference holes.parquet");
    assert!(holes.stdout.contains("columns pos_x, pos_y\n"), "{}", holes.stdout);
    assert!(
        place
            .fails(1, "verify --input holes.csv --columns 0-2 --queries all --k 2 --engine kdtree")
            .contains("weight")
    );
    // A cloud without these columns is searched with its default columns.
    place.write("others.csv", "a,b\n0,0\n3,0\n1,0\n9,9\n");
    let others =
        place.ok("verify --input others.csv --engine kdtree --queries all --k 2 --reference found.parquet");
    assert!(
        others.stdout.contains("columns a, b\n") && !others.stderr.contains("columns"),
        "{}",
        others.stderr
    );
    // If no columns are stored, the default columns of `knn` are used.
    place.ok("knn named.csv -k 2 --engine kdtree -o found.csv");
    place.ok(&format!("{verify} --queries all --k 2 --reference found.csv"));
}

#[test]
fn metadata_is_written_to_standard_output() {
    let place = TestDir::new();
    place.write("points.csv", "x,y\n0,0\n3,4\n0,1\n6,8\n");
    for format in ["arrow", "parquet"] {
        let mut command = place.command(&format!(
            "knn - -k 2 --exclude-self --metric l2 --engine kdtree -o - --format {format}"
        ));
        let output = command.stdin(fs::File::open(place.path("points.csv")).unwrap()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told = b"\"metric\":\"l2\",\"arithmetic\":\"file\",\"k\":2,\"columns\":[\"x\",\"y\"],\
                     \"columns_by\":\"by name\",\"exclude_self\":true,\"cloud\":\"stdin\",\"queries\":\"all\"}";
        assert!(output.stdout.windows(told.len()).any(|bytes| bytes == told), "{format}");
        fs::write(place.path("found"), &output.stdout).unwrap();
        let done =
            place.ok("verify --input points.csv --queries all --k 2 --engine kdtree --reference found");
        assert_eq!(done.stderr, "note: excluding each query's own row, as in found\n");
    }
}

#[test]
fn verify_rejects_inner_product_references() {
    let place = TestDir::new();
    place.write("points.csv", "x,y\n1,0\n3,4\n0,1\n");
    for name in ["found.parquet", "found.csv", "found.npz"] {
        place.ok(&format!("knn points.csv -k 2 --metric inner-product -o {name}"));
        let why = place.fails(
            1,
            &format!("verify --input points.csv --queries all --k 2 --engine kdtree --reference {name}"),
        );
        assert!(
            why.starts_with(
                "--reference: the answers use the inner product, which a distance search cannot check; "
            ),
            "{why}"
        );
        assert!(why.ends_with(&format!(": {name}")), "{why}");
    }
}

#[test]
fn verify_reports_the_recall_of_a_reference() {
    let place = TestDir::new();
    place.write("line.csv", "x\n0\n1\n-1.5\n2.5\n-3\n4\n");
    // Two neighbours each of rows 0, 1 and 5: correct, half correct, in wrong order.
    place.write("answers.csv", "0,1\n1,4\n3,5\n");
    let verify = "verify --input line.csv --queries rows:0,1,5 --k 2 --engine kdtree --reference answers.csv";
    let done = place.call(verify);
    assert_eq!(done.code, 1);
    let told = "reference answers WRONG: recall@2 0.8333: 1 of 3 queries has a neighbour outside the true \
                2; 1 more in the wrong order; in the others, 0 ties resolved differently: answers.csv\n";
    assert!(done.stdout.ends_with(told), "{}", done.stdout);
    assert!(
        done.stderr.starts_with("error: wrong reference answers: query 1, rank 1: row 4 at squared distance"),
        "{}",
        done.stderr
    );
    let report = json(&place.call(&format!("{verify} --json")).stdout);
    let reference = &report["reference"];
    assert_eq!(
        (&reference["wrong"], &reference["recall"]["k"], &reference["recall"]["perfect"]),
        (&2.into(), &2.into(), &2.into())
    );
    assert_eq!(reference["path"], "answers.csv");
}

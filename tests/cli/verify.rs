//! `verify`: what it verifies, on the values that were searched and on those of the file, and how approximate a reference is.

use super::*;

#[test]
fn the_files_own_values_are_compared_where_that_is_asked() {
    let place = Place::new();
    // From row 0, row 1 is farther than row 2 by less than f32 can tell.
    place.write("close.csv", "x\n0\n1.000000001\n1\n1e9\n");
    let verify = "verify --input close.csv --columns x --queries rows:0 --k 1 --exclude-self --engine lockstep,kdtree";
    let plain = place.ok(verify).stdout;
    assert!(
        plain.ends_with("\nexact on the coordinates in f32, as they are searched; --f64 also compares with the file's own 64-bit values\n"),
        "{plain}"
    );
    let text = place.ok(&format!("{verify} --f64")).stdout;
    assert!(
        text.ends_with("by the file's own 64-bit values the nearest neighbours of 1 of 1 query are others, ties aside, by at most 1.00e-9\n"),
        "{text}"
    );
    let report = json(&place.ok(&format!("{verify} --f64 --json")).stdout);
    let values = &report["file_values"];
    assert_eq!((&values["queries"], &values["different"], &values["missing"]), (&1.into(), &1.into(), &1.into()));
    assert_eq!(report["agreed"], true, "what is searched is f32");
    assert_eq!(json(&place.ok(&format!("{verify} --json")).stdout)["file_values"], Value::Null);
    let two = place.ok(&format!("{verify} --f64").replace("--k 1", "--k 2")).stdout;
    assert!(two.contains("1 of 1 query are others, ties aside, all in the order alone"), "{two}");
    place.ok("generate uniform:n=300,d=3 cloud.npy");
    let same = place.ok("verify --input cloud.npy --queries all --k 3 --engine kdtree --f64").stdout;
    assert!(same.contains("of 300 queries are the same, but for ties"), "{same}");
}

#[test]
fn the_recall_of_a_reference_is_told() {
    let place = Place::new();
    place.write("line.csv", "x\n0\n1\n-1.5\n2.5\n-3\n4\n");
    // The neighbours of rows 0, 1 and 5, two each: right, one of two right, in a wrong order.
    place.write("answers.csv", "0,1\n1,4\n3,5\n");
    let verify = "verify --input line.csv --queries rows:0,1,5 --k 2 --engine kdtree --reference answers.csv";
    let done = place.call(verify);
    assert_eq!(done.code, 1);
    let told = "reference answers WRONG: recall@2 0.8333: 1 of 3 queries has a neighbour that is not among the true 2; \
                1 more in a wrong order; in the others, 0 other indices at a tie: answers.csv\n";
    assert!(done.stdout.ends_with(told), "{}", done.stdout);
    assert!(done.stderr.starts_with("error: wrong reference answers: query 1, rank 1: row 4 is named"), "{}", done.stderr);
    let report = json(&place.call(&format!("{verify} --json")).stdout);
    let reference = &report["reference"];
    assert_eq!((&reference["wrong"], &reference["recall"]["k"], &reference["recall"]["perfect"]), (&2.into(), &2.into(), &2.into()));
    assert_eq!(reference["path"], "answers.csv");
}

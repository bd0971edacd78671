use super::*;

pub(super) const WATER: &str =
    "3\nwater, at rest\nO 0.0 0.0 0.119\nH 0.0 0.763 -0.477\nH 0.0 -0.763 -0.477\n";

#[test]
fn atoms_have_coordinates_and_an_element() {
    let sample = SampleFile::new("water.xyz", WATER);
    assert_eq!(
        sample.table(""),
        (names(&["x", "y", "z"]), vec![0.0, 0.0, 0.119, 0.0, 0.763, -0.477, 0.0, -0.763, -0.477])
    );
    assert_eq!(sample.info().format, "XYZ, atoms");
    let ColumnData::Categories { names: found, codes } =
        column(&sample.path, "element", &NoProgress).unwrap()
    else {
        panic!("elements are text")
    };
    assert_eq!((found, codes), (names(&["O", "H"]), vec![0, 1, 1]));
    // Charges, blank remarks, other line ends, gzip.
    let charged = SampleFile::new("a.xyz", "1\r\n\r\nNa1\t1 2 3 0.5\r\n");
    assert_eq!(charged.table("d4,z"), (names(&["d4", "z"]), vec![0.5, 3.0]));
    assert_eq!(SampleFile::new("a.xyz.gz", gzip(WATER)).info().rows, 3);
    // Points with a count are not atoms.
    assert_eq!(
        SampleFile::new("a.xyz", "2\n1 2 3\n4 5 6\n").info().format,
        "delimited text, spaces, no header"
    );
}

#[test]
fn trajectory_frames_are_data_sets() {
    let sample = SampleFile::new("a.xyz", format!("{WATER}2\nnext\nO 1 2 3\nH 4 5 6\n"));
    assert_eq!(
        sample.error(),
        "the file contains several clouds: choose one with FILE:NAME; available: `0` (3 × 4), `1` (2 × 4)"
    );
    assert_eq!(sample.dataset("1"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn errors_report_the_line() {
    let error = |text: &str| SampleFile::new("a.xyz", text).error();
    assert_eq!(error("3\nwater\nO 0 0 0\nH 0 1 0\n"), "cut short: a frame declares 3 atoms but has 2");
    let more = "line 4: `H 0 1 0` is not a number of atoms, which should follow a frame; does it have more \
                atoms than declared?";
    assert_eq!(error("1\nwater\nO 0 0 0\nH 0 1 0\n"), more);
    assert_eq!(error("2\nwater\nO 0 0 0\nH 0 1\n"), "line 4, atom 1: expected 4 fields, found 3");
    assert_eq!(error("2\nwater\nO 0 0 0\nH 0 1 z\n"), "line 4, atom 1: `z` is not a number");
}

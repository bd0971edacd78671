use super::*;

/// An array in the format of MNIST.
pub(super) fn idx(kind: u8, sizes: &[u32], data: &[u8]) -> Vec<u8> {
    [
        &[0, 0, kind, sizes.len() as u8][..],
        &sizes.iter().flat_map(|size| size.to_be_bytes()).collect::<Vec<_>>(),
        data,
    ]
    .concat()
}

/// Three images of 2 × 3.
fn images() -> Vec<u8> {
    idx(8, &[3, 2, 3], &(0..18).collect::<Vec<u8>>())
}

/// A folder with files of these names.
fn folder(files: &[(&str, Vec<u8>)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn open_in(folder: &TempDir, name: &str) -> Sheet {
    scan(&folder.path().join(name), &ColumnRequest::Everything, &NoProgress).unwrap()
}

#[test]
fn images_become_rows_of_pixels() {
    for name in ["train-images-idx3-ubyte", "a.idx", "train-images.idx3-ubyte"] {
        let sample = SampleFile::new(name, images());
        assert_eq!(
            sample.table(""),
            (names(&["r0c0", "r0c1", "r0c2", "r1c0", "r1c1", "r1c2"]), (0..18).map(f64::from).collect())
        );
        assert_eq!(sample.info().format, "IDX, 3 × 2 × 3 u8");
    }
    for name in ["train-images-idx3-ubyte.gz", "a.idx.gz", "a.idx3-ubyte.gz"] {
        let sample = SampleFile::new(name, gzip(images()));
        assert_eq!(sample.table("r1c1,0").1, [4.0, 0.0, 10.0, 6.0, 16.0, 12.0]);
        assert_eq!(sample.info().format, "IDX, 3 × 2 × 3 u8, gzip");
    }
}

#[test]
fn every_type_and_rank_is_read() {
    for (kind, bytes, value) in [
        (8, vec![255], 255.0),
        (9, vec![255], -1.0),
        (11, (-300i16).to_be_bytes().to_vec(), -300.0),
        (12, 70_000i32.to_be_bytes().to_vec(), 70_000.0),
        (13, 1.5f32.to_be_bytes().to_vec(), 1.5),
        (14, (-2.5f64).to_be_bytes().to_vec(), -2.5),
    ] {
        assert_eq!(
            SampleFile::new("a.idx", idx(kind, &[2], &bytes.repeat(2))).table(""),
            (names(&["x"]), vec![value; 2])
        );
        assert_eq!(
            SampleFile::new("a.idx", idx(kind, &[1, 4], &bytes.repeat(4))).table("").0,
            names(&["d0", "d1", "d2", "d3"])
        );
        assert_eq!(
            SampleFile::new("a.idx", idx(kind, &[1, 2, 1, 2], &bytes.repeat(4))).table("").1,
            [value; 4]
        );
    }
    assert_eq!(
        SampleFile::new("train-labels-idx1-ubyte", idx(8, &[2], &[7, 9])).table(""),
        (names(&["label"]), vec![7.0, 9.0])
    );
}

#[test]
fn matching_label_files_add_a_label_column() {
    let labels = idx(8, &[3], &[5, 0, 4]);
    for (images_name, packed, labels_name, packed_labels) in [
        ("train-images-idx3-ubyte", false, "train-labels-idx1-ubyte", false),
        ("train-images-idx3-ubyte.gz", true, "train-labels-idx1-ubyte.gz", true),
        ("train-images.idx3-ubyte", false, "train-labels.idx1-ubyte.gz", true),
        ("train-images-idx3-ubyte.gz", true, "train-labels-idx1-ubyte", false),
    ] {
        let pack = |packed: bool, content: Vec<u8>| if packed { gzip(content) } else { content };
        let folder = folder(&[
            (images_name, pack(packed, images())),
            (labels_name, pack(packed_labels, labels.clone())),
        ]);
        let sheet = open_in(&folder, images_name);
        let info = sheet.info();
        assert_eq!(
            (info.columns.len(), info.columns[6].name.as_str(), info.default_columns.len()),
            (7, "label", 6)
        );
        assert_eq!((info.columns[6].min, info.columns[6].max), (Some(0.0), Some(5.0)));
        let path = folder.path().join(images_name);
        assert_eq!(read(&path, &"label".parse().unwrap(), &NoProgress).unwrap().values, [5.0, 0.0, 4.0]);
        assert_eq!(
            read(&path, &ColumnChoice::Default, &NoProgress).unwrap().values,
            (0..18).map(f64::from).collect::<Vec<f64>>()
        );
    }
    // Mismatched or missing labels do not keep the images from being read.
    for (content, why) in [
        (idx(8, &[2], &[5, 0]), "label mismatch: 3 images but 2 × 1 labels"),
        (idx(8, &[3], &[5]), "cut short: the file ends in the middle of its data"),
        (b"hello".to_vec(), "header: does not begin with two zero bytes; possibly another format"),
    ] {
        let folder = folder(&[("x-images", images()), ("x-labels", content)]);
        let info = open_in(&folder, "x-images").info();
        assert_eq!(
            (info.columns.len(), &info.skipped[..]),
            (6, &[format!("the labels in x-labels were not read: {why}")][..])
        );
    }
}

#[test]
fn invalid_headers_are_refused() {
    let error = |content: Vec<u8>| SampleFile::new("a.idx", content).error();
    assert!(error(idx(8, &[4, 2, 3], &[0; 18])).starts_with("cut short"));
    assert!(error(idx(8, &[u32::MAX, 2, 3], &[0; 18])).starts_with("cut short"));
    assert_eq!(
        error(idx(8, &[1, u32::MAX, u32::MAX], &[])),
        "rows of 18446744065119617025 numbers: at most 1048576 are supported"
    );
    // A few bytes declare a million columns.
    let wide = idx(13, &[1, 1 << 20], &[0; 4]);
    let why = "cut short: the header declares rows of 1048576 numbers, more than the file holds";
    assert_eq!(
        (error(wide.clone()), SampleFile::new("a.idx.gz", gzip(&wide)).error()),
        (why.to_owned(), why.to_owned())
    );
    let none = "nothing to read: the header declares 0 rows";
    assert_eq!(
        (
            error(idx(13, &[0, 1 << 20], &[])),
            SampleFile::new("a.idx.gz", gzip(idx(8, &[0, 2036, 49], &[]))).error()
        ),
        (none.to_owned(), none.to_owned())
    );
    assert_eq!(
        SampleFile::new("a.idx.gz", gzip(idx(13, &[1, 1 << 14], &[0; 4 << 14]))).info().columns.len(),
        1 << 14
    );
    assert_eq!(error(idx(8, &[3, 0, 3], &[])), "header: the rows are empty");
    assert_eq!(error(idx(10, &[3], &[1, 2, 3])), "header: unknown element type 0x0a");
    assert_eq!(error(idx(8, &[1; 9], &[1])), "header: an array of 9 dimensions");
    assert_eq!(
        error(b"\0\x01\x08\x01".to_vec()),
        "header: does not begin with two zero bytes; possibly another format"
    );
    assert_eq!(
        SampleFile::new("a.idx", idx(8, &[1], &[1, 2])).info().skipped,
        ["data after the numbers was not read"]
    );
    assert_eq!(SampleFile::new("a.idx", idx(8, &[0, 2, 2], &[])).info().rows, 0);
    // A number of vectors that looks like another format's header.
    let vectors = [&0x0108_0000u32.to_le_bytes()[..], &1u32.to_le_bytes(), &[0; 4]].concat();
    assert!(SampleFile::new("a.fbin", vectors).error().starts_with("cut short: 17301504 vectors"));
}

#[test]
fn gzip_checksums_are_verified_despite_trailing_data() {
    let content = [idx(8, &[4], &[1, 2, 3, 4]), vec![9; 1000]].concat();
    let whole = gzip(&content);
    assert_eq!(SampleFile::new("a.idx.gz", &whole).info().skipped, ["data after the numbers was not read"]);
    let mut damaged = whole;
    let sum = damaged.len() - 8;
    damaged[sum] ^= 1;
    assert_eq!(SampleFile::new("a.idx.gz", damaged).error(), "data: damaged, and cannot be unpacked");
}

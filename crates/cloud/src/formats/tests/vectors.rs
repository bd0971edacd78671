use super::*;

fn texmex(rows: &[&[u8]], dims: i32) -> Vec<u8> {
    rows.iter().flat_map(|row| [&dims.to_le_bytes()[..], row].concat()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn big_ann(rows: u32, dims: u32, data: &[u8]) -> Vec<u8> {
    [&rows.to_le_bytes()[..], &dims.to_le_bytes(), data].concat()
}

#[test]
fn texmex_vectors_are_read() {
    let f = SampleFile::new("a.fvecs", texmex(&[&floats(&[1.0, -2.5]), &floats(&[3.0, f32::NAN])], 2));
    assert_values(&f.table("").1, &[1.0, -2.5, 3.0, f64::NAN]);
    assert_values(&f.table("1").1, &[-2.5, f64::NAN]);
    assert_eq!(
        SampleFile::new("a.bvecs", texmex(&[&[1, 255, 3, 4], &[5, 6, 7, 8]], 4)).table("").1,
        [1.0, 255.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    );
    assert_eq!(
        SampleFile::new("a.ivecs", texmex(&[&(-7i32).to_le_bytes()], 1)).table(""),
        (names(&["x"]), vec![-7.0])
    );
    // More than one batch.
    let many = SampleFile::new("a.bvecs", texmex(&[&[1, 2][..]; 100_000], 2)).table("").1;
    assert!(many.len() == 200_000 && many.chunks(2).all(|row| row == [1.0, 2.0]));
}

#[test]
fn big_ann_vectors_are_read() {
    assert_eq!(
        SampleFile::new("a.fbin", big_ann(2, 2, &floats(&[1.0, 2.0, 3.0, 4.5]))).table("").1,
        [1.0, 2.0, 3.0, 4.5]
    );
    assert_eq!(SampleFile::new("a.u8bin", big_ann(1, 3, &[1, 2, 255])).table("").1, [1.0, 2.0, 255.0]);
    assert_eq!(SampleFile::new("a.i8bin", big_ann(1, 3, &[1, 2, 255])).table("2,0").1, [-1.0, 1.0]);
    let empty = SampleFile::new("a.fbin", big_ann(0, 3, &[]));
    assert_eq!((empty.table("").1.len(), empty.info().rows), (0, 0));
}

#[test]
fn inconsistent_sizes_are_refused() {
    let vectors = texmex(&[&floats(&[1.0, 2.0]), &floats(&[3.0, 4.0])], 2);
    let mut uneven = vectors.clone();
    uneven[12] = 3;
    for (name, content, part) in [
        (
            "a.fvecs",
            &vectors[..23],
            "cut short: 23 bytes are not a whole number of vectors of 2 dimensions, 12 bytes each",
        ),
        ("a.fvecs", &vectors[..3], "cut short"),
        ("a.fvecs", &uneven, "record 1: its dimension is 3, but the first one's is 2"),
        ("a.fvecs", &0i32.to_le_bytes(), "dimension 0: must be between 1 and 1048576"),
        ("a.fvecs", &(-1i32).to_le_bytes(), "dimension -1"),
        ("a.fvecs", &i32::MAX.to_le_bytes(), "dimension 2147483647"),
        (
            "a.fbin",
            &big_ann(3, 2, &[0; 16]),
            "cut short: 3 vectors of 2 dimensions take 32 bytes, but the file has 24",
        ),
        ("a.fbin", &big_ann(u32::MAX, 1 << 20, &[0; 16]), "cut short"),
        ("a.fbin", &big_ann(1, 2, &[0; 16]), "header: 1 vectors of 2 dimensions take 16 bytes"),
        ("a.fbin", &big_ann(1, u32::MAX, &[0; 16]), "dimension 4294967295"),
        ("a.fbin", &big_ann(0, 1 << 20, &[]), "nothing to read: the header declares 0 vectors"),
        ("a.fbin", &[1, 0, 0, 0, 1], "cut short"),
    ] {
        let message = SampleFile::new(name, content).error();
        assert!(message.contains(part), "{message}");
    }
}

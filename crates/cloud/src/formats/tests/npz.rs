use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::npy::npy;
use super::*;

/// An archive in NumPy's format.
pub(super) fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (at, (name, content)) in members.iter().enumerate() {
        // numpy.savez stores, numpy.savez_compressed deflates.
        let method =
            if at.is_multiple_of(2) { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn array(rows: usize, value: u8) -> Vec<u8> {
    npy("|u1", false, &format!("({rows}, 2)"), &vec![value; rows * 2])
}

fn line(rows: usize) -> Vec<u8> {
    npy("|u1", true, &format!("({rows},)"), &vec![9; rows])
}

#[test]
fn the_most_plausible_array_is_selected() {
    let archives: [&[(&str, Vec<u8>)]; 6] = [
        &[("any.npy", array(2, 1))],
        &[("labels.npy", line(5)), ("any.npy", array(2, 1)), ("notes.txt", vec![1, 2])],
        &[("other.npy", array(3, 7)), ("X.npy", array(2, 1))],
        &[("x.npy", array(3, 7)), ("points.npy", array(2, 1))],
        &[("names.npy", npy("<U1", false, "(2,)", &[0; 8])), ("any.npy", array(2, 1))],
        &[("version.npy", npy("|u1", false, "()", &[1])), ("any.npy", array(2, 1))],
    ];
    for members in archives {
        assert_eq!(SampleFile::new("a.npz", npz(members)).table("").1, [1.0; 4], "{:?}", members[0].0);
    }
    assert_eq!(SampleFile::new("a.npz", npz(&[("only.npy", line(3))])).table("").1, [9.0; 3]);
}

#[test]
fn vectors_are_distinguished_from_auxiliary_arrays() {
    let int = |columns: usize| npy("<i8", false, &format!("(2, {columns})"), &vec![3; 16 * columns]);
    let real = |columns: usize, value: f32| {
        npy("<f4", false, &format!("(2, {columns})"), &value.to_le_bytes().repeat(2 * columns))
    };
    let text = || npy("<U1", false, "(2,)", &[0; 8]);
    let deep = || npy("<f4", true, "(2, 2, 3)", &[0; 48]);
    for members in [
        // Token ids, masks, boxes, labels and scores, by type or by name.
        vec![("input_ids.npy", int(5)), ("attention_mask.npy", int(5)), ("emb.npy", real(4, 1.0))],
        vec![
            ("tokens.npy", int(5)),
            ("emb.npy", real(4, 1.0)),
            ("version.npy", npy("<U1", false, "()", &[0; 4])),
        ],
        vec![("codes.npy", int(5)), ("emb.npy", real(4, 1.0)), ("names.npy", text())],
        vec![
            ("boxes.npy", real(4, 7.0)),
            ("gtBoxes.npy", real(4, 7.0)),
            ("scores.npy", real(2, 7.0)),
            ("emb.npy", real(4, 1.0)),
        ],
        vec![
            ("labels.npy", real(1, 7.0)),
            ("y.npy", real(1, 7.0)),
            ("emb.npy", real(4, 1.0)),
            ("mask.npy", deep()),
        ],
        vec![("token_embeddings.npy", real(4, 1.0)), ("token_mask.npy", real(4, 7.0))],
        vec![
            ("ids.npy", int(1)),
            ("records.npy", {
                let plain = npy("|O", false, "(2,)", &[]);
                let text = String::from_utf8_lossy(&plain[10..])
                    .trim_end()
                    .replace("'|O'", "[('x', '<f4'), ('y', '<f4')]");
                [
                    b"\x93NUMPY\x01\x00",
                    &(text.len() as u16).to_le_bytes()[..],
                    text.as_bytes(),
                    &1f32.to_le_bytes().repeat(4),
                ]
                .concat()
            }),
        ],
    ] {
        let found = SampleFile::new("a.npz", npz(&members)).table("").1;
        assert!(
            found.len() > 2 && found.iter().all(|&value| value == 1.0),
            "{:?}: {found:?}",
            members.iter().map(|member| member.0).collect::<Vec<_>>()
        );
    }
    // Equally good candidates, or none.
    for members in [
        vec![("a.npy", real(4, 1.0)), ("b.npy", real(4, 1.0))],
        vec![("input_ids.npy", int(5)), ("attention_mask.npy", int(5))],
        vec![("boxes.npy", real(4, 1.0)), ("labels.npy", line(2))],
        vec![("boxes.npy", real(4, 1.0)), ("codes.npy", int(5))],
        vec![("x.npy", line(3)), ("y.npy", line(3)), ("z.npy", line(3))],
    ] {
        let message = SampleFile::new("a.npz", npz(&members)).error();
        assert!(
            message.starts_with("the file contains several clouds: choose one with FILE:NAME; available: `"),
            "{message}"
        );
    }
}

#[test]
fn unsupported_data_arrays_require_a_choice() {
    let int = |columns: usize| npy("<i8", false, &format!("(2, {columns})"), &vec![3; 16 * columns]);
    let real = |columns: usize| npy("<f4", false, &format!("(2, {columns})"), &[0; 32][..8 * columns]);
    let (deep, text, complex) = (
        npy("<f4", true, "(2, 2, 3)", &[0; 48]),
        npy("<U1", false, "(2,)", &[0; 8]),
        npy("<c8", false, "(2, 2)", &[0; 32]),
    );
    for (array, beside) in [
        (&deep, vec![("label.npy", line(2))]),
        (&deep, vec![("label.npy", int(1)), ("faceId.npy", int(9))]),
        (&deep, vec![("codes.npy", int(9))]),
        (&deep, vec![("weight.npy", npy("<f4", false, "(2,)", &[0; 8]))]),
        (&deep, vec![("normals.npy", real(3)), ("label.npy", line(2))]),
        (&text, vec![("label.npy", line(2))]),
        (&complex, vec![("label.npy", int(1))]),
        (&npy("|O", false, "(2,)", b"...."), vec![("codes.npy", int(9))]),
    ] {
        let members = [vec![("data.npy", array.clone())], beside].concat();
        let sample = SampleFile::new("a.npz", npz(&members));
        let message = sample.error();
        let name = members[1].0.trim_end_matches(".npy");
        assert!(
            message.starts_with("array `data`: ")
                && message.contains("; choose another with FILE:NAME; available: `data` (not read), `"),
            "{message}"
        );
        assert!(message.contains(&format!("`{name}` (2")), "{message}");
        assert!(sample.read_dataset(name).is_ok());
    }
    // The readable array has a usual name, or only accompanies the vectors.
    for beside in [vec![("points.npy", real(3))], vec![("X.npy", int(3))]] {
        assert!(
            SampleFile::new("a.npz", npz(&[vec![("data.npy", deep.clone())], beside].concat()))
                .read("")
                .is_ok()
        );
    }
    assert!(
        SampleFile::new("a.npz", npz(&[("images.npy", deep), ("normals.npy", real(3))])).read("").is_ok()
    );
    assert!(SampleFile::new("a.npz", npz(&[("data.npy", text), ("emb.npy", real(3))])).read("").is_ok());
}

#[test]
fn unsupported_archives_are_identified() {
    let (int, one) = (
        |count: usize| npy("<i4", false, &format!("({count},)"), &vec![0; 4 * count]),
        npy("|S3", false, "()", b"csr"),
    );
    let rows = npz(&[
        ("indices.npy", int(4)),
        ("indptr.npy", int(3)),
        ("format.npy", one.clone()),
        ("shape.npy", int(2)),
        ("data.npy", int(4)),
    ]);
    // The data of a matrix stored by diagonals are a table.
    let diagonals = npz(&[
        ("format.npy", one),
        ("shape.npy", int(2)),
        ("offsets.npy", int(2)),
        ("data.npy", array(2, 1)),
    ]);
    for content in [rows, diagonals] {
        assert!(
            SampleFile::new("a.npz", content)
                .error()
                .starts_with("a sparse matrix: save it dense, for instance")
        );
    }
    let zipped = npz(&[("a/points.csv", b"1,2".to_vec()), ("readme.txt", vec![])]);
    assert_eq!(
        SampleFile::new("a.csv.zip", &zipped).error(),
        "a zip archive with `a/points.csv`, `readme.txt`: unpack it first"
    );
    assert_eq!(
        SampleFile::new("a.xlsx", &zipped).error(),
        "Excel files are not supported: save the sheet as CSV"
    );
}

#[test]
fn arrays_are_selected_by_name() {
    let sample = SampleFile::new(
        "a.npz",
        npz(&[
            ("one.npy", array(2, 1)),
            ("two.npy", array(1, 7)),
            ("odd.npy", npy("|O", false, "(2, 2)", b"....")),
        ]),
    );
    assert_eq!(sample.dataset("two"), [7.0, 7.0]);
    let all = "`one` (2 × 2), `two` (1 × 2), `odd` (not read)";
    let message = sample.read_dataset("three").unwrap_err().to_string();
    assert!(message.starts_with(&format!("part `three`: not found; available: {all}: ")), "{message}");
    assert_eq!(
        sample.error(),
        format!("the file contains several clouds: choose one with FILE:NAME; available: {all}")
    );
    let info = describe(&path_of(&sample.path, "two"), &NoProgress).unwrap();
    assert_eq!(info.format, "NumPy archive, array `two`: 1 × 2 u8");
    let datasets = datasets(&sample.path, &NoProgress).unwrap();
    assert_eq!(
        (datasets[0].name.as_str(), datasets[0].rows, datasets[0].columns, datasets[0].about.as_str()),
        ("one", 2, 2, "u8")
    );
    assert!(
        datasets[2].unread.as_ref().is_some_and(|why| why.contains("pickled") && !why.contains("a.npz")),
        "{:?}",
        datasets[2]
    );
}

#[test]
fn long_lists_of_arrays_are_truncated() {
    let members: Vec<(String, Vec<u8>)> = (0..40).map(|at| (format!("a{at}.npy"), array(1, 1))).collect();
    let members: Vec<(&str, Vec<u8>)> =
        members.iter().map(|(name, content)| (name.as_str(), content.clone())).collect();
    let message = SampleFile::new("a.npz", npz(&members)).error();
    assert!(message.ends_with("`a11` (1 × 2), … 40 in all"), "{message}");
}

#[test]
fn declared_sizes_beyond_the_deflate_ratio_are_refused() {
    let promising = |rows: usize| npy("|u1", false, &format!("({rows}, 2)"), &[7; 64]);
    let message = SampleFile::new("a.npz", npz(&[("a.npy", promising(1_000_000))])).error();
    assert!(
        message.starts_with("array `a`: cut short: the header declares 2000000 bytes of data, which ")
            && message.ends_with("cannot hold"),
        "{message}"
    );
    // Zeros pack a thousandfold.
    assert_eq!(SampleFile::new("a.npz", npz(&[("a.npy", array(2_000_000, 0))])).info().rows, 2_000_000);
}

#[test]
fn unusable_archives_are_refused() {
    let stored = npz(&[("a.txt", vec![]), ("a.npy", npy("|u1", false, "(4, 2)", &[77; 8]))]);
    let damaged = stored.windows(8).position(|bytes| bytes == [77; 8]).unwrap();
    let checksum =
        SampleFile::new("a.npz", [&stored[..damaged], &[78], &stored[damaged + 1..]].concat()).error();
    assert_eq!(checksum, "array `a`: data: damaged, and cannot be unpacked");
    let good = npz(&[("a.npy", array(1000, 1))]);
    for (content, part) in [
        (npz(&[]), "no arrays"),
        (npz(&[("a.txt", vec![1])]), "a zip archive with `a.txt`: unpack it first"),
        (npz(&[("a.npy", line(2)), ("b.npy", line(3))]), "several clouds"),
        (npz(&[("a.npy", npy("|O", false, "(2, 2)", b"...."))]), "pickled objects"),
        (npz(&[("a.npy", npy("<f8", false, "(1000000000, 1000)", &[0; 64]))]), "cut short"),
        (npz(&[("a.npy", npy("<f8", true, "(1000000000, 1000)", &[0; 64]))]), "cut short"),
        (good[..good.len() / 2].to_vec(), "zip archive"),
    ] {
        let message = SampleFile::new("a.npz", content).error();
        assert!(message.contains(part), "{message}");
    }
}

/// The bytes with a patch at an offset.
fn patched(content: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    [&content[..at], bytes, &content[at + bytes.len()..]].concat()
}

fn find(content: &[u8], bytes: &[u8]) -> usize {
    content.windows(bytes.len()).position(|window| window == bytes).unwrap()
}

#[test]
fn damaged_default_arrays_are_reported() {
    // Named like ann-benchmarks; `train` is stored.
    let whole = npz(&[("test.npy", array(2, 1)), ("train.npy", array(9, 7))]);
    assert_eq!(SampleFile::new("a.npz", &whole).table("").1, [7.0; 18]);
    let local = find(&whole, b"train.npy");
    let listed = local + 1 + find(&whole[local + 1..], b"train.npy");
    let header = local + 9;
    for (content, why) in [
        (patched(&whole, header, b"?"), "header: does not begin like a NumPy array"),
        (patched(&whole, header + 8, &[0xff; 2]), "data: damaged, and cannot be unpacked"),
        // The signature of its local header, and its name in both places.
        (patched(&whole, local - 30, b"?"), "zip archive: it is damaged, or was cut short"),
        (patched(&whole, local, b"?"), "zip archive: its name differs from the central directory"),
    ] {
        let sample = SampleFile::new("a.npz", content);
        assert_eq!(sample.error(), format!("array `train`: {why}; choose another with FILE:NAME"));
        assert!(records(&sample.path, &[0], &NoProgress).is_err());
        assert!(
            sample
                .read_dataset("train")
                .unwrap_err()
                .to_string()
                .starts_with(&format!("array `train`: {why}: "))
        );
        assert_eq!(sample.dataset("test"), [1.0; 4]);
    }
    let renamed = SampleFile::new("a.npz", patched(&whole, listed, b"?")).error();
    assert_eq!(
        renamed,
        "array `?rain`: zip archive: its name differs from the central directory; choose \
         another with FILE:NAME"
    );
    let data = whole.windows(18).position(|bytes| bytes == [7; 18]).unwrap();
    assert_eq!(
        SampleFile::new("a.npz", patched(&whole, data, &[8])).error(),
        "array `train`: data: damaged, and cannot be unpacked"
    );
}

#[test]
fn member_checksums_cover_trailing_data() {
    // Extra data after the array, in a deflated and in a stored member.
    let long = [array(4, 3), vec![5; 300_000]].concat();
    let content = npz(&[("deflated.npy", long.clone()), ("stored.npy", long)]);
    let sample = SampleFile::new("a.npz", &content);
    for part in ["deflated", "stored"] {
        assert_eq!(
            describe(&path_of(&sample.path, part), &NoProgress).unwrap().skipped,
            ["300000 bytes after the array were not read"]
        );
    }
    let last = content.windows(1000).rposition(|bytes| bytes == [5; 1000]).unwrap() + 999;
    let message = SampleFile::new("a.npz", patched(&content, last, &[6]))
        .read_dataset("stored")
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("array `stored`: data: damaged, and cannot be unpacked: "), "{message}");
}

#[test]
fn overlapping_members_are_refused() {
    // The central directory names the first member twice.
    let whole = npz(&[("x.npy", array(2, 1)), ("y.npy", array(2, 1))]);
    let listed = whole.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
    assert_eq!(
        SampleFile::new("a.npz", patched(&whole, listed + 42, &[0; 4])).error(),
        "zip archive: its members `x.npy` and `y.npy` overlap"
    );
}

/// The positions of a name in the local header and the central directory.
fn names_of(content: &[u8], name: &[u8]) -> [usize; 2] {
    let own = find(content, name);
    [own, own + 1 + find(&content[own + 1..], name)]
}

#[test]
fn local_headers_must_match_the_central_directory() {
    let whole = npz(&[("test.npy", array(2, 1)), ("train.npy", array(9, 7))]);
    let [own, listed] = names_of(&whole, b"train.npy");
    let renamed = "zip archive: its name differs from the central directory";
    let packed = "zip archive: its compression differs from the central directory";
    // A letter of `.npy`; the compression method and a flag, in either place.
    for (content, why) in [
        (patched(&whole, listed + 7, b"?"), renamed),
        (patched(&whole, listed + 7, &[0xff]), renamed),
        (patched(&whole, listed + 8, b"/"), renamed),
        (patched(&whole, own + 7, b"?"), renamed),
        (patched(&whole, listed - 36, &[9]), packed),
        (patched(&whole, listed - 38, &[1]), packed),
        (patched(&whole, own - 22, &[9]), packed),
    ] {
        let sample = SampleFile::new("a.npz", content);
        assert_eq!(sample.error(), format!("array `train`: {why}; choose another with FILE:NAME"));
        assert!(records(&sample.path, &[0], &NoProgress).is_err() && sample.read_dataset("train").is_err());
        assert_eq!(sample.dataset("test"), [1.0; 4]);
    }
    // Members that are not arrays may have any name.
    let text = npz(&[("test.npy", array(2, 1)), ("about.txt", vec![1])]);
    let [_, listed] = names_of(&text, b"about.txt");
    assert_eq!(SampleFile::new("a.npz", patched(&text, listed, b"?")).table("").1, [1.0; 4]);
}

#[test]
fn duplicate_member_names_are_refused() {
    let whole = npz(&[("train.npy", array(9, 7)), ("tests.npy", array(2, 1)), ("other.txt", vec![1])]);
    let [own, listed] = names_of(&whole, b"train.npy");
    let message = "zip archive: several of its members have the same name";
    assert_eq!(SampleFile::new("a.npz", patched(&whole, listed, b"tests")).error(), message);
    assert_eq!(
        SampleFile::new("a.npz", patched(&patched(&whole, listed, b"tests"), own, b"tests")).error(),
        message
    );
}

#[test]
fn the_central_directory_must_match_its_end_record() {
    let whole = npz(&[("test.npy", array(2, 1)), ("train.npy", array(9, 7))]);
    let end = find(&whole, b"PK\x05\x06");
    assert_eq!(SampleFile::new("a.npz", &whole).table("").1, [7.0; 18]);
    // The end record counts one of two members.
    let message = "zip archive: its central directory has more members than declared";
    assert_eq!(SampleFile::new("a.npz", patched(&whole, end + 8, &[1, 0, 1, 0])).error(), message);
    // Zip64, whose record comes first and has its own position.
    let large = |count: u64| {
        let number = |at: usize| u64::from(u32::from_le_bytes(*whole[at..].first_chunk().unwrap()));
        let sizes = [count, count, number(end + 12), number(end + 16)].map(u64::to_le_bytes).concat();
        let record =
            [b"PK\x06\x06".as_slice(), &44u64.to_le_bytes(), &[45, 0, 45, 0], &[0; 8], &sizes].concat();
        let place = [b"PK\x06\x07".as_slice(), &[0; 4], &(end as u64).to_le_bytes(), &[1, 0, 0, 0]].concat();
        let tail = [b"PK\x05\x06".as_slice(), &[0; 4], &[0xff; 12], &[0; 2]].concat();
        SampleFile::new("a.npz", [&whole[..end], &record, &place, &tail].concat())
    };
    assert_eq!(large(2).table("").1, [7.0; 18]);
    assert_eq!(large(1).error(), message);
}

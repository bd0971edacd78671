//! Reading any file returns quickly and without a panic.

use ::parquet::basic::Compression;
use arrow_ipc::CompressionType;
use proptest::prelude::*;

use super::*;

/// A small valid file of every format.
fn valid() -> Vec<(&'static str, Vec<u8>)> {
    let ply = |format: &str| {
        format!(
            "ply\nformat {format} 1.0\nelement face 1\nproperty list uchar int l\nelement vertex \
             3\nproperty float x\nproperty list uchar short m\nproperty double y\nend_header\n"
        )
    };
    let array = npy::npy("<f4", false, "(4, 3)", &[7; 48]);
    vec![
        ("a.csv", b"name,x,y\n\"a, b\",1.5,2\nc,,-4e3\n".to_vec()),
        ("a.txt", b"# x y\n1 2\n3 4\n".to_vec()),
        ("a.pts", b"2\n1 2\n3 4\n".to_vec()),
        ("a.csv.gz", gzip("x,y\n1,2\n3,4\n5,6\n")),
        ("a.npy", array.clone()),
        ("a.npy", npy::npy(">i2", true, "(5, 2)", &[3; 20])),
        ("a.npz", npz::npz(&[("a.npy", array.clone()), ("x.npy", array)])),
        ("a.parquet", arrow::parquet(Compression::SNAPPY)),
        ("a.parquet", arrow::parquet(Compression::UNCOMPRESSED)),
        ("a.feather", arrow::ipc(Some(CompressionType::LZ4_FRAME))),
        ("a.arrow", arrow::ipc(None)),
        ("a.arrows", arrow::stream()),
        ("a.hdf5", hdf5::earliest()),
        ("a.hdf5", hdf5::latest()),
        ("a.fvecs", [[2, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]; 5].concat()),
        ("a.i8bin", [&[3u8, 0, 0, 0, 2, 0, 0, 0][..], &[5; 6]].concat()),
        ("a.ply", [ply("ascii").as_bytes(), b"2 7 7\n1 1 9 2\n3 0 4\n5 2 1 1 6\n"].concat()),
        ("a.ply", [ply("binary_little_endian").as_bytes(), &[0; 64]].concat()),
        ("a.ply", [ply("binary_big_endian").as_bytes(), &[0; 64]].concat()),
        ("a.las", las::scan(1, false, 20)),
        ("a.laz", las::scan(3, true, 200)),
        ("a.laz", las::scan(7, true, 200)),
        ("a.pcd", pcd::ascii()),
        ("a.pcd", pcd::binary()),
        ("a.pcd", pcd::compressed()),
        ("a.e57", e57::one()),
        ("a.idx", idx::idx(8, &[4, 2, 2], &[9; 16])),
        ("a.idx.gz", gzip(idx::idx(13, &[2, 3], &[1; 24]))),
        ("a.vec", words::glove(4)),
        ("a.xyz", molecule::WATER.into()),
        ("a.json", b"[[1,2.5,-3e2],[4,5,null]]".to_vec()),
        (
            "a.json",
            b"{\"points\":[{\"x\":1,\"y\":[2,3],\"z\":\"a\"},{\"x\":true,\"y\":[4,5]}],\"b\":[[1]]}".to_vec(),
        ),
        ("a.json", b"{\"x\":[1,2],\"y\":[3,null],\"n\":[\"a\",\"b\"]}".to_vec()),
        ("a.json", b"{\"x\":{\"0\":1,\"1\":2},\"y\":{\"0\":3,\"1\":4}}".to_vec()),
        ("a.geojson", json::PLACES.into()),
        ("a.jsonl", b"{\"x\":1,\"n\":\"a\"}\n{\"x\":2}\n".to_vec()),
        ("a.txt", [b"10 30\n", &words::glove(30)[..]].concat()),
    ]
}

#[test]
fn valid_files_are_read() {
    for (name, content) in valid() {
        assert!(SampleFile::new(name, content).read("").is_ok(), "{name}");
    }
}

#[test]
fn binary_readers_respect_the_memory_limit() {
    let text = ["csv", "txt", "pts", "gz", "vec", "xyz", "json", "jsonl", "geojson"];
    for (name, content) in
        valid().into_iter().filter(|(name, _)| !text.contains(&name.rsplit('.').next().unwrap()))
    {
        let sample = SampleFile::new(name, content);
        let read = |free: u64| {
            let input = Input::new(&sample.path, &NoProgress).unwrap().with_free(free);
            (recognise(&input).unwrap().read)(&input, &ColumnRequest::Selected(&ColumnChoice::Default))
        };
        assert!(matches!(read(7), Err(FormatError::Memory { .. })), "{name}: {:?}", read(7));
        assert!(read(1 << 28).is_ok(), "{name}: {:?}", read(1 << 28));
    }
}

/// Reads and describes a file. Any result is fine, but not a panic.
fn try_to_read(name: &str, content: &[u8]) {
    let sample = SampleFile::new(name, content);
    for columns in ["", "1,0"] {
        match sample.read(columns) {
            Ok(table) => assert_eq!(table.values.len() % table.columns.len(), 0),
            Err(why) => assert!(!why.to_string().contains(char::is_control), "{why}"),
        }
    }
    let _ = describe(&sample.path, &NoProgress).map(|info| serde_json::to_string(&info).unwrap());
    if let Ok(found) = records(&sample.path, &[1, 0], &NoProgress) {
        assert!(
            found.rows.len() == 2 && found.rows.iter().all(|row| row.len() == found.columns.len()),
            "{found:?}"
        );
    }
}

#[test]
fn truncated_files_never_panic() {
    for (name, content) in valid() {
        let step = (content.len() / 120).max(1);
        for length in (0..content.len()).step_by(step) {
            try_to_read(name, &content[..length]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_bytes_never_panic(
        which in any::<prop::sample::Index>(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        head in any::<bool>(),
    ) {
        let files = valid_once();
        let (name, content) = &files[which.index(files.len())];
        let mut content = content.clone();
        // Most fields that can be wrong are at the beginning.
        let reach = if head { content.len().min(128) } else { content.len() };
        for (at, byte) in damage {
            let at = at.index(reach);
            content[at] = byte;
        }
        try_to_read(name, &content);
    }

    #[test]
    fn extreme_numbers_never_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        number in prop::sample::select(&[0u32, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX, u32::MAX - 1][..]),
        wide in any::<bool>(),
    ) {
        let files = valid_once();
        let (name, content) = &files[which.index(files.len())];
        let mut content = content.clone();
        let width = if wide { 8 } else { 4 };
        let at = at.index(content.len().saturating_sub(width).max(1));
        for byte in 0..width.min(content.len() - at) {
            content[at + byte] = number.to_le_bytes()[byte % 4];
        }
        try_to_read(name, &content);
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[0-9a-z,;\\t\" .#\r\n-]{0,200}") {
        try_to_read("a.csv", text.as_bytes());
        try_to_read("a.txt", text.as_bytes());
        try_to_read("a.vec", text.as_bytes());
    }

    #[test]
    fn arbitrary_json_never_panics(text in "[0-9{}\\[\\],:\"ae. \n-]{0,200}") {
        try_to_read("a.json", text.as_bytes());
        try_to_read("a.jsonl", text.as_bytes());
    }
}

fn valid_once() -> &'static [(&'static str, Vec<u8>)] {
    static FILES: std::sync::OnceLock<Vec<(&'static str, Vec<u8>)>> = std::sync::OnceLock::new();
    FILES.get_or_init(valid)
}

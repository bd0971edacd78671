use super::*;

fn binary(endian: &str, header: &str, body: &[u8]) -> Vec<u8> {
    [format!("ply\nformat binary_{endian}_endian 1.0\n{header}end_header\n").as_bytes(), body].concat()
}

fn ascii(header: &str, body: &str) -> String {
    format!("ply\nformat ascii 1.0\n{header}end_header\n{body}")
}

const XY: &str = "element vertex 2\nproperty float x\nproperty double y\n";

#[test]
fn both_byte_orders_and_ascii_agree() {
    let want = [1.5, 2.5, -3.0, 4.0];
    let little: Vec<u8> = [
        1.5f32.to_le_bytes().to_vec(),
        2.5f64.to_le_bytes().to_vec(),
        (-3f32).to_le_bytes().to_vec(),
        4f64.to_le_bytes().to_vec(),
    ]
    .concat();
    let big: Vec<u8> = [
        1.5f32.to_be_bytes().to_vec(),
        2.5f64.to_be_bytes().to_vec(),
        (-3f32).to_be_bytes().to_vec(),
        4f64.to_be_bytes().to_vec(),
    ]
    .concat();
    for content in [
        binary("little", XY, &little),
        binary("big", XY, &big),
        ascii(XY, "1.5 2.5\n-3 4\n").into_bytes(),
        ascii(XY, "  1.5\t2.5 \n\n -3e0\n4").into_bytes(),
        ascii(XY, "1.5 2.5\n-3 4\n").replace('\n', "\r\n").into_bytes(),
        ascii(XY, "1.5 2.5\n-3 4\n").replace('\n', "\r").into_bytes(),
        binary("little", &format!("comment hello there\nobj_info x\n{XY}"), &little),
    ] {
        let sample = SampleFile::new("a.ply", &content);
        assert_eq!(
            sample.table(""),
            (names(&["x", "y"]), want.to_vec()),
            "{}",
            String::from_utf8_lossy(&content)
        );
        assert_eq!(sample.table("y").1, [2.5, 4.0]);
    }
}

#[test]
fn every_type_is_read_under_both_names() {
    let types = [
        "char", "int8", "uchar", "uint8", "short", "int16", "ushort", "uint16", "int", "int32", "uint",
        "uint32",
    ];
    let header: String =
        types.iter().enumerate().map(|(at, name)| format!("property {name} p{at}\n")).collect();
    let body: Vec<u8> =
        (0u8..12).flat_map(|at| vec![at; [1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4][at as usize]]).collect();
    let found =
        SampleFile::new("a.ply", binary("little", &format!("element vertex 1\n{header}"), &body)).table("").1;
    let want: Vec<f64> = (0..12u32)
        .map(|at| {
            f64::from(
                [1, 1, 1, 1, 0x101, 0x101, 0x101, 0x101, 0x101_0101, 0x101_0101, 0x101_0101, 0x101_0101]
                    [at as usize]
                    * at,
            )
        })
        .collect();
    assert_eq!(found, want);
    let signed = SampleFile::new(
        "a.ply",
        binary("big", "element vertex 1\nproperty char a\nproperty short b\nproperty int c\n", &[255; 7]),
    );
    assert_eq!(signed.table("").1, [-1.0; 3]);
}

#[test]
fn unused_elements_and_lists_are_skipped() {
    // A face with three corners, a face without corners, two vertices with a list in the middle, and an edge.
    let header = "element face 2\nproperty list uchar int corners\nproperty uchar red\nelement nothing \
                  1000000000000\nelement vertex 2\nproperty uchar x\nproperty list uchar short \
                  more\nproperty uchar z\nelement edge 1\nproperty int a\n";
    let body = [&[3u8][..], &[0; 12], &[9, 0, 9], &[1, 2, 0, 0, 0, 0, 2], &[3, 0, 4], &[0; 4]].concat();
    let sample = SampleFile::new("a.ply", binary("little", header, &body));
    assert_eq!(sample.table(""), (names(&["x", "z"]), vec![1.0, 2.0, 3.0, 4.0]));
    let text = SampleFile::new("a.ply", ascii(header, "3 0 1 2 9\n0 9\n1 2 7 7 2\n3 0 4\n5\n"));
    assert_eq!(text.table("").1, [1.0, 2.0, 3.0, 4.0]);
    let skipped = [
        "list `more` was not read",
        "element `face` (2) was not read",
        "element `nothing` (1000000000000) was not read",
        "element `edge` (1) was not read",
    ];
    assert_eq!(text.info().skipped, skipped);
    assert_eq!(sample.info().skipped, skipped);
}

#[test]
fn normals_and_colours_are_not_coordinates() {
    let header = "element vertex 1\nproperty float nx\nproperty float x\nproperty float y\nproperty float \
                  z\nproperty uchar red\n";
    let sample = SampleFile::new("a.ply", ascii(header, "9 1 2 3 255\n"));
    assert_eq!(sample.table(""), (names(&["x", "y", "z"]), vec![1.0, 2.0, 3.0]));
    assert_eq!(sample.table("red,nx").1, [255.0, 9.0]);
    assert_eq!(
        SampleFile::new("a.ply", ascii("element point 1\nproperty int x\n", "7\n")).table("").1,
        [7.0]
    );
}

#[test]
fn errors_report_the_position() {
    let header_error = |header: &str| SampleFile::new("a.ply", ascii(header, "")).error();
    assert_eq!(
        header_error("element vertex many\n"),
        "line 3: `element vertex many` has an invalid number of elements"
    );
    assert_eq!(
        header_error("element vertex 1\nproperty real x\n"),
        "line 4: `property real x` has an unknown type"
    );
    assert_eq!(header_error("property float x\n"), "line 3: `property float x` precedes the first element");
    assert_eq!(
        header_error("element vertex 1\nproperty list float int x\n"),
        "line 4: `property list float int x` has unknown types"
    );
    assert_eq!(header_error("hello\n"), "line 3: `hello` is not a line of a PLY header");
    assert_eq!(
        header_error("element face 1\nproperty int x\n"),
        "header: element `vertex` not found; available: `face`"
    );
    assert_eq!(
        header_error("element vertex 1\nproperty list int int x\n"),
        "header: element `vertex` has no properties that are numbers"
    );
    assert_eq!(
        SampleFile::new("a.ply", "ply\nelement vertex 0\n").error(),
        "header: `end_header` is missing"
    );
    assert_eq!(SampleFile::new("a.ply", "ply\nend_header\n").error(), "header: `format` is missing");
    assert_eq!(
        SampleFile::new("a.ply", "ply\nformat xml 1.0\n").error(),
        "line 2: `format xml 1.0` is not ascii, binary_little_endian or binary_big_endian"
    );
    let body_error = |body: &str| SampleFile::new("a.ply", ascii(XY, body)).error();
    assert_eq!(
        body_error("1 2\n\n3 four\n"),
        "line 9, element `vertex` 1: property `y` is `four`, which is not a number"
    );
    assert_eq!(body_error("1 2\n3\n"), "cut short: the file ends before element `vertex` 1");
}

#[test]
fn excessive_counts_are_refused() {
    for header in [
        "element vertex 18446744073709551615\nproperty double x\n",
        "element face 99999999999\nproperty list int int l\nelement vertex 1\nproperty int x\n",
    ] {
        for content in [
            binary("little", header, &[1; 64]),
            binary("big", header, &[0; 64]),
            ascii(header, "1 1 1 1").into_bytes(),
        ] {
            let message = SampleFile::new("a.ply", content).error();
            assert!(message.starts_with("cut short"), "{message}");
        }
    }
    let listed = "element face 1\nproperty list uchar int l\nelement vertex 1\nproperty int x\n";
    for count in ["-3", "1.9", "nan", "inf"] {
        let message = SampleFile::new("a.ply", ascii(listed, &format!("{count} 4\n5\n"))).error();
        assert_eq!(
            message,
            format!("line 8, element `face` 0: list `l` has {} members", count.replace("nan", "NaN"))
        );
    }
    let negative = "element face 1\nproperty list int int l\nelement vertex 1\nproperty int x\n";
    assert_eq!(
        SampleFile::new("a.ply", binary("little", negative, &[255; 64])).error(),
        "element `face`: a list has -1 members"
    );
}

#[test]
fn trailing_data_is_reported() {
    let header = "element vertex 2\nproperty char x\n";
    let binary = |body: &[u8]| SampleFile::new("a.ply", binary("little", header, body)).info().skipped;
    assert_eq!(binary(&[1, 2]), [""; 0]);
    assert_eq!(binary(&[1, 2, 3, 4, 5]), ["3 bytes after element `vertex` were not read"]);
    let ascii = |body: &str| SampleFile::new("a.ply", ascii(header, body)).info().skipped;
    assert_eq!(ascii("1\n2\n \n"), [""; 0]);
    assert_eq!(ascii("1 2 3\n45\n"), ["3 bytes after element `vertex` were not read"]);
}

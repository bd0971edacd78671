use std::io::Cursor;

use ::e57::{E57Writer, Quaternion, Record, RecordDataType, RecordName, RecordValue, Transform, Translation};

use super::*;

const NAN: f64 = f64::NAN;

fn record(name: RecordName, data_type: RecordDataType) -> Record {
    Record { name, data_type }
}

fn double(name: RecordName) -> Record {
    record(name, RecordDataType::Double { min: None, max: None })
}

/// A scan: name, point attributes, pose, points.
struct Scan(&'static str, Vec<Record>, Option<Transform>, Vec<Vec<RecordValue>>);

fn file(scans: Vec<Scan>) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = E57Writer::new(&mut bytes, "file").unwrap();
    let system = r#"PROJCRS["UTM zone 32N",CS[Cartesian,2],LENGTHUNIT["metre",1],ID["EPSG",25832]]"#;
    writer.set_coordinate_metadata(scans.iter().any(|scan| scan.0 == "hall").then(|| system.to_owned()));
    for Scan(name, prototype, pose, points) in scans {
        let mut scan = writer.add_pointcloud("scan", prototype).unwrap();
        scan.set_name((!name.is_empty()).then(|| name.to_owned()));
        scan.set_transform(pose);
        points.into_iter().for_each(|point| scan.add_point(point).unwrap());
        scan.finalize().unwrap();
    }
    writer.finalize().unwrap();
    drop(writer);
    bytes.into_inner()
}

/// Points on a parabola with a scaled intensity. The first point's intensity is invalid, the second point is
/// invalid, and the third has only a direction.
fn cartesian(name: &'static str, pose: Option<Transform>, count: usize) -> Scan {
    let prototype = vec![
        record(RecordName::CartesianX, RecordDataType::Single { min: None, max: None }),
        double(RecordName::CartesianY),
        double(RecordName::CartesianZ),
        record(RecordName::CartesianInvalidState, RecordDataType::Integer { min: 0, max: 2 }),
        record(
            RecordName::Intensity,
            RecordDataType::ScaledInteger { min: 0, max: 1000, scale: 0.25, offset: 10.0 },
        ),
        record(RecordName::IsIntensityInvalid, RecordDataType::Integer { min: 0, max: 1 }),
        record(RecordName::ColorRed, RecordDataType::Integer { min: 7, max: 7 }),
    ];
    let prototype = prototype.into_iter().chain(
        [RecordName::ColorGreen, RecordName::ColorBlue]
            .map(|name| record(name, RecordDataType::Integer { min: 0, max: 255 })),
    );
    let point = |at: usize| {
        vec![
            RecordValue::Single(at as f32),
            RecordValue::Double((at * at) as f64),
            RecordValue::Double(-1.5),
            RecordValue::Integer(if at == 1 { 2 } else { i64::from(at == 2) }),
            RecordValue::ScaledInteger(at as i64 % 1000),
            RecordValue::Integer(i64::from(at == 0)),
            RecordValue::Integer(7),
            RecordValue::Integer(at as i64 % 256),
            RecordValue::Integer(255),
        ]
    };
    Scan(name, prototype.collect(), pose, (0..count).map(point).collect())
}

fn spherical() -> Scan {
    let prototype = vec![
        double(RecordName::SphericalRange),
        double(RecordName::SphericalAzimuth),
        double(RecordName::SphericalElevation),
    ];
    let point =
        |[range, azimuth, elevation]: [f64; 3]| [range, azimuth, elevation].map(RecordValue::Double).to_vec();
    let quarter = std::f64::consts::FRAC_PI_2;
    Scan(
        "dome",
        prototype,
        None,
        [[2.0, 0.0, 0.0], [3.0, quarter, 0.0], [4.0, 1.0, quarter], [5.0, 0.6, -0.3]].map(point).to_vec(),
    )
}

/// A quarter turn about z, then a step.
fn build_problem() -> Transform {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    Transform {
        rotation: Quaternion { w: half, x: 0.0, y: 0.0, z: half },
        translation: Translation { x: 100.0, y: 200.0, z: 300.0 },
    }
}

pub(super) fn one() -> Vec<u8> {
    file(vec![cartesian("one", Some(build_problem()), 20)])
}

#[test]
fn points_are_read_and_invalid_ones_become_nan() {
    // Many packets and pages.
    let count = 20_000;
    let sample = SampleFile::new("a.e57", file(vec![cartesian("hall", None, count)]));
    let want: Vec<f64> = (0..count)
        .flat_map(|at| if at == 1 || at == 2 { [NAN; 3] } else { [at as f64, (at * at) as f64, -1.5] })
        .collect();
    let (found_names, values) = sample.table("");
    assert_eq!(found_names, names(&["x", "y", "z"]));
    assert_values(&values, &want);
    let info = sample.info();
    assert_eq!(
        (info.rows, info.format.as_str(), info.columns[0].missing),
        (count as u64, "E57, scan `hall`, EPSG:25832, metres", 2)
    );
    let want: Vec<f64> = (0..count)
        .flat_map(|at| [255.0, 7.0, if at == 0 { NAN } else { (at % 1000) as f64 * 0.25 + 10.0 }])
        .collect();
    assert_values(&sample.table("blue,red,intensity").1, &want);
}

#[test]
fn spherical_coordinates_and_poses_are_converted_to_cartesian() {
    let near = |found: &[f64], want: &[f64]| {
        assert_eq!(found.len(), want.len());
        found.iter().zip(want).for_each(|(found, want)| {
            assert!((found - want).abs() < 1e-12 || found.is_nan() && want.is_nan(), "{found} and {want}")
        });
    };
    let sample = SampleFile::new("a.e57", file(vec![spherical()]));
    let (a, e) = (0.6f64, -0.3f64);
    near(
        &sample.table("").1,
        &[
            2.0,
            0.0,
            0.0,
            0.0,
            3.0,
            0.0,
            0.0,
            0.0,
            4.0,
            5.0 * a.cos() * e.cos(),
            5.0 * a.sin() * e.cos(),
            5.0 * e.sin(),
        ],
    );
    assert_eq!(sample.info().format, "E57, scan `dome`, spherical");
    let sample = SampleFile::new("a.e57", file(vec![cartesian("", Some(build_problem()), 5)]));
    // (x, y) turns into (−y, x).
    near(&sample.table("").1[..3], &[100.0, 200.0, 298.5]);
    near(&sample.table("").1[9..], &[91.0, 203.0, 298.5, 84.0, 204.0, 298.5]);
    assert_eq!(sample.info().format, "E57, scan `scan 0`, placed by its pose");
}

#[test]
fn files_with_several_scans_require_a_choice() {
    let sample = SampleFile::new(
        "a.e57",
        file(vec![cartesian("hall", None, 4), spherical(), cartesian("hall", None, 2)]),
    );
    assert_eq!(
        sample.error(),
        "the file contains several clouds: choose one with FILE:NAME; available: `hall` (4 × 7), `dome` (4 × \
         3), `hall #2` (2 × 7)"
    );
    assert_eq!(sample.read_dataset("dome").unwrap().rows(), 4);
    assert_eq!(sample.read_dataset("hall #2").unwrap().rows(), 2);
    assert!(sample.read_dataset("roof").unwrap_err().to_string().starts_with("part `roof`: not found; "));
}

#[test]
fn empty_truncated_and_damaged_files_are_refused() {
    assert_eq!(
        SampleFile::new("a.e57", file(vec![])).error(),
        "no scans: the file has no points, perhaps only images"
    );
    let whole = one();
    assert!(
        SampleFile::new("a.e57", &whole[..whole.len() - 1024])
            .error()
            .starts_with("cut short: the description of the scans ends at byte")
    );
    let mut damaged = file(vec![cartesian("hall", None, 20_000)]);
    damaged[50_000] ^= 1;
    let message = SampleFile::new("a.e57", damaged).error();
    assert!(message.starts_with("E57: ") && message.contains("checksum"), "{message}");
}

/// CRC-32C.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

#[test]
fn excessive_record_counts_are_refused() {
    let whole = one();
    let at = whole.windows(16).position(|bytes| bytes == b"recordCount=\"20\"").unwrap();
    let promising = |digit: u8| {
        let mut content = whole.clone();
        content[at + 14] = digit;
        // A page is a kilobyte and ends with its checksum.
        for page in content.chunks_exact_mut(1024) {
            let sum = checksum(&page[..1020]).to_be_bytes();
            page[1020..].copy_from_slice(&sum);
        }
        SampleFile::new("a.e57", content)
    };
    assert_eq!(promising(b'0').read("").unwrap().rows(), 20);
    for digit in [b'1', b'9'] {
        let sample = promising(digit);
        let message = sample.error();
        assert!(message.starts_with("E57: "), "{message}");
        assert!(
            describe(&sample.path, &NoProgress).is_err()
                && records(&sample.path, &[20], &NoProgress).is_err()
        );
    }
}

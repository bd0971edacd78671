use ::las::{Builder, Point, Transform, Vector, Writer};

use super::super::columns::Cell;
use super::*;

/// A scan as written by other programs: `count` points on a grid of 0.25 mm around (515384, 4918360, 2330).
pub(super) fn scan(format: u8, compressed: bool, count: i32) -> Vec<u8> {
    let mut builder = Builder::from(if format >= 6 { (1, 4) } else { (1, 2) });
    builder.point_format = ::las::point::Format::new(format).unwrap();
    builder.point_format.is_compressed = compressed;
    let transform = |offset| Transform { scale: 0.00025, offset };
    builder.transforms = Vector { x: transform(515_384.0), y: transform(4_918_360.0), z: transform(2330.0) };
    let mut writer = Writer::new(std::io::Cursor::new(Vec::new()), builder.into_header().unwrap()).unwrap();
    for i in 0..count {
        let [x, y, z] = place(i);
        let gps_time = writer.header().point_format().has_gps_time.then_some(f64::from(i) * 0.1);
        let color = writer.header().point_format().has_color.then(|| ::las::Color::new(1, 2, i as u16));
        writer
            .write_point(Point {
                x,
                y,
                z,
                gps_time,
                color,
                intensity: i as u16,
                return_number: 1,
                number_of_returns: 1,
                ..Default::default()
            })
            .unwrap();
    }
    writer.close().unwrap();
    writer.into_inner().unwrap().into_inner()
}

fn place(i: i32) -> [f64; 3] {
    let at = |raw: i32, offset: f64| f64::from(raw) * 0.00025 + offset;
    [at(i * 7 % 1000, 515_384.0), at(-i, 4_918_360.0), at(i % 777, 2330.0)]
}

#[test]
fn las_and_laz_are_read_in_several_point_formats() {
    // 60,000 points are two chunks.
    for (format, compressed, count) in [
        (0, false, 10),
        (3, false, 9000),
        (6, false, 10),
        (0, true, 10),
        (1, true, 60_000),
        (3, true, 100),
        (6, true, 60_000),
        (7, true, 100),
    ] {
        let sample =
            SampleFile::new(if compressed { "a.laz" } else { "a.las" }, scan(format, compressed, count));
        let want: Vec<f64> = (0..count).flat_map(place).collect();
        let (found_names, found) = sample.table("");
        assert_eq!(found_names, names(&["x", "y", "z"]));
        assert!(found == want, "format {format}, compressed {compressed}");
        assert_eq!(
            sample.table("z,x").1,
            want.chunks(3).flat_map(|row| [row[2], row[0]]).collect::<Vec<_>>()
        );
        let name = if compressed { "LAZ" } else { "LAS" };
        assert_eq!((sample.info().rows, sample.info().format.starts_with(name)), (count as u64, true));
    }
}

#[test]
fn loading_a_scan_preserves_coordinates() {
    let sample = SampleFile::new("a.laz", scan(0, true, 999));
    let source = crate::Source::File { path: sample.path.clone(), columns: ColumnChoice::Default };
    let cloud = crate::load(&source, false, &NoProgress).unwrap();
    assert_eq!((cloud.len(), cloud.duplicates().after_rounding), (999, 0));
    assert!(cloud.axes()[1].origin > 4e6);
    assert_eq!(cloud.coordinate(5, 1), place(5)[1]);
}

#[test]
fn laz_without_a_chunk_table_is_read_sequentially() {
    for format in [1, 6] {
        let mut content = scan(format, true, 60_000);
        let start = u32::from_le_bytes(content[96..100].try_into().unwrap()) as usize;
        let table = u64::from_le_bytes(content[start..start + 8].try_into().unwrap()) as usize;
        let whole = SampleFile::new("a.laz", &content);
        // A table without chunks, as written by an interrupted writer.
        content[table + 4..table + 8].fill(0);
        let without = SampleFile::new("a.laz", &content);
        assert!(whole.table("").1 == (0..60_000).flat_map(place).collect::<Vec<_>>());
        assert!(without.table("").1 == whole.table("").1, "format {format}");
        let row = |sample: &SampleFile| records(&sample.path, &[59_999], &NoProgress).unwrap().rows;
        assert_eq!(row(&without), row(&whole));
    }
}

#[test]
fn single_points_are_read_from_their_chunk() {
    let mut content = scan(1, true, 120_000);
    let start = u32::from_le_bytes(content[96..100].try_into().unwrap()) as usize;
    // Damage in the first chunk does not affect points of the second.
    content[start + 100..start + 400].fill(0xff);
    let sample = SampleFile::new("a.laz", content);
    let row = records(&sample.path, &[60_000], &NoProgress).unwrap().rows.remove(0);
    assert_eq!(row[1], Cell::Number(place(60_000)[1]));
}

#[test]
fn scans_without_points_are_empty() {
    for compressed in [false, true] {
        assert_eq!(SampleFile::new("a.las", scan(1, compressed, 0)).info().rows, 0);
    }
}

#[test]
fn invalid_headers_are_refused() {
    let plain = scan(1, false, 100);
    let packed = scan(1, true, 100);
    let layered = scan(6, true, 100);
    let patched =
        |scan: &[u8], at: usize, bytes: &[u8]| [&scan[..at], bytes, &scan[at + bytes.len()..]].concat();
    // The header has the offset of the points at byte 96, their number at 107 (247 in LAS 1.4), their format
    // at 104 and their length at 105.
    let start = |scan: &[u8]| u32::from_le_bytes(scan[96..100].try_into().unwrap()) as usize;
    let table = |scan: &[u8]| u64::from_le_bytes(scan[start(scan)..][..8].try_into().unwrap()) as usize;
    for (content, part) in [
        (
            patched(&plain, 107, &101u32.to_le_bytes()),
            "cut short: the header declares 101 points, but the file has 100",
        ),
        (patched(&plain, 107, &u32::MAX.to_le_bytes()), "cut short: the header declares 4294967295 points"),
        (patched(&plain, 96, &u32::MAX.to_le_bytes()), "LAS header: the points begin at byte 4294967295"),
        (patched(&plain, 104, &[11]), "point format 11: must be between 0 and 10"),
        (patched(&plain, 105, &[3, 0]), "LAS header: a point of format 1 needs 28 bytes, but a record has 3"),
        (patched(&plain, 131, &f64::NAN.to_le_bytes()), "a scale or offset is not finite"),
        (plain[..plain.len() - 1].to_vec(), "cut short: the header declares 100 points, but the file has 99"),
        (plain[..150].to_vec(), "cut short"),
        (patched(&plain, 104, &[0x81]), "the record that describes their compression is missing"),
        (patched(&packed, 107, &u32::MAX.to_le_bytes()), "4294967295 points cannot fit in"),
        // A hundred times as many points as bytes.
        (patched(&packed, 107, &(100 * packed.len() as u32).to_le_bytes()), "points cannot fit in"),
        (patched(&packed, 107, &100_000u32.to_le_bytes()), ""),
        (patched(&packed, 105, &[60, 0]), "they have 28 bytes each, but 60 according to the header"),
        (
            patched(&packed, table(&packed) + 4, &u32::MAX.to_le_bytes()),
            "the table has more chunks than fit in the file",
        ),
        (packed[..start(&packed) + 20].to_vec(), "cut short"),
        // The sizes of the layers follow the first point and the number of points.
        (patched(&layered, start(&layered) + 8 + 30 + 4, &u32::MAX.to_le_bytes()), "cut short"),
    ] {
        let message = SampleFile::new("a.laz", content).error();
        assert!(message.contains(part), "{message}, not {part}");
    }
}

/// A compressed scan of points with these times, scanner channels and return numbers.
fn timed(format: u8, points: &[(f64, u8, u8)]) -> Vec<u8> {
    let mut builder = Builder::from(if format >= 6 { (1, 4) } else { (1, 2) });
    builder.point_format = ::las::point::Format::new(format).unwrap();
    builder.point_format.is_compressed = true;
    let mut writer = Writer::new(std::io::Cursor::new(Vec::new()), builder.into_header().unwrap()).unwrap();
    for (at, &(time, scanner_channel, number)) in points.iter().enumerate() {
        let color = writer.header().point_format().has_color.then(|| ::las::Color::new(1, 2, at as u16));
        let (x, y) = ((at * at % 977) as f64, (at * 7 % 31) as f64);
        let point = Point {
            x,
            y,
            gps_time: Some(time),
            color,
            scanner_channel,
            return_number: number,
            number_of_returns: 5,
            ..Default::default()
        };
        writer.write_point(point).unwrap();
    }
    writer.close().unwrap();
    writer.into_inner().unwrap().into_inner()
}

#[test]
fn gps_times_round_trip() {
    // Constant, evenly advancing, accelerating, decreasing, jumping and interleaved times.
    let time = |at: usize| match at / 200 % 7 {
        0 => 4e8 + (at / 3) as f64 * 1e-5,
        1 => 4e8 + at as f64 * 0.25,
        2 => 4e8 + (at * at) as f64 * 1e-6,
        3 => 4e8 - at as f64 * 1e-4,
        4 => [1e5, -3.5, 4e8, 7e7, 1e-9][at % 5] + at as f64,
        5 => f64::from_bits((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 2),
        _ => 4e8 + [0.0, 1e-3, 5e-3, 0.3][at % 4] + at as f64 * [1e-6, 2e-6, 0.0, 7e-5][at % 4],
    };
    for format in [1, 3, 6, 7] {
        let channel = |at: usize| if format >= 6 { (at / 11 % 4) as u8 } else { 0 };
        let points: Vec<_> = (0..3000).map(|at| (time(at), channel(at), (at * at % 5) as u8 + 1)).collect();
        let content = timed(format, &points);
        let want: Vec<f64> = points.iter().map(|point| point.0).collect();
        assert_values(&SampleFile::new("a.laz", &content).table("gps_time").1, &want);
        // The same without the chunk table, and for a single point.
        let start = u32::from_le_bytes(content[96..100].try_into().unwrap()) as usize;
        let table = u64::from_le_bytes(content[start..start + 8].try_into().unwrap()) as usize;
        let without = [&content[..table + 4], &[0; 4], &content[table + 8..]].concat();
        let without = SampleFile::new("a.laz", without);
        assert_values(&without.table("gps_time").1, &want);
        let names = without.table("x").0;
        assert_eq!(names, ["x"]);
    }
}

#[test]
fn damaged_gps_times_do_not_overflow_the_stack() {
    // Damage at byte 758 of format 7 overflowed the stack.
    for format in [1, 7] {
        let whole = scan(format, true, 200);
        let start = u32::from_le_bytes(whole[96..100].try_into().unwrap()) as usize;
        for at in (start..whole.len() - 8).step_by(61).chain([758]) {
            let damaged = [&whole[..at], &[0xff; 8], &whole[at + 8..]].concat();
            let sample = SampleFile::new("a.laz", damaged);
            match sample.read("gps_time") {
                Ok(table) => assert_eq!(table.values.len(), 200),
                Err(why) => assert!(why.to_string().ends_with("a.laz"), "{why}"),
            }
        }
    }
}

#[test]
fn trailing_data_is_reported() {
    let whole = scan(1, false, 100);
    assert_eq!(SampleFile::new("a.las", &whole).info().skipped, [""; 0]);
    let more = [&whole[..], &[0; 280]].concat();
    assert_eq!(SampleFile::new("a.las", more).info().skipped, ["280 bytes after the points were not read"]);
}

#[test]
fn long_records_are_read_in_small_batches() {
    // A batch of such records used to need 4.3 GB.
    let mut plain = scan(1, false, 1);
    plain[105..107].fill(0xff);
    plain.resize(plain.len() + 65_535, 0);
    assert_eq!(SampleFile::new("a.las", plain).table("").1, place(0));
}

#[test]
fn chunks_beyond_the_declared_count_are_reported() {
    // Two chunks of 50,000 points at most.
    let whole = scan(1, true, 60_000);
    let patched =
        |count: u32| SampleFile::new("a.laz", [&whole[..107], &count.to_le_bytes(), &whole[111..]].concat());
    for (count, want) in
        [(60_000, None), (50_001, None), (50_000, Some("1 chunk beyond the header's points was not read"))]
    {
        let info = patched(count).info();
        assert_eq!((info.rows, info.skipped.first().map(String::as_str)), (count.into(), want));
    }
}

/// A variable length record.
fn record(user: &str, id: u16, data: &[u8]) -> Vec<u8> {
    let mut name = user.as_bytes().to_vec();
    name.resize(16, 0);
    [&[0; 2], &name[..], &id.to_le_bytes(), &(data.len() as u16).to_le_bytes(), &[0; 32], data].concat()
}

/// The scan with these records inserted before its own.
fn with_records(scan: &[u8], records: &[Vec<u8>]) -> Vec<u8> {
    let number = |at: usize| u32::from_le_bytes(*scan[at..].first_chunk().unwrap());
    let end = usize::from(u16::from_le_bytes([scan[94], scan[95]]));
    let more = records.concat();
    let mut content = [&scan[..end], &more, &scan[end..]].concat();
    content[96..100].copy_from_slice(&(number(96) + more.len() as u32).to_le_bytes());
    content[100..104].copy_from_slice(&(number(100) + records.len() as u32).to_le_bytes());
    content
}

#[test]
fn duplicate_extra_bytes_descriptions_are_ignored() {
    let describe = |name: &str| {
        let mut data = [0; 192];
        data[2] = 1;
        data[4..4 + name.len()].copy_from_slice(name.as_bytes());
        record("LASF_Spec", 4, &data)
    };
    // Two points with an extra byte.
    let mut plain = scan(1, false, 2);
    let start = plain.len() - 2 * 28;
    plain[105] += 1;
    plain.insert(start + 28, 7);
    plain.push(8);
    let sample = |names: &[&str]| {
        SampleFile::new(
            "a.las",
            with_records(&plain, &names.iter().map(|name| describe(name)).collect::<Vec<_>>()),
        )
    };
    let one = sample(&["a"]).info();
    assert_eq!((one.columns.last().unwrap().name.as_str(), one.skipped.len()), ("a", 0));
    let three = sample(&["a", "b", "a"]);
    let info = three.info();
    assert_eq!(info.columns.len(), one.columns.len());
    assert_eq!(info.skipped, ["2 more descriptions of extra bytes were not read"]);
    assert_eq!(three.table("a").1, [7.0, 8.0]);
}

#[test]
fn empty_records_are_read_in_bulk() {
    /// Counts the reads.
    #[derive(Default)]
    struct ReadCounter(std::sync::atomic::AtomicU64);
    impl crate::progress::Progress for ReadCounter {
        fn update(&self, _: u64, _: u64) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }

        fn cancelled(&self) -> bool {
            false
        }
    }
    let sample =
        SampleFile::new("a.las", with_records(&scan(1, false, 2), &vec![record("nobody", 1, &[]); 10_000]));
    let reads = ReadCounter::default();
    assert_eq!(describe(&sample.path, &reads).unwrap().rows, 2);
    // Half a megabyte in buffers of a quarter.
    assert!(reads.0.into_inner() < 20);
}

#[test]
fn las_1_4_uses_the_64_bit_point_count() {
    for (format, compressed) in [(6, false), (7, true)] {
        let whole = scan(format, compressed, 100);
        let start = u32::from_le_bytes(*whole[96..].first_chunk().unwrap());
        let patched = |legacy: u32, count: u64, minor: u8| {
            let mut content = whole.clone();
            content[25] = minor;
            content[107..111].copy_from_slice(&legacy.to_le_bytes());
            content[247..255].copy_from_slice(&count.to_le_bytes());
            content
        };
        // Version 1.5 has a longer header.
        let mut later = patched(0, 100, 5);
        later.splice(375..375, [0; 18]);
        later[94..96].copy_from_slice(&393u16.to_le_bytes());
        later[96..100].copy_from_slice(&(start + 18).to_le_bytes());
        if compressed {
            let at = start as usize + 18;
            let table = u64::from_le_bytes(*later[at..].first_chunk().unwrap());
            later[at..at + 8].copy_from_slice(&(table + 18).to_le_bytes());
        }
        for (content, version) in [
            (patched(0, 100, 4), "1.4"),
            (patched(100, 0, 4), "1.4"),
            (patched(7, 100, 4), "1.4"),
            (later, "1.5"),
        ] {
            let sample = SampleFile::new("a.las", content);
            assert!(
                sample.table("").1 == (0..100).flat_map(place).collect::<Vec<_>>(),
                "{version}, {compressed}"
            );
            assert!(sample.info().format.contains(version));
        }
    }
}

/// A scan of places in degrees, with the bounds in its header.
fn degrees(format: u8) -> Vec<u8> {
    let mut builder = Builder::from(if format >= 6 { (1, 4) } else { (1, 2) });
    builder.point_format = ::las::point::Format::new(format).unwrap();
    let transform = Transform { scale: 1e-7, offset: 0.0 };
    builder.transforms = Vector { x: transform, y: transform, z: transform };
    let mut writer = Writer::new(std::io::Cursor::new(Vec::new()), builder.into_header().unwrap()).unwrap();
    for i in 0..3 {
        writer
            .write_point(Point {
                x: 10.0 + f64::from(i),
                y: 60.5,
                z: 150.0,
                gps_time: Some(0.0),
                ..Default::default()
            })
            .unwrap();
    }
    writer.close().unwrap();
    writer.into_inner().unwrap().into_inner()
}

fn keys(entries: &[[u16; 4]]) -> Vec<u8> {
    let all = [&[[1, 1, 0, entries.len() as u16]], entries].concat();
    record(
        "LASF_Projection",
        34735,
        &all.iter().flatten().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>(),
    )
}

const GLOBE: &str = concat!(
    r#"GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],"#,
    r#"UNIT["degree",0.0174532925199433],AUTHORITY["EPSG","4326"]]"#,
);

#[test]
fn geographic_scans_yield_longitude_and_latitude() {
    let geographic = [[1024, 0, 1, 2], [2048, 0, 1, 4326]];
    let after = |scan: Vec<u8>| {
        // As a record after the points, following another.
        let extended = |user: &str, id: u16, data: &[u8]| {
            let record = record(user, id, &[]);
            [&record[..20], &(data.len() as u64).to_le_bytes(), &[0; 32], data].concat()
        };
        let mut content = scan;
        let start = content.len() as u64;
        content[235..243].copy_from_slice(&start.to_le_bytes());
        content[243..247].copy_from_slice(&2u32.to_le_bytes());
        [content, extended("copc", 1000, &[7; 99]), extended("LASF_Projection", 2112, GLOBE.as_bytes())]
            .concat()
    };
    for (content, from) in [
        (with_records(&degrees(1), &[keys(&geographic)]), "GeoKeys"),
        (with_records(&degrees(6), &[record("LASF_Projection", 2112, GLOBE.as_bytes())]), "WKT"),
        (after(degrees(6)), "WKT"),
    ] {
        let sample = SampleFile::new("a.las", content);
        assert_eq!(
            sample.table(""),
            (names(&["longitude", "latitude"]), vec![10.0, 60.5, 11.0, 60.5, 12.0, 60.5])
        );
        // The old names x, y, z, which other programs use, still work.
        assert_eq!(sample.table("x,y,z").0, names(&["longitude", "latitude", "height"]));
        assert_eq!(sample.table("Z,latitude").1[..2], [150.0, 60.5]);
        assert!(column(&sample.path, "y", &NoProgress).is_ok());
        let info = sample.info();
        assert_eq!((&info.guessed_columns, &info.default_columns), (&vec![0, 1], &vec![0, 1]));
        assert!(
            info.format.ends_with(", EPSG:4326") || info.format.ends_with(", EPSG:4326, degrees"),
            "{}",
            info.format
        );
        let input = Input::new(&sample.path, &NoProgress).unwrap();
        let declared = crate::formats::las::read(&input, &ColumnRequest::Selected(&ColumnChoice::Default))
            .unwrap()
            .declared
            .unwrap();
        assert_eq!(declared.why, format!("EPSG:4326 by its {from}; heights are left out"));
    }
}

#[test]
fn projected_crs_descriptions_include_the_unit() {
    let format = |scan: Vec<u8>, entries: &[[u16; 4]]| {
        let sample = SampleFile::new("a.las", with_records(&scan, &[keys(entries)]));
        (sample.table("").0.join(","), sample.info().format)
    };
    let feet = [[1024, 0, 1, 1], [2048, 0, 1, 4269], [3072, 0, 1, 2926], [3076, 0, 1, 9003]];
    assert_eq!(
        format(degrees(1), &feet),
        ("x,y,z".to_owned(), "LAS 1.2, point format 1, EPSG:2926, US survey feet".to_owned())
    );
    // Metres mislabelled as degrees.
    let mistaken = "LAS 1.2, point format 1, EPSG:4326, but not in degrees";
    assert_eq!(
        format(scan(1, false, 9), &[[1024, 0, 1, 2], [2048, 0, 1, 4326]]),
        ("x,y,z".to_owned(), mistaken.to_owned())
    );
    // Other angles are not degrees, unless columns were selected.
    let grads = SampleFile::new(
        "a.las",
        with_records(&degrees(1), &[keys(&[[1024, 0, 1, 2], [2048, 0, 1, 4807], [2054, 0, 1, 9105]])]),
    );
    assert_eq!(
        grads.error(),
        "EPSG:4807, units EPSG:9105: its angles are not degrees; reproject it, or choose columns: --columns \
         x,y,z"
    );
    assert_eq!(grads.table("x,y,z").0, names(&["x", "y", "z"]));
}

#[test]
fn invalid_extended_records_are_ignored() {
    let mut content = degrees(6);
    let start = content.len() as u64;
    content[235..243].copy_from_slice(&start.to_le_bytes());
    content[243..247].copy_from_slice(&u32::MAX.to_le_bytes());
    let head = record("LASF_Projection", 2112, &[]);
    for (length, more) in [(u64::MAX, 0), (1 << 40, 10), (100, 10), (0, 0)] {
        let record = [&head[..20], &u64::to_le_bytes(length), &[0; 32], &vec![b'['; more][..]].concat();
        assert_eq!(
            SampleFile::new("a.las", [&content[..], &record].concat()).table("").0,
            names(&["x", "y", "z"])
        );
    }
    assert_eq!(SampleFile::new("a.las", content).table("").0, names(&["x", "y", "z"]));
}

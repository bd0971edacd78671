//! Peak host memory of loading a cloud, counted by the allocator, relative to the size of its f32
//! coordinates.
//!
//! One test alone in its binary, because all allocations of the process are counted.

#[path = "common/counting.rs"]
mod counting;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

use counting::{CountingAllocator, LIVE, PEAK};
use warpscope::cloud::{self, Source, formats};
use warpscope::progress::NoProgress;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Buffers of readers and threads, independent of the cloud's size.
const BUFFERS: f64 = 3e6;

/// A kind of file, its peak and its final memory, in multiples of the f32 size.
struct Case {
    name: &'static str,
    rows: usize,
    dims: usize,
    peak: f64,
    rest: f64,
    write: fn(&mut dyn Write, usize, usize),
}

/// An integer below 1000, or a number with decimals that f32 cannot represent.
fn integer(at: usize) -> f64 {
    ((at * 7919) % 1000) as f64
}

fn decimal(at: usize) -> f64 {
    4_918_340.0 + ((at * 7919) % 1_000_003) as f64 * 0.000_25
}

fn npy(out: &mut dyn Write, descr: &str, order: &str, rows: usize, dims: usize) {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, {dims}), }}");
    out.write_all(b"\x93NUMPY\x01\x00").unwrap();
    out.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    out.write_all(header.as_bytes()).unwrap();
}

fn floats(out: &mut dyn Write, count: usize) {
    (0..count).for_each(|at| out.write_all(&(integer(at) as f32).to_le_bytes()).unwrap());
}

fn doubles(out: &mut dyn Write, count: usize, value: fn(usize) -> f64) {
    (0..count).for_each(|at| out.write_all(&value(at).to_le_bytes()).unwrap());
}

/// LAS 1.2, point format 0: a header of 227 bytes, points of 20.
fn las(out: &mut dyn Write, rows: usize, _: usize) {
    let mut header = [0u8; 227];
    header[..4].copy_from_slice(b"LASF");
    (header[24], header[25]) = (1, 2);
    header[94..96].copy_from_slice(&227u16.to_le_bytes());
    header[96..100].copy_from_slice(&227u32.to_le_bytes());
    header[105..107].copy_from_slice(&20u16.to_le_bytes());
    header[107..111].copy_from_slice(&(rows as u32).to_le_bytes());
    for axis in 0..3 {
        header[131 + 8 * axis..][..8].copy_from_slice(&0.000_25f64.to_le_bytes());
        header[155 + 8 * axis..][..8].copy_from_slice(&4_918_340f64.to_le_bytes());
    }
    out.write_all(&header).unwrap();
    for row in 0..rows {
        let mut point = [0u8; 20];
        (0..3).for_each(|axis| {
            point[4 * axis..][..4].copy_from_slice(&((row * 7919 + axis) as i32 % 1_000_003).to_le_bytes())
        });
        out.write_all(&point).unwrap();
    }
}

fn ply(out: &mut dyn Write, rows: usize, number: &str) {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\nelement vertex {rows}\nproperty {number} x\nproperty \
         {number} y\nproperty {number} z\nproperty uchar red\nend_header\n"
    )
    .unwrap();
    for row in 0..rows {
        for axis in 0..3 {
            match number {
                "float" => out.write_all(&(integer(row + axis) as f32).to_le_bytes()).unwrap(),
                _ => out.write_all(&decimal(row + axis).to_le_bytes()).unwrap(),
            }
        }
        out.write_all(&[7]).unwrap();
    }
}

fn csv(out: &mut dyn Write, rows: usize, dims: usize, value: fn(usize) -> f64) {
    for row in 0..rows {
        let line: Vec<String> = (0..dims).map(|axis| value(row * dims + axis).to_string()).collect();
        writeln!(out, "{}", line.join(",")).unwrap();
    }
}

const CASES: &[Case] = &[
    Case {
        name: "f32.npy",
        rows: 1_000_000,
        dims: 3,
        peak: 1.0,
        rest: 1.0,
        write: |out, n, d| {
            npy(out, "<f4", "False", n, d);
            floats(out, n * d);
        },
    },
    Case {
        name: "f32-many.npy",
        rows: 20_000,
        dims: 200,
        peak: 1.0,
        rest: 1.0,
        write: |out, n, d| {
            npy(out, "<f4", "False", n, d);
            floats(out, n * d);
        },
    },
    Case {
        name: "f64.npy",
        rows: 1_000_000,
        dims: 3,
        peak: 3.0,
        rest: 1.0,
        write: |out, n, d| {
            npy(out, "<f8", "False", n, d);
            doubles(out, n * d, integer);
        },
    },
    Case {
        name: "f64-decimal.npy",
        rows: 1_000_000,
        dims: 3,
        peak: 3.0,
        rest: 2.0,
        write: |out, n, d| {
            npy(out, "<f8", "False", n, d);
            doubles(out, n * d, decimal);
        },
    },
    Case {
        name: "f64-by-column.npy",
        rows: 500_000,
        dims: 5,
        peak: 3.0,
        rest: 1.0,
        write: |out, n, d| {
            npy(out, "<f8", "True", n, d);
            doubles(out, n * d, integer);
        },
    },
    Case { name: "scan.las", rows: 1_000_000, dims: 3, peak: 3.0, rest: 2.0, write: las },
    Case {
        name: "a.fbin",
        rows: 50_000,
        dims: 64,
        peak: 1.0,
        rest: 1.0,
        write: |out, n, d| {
            [n, d].iter().for_each(|count| out.write_all(&(*count as u32).to_le_bytes()).unwrap());
            floats(out, n * d);
        },
    },
    Case {
        name: "a.fvecs",
        rows: 50_000,
        dims: 64,
        peak: 1.0,
        rest: 1.0,
        write: |out, n, d| {
            for _ in 0..n {
                out.write_all(&(d as u32).to_le_bytes()).unwrap();
                floats(out, d);
            }
        },
    },
    Case {
        name: "float.ply",
        rows: 1_000_000,
        dims: 3,
        peak: 1.0,
        rest: 1.0,
        write: |out, n, _| ply(out, n, "float"),
    },
    Case {
        name: "double.ply",
        rows: 1_000_000,
        dims: 3,
        peak: 3.0,
        rest: 2.0,
        write: |out, n, _| ply(out, n, "double"),
    },
    Case {
        name: "integer.csv",
        rows: 700_000,
        dims: 3,
        peak: 3.0,
        rest: 1.0,
        write: |out, n, d| csv(out, n, d, integer),
    },
    // Read column by column as f64, then copied into rows.
    Case {
        name: "arrays.json",
        rows: 50_000,
        dims: 3,
        peak: 4.5,
        rest: 1.0,
        write: |out, n, d| {
            (0..n).for_each(|row| {
                let point: Vec<String> = (0..d).map(|axis| integer(row * d + axis).to_string()).collect();
                write!(out, "{}[{}]", if row == 0 { "[" } else { "," }, point.join(",")).unwrap();
            });
            write!(out, "]").unwrap();
        },
    },
    Case {
        name: "atoms.xyz",
        rows: 100_000,
        dims: 3,
        peak: 3.0,
        rest: 1.0,
        write: |out, n, _| {
            writeln!(out, "{n}\n").unwrap();
            (0..n).for_each(|row| {
                writeln!(out, "C {} {} {}", integer(row), integer(row + 1), integer(row + 2)).unwrap()
            });
        },
    },
    Case {
        name: "words.vec",
        rows: 5_000,
        dims: 50,
        peak: 3.0,
        rest: 1.0,
        write: |out, n, d| {
            (0..n).for_each(|row| {
                let vector: Vec<String> =
                    (0..d).map(|axis| format!("{}.5", integer(row * d + axis))).collect();
                writeln!(out, "w{row} {}", vector.join(" ")).unwrap();
            });
        },
    },
    Case {
        name: "decimal.csv",
        rows: 300_000,
        dims: 7,
        peak: 3.0,
        rest: 2.0,
        write: |out, n, d| csv(out, n, d, decimal),
    },
];

/// Allowance beyond three times the cloud and the longest line, for files designed to need more: buffers,
/// listed frames and members, and half a million numbers collected before objects with few common keys are
/// refused.
const LISTS: f64 = 16e6;
/// Bytes per column: its name, range and lookup tables.
const COLUMN: f64 = 1024.0;

/// A file that claims much more data than it has, its columns, and the length of its longest line.
struct HostileFile {
    name: &'static str,
    columns: usize,
    line: usize,
    content: fn() -> Vec<u8>,
}

fn packed(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn features(count: usize) -> Vec<u8> {
    let one = |at| {
        format!(
            "{{\"type\":\"Feature\",\"geometry\":{{\"type\":\"Point\",\"coordinates\":[1,2]}},\
             \"properties\":{{\"p{at}\":{at}}}}}"
        )
    };
    format!(
        r#"{{"type":"FeatureCollection","features":[{}]}}"#,
        (0..count).map(one).collect::<Vec<_>>().join(",")
    )
    .into_bytes()
}

const HOSTILE: &[HostileFile] = &[
    HostileFile {
        name: "empty.json",
        columns: 0,
        line: 0,
        content: || format!("[[{}[]]]", "[],".repeat(500_000)).into_bytes(),
    },
    HostileFile {
        name: "empty.json.gz",
        columns: 0,
        line: 0,
        content: || packed(&format!("[[{}[]]]", "[],".repeat(500_000))),
    },
    HostileFile {
        name: "objects.json",
        columns: 0,
        line: 0,
        content: || format!("[{}{{\"a\":1}}]", "{},".repeat(300_000)).into_bytes(),
    },
    HostileFile { name: "new.geojson", columns: 10_000, line: 0, content: || features(10_000) },
    HostileFile {
        name: "nested.geojson",
        columns: 0,
        line: 0,
        content: || {
            String::from_utf8(features(1))
                .unwrap()
                .replace(":0}", &format!(":[{}0]}}", r#"{"a":[]},"#.repeat(150_000)))
                .into_bytes()
        },
    },
    HostileFile {
        name: "line.xyz",
        columns: 0,
        line: 3_000_000,
        content: || format!("1\n\nH{}\n", " 0".repeat(1_500_000)).into_bytes(),
    },
    HostileFile {
        name: "frames.xyz",
        columns: 0,
        line: 0,
        content: || "1\n\nH 0 0 0\n".repeat(100_000).into_bytes(),
    },
    HostileFile {
        name: "line.csv",
        columns: 0,
        line: 3_000_000,
        content: || "1,".repeat(1_500_000).into_bytes(),
    },
    HostileFile {
        name: "line.txt.gz",
        columns: 0,
        line: 3_000_000,
        content: || packed(&"1 ".repeat(1_500_000)),
    },
    HostileFile {
        name: "quote.csv",
        columns: 2,
        line: 4_000_000,
        content: || format!("a,b\n1,\"{}", "x".repeat(4_000_000)).into_bytes(),
    },
    HostileFile {
        name: "names.csv.gz",
        columns: 300,
        line: 9_000_000,
        content: || {
            packed(&format!("{}\n{}\n", vec!["n".repeat(30_000); 300].join(","), vec!["1"; 300].join(",")))
        },
    },
    HostileFile {
        name: "line.vec",
        columns: 2,
        line: 4_000_000,
        content: || format!("w {}\nv {}\n", "1 ".repeat(30), "1 ".repeat(2_000_000)).into_bytes(),
    },
];

/// Peak memory of a task beyond the start, and the size of its result, in bytes.
fn measure_memory<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
    let before = LIVE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = work();
    (answer, (PEAK.load(Relaxed) - before) as f64, LIVE.load(Relaxed).saturating_sub(before) as f64)
}

fn write(folder: &Path, case: &Case) -> PathBuf {
    let path = folder.join(case.name);
    let mut out = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    (case.write)(&mut out, case.rows, case.dims);
    out.flush().unwrap();
    path
}

#[test]
fn loading_uses_at_most_three_times_the_cloud_size() {
    let folder = tempfile::tempdir().unwrap();
    let load = |source: &Source| cloud::load(source, false, &NoProgress).unwrap();
    // Start threads and their buffers before counting.
    load(&Source::Generate { spec: "uniform:n=100000,d=2".to_owned(), seed: 0 });

    let check = |name: &str, size: f64, peak: f64, rest: f64, most_peak: f64, most_rest: f64| {
        println!("{name:20} peak {:.2} ×, kept {:.2} ×", peak / size, rest / size);
        assert!(
            peak <= most_peak * size + BUFFERS,
            "{name}: {:.2} times the cloud at its peak, more than {most_peak}",
            peak / size
        );
        assert!(
            rest <= most_rest * size + BUFFERS / 10.0,
            "{name}: {:.2} times the cloud kept, more than {most_rest}",
            rest / size
        );
    };
    for case in CASES {
        let path = write(folder.path(), case);
        let (cloud, peak, rest) =
            measure_memory(|| load(&Source::File { path: path.clone(), columns: "".parse().unwrap() }));
        assert_eq!((cloud.len(), cloud.dims()), (case.rows, case.dims));
        check(case.name, (4 * case.rows * case.dims) as f64, peak, rest, case.peak, case.rest);
        drop(cloud);
        // Describing a file must leave no memory allocated.
        let (_, peak, _) = measure_memory(|| formats::describe(&path, &NoProgress).unwrap());
        check(&format!("{}, described", case.name), (4 * case.rows * case.dims) as f64, peak, 0.0, 3.0, 0.0);
        std::fs::remove_file(path).unwrap();
    }
    let (cloud, peak, rest) =
        measure_memory(|| load(&Source::Generate { spec: "gaussian-mixture:n=1e6,d=3".to_owned(), seed: 1 }));
    check("generated", (12 * cloud.len()) as f64, peak, rest, 1.0, 1.0);

    for &HostileFile { name, columns, line, content } in HOSTILE {
        let path = folder.path().join(name);
        std::fs::write(&path, content()).unwrap();
        let source = Source::File { path: path.clone(), columns: "".parse().unwrap() };
        let (loaded, peak, _) = measure_memory(|| cloud::load(&source, true, &NoProgress));
        let kept = loaded.as_ref().map_or(0, |cloud| 4 * cloud.len() * cloud.dims());
        let most = 3.0 * kept as f64 + 3.0 * line as f64 + COLUMN * columns as f64 + LISTS;
        println!(
            "{name:20} peak {:.1} MB of {:.1}: {:?}",
            peak / 1e6,
            most / 1e6,
            loaded.as_ref().map(|cloud| cloud.len()).map_err(ToString::to_string)
        );
        assert!(peak <= most, "{name}: {peak} bytes at its peak, more than {most}");
    }
}

//! What loading a cloud takes of the host's memory, counted by the allocator, beside the size of its f32 coordinates.
//!
//! One test in a binary of its own: whatever else ran at the same time would be counted too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use warpscope::cloud::{self, Source, formats};
use warpscope::progress::Silent;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grown(by: usize) {
    PEAK.fetch_max(LIVE.fetch_add(by, Relaxed) + by, Relaxed);
}

// SAFETY: every call is the system's; the counters are beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grown(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Large blocks are moved by the page table, not copied: the two are never there at once.
        LIVE.fetch_sub(layout.size(), Relaxed);
        grown(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Buffers of readers and threads, which do not grow with the cloud.
const BUFFERS: f64 = 3e6;

/// A kind of file, with its peak and what stays, in multiples of the f32 size.
struct Case {
    name: &'static str,
    rows: usize,
    dims: usize,
    peak: f64,
    rest: f64,
    write: fn(&mut dyn Write, usize, usize),
}

/// A whole number below 1000, or one with decimals that f32 does not hold.
fn whole(at: usize) -> f64 {
    ((at * 7919) % 1000) as f64
}

fn precise(at: usize) -> f64 {
    4_918_340.0 + ((at * 7919) % 1_000_003) as f64 * 0.000_25
}

fn npy(out: &mut dyn Write, descr: &str, order: &str, rows: usize, dims: usize) {
    let header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({rows}, {dims}), }}");
    out.write_all(b"\x93NUMPY\x01\x00").unwrap();
    out.write_all(&(header.len() as u16).to_le_bytes()).unwrap();
    out.write_all(header.as_bytes()).unwrap();
}

fn floats(out: &mut dyn Write, count: usize) {
    (0..count).for_each(|at| out.write_all(&(whole(at) as f32).to_le_bytes()).unwrap());
}

fn doubles(out: &mut dyn Write, count: usize, value: fn(usize) -> f64) {
    (0..count).for_each(|at| out.write_all(&value(at).to_le_bytes()).unwrap());
}

/// LAS 1.2, point format 0: a header of 227 bytes, and points of 20.
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
        (0..3).for_each(|axis| point[4 * axis..][..4].copy_from_slice(&((row * 7919 + axis) as i32 % 1_000_003).to_le_bytes()));
        out.write_all(&point).unwrap();
    }
}

fn ply(out: &mut dyn Write, rows: usize, number: &str) {
    write!(out, "ply\nformat binary_little_endian 1.0\nelement vertex {rows}\nproperty {number} x\nproperty {number} y\nproperty {number} z\nproperty uchar red\nend_header\n").unwrap();
    for row in 0..rows {
        for axis in 0..3 {
            match number {
                "float" => out.write_all(&(whole(row + axis) as f32).to_le_bytes()).unwrap(),
                _ => out.write_all(&precise(row + axis).to_le_bytes()).unwrap(),
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
            doubles(out, n * d, whole);
        },
    },
    Case {
        name: "f64-precise.npy",
        rows: 1_000_000,
        dims: 3,
        peak: 3.0,
        rest: 2.0,
        write: |out, n, d| {
            npy(out, "<f8", "False", n, d);
            doubles(out, n * d, precise);
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
            doubles(out, n * d, whole);
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
    Case { name: "float.ply", rows: 1_000_000, dims: 3, peak: 1.0, rest: 1.0, write: |out, n, _| ply(out, n, "float") },
    Case { name: "double.ply", rows: 1_000_000, dims: 3, peak: 3.0, rest: 2.0, write: |out, n, _| ply(out, n, "double") },
    Case { name: "whole.csv", rows: 700_000, dims: 3, peak: 3.0, rest: 1.0, write: |out, n, d| csv(out, n, d, whole) },
    Case { name: "precise.csv", rows: 300_000, dims: 7, peak: 3.0, rest: 2.0, write: |out, n, d| csv(out, n, d, precise) },
];

/// The most memory that work takes beyond what there was, and what its answer keeps, in bytes.
fn taken<T>(work: impl FnOnce() -> T) -> (T, f64, f64) {
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
fn clouds_take_three_times_their_size_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let load = |source: &Source| cloud::load(source, false, &Silent).unwrap();
    // Threads and what they keep are there before anything is counted.
    load(&Source::Generate { spec: "uniform:n=100000,d=2".to_owned(), seed: 0 });

    let check = |name: &str, size: f64, peak: f64, rest: f64, most_peak: f64, most_rest: f64| {
        println!("{name:20} peak {:.2} ×, kept {:.2} ×", peak / size, rest / size);
        assert!(peak <= most_peak * size + BUFFERS, "{name}: {:.2} times the cloud at its peak, more than {most_peak}", peak / size);
        assert!(rest <= most_rest * size + BUFFERS / 10.0, "{name}: {:.2} times the cloud kept, more than {most_rest}", rest / size);
    };
    for case in CASES {
        let path = write(folder.path(), case);
        let (cloud, peak, rest) = taken(|| load(&Source::File { path: path.clone(), columns: "".parse().unwrap() }));
        assert_eq!((cloud.len(), cloud.dims()), (case.rows, case.dims));
        check(case.name, (4 * case.rows * case.dims) as f64, peak, rest, case.peak, case.rest);
        drop(cloud);
        // Describing a file keeps nothing of it.
        let (_, peak, _) = taken(|| formats::describe(&path, &Silent).unwrap());
        check(&format!("{}, described", case.name), (4 * case.rows * case.dims) as f64, peak, 0.0, 3.0, 0.0);
        std::fs::remove_file(path).unwrap();
    }
    let (cloud, peak, rest) = taken(|| load(&Source::Generate { spec: "gaussian-mixture:n=1e6,d=3".to_owned(), seed: 1 }));
    check("generated", (12 * cloud.len()) as f64, peak, rest, 1.0, 1.0);
}

//! Times opening a file against only reading its bytes: `cargo bench --bench open [-- ROWS]`.
//!
//! Writes files of ROWS × 3 (default: 10,000,000) to the temporary folder and reads them once to fill the
//! page cache. Then alternates between reading and loading, and prints medians of five and their difference.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use warpscope::cloud::{self, ColumnChoice, Source};
use warpscope::progress::NoProgress;

const REPEATS: usize = 5;

/// A scan's coordinate, as the integer that LAS stores.
fn raw(at: u32) -> i32 {
    (at.wrapping_mul(2_654_435_761) >> 8) as i32
}

fn npy(out: &mut impl Write, descr: &str, rows: u32) -> std::io::Result<()> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({rows}, 3), }}\n");
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}

fn f32_npy(out: &mut BufWriter<File>, rows: u32) -> std::io::Result<()> {
    npy(out, "<f4", rows)?;
    (0..3 * rows).try_for_each(|at| out.write_all(&(raw(at) as f32).to_le_bytes()))
}

fn f64_npy(out: &mut BufWriter<File>, rows: u32) -> std::io::Result<()> {
    npy(out, "<f8", rows)?;
    (0..3 * rows).try_for_each(|at| out.write_all(&(4e6 + f64::from(raw(at)) * 0.000_25).to_le_bytes()))
}

/// LAS 1.2, point format 3: a header of 227 bytes, points of 34.
fn las(out: &mut BufWriter<File>, rows: u32) -> std::io::Result<()> {
    let mut header = [0u8; 227];
    header[..4].copy_from_slice(b"LASF");
    (header[24], header[25], header[104]) = (1, 2, 3);
    header[94..96].copy_from_slice(&227u16.to_le_bytes());
    header[96..100].copy_from_slice(&227u32.to_le_bytes());
    header[105..107].copy_from_slice(&34u16.to_le_bytes());
    header[107..111].copy_from_slice(&rows.to_le_bytes());
    for axis in 0..3 {
        header[131 + 8 * axis..][..8].copy_from_slice(&0.000_25f64.to_le_bytes());
        header[155 + 8 * axis..][..8].copy_from_slice(&4e6f64.to_le_bytes());
    }
    out.write_all(&header)?;
    (0..rows).try_for_each(|row| {
        let mut point = [0u8; 34];
        (0..3).for_each(|axis| {
            point[4 * axis as usize..][..4].copy_from_slice(&raw(3 * row + axis).to_le_bytes())
        });
        out.write_all(&point)
    })
}

fn read_alone(path: &Path) -> Duration {
    let start = Instant::now();
    let mut file = File::open(path).expect("opening the file");
    let mut buffer = vec![0; 1 << 18];
    while file.read(&mut buffer).expect("reading the file") > 0 {}
    start.elapsed()
}

fn load(path: &Path) -> Duration {
    let source = Source::File { path: path.to_owned(), columns: ColumnChoice::Default };
    let start = Instant::now();
    let cloud = cloud::load(&source, false, &NoProgress).expect("the file is a cloud");
    let took = start.elapsed();
    assert_eq!(cloud.dims(), 3);
    took
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn main() {
    let rows =
        std::env::args().skip(1).find_map(|word| word.replace('_', "").parse().ok()).unwrap_or(10_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{rows} × 3 on {cores} cores\nformat    bytes        read s  load s  more s  load ÷ read");
    type Write = fn(&mut BufWriter<File>, u32) -> std::io::Result<()>;
    let kinds: [(&str, Write); 3] = [("f32.npy", f32_npy), ("f64.npy", f64_npy), ("a.las", las)];
    for (name, write) in kinds {
        let path = folder.path().join(name);
        let mut out = BufWriter::new(File::create(&path).expect("creating a temporary file"));
        write(&mut out, rows).and_then(|()| out.flush()).expect("writing a temporary file");
        read_alone(&path);
        let (mut reads, mut loads) = (Vec::new(), Vec::new());
        for _ in 0..REPEATS {
            reads.push(read_alone(&path));
            loads.push(load(&path));
        }
        let (read, load) = (median(reads), median(loads));
        let bytes = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
        println!("{name:8}  {bytes:11}  {read:6.3}  {load:6.3}  {:6.3}  {:6.1}", load - read, load / read);
        let _ = std::fs::remove_file(path);
    }
}

//! Times writing neighbours as `.npz` against a sequential writer: `cargo bench --bench write [-- QUERIES]`.
//!
//! The answers of QUERIES (default: 2,000,000) with k = 10 arrive in four batches. The sequential writer uses
//! the zip crate on one thread; as it has to finish an array before the next, distances wait in a file.
//! Alternates between both, and prints medians of five, their CPU time and the ratios. Files go to the
//! temporary folder: set TMPDIR to measure a disk.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::time::Instant;

use warpscope::cloud::{self, PointCloud, Source};
use warpscope::export::answers::Annotations;
use warpscope::export::provenance::Provenance;
use warpscope::export::{self, ExportError, FileColumns, Size};
use warpscope::knn::{Goal, Metric};
use warpscope::progress::NoProgress;
use warpscope::run::{AnswerBatch, BatchAnswers, QuerySpec, RunSpec};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const REPEATS: usize = 5;
const K: usize = 10;
const BATCHES: usize = 4;

/// Answers of all queries.
struct Answers {
    cloud: PointCloud,
    query_rows: Vec<u32>,
    rows: Vec<u32>,
    squared: Vec<f32>,
    distances: Vec<f64>,
}

impl Answers {
    fn new(queries: u32) -> Self {
        let spec = format!("uniform:n={queries},d=1");
        let cloud =
            cloud::load(&Source::Generate { spec, seed: 1 }, false, &NoProgress).expect("it is valid");
        let slots = queries as usize * K;
        let rows = (0..slots).map(|at| (at as u32).wrapping_mul(2_654_435_761) % queries).collect();
        let squared: Vec<f32> = (0..slots).map(|at| at as f32 * 1e-7).collect();
        let distances = squared.iter().map(|&squared| f64::from(squared).sqrt()).collect();
        Self { cloud, query_rows: (0..queries).collect(), rows, squared, distances }
    }

    fn batches(&self) -> impl Iterator<Item = AnswerBatch<'_>> {
        let size = self.query_rows.len().div_ceil(BATCHES);
        self.query_rows.chunks(size).enumerate().map(move |(at, queries)| {
            let first = at * size;
            let slots = first * K..(first + queries.len()) * K;
            let (rows, squared) = (&self.rows[slots.clone()], &self.squared[slots.clone()]);
            let distances = Some(&self.distances[slots]);
            let found = BatchAnswers::Nearest { k: K, metric: Metric::L2, rows, squared, distances };
            AnswerBatch { cloud: &self.cloud, queries: Some((&self.cloud, queries)), first, found }
        })
    }

    fn write(&self, path: &Path) {
        let size = Size { q: self.query_rows.len(), k: K, metric: Metric::L2 };
        let spec = RunSpec::new(self.cloud.source().clone(), QuerySpec::All, K);
        let provenance = Provenance::new(&spec, &self.cloud, None);
        let context = Annotations { columns: FileColumns::none(), provenance: &provenance };
        export::in_batches(path, Goal::Nearest, size, context, |writer| {
            self.batches().try_for_each(|batch| writer.append(batch))
        })
        .map(|_| ())
        .unwrap_or_else(|why: ExportError| panic!("writing failed: {why}"));
    }

    fn write_sequentially(&self, path: &Path) -> io::Result<()> {
        let q = self.query_rows.len();
        let mut zip = ZipWriter::new(BufWriter::new(File::create(path)?));
        let mut held_back = BufWriter::new(tempfile::tempfile()?);
        begin(&mut zip, "indices", &format!("'<i8', 'fortran_order': False, 'shape': ({q}, {K})"))?;
        for batch in self.batches() {
            values(&mut zip, (0..batch.len()).map(|at| batch.record(at).to_le_bytes()))?;
            for at in 0..batch.len() {
                let BatchAnswers::Nearest { squared, .. } = batch.found else { continue };
                held_back.write_all(&squared[at].to_le_bytes())?;
                held_back.write_all(&batch.distance(at).to_le_bytes())?;
            }
        }
        let mut held_back = BufReader::with_capacity(1 << 16, held_back.into_inner()?);
        begin(&mut zip, "squared_distances", &format!("'<f4', 'fortran_order': False, 'shape': ({q}, {K})"))?;
        let slots = read_again(&mut held_back, q * K)?;
        values(&mut zip, slots.map(|slot| slot.first_chunk::<4>().copied().unwrap_or_default()))?;
        begin(&mut zip, "distances", &format!("'<f8', 'fortran_order': False, 'shape': ({q}, {K})"))?;
        let slots = read_again(&mut held_back, q * K)?;
        values(&mut zip, slots.map(|slot| slot.last_chunk::<8>().copied().unwrap_or_default()))?;
        begin(&mut zip, "query_rows", &format!("'<i8', 'fortran_order': False, 'shape': ({q},)"))?;
        values(&mut zip, self.query_rows.iter().map(|&row| self.cloud.record(row as usize).to_le_bytes()))?;
        zip.finish()?.flush()
    }
}

/// Both distances of each neighbour.
fn read_again(file: &mut BufReader<File>, count: usize) -> io::Result<impl Iterator<Item = [u8; 12]>> {
    file.rewind()?;
    Ok((0..count).map(move |_| {
        let mut slot = [0; 12];
        file.read_exact(&mut slot).expect("reading a temporary file");
        slot
    }))
}

fn begin(zip: &mut ZipWriter<BufWriter<File>>, name: &str, descr: &str) -> io::Result<()> {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file(format!("{name}.npy"), stored)?;
    let mut text = format!("{{'descr': {descr}, }}");
    let padding = (10 + text.len() + 1).next_multiple_of(64) - 11 - text.len();
    text += &" ".repeat(padding);
    zip.write_all(b"\x93NUMPY\x01\x00")?;
    zip.write_all(&(text.len() as u16 + 1).to_le_bytes())?;
    writeln!(zip, "{text}")
}

/// Writes values in large chunks.
fn values<const WIDTH: usize>(
    out: &mut impl Write,
    values: impl Iterator<Item = [u8; WIDTH]>,
) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(1 << 16);
    for value in values {
        bytes.extend_from_slice(&value);
        if bytes.len() >= 1 << 16 {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    out.write_all(&bytes)
}

/// CPU seconds of this process, in user and system mode; 0 where the system does not report them.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // In ticks of 10 ms.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let queries =
        std::env::args().skip(1).find_map(|word| word.replace('_', "").parse().ok()).unwrap_or(2_000_000);
    let answers = Answers::new(queries);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let paths = ["sequential.npz", "placed.npz"].map(|name| folder.path().join(name));
    let mut measured = [const { (Vec::new(), Vec::new()) }; 2];
    for _ in 0..REPEATS {
        for (way, (seconds, cpu)) in measured.iter_mut().enumerate() {
            let (began, cpu_before) = (Instant::now(), cpu_seconds());
            if way == 0 {
                answers.write_sequentially(&paths[0]).expect("writing a temporary file");
            } else {
                answers.write(&paths[1]);
            }
            seconds.push(began.elapsed().as_secs_f64());
            cpu.push(cpu_seconds() - cpu_before);
        }
    }
    let [sequential, placed] = paths.map(|path| std::fs::read(path).expect("it was written"));
    assert!(sequential == placed, "both files have the same bytes");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "{queries} × {K}, {} bytes, {cores} cores\nwriter      seconds  CPU s  CPU ns per neighbour",
        placed.len()
    );
    let [sequential, placed] = measured.map(|(seconds, cpu)| (median(seconds), median(cpu)));
    for (name, (seconds, cpu)) in [("sequential", sequential), ("placed", placed)] {
        let each = cpu * 1e9 / (f64::from(queries) * K as f64);
        println!("{name:10}  {seconds:7.3}  {cpu:5.2}  {each:20.1}");
    }
    println!("ratio       {:7.2}  {:5.2}", sequential.0 / placed.0, sequential.1 / placed.1);
}

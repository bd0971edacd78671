//! Writes runs to a recording.

use std::collections::BTreeSet;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::clouds::stored_paths;
use super::manifest::{CloudEntry, FORMAT, Manifest, NAME, RunEntry, StreamsEntry, of_cloud, of_run};
use super::npy::{self, CHUNK, Element};
use super::{RecordedRun, SCHEMA_VERSION, SESSION, unique};
use crate::cloud::PointCloud;
use crate::cloud::formats::limits::MAX_COPIES;
use crate::cloud::formats::{file_of, records};
use crate::files::LatchingWriter;
use crate::knn::{Lane, NONE, StreamPhase, StreamSpan};
use crate::progress::Progress;
use crate::run::{CloudDescription, LoadedRun, Phase, Run};
use crate::{memory, text};

/// Bytes of an array to test for compressibility.
const PROBE: usize = 1 << 16;

/// Larger files with coordinates only are not copied, as the points contain everything.
const MAX_PLAIN: u64 = 64 << 20;

/// What to store of the clouds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudStorage<'a> {
    /// The points and a copy of the file with its other columns, so that the recording needs no other file.
    Points,
    /// Their sources, which are read again when the recording is opened.
    Sources {
        /// The recording's folder, relative to which files in it are stored.
        folder: &'a Path,
    },
}

/// Writes runs. Each cloud is written once; equal names of runs are made unique. Returns a sentence for each
/// data file that could not be copied.
///
/// # Errors
/// Errors of the writer; [`io::ErrorKind::Interrupted`] if cancelled.
pub fn write(
    runs: &[RecordedRun],
    storage: CloudStorage<'_>,
    out: &mut (impl Write + Seek),
    progress: &dyn Progress,
) -> io::Result<Vec<String>> {
    write_with(Extras::default(), runs, storage, out, progress)
}

/// What a window saves along with the runs.
#[derive(Clone, Copy, Debug)]
pub struct WindowState<'a> {
    /// Its state, for [`Recording::session`](super::Recording::session).
    pub session: &'a [u8],
    /// The cloud that it showed, which need not belong to a run.
    pub cloud: Option<&'a Arc<PointCloud>>,
}

/// Additional content of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The state of a window.
    pub shown: Option<WindowState<'a>>,
    /// The indices of two compared runs, A and B.
    pub compared: Option<[usize; 2]>,
}

/// As [`write()`], with additional content.
///
/// # Errors
/// Errors of [`write()`].
pub fn write_with(
    Extras { shown, compared }: Extras<'_>,
    runs: &[RecordedRun],
    storage: CloudStorage<'_>,
    out: &mut (impl Write + Seek),
    progress: &dyn Progress,
) -> io::Result<Vec<String>> {
    let mut clouds = Clouds::default();
    let mut of_runs = Vec::new();
    for recorded in runs {
        let (data, queries) = recorded.run.clouds();
        let record = recorded.run.record();
        let [paths, query_paths] = recorded.run.source_paths();
        let data = clouds.add(data, record.map(|record| &record.cloud), paths);
        let queries = queries.map(|queries| {
            clouds.add(queries, record.and_then(|record| record.query_cloud.as_ref()), query_paths)
        });
        of_runs.push((data, queries));
    }
    let of_window =
        shown.and_then(|shown| shown.cloud).map(|cloud| clouds.add((&**cloud).into(), Some(cloud), &[]));
    let total =
        clouds.list.iter().map(|CloudRef { file, .. }| file.rows * file.axes.len() as u64 * 4).sum::<u64>()
            + runs.iter().map(|recorded| recorded.run.bytes() as u64).sum::<u64>();
    let mut writer = Writer { zip: ZipWriter::new(LatchingWriter::new(out)), progress, done: 0, total };

    let mut manifest = Manifest {
        format: FORMAT.to_owned(),
        schema_version: runs.iter().map(|run| run.run.head().schema_version).min().unwrap_or(SCHEMA_VERSION),
        warpscope_version: env!("CARGO_PKG_VERSION").to_owned(),
        clouds: vec![],
        runs: vec![],
        shown: of_window,
        compared,
    };
    let (mut room, mut missing) = (MAX_COPIES, Vec::new());
    for (at, CloudRef { file, cloud, source_paths: known }) in clouds.list.into_iter().enumerate() {
        let source_paths = match storage {
            CloudStorage::Points if cloud.is_some() => Vec::new(),
            // If the file was not found, keep the paths from the recording that the run was read from.
            _ if cloud.is_none() && !known.is_empty() => known.to_vec(),
            CloudStorage::Points => Vec::new(),
            CloudStorage::Sources { folder } => stored_paths(&file.source, folder),
        };
        let cloud = cloud.filter(|_| storage == CloudStorage::Points);
        let mut copy = None;
        if let Some(cloud) = cloud {
            writer.cloud(at, cloud)?;
            match file_of_cloud(cloud, room, progress) {
                Ok(None) => {}
                Ok(Some(bytes)) => {
                    writer.array(&of_cloud(at, "file"), &[bytes.len()], bytes.iter().copied())?;
                    (copy, room) = (Some(bytes.len()), room.saturating_sub(bytes.len() as u64));
                }
                Err(_) if progress.cancelled() => return Err(io::ErrorKind::Interrupted.into()),
                Err(why) => missing
                    .push(format!("the file's other columns were not saved: {why}: {}", cloud.source())),
            }
        }
        manifest.clouds.push(CloudEntry {
            cloud: file,
            points: cloud.is_some(),
            exact: cloud.is_some_and(|cloud| !cloud.is_faithful()),
            records: cloud.is_some_and(|cloud| cloud.records().is_some()),
            source_paths,
            part: copy.and_then(|_| dataset_of(cloud?.file()?)),
            file: copy,
        });
    }
    let names = unique(runs.iter().map(|recorded| recorded.name.as_str()));
    for (at, ((recorded, name), clouds)) in runs.iter().zip(names).zip(of_runs).enumerate() {
        manifest.runs.push(match &recorded.run {
            LoadedRun::Whole(run) => writer.run(at, name, recorded.pinned, run, clouds)?,
            LoadedRun::WithoutClouds { run, .. } => writer.run(at, name, recorded.pinned, run, clouds)?,
        });
    }
    let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    if let Some(shown) = shown {
        writer.zip.start_file(SESSION, packed)?;
        writer.zip.write_all(shown.session)?;
    }
    writer.zip.start_file(NAME, packed)?;
    serde_json::to_writer_pretty(&mut writer.zip, &manifest)?;
    writer.zip.finish()?.done()?;
    Ok(missing)
}

/// NAME of `FILE:NAME`; only an existing file distinguishes it from a colon in the file's name.
fn dataset_of(path: &Path) -> Option<String> {
    let name = path.to_str()?.strip_prefix(file_of(path).to_str()?)?.strip_prefix(':')?;
    Some(name.to_owned())
}

/// The content of the file that a cloud was read from, up to `room` bytes, or why it cannot be copied; `None`
/// if there is no file, or only a large one without other columns.
pub(super) fn file_of_cloud(
    cloud: &PointCloud,
    room: u64,
    progress: &dyn Progress,
) -> Result<Option<Vec<u8>>, String> {
    /// Rows to compare with the file.
    const SAMPLED_ROWS: usize = 64;
    let Some(path) = cloud.file() else { return Ok(None) };
    let rows: Vec<u32> = cloud.sample_rows(SAMPLED_ROWS).map(|row| row as u32).collect();
    let numbers: Vec<u64> = rows.iter().map(|&row| cloud.record(row as usize)).collect();
    let records = records(path, &numbers, progress).map_err(|why| why.reason())?;
    if !cloud.was_read_from(&rows, &records) {
        return Err("it has changed since its points were read; load it again".to_owned());
    }
    let size = file_of(path).metadata().map_err(|why| why.to_string())?.len();
    if records.columns.len() <= cloud.dims() && size > MAX_PLAIN {
        return Ok(None);
    }
    if size > room.min(memory::available().unwrap_or(u64::MAX) / 2) {
        let [size, most] = [size, MAX_COPIES].map(text::bytes);
        return Err(format!(
            "the file has {size}, but a recording can include at most {most} of data files, or less if memory is \
             short; keep the file next to the recording"
        ));
    }
    std::fs::read(file_of(path)).map(Some).map_err(|why| why.to_string())
}

/// The clouds of all runs and of the window, without duplicates.
#[derive(Default)]
struct Clouds<'a> {
    list: Vec<CloudRef<'a>>,
}

struct CloudRef<'a> {
    file: CloudDescription,
    cloud: Option<&'a Arc<PointCloud>>,
    /// Stored paths of its file, if the cloud is missing.
    source_paths: &'a [PathBuf],
}

impl<'a> Clouds<'a> {
    fn add(
        &mut self,
        file: CloudDescription,
        cloud: Option<&'a Arc<PointCloud>>,
        source_paths: &'a [PathBuf],
    ) -> usize {
        match self.list.iter().position(|known| known.file == file) {
            Some(at) => {
                // The same cloud may be available for one run and not for another.
                let known = &mut self.list[at];
                known.cloud = known.cloud.or(cloud);
                known.source_paths =
                    if known.source_paths.is_empty() { source_paths } else { known.source_paths };
                at
            }
            None => {
                self.list.push(CloudRef { file, cloud, source_paths });
                self.list.len() - 1
            }
        }
    }
}

struct Writer<'a, W: Write + Seek> {
    zip: ZipWriter<LatchingWriter<W>>,
    progress: &'a dyn Progress,
    done: u64,
    total: u64,
}

impl<W: Write + Seek> Writer<'_, W> {
    fn cloud(&mut self, at: usize, cloud: &PointCloud) -> io::Result<()> {
        let shape = [cloud.len(), cloud.dims()];
        self.array(&of_cloud(at, "points"), &shape, cloud.points().iter().copied())?;
        if !cloud.is_faithful() {
            let exact = (0..cloud.len())
                .flat_map(|row| (0..cloud.dims()).map(move |axis| cloud.coordinate(row, axis)));
            self.array(&of_cloud(at, "exact"), &shape, exact)?;
        }
        if let Some(records) = cloud.records() {
            self.array(&of_cloud(at, "records"), &[cloud.len()], records)?;
        }
        Ok(())
    }

    /// The clouds are indices into [`Manifest::clouds`].
    fn run<C>(
        &mut self,
        at: usize,
        name: String,
        pinned: bool,
        run: &Run<C>,
        (cloud, query_cloud): (usize, Option<usize>),
    ) -> io::Result<RunEntry> {
        // Destructured, so that a new field cannot be forgotten.
        let Run {
            head,
            cloud: _,
            query_cloud: _,
            query_rows,
            neighbors,
            measured,
            convergence,
            profile,
            samples,
            stream_spans,
        } = run;
        let of = |array: &str| of_run(at, array);
        let (q, k) = (query_rows.len(), neighbors.k);
        self.array(&of("query_rows"), &[q], query_rows.iter().copied())?;
        self.array(&of("neighbors"), &[q, k], neighbors.indices.iter().copied())?;
        self.array(&of("squared_distances"), &[q, k], neighbors.squared_distances.iter().copied())?;
        let counted = !measured.is_empty();
        let measures: Vec<String> = measured.columns().map(|(name, _)| name.to_owned()).collect();
        if counted {
            let counters = (0..q).flat_map(|query| measured.for_query(query).map(|(_, value)| value));
            self.array(&of("counters"), &[q, measures.len()], counters)?;
        }
        let entries = (convergence.queries() > 0).then_some(convergence.points_seen.len());
        if let Some(entries) = entries {
            self.array(&of("convergence_starts"), &[q + 1], convergence.starts.iter().copied())?;
            self.array(&of("convergence_points_seen"), &[entries], convergence.points_seen.iter().copied())?;
            self.array(
                &of("convergence_max_squared_distance"),
                &[entries],
                convergence.max_squared_distance.iter().copied(),
            )?;
        }
        if let Some(profile) = profile {
            if !profile.phases.is_empty() {
                self.array(
                    &of("profile_cycles"),
                    &[q, profile.phases.len()],
                    profile.cycles.iter().copied(),
                )?;
            }
            self.array(
                &of("profile_span_ns"),
                &[q, 2],
                profile.spans.iter().flat_map(|span| [span.start_ns, span.stop_ns]),
            )?;
            self.array(
                &of("profile_sm_warp"),
                &[q, 2],
                profile.spans.iter().flat_map(|span| [span.sm, span.warp]),
            )?;
        }
        let phase =
            |phase: Phase| Phase::ALL.iter().position(|&known| known == phase).unwrap_or_default() as u8;
        self.array(&of("sample_phase"), &[samples.len()], samples.iter().map(|sample| phase(sample.phase)))?;
        self.array(
            &of("sample_repeat_chunk"),
            &[samples.len(), 2],
            samples.iter().flat_map(|sample| [sample.repeat, sample.chunk]),
        )?;
        self.array(
            &of("sample_ms"),
            &[samples.len(), 2],
            samples.iter().flat_map(|sample| [sample.start_ms, sample.duration_ms]),
        )?;
        let streams = self.stream_spans(at, stream_spans)?;
        Ok(RunEntry {
            name,
            pinned,
            cloud,
            query_cloud,
            phases: Phase::ALL.to_vec(),
            samples: samples.len(),
            counted,
            measures,
            convergence_counted_by: convergence.counted_by.clone(),
            profile_phases: profile.as_ref().map_or_else(Vec::new, |profile| profile.phases.clone()),
            convergence: entries,
            profiled: profile.as_ref().is_some_and(|profile| !profile.phases.is_empty()),
            spans: profile.as_ref().is_some_and(|profile| profile.phases.is_empty()),
            streams,
            run: head.clone(),
        })
    }

    fn stream_spans(&mut self, at: usize, spans: &[StreamSpan]) -> io::Result<Option<StreamsEntry>> {
        if spans.is_empty() {
            return Ok(None);
        }
        let lanes: Vec<Lane> =
            spans.iter().map(|span| span.lane).collect::<BTreeSet<_>>().into_iter().collect();
        let numbers = spans.iter().flat_map(|span| {
            let lane = lanes.binary_search(&span.lane).unwrap_or_default() as u32;
            [lane, span.phase as u32, span.tile.unwrap_or(NONE)]
        });
        self.array(&of_run(at, "stream_lane_phase_tile"), &[spans.len(), 3], numbers)?;
        let times = spans.iter().flat_map(|span| [span.start_ms, span.duration_ms]);
        self.array(&of_run(at, "stream_ms"), &[spans.len(), 2], times)?;
        Ok(Some(StreamsEntry { lanes, phases: StreamPhase::ALL.to_vec(), spans: spans.len() }))
    }

    fn array<T: Element>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Iterator<Item = T> + Clone,
    ) -> io::Result<()> {
        let probe: Vec<T> = values.clone().take(PROBE / size_of::<T>()).map(T::swapped).collect();
        let method = if is_compressible(bytemuck::cast_slice(&probe))? {
            CompressionMethod::Deflated
        } else {
            CompressionMethod::Stored
        };
        // Without zip64, an entry is limited to 4 GiB.
        let large = npy::count::<T>(shape).is_none_or(|count| count * size_of::<T>() > u32::MAX as usize / 2);
        let level = (method == CompressionMethod::Deflated).then_some(1);
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .compression_level(level)
            .large_file(large);
        self.zip.start_file(name, options)?;
        self.zip.write_all(&npy::head(T::DESCR, shape))?;
        let mut chunk: Vec<T> = Vec::with_capacity(CHUNK / size_of::<T>());
        let mut values = values.map(T::swapped);
        loop {
            chunk.clear();
            chunk.extend(values.by_ref().take(CHUNK / size_of::<T>()));
            if chunk.is_empty() {
                return Ok(());
            }
            if self.progress.cancelled() {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
            }
            self.zip.write_all(bytemuck::cast_slice(&chunk))?;
            self.done += size_of_val(&chunk[..]) as u64;
            self.progress.update(self.done.min(self.total), self.total);
        }
    }
}

/// Whether compression saves at least a tenth.
fn is_compressible(bytes: &[u8]) -> io::Result<bool> {
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes)?;
    Ok(packed.finish()?.len() * 10 < bytes.len() * 9)
}

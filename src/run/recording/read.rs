//! Reads a recording. Numbers in it are checked against the size of the file before use.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zip::ZipArchive;
use zip::result::ZipError;

use super::clouds::{is_below, moved};
use super::manifest::{CloudEntry, FORMAT, Header, Manifest, NAME, RunEntry, StreamsEntry, of_cloud, of_run};
use super::npy::{self, Element};
use super::{RecordedRun, Recording, RecordingError, SCHEMA_VERSION, SESSION, clouds, manifest, unique};
use crate::cloud::formats::limits::{DEFLATE, MAX_COPIES, MAX_MANIFEST, MAX_PLACES};
use crate::cloud::formats::{catch_panics, file_of};
use crate::cloud::{CloudParts, PointCloud, Source};
use crate::files::named_scratch;
use crate::knn::{Convergence, Measurements, NONE, Neighbors, Profile, StreamSpan, WarpSpan};
use crate::printable;
use crate::progress::Progress;
use crate::run::{self, CloudDescription, LoadedRun, Run, RunFile, Sample};

/// What to load of the clouds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CloudLoadMode {
    /// Nothing; every run is [`LoadedRun::WithoutClouds`].
    Skip,
    /// Their points, from the recording or, if it has none, from their source.
    Restore,
}

/// The zip crate's message for a checksum mismatch.
const CHECKSUM_MISMATCH: &str = "Invalid checksum";

/// Reads a recording.
pub fn read(
    path: &Path,
    loading: CloudLoadMode,
    progress: &dyn Progress,
) -> Result<Recording, RecordingError> {
    catch_panics(|| Reader::open(path, progress)?.recording(loading)).map_err(|why| {
        RecordingError::Damaged {
            what: "zip archive".to_owned(),
            why: format!("it cannot be unpacked ({why})"),
            path: path.to_owned(),
        }
    })?
}

struct Reader<'a> {
    archive: ZipArchive<BufReader<ProgressReader<'a>>>,
    /// Index of each member.
    members: HashMap<String, usize>,
    /// Members that were read to the end, where checksums are compared.
    read: HashSet<usize>,
    path: &'a Path,
    progress: &'a dyn Progress,
}

impl<'a> Reader<'a> {
    fn open(path: &'a Path, progress: &'a dyn Progress) -> Result<Self, RecordingError> {
        let io = |why| RecordingError::Io { why, path: path.to_owned() };
        let foreign = |why: &str| RecordingError::Foreign { why: why.to_owned(), path: path.to_owned() };
        let damaged = |why: String| RecordingError::Damaged {
            what: "zip archive".to_owned(),
            why,
            path: path.to_owned(),
        };
        let mut file = File::open(path).map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        if meta.is_dir() {
            return Err(foreign("it is a folder"));
        }
        let mut magic = Vec::new();
        file.by_ref().take(4).read_to_end(&mut magic).map_err(io)?;
        if magic != b"PK\x03\x04" {
            return Err(foreign(if magic.is_empty() {
                "the file is empty"
            } else {
                "it is not a zip archive"
            }));
        }
        file.rewind().map_err(io)?;
        let size = meta.len();
        let mut archive = ZipArchive::new(BufReader::new(ProgressReader { file, done: 0, size, progress }))
            .map_err(|why| match why {
            _ if progress.cancelled() => RecordingError::Cancelled,
            ZipError::Io(why) if why.kind() != io::ErrorKind::UnexpectedEof => io(why),
            _ => damaged("its central directory cannot be read; it may be truncated".to_owned()),
        })?;
        let mut members = HashMap::new();
        let mut packed = 0u64;
        for at in 0..archive.len() {
            let member = archive.by_index_raw(at).map_err(|why| damaged(why.to_string()))?;
            packed = packed.saturating_add(member.compressed_size());
            let name = member.name().map_err(|why| damaged(why.to_string()))?.into_owned();
            if members.insert(name, at).is_some() {
                return Err(damaged("two members have the same name".to_owned()));
            }
        }
        // Overlapping members would unpack to far more than the file contains.
        if packed > size {
            return Err(damaged(format!(
                "its members have {packed} bytes in total, but the file has only \
                                        {size}"
            )));
        }
        Ok(Self { archive, members, read: HashSet::new(), path, progress })
    }

    fn damaged(&self, what: impl Into<String>, why: impl Into<String>) -> RecordingError {
        RecordingError::Damaged {
            what: printable::name(&what.into()),
            why: printable::name(&why.into()),
            path: self.path.to_owned(),
        }
    }

    fn recording(mut self, loading: CloudLoadMode) -> Result<Recording, RecordingError> {
        let mut manifest = self.manifest()?;
        let mut clouds = Vec::with_capacity(manifest.clouds.len().min(self.members.len()));
        let copies =
            manifest.clouds.iter().fold(0, |sum: usize, entry| sum.saturating_add(entry.file.unwrap_or(0)));
        if copies as u64 > MAX_COPIES {
            return Err(self.damaged(
                NAME,
                format!(
                    "its data files have {copies} bytes; at most {MAX_COPIES} are \
                                            supported"
                ),
            ));
        }
        for (at, entry) in manifest.clouds.iter().enumerate() {
            manifest::cloud(entry).map_err(|why| self.damaged(format!("cloud {at}"), why))?;
            let cloud = if loading == CloudLoadMode::Restore && entry.points {
                Some(Arc::new(self.cloud(at, entry)?))
            } else {
                None
            };
            clouds.push(cloud);
        }
        // Each path is searched, and kept with each of the cloud's runs.
        manifest.clouds.iter_mut().for_each(|entry| entry.source_paths.truncate(MAX_PLACES));
        let mut parts = Vec::new();
        for (at, entry) in manifest.runs.iter().enumerate() {
            parts.push(self.run(at, entry, &manifest.clouds)?);
        }
        let session = self.session()?;
        self.check_rest()?;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let whole = manifest.clouds.iter().all(|entry| entry.points);
        let mut restored = clouds::CloudLoader::new(&manifest.clouds, clouds, folder, self.progress);
        let printable: Vec<String> = manifest
            .runs
            .iter()
            .map(|entry| entry.name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect())
            .collect();
        let names = unique(printable.iter().map(String::as_str));
        let mut runs = Vec::new();
        for ((entry, mut part), name) in manifest.runs.into_iter().zip(parts).zip(names) {
            let clouds = match loading {
                CloudLoadMode::Skip => Err("its points were not requested".to_owned()),
                CloudLoadMode::Restore => restored.clouds(&entry, &mut part.head.spec),
            };
            let run = match clouds {
                Ok((cloud, query_cloud)) => LoadedRun::Whole(Arc::new(part.with_clouds(cloud, query_cloud))),
                Err(why) => {
                    let paths = |at: usize| manifest.clouds[at].source_paths.clone();
                    let source_paths = [paths(entry.cloud), entry.query_cloud.map(paths).unwrap_or_default()];
                    LoadedRun::WithoutClouds { run: Arc::new(part), source_paths, why }
                }
            };
            if self.progress.cancelled() {
                return Err(RecordingError::Cancelled);
            }
            runs.push(RecordedRun { name, pinned: entry.pinned, run });
        }
        let cloud =
            manifest.shown.filter(|_| loading == CloudLoadMode::Restore).and_then(|at| restored.shown(at));
        if self.progress.cancelled() {
            return Err(RecordingError::Cancelled);
        }
        let sources = restored.sources();
        // Ignores anything but two different runs.
        let compared = manifest.compared.filter(|&[a, b]| a != b && a < runs.len() && b < runs.len());
        Ok(Recording {
            written_by: manifest.warpscope_version,
            points: whole,
            runs,
            compared,
            session,
            cloud,
            sources,
        })
    }

    /// Reads the members that were not needed, such as points that are not loaded, because a file that is
    /// damaged anywhere is not trusted.
    fn check_rest(&mut self) -> Result<(), RecordingError> {
        let mut rest: Vec<(String, usize)> =
            self.members.drain().filter(|(_, at)| !self.read.contains(at)).collect();
        rest.sort_unstable_by_key(|&(_, at)| at);
        for (name, at) in rest {
            let read = match self.archive.by_index(at) {
                Ok(mut member) => io::copy(&mut member, &mut io::sink()).map(drop),
                Err(why) => Err(io::Error::other(why)),
            };
            read.map_err(|why| self.member_error(&name, &why))?;
        }
        Ok(())
    }

    fn manifest(&mut self) -> Result<Manifest, RecordingError> {
        let foreign = |why: String| RecordingError::Foreign { why, path: self.path.to_owned() };
        let Some(&at) = self.members.get(NAME) else {
            return Err(foreign(format!("the archive has no {NAME}")));
        };
        let text = self.text(at).map_err(|why| self.member_error(NAME, &why))?;
        let head: Header =
            serde_json::from_slice(&text).map_err(|why| self.damaged(NAME, why.to_string()))?;
        if head.format != FORMAT {
            return Err(RecordingError::Foreign {
                why: format!("{NAME} does not identify it as a recording"),
                path: self.path.to_owned(),
            });
        }
        if head.schema_version > u64::from(SCHEMA_VERSION) {
            let written_by = head.warpscope_version.chars().filter(|c| !c.is_control()).collect();
            return Err(RecordingError::Newer {
                version: head.schema_version,
                written_by,
                path: self.path.to_owned(),
            });
        }
        serde_json::from_slice(&text).map_err(|why| self.damaged(NAME, why.to_string()))
    }

    /// The state written by a window. Runs are usable without it, so only cancellation is an error.
    fn session(&mut self) -> Result<Option<Result<Vec<u8>, String>>, RecordingError> {
        let Some(&at) = self.members.get(SESSION) else { return Ok(None) };
        let text = self.text(at);
        if self.progress.cancelled() {
            return Err(RecordingError::Cancelled);
        }
        Ok(Some(text.map_err(|why| why.to_string())))
    }

    /// Reads a text member, up to a limit regardless of its declared size.
    fn text(&mut self, at: usize) -> io::Result<Vec<u8>> {
        self.read.insert(at);
        let mut text = Vec::new();
        let member = self.archive.by_index(at).map_err(io::Error::other)?;
        member.take(MAX_MANIFEST + 1).read_to_end(&mut text)?;
        if text.len() as u64 > MAX_MANIFEST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it exceeds the size limit"));
        }
        Ok(text)
    }

    fn cloud(&mut self, at: usize, entry: &CloudEntry) -> Result<PointCloud, RecordingError> {
        let file = &entry.cloud;
        // `manifest::cloud` has checked the sizes.
        let shape = [file.rows as usize, file.axes.len()];
        let points = self.array(&of_cloud(at, "points"), &shape)?;
        let exact = if entry.exact { Some(self.array(&of_cloud(at, "exact"), &shape)?) } else { None };
        let records =
            if entry.records { Some(self.array(&of_cloud(at, "records"), &shape[..1])?) } else { None };
        let (axes, dropped, source, fingerprint) =
            (file.axes.clone(), file.dropped, file.source.clone(), file.fingerprint.clone());
        let cloud =
            PointCloud::from_parts(CloudParts { points, exact, axes, records, dropped, source, fingerprint })
                .map_err(|why| self.damaged(format!("cloud {at}"), why))?;
        let Source::File { path, .. } = cloud.source() else { return Ok(cloud) };
        let Some(bytes) = entry.file else {
            let near = is_below(&file_of(path), self.path.parent().unwrap_or(Path::new("")));
            return Ok(if near { cloud } else { cloud.without_file() });
        };
        let bytes: Vec<u8> = self.array(&of_cloud(at, "file"), &[bytes])?;
        let whole = || {
            entry.part.as_ref().and_then(|part| {
                path.to_str()?.strip_suffix(part.as_str())?.strip_suffix(':').map(PathBuf::from)
            })
        };
        let data = whole().unwrap_or_else(|| path.clone());
        // The copy keeps its original name, which determines the format.
        let (copy, folder) = named_scratch(data.file_name().unwrap_or_default(), &bytes).map_err(|why| {
            let why = io::Error::new(
                why.kind(),
                format!("{why} (unpacking its data file to {})", std::env::temp_dir().display()),
            );
            RecordingError::Io { why, path: self.path.to_owned() }
        })?;
        let path = moved(path, &data, &copy);
        Ok(cloud.with_copy(path, Arc::new(folder)))
    }

    fn run(
        &mut self,
        at: usize,
        entry: &RunEntry,
        clouds: &[CloudEntry],
    ) -> Result<Run<CloudDescription>, RecordingError> {
        let wrong = |reader: &Self, why: String| reader.damaged(format!("run {}", at + 1), why);
        let (cloud, query_cloud) = manifest::entry(entry, clouds).map_err(|why| wrong(self, why))?;
        let (q, k) = (entry.run.summary.q as usize, entry.run.spec.k);
        let query_rows = self.array(&of_run(at, "query_rows"), &[q])?;
        let indices = self.array(&of_run(at, "neighbors"), &[q, k])?;
        let squared_distances = self.array(&of_run(at, "squared_distances"), &[q, k])?;
        let mut counted = Measurements::default();
        if entry.counted {
            let width = entry.measures.len();
            let numbers: Vec<u32> = self.array(&of_run(at, "counters"), &[q, width])?;
            let column = |at: usize| numbers.iter().skip(at).step_by(width).copied().collect();
            counted = Measurements::new(
                entry.measures.iter().enumerate().map(|(at, name)| (name.clone(), column(at))),
            );
        }
        let mut convergence = Convergence::default();
        if let Some(entries) = entry.convergence {
            let starts = q.checked_add(1).ok_or_else(|| wrong(self, "it has too many queries".to_owned()))?;
            convergence = Convergence {
                counted_by: entry.convergence_counted_by.clone(),
                starts: self.array(&of_run(at, "convergence_starts"), &[starts])?,
                points_seen: self.array(&of_run(at, "convergence_points_seen"), &[entries])?,
                max_squared_distance: self
                    .array(&of_run(at, "convergence_max_squared_distance"), &[entries])?,
            };
        }
        let mut profile = None;
        if entry.profiled || entry.spans {
            let phases = if entry.profiled { entry.profile_phases.clone() } else { Vec::new() };
            let cycles: Vec<u64> = if phases.is_empty() {
                Vec::new()
            } else {
                self.array(&of_run(at, "profile_cycles"), &[q, phases.len()])?
            };
            let times: Vec<u64> = self.array(&of_run(at, "profile_span_ns"), &[q, 2])?;
            let sm_and_warp: Vec<u32> = self.array(&of_run(at, "profile_sm_warp"), &[q, 2])?;
            let span = |(&[start_ns, stop_ns], &[sm, warp]): (&[u64; 2], &[u32; 2])| WarpSpan {
                start_ns,
                stop_ns,
                sm,
                warp,
            };
            let spans =
                times.as_chunks::<2>().0.iter().zip(sm_and_warp.as_chunks::<2>().0).map(span).collect();
            profile = Some(Profile { phases, cycles, spans });
        }
        let count = entry.samples;
        let phases: Vec<u8> = self.array(&of_run(at, "sample_phase"), &[count])?;
        let repeat_and_chunk: Vec<u32> = self.array(&of_run(at, "sample_repeat_chunk"), &[count, 2])?;
        let times: Vec<f64> = self.array(&of_run(at, "sample_ms"), &[count, 2])?;
        let mut samples = Vec::with_capacity(count);
        for ((&phase, &[repeat, chunk]), &[start_ms, duration_ms]) in
            phases.iter().zip(repeat_and_chunk.as_chunks::<2>().0).zip(times.as_chunks::<2>().0)
        {
            let phase = *entry
                .phases
                .get(usize::from(phase))
                .ok_or_else(|| wrong(self, format!("unknown phase {phase}")))?;
            samples.push(Sample { phase, repeat, chunk, start_ms, duration_ms });
        }
        let stream_spans = match &entry.streams {
            Some(streams) => self.stream_spans(at, streams)?,
            None => Vec::new(),
        };
        let run = Run {
            // When saved again, it has this program's schema version.
            head: RunFile { schema_version: run::SCHEMA_VERSION, ..entry.run.clone() },
            cloud: cloud.clone(),
            query_cloud: query_cloud.cloned(),
            query_rows,
            neighbors: Neighbors { k, indices, squared_distances },
            measured: counted,
            convergence,
            profile,
            samples,
            stream_spans,
        };
        manifest::run(&run).map_err(|why| wrong(self, why))?;
        Ok(run)
    }

    fn stream_spans(&mut self, at: usize, entry: &StreamsEntry) -> Result<Vec<StreamSpan>, RecordingError> {
        let numbers: Vec<u32> = self.array(&of_run(at, "stream_lane_phase_tile"), &[entry.spans, 3])?;
        let times: Vec<f64> = self.array(&of_run(at, "stream_ms"), &[entry.spans, 2])?;
        let span = |(&[lane, phase, tile], &[start_ms, duration_ms]): (&[u32; 3], &[f64; 2])| {
            Some(StreamSpan {
                lane: *entry.lanes.get(lane as usize)?,
                phase: *entry.phases.get(phase as usize)?,
                tile: (tile != NONE).then_some(tile),
                start_ms,
                duration_ms,
            })
        };
        let spans: Option<Vec<_>> =
            numbers.as_chunks::<3>().0.iter().zip(times.as_chunks::<2>().0).map(span).collect();
        spans.ok_or_else(|| self.damaged(format!("run {}", at + 1), "a span has an unknown lane or phase"))
    }

    fn array<T: Element>(&mut self, name: &str, shape: &[usize]) -> Result<Vec<T>, RecordingError> {
        let Some(&at) = self.members.get(name) else { return Err(self.damaged(name, "it is missing")) };
        self.read.insert(at);
        let read = match self.archive.by_index(at) {
            Err(why) => Err(io::Error::other(why)),
            Ok(mut member) => {
                let most = member.compressed_size().saturating_mul(DEFLATE);
                let promised = npy::count::<T>(shape).map(|count| (count * size_of::<T>()) as u64);
                match promised {
                    Some(bytes) if bytes <= most => npy::read(&mut member, shape),
                    _ => Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        format!("it is too small for an array of shape {shape:?}"),
                    )),
                }
            }
        };
        read.map_err(|why| self.member_error(name, &why))
    }

    /// Converts an error of a member to an error of the file.
    fn member_error(&self, name: &str, why: &io::Error) -> RecordingError {
        match why.kind() {
            _ if self.progress.cancelled() => RecordingError::Cancelled,
            io::ErrorKind::OutOfMemory => {
                RecordingError::Memory { what: name.to_owned(), path: self.path.to_owned() }
            }
            io::ErrorKind::UnexpectedEof => self.damaged(name, "it is truncated"),
            _ if why.to_string() == CHECKSUM_MISMATCH => self.damaged(name, "its checksum does not match"),
            _ => self.damaged(name, why.to_string()),
        }
    }
}

/// A file that reports progress while it is read.
struct ProgressReader<'a> {
    file: File,
    done: u64,
    size: u64,
    progress: &'a dyn Progress,
}

impl Read for ProgressReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let count = self.file.read(buffer)?;
        self.done += count as u64;
        self.progress.update(self.done.min(self.size), self.size);
        Ok(count)
    }
}

impl Seek for ProgressReader<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

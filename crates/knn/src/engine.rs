//! The engine interface: load a problem, search it, and the errors of both.

use std::ops::Range;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{
    Answer, Descriptor, DeviceId, EngineId, Metric, Neighbors, Parameters, Problem, Shape, StreamSpan,
};
use crate::memory::{self, InsufficientMemory};

/// The hardware an engine runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// `None` in records written before devices had ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DeviceId>,
    /// Product name of the GPU or processor.
    pub name: String,
    /// Further (name, value) pairs such as compute capability, driver, memory and threads, stored in files as
    /// a map in this order.
    #[serde(with = "details")]
    pub details: Vec<(String, String)>,
}

/// Serialises [`DeviceInfo::details`] as a map.
mod details {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    type Details = Vec<(String, String)>;

    pub fn serialize<S: Serializer>(details: &Details, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(details.iter().map(|(name, value)| (name, value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Details, D::Error> {
        struct DetailsVisitor;
        impl<'de> Visitor<'de> for DetailsVisitor {
            type Value = Details;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Details, A::Error> {
                let mut details = Details::new();
                while let Some(detail) = map.next_entry()? {
                    details.push(detail);
                }
                Ok(details)
            }
        }
        deserializer.deserialize_map(DetailsVisitor)
    }
}

/// A phase of loading a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupPhase {
    /// Copying points and queries to the device, or into the twin's layout.
    Upload,
    /// Building an index over the points, such as a tree.
    BuildIndex,
}

/// The compile-time instrumentation of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KernelBuild {
    /// No instrumentation: the build that benchmarks run.
    Timed,
    /// Adds counters and the convergence history.
    Counted,
    /// Adds to `Counted` the cycles per phase and warp spans.
    Profiled,
}

impl KernelBuild {
    /// The builds to load a problem for.
    pub fn all(profile: bool) -> &'static [Self] {
        if profile { &[Self::Timed, Self::Counted, Self::Profiled] } else { &[Self::Timed, Self::Counted] }
    }
}

/// Maximum queries per [`PreparedSearch::search`] in an instrumented build. The device holds counters and
/// traces for this many queries until they are collected.
pub const MAX_COUNTED_CHUNK: usize = 1 << 17;

/// Why an engine cannot run a problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine cannot run on this machine.
    #[error("the {engine} engine cannot run here: {why}")]
    Unavailable {
        engine: EngineId,
        /// What is missing and how to get it.
        why: String,
    },
    /// The problem exceeds the engine's limits.
    #[error("{what} = {value}: the {engine} engine supports at most {limit}")]
    Limit {
        engine: EngineId,
        /// The size that is exceeded: `k`, `d`, …
        what: &'static str,
        /// The largest supported value.
        limit: u64,
        value: u64,
    },
    /// The engine does not support this metric.
    #[error("the {engine} engine does not support the {metric} metric")]
    Metric {
        engine: EngineId,
        /// The requested metric, which is not among [`Limits::metrics`](super::Limits::metrics).
        metric: Metric,
    },
    /// The engine has no such parameter, or does not accept this value.
    #[error("the {engine} engine: {why}")]
    Parameter {
        engine: EngineId,
        /// Names the parameter and the accepted values.
        why: String,
    },
    /// The problem does not fit into the device's memory.
    #[error(
        "the job needs {needed} MiB on {device}, but only {free} MiB is free; use fewer queries or points, \
         or --engine lockstep"
    )]
    Memory {
        /// Memory that the job needs, in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
        /// Product name of the device.
        device: String,
    },
    /// The problem does not fit into host memory.
    #[error(
        "the job needs {needed} MiB of memory, but only {free} MiB is free; use fewer queries or points, or \
         a smaller k"
    )]
    HostMemory {
        /// Memory that the job needs, in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
    },
    /// The answers of all queries, which a run holds at once, do not fit into host memory.
    #[error(
        "{q} queries × {k} neighbours need {needed} MiB of memory, but only {free} MiB is free; use fewer \
         queries or a smaller k, or stream them to a file with `warpscope knn -o FILE`"
    )]
    Answers {
        q: usize,
        /// Neighbours to find for each.
        k: usize,
        /// Memory needed, in MiB, rounded up.
        needed: u64,
        /// Free memory in MiB, rounded down.
        free: u64,
    },
    /// The driver refused memory that was free when the job was checked, usually because another program has
    /// allocated it since.
    #[error(
        "{device} has only {free} MiB of memory left, too little for the job; use fewer queries or points, \
         or --engine lockstep"
    )]
    MemoryRefused {
        /// Free memory in MiB, rounded down.
        free: u64,
        /// Product name of the device.
        device: String,
    },
    /// A kernel failed so badly that the driver no longer gives this process access to the GPU.
    #[error("{device}: {why}; the GPU cannot be used again until Warpscope is restarted")]
    DeviceLost {
        /// Product name of the device.
        device: String,
        /// The driver's message, on one line.
        why: String,
    },
    /// The driver or a kernel failed.
    #[error("{device}: {why}")]
    Device {
        /// Product name of the device.
        device: String,
        /// The driver's message, on one line.
        why: String,
    },
}

impl EngineError {
    /// Whether the engine rejects the problem, on this machine or on any. Another engine may accept it.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Device { .. } | Self::DeviceLost { .. } | Self::Parameter { .. })
    }

    /// Whether memory is short, so that a retry may succeed once some is freed.
    pub fn is_short_of_memory(&self) -> bool {
        matches!(
            self,
            Self::Memory { .. } | Self::MemoryRefused { .. } | Self::HostMemory { .. } | Self::Answers { .. }
        )
    }
}

impl From<InsufficientMemory> for EngineError {
    fn from(InsufficientMemory { needed, free }: InsufficientMemory) -> Self {
        Self::HostMemory { needed: needed.div_ceil(1 << 20), free: free >> 20 }
    }
}

/// Copies of an answer alive at once outside the engine: downloaded and reported.
const COPIES: u64 = 2;

/// Size in bytes below which free memory is not queried, because the query takes as long as a small search.
const SMALL: u64 = 16 << 20;

/// Rejects a problem whose answers, all held at once, exceed the available memory. If the system does not
/// report free memory, only sizes beyond the address space are rejected.
///
/// # Errors
/// [`EngineError::Answers`].
pub fn check_answers(shape: &Shape) -> Result<(), EngineError> {
    let needed = COPIES.saturating_mul(answer_bytes(shape.q, shape.k));
    if needed <= SMALL { Ok(()) } else { answers_fit(shape, needed, memory::available()) }
}

/// Bytes of one copy of the answers of q queries: an index and a distance per neighbour.
pub fn answer_bytes(q: usize, k: usize) -> u64 {
    8u64.saturating_mul(q as u64).saturating_mul(k as u64)
}

fn answers_fit(shape: &Shape, needed: u64, free: Option<u64>) -> Result<(), EngineError> {
    let free = free.unwrap_or(isize::MAX as u64);
    if needed <= free {
        return Ok(());
    }
    Err(EngineError::Answers { q: shape.q, k: shape.k, needed: needed.div_ceil(1 << 20), free: free >> 20 })
}

/// Answers problems, one at a time.
///
/// All engines return identical bits: distances by the rule of [`Problem`], neighbours sorted by (distance,
/// position).
pub trait Engine: Send {
    /// The engine's row in the registry.
    fn descriptor(&self) -> &'static Descriptor;

    /// The device on which it was opened.
    fn device_id(&self) -> DeviceId;

    /// The device, including readings that vary from run to run: clocks, power, temperature.
    fn device(&self) -> DeviceInfo;

    fn id(&self) -> EngineId {
        self.descriptor().id
    }

    /// Whether the device failed permanently, perhaps under another engine; the engine can then only be
    /// closed.
    fn is_lost(&self) -> bool {
        false
    }

    /// Loads a problem that is within the limits, with checked parameters: reserves memory, and uploads the
    /// problem or builds an index over it. Data derived from the points is cached with them
    /// ([`Problem::cache`]) and reused by the next problem over the same points. Called only by
    /// [`Engine::load`].
    ///
    /// # Errors
    /// [`EngineError`]; a problem that does not fit is rejected before anything runs.
    fn prepare<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>, EngineError>;

    /// Checks the problem against the engine's limits and free memory, then loads it.
    ///
    /// # Errors
    /// Those of [`Descriptor::check`], [`check_answers`] and [`Engine::prepare`].
    fn load<'a>(
        &'a mut self,
        problem: &'a Problem,
        parameters: &Parameters,
        profile: bool,
    ) -> Result<Box<dyn PreparedSearch + 'a>, EngineError> {
        self.descriptor().check(problem, parameters)?;
        check_answers(&problem.shape())?;
        self.prepare(problem, parameters, profile)
    }
}

/// A problem loaded into an engine, ready to be searched in chunks.
pub trait PreparedSearch: Send {
    /// Milliseconds of each phase of loading, without phases that were served from the cache.
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)>;

    /// Whether everything derived from the points came from the cache.
    fn resident(&self) -> bool;

    /// The resolved parameters; passing them again gives the same launch. They may change during a search,
    /// once the engine has measured its choice; the answers stay bit-identical. Empty if the engine has no
    /// choice to make.
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// Why the parameters are not the engine's first choice; `None` if they are.
    fn note(&self) -> Option<String> {
        None
    }

    /// The fewest queries that fill the device: the size of the first chunk. Later chunks are multiples of
    /// it, unless [`PreparedSearch::first_work`] or the measured time requires smaller ones.
    fn first_chunk(&self) -> usize;

    /// The smallest chunk worth launching: the device takes the same time for one query as for this many.
    /// [`PreparedSearch::first_chunk`] is a multiple of it.
    fn chunk_unit(&self) -> usize {
        1
    }

    /// Target milliseconds per chunk: long enough to fill the device, short enough for smooth progress,
    /// prompt cancellation and the watchdog timer of a desktop GPU.
    fn chunk_ms(&self) -> f64 {
        50.0
    }

    /// The most multiply-adds (queries × n × d) in the first chunk, before the speed is known: even a slow
    /// device of this kind finishes them well within a second.
    fn first_work(&self) -> u64 {
        2_000_000_000
    }

    /// Answers a range of queries, at most [`MAX_COUNTED_CHUNK`] in an instrumented build, and returns the
    /// elapsed milliseconds, on the device's own clock if it has one. The answers stay in the engine. Engines
    /// without counters run every build as [`KernelBuild::Timed`].
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn search(&mut self, queries: Range<usize>, build: KernelBuild) -> Result<f64, EngineError>;

    /// Copies out the neighbours of all queries, which must have been searched, and returns the elapsed
    /// milliseconds.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError>;

    /// Copies out the neighbours of a range of queries, which must have been searched, into rows of k.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn download_range(
        &mut self,
        queries: Range<usize>,
        indices: &mut [u32],
        squared_distances: &mut [f32],
    ) -> Result<(), EngineError> {
        let mut all = Neighbors::default();
        self.download(&mut all)?;
        let range = queries.start * all.k..queries.end * all.k;
        indices.copy_from_slice(&all.indices[range.clone()]);
        squared_distances.copy_from_slice(&all.squared_distances[range]);
        Ok(())
    }

    /// Whether counted builds count, if the engine has counters.
    fn counts(&self) -> bool {
        true
    }

    /// Appends the records of the last [`PreparedSearch::search`] to `answer`: measures and convergence after
    /// a counted search, and also the profile after a profiled one. Ranges must therefore be searched in order.
    /// Does nothing for engines without counters.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError>;

    /// Hands over what each device and stream has done since the last call, or since loading began: at most
    /// the first [`MAX_STREAM_SPANS`](super::MAX_STREAM_SPANS) spans, which start in milliseconds since an
    /// instant before loading. Empty for engines on one device.
    fn take_stream_spans(&mut self, _since: Instant) -> Vec<StreamSpan> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_answers_are_refused_with_their_size() {
        let shape = |q, k| Shape { n: 10, q, d: 2, k };
        let needed = |shape: &Shape| COPIES * answer_bytes(shape.q, shape.k);
        let most = shape(1 << 20, 64);
        assert!(answers_fit(&most, needed(&most), Some(1 << 30)).is_ok());
        let sentence = answers_fit(&most, needed(&most), Some((1 << 30) - 1)).unwrap_err().to_string();
        let start = "1048576 queries × 64 neighbours need 1024 MiB of memory, but only 1023 MiB is free; use \
                     fewer queries or a smaller k";
        assert!(sentence.starts_with(start), "{sentence}");
        // Free memory unknown, and sizes beyond 64 bits.
        assert!(answers_fit(&most, needed(&most), None).is_ok());
        for shape in [shape(u32::MAX as usize, u32::MAX as usize), shape(usize::MAX, 3)] {
            assert_eq!(answer_bytes(shape.q, shape.k), u64::MAX);
            assert!(matches!(check_answers(&shape), Err(EngineError::Answers { .. })));
            assert!(answers_fit(&shape, u64::MAX, None).is_err());
        }
    }

    #[test]
    fn device_details_serialise_as_an_ordered_map() {
        let details = [("threads", "8"), ("driver", "580"), ("a", "b")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec();
        let device = DeviceInfo { id: None, name: "a device".to_owned(), details };
        let json = serde_json::to_string(&device).unwrap();
        assert_eq!(json, r#"{"name":"a device","details":{"threads":"8","driver":"580","a":"b"}}"#);
        assert_eq!(serde_json::from_str::<DeviceInfo>(&json).unwrap(), device);
        assert!(serde_json::from_str::<DeviceInfo>(r#"{"name":"x","details":[]}"#).is_err());
    }
}

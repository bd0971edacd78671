//! What can answer a problem.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Answer, Descriptor, DeviceId, EngineId, Metric, Neighbors, Parameters, Problem};

/// What an engine runs on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    /// Which device; absent in records that were written before devices had ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<DeviceId>,
    /// The GPU's or processor's name.
    pub name: String,
    /// What else identifies it, as (name, value): compute capability, driver, memory, threads, instruction set, … In files
    /// it is a map, in this order.
    #[serde(with = "details")]
    pub details: Vec<(String, String)>,
}

/// [`DeviceInfo::details`] as a map.
mod details {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::{Deserializer, Serializer};

    type Details = Vec<(String, String)>;

    pub fn serialize<S: Serializer>(details: &Details, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(details.iter().map(|(name, value)| (name, value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Details, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
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
        deserializer.deserialize_map(Pairs)
    }
}

/// A part of taking a problem in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetupPhase {
    /// Points and queries to the device, or into the twin's layout.
    Upload,
    /// Points into an index, such as a tree.
    BuildIndex,
}

/// How the kernel is built: a compile-time policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Build {
    /// Nothing added.
    Timed,
    /// Also counters and the convergence history.
    Counted,
    /// Counted, and also cycles per phase and warp spans.
    Profiled,
}

/// The most queries of one [`Search::search`] in a build that counts: what it writes beside the answers is kept until
/// it is collected, and is reserved for no more than these.
pub const MAX_COUNTED_CHUNK: usize = 1 << 17;

/// Why an engine does not run a problem.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The engine cannot run on this machine.
    #[error("the {engine} engine cannot run here: {why}")]
    Unavailable {
        /// Which engine.
        engine: EngineId,
        /// What is missing and how to get it.
        why: String,
    },
    /// The engine takes only smaller problems.
    #[error("the {engine} engine takes {what} up to {limit}, not {value}")]
    Limit {
        /// Which engine.
        engine: EngineId,
        /// `k`, `d`, …
        what: &'static str,
        /// The largest it takes.
        limit: u64,
        /// What was asked.
        value: u64,
    },
    /// The engine knows no such metric.
    #[error("the {engine} engine does not measure distance by {metric}")]
    Metric {
        /// Which engine.
        engine: EngineId,
        /// What was asked.
        metric: Metric,
    },
    /// The engine has no such parameter, or not with this value.
    #[error("the {engine} engine: {why}")]
    Parameter {
        /// Which engine.
        engine: EngineId,
        /// Which parameter, and what there is instead.
        why: String,
    },
    /// Too large for the device's own memory.
    #[error("the job needs {needed} MiB on {device}, where {free} MiB are free: use fewer queries or points, or --engine lockstep")]
    Memory {
        /// MiB, rounded up.
        needed: u64,
        /// MiB.
        free: u64,
        /// The device's name.
        device: String,
    },
    /// Too large for the machine.
    #[error("the job needs {needed} MiB of memory, where {free} MiB are free: use fewer queries or points, or a smaller k")]
    HostMemory {
        /// MiB, rounded up.
        needed: u64,
        /// MiB.
        free: u64,
    },
    /// The driver or the kernel failed.
    #[error("{device}: {why}")]
    Device {
        /// The device's name.
        device: String,
        /// What it says.
        why: String,
    },
}

impl EngineError {
    /// Whether the engine does not take the problem, here or at all, and another one may.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Device { .. } | Self::Parameter { .. })
    }
}

/// Answers problems. One engine may answer many, one after the other.
///
/// All engines give the same bits: distances by the rule of [`Problem`], neighbours sorted by (distance, position).
pub trait Engine: Send {
    /// What it says of itself.
    fn descriptor(&self) -> &'static Descriptor;

    /// On which device it was opened.
    fn device_id(&self) -> DeviceId;

    /// What it runs on, with what changes from run to run: clocks, power, temperature.
    fn device(&self) -> DeviceInfo;

    /// Its name.
    fn id(&self) -> EngineId {
        self.descriptor().id
    }

    /// Takes in a problem that is within its limits, with parameters that are its own: reserves memory, uploads the problem or
    /// builds an index over it. What is made of the points is cached with them ([`Problem::cache`]) and found there in the next
    /// problem over the same ones. Called by [`Engine::load`] only.
    ///
    /// # Errors
    /// [`EngineError`], before anything runs when the problem does not fit.
    fn prepare<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, profile: bool) -> Result<Box<dyn Search + 'a>, EngineError>;

    /// Takes a problem in, once it is certain that it is within the engine's limits.
    ///
    /// # Errors
    /// As [`Descriptor::check`]'s and [`Engine::prepare`]'s.
    fn load<'a>(&'a mut self, problem: &'a Problem, parameters: &Parameters, profile: bool) -> Result<Box<dyn Search + 'a>, EngineError> {
        self.descriptor().check(problem, parameters)?;
        self.prepare(problem, parameters, profile)
    }
}

/// A problem loaded into an engine, ready to be searched chunk by chunk.
pub trait Search {
    /// How long taking the problem in took, in milliseconds, phase by phase. What was found in the cache is not in it.
    fn setup_ms(&self) -> Vec<(SetupPhase, f64)>;

    /// Whether all that is made of the points was found: they were taken in for a problem before this one.
    fn resident(&self) -> bool;

    /// The parameters as they were resolved: given again, they launch the same. They may differ before and after a search, in
    /// which the engine has seen what its choice comes to. None where the engine has no choice. The answers are the same bits.
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// Why the parameters were resolved to something else than the engine would have liked best.
    fn note(&self) -> Option<String> {
        None
    }

    /// The fewest queries that fill the device: the size of the first chunk, of which larger ones are multiples, unless
    /// [`Search::first_work`] or the time that they take asks for less.
    fn first_chunk(&self) -> usize;

    /// The fewest queries that are worth a chunk of their own, however slow: the device takes no longer for as many as
    /// for one. [`Search::first_chunk`] is a multiple of it.
    fn chunk_unit(&self) -> usize {
        1
    }

    /// The most multiply-adds (queries × n × d) that a first chunk, of which nothing is known yet, may have: what even
    /// a slow device of the kind does well within a second.
    fn first_work(&self) -> u64 {
        2_000_000_000
    }

    /// Answers the queries of a range, no more than [`MAX_COUNTED_CHUNK`] in a build that counts, and returns the
    /// milliseconds that took, by the device's own clock where it has one. The answers stay in the engine. Engines without
    /// counters run every build as [`Build::Timed`].
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn search(&mut self, queries: Range<usize>, build: Build) -> Result<f64, EngineError>;

    /// Writes the neighbours of all queries, which must have been searched, and returns the milliseconds that took.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn download(&mut self, neighbors: &mut Neighbors) -> Result<f64, EngineError>;

    /// Appends what the last [`Search::search`] counted to `answer`: measures and convergence after a counted one, the
    /// profile too after a profiled one. Ranges therefore come in order. Nothing for engines without counters.
    ///
    /// # Errors
    /// [`EngineError::Device`].
    fn collect(&mut self, answer: &mut Answer) -> Result<(), EngineError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_saved_as_a_map_in_their_order() {
        let details = [("threads", "8"), ("driver", "580"), ("a", "b")].map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let device = DeviceInfo { id: None, name: "a device".to_owned(), details };
        let json = serde_json::to_string(&device).unwrap();
        assert_eq!(json, r#"{"name":"a device","details":{"threads":"8","driver":"580","a":"b"}}"#);
        assert_eq!(serde_json::from_str::<DeviceInfo>(&json).unwrap(), device);
        assert!(serde_json::from_str::<DeviceInfo>(r#"{"name":"x","details":[]}"#).is_err());
    }
}

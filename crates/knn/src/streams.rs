//! Host-timed spans of work on each device and stream, for searches that use several.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DeviceId;

/// The most spans that a search collects; later ones are dropped.
pub const MAX_STREAM_SPANS: usize = 4096;

/// A device, or one of several streams of work on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lane {
    pub device: DeviceId,
    /// The stream, from 0; `None` if the device has only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<u32>,
}

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.device {
            DeviceId::Cpu => f.write_str("CPU")?,
            gpu => write!(f, "GPU {gpu}")?,
        }
        self.stream.map_or(Ok(()), |stream| write!(f, ", stream {stream}"))
    }
}

/// A kind of work on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamPhase {
    Copy,
    Index,
    Search,
    Download,
    Wait,
    Merge,
}

impl StreamPhase {
    pub const ALL: [Self; 6] =
        [Self::Copy, Self::Index, Self::Search, Self::Download, Self::Wait, Self::Merge];

    /// The name in files and panes.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// What happens in the phase, in a sentence.
    pub fn about(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Copy => ("copy", "Allocates device memory and copies points and queries to it."),
            Self::Index => ("index", "Builds an index, such as a tree, over the points."),
            Self::Search => ("search", "Finds the neighbours of each query among the points on the device."),
            Self::Download => ("download", "Copies the neighbours from the device to the host."),
            Self::Wait => ("wait", "Waits for another stream to merge its neighbours."),
            Self::Merge => ("merge", "Merges the neighbours into the best lists, on the host."),
        }
    }
}

/// A phase of a lane's work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamSpan {
    pub lane: Lane,
    pub phase: StreamPhase,
    /// The tile of the points, from 0; `None` if the points are not in tiles.
    pub tile: Option<u32>,
    /// Milliseconds by the host's clock.
    pub start_ms: f64,
    pub duration_ms: f64,
}

impl StreamSpan {
    /// Start and end, in microseconds.
    pub fn times_us(&self) -> [f64; 2] {
        [self.start_ms, self.start_ms + self.duration_ms].map(|ms| ms * 1e3)
    }
}

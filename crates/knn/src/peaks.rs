//! What a device does at most, for a search to be held against.

use serde::{Deserialize, Serialize};

/// The most that was measured of a device (`engines::peaks`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// FP32 instructions a second, over all lanes: an addition, a multiplication, or both in one.
    pub fp32_per_second: f64,
    /// Bytes read from memory a second; `None` where there was no memory free to read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Milliseconds of a launch that has nothing to do; `None` of a CPU, which launches nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_ms: Option<f64>,
}

impl Peaks {
    /// The better of two measurements of a device, number by number.
    pub fn best_of(self, other: Self) -> Self {
        let best = |a: Option<f64>, b: Option<f64>, of: fn(f64, f64) -> f64| {
            a.zip(b).map(|(a, b)| of(a, b)).or(a).or(b)
        };
        Self {
            fp32_per_second: self.fp32_per_second.max(other.fp32_per_second),
            bytes_per_second: best(self.bytes_per_second, other.bytes_per_second, f64::max),
            launch_ms: best(self.launch_ms, other.launch_ms, f64::min),
        }
    }

    /// Whether every number can be divided by, which is not certain if they were read from a file.
    pub fn are_sensible(&self) -> bool {
        [Some(self.fp32_per_second), self.bytes_per_second, self.launch_ms]
            .into_iter()
            .flatten()
            .all(|peak| peak.is_finite() && peak > 0.0)
    }
}

/// FP32 instructions that looking at a point in d dimensions cannot do without: a subtraction and a
/// multiply-add each, and the comparison of the squared distance with the largest that is still of use.
pub fn distance_instructions(dims: usize) -> f64 {
    2.0 * dims as f64 + 1.0
}

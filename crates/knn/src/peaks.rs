//! Measured peak rates of a device, to compare a search with.

use serde::{Deserialize, Serialize};

/// The highest measured rates of a device (`engines::peaks`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peaks {
    /// FP32 instructions per second, over all lanes: an addition, a multiplication, or both in one.
    pub fp32_per_second: f64,
    /// Bytes read from memory per second; `None` if no memory was free to measure with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// Milliseconds of an empty launch; `None` for a CPU, which has no launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_ms: Option<f64>,
}

impl Peaks {
    /// The better of two measurements of a device, value by value.
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

    /// The rates of two devices that work at the same time.
    pub fn together(self, other: Self) -> Self {
        let both = |a: Option<f64>, b: Option<f64>, of: fn(f64, f64) -> f64| a.zip(b).map(|(a, b)| of(a, b));
        Self {
            fp32_per_second: self.fp32_per_second + other.fp32_per_second,
            bytes_per_second: both(self.bytes_per_second, other.bytes_per_second, |a, b| a + b),
            launch_ms: both(self.launch_ms, other.launch_ms, f64::max),
        }
    }

    /// Whether every value is finite and positive. Values from files need this check.
    pub fn are_sensible(&self) -> bool {
        [Some(self.fp32_per_second), self.bytes_per_second, self.launch_ms]
            .into_iter()
            .flatten()
            .all(|peak| peak.is_finite() && peak > 0.0)
    }
}

/// Minimum FP32 instructions to test a point in d dimensions: a subtraction and a multiply-add per dimension,
/// and the comparison of the squared distance with the current bound.
pub fn distance_instructions(dims: usize) -> f64 {
    2.0 * dims as f64 + 1.0
}

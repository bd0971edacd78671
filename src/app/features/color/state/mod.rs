//! Point colours: a number for each row of the cloud, and a scale that maps it to a colour. [`view`] is the user's choice,
//! [`channel`] the result: values, and what the legend says about them.

pub mod channel;
pub mod view;

use std::sync::atomic::{AtomicU64, Ordering};

/// A number for each row of a cloud, from which its colour is computed.
#[derive(Debug)]
pub struct PointValues {
    /// Unique, so that a buffer on the GPU can be matched with it.
    pub id: u64,
    /// Indexed by row of the cloud; NaN where a row has no value.
    pub values: Vec<f32>,
}

impl PointValues {
    /// Values under a new id.
    pub fn new(values: Vec<f32>) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self { id: LAST.fetch_add(1, Ordering::Relaxed) + 1, values }
    }
}

/// A map from 0..1 to colours, or from categories to colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ColorMap {
    /// Dark violet to yellow.
    #[default]
    Viridis,
    /// Dark blue to yellow, safe for red-green colour blindness.
    Cividis,
    /// Value c is the c-th category; colours repeat beyond the size of the set.
    Categories,
    /// A value is its own colour: red, green and blue of eight bits each, as the whole number that they are together.
    Own,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub map: ColorMap,
    /// The value of the first colour; smaller values are clamped.
    pub low: f32,
    /// The value of the last colour; larger values are clamped.
    pub high: f32,
    /// Whether the scale is logarithmic; then both ends are positive.
    pub log: bool,
    /// Whether the canvas is dark: the colours are chosen to contrast with it.
    pub dark: bool,
}

//! Colours of points: a number for each row of the cloud, and a scale that turns it into a colour. [`view`] is what is chosen,
//! [`channel`] what came out: values, and what the legend says of them.

pub mod channel;
pub mod view;

use std::sync::atomic::{AtomicU64, Ordering};

/// A number for each row of a cloud, from which its colour is made; NaN where it has none.
#[derive(Debug)]
pub struct PointValues {
    /// Names it; never used twice, so that the GPU knows what it has.
    pub id: u64,
    /// Indexed by row of the cloud; NaN where a row has no value.
    pub values: Vec<f32>,
}

impl PointValues {
    /// Values under a name of their own.
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
    /// Dark blue to yellow, the same for those who do not tell red from green.
    Cividis,
    /// Value c is the c-th category; more than the set has repeat it.
    Categories,
}

/// How values become colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub map: ColorMap,
    /// The value of the first colour; smaller ones have it too.
    pub low: f32,
    /// The value of the last; larger ones have it too.
    pub high: f32,
    /// Whether equal factors, not equal differences, are equal steps of colour; then both ends are positive.
    pub log: bool,
    /// Whether the canvas is dark: colours are those that stand out from it.
    pub dark: bool,
}

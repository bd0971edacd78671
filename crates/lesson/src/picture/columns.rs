//! Across the panel of a whole network: a column for each layer.

use super::moment::Running;
use super::pen::{self, width};
use super::scene::{Area, Font};
use crate::engines::lockstep::distance_of;
use crate::knn::network::Layer;

/// Maximum number of digits of a key on a wire.
const MOST_DIGITS: usize = 7;

/// Where the layers of a network are: overlapping comparators are side by side, the current layer is between its keys.
pub struct Columns {
    /// Left and right edge of each layer.
    pub edges: Vec<[f32; 2]>,
    /// Position of the first comparator in each layer.
    pub firsts: Vec<f32>,
    pub strides: Vec<u32>,
    /// Distance between adjacent comparators in each layer.
    pub steps: Vec<f32>,
    /// Width of a key; 0 if keys are not shown.
    pub number: f32,
    /// Width of a key including the gap beside it.
    pub padding: f32,
    /// Number of digits of a key.
    pub digits: usize,
}

impl Columns {
    /// Divides a room among layers; `numbers` is the size of keys, if they are shown.
    pub fn new(room: Area, layers: &[Layer], run: Option<&Running>, text: f32, numbers: Option<f32>) -> Self {
        const GAP: f32 = 1.6;
        let done = run.map_or(0, Running::done);
        let (mut digits, mut number) = (3, 0.0);
        if let (Some(size), Some(run)) = (numbers, run) {
            let longest = |count: usize| run.keys[0].iter().map(|&key| pen::digits(distance_of(key), count).chars().count()).max().unwrap_or(1);
            digits = if longest(3) > 5 && room.width < size * 60.0 { 2 } else { 3 };
            // Keys that differ must not look equal where they meet.
            digits = (digits..=MOST_DIGITS).find(|&digits| run.tells_apart(digits)).unwrap_or(MOST_DIGITS);
            number = width(Font::Mono, size * 0.92, &"0".repeat(longest(digits))) + size * 0.5;
        }
        let padding = number + if number > 0.0 { text * 0.25 } else { 0.0 };
        let extra = if done == 0 { padding } else { 2.0 * padding };
        let width_of = |layer: &Layer, step: f32| step * (layer.stride as f32 + GAP);
        let units: f32 = layers.iter().map(|layer| width_of(layer, 1.0)).sum();
        let room_for_all = (room.width - extra).max(1.0);
        // The current layer may take more than its share, so that its comparators can be distinguished.
        let lit = done.checked_sub(1).map(|at| &layers[at]);
        let (step, lit_step) = match lit {
            Some(layer) => {
                let alone = (text * 0.9).min(room_for_all * 0.35 / width_of(layer, 1.0)).max(room_for_all / units);
                let others = units - width_of(layer, 1.0);
                if others > 0.0 { (((room_for_all - width_of(layer, alone)) / others).max(0.1), alone) } else { (alone, room_for_all / units) }
            }
            None => (room_for_all / units, room_for_all / units),
        };
        let (mut x, mut edges, mut firsts, mut steps) = (room.x, Vec::new(), Vec::new(), Vec::new());
        for (at, layer) in layers.iter().enumerate() {
            let left = x;
            let lit = done == at + 1;
            let step = if lit { lit_step } else { step };
            let before = if lit || (done == 0 && at == 0) { padding } else { 0.0 };
            firsts.push(x + before + step * (GAP + 1.0) / 2.0);
            steps.push(step);
            x += before + width_of(layer, step) + if lit { padding } else { 0.0 };
            edges.push([left, x]);
        }
        Self { edges, firsts, strides: layers.iter().map(|layer| layer.stride).collect(), steps, number, padding, digits }
    }

    /// Horizontal position: the comparators of a block of 2 × stride overlap, and are side by side.
    pub fn x_of(&self, at: usize, layer: Layer, low: u32) -> f32 {
        self.firsts[at] + (low % layer.stride) as f32 * self.steps[at]
    }

    pub fn middle_of(&self, at: usize, element: u32) -> f32 {
        self.firsts[at] + (element % self.strides[at]) as f32 * self.steps[at]
    }

    /// Position of the keys before a layer.
    pub fn before(&self, at: usize) -> f32 {
        self.edges[at][0]
    }

    /// Position of the keys after a layer.
    pub fn after(&self, at: usize) -> f32 {
        self.edges[at][1] - self.number
    }

    /// How far the keys have advanced.
    pub fn frontier(&self, done: usize) -> f32 {
        match done {
            0 => self.edges[0][0] + self.padding,
            done => self.edges[done - 1][1],
        }
    }
}

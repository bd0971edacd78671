//! The steps that a selection by digits has besides those of [`Step`](crate::Step).

use serde::{Deserialize, Serialize};

use super::describe::describe;
use super::state::Buckets;
use crate::algorithms::{AlgorithmStep, OwnState};
use crate::cursor::Level;
use crate::engines::lockstep::{Key, distance_of};
use crate::recording::Marks;
use crate::state::{Shape, Stage, State};
use crate::step::keys;

/// A step of a selection by digits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum RadixSelectStep {
    /// All distances are computed. The bits of a distance after its sign, read as a number, are digits, the first bits
    /// first.
    Digits {
        /// Bits of a digit.
        bits: u32,
    },
    /// The points that are left were counted by their next digit.
    Counted {
        /// How many have each digit.
        counts: Vec<u32>,
    },
    /// The counts were added up.
    Summed {
        /// How many have this digit or a smaller one.
        sums: Vec<u32>,
    },
    /// The bucket of the k-th was found. What lies in a smaller one is a neighbour, in a larger one it is none.
    Bucket {
        /// The digit of the bucket.
        digit: u32,
        /// Points that are left in smaller buckets.
        below: u32,
        /// Points in the bucket: those that are left from now on.
        inside: u32,
    },
    /// The points in that bucket were written side by side, so that the next pass reads them alone.
    Narrowed,
    /// All points were looked at once more, and the neighbours kept.
    Gathered {
        /// Their keys, by position.
        #[serde(with = "keys")]
        keys: Vec<Key>,
    },
    /// The neighbours were sorted, by layers.
    Sorted,
}

impl AlgorithmStep for RadixSelectStep {
    fn apply(&self, state: &mut State) {
        state.stage = Stage::Filter;
        match self {
            Self::Digits { bits } => {
                state.own = Some(Buckets::new(state.shape, *bits).into());
                state.counts.points_seen = state.shape.n;
            }
            Self::Counted { .. } | Self::Summed { .. } | Self::Narrowed => {}
            Self::Bucket { .. } => state.counts.merges += 1,
            Self::Gathered { keys } => {
                state.registers[..keys.len()].copy_from_slice(keys);
                state.counts.candidates = keys.len() as u32;
                state.stage = Stage::Merge;
            }
            Self::Sorted => {
                state.registers.sort_unstable();
                state.max_distance = distance_of(state.last());
                state.stage = Stage::Merge;
            }
        }
        if let Some(OwnState::RadixSelect(buckets)) = &mut state.own {
            buckets.apply(self);
        }
    }

    fn cost(&self, shape: Shape) -> u64 {
        match self {
            Self::Sorted => 2 * u64::from(shape.capacity()),
            Self::Gathered { keys } => keys.len() as u64,
            Self::Counted { counts: numbers } | Self::Summed { sums: numbers } => numbers.len() as u64,
            Self::Digits { .. } | Self::Bucket { .. } | Self::Narrowed => 1,
        }
    }

    fn describe(&self, after: &State) -> Option<String> {
        describe(self, after)
    }

    fn level(&self) -> Level {
        match self {
            Self::Digits { .. } => Level::Search,
            Self::Bucket { .. } => Level::Merge,
            Self::Counted { .. } | Self::Gathered { .. } | Self::Sorted => Level::Stage,
            Self::Summed { .. } | Self::Narrowed => Level::Layer,
        }
    }

    fn mark(&self, _before: &State, marks: &mut Marks) {
        match self {
            Self::Bucket { .. } => marks.merge(false),
            Self::Gathered { keys } => marks.distances.extend(keys.iter().map(|&key| distance_of(key))),
            _ => {}
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Counted { counts: numbers } | Self::Summed { sums: numbers } => size_of_val(&**numbers),
            Self::Gathered { keys } => size_of_val(&**keys),
            _ => 0,
        }
    }

    fn is_of_merge(&self) -> bool {
        !matches!(self, Self::Digits { .. })
    }

    fn ends_pass(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }
}

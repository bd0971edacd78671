//! The progress of radix select: the leading digits of the k-th smallest distance, and the points that still
//! share them.
//!
//! Distances are not negative, so the 31 bits after the sign of the 32-bit float, read as an integer, have
//! the same order. Digit p of B bits, from 0, starts at bit 30 − p·B; the last digit may be shorter.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::describe::describe;
use crate::algorithms::{AlgorithmState, AlgorithmStep, SpecificState};
use crate::cursor::Level;
use crate::engines::lockstep::{Key, distance_of};
use crate::recording::Marks;
use crate::state::{Shape, Stage, State};
use crate::step::{Step, keys};

/// Bits of a distance, without its sign.
pub const BITS: u32 = u32::BITS - 1;

/// The state of radix select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Number of points, n.
    pub n: u32,
    /// Bits of a digit, B.
    pub bits: u32,
    /// Points that share all digits found so far.
    pub left: u32,
    /// Rank of the k-th among the remaining points, from 1.
    pub rank: u32,
    /// Points nearer than all of these: known neighbours.
    pub below: u32,
    /// The number of remaining points per digit, once counted.
    pub counts: Vec<u32>,
    /// Their prefix sums, once computed.
    pub sums: Vec<u32>,
    /// The completed passes.
    pub passes: Vec<CompletedPass>,
    /// Distances read so far.
    pub reads: u32,
    /// Distances that the next pass reads: the remaining ones, and others as long as compaction does not pay.
    pub source: u32,
    /// Whether the neighbours were gathered.
    pub is_gathered: bool,
    /// Whether they were sorted.
    pub is_sorted: bool,
}

/// A completed pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletedPass {
    /// Rank of the k-th among the points before the pass.
    pub rank: u32,
    /// Remaining points before it.
    pub remaining_before: u32,
    /// The digit that it found.
    pub digit: u32,
    /// Points in smaller buckets.
    pub below: u32,
    /// Points in the bucket of that digit.
    pub inside: u32,
}

impl AlgorithmState for Buckets {
    fn describe(&self, step: &Step, after: &State) -> Option<String> {
        describe(step, after, self)
    }
}

impl Buckets {
    /// Before the first pass: all points remain.
    pub fn new(shape: Shape, bits: u32) -> Self {
        Self {
            n: shape.n,
            bits,
            left: shape.n,
            rank: shape.k.min(shape.n),
            below: 0,
            counts: Vec::new(),
            sums: Vec::new(),
            passes: Vec::new(),
            reads: 0,
            source: shape.n,
            is_gathered: false,
            is_sorted: false,
        }
    }

    /// Bits of the digit of a pass, from 0.
    pub fn digit_bits(&self, pass: usize) -> u32 {
        self.bits.min(BITS.saturating_sub(pass as u32 * self.bits))
    }

    /// The first and last bit pattern with the digits found in the first passes.
    pub fn range(&self, passes: usize) -> (u32, u32) {
        let mut left = BITS;
        let mut first = 0;
        for (pass, found) in self.passes[..passes].iter().enumerate() {
            left -= self.digit_bits(pass);
            first |= found.digit << left;
        }
        (first, first + ((1 << left) - 1))
    }

    /// Compares a distance with those that share the digits found so far.
    pub fn compare_to_prefix(&self, distance: f32) -> Ordering {
        let (first, last) = self.range(self.passes.len());
        let bits = distance.to_bits();
        if bits < first {
            Ordering::Less
        } else if bits > last {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    /// Applies a step.
    pub fn apply(&mut self, step: &RadixSelectStep) {
        match step {
            RadixSelectStep::Counted { counts } => {
                self.reads += self.source;
                self.counts.clone_from(counts);
                self.sums.clear();
            }
            RadixSelectStep::Summed { sums } => self.sums.clone_from(sums),
            RadixSelectStep::Bucket { digit, below, inside } => {
                self.passes.push(CompletedPass {
                    rank: self.rank,
                    remaining_before: self.left,
                    digit: *digit,
                    below: *below,
                    inside: *inside,
                });
                self.rank -= below;
                self.below += below;
                self.left = *inside;
            }
            RadixSelectStep::Narrowed => {
                self.reads += self.source;
                self.source = self.left;
            }
            RadixSelectStep::Gathered { .. } => {
                self.reads += self.n;
                self.is_gathered = true;
            }
            RadixSelectStep::Sorted => self.is_sorted = true,
            RadixSelectStep::Digits { .. } => {}
        }
    }
}

/// The number of passes that read all bits, with digits of `bits` bits.
pub fn max_passes(bits: u32) -> u32 {
    BITS.div_ceil(bits)
}

// The steps of radix select besides those of [`Step`](crate::Step).

/// A step of radix select.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum RadixSelectStep {
    /// All distances are computed. The bits of a distance after its sign form digits, the highest first.
    Digits {
        /// Bits of a digit.
        bits: u32,
    },
    /// The remaining points were counted by their next digit.
    Counted {
        /// The number of points per digit.
        counts: Vec<u32>,
    },
    /// The counts were summed.
    Summed {
        /// The number of points with this digit or a smaller one.
        sums: Vec<u32>,
    },
    /// The bucket of the k-th was found. Points in smaller buckets are neighbours, points in larger ones are
    /// not.
    Bucket {
        /// The digit of the bucket.
        digit: u32,
        /// Remaining points in smaller buckets.
        below: u32,
        /// Points in the bucket, which remain.
        inside: u32,
    },
    /// The points in that bucket were compacted, so that the next pass reads only these.
    Narrowed,
    /// All points were read once more, and the neighbours gathered.
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
        if let Some(SpecificState::RadixSelect(buckets)) = &mut state.own {
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

    fn is_in_merge(&self) -> bool {
        !matches!(self, Self::Digits { .. })
    }

    fn ends_pass(&self) -> bool {
        matches!(self, Self::Bucket { .. })
    }
}

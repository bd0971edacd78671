//! What a step is.
//!
//! Elements are numbered i = L·R + r, lane L's register r; slots as the buffer counts them, of which slot s is what lane
//! s mod W loads into its register s / W. Points are named by their position in processing order.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::engines::lockstep::{Key, distance_of, index_of, key_of};
use crate::knn::network::Layer;

/// One thing that a warp does. In files, `step` names the kind in snake case and the fields stand beside it; see
/// `docs/lesson-steps.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub enum Step {
    /// The block loaded a batch of points into shared memory.
    Batch {
        /// The first of them.
        first: u32,
        /// The one after the last.
        end: u32,
    },
    /// Every lane has the squared distance of one point.
    Group {
        /// Lane L's point is `base` + L.
        base: u32,
        /// One a lane, infinite past the last point. A [`super::Recording`] leaves those of a group without candidates
        /// out and computes them again when asked.
        #[serde(with = "distances")]
        distances: Vec<f32>,
    },
    /// The lanes voted: is your point closer than `max_distance`?
    Ballot {
        /// Bit L is lane L's vote.
        mask: u32,
    },
    /// The candidates that vote counted the voting lanes below them, and so know their slots.
    Positions {
        /// One for each candidate, lanes ascending; those past the last slot have to wait.
        slots: Vec<Slot>,
    },
    /// Candidates went into the buffer.
    Appended {
        /// One for each candidate that had a slot, lanes ascending.
        placed: Vec<Placed>,
    },
    /// The buffer holds K candidates.
    BufferFull,
    /// No points are left: the slots from `first` on were filled with padding.
    Padded {
        /// The first slot that was free.
        first: u32,
    },
    /// The buffer went to the registers, and the intermediate result to the buffer.
    Swap,
    /// A layer of compare-exchanges.
    Layer {
        /// Whether the buffer is being sorted, or what two sorted lists left.
        part: Part,
        /// Size and stride of the comparators.
        #[serde(flatten)]
        layer: Layer,
        /// Keys travel by shuffle between lane and lane ^ this; without it, both elements lie in the same lane.
        shuffle: Option<u32>,
        /// The comparators that exchanged their elements, by the lower one.
        swapped: Elements,
    },
    /// Every element i became the smaller of itself and element K−1−i of the intermediate result.
    Minimum {
        /// The elements that came from the intermediate result.
        taken: Elements,
    },
    /// The merge is done, and the k-th element is the new bound.
    MaxDistance {
        /// The position of the last appended point + 1, and n at the final merge.
        points_seen: u32,
        /// The bound before.
        #[serde(with = "distance")]
        before: f32,
        /// The squared distance of the k-th element.
        #[serde(with = "distance")]
        max_distance: f32,
    },
    /// The candidates that had no slot voted again, with the new `max_distance`.
    FilteredAgain {
        /// The lanes that were asked.
        rest: u32,
        /// Bit L is lane L's vote.
        mask: u32,
    },
    /// The first k elements are the answer.
    Finished,
}

/// What a layer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Sorting the buffer: every size.
    Sort,
    /// Sorting what the minimum left, which is bitonic: size K alone.
    Resort,
}

/// Where a candidate belongs in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Who votes.
    pub lane: u32,
    /// Slots taken before the ballot + voting lanes below.
    pub slot: u32,
}

/// A candidate in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Who wrote it.
    pub lane: u32,
    /// Where.
    pub slot: u32,
    /// Its distance and point.
    pub key: Key,
}

#[derive(Serialize, Deserialize)]
struct PlacedFields {
    lane: u32,
    slot: u32,
    #[serde(with = "distance")]
    squared_distance: f32,
    point: u32,
}

impl Serialize for Placed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (squared_distance, point) = (distance_of(self.key), index_of(self.key));
        PlacedFields { lane: self.lane, slot: self.slot, squared_distance, point }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = PlacedFields::deserialize(deserializer)?;
        Ok(Self { lane: fields.lane, slot: fields.slot, key: key_of(fields.squared_distance, fields.point) })
    }
}

/// A set of elements, one bit each; in files, a list of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elements(Box<[u64]>);

impl Elements {
    /// Whether an element is in it.
    pub fn contains(&self, element: u32) -> bool {
        self.0.get(element as usize / 64).is_some_and(|word| word >> (element % 64) & 1 == 1)
    }

    /// The elements in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let element = (rest != 0).then(|| at as u32 * 64 + rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
                element
            })
        })
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Bytes beside the set itself.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

impl FromIterator<u32> for Elements {
    /// Sets are equal when their elements are: no word stands behind the last element's.
    fn from_iter<I: IntoIterator<Item = u32>>(elements: I) -> Self {
        let mut words = Vec::new();
        for element in elements {
            let at = element as usize / 64;
            if at >= words.len() {
                words.resize(at + 1, 0);
            }
            words[at] |= 1 << (element % 64);
        }
        Self(words.into_boxed_slice())
    }
}

impl Serialize for Elements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Elements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A file's number must not be the size of an allocation.
        const MOST: u32 = 1 << 16;
        let elements = Vec::<u32>::deserialize(deserializer)?;
        match elements.iter().find(|&&element| element >= MOST) {
            Some(element) => Err(D::Error::custom(format!("there is no element {element}"))),
            None => Ok(elements.into_iter().collect()),
        }
    }
}

/// A distance in a file: a number, or `"inf"`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Finite(f32),
    Word(String),
}

impl From<f32> for Written {
    fn from(distance: f32) -> Self {
        if distance.is_finite() { Self::Finite(distance) } else { Self::Word("inf".to_owned()) }
    }
}

impl Written {
    fn read<E: serde::de::Error>(self) -> Result<f32, E> {
        match self {
            Self::Finite(distance) => Ok(distance),
            Self::Word(word) if word == "inf" => Ok(f32::INFINITY),
            Self::Word(word) => Err(E::custom(format!("`{word}` is no distance"))),
        }
    }
}

pub(super) mod distance {
    use super::*;

    pub fn serialize<S: Serializer>(distance: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        Written::from(*distance).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        Written::deserialize(deserializer)?.read()
    }
}

mod distances {
    use super::*;

    pub fn serialize<S: Serializer>(distances: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(distances.iter().map(|&distance| Written::from(distance)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
        Vec::<Written>::deserialize(deserializer)?.into_iter().map(Written::read).collect()
    }
}

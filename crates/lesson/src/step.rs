//! The steps of a search.
//!
//! Elements are numbered i = L·R + r for lane L's register r; slots are numbered as in the buffer, and slot s
//! is loaded by lane s mod W into its register s / W. Points are identified by their position in processing
//! order.

use std::mem::discriminant;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::algorithms::SpecificStep;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of, key_of};
use crate::knn::network::Layer;

/// One step of a warp: of the kernel, some of which other algorithms share, or of one algorithm only. In
/// files, `step` names the kind in snake case, next to the fields; see `docs/lesson-steps.md`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case", remote = "Self")]
pub enum Step {
    /// The block loaded a batch of points into shared memory.
    Batch {
        /// The first point of the batch.
        first: u32,
        /// One past its last point.
        end: u32,
    },
    /// Every lane has computed the squared distance of one point.
    Group {
        /// Lane L's point is `base` + L.
        base: u32,
        /// One per lane, infinite past the last point. A [`super::Recording`] does not store those of a group
        /// without candidates, and recomputes them on request.
        #[serde(with = "distances")]
        distances: Vec<f32>,
    },
    /// The lanes voted on whether their point is closer than `max_distance`.
    Ballot {
        /// Bit L is lane L's vote.
        mask: u32,
    },
    /// The voting lanes have computed their slots by counting the voting lanes below them.
    Positions {
        /// One per candidate, lanes ascending; those past the last slot wait.
        slots: Vec<SlotAssignment>,
    },
    /// Candidates were appended to the buffer.
    Appended {
        /// One per candidate that had a slot, lanes ascending.
        placed: Vec<AppendedCandidate>,
    },
    /// The buffer is full, with K candidates.
    BufferFull,
    /// No points are left: the slots from `first` on were filled with padding.
    Padded {
        /// The first slot that was free.
        first: u32,
    },
    /// Buffer and intermediate result were swapped between registers and shared memory.
    Swap,
    /// A layer of compare-exchanges was completed.
    Layer {
        /// Whether it belongs to the sort of the buffer or to the re-sort.
        #[serde(rename = "part")]
        pass: SortPass,
        /// Size and stride of the comparators.
        #[serde(flatten)]
        layer: Layer,
        /// Keys are exchanged between lane and lane ^ this; `None` if both elements are in the same lane.
        shuffle: Option<u32>,
        /// The comparators that exchanged their elements, as their lower elements.
        swapped: ElementSet,
    },
    /// Every element i became the smaller of itself and element K−1−i of the intermediate result.
    Minimum {
        /// The elements that came from the intermediate result.
        taken: ElementSet,
    },
    /// The merge is complete, and the k-th element is the new bound.
    MaxDistance {
        /// The position of the last appended point + 1, and n at the final merge.
        points_seen: u32,
        /// The `max_distance` before this merge.
        #[serde(with = "distance")]
        before: f32,
        /// The squared distance of the k-th element.
        #[serde(with = "distance")]
        max_distance: f32,
    },
    /// The candidates without a slot voted again, with the new `max_distance`.
    FilteredAgain {
        /// Mask of the lanes that took part.
        rest: u32,
        /// Bit L is lane L's vote.
        mask: u32,
    },
    /// The first k elements are the answer.
    Finished,
    /// A step that only one algorithm has.
    #[serde(skip)]
    Own(SpecificStep),
}

impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(step) => step.serialize(serializer),
            step => Self::serialize(step, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = Value::deserialize(deserializer)?;
        match SpecificStep::read(&fields).map_err(D::Error::custom)? {
            Some(step) => Ok(Self::Own(step)),
            None => Self::deserialize(fields).map_err(D::Error::custom),
        }
    }
}

impl Step {
    /// Whether both are of the same kind.
    pub fn is_same_kind(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own(step), Self::Own(other)) => step.is_same_kind(other),
            _ => discriminant(self) == discriminant(other),
        }
    }
}

/// The sort that a layer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SortPass {
    /// The sort of the buffer: all sizes.
    Sort,
    /// The re-sort of the minimum's bitonic result: size K only.
    Resort,
}

/// The slot computed for a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotAssignment {
    /// The voting lane that computed it.
    pub lane: u32,
    /// Slots in use before the ballot + voting lanes below.
    pub slot: u32,
}

/// A candidate appended to the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppendedCandidate {
    /// The lane that wrote it.
    pub lane: u32,
    /// The slot that it was written to.
    pub slot: u32,
    /// Its squared distance and point.
    pub key: Key,
}

#[derive(Serialize, Deserialize)]
struct CandidateFields {
    lane: u32,
    slot: u32,
    #[serde(with = "distance")]
    squared_distance: f32,
    point: u32,
}

impl Serialize for AppendedCandidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (squared_distance, point) = (distance_of(self.key), index_of(self.key));
        CandidateFields { lane: self.lane, slot: self.slot, squared_distance, point }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AppendedCandidate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = CandidateFields::deserialize(deserializer)?;
        Ok(Self { lane: fields.lane, slot: fields.slot, key: key_of(fields.squared_distance, fields.point) })
    }
}

/// A set of elements, one bit each; a list of numbers in files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSet(Box<[u64]>);

impl ElementSet {
    /// Whether an element is in the set.
    pub fn contains(&self, element: u32) -> bool {
        self.0.get(element as usize / 64).is_some_and(|word| word >> (element % 64) & 1 == 1)
    }

    /// The elements of the set, ascending.
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

    /// The number of elements in the set.
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Size of the heap allocation in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }
}

impl FromIterator<u32> for ElementSet {
    /// Without trailing zero words, so that equal sets compare equal.
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

impl Serialize for ElementSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for ElementSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Untrusted numbers must not determine an allocation.
        const MAX_ELEMENTS: u32 = 1 << 16;
        let elements = Vec::<u32>::deserialize(deserializer)?;
        match elements.iter().find(|&&element| element >= MAX_ELEMENTS) {
            Some(element) => Err(D::Error::custom(format!("element {element} is out of range"))),
            None => Ok(elements.into_iter().collect()),
        }
    }
}

/// A distance in a file: a number, or `"inf"`.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum DistanceField {
    Finite(f32),
    Word(String),
}

impl From<f32> for DistanceField {
    fn from(distance: f32) -> Self {
        if distance.is_finite() { Self::Finite(distance) } else { Self::Word("inf".to_owned()) }
    }
}

impl DistanceField {
    fn read<E: serde::de::Error>(self) -> Result<f32, E> {
        match self {
            Self::Finite(distance) => Ok(distance),
            Self::Word(word) if word == "inf" => Ok(f32::INFINITY),
            Self::Word(word) => Err(E::custom(format!("`{word}` is not a distance"))),
        }
    }
}

pub(crate) mod distance {
    use super::*;

    pub fn serialize<S: Serializer>(distance: &f32, serializer: S) -> Result<S::Ok, S::Error> {
        DistanceField::from(*distance).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
        DistanceField::deserialize(deserializer)?.read()
    }
}

pub(crate) mod distances {
    use super::*;

    pub fn serialize<S: Serializer>(distances: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(distances.iter().map(|&distance| DistanceField::from(distance)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
        Vec::<DistanceField>::deserialize(deserializer)?.into_iter().map(DistanceField::read).collect()
    }
}

/// Keys in a file: squared distance and point, or null for padding.
pub(crate) mod keys {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct KeyFields {
        #[serde(with = "distance")]
        squared_distance: f32,
        point: u32,
    }

    pub fn serialize<S: Serializer>(keys: &[Key], serializer: S) -> Result<S::Ok, S::Error> {
        let fields = |&key: &Key| {
            (key != PADDING).then(|| KeyFields { squared_distance: distance_of(key), point: index_of(key) })
        };
        serializer.collect_seq(keys.iter().map(fields))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Key>, D::Error> {
        let fields = Vec::<Option<KeyFields>>::deserialize(deserializer)?;
        Ok(fields
            .into_iter()
            .map(|key| key.map_or(PADDING, |key| key_of(key.squared_distance, key.point)))
            .collect())
    }
}

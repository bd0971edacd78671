//! The two lists of a merge at a moment, for the curves: keys by element, the list that each comes from, and
//! the keys that the minimum kept and dropped.

use super::moment::is_bitonic;
use crate::algorithms::Baseline;
use crate::cursor::Cursor;
use crate::engines::lockstep::{Key, PADDING, index_of};
use crate::knn::network::Layer;
use crate::state::{Shape, Stage, State};
use crate::step::{ElementSet, SortPass, Step};

/// The list that a key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The candidates of the buffer.
    Buffer,
    /// The intermediate result.
    Result,
}

/// A key at the element where it is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    pub element: u32,
    pub key: Key,
    pub side: KeySource,
    /// Where the key is now.
    pub place: KeyLocation,
}

/// Where a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyLocation {
    /// An element of the registers.
    Element(u32),
    /// A slot of the buffer.
    Slot(u32),
    /// Overwritten; the point is known.
    Gone(u32),
}

/// How far the merge is.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Each list in its own order; whether the buffer's is sorted, if it has any keys.
    Apart { sorted: Option<bool> },
    /// Each candidate is above the element of the intermediate result that it will be compared with.
    Facing,
    /// The minimum has kept the smaller of both.
    Kept,
    /// A layer of the re-sort is done.
    Resorting { layer: Layer, done: usize, all: usize, swapped: ElementSet },
    /// The merge is done.
    Merged,
}

/// The lists of a moment. Before the minimum they are `buffer` and `result`, after it `kept` and `lost`.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeInputs {
    pub phase: Phase,
    pub buffer: Vec<Dot>,
    pub result: Vec<Dot>,
    pub kept: Vec<Dot>,
    pub lost: Vec<Dot>,
    /// The elements whose smaller key comes from a different list than the previous element's.
    pub crossings: Vec<u32>,
}

impl MergeInputs {
    /// The lists at a cursor; an open question hides the next step. `None` in searches without a
    /// layer-by-layer merge.
    pub fn at(cursor: &Cursor, asking: bool) -> Option<Self> {
        let (recording, state) = (cursor.recording(), cursor.state());
        if !matches!(recording.baseline(), Baseline::Kernel(_)) {
            return None;
        }
        let mut meeting = Self {
            phase: Phase::Apart { sorted: None },
            buffer: vec![],
            result: vec![],
            kept: vec![],
            lost: vec![],
            crossings: vec![],
        };
        match state.stage {
            Stage::Sort => {
                let meets =
                    matches!(recording.steps().get(cursor.position()), Some(Step::Minimum { .. })) && !asking;
                meeting.before_minimum(state, meets);
            }
            Stage::Merge => meeting.after_minimum(cursor)?,
            _ => meeting.apart(state, cursor.step().as_deref()),
        }
        Some(meeting)
    }

    /// The buffer fills, or is full; the registers hold the intermediate result.
    fn apart(&mut self, state: &State, step: Option<&Step>) {
        let taken = if state.stage == Stage::Full { state.shape.capacity() } else { state.buffered };
        // At the elements that they will have after the swap.
        let slots = (0..state.shape.capacity())
            .map(|element| (element, state.shape.slot_of(element)))
            .filter(|&(_, slot)| slot < taken);
        self.buffer = slots
            .map(|(element, slot)| Dot {
                element,
                key: state.buffer[slot as usize],
                side: KeySource::Buffer,
                place: KeyLocation::Slot(slot),
            })
            .collect();
        self.result = registers(state, |_| KeySource::Result);
        self.phase = match step {
            Some(Step::MaxDistance { .. }) => Phase::Merged,
            _ => Phase::Apart { sorted: (!self.buffer.is_empty()).then(|| is_rising(&self.buffer)) },
        };
    }

    /// The registers hold the candidates, the buffer the intermediate result.
    fn before_minimum(&mut self, state: &State, meets: bool) {
        let shape = state.shape;
        self.buffer = registers(state, |_| KeySource::Buffer);
        let from = |element| if meets { state.merge_partner(element) } else { shape.slot_of(element) };
        let result = |element| Dot {
            element,
            key: state.buffer[from(element) as usize],
            side: KeySource::Result,
            place: KeyLocation::Slot(from(element)),
        };
        self.result = (0..shape.capacity()).map(result).collect();
        if meets {
            self.phase = Phase::Facing;
            self.crossings =
                crossings(self.buffer.iter().zip(&self.result).map(|(own, other)| side(other.key < own.key)));
        } else {
            self.phase = Phase::Apart { sorted: Some(is_rising(&self.buffer)) };
        }
    }

    fn after_minimum(&mut self, cursor: &Cursor) -> Option<()> {
        let (recording, state) = (cursor.recording(), cursor.state());
        let steps = recording.steps();
        let at = steps[..cursor.position()].iter().rposition(|step| matches!(step, Step::Minimum { .. }))?;
        let Step::Minimum { taken } = &steps[at] else { return None };
        let mut before = Cursor::new(recording.clone());
        before.seek(at);
        let before = before.state();
        let mut of_result: Vec<Key> =
            taken.iter().map(|element| before.buffer[before.merge_partner(element) as usize]).collect();
        of_result.sort_unstable();
        self.crossings = crossings((0..state.shape.capacity()).map(|element| side(taken.contains(element))));
        let done = cursor.position() - at - 1;
        let Some(Step::Layer { pass: SortPass::Resort, layer, swapped, .. }) =
            cursor.step().as_deref().cloned()
        else {
            self.kept = registers(state, |element| side(taken.contains(element)));
            self.lost = (0..state.shape.capacity()).map(|element| lost(before, taken, element)).collect();
            self.phase = Phase::Kept;
            return Some(());
        };
        self.kept = registers(state, |element| {
            side(of_result.binary_search(&state.registers[element as usize]).is_ok())
        });
        self.phase = Phase::Resorting { layer, done, all: state.shape.capacity().ilog2() as usize, swapped };
        Some(())
    }

    /// All dots, pale ones first.
    pub fn dots(&self) -> impl Iterator<Item = &Dot> {
        self.lost.iter().chain(&self.result).chain(&self.buffer).chain(&self.kept)
    }

    /// Whether the intermediate result is mirrored; after the minimum, judged by the dropped keys.
    pub fn is_mirrored(&self, shape: Shape) -> bool {
        let mirrors =
            |dot: &Dot| matches!(dot.place, KeyLocation::Slot(slot) if slot == shape.mirror_of(dot.element));
        matches!(self.phase, Phase::Facing | Phase::Kept) && self.result.iter().chain(&self.lost).any(mirrors)
    }

    /// Whether blocks of `long` kept keys are bitonic, and no key is larger than those of the next block.
    pub fn blocks_are_in_order(&self, long: usize) -> bool {
        let keys: Vec<Key> = self.kept.iter().map(|dot| dot.key).collect();
        let blocks: Vec<&[Key]> = keys.chunks(long).collect();
        blocks.iter().all(|block| is_bitonic(block))
            && blocks.windows(2).all(|pair| pair[0].iter().max() <= pair[1].iter().min())
    }
}

fn side(of_result: bool) -> KeySource {
    if of_result { KeySource::Result } else { KeySource::Buffer }
}

fn registers(state: &State, side: impl Fn(u32) -> KeySource) -> Vec<Dot> {
    let dot =
        |(element, &key)| Dot { element, key, side: side(element), place: KeyLocation::Element(element) };
    (0u32..).zip(&state.registers).map(dot).collect()
}

/// The larger of the two keys that an element compared. The minimum overwrote those of the buffer's list.
fn lost(before: &State, taken: &ElementSet, element: u32) -> Dot {
    let (own, slot) = (before.registers[element as usize], before.merge_partner(element));
    if taken.contains(element) {
        Dot { element, key: own, side: KeySource::Buffer, place: KeyLocation::Gone(index_of(own)) }
    } else {
        Dot {
            element,
            key: before.buffer[slot as usize],
            side: KeySource::Result,
            place: KeyLocation::Slot(slot),
        }
    }
}

/// Whether keys never decrease.
pub fn is_rising(dots: &[Dot]) -> bool {
    dots.is_sorted_by_key(|dot| dot.key)
}

/// Whether keys never increase.
pub fn is_falling(dots: &[Dot]) -> bool {
    dots.is_sorted_by(|a, b| a.key >= b.key)
}

fn crossings(sides: impl Iterator<Item = KeySource>) -> Vec<u32> {
    let sides: Vec<KeySource> = sides.collect();
    (1u32..)
        .zip(sides.windows(2))
        .filter(|(_, pair)| pair[0] != pair[1])
        .map(|(element, _)| element)
        .collect()
}

impl Dot {
    /// Whether it is padding.
    pub fn is_padding(&self) -> bool {
        self.key == PADDING
    }
}

//! Data about a moment that several panels need.

use super::{Target, View, pen};
use crate::algorithms::SpecificStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::cursor::Cursor;
use crate::engines::lockstep::{Key, PADDING, distance_of, index_of, key_of, lanes_below};
use crate::knn::Metric;
use crate::knn::network::{self, Layer};
use crate::state::{Stage, State};
use crate::step::{ElementSet, SortPass, Step};
use crate::text;

/// The last ballot and its consequences.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// One point per lane, `u32::MAX` past the last.
    pub points: Vec<u32>,
    /// One squared distance per lane, infinite past the last point.
    pub distances: Vec<f32>,
    /// Mask of the lanes that took part: all, or those without a slot.
    pub voters: u32,
    /// The result; `None` before the ballot.
    pub mask: Option<u32>,
    /// Slots in use before the candidates of this ballot.
    pub slots_before: u32,
    /// Number of the candidates that have been appended to the buffer.
    pub appended: u32,
}

impl Vote {
    /// Number of candidates in lower lanes.
    pub fn below(&self, lane: u32) -> u32 {
        (self.mask.unwrap_or(0) & lanes_below(lane)).count_ones()
    }

    /// The slot that a candidate computes for itself, whether or not it exists.
    pub fn slot(&self, lane: u32) -> Option<u32> {
        (self.mask.unwrap_or(0) >> lane & 1 == 1).then(|| self.slots_before + self.below(lane))
    }
}

/// The last ballot before a moment; in warp select, the lanes' insertions into their own queues.
pub fn vote(cursor: &Cursor) -> Option<Vote> {
    let (recording, state) = (cursor.recording(), cursor.state());
    let (points, distances): (Vec<u32>, Vec<f32>) = match state.descent() {
        Some(descent) => {
            descent.leaf.as_ref()?.keys.iter().map(|&key| (index_of(key), distance_of(key))).unzip()
        }
        None => {
            let base = state.group?;
            let point = |lane| if base + lane < state.shape.n { base + lane } else { u32::MAX };
            ((0..state.shape.width).map(point).collect(), recording.distances(base))
        }
    };
    let everyone = u32::MAX >> (32 - state.shape.width);
    let mut placed_since: Option<(u32, u32)> = None;
    for at in (0..cursor.position()).rev() {
        let (voters, mask) = match &recording.steps()[at] {
            Step::Appended { placed } => {
                placed_since = placed.first().map(|first| (first.slot, placed.len() as u32));
                continue;
            }
            Step::Group { .. } | Step::Own(SpecificStep::Tree(TreeStep::Leaf { .. })) => (everyone, None),
            Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed })) => {
                (everyone, Some(placed.iter().fold(0, |lanes, taken| lanes | 1 << taken.lane)))
            }
            Step::Ballot { mask } => (everyone, Some(*mask)),
            Step::FilteredAgain { rest, mask } => (*rest, Some(*mask)),
            _ => continue,
        };
        // The lowest candidate has no candidates below it.
        let (slots_before, appended) = placed_since.unwrap_or((state.buffered, 0));
        return Some(Vote { points, distances, voters, mask, slots_before, appended });
    }
    None
}

/// The points of a vote: undecided, accepted, rejected. After a merge, the new bound divides them, without
/// those that are now among the nearest.
pub fn classify_points(vote: &Vote, cursor: &Cursor) -> [Vec<u32>; 3] {
    let (state, best) = (cursor.state(), nearest(cursor));
    let mut classes = <[Vec<u32>; 3]>::default();
    for (lane, (&point, &distance)) in
        (0..).zip(vote.points.iter().zip(&vote.distances)).filter(|(_, (point, _))| **point != u32::MAX)
    {
        let key = key_of(distance, point);
        let is_inside = match state.descent() {
            Some(_) => key < state.last(),
            // A lane of warp select compares with its own queue.
            None => state.queues().is_some() || distance < state.max_distance,
        };
        match vote.mask {
            None => classes[0].push(point),
            Some(mask) if mask >> lane & 1 == 1 && best.contains(&key) => {}
            Some(mask) if mask >> lane & 1 == 1 && is_inside => classes[1].push(point),
            Some(_) if vote.voters >> lane & 1 == 1 => classes[2].push(point),
            Some(_) => {}
        }
    }
    classes
}

/// A sort in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct RunningSort {
    /// The sort of the buffer, or the re-sort.
    pub pass: SortPass,
    /// All layers of the sort, including those to come.
    pub layers: Vec<Layer>,
    /// The position before its first layer.
    pub start: usize,
    /// The keys by element, before the first completed layer and after each.
    pub keys: Vec<Vec<Key>>,
    /// The exchanges of each completed layer.
    pub swapped: Vec<ElementSet>,
}

impl RunningSort {
    /// Number of completed layers.
    pub fn done(&self) -> usize {
        self.swapped.len()
    }

    /// Whether different keys that the last layer compared look different with this number of digits.
    pub fn distinguishes(&self, digits: usize) -> bool {
        self.distinguishes_among(&(0..self.keys[0].len() as u32).collect::<Vec<_>>(), digits)
    }

    /// The same for some comparators, by their lower elements.
    pub fn distinguishes_among(&self, elements: &[u32], digits: usize) -> bool {
        let Some(at) = self.done().checked_sub(1) else { return true };
        let (keys, layer) = (&self.keys[at], self.layers[at]);
        let read = |key: Key| pen::digits(distance_of(key), digits);
        elements
            .iter()
            .filter(|&&element| element & layer.stride == 0)
            .map(|&low| layer.comparator_of(low))
            .all(|pair| {
                let (low, high) = (keys[pair.low as usize], keys[pair.high as usize]);
                low == PADDING
                    || high == PADDING
                    || distance_of(low) == distance_of(high)
                    || read(low) != read(high)
            })
    }
}

/// The current sort of a merge, from its swap on.
pub fn running_sort(cursor: &Cursor) -> Option<RunningSort> {
    let (recording, state) = (cursor.recording(), cursor.state());
    let steps = recording.steps();
    let mut at = cursor.position();
    // The last step of a merge leaves the registers unchanged.
    if matches!(steps[..at].last(), Some(Step::MaxDistance { .. })) {
        at -= 1;
    }
    let pass = match steps[..at].last()? {
        Step::Swap => SortPass::Sort,
        Step::Minimum { .. } => SortPass::Resort,
        Step::Layer { pass, .. } => *pass,
        _ => return None,
    };
    let mut keys = vec![state.registers.clone()];
    let mut exchanged = Vec::new();
    while let Some(Step::Layer { pass: its, layer, swapped, .. }) =
        at.checked_sub(1).map(|before| &steps[before])
        && *its == pass
    {
        let mut before = keys[keys.len() - 1].clone();
        for low in swapped.iter() {
            before.swap(low as usize, (low ^ layer.stride) as usize);
        }
        keys.push(before);
        exchanged.push(swapped.clone());
        at -= 1;
    }
    keys.reverse();
    exchanged.reverse();
    let layers = layers(pass, state.shape.capacity());
    Some(RunningSort { pass, layers, start: at, keys, swapped: exchanged })
}

/// The hovered element, or the one that holds the hovered point; `None` if no register holds it.
pub fn element_under(view: &View<'_>) -> Option<u32> {
    match view.hover? {
        Target::Element(element) => Some(element),
        Target::Point(point) => {
            let is_it = |&key: &Key| key != PADDING && index_of(key) == point;
            view.state().registers.iter().position(is_it).map(|element| element as u32)
        }
        _ => None,
    }
}

/// A squared distance and, for metrics other than L2, the distance in its unit.
pub fn distance_words(metric: Metric, squared: f32) -> String {
    let unit = metric.unit().unwrap_or(metric.name());
    let distance = if metric == Metric::L2 {
        String::new()
    } else {
        format!(" ({} {unit})", text::digits(metric.distance(squared), 3))
    };
    pen::digits(squared, 3) + &distance
}

/// All layers of a sort of K keys.
pub fn layers(pass: SortPass, keys: u32) -> Vec<Layer> {
    match pass {
        SortPass::Sort => network::sort(keys).collect(),
        SortPass::Resort => network::merge(keys).collect(),
    }
}

/// The keys to be merged: in the buffer, or in the lanes' queues.
pub fn waiting(state: &State) -> Vec<Key> {
    match state.queues() {
        Some(queues) => queues.keys.iter().copied().filter(|&key| key != PADDING).collect(),
        None => state.buffer[..state.buffered as usize].to_vec(),
    }
}

/// The k nearest of the merged points, nearest first. A merge may have moved them from the registers to the
/// buffer.
pub fn nearest(cursor: &Cursor) -> Vec<Key> {
    let state = cursor.state();
    let shape = state.shape;
    let mut keys: Vec<Key> = if state.stage == Stage::Sort {
        (0..shape.capacity()).map(|element| state.buffer[shape.slot_of(element) as usize]).collect()
    } else {
        state.registers.clone()
    };
    // The survivors of a minimum are not sorted yet.
    keys.sort_unstable();
    keys.truncate(shape.k as usize);
    keys.retain(|&key| key != PADDING);
    keys
}

/// The first element that is larger than its successor.
pub fn first_break(keys: &[Key]) -> Option<usize> {
    keys.windows(2).position(|pair| pair[0] > pair[1])
}

/// Whether keys form a bitonic sequence, up to rotation.
pub fn is_bitonic(keys: &[Key]) -> bool {
    let rises: Vec<bool> =
        keys.iter().zip(keys.iter().cycle().skip(1)).filter(|(a, b)| a != b).map(|(a, b)| a < b).collect();
    rises.iter().zip(rises.iter().cycle().skip(1)).filter(|(a, b)| a != b).count() <= 2
}

/// Whether runs of `run` keys are sorted, alternately ascending and descending; a single run ascending.
pub fn are_runs_sorted(keys: &[Key], run: usize) -> bool {
    keys.chunks(run)
        .enumerate()
        .all(|(at, run)| if at % 2 == 0 { run.is_sorted() } else { run.is_sorted_by(|a, b| a >= b) })
}

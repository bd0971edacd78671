//! The same moment in another recording: when the query or a point moves, the reader stays at the same
//! moment.
//!
//! Steps of a merge are matched by the merge's number, all others by the number of points seen. Then a step
//! of the same kind is preferred (for layers, of the same size and stride), then the one that comes equally
//! late.

use std::collections::BTreeMap;
use std::ops::Range;

use super::algorithms::PhaseStart;
use super::recording::Recording;
use super::step::{ElementSet, SortPass, Step};
use crate::knn::network::Layer;

/// How far the search is at a step.
#[derive(Clone, Copy)]
struct StepContext<'a> {
    step: &'a Step,
    /// Merges or passes completed before it.
    round: u32,
    /// End of its group, or leaves visited.
    seen: u32,
    /// Steps since the group, leaf or merge began.
    steps_since_start: u32,
}

/// The position in `to` that matches `position` in `from`, both within the shown ranges. Start maps to start,
/// and end to end.
pub fn align(
    (from, shown): (&Recording, Range<usize>),
    position: usize,
    (to, within): (&Recording, Range<usize>),
) -> usize {
    if position <= shown.start {
        return within.start;
    }
    if position >= shown.end {
        return within.end;
    }
    let Some(wanted) = contexts(from).nth(position - 1) else { return within.end };
    let here = contexts(to).enumerate().take(within.end).skip(within.start.max(1) - 1);
    here.min_by_key(|(_, context)| context.distance_to(&wanted)).map_or(within.end, |(at, _)| at + 1)
}

/// The context of every step of a recording.
fn contexts(recording: &Recording) -> impl Iterator<Item = StepContext<'_>> {
    let shape = recording.shape();
    let (mut round, mut seen, mut steps_since_start) = (0, 0, 0);
    recording.steps().iter().map(move |step| {
        steps_since_start += 1;
        match step {
            Step::Group { base, .. } => {
                (seen, steps_since_start) = (base.saturating_add(shape.width).min(shape.n), 0);
            }
            Step::BufferFull | Step::Padded { .. } => steps_since_start = 0,
            Step::Own(step) => match step.get().begins() {
                Some(PhaseStart::Points) => (seen, steps_since_start) = (seen + 1, 0),
                Some(PhaseStart::Merge) => steps_since_start = 0,
                None => {}
            },
            _ => {}
        }
        let context = StepContext { step, round, seen, steps_since_start };
        round += match step {
            Step::MaxDistance { .. } => 1,
            Step::Own(step) => u32::from(step.get().ends_pass()),
            _ => 0,
        };
        context
    })
}

impl StepContext<'_> {
    /// How much it differs from the wanted context, the most important difference first.
    fn distance_to(&self, wanted: &Self) -> (u32, u32, u32) {
        let apart = if wanted.is_in_merge() {
            self.round.abs_diff(wanted.round)
        } else {
            self.seen.abs_diff(wanted.seen)
        };
        let other = match (self.step, wanted.step) {
            (Step::Layer { pass, layer, .. }, Step::Layer { pass: its, layer: of, .. }) => {
                u32::from((pass, layer) != (its, of))
            }
            (step, other) if step.is_same_kind(other) => 0,
            _ => 1 + u32::from(self.is_in_merge() != wanted.is_in_merge()),
        };
        (apart, other, self.steps_since_start.abs_diff(wanted.steps_since_start))
    }

    /// Whether the step belongs to a merge, or to a pass of radix select.
    fn is_in_merge(&self) -> bool {
        match self.step {
            Step::BufferFull
            | Step::Padded { .. }
            | Step::Swap
            | Step::Layer { .. }
            | Step::Minimum { .. }
            | Step::MaxDistance { .. } => true,
            Step::Own(step) => step.get().is_in_merge(),
            _ => false,
        }
    }
}

// The comparators that decide differently than in an earlier recording of the same lesson, after a distance
// changed.

/// By the index of a layer's step: the lower elements of the comparators whose decision changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChangedComparators(BTreeMap<usize, ElementSet>);

impl ChangedComparators {
    /// Compares every layer of `after` with the same layer of the same merge of `before`. Empty if the warps
    /// differ in shape; merges that exist only in `after` are skipped.
    pub fn between(before: &Recording, after: &Recording) -> Self {
        let capacity = after.shape().capacity();
        if before.shape().capacity() != capacity {
            return Self::default();
        }
        let layers_before: BTreeMap<_, _> = layers(before).map(|(_, key, swapped)| (key, swapped)).collect();
        let changed = layers(after).filter_map(|(at, key, swapped)| {
            let before = layers_before.get(&key)?;
            let elements: ElementSet =
                (0..capacity).filter(|&low| swapped.contains(low) != before.contains(low)).collect();
            (elements.count() > 0).then_some((at, elements))
        });
        Self(changed.collect())
    }

    /// The lower elements of a layer's changed comparators, by the index of its step.
    pub fn at(&self, step: usize) -> Option<&ElementSet> {
        self.0.get(&step)
    }
}

/// A layer of a merge: the merge, whether it is the re-sort, size and stride.
type LayerKey = (u32, bool, u32, u32);

/// The index, the key and the exchanges of each layer of a recording.
fn layers(recording: &Recording) -> impl Iterator<Item = (usize, LayerKey, &ElementSet)> {
    let mut merge = 0;
    recording.steps().iter().enumerate().filter_map(move |(at, step)| match step {
        Step::MaxDistance { .. } => {
            merge += 1;
            None
        }
        Step::Layer { pass, layer: Layer { size, stride }, swapped, .. } => {
            Some((at, (merge, *pass == SortPass::Resort, *size, *stride), swapped))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::Edits;
    use crate::lessons::{LESSONS, Overrides, Take, named};
    use crate::progress::NoProgress;

    fn take(name: &str, query: Option<[f32; 2]>) -> Take {
        let choice = Overrides { edits: Edits { query, ..Edits::default() }, ..Overrides::default() };
        named(name).unwrap().record(choice, &NoProgress).unwrap().remove(0)
    }

    #[test]
    fn aligning_a_recording_with_itself_is_the_identity() {
        for lesson in &LESSONS {
            let take = take(lesson.id, None);
            let recording = &*take.recording;
            for range in [take.range.clone(), 0..recording.len()] {
                for position in range.clone().step_by(7) {
                    assert_eq!(
                        align((recording, range.clone()), position, (recording, range.clone())),
                        position,
                        "{}",
                        lesson.id
                    );
                }
            }
        }
    }

    #[test]
    fn layers_align_with_the_same_layer_and_merge() {
        let (before, after) = (take("search", None), take("search", Some([0.1, 0.9])));
        let (before, after) = (&*before.recording, &*after.recording);
        let mut layers = 0;
        for position in 1..before.len() {
            let Step::Layer { pass, layer, .. } = &before.steps()[position - 1] else { continue };
            let there = align((before, 0..before.len()), position, (after, 0..after.len()));
            let Step::Layer { pass: its, layer: of, .. } = &after.steps()[there - 1] else {
                panic!("step {there} is no layer")
            };
            assert_eq!((pass, layer), (its, of));
            layers += 1;
            if layers > 200 {
                break;
            }
        }
        assert!(layers > 100);
    }

    #[test]
    fn ballots_align_by_points_and_recordings_by_their_ends() {
        let (before, after) = (take("search", None), take("search", Some([0.1, 0.9])));
        let (before, after) = (&*before.recording, &*after.recording);
        let whole = |recording: &Recording| 0..recording.len();
        let base = |recording: &Recording, position: usize| {
            let groups = recording.steps()[..position].iter().rev();
            groups
                .filter_map(|step| if let Step::Group { base, .. } = step { Some(*base) } else { None })
                .next()
        };
        for (at, _) in before
            .steps()
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step, Step::Ballot { .. }))
            .step_by(5)
        {
            let there = align((before, whole(before)), at + 1, (after, whole(after)));
            assert!(
                matches!(after.steps()[there - 1], Step::Ballot { .. }),
                "{:?}",
                after.steps()[there - 1]
            );
            assert_eq!(base(before, at + 1), base(after, there));
        }
        assert_eq!(align((before, whole(before)), 0, (after, 5..9)), 5);
        assert_eq!(align((before, whole(before)), before.len(), (after, 5..9)), 9);
        assert!((5..=9).contains(&align((before, whole(before)), before.len() / 2, (after, 5..9))));
    }

    fn sorted(keys: [f32; 8]) -> Recording {
        let edits = Edits { keys: Some(keys.to_vec()), ..Edits::default() };
        let overrides = Overrides { edits, ..Overrides::default() };
        let take = named("sort").unwrap().record(overrides, &NoProgress).unwrap().remove(0);
        Recording::clone(&take.recording)
    }

    #[test]
    fn reversed_pairs_are_reported_as_changed_comparators() {
        let before = sorted([5.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]);
        assert_eq!(ChangedComparators::between(&before, &before), ChangedComparators::default());
        // Only the first pair is reversed: later layers compare the same keys.
        let after = sorted([3.0, 5.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]);
        let first = after.steps().iter().position(|step| matches!(step, Step::Layer { .. })).unwrap();
        let changed = ChangedComparators::between(&before, &after);
        assert_eq!(changed.at(first).map(|elements| elements.iter().collect::<Vec<_>>()), Some(vec![0]));
        assert_eq!(changed.0.len(), 1, "{changed:?}");
    }

    #[test]
    fn networks_of_different_shapes_are_not_compared() {
        let choice = Overrides { k: Some(4), width: Some(4), ..Overrides::default() };
        let four = named("sort").unwrap().record(choice, &NoProgress).unwrap().remove(0);
        assert_eq!(
            ChangedComparators::between(&four.recording, &sorted([1.0; 8])),
            ChangedComparators::default()
        );
    }
}

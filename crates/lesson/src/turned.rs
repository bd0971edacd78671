//! The comparators that decide otherwise than in an earlier recording of the same lesson: what one changed distance turns.

use std::collections::BTreeMap;

use super::recording::Recording;
use super::step::{Elements, Pass, Step};
use crate::knn::network::Layer;

/// By the index of a layer's step, the lower elements of the comparators that swap where they did not, or the other way round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turned(BTreeMap<usize, Elements>);

impl Turned {
    /// Compares every layer of `after` with the same layer of the same merge of `before`. Nothing has turned where a warp of
    /// another shape was recorded, or a merge did not exist.
    pub fn between(before: &Recording, after: &Recording) -> Self {
        let capacity = after.shape().capacity();
        if before.shape().capacity() != capacity {
            return Self::default();
        }
        let then: BTreeMap<_, _> = layers(before).map(|(_, key, swapped)| (key, swapped)).collect();
        let turned = layers(after).filter_map(|(at, key, swapped)| {
            let before = then.get(&key)?;
            let elements: Elements = (0..capacity).filter(|&low| swapped.contains(low) != before.contains(low)).collect();
            (elements.count() > 0).then_some((at, elements))
        });
        Self(turned.collect())
    }

    /// The lower elements of the comparators of a layer that have turned, by the index of its step.
    pub fn at(&self, step: usize) -> Option<&Elements> {
        self.0.get(&step)
    }
}

/// A layer of a merge: the merge, whether it is the re-sort, size and stride.
type Key = (u32, bool, u32, u32);

/// The index, the place and the exchanges of each layer of a recording.
fn layers(recording: &Recording) -> impl Iterator<Item = (usize, Key, &Elements)> {
    let mut merge = 0;
    recording.steps().iter().enumerate().filter_map(move |(at, step)| match step {
        Step::MaxDistance { .. } => {
            merge += 1;
            None
        }
        Step::Layer { pass, layer: Layer { size, stride }, swapped, .. } => Some((at, (merge, *pass == Pass::Resort, *size, *stride), swapped)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lessons::{Choice, named};
    use crate::progress::Silent;
    use crate::touched::Touched;

    fn sorted(keys: [f32; 8]) -> Recording {
        let choice = Choice { touched: Touched { keys: Some(keys.to_vec()), ..Touched::default() }, ..Choice::default() };
        let take = named("sort").unwrap().record(choice, &Silent).unwrap().remove(0);
        Recording::clone(&take.recording)
    }

    #[test]
    fn a_comparator_has_turned_where_its_pair_is_the_other_way_round() {
        let before = sorted([5.0, 3.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]);
        assert_eq!(Turned::between(&before, &before), Turned::default());
        // Only the first pair is the other way round: the layers after the first meet the same keys.
        let after = sorted([3.0, 5.0, 8.0, 1.0, 7.0, 2.0, 6.0, 4.0]);
        let first = after.steps().iter().position(|step| matches!(step, Step::Layer { .. })).unwrap();
        let turned = Turned::between(&before, &after);
        assert_eq!(turned.at(first).map(|elements| elements.iter().collect::<Vec<_>>()), Some(vec![0]));
        assert_eq!(turned.0.len(), 1, "{turned:?}");
    }

    #[test]
    fn other_shapes_are_not_compared() {
        let choice = Choice { k: Some(4), width: Some(4), ..Choice::default() };
        let four = named("sort").unwrap().record(choice, &Silent).unwrap().remove(0);
        assert_eq!(Turned::between(&four.recording, &sorted([1.0; 8])), Turned::default());
    }
}

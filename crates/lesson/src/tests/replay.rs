//! Replay equals the search, and every step is correct.

use proptest::prelude::*;

use super::*;
use crate::engines::lockstep::{self, ObservedSearch, distance_of, key_of};
use crate::knn::network::{self, Layer};

fn watched(problem: &Problem, width: u32) -> ObservedSearch<()> {
    match width {
        4 => lockstep::observe::<4, ()>(problem, 0, None, ()),
        8 => lockstep::observe::<8, ()>(problem, 0, None, ()),
        16 => lockstep::observe::<16, ()>(problem, 0, None, ()),
        _ => lockstep::observe::<32, ()>(problem, 0, None, ()),
    }
}

/// Compares a recording's end with an unobserved search and with all distances sorted.
fn agrees(problem: &Arc<Problem>, width: u32, batch: Option<usize>) -> Result<Recording, TestCaseError> {
    let recording = record(problem.clone(), 0, width, batch, "a test").unwrap();
    let state = fresh(&recording, recording.len());
    let searched = watched(problem, width);
    let there = problem.k().min(problem.n());
    let found: Vec<(u32, f32)> = state.neighbours().collect();
    prop_assert_eq!(&found[..], &searched.neighbours[..there]);
    let distances = lockstep::distances_to(problem, 0, 0..problem.n());
    let mut sorted: Vec<(f32, u32)> =
        distances.iter().zip(0..).map(|(&distance, position)| (distance, position)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    prop_assert_eq!(
        found,
        sorted[..there].iter().map(|&(distance, position)| (position, distance)).collect::<Vec<_>>()
    );
    let counts = state.counts;
    let counters = searched.counters;
    prop_assert_eq!(
        (counts.merges, counts.candidates, counts.groups_hit),
        (counters.merges, counters.candidates, counters.groups_hit)
    );
    prop_assert_eq!(recording.convergence().collect::<Vec<_>>(), searched.history);
    prop_assert_eq!(
        (counts.points_seen as usize, counts.groups as usize),
        (problem.n(), problem.n().div_ceil(width as usize))
    );
    let cost = network::Cost::for_merge(width, recording.shape().registers);
    let merges = u64::from(counts.merges);
    prop_assert_eq!(
        (counts.compare_exchanges, counts.shuffles),
        (merges * cost.compare_exchanges, merges * cost.shuffles)
    );
    Ok(recording)
}

/// Checks every step against the state before it, by its definition.
fn every_step_is_true(recording: &Recording) -> Result<(), TestCaseError> {
    let shape = recording.shape();
    let (capacity, all) = (shape.capacity(), (1u64 << shape.width) - 1);
    let mut state = State::new(shape);
    let mut distances = Vec::new();
    for at in 0..recording.len() {
        let before = state.clone();
        let step = recording.step(at);
        state.apply(&recording.steps()[at]);
        let closer = |lanes: u64| -> u32 {
            let closer =
                |&lane: &u32| lanes >> lane & 1 == 1 && distances[lane as usize] < before.max_distance;
            (0..shape.width).filter(closer).map(|lane| 1 << lane).sum()
        };
        match &*step {
            Step::Group { base, distances: told } => {
                prop_assert!(base % shape.width == 0 && told.len() == shape.width as usize);
                prop_assert_eq!(&recording.distances(*base), told);
                distances = told.clone();
            }
            Step::Ballot { mask } => prop_assert_eq!(*mask, closer(all)),
            Step::FilteredAgain { rest, mask } => {
                prop_assert_eq!(*rest, before.waiting);
                prop_assert_eq!(*mask, closer((*rest).into()));
            }
            Step::Positions { slots } => {
                let voting: Vec<u32> =
                    (0..shape.width).filter(|lane| before.ballot >> lane & 1 == 1).collect();
                prop_assert_eq!(slots.iter().map(|slot| slot.lane).collect::<Vec<_>>(), voting);
                prop_assert!(
                    slots.iter().zip(before.buffered..).all(|(slot, expected)| slot.slot == expected)
                );
            }
            Step::Appended { placed } => {
                let base = before.group.unwrap();
                for (candidate, slot) in placed.iter().zip(before.buffered..capacity) {
                    prop_assert_eq!(candidate.slot, slot);
                    prop_assert_eq!(
                        candidate.key,
                        key_of(distances[candidate.lane as usize], base + candidate.lane)
                    );
                }
                prop_assert_eq!(
                    placed.len() as u32,
                    before.waiting.count_ones().min(capacity - before.buffered)
                );
            }
            Step::BufferFull => prop_assert_eq!(before.buffered, capacity),
            Step::Padded { first } => {
                prop_assert!(*first == before.buffered && *first < capacity && *first > 0)
            }
            Step::Swap => {
                let mut held = state.buffer.clone();
                held.sort_unstable();
                prop_assert_eq!(&held, &before.registers, "the intermediate result is in the buffer");
            }
            Step::Layer { layer, shuffle, swapped, .. } => {
                prop_assert_eq!(*shuffle, layer.lane_stride(shape.registers));
                for pair in layer.comparators(capacity) {
                    let (a, b) = (before.registers[pair.low as usize], before.registers[pair.high as usize]);
                    let sorted = if pair.ascending { (a.min(b), a.max(b)) } else { (a.max(b), a.min(b)) };
                    prop_assert_eq!(
                        (state.registers[pair.low as usize], state.registers[pair.high as usize]),
                        sorted
                    );
                    prop_assert_eq!(swapped.contains(pair.low), (a, b) != sorted);
                }
            }
            Step::Minimum { taken } => {
                prop_assert!(before.registers.is_sorted(), "the buffer is sorted");
                let mut both: Vec<u64> = before.registers.iter().chain(&before.buffer).copied().collect();
                both.sort_unstable();
                let mut kept = state.registers.clone();
                kept.sort_unstable();
                prop_assert_eq!(&kept, &both[..capacity as usize]);
                let is_smaller =
                    |element: u32| state.registers[element as usize] < before.registers[element as usize];
                prop_assert!(taken.iter().all(is_smaller));
            }
            Step::MaxDistance { before: bound, max_distance, .. } => {
                prop_assert!(state.is_sorted());
                prop_assert_eq!(*max_distance, distance_of(state.registers[shape.k as usize - 1]));
                prop_assert!(*bound == before.max_distance && max_distance <= bound);
            }
            Step::Batch { first, end } => prop_assert!(
                first < end && *end <= shape.n && before.batch.is_none_or(|(_, end)| end == *first)
            ),
            Step::Finished => prop_assert_eq!(at + 1, recording.len()),
            step => panic!("{step:?} is a tree's"),
        }
    }
    prop_assert_eq!(state.stage, state::Stage::Finished);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn replay_reproduces_the_search(
        width in prop::sample::select(vec![4u32, 8, 16, 32]),
        registers in prop::sample::select(vec![1usize, 2, 4, 8, 16, 32]),
        less in 0usize..4,
        n in 1usize..700,
        d in 1usize..6,
        seed in 0u64..1000,
        kind in prop::sample::select(vec!["uniform", "duplicates", "descending"]),
        batch in prop::option::of(1usize..9),
    ) {
        let k = (width as usize * registers - less).max(1);
        let spec = match kind {
            "duplicates" => format!("duplicates:n={n},d={d},distinct=5"),
            kind => format!("{kind}:n={n},d={d}"),
        };
        let recording = agrees(&problem(&spec, seed, n, k), width, batch)?;
        every_step_is_true(&recording)?;
    }
}

#[test]
fn large_k_is_replayed_correctly() {
    let recording = agrees(&problem("uniform:n=5000,d=2", 2, 7, 1000), 32, None).unwrap();
    assert_eq!(recording.shape().capacity(), 1024);
    every_step_is_true(&recording).unwrap();
    agrees(&problem("descending:n=5000,d=3", 2, 4999, 1024), 32, None).unwrap();
}

/// The network that is drawn is the one that was recorded; the 0-1 principle says that it sorts everything.
#[test]
fn recorded_network_sorts_every_zero_one_sequence() {
    for (width, registers) in [(4u32, 1usize), (4, 2), (4, 4), (8, 1), (8, 2), (16, 1)] {
        let recording = recorded("uniform:n=64,d=2", 0, width as usize * registers, width);
        let layers = |wanted: SortPass| -> Vec<Layer> {
            let steps = recording.steps()[recording.range_of_merge(0).unwrap()].iter();
            steps
                .filter_map(|step| {
                    if let Step::Layer { pass, layer, .. } = step {
                        (*pass == wanted).then_some(*layer)
                    } else {
                        None
                    }
                })
                .collect()
        };
        let keys = width * registers as u32;
        assert_eq!(layers(SortPass::Sort), network::sort(keys).collect::<Vec<_>>());
        assert_eq!(layers(SortPass::Resort), network::merge(keys).collect::<Vec<_>>());
        for bits in 0..1u32 << keys {
            let mut now = bits;
            for pair in layers(SortPass::Sort).into_iter().flat_map(|layer| layer.comparators(keys)) {
                let (low, high) = (now >> pair.low & 1, now >> pair.high & 1);
                if low != high && (low > high) == pair.ascending {
                    now ^= 1 << pair.low | 1 << pair.high;
                }
            }
            let ones = bits.count_ones();
            assert_eq!(u64::from(now), ((1u64 << ones) - 1) << (keys - ones), "{bits:#b} of {keys}");
        }
    }
}

#[test]
fn unsupported_warp_sizes_are_rejected() {
    let refused =
        |k, width| record(problem("uniform:n=300,d=2", 0, 0, k), 0, width, None, "").unwrap_err().to_string();
    assert_eq!(refused(8, 12), "width = 12: must be 4, 8, 16 or 32 lanes");
    assert_eq!(refused(129, 4), "k = 129: a warp of 4 lanes holds up to 128 neighbours, 32 per lane");
}

#[test]
fn rearranged_problems_map_to_the_same_rows() {
    let problem = problem("uniform:n=50,d=3", 3, 20, 5);
    let backwards: Vec<u32> = (0..50).rev().collect();
    let other = problem.rearranged(&backwards);
    assert!((0..50).all(|position| other.row(position) == 49 - position));
    assert_eq!(other.points()[..3], problem.points()[147..]);
    assert_eq!((other.query(0), other.k(), other.n()), (problem.query(0), 5, 50));
}

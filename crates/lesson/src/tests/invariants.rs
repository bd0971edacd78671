//! The sound twin breaks no invariant, and each invariant detects its violation.

use proptest::prelude::*;

use super::*;
use crate::invariants::{Badge, badge, first_violation};

/// The same points by distance to the query: nearest or farthest first.
fn sorted(problem: &Arc<Problem>, nearest_first: bool) -> Arc<Problem> {
    let distances = crate::engines::lockstep::distances_to(problem, 0, 0..problem.n());
    let mut positions: Vec<u32> = (0..problem.n() as u32).collect();
    positions.sort_by(|&a, &b| distances[a as usize].total_cmp(&distances[b as usize]));
    if !nearest_first {
        positions.reverse();
    }
    Arc::new(problem.rearranged(&positions))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn correct_searches_satisfy_all_invariants(
        width in prop::sample::select(vec![4u32, 8, 16, 32]),
        registers in prop::sample::select(vec![1usize, 2, 4, 8, 16, 32]),
        less in 0usize..4,
        more in 1usize..5,
        rest in 0usize..9,
        seed in 0u64..1000,
        kind in prop::sample::select(vec![
            "uniform:d=2",
            "uniform:d=5",
            "duplicates:d=2,distinct=5",
            "duplicates:d=1,distinct=1",
        ]),
        order in prop::option::of(any::<bool>()),
        batch in prop::option::of(1usize..9),
    ) {
        let k = (width as usize * registers - less).max(1);
        // Up to four buffers of points, so that wide ones take no longer than narrow ones.
        let n = (width as usize * registers * more / 2 + rest).max(1);
        let drawn = problem(&format!("{kind},n={n}"), seed, n / 2, k);
        let problem = order.map_or_else(|| drawn.clone(), |nearest_first| sorted(&drawn, nearest_first));
        let recording = record(problem, 0, width, batch, kind).unwrap();
        prop_assert_eq!(first_violation(&recording), None);
    }
}

/// Every stage and every layer has a badge, and none of them is red.
#[test]
fn every_stage_has_a_badge() {
    for (spec, k, width) in [
        ("uniform:n=200,d=2", 32, 8),
        ("duplicates:n=150,d=2,distinct=4", 6, 4),
        ("uniform:n=90,d=2", 32, 32),
    ] {
        let recording = Arc::new(recorded(spec, 20, k, width));
        assert_eq!(first_violation(&recording), None);
        let mut cursor = Cursor::new(recording.clone());
        assert_eq!(badge(&recording, 0, cursor.state()), None);
        for position in 1..=recording.len() {
            cursor.seek(position);
            let badge = badge(&recording, position, cursor.state());
            let expected =
                !matches!(recording.steps()[position - 1], Step::Batch { .. } | Step::Group { .. });
            assert_eq!(badge.is_some(), expected, "step {position}: {:?}", recording.steps()[position - 1]);
            assert!(badge.is_none_or(|Badge { holds, text }| holds && text.ends_with('.')));
        }
    }
}

#[test]
fn badges_show_the_checked_values() {
    let recording = Arc::new(recorded("uniform:n=64,d=2", 9, 16, 8));
    let mut cursor = Cursor::new(recording.clone());
    let mut said = |wanted: &dyn Fn(&Step) -> bool| {
        let at = recording.steps().iter().position(wanted).unwrap();
        cursor.seek(at + 1);
        badge(&recording, at + 1, cursor.state()).unwrap().text
    };
    let layer = |size: u32, stride: u32| {
        move |step: &Step| {
            matches!(
                step,
                Step::Layer { layer, .. } if (layer.size, layer.stride) == (size, stride)
            )
        }
    };
    assert_eq!(
        said(&layer(4, 1)),
        "Runs of 4 alternate in direction, up and down, so every 8 keys are bitonic."
    );
    assert_eq!(
        said(&layer(16, 8)),
        "First half \u{2264} second half, both bitonic: each half can be sorted alone."
    );
    assert_eq!(
        said(&layer(16, 4)),
        "In every 8 keys first half \u{2264} second half, both bitonic: each half can be sorted alone."
    );
    assert_eq!(
        said(&|step| matches!(step, Step::Appended { .. })),
        "Every slot below 8 holds a candidate, no two the same."
    );
    assert_eq!(
        said(&|step| matches!(step, Step::MaxDistance { .. })),
        "max_distance is the squared distance of the 16th nearest of the 16 points seen: a point that is no \
         closer cannot be a neighbour."
    );
    assert_eq!(
        said(&|step| *step == Step::Finished),
        "The first 16 keys are the nearest of all 64 points, nearest first: nothing was lost."
    );
}

/// Other searches have other invariants.
#[test]
fn only_kernel_searches_have_badges() {
    let recording = Arc::new(record_queues(problem("uniform:n=100,d=2", 1, 3, 8), 0, 8, "").unwrap());
    let mut cursor = Cursor::new(recording.clone());
    for position in 0..=recording.len() {
        cursor.seek(position);
        assert_eq!(badge(&recording, position, cursor.state()), None);
    }
    assert_eq!(first_violation(&recording), None);
}

/// Corrupts the first suitable step of a sound recording; returns the invariant that detects it, and how many
/// steps later.
fn spoilt((spec, row): (&str, usize), spoil: impl Fn(&mut Step) -> bool) -> (&'static str, usize) {
    let sound = recorded(spec, row, 13, 8);
    let mut steps: Vec<Step> = (0..sound.len()).map(|at| sound.step(at).into_owned()).collect();
    let at = steps.iter_mut().position(spoil).expect("there is such a step");
    let recording = Recording::new(sound.parameters.clone(), sound.problem().clone(), 0, steps);
    let broken = first_violation(&recording).expect("somebody notices");
    assert!(
        broken.sentence.ends_with('.') && !broken.targets.is_empty() && broken.expected != broken.sentence,
        "{broken:?}"
    );
    (broken.invariant, broken.position - at - 1)
}

/// Removes all swaps of a layer.
fn without_swaps(wanted: SortPass, size: u32, stride: u32) -> impl Fn(&mut Step) -> bool {
    move |step| match step {
        Step::Layer { pass, layer, swapped, .. }
            if (*pass, layer.size, layer.stride) == (wanted, size, stride) && swapped.count() > 0 =>
        {
            *swapped = ElementSet::default();
            true
        }
        _ => false,
    }
}

#[test]
fn every_invariant_detects_its_violation() {
    type Spoil = Box<dyn Fn(&mut Step) -> bool>;
    let uniform = ("uniform:n=300,d=2", 9);
    // 300 points that are all candidates leave 12 for the last merge.
    let descending = ("descending:n=300,d=2", 299);
    let cases: [(&str, (&str, usize), usize, Spoil); 9] = [
        (
            "votes",
            uniform,
            0,
            Box::new(|step| if let Step::Ballot { mask } = step { std::mem::take(mask) != 0 } else { false }),
        ),
        (
            "slots",
            uniform,
            0,
            Box::new(|step| {
                if let Step::Positions { slots } = step {
                    slots[1].slot = 0;
                    true
                } else {
                    false
                }
            }),
        ),
        (
            "buffered",
            uniform,
            0,
            Box::new(|step| {
                if let Step::Appended { placed } = step {
                    placed[1].key = placed[0].key;
                    true
                } else {
                    false
                }
            }),
        ),
        // The second eight fill the buffer, but for one.
        (
            "full",
            uniform,
            1,
            Box::new(|step| {
                if let Step::Appended { placed } = step {
                    placed[0].slot > 0 && placed.pop().is_some()
                } else {
                    false
                }
            }),
        ),
        (
            "padded",
            descending,
            0,
            Box::new(|step| {
                if let Step::Padded { first } = step {
                    *first -= 1;
                    true
                } else {
                    false
                }
            }),
        ),
        ("runs", uniform, 0, Box::new(without_swaps(SortPass::Sort, 4, 1))),
        ("halves", uniform, 0, Box::new(without_swaps(SortPass::Resort, 16, 4))),
        ("ascending", uniform, 0, Box::new(without_swaps(SortPass::Resort, 16, 1))),
        (
            "bound",
            uniform,
            0,
            Box::new(|step| {
                if let Step::MaxDistance { max_distance, .. } = step {
                    *max_distance *= 2.0;
                    true
                } else {
                    false
                }
            }),
        ),
    ];
    for (invariant, data, later, spoil) in cases {
        assert_eq!(spoilt(data, spoil), (invariant, later));
    }
    // Keys that the minimum should have taken are lost; the rest may not even be bitonic.
    let (invariant, later) = spoilt(uniform, |step| match step {
        Step::Minimum { taken } => std::mem::take(taken).count() > 0,
        _ => false,
    });
    assert!(["bitonic", "smallest"].contains(&invariant) && later == 0, "{invariant}");
}

/// Keys lost between steps are detected at the next swap, after the merge, and at the end.
#[test]
fn lost_keys_are_detected() {
    let sound = recorded("uniform:n=300,d=2", 9, 13, 8);
    let without = |drop: &dyn Fn(&Step) -> bool| {
        let steps = sound.steps().iter().filter(|step| !drop(step)).cloned().collect();
        first_violation(&Recording::new(sound.parameters.clone(), sound.problem().clone(), 0, steps))
            .map(|broken| broken.invariant)
    };
    assert_eq!(without(&|_| false), None);
    // Without any merge, the registers are empty at the end.
    let merge = |step: &Step| !matches!(step, Step::Batch { .. } | Step::Finished);
    assert_eq!(without(&merge), Some("answer"), "nothing was searched");
    // Without a sort, the minimum compares unsorted keys.
    assert_eq!(without(&|step| matches!(step, Step::Layer { pass: SortPass::Sort, .. })), Some("bitonic"));
    // Without a swap, the buffer's keys never reach the registers.
    assert!(without(&|step| matches!(step, Step::Swap)).is_some());
}

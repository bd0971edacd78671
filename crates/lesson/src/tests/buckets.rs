//! A recorded radix select equals its twin, finds the neighbours, and every step is correct.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::*;
use crate::algorithms::radix_select::state::{Buckets, max_passes};
use crate::algorithms::radix_select::{RadixSelectStep, SELECTION};
use crate::algorithms::{Baseline, SpecificStep};
use crate::describe::describe;
use crate::engines::lockstep::{self, Key, PADDING, key_of};
use crate::engines::select::radix_select::radix_select;
use crate::jsonl;
use crate::knn::Parameters;

/// Digits of 2 to 5 bits; equal distances at the k-th, all equal, fewer points than neighbours.
const CASES: [(&str, usize, usize, u32); 9] = [
    ("uniform:n=1024,d=2", 512, 16, 16),
    ("uniform:n=700,d=3", 17, 40, 8),
    ("uniform:n=500,d=1", 7, 1, 4),
    ("uniform:n=5,d=2", 3, 16, 8),
    ("uniform:n=1,d=2", 0, 1, 32),
    ("duplicates:n=300,d=2,distinct=4", 5, 20, 8),
    ("duplicates:n=200,d=2,distinct=1", 199, 40, 32),
    ("duplicates:n=200,d=2,distinct=2", 199, 150, 8),
    ("uniform:n=3000,d=8", 9, 300, 32),
];

fn recorded_digits((spec, row, k, width): (&str, usize, usize, u32)) -> Recording {
    record_digits(problem(spec, 1, row, k), 0, width, spec).unwrap()
}

fn distances(recording: &Recording) -> Vec<f32> {
    lockstep::distances_to(recording.problem(), 0, 0..recording.shape().n as usize)
}

/// A digit, taken directly from the bits.
fn digit(distance: f32, buckets: &Buckets, pass: usize) -> u32 {
    let end = (31 - pass as u32 * buckets.bits).saturating_sub(buckets.bits);
    distance.to_bits() >> end & ((1 << buckets.digit_bits(pass)) - 1)
}

#[test]
fn digits_start_after_the_sign_bit() {
    let shape = Shape { width: 16, registers: 1, k: 1, n: 9 };
    for (bits, most, last) in [(2, 16, 1), (3, 11, 1), (4, 8, 3), (5, 7, 1)] {
        let buckets = Buckets::new(shape, bits);
        assert_eq!(
            (max_passes(bits), buckets.digit_bits(most as usize - 1), buckets.digit_bits(most as usize)),
            (most, last, 0)
        );
        assert_eq!(buckets.range(0), (0, (1 << 31) - 1));
    }
    let mut buckets = Buckets::new(shape, 4);
    for found in [7, 12] {
        buckets.apply(&RadixSelectStep::Bucket { digit: found, below: 0, inside: 1 });
    }
    assert_eq!(buckets.range(2), (0x7c << 23, (0x7d << 23) - 1), "bits 30 to 27, and 26 to 23");
    assert_eq!(
        [0.1, 0.125, 0.2, 0.25].map(|distance: f32| buckets.compare_to_prefix(distance)),
        [Ordering::Less, Ordering::Equal, Ordering::Equal, Ordering::Greater]
    );
}

#[test]
fn selection_ends_with_the_neighbours() {
    for case in CASES {
        let recording = recorded_digits(case);
        let end = fresh(&recording, recording.len());
        let mut nearest: Vec<Key> = distances(&recording)
            .into_iter()
            .zip(0..)
            .map(|(distance, point)| key_of(distance, point))
            .collect();
        nearest.sort_unstable();
        nearest.resize(nearest.len().max(case.2), PADDING);
        assert_eq!(end.registers[..case.2], nearest[..case.2], "{case:?}");
        let Baseline::RadixSelect(chosen) = recording.baseline() else { panic!("{case:?}") };
        let buckets = end.buckets().unwrap();
        assert_eq!((chosen.reads, chosen.passes as usize), (buckets.reads, buckets.passes.len()), "{case:?}");
        assert_eq!(end.counts.merges as usize, recording.merges());
        // The engine, whose digits have 8 bits, finds the same.
        let parameters = Parameters::from_iter([("stages", "2".to_owned())]);
        let selector = radix_select(&recording.problem().shape(), &parameters);
        let mut found = Vec::new();
        selector.select(&distances(&recording), &mut found);
        assert_eq!(found, end.registers[..case.2], "{case:?}");
    }
}

#[test]
fn every_step_is_correct() {
    for case in CASES {
        let recording = recorded_digits(case);
        let (shape, all) = (recording.shape(), distances(&recording));
        let mut state = State::new(shape);
        let mut sorted = all.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let kth = sorted[shape.k.min(shape.n) as usize - 1];
        for step in recording.steps() {
            let before = state.clone();
            state.apply(step);
            match step {
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Counted { counts })) => {
                    let buckets = before.buckets().unwrap();
                    let (low, high) = buckets.range(buckets.passes.len());
                    let left: Vec<f32> = all
                        .iter()
                        .copied()
                        .filter(|distance| (low..=high).contains(&distance.to_bits()))
                        .collect();
                    assert_eq!(left.len() as u32, buckets.left, "{case:?}");
                    for (bucket, &count) in counts.iter().enumerate() {
                        let there = left.iter().filter(|&&distance| {
                            digit(distance, buckets, buckets.passes.len()) == bucket as u32
                        });
                        assert_eq!(there.count() as u32, count, "{case:?}");
                    }
                }
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Summed { sums })) => {
                    let counts = &before.buckets().unwrap().counts;
                    assert!(
                        (0..sums.len()).all(|at| sums[at] == counts[..=at].iter().sum::<u32>()),
                        "{case:?}"
                    );
                }
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Bucket { digit: found, .. })) => {
                    let (buckets, pass) = (state.buckets().unwrap(), before.buckets().unwrap().passes.len());
                    assert_eq!(*found, digit(kth, buckets, pass), "{case:?}");
                    assert_eq!(buckets.compare_to_prefix(kth), Ordering::Equal);
                    assert_eq!(
                        buckets.below as usize,
                        all.iter().filter(|&&distance| buckets.compare_to_prefix(distance).is_lt()).count(),
                        "{case:?}"
                    );
                    assert_eq!(
                        buckets.left as usize,
                        all.iter().filter(|&&distance| buckets.compare_to_prefix(distance).is_eq()).count(),
                        "{case:?}"
                    );
                    assert_eq!(buckets.below + buckets.rank, shape.k.min(shape.n));
                }
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Gathered { keys })) => {
                    assert!(
                        keys.len() as u32 == shape.k.min(shape.n)
                            && keys.is_sorted_by_key(|&key| lockstep::index_of(key))
                    )
                }
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Sorted)) => {
                    assert!(state.is_sorted() && state.max_distance == lockstep::distance_of(state.last()))
                }
                _ => {}
            }
        }
    }
}

#[test]
fn seeking_matches_a_fresh_replay() {
    let recording = Arc::new(recorded_digits(CASES[0]));
    let mut cursor = Cursor::new(recording.clone());
    for position in (0..=recording.len()).chain((0..=recording.len()).rev()) {
        cursor.seek(position);
        assert_eq!(*cursor.state(), fresh(&recording, position));
    }
    let passes: Vec<usize> =
        (0..recording.merges()).map(|pass| recording.position_of_merge(pass).unwrap()).collect();
    assert!(
        passes.len() > 1
            && passes.iter().all(|&at| matches!(
                recording.steps()[at - 1],
                Step::Own(SpecificStep::RadixSelect(RadixSelectStep::Bucket { .. }))
            ))
    );
    assert_eq!(cursor.next_mark(Mark::Merge), Some(passes[0]));
    assert_eq!(recording.round_names(), ["pass", "passes"]);
}

#[test]
fn every_step_has_a_description_and_source_line() {
    let mut lines = BTreeSet::new();
    for case in CASES {
        let recording = recorded_digits(case);
        let mut state = State::new(recording.shape());
        for step in recording.steps() {
            state.apply(step);
            let sentence = describe(step, &state);
            assert!(
                sentence.ends_with('.')
                    && sentence.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit()),
                "{sentence}"
            );
            assert!(
                !sentence.contains("NaN") && !sentence.contains("  ") && sentence.len() < 280,
                "{case:?}: {sentence}"
            );
            lines.insert(SELECTION.line_of(step).unwrap());
        }
    }
    assert_eq!(lines, [0, 3, 4, 5, 8, 11, 12, 13].into());
    assert!(
        (0..SELECTION.lines.len())
            .filter(|&line| SELECTION.lines[line].source.is_some())
            .all(|line| lines.contains(&line))
    );
    assert_eq!(SELECTION.lines[SELECTION.second_part - 1].text, "");
}

#[test]
fn steps_round_trip_through_files() {
    for case in CASES {
        let recording = recorded_digits(case);
        let mut file = Vec::new();
        jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
        let (parameters, steps) = jsonl::read(&file[..]).unwrap();
        assert_eq!(parameters, recording.parameters);
        assert!(steps.iter().map(|(_, step)| step).eq(recording.steps()), "{case:?}");
    }
}

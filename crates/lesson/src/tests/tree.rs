//! A recorded tree search equals the search, and every step is correct.

use std::collections::BTreeSet;

use super::*;
use crate::algorithms::SpecificStep;
use crate::algorithms::tree::state::lanes_where;
use crate::algorithms::tree::{TRAVERSAL, TreeStep};
use crate::describe::describe;
use crate::engines::lockstep::{self, Key, PADDING, index_of, key_of};
use crate::jsonl;

/// Points in the plane and elsewhere, few and many, equal and on a line.
const CASES: [(&str, usize, usize); 8] = [
    ("uniform:n=2048,d=2", 1024, 32),
    ("uniform:n=5000,d=3", 17, 100),
    ("uniform:n=1500,d=1", 700, 8),
    ("uniform:n=20,d=2", 3, 32),
    ("duplicates:n=900,d=2,distinct=4", 5, 16),
    ("duplicates:n=400,d=2,distinct=1", 399, 40),
    ("gaussian-mixture:n=40000,d=2,clusters=5", 9, 5),
    ("uniform:n=33,d=8", 32, 1),
];

fn recorded_tree(spec: &str, row: usize, k: usize) -> Recording {
    record_tree(problem(spec, 1, row, k), 0, 32, spec).unwrap()
}

/// The keys of all points, by position.
fn all_keys(problem: &Problem) -> Vec<Key> {
    lockstep::distances_to(problem, 0, 0..problem.n())
        .into_iter()
        .zip(0..)
        .map(|(distance, point)| key_of(distance, point))
        .collect()
}

#[test]
fn search_ends_with_the_neighbours_and_visit_counts() {
    for (spec, row, k) in CASES {
        let recording = recorded_tree(spec, row, k);
        let (end, problem) = (fresh(&recording, recording.len()), recording.problem());
        let mut nearest = all_keys(problem);
        nearest.sort_unstable();
        nearest.resize(nearest.len().max(k), PADDING);
        assert_eq!(end.registers[..k], nearest[..k], "{spec}");
        let (index, counts, descent) = (recording.index().unwrap(), end.counts, end.descent().unwrap());
        let visits = index.visits;
        assert_eq!(
            [
                counts.points_seen,
                counts.groups,
                descent.nodes,
                descent.pruned.len() as u32,
                counts.candidates,
                counts.merges
            ],
            [
                visits.distance_evals,
                visits.leaves,
                visits.nodes,
                visits.pruned,
                visits.candidates,
                visits.merges
            ],
            "{spec}"
        );
        assert!(index.curve_order.distance_evals >= 1 && index.brute.merges >= 1);
    }
}

#[test]
fn every_step_is_correct() {
    for (spec, row, k) in CASES {
        let recording = recorded_tree(spec, row, k);
        let (keys, tree) = (all_keys(recording.problem()), &recording.index().unwrap().tree);
        let mut state = State::new(recording.shape());
        for step in recording.steps() {
            let before = state.clone();
            state.apply(step);
            let node = || before.descent().unwrap().path.last().unwrap().clone();
            match step {
                Step::Own(SpecificStep::Tree(TreeStep::Leaf { leaf, keys: told })) => {
                    let points = tree.leaf(*leaf as usize).1;
                    assert!(
                        told.iter()
                            .zip(points)
                            .all(|(&told, &point)| told
                                == keys.get(point as usize).copied().unwrap_or(PADDING)),
                        "{spec}"
                    );
                }
                Step::Ballot { mask } => {
                    let leaf = before.descent().unwrap().leaf.as_ref().unwrap();
                    assert_eq!(*mask, lanes_where(&leaf.keys, |key| key < before.last()), "{spec}");
                }
                Step::FilteredAgain { rest, mask } => {
                    let leaf = before.descent().unwrap().leaf.as_ref().unwrap();
                    assert_eq!(
                        (*rest, *mask),
                        (before.waiting, lanes_where(&leaf.keys, |key| key < before.last()) & rest),
                        "{spec}"
                    );
                }
                Step::Own(SpecificStep::Tree(TreeStep::Boxes { keys: boxes })) => {
                    // No point of a leaf is nearer than its box.
                    let (height, group) = (node().height, node().group as usize);
                    for (lane, &key) in
                        boxes.iter().enumerate().filter(|(_, key)| height == 0 && **key != PADDING)
                    {
                        let points =
                            tree.leaf(group * 32 + lane).1.iter().filter(|&&point| point != u32::MAX);
                        assert!(points.clone().all(|&point| keys[point as usize] >= key), "{spec}");
                    }
                }
                Step::Own(SpecificStep::Tree(TreeStep::Child { lane })) => {
                    let (nearest, key) = node().nearest().unwrap();
                    assert!(*lane == nearest && key < before.last(), "{spec}");
                }
                Step::Own(SpecificStep::Tree(TreeStep::Pruned { lanes })) => {
                    assert_eq!((*lanes, node().below(before.last())), (node().waiting, 0), "{spec}");
                }
                Step::Own(SpecificStep::Tree(TreeStep::Merged)) => {
                    assert!(state.is_sorted() && before.buffered > 0)
                }
                Step::MaxDistance { points_seen, before: then, max_distance } => {
                    assert_eq!((*points_seen, *then), (before.counts.points_seen, before.max_distance));
                    assert_eq!(*max_distance, lockstep::distance_of(before.last()), "{spec}");
                }
                Step::Padded { first } => assert_eq!(*first, before.buffered),
                Step::BufferFull => assert_eq!(before.buffered, before.shape.capacity()),
                _ => {}
            }
        }
        // Each leaf was visited once, or pruned with a box around it.
        let descent = state.descent().unwrap();
        let visited: BTreeSet<u32> = descent.visited.iter().copied().collect();
        assert_eq!(visited.len(), descent.visited.len());
        let under = |&(height, number): &(u32, u32)| {
            (0..32u32.pow(height)).map(move |leaf| number * 32u32.pow(height) + leaf)
        };
        let pruned: BTreeSet<u32> = descent
            .pruned
            .iter()
            .flat_map(under)
            .filter(|&leaf| (leaf as usize) < tree.boxes(0).count())
            .collect();
        // The query's own leaf may be under a box that was pruned later.
        assert!(visited.intersection(&pruned).all(|&leaf| leaf == descent.own), "{spec}");
        assert_eq!(visited.union(&pruned).count(), tree.boxes(0).count(), "{spec}");
        let nearest: BTreeSet<u32> = state.neighbours().map(|(point, _)| point).collect();
        let lost = pruned
            .difference(&visited)
            .flat_map(|&leaf| tree.leaf(leaf as usize).1)
            .find(|point| nearest.contains(point));
        assert_eq!(lost, None, "{spec}");
    }
}

#[test]
fn seeking_matches_a_fresh_replay() {
    let recording = Arc::new(recorded_tree("uniform:n=20000,d=8", 5, 64));
    assert!(recording.len() > 100, "{}", recording.len());
    let mut cursor = Cursor::new(recording.clone());
    for position in
        [0, recording.len(), 3, recording.len() / 2, recording.len() / 2 - 1, 17, recording.len() - 1]
    {
        cursor.seek(position);
        assert_eq!(*cursor.state(), fresh(&recording, position));
    }
}

#[test]
fn every_step_has_a_description_and_source_line() {
    let mut lines = BTreeSet::new();
    for (spec, row, k) in CASES {
        let recording = recorded_tree(spec, row, k);
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
                !sentence.contains("NaN")
                    && !sentence.contains("inf ")
                    && !sentence.contains("  ")
                    && sentence.len() < 260,
                "{spec}: {sentence}"
            );
            lines.insert(TRAVERSAL.line_of(step).unwrap());
        }
        let said = describe(&Step::Finished, &state);
        let (n, seen) = (
            crate::text::thousands(state.shape.n.into()),
            crate::text::thousands(state.counts.points_seen.into()),
        );
        assert!(
            said.starts_with(&format!("The search is done: {seen} of {n} points were evaluated")),
            "{said}"
        );
    }
    // Every line with a source in the traversal is lit by some step.
    let named: BTreeSet<usize> =
        (0..TRAVERSAL.lines.len()).filter(|&line| TRAVERSAL.lines[line].source.is_some()).collect();
    assert_eq!(lines, named);
    assert_eq!(TRAVERSAL.lines[TRAVERSAL.second_part - 1].text, "");
}

#[test]
fn tree_steps_round_trip_through_files() {
    for (spec, row, k) in CASES {
        let recording = recorded_tree(spec, row, k);
        let mut file = Vec::new();
        jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
        let (parameters, steps) = jsonl::read(&file[..]).unwrap();
        assert_eq!(parameters, recording.parameters);
        assert!(steps.iter().map(|(_, step)| step).eq(recording.steps()), "{spec}");
    }
}

#[test]
fn unsupported_tree_sizes_are_rejected() {
    let refused =
        |k, width| record_tree(problem("uniform:n=300,d=2", 0, 0, k), 0, width, "").unwrap_err().to_string();
    assert_eq!(
        refused(8, 16),
        "width = 16: must be 32, because a tree node has 32 children, one per lane (--width 32)"
    );
    assert_eq!(refused(1025, 32), "k = 1025: a warp of 32 lanes holds up to 1024 neighbours, 32 per lane");
}

#[test]
fn missing_neighbours_are_padded() {
    let recording = recorded_tree("uniform:n=20,d=2", 3, 32);
    let end = fresh(&recording, recording.len());
    assert_eq!(end.neighbours().count(), 20);
    assert!(end.registers[20..].iter().all(|&key| key == PADDING && index_of(key) == u32::MAX));
}

//! Recorded per-thread heaps equal their twin, and every step is correct.

use std::collections::BTreeSet;

use super::*;
use crate::algorithms::SpecificStep;
use crate::algorithms::heap::state::Heaps;
use crate::algorithms::heap::{HEAPS, HeapStep};
use crate::describe::describe;
use crate::engines::lockstep::{self, Key, distance_of, key_of};
use crate::engines::select::thread_heap;
use crate::jsonl;
use crate::knn::Parameters;
use crate::state::lanes_in;

/// Few and many points, heaps of all shapes, equal distances, the worst order and the best.
const CASES: [(&str, usize, usize, u32); 9] = [
    ("uniform:n=300,d=2", 150, 15, 8),
    ("uniform:n=200,d=3", 17, 8, 16),
    ("uniform:n=150,d=1", 7, 1, 4),
    ("uniform:n=5,d=2", 3, 16, 8),
    ("uniform:n=1,d=2", 0, 2, 32),
    ("duplicates:n=200,d=2,distinct=4", 5, 20, 8),
    ("duplicates:n=90,d=2,distinct=1", 89, 12, 32),
    ("descending:n=200,d=2", 199, 8, 8),
    ("uniform:n=300,d=2", 9, 100, 32),
];

fn recorded_heaps((spec, row, k, width): (&str, usize, usize, u32)) -> Recording {
    record_heaps(problem(spec, 1, row, k), 0, width, spec).unwrap()
}

/// The distances of all points to each lane's query.
fn rows_of(recording: &Recording) -> Vec<Vec<f32>> {
    let (problem, n, dims) = (recording.problem(), recording.shape().n as usize, recording.problem().dims());
    let Some(HeapStep::Heaps { others }) = &recording.steps()[0].heap() else {
        panic!("it begins with heaps")
    };
    let place = |&query: &u32| &problem.points()[query as usize * dims..][..dims];
    std::iter::once(problem.query(0))
        .chain(others.iter().map(place))
        .map(|place| lockstep::distances_from(problem, place, 0..n))
        .collect()
}

fn is_heap(keys: &[Key]) -> bool {
    (1..keys.len()).all(|entry| keys[(entry - 1) / 2] >= keys[entry])
}

#[test]
fn replay_matches_the_cpu_reference_in_every_lane() {
    for case in CASES {
        let recording = recorded_heaps(case);
        let end = fresh(&recording, recording.len());
        let heaps = end.heaps().unwrap();
        let twin = thread_heap::selector(&recording.problem().shape(), &Parameters::default());
        let (mut found, mut inserts, mut levels) = (Vec::new(), 0, 0);
        for (lane, row) in (0..).zip(rows_of(&recording)) {
            let counts = twin.select(&row, &mut found);
            assert_eq!(heaps.lane_keys(lane), found, "{case:?}, lane {lane}");
            (inserts, levels) = (inserts + counts[0], levels + counts[1]);
            if lane == 0 {
                assert_eq!(end.registers[..case.2], found);
                assert_eq!(distance_of(end.last()), end.max_distance);
            }
        }
        let inserting = recording
            .steps()
            .iter()
            .take_while(|step| !matches!(step.heap(), Some(HeapStep::Extracted { .. })));
        let sunk: usize = inserting
            .map(|step| if let Some(HeapStep::Sank { moved, .. }) = step.heap() { moved.len() } else { 0 })
            .sum();
        assert_eq!((end.counts.candidates, sunk as u32), (inserts, levels), "{case:?}");
        assert_eq!(end.counts.points_seen, recording.shape().n);
        assert_eq!((end.counts.merges as usize, end.counts.groups_hit), (recording.merges(), heaps.stops));
    }
}

/// The k smallest of some points, in a lane.
fn smallest(row: &[f32], points: usize, k: usize) -> Vec<Key> {
    let mut keys: Vec<Key> =
        row[..points].iter().zip(0..).map(|(&distance, point)| key_of(distance, point)).collect();
    keys.sort_unstable();
    keys.resize(keys.len().max(k), lockstep::PADDING);
    keys.truncate(k);
    keys
}

#[test]
fn every_step_is_correct() {
    for case in CASES {
        let recording = recorded_heaps(case);
        let (shape, rows) = (recording.shape(), rows_of(&recording));
        let mut state = State::new(shape);
        for (at, step) in recording.steps().iter().enumerate() {
            let before = state.clone();
            state.apply(step);
            let (was, is): (&Heaps, &Heaps) =
                (before.heaps().unwrap_or(state.heaps().unwrap()), state.heaps().unwrap());
            let what = format!("{case:?}, step {at}: {step:?}");
            match step {
                Step::Own(SpecificStep::Heap(HeapStep::OwnDistances { point, distances })) => {
                    assert!(
                        distances.iter().zip(&rows).all(|(&told, row)| told == row[*point as usize]),
                        "{what}"
                    );
                    assert_eq!(*point, before.counts.points_seen, "{what}");
                }
                Step::Own(SpecificStep::Heap(HeapStep::Branched { lanes })) => {
                    let below = |lane: &u32| was.distances[*lane as usize] < distance_of(was.root(*lane));
                    assert_eq!(
                        *lanes,
                        (0..shape.width).filter(below).map(|lane| 1 << lane).sum::<u32>(),
                        "{what}"
                    );
                    // A round follows if there are children; else the warp continues.
                    let next = &recording.steps()[at + 1];
                    match (lanes, shape.k) {
                        (0, _) => assert!(
                            matches!(
                                next,
                                Step::Own(SpecificStep::Heap(HeapStep::OwnDistances { .. }))
                                    | Step::Own(SpecificStep::Heap(HeapStep::Extracted { .. }))
                                    | Step::Finished
                            ),
                            "{what}"
                        ),
                        (_, 1) => {
                            assert_eq!(
                                *next,
                                Step::Own(SpecificStep::Heap(HeapStep::Rejoined { lanes: *lanes }))
                            )
                        }
                        (_, _) => assert!(
                            matches!(
                                next.heap(),
                                Some(HeapStep::Sank { lanes: there, .. }) if there == lanes
                            ),
                            "{what}"
                        ),
                    }
                }
                Step::Own(SpecificStep::Heap(HeapStep::Sank { lanes, moved })) => {
                    for lane in 0..shape.width {
                        let sunk = moved.iter().find(|slot| slot.lane == lane).map(|slot| slot.slot);
                        assert!(lanes >> lane & 1 == 1 || sunk.is_none(), "{what}");
                        if lanes >> lane & 1 == 0 {
                            assert_eq!(was.lane_keys(lane), is.lane_keys(lane));
                            continue;
                        }
                        let (hole, keys) = (was.holes[lane as usize] as usize, was.lane_keys(lane));
                        let children = 2 * hole + 1..(2 * hole + 3).min(was.end as usize);
                        let larger = children.clone().map(|child| keys[child]).max();
                        assert_eq!(sunk.is_some(), larger.unwrap() > keys[hole], "{what}, lane {lane}");
                        if let Some(sunk) = sunk {
                            assert!(
                                children.contains(&(sunk as usize))
                                    && is.lane_keys(lane)[hole] == larger.unwrap(),
                                "{what}"
                            );
                            assert_eq!(is.lane_keys(lane)[sunk as usize], keys[hole]);
                        }
                    }
                }
                Step::Own(SpecificStep::Heap(HeapStep::Rejoined { lanes })) => {
                    assert_eq!(Some(*lanes), was.inserting);
                    for lane in 0..shape.width {
                        let mut keys = is.lane_keys(lane).to_vec();
                        assert!(is_heap(&keys), "{what}, lane {lane}");
                        keys.sort_unstable();
                        assert_eq!(
                            keys,
                            smallest(&rows[lane as usize], state.counts.points_seen as usize, case.2),
                            "{what}, lane {lane}"
                        );
                    }
                }
                Step::Own(SpecificStep::Heap(HeapStep::Extracted { end })) => {
                    let largest = |lane: u32| {
                        was.lane_keys(lane)[..*end as usize].iter().max()
                            == Some(&is.lane_keys(lane)[*end as usize - 1])
                    };
                    assert!((0..shape.width).all(largest), "{what}");
                }
                _ => {}
            }
        }
        assert!(matches!(recording.steps().last(), Some(Step::Finished)));
    }
}

/// A point that some lane inserts is at level stage; lane 0's insertions are at level merge.
#[test]
fn levels_stop_at_insertions() {
    for case in [CASES[0], CASES[5]] {
        let recording = Arc::new(recorded_heaps(case));
        let stops = |level: Level| {
            let mut cursor = Cursor::new(recording.clone());
            let mut stops = 0;
            while cursor.position() < recording.len() {
                cursor.seek(cursor.next(level));
                stops += 1;
            }
            stops
        };
        let end = fresh(&recording, recording.len());
        let (stages, own) = (end.heaps().unwrap().stops, end.counts.merges);
        // The first and the last step are at level search.
        assert_eq!(
            [stops(Level::Search), stops(Level::Merge), stops(Level::Stage)],
            [2, own + 2, stages + 2],
            "{case:?}"
        );
        assert!(stops(Level::Layer) > stages + 2 && stops(Level::Lane) as usize == recording.len());
    }
}

#[test]
fn seeking_matches_a_fresh_replay() {
    for case in [CASES[0], CASES[8]] {
        let recording = Arc::new(recorded_heaps(case));
        let mut cursor = Cursor::new(recording.clone());
        for position in
            [0, recording.len(), 3, recording.len() / 2, recording.len() / 2 - 1, 17, recording.len() - 1]
        {
            cursor.seek(position);
            assert_eq!(*cursor.state(), fresh(&recording, position));
        }
        while cursor.position() > 0 {
            cursor.seek(cursor.previous(Level::Stage));
            assert_eq!(*cursor.state(), fresh(&recording, cursor.position()));
        }
    }
}

#[test]
fn every_step_has_a_description_and_source_line() {
    let mut lines = BTreeSet::new();
    for case in CASES {
        let recording = recorded_heaps(case);
        let mut state = State::new(recording.shape());
        for at in 0..recording.len() {
            state.apply(&recording.steps()[at]);
            let step = recording.step(at);
            let sentence = describe(&step, &state);
            assert!(
                sentence.ends_with('.')
                    && sentence.starts_with(|first: char| first.is_uppercase() || first.is_ascii_digit()),
                "{sentence}"
            );
            assert!(
                !sentence.contains("NaN")
                    && !sentence.contains("inf ")
                    && !sentence.contains("  ")
                    && sentence.len() < 280,
                "{case:?}: {sentence}"
            );
            if let Some(HeapStep::Branched { lanes }) = step.heap() {
                let waits = state.shape.width - lanes.count_ones();
                assert_eq!(
                    sentence.contains(&format!("other {waits} lanes")),
                    *lanes != 0 && waits > 1,
                    "{sentence}"
                );
            }
            lines.insert(HEAPS.line_of(&step).unwrap());
        }
    }
    let named: BTreeSet<usize> =
        (0..HEAPS.lines.len()).filter(|&line| HEAPS.lines[line].source.is_some()).collect();
    assert_eq!(lines, named);
    assert_eq!(HEAPS.lines[HEAPS.second_part - 1].text, "");
}

#[test]
fn steps_round_trip_through_files() {
    for case in CASES {
        let recording = recorded_heaps(case);
        let mut file = Vec::new();
        jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
        let (parameters, steps) = jsonl::read(&file[..]).unwrap();
        assert_eq!(parameters, recording.parameters);
        assert!(steps.iter().enumerate().all(|(at, (_, step))| *step == *recording.step(at)), "{case:?}");
    }
}

/// All lanes have different queries, unless there are fewer points than lanes.
#[test]
fn lanes_have_distinct_queries() {
    let recording = recorded_heaps(("uniform:n=256,d=2", 128, 15, 8));
    let Some(HeapStep::Heaps { others }) = &recording.steps()[0].heap() else {
        panic!("it begins with heaps")
    };
    assert_eq!(others, &[16, 48, 80, 112, 144, 176, 208], "and lane 0 has 128");
    assert_eq!(lanes_in(0b1010_0001).collect::<Vec<_>>(), [0, 5, 7]);
}

#[test]
fn unsupported_warp_sizes_are_rejected() {
    let refused =
        |k, width| record_heaps(problem("uniform:n=300,d=2", 0, 0, k), 0, width, "").unwrap_err().to_string();
    assert_eq!(refused(8, 5), "width = 5: must be 4, 8, 16 or 32 lanes");
    assert_eq!(refused(257, 8), "k = 257: a warp of 8 lanes holds up to 256 neighbours, 32 per lane");
}

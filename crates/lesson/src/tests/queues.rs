//! A recorded warp select equals its twin, and every step is correct.

use std::collections::BTreeSet;

use super::*;
use crate::algorithms::kernel::BufferCounts;
use crate::algorithms::warp_select::state::striped_position;
use crate::algorithms::warp_select::{QUEUES, WarpSelectStep};
use crate::algorithms::{Baseline, SpecificStep};
use crate::describe::describe;
use crate::engines::lockstep::{self, Key, Lanes, PADDING, distance_of, key_of};
use crate::engines::select::{Observer, warp_select};
use crate::jsonl;

/// Few and many points, k of all sizes of queues, equal distances, the worst order and the best.
const CASES: [(&str, usize, usize, u32); 9] = [
    ("uniform:n=600,d=2", 300, 16, 8),
    ("uniform:n=700,d=3", 17, 40, 16),
    ("uniform:n=500,d=1", 7, 1, 4),
    ("uniform:n=5,d=2", 3, 16, 8),
    ("uniform:n=1,d=2", 0, 1, 32),
    ("duplicates:n=300,d=2,distinct=4", 5, 20, 8),
    ("duplicates:n=200,d=2,distinct=1", 199, 40, 32),
    ("descending:n=400,d=2", 399, 8, 8),
    ("uniform:n=3000,d=2", 9, 300, 32),
];

fn recorded_queues((spec, row, k, width): (&str, usize, usize, u32)) -> Recording {
    record_queues(problem(spec, 1, row, k), 0, width, spec).unwrap()
}

/// The twin's registers after each of its stages: the lanes' queues, or the warp's.
#[derive(Default)]
struct Snapshots {
    lanes: Vec<Vec<Key>>,
    warps: Vec<Vec<Key>>,
}

impl<const W: usize> Observer<W> for Snapshots {
    fn inserted(&mut self, _first: usize, _distances: &[f32], lane_queue: &[Lanes<Key, W>]) {
        self.lanes.push(lane_queue.as_flattened().to_vec());
    }
    fn sorted(&mut self, lane_queue: &[Lanes<Key, W>]) {
        self.lanes.push(lane_queue.as_flattened().to_vec());
    }
    fn exchanged(&mut self, warp_queue: &[Lanes<Key, W>], lane_queue: &[Lanes<Key, W>]) {
        self.lanes.push(lane_queue.as_flattened().to_vec());
        self.warps.push(warp_queue.as_flattened().to_vec());
    }
    fn merged(&mut self, warp_queue: &[Lanes<Key, W>]) {
        self.warps.push(warp_queue.as_flattened().to_vec());
    }
    fn descended(&mut self, lane_queue: &[Lanes<Key, W>]) {
        self.lanes.push(lane_queue.as_flattened().to_vec());
    }
}

/// The twin's own registers after each stage, and its counts.
fn watched(recording: &Recording, length: u32) -> (Snapshots, [u32; 2]) {
    let (shape, queue) = (recording.shape(), length as usize);
    let row = lockstep::distances_to(recording.problem(), 0, 0..shape.n as usize);
    let (snapshots, counts) = match shape.width {
        4 => warp_select::observe::<4, _>(&row, shape.k as usize, queue, Snapshots::default()),
        8 => warp_select::observe::<8, _>(&row, shape.k as usize, queue, Snapshots::default()),
        16 => warp_select::observe::<16, _>(&row, shape.k as usize, queue, Snapshots::default()),
        _ => warp_select::observe::<32, _>(&row, shape.k as usize, queue, Snapshots::default()),
    };
    (snapshots, [counts[0], counts[1]])
}

#[test]
fn registers_match_the_cpu_reference_after_every_stage() {
    for case in CASES {
        let recording = recorded_queues(case);
        let Baseline::WarpSelect(queued) = recording.baseline() else { panic!("{case:?}") };
        let (snapshots, counts) = watched(&recording, queued.length);
        let (mut lanes, mut warps) = (snapshots.lanes.iter(), snapshots.warps.iter());
        let mut state = State::new(recording.shape());
        for step in recording.steps() {
            state.apply(step);
            let keys = state.queues().map(|queues| &queues.keys);
            if matches!(
                step,
                Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { .. }))
                    | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::QueuesSorted))
                    | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Exchanged { .. }))
                    | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::QueuesDescend))
            ) {
                assert_eq!(keys, lanes.next(), "{case:?}, {step:?}");
            }
            if matches!(
                step,
                Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Exchanged { .. }))
                    | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::WarpQueueSorted))
            ) {
                assert_eq!(Some(&state.registers), warps.next(), "{case:?}, {step:?}");
            }
        }
        assert!(lanes.next().is_none() && warps.next().is_none());
        assert_eq!([state.counts.merges, state.counts.candidates], counts, "{case:?}");
        assert_eq!(
            [queued.merges, queued.inserts, queued.keys_merged],
            [counts[0], counts[1], state.queues().unwrap().keys_merged],
            "{case:?}"
        );
    }
}

#[test]
fn search_ends_with_the_neighbours() {
    for case in CASES {
        let recording = recorded_queues(case);
        let end = fresh(&recording, recording.len());
        let all = lockstep::distances_to(recording.problem(), 0, 0..recording.shape().n as usize);
        let mut nearest: Vec<Key> =
            all.into_iter().zip(0..).map(|(distance, point)| key_of(distance, point)).collect();
        nearest.sort_unstable();
        nearest.resize(nearest.len().max(case.2), PADDING);
        assert_eq!(end.registers[..case.2], nearest[..case.2], "{case:?}");
        assert!(end.is_sorted());
    }
}

#[test]
fn every_step_is_correct() {
    for case in CASES {
        let recording = recorded_queues(case);
        let shape = recording.shape();
        let mut state = State::new(shape);
        for (at, step) in recording.steps().iter().enumerate() {
            let before = state.clone();
            state.apply(step);
            let queues = || before.queues().unwrap();
            match step {
                Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed })) => {
                    let distances = recording.distances(before.group.unwrap());
                    let took: BTreeSet<u32> = placed.iter().map(|taken| taken.lane).collect();
                    for lane in 0..shape.width {
                        let (mine, first) = (distances[lane as usize], distance_of(queues().first(lane)));
                        assert_eq!(took.contains(&lane), mine < first, "{case:?}, step {at}, lane {lane}");
                    }
                    assert!(
                        placed.iter().all(|taken| distance_of(taken.key) == distances[taken.lane as usize])
                    );
                }
                Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Checked { broken })) => {
                    for lane in 0..shape.width {
                        assert_eq!(
                            broken >> lane & 1 == 1,
                            queues().first(lane) < before.last(),
                            "{case:?}, step {at}"
                        );
                    }
                    // A merge follows exactly where the invariant is broken.
                    assert_eq!(
                        recording.steps()[at + 1]
                            == Step::Own(SpecificStep::WarpSelect(WarpSelectStep::QueuesSorted)),
                        *broken != 0
                    );
                }
                Step::MaxDistance { max_distance, before: then, .. } => {
                    assert_eq!(
                        (*then, *max_distance),
                        (before.max_distance, distance_of(before.last())),
                        "{case:?}"
                    );
                    // The invariants hold again.
                    let queues = state.queues().unwrap();
                    assert!(
                        state.is_sorted() && (0..shape.width).all(|lane| queues.first(lane) >= state.last()),
                        "{case:?}"
                    );
                    for lane in 0..shape.width {
                        let mine: Vec<Key> = (0u32..)
                            .zip(&queues.keys)
                            .filter(|&(i, _)| striped_position(shape.width, i).0 == lane)
                            .map(|(_, &key)| key)
                            .collect();
                        assert!(mine.is_sorted_by(|a, b| a >= b));
                    }
                }
                _ => {}
            }
        }
    }
}

#[test]
fn buffer_baseline_matches_the_kernel_search() {
    for case in CASES {
        let (spec, row, k, width) = case;
        let recording = recorded_queues(case);
        let Baseline::WarpSelect(queued) = recording.baseline() else { panic!("{case:?}") };
        let kernel = recorded(spec, row, k, width);
        let counts = fresh(&kernel, kernel.len()).counts;
        assert_eq!(
            (queued.buffer.candidates, queued.buffer.merges),
            (counts.candidates, counts.merges),
            "{case:?}"
        );
        assert_eq!(queued.buffer, BufferCounts::count(&kernel));
        assert!(
            queued.buffer.keys_merged >= recording.shape().n.min(k as u32)
                && queued.buffer.keys_merged <= counts.candidates,
            "{case:?}"
        );
    }
}

#[test]
fn seeking_matches_a_fresh_replay() {
    for case in [CASES[0], CASES[8]] {
        let recording = Arc::new(recorded_queues(case));
        let mut cursor = Cursor::new(recording.clone());
        for position in
            [0, recording.len(), 3, recording.len() / 2, recording.len() / 2 - 1, 17, recording.len() - 1]
        {
            cursor.seek(position);
            assert_eq!(*cursor.state(), fresh(&recording, position));
        }
        // Backwards at each level from the end: never forwards, never out of range.
        for level in Level::ALL {
            cursor.seek(recording.len());
            let mut stops = vec![cursor.position()];
            while cursor.position() > 0 {
                cursor.seek(cursor.previous(level));
                assert_eq!(*cursor.state(), fresh(&recording, cursor.position()));
                stops.push(cursor.position());
            }
            let mut forwards = vec![0];
            while cursor.position() < recording.len() {
                cursor.seek(cursor.next(level));
                forwards.push(cursor.position());
            }
            stops.reverse();
            assert_eq!(stops, forwards, "{level:?}");
        }
    }
}

#[test]
fn every_step_has_a_description_and_source_line() {
    let mut lines = BTreeSet::new();
    for case in CASES {
        let recording = recorded_queues(case);
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
            lines.insert(QUEUES.line_of(&step).unwrap());
        }
    }
    let named: BTreeSet<usize> =
        (0..QUEUES.lines.len()).filter(|&line| QUEUES.lines[line].source.is_some()).collect();
    assert_eq!(lines, named);
    assert_eq!(QUEUES.lines[QUEUES.second_part - 1].text, "");
}

#[test]
fn steps_round_trip_through_files() {
    for case in CASES {
        let recording = recorded_queues(case);
        let mut file = Vec::new();
        jsonl::write(&recording, 0..recording.len(), &mut file).unwrap();
        let (parameters, steps) = jsonl::read(&file[..]).unwrap();
        assert_eq!(parameters, recording.parameters);
        assert!(steps.iter().enumerate().all(|(at, (_, step))| *step == *recording.step(at)), "{case:?}");
    }
}

#[test]
fn unsupported_warp_sizes_are_rejected() {
    let refused = |k, width| {
        record_queues(problem("uniform:n=300,d=2", 0, 0, k), 0, width, "").unwrap_err().to_string()
    };
    assert_eq!(refused(8, 5), "width = 5: must be 4, 8, 16 or 32 lanes");
    assert_eq!(refused(257, 8), "k = 257: a warp of 8 lanes holds up to 256 neighbours, 32 per lane");
}

//! Counts equal executed instructions: by hand, by an observer of the twin, and lane by lane.

use std::path::Path;

use super::super::lessons::{Overrides, named};
use super::super::meter::{ROWS, Strategy};
use super::super::work::{IssueCounts, Kind, STEP_INSTRUCTIONS, Work, instructions};
use super::*;
use crate::algorithms::heap::HeapStep;
use crate::algorithms::heap::recorder::record_lanes;
use crate::engines::lockstep::{self, Key, Lanes, ObservedSearch, Observer};

fn all_of(recording: &Recording) -> Work {
    fresh(recording, recording.len()).work
}

/// Times issued and executions by lanes, of each kind.
fn counts(work: &Work) -> [(u64, u64); Kind::COUNT] {
    Kind::ALL.map(|kind| work.issued(kind)).map(|IssueCounts { times, lanes }| (times, lanes))
}

#[test]
fn work_of_a_four_key_merge_matches_a_hand_count() {
    // One group of four points fills the buffer of four slots: three layers sort it, two sort the minimum,
    // all with shuffles.
    let work = all_of(&recorded("uniform:n=4,d=1", 0, 4, 4));
    let by_hand = [
        (1, 4),
        // Comparisons: the ballot, five layers, and the minimum.
        (1 + 5 + 1, 28),
        // Shuffles: five layers, and the k-th.
        (6, 24),
        // Votes: two ballots, two population counts, and one to find the last lane with a slot.
        (5, 20),
        // Reads: the swap and the minimum.
        (2, 8),
        // Writes: the appended keys and the swap.
        (2, 8),
        // Barriers: at the batch, before the swap, and around the minimum.
        (4, 16),
    ];
    assert_eq!(counts(&work), by_hand);
    assert_eq!((work.slots(1), work.lane_slots(1)), (3 + 7 + 6 + 5 + 2 + 2 + 4, 4 * 29));
    assert_eq!(work.slots(2) - work.slots(1), 3, "a read, a subtraction and a multiply-add");
}

#[test]
fn work_of_a_three_key_heap_matches_a_hand_count() {
    // Each of four points is nearer than all before, and sinks by a level: two reads, two comparisons and a
    // write; then a write where it stays, and the root is read. Sorting takes two rounds of three accesses
    // and a write, and one key sinks.
    let work = all_of(&record_lanes(problem("descending:n=4,d=1", 1, 3, 3), 0, 1, ""));
    let none = (0, 0);
    let reads = 4 * 3 + 2 * 2 + 1;
    let writes = 4 * 2 + 2 * 2 + 1;
    assert_eq!(
        counts(&work),
        [(4, 4), (4 + 4 * 2 + 1, 13), none, none, (reads, reads), (writes, writes), (4, 4)]
    );
}

#[test]
fn waiting_and_empty_lanes_are_idle() {
    // Two groups of four lanes: the second has one point.
    let one = recorded("uniform:n=5,d=2", 0, 4, 4);
    assert_eq!(all_of(&one).issued(Kind::Distance), IssueCounts { times: 2, lanes: 5 });
    let heaps = record_heaps(problem("uniform:n=200,d=2", 1, 100, 7), 0, 8, "").unwrap();
    let mut state = State::new(heaps.shape());
    for step in heaps.steps() {
        let before = state.work;
        state.apply(step);
        if let Some(HeapStep::Sank { lanes, moved }) = step.heap() {
            let (compared, was) = (state.work.issued(Kind::Comparison), before.issued(Kind::Comparison));
            assert!(compared.lanes - was.lanes <= 2 * u64::from(lanes.count_ones()));
            let (written, was) = (state.work.issued(Kind::Write), before.issued(Kind::Write));
            assert_eq!(
                (written.times - was.times, written.lanes - was.lanes),
                (u64::from(!moved.is_empty()), moved.len() as u64)
            );
        }
    }
    let used = state.work.lane_slots(2) as f64 / (8 * state.work.slots(2)) as f64;
    assert!(used < 0.9 && used > 0.3, "{used}");
}

/// Counts the twin's operations while it executes them.
#[derive(Default)]
struct OperationCounter {
    work: [(u64, u64); Kind::COUNT],
    end: u32,
    placed: u64,
    registers: u64,
}

impl OperationCounter {
    fn add(&mut self, kind: Kind, times: u64, lanes: u64) {
        let sum = &mut self.work[kind as usize];
        *sum = (sum.0 + times, sum.1 + lanes);
    }
}

impl<const W: usize> Observer<W> for OperationCounter {
    fn batch(&mut self, _first: u32, end: u32) {
        self.end = end;
        self.add(Kind::Barrier, 1, W as u64);
    }
    fn group(&mut self, base: u32, distances: &Lanes<f32, W>, _candidates: u32) {
        if base < self.end {
            let there = distances.iter().filter(|distance| distance.is_finite()).count() as u64;
            self.add(Kind::Distance, 1, there);
            self.add(Kind::Comparison, 1, there);
            self.add(Kind::Vote, 1, W as u64);
        }
    }
    fn slot(&mut self, _lane: u32, _slot: u32, key: Option<Key>) {
        self.placed += u64::from(key.is_some());
    }
    fn appended(&mut self) {
        let placed = std::mem::take(&mut self.placed);
        self.add(Kind::Write, 1, placed);
        // The slots, their number, and the lanes without one.
        self.add(Kind::Vote, 3, 3 * W as u64);
    }
    fn filtered_again(&mut self, rest: u32, _candidates: u32) {
        self.add(Kind::Comparison, 1, rest.count_ones().into());
    }
    fn full(&mut self) {
        self.add(Kind::Vote, 1, W as u64);
    }
    fn padded(&mut self, first: u32) {
        for slots in (u64::from(first)..self.registers * W as u64).collect::<Vec<_>>().chunks(W) {
            self.add(Kind::Write, 1, slots.len() as u64);
        }
    }
    fn swapped(&mut self, registers: &[Lanes<Key, W>]) {
        let keys = registers.as_flattened().len() as u64;
        self.add(Kind::Read, registers.len() as u64, keys);
        self.add(Kind::Write, registers.len() as u64, keys);
        self.add(Kind::Barrier, 1, W as u64);
    }
    fn layer(&mut self, _size: usize, stride: usize, keys: &[Lanes<Key, W>]) {
        let (registers, all) = (keys.len(), keys.as_flattened().len() as u64);
        if stride >= registers {
            self.add(Kind::Shuffle, registers as u64, all);
            self.add(Kind::Comparison, registers as u64, all);
        } else {
            self.add(Kind::Comparison, registers as u64 / 2, all / 2);
        }
    }
    fn minimum(&mut self, keys: &[Lanes<Key, W>]) {
        let all = keys.as_flattened().len() as u64;
        self.add(Kind::Read, keys.len() as u64, all);
        self.add(Kind::Comparison, keys.len() as u64, all);
        self.add(Kind::Barrier, 2, 2 * W as u64);
    }
    fn merged(&mut self, _points_seen: u32, _max_distance: f32) {
        self.add(Kind::Shuffle, 1, W as u64);
    }
}

#[test]
fn work_summed_over_steps_matches_the_observer() {
    for (spec, row, k, width) in [
        ("uniform:n=700,d=2", 3, 20, 8),
        ("uniform:n=301,d=3", 5, 4, 4),
        ("descending:n=500,d=2", 499, 64, 16),
        ("duplicates:n=333,d=1,distinct=7", 2, 100, 32),
        ("uniform:n=3,d=2", 0, 5, 8),
    ] {
        let recording = recorded(spec, row, k, width);
        let problem = recording.problem();
        let counter =
            OperationCounter { registers: recording.shape().registers.into(), ..OperationCounter::default() };
        let counted = match width {
            4 => observe::<4>(problem, counter),
            8 => observe::<8>(problem, counter),
            16 => observe::<16>(problem, counter),
            _ => observe::<32>(problem, counter),
        };
        let work = all_of(&recording);
        assert_eq!(counts(&work), counted, "{spec}");
        // The account counts only the shuffles of layers.
        let end = fresh(&recording, recording.len()).counts;
        assert_eq!(work.issued(Kind::Shuffle).times, end.shuffles + u64::from(end.merges));
    }
}

fn observe<const W: usize>(problem: &Problem, counter: OperationCounter) -> [(u64, u64); Kind::COUNT] {
    let ObservedSearch { observer, .. } = lockstep::observe::<W, _>(problem, 0, None, counter);
    observer.work
}

/// Lanes together do the same work as each alone.
#[test]
fn warp_work_equals_the_sum_of_its_threads() {
    let spec = "uniform:n=120,d=2";
    let warp = record_heaps(problem(spec, 1, 60, 7), 0, 4, spec).unwrap();
    let Some(HeapStep::Heaps { others }) = &warp.steps()[0].heap() else { panic!("it begins with heaps") };
    let queries = std::iter::once(60).chain(others.iter().map(|&query| query as usize));
    let alone: Vec<Work> =
        queries.map(|row| all_of(&record_lanes(problem(spec, 1, row, 7), 0, 1, spec))).collect();
    let together = all_of(&warp);
    for kind in [Kind::Distance, Kind::Comparison, Kind::Read, Kind::Write] {
        assert_eq!(
            together.issued(kind).lanes,
            alone.iter().map(|work| work.issued(kind).lanes).sum::<u64>(),
            "{kind:?}"
        );
        // The warp needs as long as its slowest lane at each point, and so at least as long as each of them.
        assert!(alone.iter().all(|work| work.issued(kind).times <= together.issued(kind).times), "{kind:?}");
    }
}

#[test]
fn step_instructions_match_the_kernel_and_recorded_steps() {
    for (name, instructions) in STEP_INSTRUCTIONS {
        for instruction in instructions {
            let (file, search) = instruction.source;
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cuda").join(file);
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{error}: {}", path.display()));
            assert_eq!(text.matches(search).count(), 1, "{name}: `{search}` in {file}");
        }
    }
    let kernel = recorded("uniform:n=300,d=2", 3, 16, 8);
    let heaps = record_heaps(problem("uniform:n=60,d=2", 1, 3, 7), 0, 8, "").unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for step in kernel.steps().iter().chain(heaps.steps()) {
        let name = serde_json::to_value(step).unwrap()["step"].as_str().unwrap().to_owned();
        let row = STEP_INSTRUCTIONS.iter().find(|(named, _)| *named == name);
        let there = row.map_or(0, |(_, instructions)| instructions.len());
        assert_eq!(there, instructions(step).len(), "{name}");
        seen.extend((there > 0).then_some(name));
    }
    assert_eq!(seen.len(), STEP_INSTRUCTIONS.len(), "{seen:?}");
}

#[test]
fn meter_covers_all_methods_at_every_moment() {
    for (recording, own) in [
        (recorded("uniform:n=300,d=2", 3, 16, 8), Strategy::Warp),
        (record_heaps(problem("uniform:n=300,d=2", 1, 3, 16), 0, 8, "").unwrap(), Strategy::ThreadPerQuery),
    ] {
        let meter = recording.meter().unwrap();
        let mut state = State::new(recording.shape());
        let mut before = Strategy::ALL.map(|strategy| meter.so_far(strategy, &state));
        assert_eq!(before, [Work::default(); 3]);
        for step in recording.steps() {
            state.apply(step);
            let now = Strategy::ALL.map(|strategy| meter.so_far(strategy, &state));
            assert_eq!(now[own as usize], state.work);
            assert!(now.iter().zip(&before).all(|(now, before)| now.slots(2) >= before.slots(2)));
            before = now;
        }
        assert_eq!(before, Strategy::ALL.map(|strategy| meter.all(strategy)));
        // All strategies compute each distance once.
        let distances =
            Strategy::ALL.map(|strategy| meter.number(&ROWS[0], strategy, &meter.all(strategy)).unwrap());
        assert_eq!(distances, [300.0; 3]);
    }
    let same = |recording: &Recording| Strategy::ALL.map(|strategy| recording.meter().unwrap().all(strategy));
    let (kernel, heaps) = (
        recorded("uniform:n=300,d=2", 3, 16, 8),
        record_heaps(problem("uniform:n=300,d=2", 1, 3, 16), 0, 8, "").unwrap(),
    );
    assert_eq!(same(&kernel), same(&heaps), "whichever is shown");
    assert!(record_queues(problem("uniform:n=300,d=2", 1, 3, 16), 0, 8, "").unwrap().meter().is_none());
}

/// Claims of the lesson's paragraph about its own data.
#[test]
fn heap_lesson_claims_are_true() {
    let take = named("heap").unwrap().record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let recording = take.recording;
    let end = fresh(&recording, recording.len());
    let (stops, own) = (end.heaps().unwrap().stops, end.counts.merges);
    assert!(stops > 2 * own, "the warp stops at {stops} points, lane 0 inserts {own}");
    let meter = recording.meter().unwrap();
    let row = ROWS.iter().find(|row| row.name == "idle lanes").unwrap();
    let idle = |strategy| meter.number(row, strategy, &meter.all(strategy));
    assert_eq!(idle(Strategy::Thread), None);
    assert!(
        idle(Strategy::ThreadPerQuery).unwrap() > 2.0 * idle(Strategy::Warp).unwrap(),
        "{:?}, {:?}",
        idle(Strategy::ThreadPerQuery),
        idle(Strategy::Warp)
    );
    let slots = |strategy| {
        let row = ROWS.iter().find(|row| row.name == "issue slots").unwrap();
        meter.number(row, strategy, &meter.all(strategy)).unwrap()
    };
    let share = slots(Strategy::ThreadPerQuery) / slots(Strategy::Warp);
    assert!((0.8..1.25).contains(&share), "for a query both warps issue about as much: {share}");
    for row in &ROWS {
        assert!(row.help.ends_with('.') && !row.name.is_empty());
    }
}

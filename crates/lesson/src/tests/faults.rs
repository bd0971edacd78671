//! Every fault breaks an invariant in its step, and has an effect.

use super::*;
use crate::algorithms::kernel::KERNEL;
use crate::fault::{self, FAULTS, Fault, FaultInfo};
use crate::invariants::first_violation;
use crate::lessons::{self, Overrides, Take};
use crate::picture::Target;

/// A fault with its lesson's data.
fn made(row: &FaultInfo) -> Take {
    let lesson = lessons::named(row.lesson).unwrap().with_data_for(row.fault);
    let sound = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    assert_eq!(first_violation(&sound.recording), None, "{}", row.id);
    lesson.with_fault(&sound, row.fault).unwrap()
}

#[test]
fn every_fault_breaks_its_invariant() {
    let expected = [
        (Fault::NoBarrier, "full"),
        (Fault::Direction, "runs"),
        (Fault::NoMirror, "smallest"),
        (Fault::NoRevote, "votes"),
        (Fault::Dropped, "votes"),
        (Fault::Stale, "bound"),
        (Fault::DistanceOnly, "runs"),
    ];
    assert_eq!(FAULTS.map(|row| row.fault), expected.map(|(fault, _)| fault));
    for (row, (_, invariant)) in FAULTS.iter().zip(expected) {
        let take = made(row);
        let recording = &take.recording;
        assert_eq!(take.range, 0..recording.len());
        let consequences = recording.consequences().unwrap();
        let broken = consequences.broken.as_ref().unwrap_or_else(|| panic!("{}: nothing is broken", row.id));
        assert_eq!(broken.invariant, invariant, "{}: {}", row.id, broken.sentence);
        assert!(!broken.targets.is_empty());
        assert_eq!(!consequences.wrong.is_empty(), row.is_wrong, "{}: {}", row.id, consequences.verdict());
        let [counts, right] = consequences.counts;
        assert!(
            row.is_wrong || (counts.merges, counts.candidates) > (right.merges, right.candidates),
            "{}: {}",
            row.id,
            consequences.verdict()
        );
        let order = [Fault::Direction, Fault::DistanceOnly].contains(&row.fault);
        assert!(
            order || consequences.missing().is_empty() != row.is_wrong,
            "{}: {}",
            row.id,
            consequences.verdict()
        );
        assert_eq!(fault::row(row.fault).id, fault::named(row.id).unwrap().id);
        // The named line runs in the step, reads the step's result, or is the barrier before that.
        let step = &recording.steps()[broken.position - 1];
        let lines = [
            KERNEL.line_of(step),
            recording.steps().get(broken.position).and_then(|next| KERNEL.line_of(next)),
        ];
        let line = row.line + usize::from(KERNEL.lines[row.line].text.starts_with("barrier"));
        let is_network = [20, 21].contains(&row.line) && matches!(step, Step::Layer { .. });
        assert!(is_network || lines.contains(&Some(line)), "{}: {lines:?}", row.id);
    }
}

/// Replay includes the fault: the final state has the neighbours that the twin found.
#[test]
fn replay_reproduces_the_faulty_search() {
    for row in &FAULTS {
        let take = made(row);
        let recording = &take.recording;
        let mut cursor = Cursor::new(recording.clone());
        cursor.seek(recording.len());
        assert_eq!(cursor.state(), &fresh_faulty(recording), "{}", row.id);
        let bound = recording.convergence().last().map(|(_, bound)| bound);
        let last = crate::engines::lockstep::distance_of(cursor.state().last());
        assert!(
            row.fault == Fault::Stale || bound == Some(last),
            "{}: the replay's bound equals the twin's",
            row.id
        );
    }
}

fn fresh_faulty(recording: &Recording) -> State {
    let mut state = recording.start();
    recording.steps().iter().for_each(|step| state.apply(step));
    state
}

#[test]
fn writes_without_a_barrier_are_lost() {
    let take = made(&FAULTS[0]);
    let broken = take.recording.consequences().unwrap().broken.clone().unwrap();
    assert_eq!(take.recording.steps()[broken.position - 1], Step::BufferFull);
    assert_eq!(broken.targets, (16..32).map(Target::Slot).collect::<Vec<_>>());
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(broken.position + 1);
    let lost = cursor.state().registers[16..]
        .iter()
        .filter(|&&key| key == crate::engines::lockstep::PADDING)
        .count();
    assert_eq!(lost, 16, "the swap reads the old contents of the slots");
}

/// A fault may have no effect: without equal distances, comparing only distances changes nothing.
#[test]
fn faults_without_effect_are_reported() {
    let lesson = lessons::named("merge").unwrap();
    let sound = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let faulty = lesson.with_fault(&sound, Fault::DistanceOnly).unwrap();
    assert_eq!(faulty.recording.steps(), sound.recording.steps());
    let consequences = faulty.recording.consequences().unwrap();
    assert_eq!((&consequences.broken, &consequences.wrong[..]), (&None, &[][..]));
    assert_eq!(consequences.verdict(), "No effect on these data: the neighbours and the counts are right.");
    assert!(lesson.questions(&faulty).is_empty() && !lesson.questions(&sound).is_empty());
}

/// Every fault terminates, and is replayed, in every shape of a warp.
#[test]
fn every_warp_shape_supports_every_fault() {
    for (width, registers) in [(4u32, 1usize), (4, 32), (8, 4), (16, 2), (32, 1), (32, 8)] {
        let k = width as usize * registers - 1;
        let problem = problem(&format!("duplicates:n={},d=2,distinct=40", 3 * k + 5), 7, 1, k);
        for row in &FAULTS {
            let recording = record_faulty(row.fault, problem.clone(), 0, width, None, "").unwrap();
            let consequences = recording.consequences().unwrap();
            assert!(
                row.is_wrong || consequences.wrong.is_empty(),
                "{} with {width} lanes: {}",
                row.id,
                consequences.verdict()
            );
            assert_eq!(recording.steps().last(), Some(&Step::Finished));
            if let Fault::Direction = row.fault {
                assert_eq!(consequences.broken.as_ref().unwrap().invariant, "runs");
            }
        }
    }
}

#[test]
fn unknown_and_unsupported_faults_are_rejected() {
    assert_eq!(
        fault::named("gravity").unwrap_err().to_string(),
        "unknown fault `gravity`; available: no-barrier, direction, no-mirror, no-revote, dropped, stale, \
         distance-only"
    );
    let lesson = lessons::named("warp-select").unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    assert_eq!(
        lesson.with_fault(&take, Fault::Stale).unwrap_err().to_string(),
        "lesson `warp-select` has no faults; use a lesson on the kernel's search, such as `search`"
    );
}

/// A file of steps names the fault; that of a sound search is unchanged.
#[test]
fn step_files_include_the_fault() {
    let take = made(&FAULTS[2]);
    let mut file = Vec::new();
    jsonl::write(&take.recording, 0..3, &mut file).unwrap();
    let text = String::from_utf8(file.clone()).unwrap();
    assert!(text.contains("\"fault\":\"no-mirror\""), "{text}");
    let (parameters, _) = jsonl::read(&file[..]).unwrap();
    assert_eq!(parameters, take.recording.parameters);
    let mut sound = Vec::new();
    jsonl::write(&recorded("uniform:n=9,d=2", 0, 4, 4), 0..3, &mut sound).unwrap();
    assert!(!String::from_utf8(sound).unwrap().contains("fault"));
}

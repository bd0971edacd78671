//! Seeking is exact, and fits into the time of a frame.

use proptest::prelude::*;

use super::*;

/// Maximum work of a seek: that between two keyframes, and one step more.
const MOST: u64 = (1 << 18) + 1024;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn seeking_matches_a_fresh_replay(
        width in prop::sample::select(vec![4u32, 8, 32]),
        k in 1usize..100,
        n in 1usize..600,
        places in prop::collection::vec(0.0f64..1.1, 1..20),
    ) {
        let recording = Arc::new(recorded(&format!("uniform:n={n},d=2"), n / 3, k, width));
        let mut cursor = Cursor::new(recording.clone());
        for place in places {
            let position = (place * recording.len() as f64) as usize;
            cursor.seek(position);
            prop_assert_eq!(cursor.position(), position.min(recording.len()));
            prop_assert_eq!(cursor.state(), &fresh(&recording, cursor.position()));
        }
    }
}

/// The largest lesson: every point is a candidate, k = 1,024, n = 100,000.
#[test]
fn largest_recording_is_compact_and_fast_to_seek() {
    let recording = Arc::new(recorded("descending:n=100000,d=2", 99_999, 1024, 32));
    assert_eq!(recording.merges(), 98);
    assert!(recording.bytes() < 16 << 20, "{} bytes", recording.bytes());
    let mut cursor = Cursor::new(recording.clone());
    let far = [
        recording.len(),
        0,
        recording.len() - 1,
        recording.len() / 2,
        recording.len() / 2 - 1,
        17,
        recording.len() / 3,
    ];
    for position in far {
        cursor.seek(position);
        assert!(cursor.replayed() <= MOST, "{} keys to {position}", cursor.replayed());
        assert_eq!(cursor.position(), position);
    }
    assert_eq!(*cursor.state(), fresh(&recording, recording.len() / 3));
    // Seeking one step forwards replays one step.
    cursor.seek(cursor.position() + 1);
    assert!(cursor.replayed() <= 1024);
}

#[test]
fn random_order_recordings_are_compact() {
    let recording = recorded("uniform:n=100000,d=2", 50_000, 1024, 32);
    assert!((5..15).contains(&recording.merges()), "{}", recording.merges());
    assert!(recording.bytes() < 4 << 20, "{} bytes", recording.bytes());
}

#[test]
fn levels_stop_at_the_expected_steps() {
    let recording = Arc::new(recorded("uniform:n=500,d=2", 3, 16, 8));
    let stops = |level: Level| {
        let mut cursor = Cursor::new(recording.clone());
        let mut stops = Vec::new();
        while cursor.position() < recording.len() {
            cursor.seek(cursor.next(level));
            stops.push(cursor.position());
        }
        // Going back stops at the same positions.
        let mut back = vec![cursor.position()];
        while cursor.previous(level) > 0 {
            cursor.seek(cursor.previous(level));
            back.push(cursor.position());
        }
        back.reverse();
        assert_eq!(back, stops, "{level:?}");
        stops
    };
    let all = Level::ALL.map(stops);
    assert!(
        all.windows(2)
            .all(|pair| pair[0].len() < pair[1].len() && pair[0].iter().all(|stop| pair[1].contains(stop)))
    );
    assert_eq!(all[4], (1..=recording.len()).collect::<Vec<_>>());
    assert_eq!(all[1].len(), all[0].len() + recording.merges());
}

#[test]
fn marks_are_found_in_both_directions() {
    let recording = Arc::new(recorded("uniform:n=2000,d=2", 3, 32, 32));
    for mark in [Mark::BallotHit, Mark::Merge, Mark::Stage, Mark::MaxDistance] {
        let mut cursor = Cursor::new(recording.clone());
        assert_eq!(cursor.previous_mark(mark), None);
        let mut found = Vec::new();
        while let Some(position) = cursor.next_mark(mark) {
            assert!(position > cursor.position());
            cursor.seek(position);
            let fits = match (mark, &*cursor.step().unwrap()) {
                (Mark::BallotHit, Step::Ballot { mask } | Step::FilteredAgain { mask, .. }) => *mask != 0,
                (Mark::Merge, Step::MaxDistance { .. }) => true,
                (Mark::MaxDistance, Step::MaxDistance { before, max_distance, .. }) => before != max_distance,
                (Mark::Stage, _) => recording.level(position - 1) <= Level::Stage,
                _ => false,
            };
            assert!(fits, "{mark:?} at {position}");
            found.push(position);
        }
        cursor.seek(recording.len());
        let mut back = Vec::new();
        while let Some(position) = cursor.previous_mark(mark) {
            back.push(position);
            cursor.seek(position);
        }
        back.reverse();
        found.retain(|&position| position < recording.len());
        assert_eq!(back, found, "{mark:?}");
        assert!(found.len() > 2);
    }
}

#[test]
fn convergence_points_lead_to_their_merges() {
    let recording = Arc::new(recorded("uniform:n=3000,d=2", 3, 20, 16));
    let mut cursor = Cursor::new(recording.clone());
    let curve: Vec<(u32, f32)> = recording.convergence().collect();
    assert_eq!(curve.len(), recording.merges());
    for (merge, &(points_seen, max_distance)) in curve.iter().enumerate() {
        cursor.seek(recording.position_of_merge(merge).unwrap());
        assert_eq!(cursor.state().max_distance, max_distance);
        assert_eq!(cursor.state().counts.merges as usize, merge + 1);
        assert_eq!(points_seen, cursor.state().counts.points_seen);
    }
    assert_eq!(recording.position_of_merge(curve.len()), None);
}

//! The accounts.

use super::super::scene::{Ink, Shape};
use super::super::*;
use super::{recorded, texts};
use crate::Step;
use crate::algorithms::SpecificStep;
use crate::algorithms::warp_select::WarpSelectStep;
use crate::lessons::{LESSONS, Overrides, SearchAlgorithm};
use crate::progress::NoProgress;

#[test]
fn account_panel_matches_the_state() {
    let recording = recorded("uniform:n=2000,d=2", 9, 32, 32);
    let mut cursor = Cursor::new(recording.clone());
    cursor.seek(recording.len() * 2 / 3);
    let counts = cursor.state().counts;
    let scene = draw(Panel::Account, &View::new(&cursor, 14.0), [500.0, 400.0]);
    let words = texts(&scene);
    for (name, value) in [
        ("points seen", u64::from(counts.points_seen)),
        ("candidates", counts.candidates.into()),
        ("merges", counts.merges.into()),
        ("compare-exchanges", counts.compare_exchanges),
        ("shuffles", counts.shuffles),
    ] {
        let at = words.iter().position(|text| *text == name).unwrap();
        assert_eq!(words[at + 1], crate::text::thousands(value), "{name}");
    }
    // One dot per merge; those of completed merges are filled.
    let dots = |full: bool| {
        let is = |shape: &&Shape| {
            matches!(
                shape,
                Shape::Dots { fill: Some(fill), .. } if (fill.ink == Ink::Buffer) == full
            )
        };
        scene.shapes.iter().filter(is).count()
    };
    assert_eq!(
        (dots(true), dots(false)),
        (counts.merges as usize, recording.merges() - counts.merges as usize)
    );
}

/// Averages only count completed merges.
#[test]
fn merge_averages_count_only_completed_merges() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == SearchAlgorithm::WarpSelect).unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let mut cursor = Cursor::new(take.recording.clone());
    let (mut merges, mut came, mut coming) = (0, 0, 0);
    for position in 1..=take.recording.len() {
        cursor.seek(position);
        match cursor.step().as_deref() {
            Some(Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Exchanged { taken }))) => {
                coming = taken.count()
            }
            Some(Step::MaxDistance { .. }) => (merges, came) = (merges + 1, came + coming),
            _ => {}
        }
        let scene = draw(Panel::Account, &View::new(&cursor, 14.0), [500.0, 400.0]);
        let words = texts(&scene);
        let after = |name: &str| words[words.iter().position(|text| *text == name).unwrap() + 1].to_owned();
        let average = if merges == 0 {
            "\u{2013}".to_owned()
        } else {
            crate::text::significant(f64::from(came) / f64::from(merges))
        };
        assert_eq!(
            (after("merges"), after("keys per merge")),
            (merges.to_string(), average),
            "position {position}"
        );
    }
    assert!(merges > 2);
}

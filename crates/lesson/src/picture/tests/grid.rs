//! Panels appear as the story needs them.

use super::super::page::{areas, panels_ever, panels_of, subject};
use super::super::sentence::sentence;
use super::super::*;
use super::takes;
use crate::lessons::{Lesson, Overrides, Take, named};
use crate::progress::NoProgress;
use crate::state::Stage;

const SIZE: [f32; 2] = [1280.0, 720.0];

/// The panels at the stops of a take's own level, without the sentence.
fn shown(lesson: &Lesson, take: &Take) -> Vec<(usize, Vec<Panel>)> {
    let mut cursor = Cursor::new(take.recording.clone());
    let stops = (take.range.start + 1..=take.range.end)
        .filter(|&at| at == take.range.end || take.recording.level(at - 1) <= lesson.level);
    std::iter::once(take.range.start)
        .chain(stops)
        .map(|at| {
            cursor.seek(at);
            let areas = areas(lesson, &View::new(&cursor, 16.0), SIZE);
            (
                at,
                areas.into_iter().map(|(panel, _)| panel).filter(|panel| *panel != Panel::Sentence).collect(),
            )
        })
        .collect()
}

#[test]
fn a_lesson_opens_with_a_question_and_a_picture() {
    for (lesson, take) in takes() {
        let (start, panels) = shown(lesson, &take).swap_remove(0);
        // The two lists of a merge are shown as curves and in their places.
        let most = if lesson.id == "merge" { 2 } else { 1 };
        assert_eq!(panels.len(), most, "lesson {}: {panels:?}", lesson.id);
        let mut cursor = Cursor::new(take.recording.clone());
        cursor.seek(start);
        let words = sentence(&cursor);
        assert!(words.ends_with('?') && !words.contains('{'), "lesson {}: {words}", lesson.id);
    }
}

#[test]
fn panels_appear_one_at_a_time_and_stay() {
    for (lesson, take) in takes() {
        let all = shown(lesson, &take);
        for pair in all.windows(2) {
            let [before, after] = [&pair[0].1, &pair[1].1].map(Vec::len);
            let is_end = pair[1].0 == take.range.end;
            assert!(
                before <= after && (after <= before + 1 || is_end),
                "lesson {}, step {}: {before} panels, then {after}",
                lesson.id,
                pair[1].0
            );
        }
        // The reader of a long lesson need not reach the end to see most of them.
        let most = all.get(6).map_or(usize::MAX - 1, |(_, panels)| panels.len());
        assert!(most + 1 >= all[all.len() - 1].1.len(), "lesson {}", lesson.id);
    }
}

#[test]
fn panels_need_no_story_outside_of_it_or_in_questions() {
    let lesson = named("merge").unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let mut cursor = Cursor::new(take.recording.clone());
    let count = |view: &View<'_>| areas(lesson, view, SIZE).len();
    cursor.seek(take.range.start);
    let view = View::new(&cursor, 16.0);
    assert_eq!((count(&view), count(&View { asking: true, ..view })), (3, 6));
    cursor.seek(take.range.start - 1);
    assert_eq!(count(&View::new(&cursor, 16.0)), 6);
}

/// Lesson `sort` explains comparators; earlier lessons show merges without them.
#[test]
fn no_network_is_shown_before_it_is_explained() {
    let first = named("sort").unwrap().number;
    for (lesson, take) in takes().filter(|(lesson, _)| lesson.number < first) {
        assert!(!panels_ever(lesson, &take).contains(&Panel::Network), "lesson {}", lesson.id);
    }
}

/// The presenter shows the panel of the sentence: a swap with the registers, not with an idle network.
#[test]
fn the_panel_of_the_sentence_is_presented() {
    for (lesson, take) in takes() {
        let ever = panels_ever(lesson, &take);
        let mut cursor = Cursor::new(take.recording.clone());
        for position in take.range.start + 1..take.range.end {
            cursor.seek(position);
            let view = View::new(&cursor, 24.0);
            let about = subject(lesson, &view);
            let expected = match view.step() {
                // The picture of the step, not of an idle network.
                Some(Step::Swap) => Panel::Warp,
                Some(Step::Ballot { .. }) => Panel::Ballot,
                Some(Step::Layer { .. }) if !ever.contains(&Panel::Curves) => Panel::Network,
                Some(Step::MaxDistance { .. }) => Panel::Cloud,
                _ => continue,
            };
            let is_shown = areas(lesson, &View { zoom: None, ..view }, SIZE)
                .iter()
                .any(|(panel, _)| Some(*panel) == about);
            assert!(is_shown, "lesson {}, step {position}", lesson.id);
            if ever.contains(&expected)
                && cursor.state().stage != Stage::Full
                && panels_of(lesson, &view).contains(&expected)
            {
                assert_eq!(about, Some(expected), "lesson {}, step {position}", lesson.id);
            }
        }
    }
}

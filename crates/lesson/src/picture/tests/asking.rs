//! The drawing never answers the open question.

use std::collections::BTreeSet;

use super::super::*;
use super::texts;
use crate::algorithms::Baseline;
use crate::lessons::{LESSONS, Overrides, SearchAlgorithm, named};
use crate::progress::NoProgress;

/// A question about the number of merges hides them and their cost.
#[test]
fn open_questions_hide_the_final_counts() {
    let lesson = named("order").unwrap();
    let takes = lesson.record(Overrides::default(), &NoProgress).unwrap();
    let cursor = Cursor::new(takes[0].recording.clone());
    let expected = crate::account::account(cursor.state()).expected_at_end;
    let tells = |asking: bool| {
        let view = View { asking, ..View::new(&cursor, 16.0) };
        let scene = comparison(lesson, &[(&takes[0], view)], [1280.0, 720.0]);
        let said = texts(&scene).join(" | ");
        [
            format!("{:.1}", expected.merges),
            crate::text::thousands(expected.shuffles.round() as u64),
            "at the end".to_owned(),
        ]
        .map(|words| said.contains(&words))
    };
    assert_eq!((tells(false), tells(true)), ([true; 3], [false; 3]));
}

/// Where the account is shown, in the lessons on other searches.
fn at_third_stop(take: &crate::lessons::Take) -> Cursor {
    let mut cursor = Cursor::new(take.recording.clone());
    (0..3).for_each(|_| cursor.seek(cursor.next(crate::Level::Stage)));
    cursor
}

/// A question about the merges of the lanes' queues hides their number.
#[test]
fn open_questions_hide_queue_merge_counts() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == SearchAlgorithm::WarpSelect).unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let cursor = at_third_stop(&take);
    let Baseline::WarpSelect(queued) = take.recording.baseline() else {
        panic!("it is held against a buffer")
    };
    let tells = |asking: bool| {
        let scene = page(lesson, &take, &View { asking, ..View::new(&cursor, 16.0) }, [1280.0, 720.0]);
        let words: BTreeSet<String> = texts(&scene).into_iter().map(str::to_owned).collect();
        // Numbers that no lane has.
        [queued.inserts, queued.buffer.candidates].map(|number| words.contains(&number.to_string()))
    };
    assert_eq!((tells(false), tells(true)), ([true; 2], [false; 2]));
}

/// A question about visited leaves hides their number, in both orders.
#[test]
fn open_questions_hide_tree_visit_counts() {
    let lesson = LESSONS.iter().find(|lesson| lesson.search == SearchAlgorithm::Tree).unwrap();
    let take = lesson.record(Overrides::default(), &NoProgress).unwrap().remove(0);
    let (cursor, index) = (at_third_stop(&take), take.recording.index().unwrap());
    let tells = |asking: bool| {
        let scene = page(lesson, &take, &View { asking, ..View::new(&cursor, 16.0) }, [1280.0, 720.0]);
        let words: BTreeSet<String> = texts(&scene).into_iter().map(str::to_owned).collect();
        // Numbers that no lane has.
        [index.visits.distance_evals, index.visits.pruned, index.curve_order.distance_evals]
            .map(|number| words.contains(&number.to_string()))
    };
    assert_eq!((tells(false), tells(true)), ([true; 3], [false; 3]));
}

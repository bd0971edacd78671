//! Rounds differ, and nothing shown with an open question gives the answer away.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::feedback::subjects;
use super::super::lessons::{LESSONS, Lesson, Overrides, Take, named};
use super::super::picture::page::{areas, inside, progress};
use super::super::picture::scene::Shape as Drawn;
use super::super::picture::{Panel, Scene, Target, View, comparison, draw, page};
use super::super::questions::pool::{PER_TOPIC_IN_ROUND, TakeQuestion};
use super::super::questions::{Answer, ClickTarget, Question, QuestionSubject, Reply, Topic};
use super::*;
use crate::algorithms::Baseline;
use crate::algorithms::radix_select::RadixSelectBaseline;
use crate::algorithms::tree::TreeBaseline;
use crate::algorithms::warp_select::WarpSelectBaseline;

fn takes(lesson: &Lesson) -> Vec<Take> {
    lesson.record(Overrides::default(), &NoProgress).unwrap()
}

#[test]
fn rounds_differ_and_never_repeat_a_question() {
    for lesson in &LESSONS {
        let takes = takes(lesson);
        let rounds: Vec<Vec<TakeQuestion>> = (0..6).map(|seed| lesson.round(&takes, seed)).collect();
        assert_eq!(rounds[3], lesson.round(&takes, 3), "a seed gives the same round each time");
        for (seed, round) in rounds.iter().enumerate() {
            let what: BTreeSet<_> = round
                .iter()
                .map(|(take, question)| (take, question.topic, question.at, question.subject))
                .collect();
            assert_eq!(what.len(), round.len(), "lesson {}, seed {seed}: nothing is asked twice", lesson.id);
            // Every kind comes up, and one idea of each.
            let asked: BTreeSet<Topic> = round.iter().map(|(_, question)| question.topic).collect();
            let ideas: BTreeSet<Topic> = lesson.ideas.iter().map(|idea| idea.topic).collect();
            assert_eq!(
                asked,
                lesson.topics.iter().copied().chain(ideas).collect(),
                "lesson {}, seed {seed}",
                lesson.id
            );
            assert!(round.len() <= 3 + takes.len() * lesson.topics.len() * PER_TOPIC_IN_ROUND);
            let order: Vec<_> = round
                .iter()
                .map(|(_, question)| (!question.topic.is_about_all(), question.topic.is_idea()))
                .collect();
            assert!(order.is_sorted(), "questions about the whole search come first, ideas last: {order:?}");
            // No text reveals the answer of another question: a slot's text has the ballot.
            for (at, (take, one)) in round.iter().enumerate() {
                let of_step = |question: &Question| {
                    let topic = question.topic;
                    !topic.is_idea() && !topic.is_about_all() && !topic.shares_steps()
                };
                let rest = round[at + 1..].iter().filter(|(other, _)| other == take).map(|(_, other)| other);
                for other in rest.filter(|other| of_step(one) && of_step(other)) {
                    assert!(
                        one.revealed_step() != other.revealed_step(),
                        "lesson {}: {one:?}, {other:?}",
                        lesson.id
                    );
                }
            }
        }
        let texts = |round: &[TakeQuestion]| {
            round
                .iter()
                .map(|(_, question)| (question.at, question.text.clone(), question.options.clone()))
                .collect::<Vec<_>>()
        };
        let different: BTreeSet<_> = rounds.iter().map(|round| texts(round)).collect();
        assert!(different.len() > 4, "lesson {}", lesson.id);
    }
}

#[test]
fn yes_and_no_answers_are_balanced() {
    let mut said: BTreeMap<Topic, [u32; 2]> = BTreeMap::new();
    for id in ["sort", "wide", "merge", "pruning", "warp-select", "heap", "wait"] {
        let lesson = named(id).unwrap();
        let takes = takes(lesson);
        for seed in 0..12 {
            for (_, question) in lesson.round(&takes, seed) {
                if let Answer::YesNo(yes) = question.answer {
                    said.entry(question.topic).or_default()[usize::from(yes)] += 1;
                }
            }
        }
    }
    assert_eq!(said.len(), 5);
    assert!(said.values().all(|[no, yes]| no.abs_diff(*yes) * 10 <= no + yes), "{said:?}");
}

/// A take with another future: no steps after a position, and other final counts in the baselines.
fn without_end(take: &Take, position: usize) -> Take {
    let recording = &take.recording;
    let (parameters, problem, steps) =
        (recording.parameters.clone(), recording.problem().clone(), recording.steps()[..position].to_vec());
    let short = Recording::new(parameters, problem, recording.query(), steps).with_scale_of(recording);
    let beside = match recording.baseline() {
        Baseline::Kernel(_) => return Take { recording: Arc::new(short), ..take.clone() },
        baseline @ (Baseline::Heap(_) | Baseline::Dummy(_)) => baseline.clone(),
        Baseline::Tree(index) => {
            let mut index = TreeBaseline::clone(index);
            for visits in [&mut index.visits, &mut index.curve_order] {
                visits.leaves += 7;
                visits.distance_evals += 200;
                visits.pruned += 9;
                visits.candidates += 11;
                visits.merges += 3;
            }
            Baseline::Tree(Arc::new(index))
        }
        Baseline::WarpSelect(queued) => {
            let mut queued = WarpSelectBaseline {
                merges: queued.merges + 9,
                inserts: queued.inserts + 70,
                keys_merged: queued.keys_merged + 30,
                ..**queued
            };
            (queued.buffer.merges, queued.buffer.candidates) =
                (queued.buffer.merges + 2, queued.buffer.candidates + 40);
            Baseline::WarpSelect(Arc::new(queued))
        }
        Baseline::RadixSelect(chosen) => {
            let mut chosen = RadixSelectBaseline::clone(chosen);
            chosen.reads += 900;
            chosen.passes += 1;
            chosen.buffer.merges += 2;
            Baseline::RadixSelect(Arc::new(chosen))
        }
    };
    Take { recording: Arc::new(short.with_baseline(beside)), ..take.clone() }
}

/// The drawing of a take while a question is open.
fn drawn(lesson: &Lesson, take: &Take, position: usize, text: f32) -> Scene {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(position);
    page(lesson, take, &View { asking: true, ..View::new(&cursor, text) }, [1280.0, 720.0])
}

/// The drawing of each panel while a question is open. Scales cover a whole recording: both takes share the
/// colour scale, and the lengths of the meter's bars are ignored.
fn in_full(lesson: &Lesson, take: &Take, position: usize, text: f32) -> Vec<String> {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(position);
    let view = View { asking: true, ..View::new(&cursor, text) };
    let mut drawn = vec![progress(&view)];
    for (panel, place) in areas(lesson, &view, [1280.0, 720.0]) {
        let room = inside(place, text);
        let mut scene = draw(panel, &view, [room.width, room.height]);
        scene.shapes.retain(|shape| panel != Panel::Meter || matches!(shape, Drawn::Text { .. }));
        drawn.push(format!("{panel:?} {place:?}"));
        drawn.extend(scene.shapes.iter().map(|shape| format!("{shape:?}")));
    }
    drawn
}

fn texts(scene: &Scene) -> impl Iterator<Item = &str> {
    scene
        .shapes
        .iter()
        .filter_map(|shape| if let Drawn::Text { text, .. } = shape { Some(text.as_str()) } else { None })
}

/// The drawing with an open question does not depend on later steps: a search that stops there, with other
/// final counts, is drawn the same to the last shape.
#[test]
fn drawings_of_open_questions_ignore_later_steps() {
    let mut compared = 0;
    for lesson in &LESSONS {
        let takes = takes(lesson);
        let places: BTreeSet<(usize, usize)> = (0..2)
            .flat_map(|seed| lesson.pool(&takes, seed))
            .map(|(take, question)| (take, question.at))
            .collect();
        for (number, at) in places {
            let other = without_end(&takes[number], at);
            for text in [16.0, 22.0] {
                let [scene, instead] = [&takes[number], &other].map(|take| in_full(lesson, take, at, text));
                let differs = scene.iter().zip(&instead).find(|(a, b)| a != b);
                assert!(scene == instead, "lesson {}, step {at}, text {text}: {differs:?}", lesson.id);
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
    // Side by side, too.
    let lesson = named("order").unwrap();
    let takes = takes(lesson);
    let beside = |takes: &[Take]| {
        let cursors: Vec<Cursor> = takes.iter().map(|take| Cursor::new(take.recording.clone())).collect();
        let views: Vec<_> = takes
            .iter()
            .zip(&cursors)
            .map(|(take, cursor)| (take, View { asking: true, ..View::new(cursor, 16.0) }))
            .collect();
        comparison(lesson, &views, [1280.0, 720.0]).drawing.shapes
    };
    assert!(beside(&takes) == beside(&takes.iter().map(|take| without_end(take, 0)).collect::<Vec<_>>()));
}

/// The answer is neither written nor marked, even if it can be worked out from the drawing.
#[test]
fn open_questions_never_show_their_answers() {
    for lesson in &LESSONS {
        let takes = takes(lesson);
        for (number, question) in lesson.pool(&takes, 1) {
            let take = &takes[number];
            let width = take.recording.shape().width;
            let scene = drawn(lesson, take, question.at, 16.0);
            let right = question.right(width);
            // The option of an idea, or the names of several lanes; numbers and single lanes are cells of the
            // picture.
            if question.topic.is_idea() && right.len() > 4
                || matches!(question.answer, Answer::Lanes(mask) if mask.count_ones() > 1)
            {
                assert!(
                    texts(&scene).all(|text| !text.contains(&right)),
                    "lesson {}: {question:?}",
                    lesson.id
                );
            }
            if let (Answer::Lanes(mask), true) = (question.answer, question.topic == Topic::Votes) {
                let ballot = super::super::describe::hex(mask, width);
                assert!(texts(&scene).all(|text| !text.contains(&ballot)), "lesson {}: {ballot}", lesson.id);
            }
            let answer = match (question.answer.reply(), question.topic.info().form) {
                (
                    Reply::Number(lane),
                    super::super::questions::AnswerForm::Number {
                        clickable: Some(ClickTarget::Lane), ..
                    },
                ) => Some(Target::Lane(lane)),
                (
                    Reply::Number(slot),
                    super::super::questions::AnswerForm::Number {
                        clickable: Some(ClickTarget::Slot), ..
                    },
                ) => Some(Target::Slot(slot)),
                _ => None,
            };
            let ringed = subjects(&question, &take.recording);
            assert!(
                answer.is_none_or(|answer| !ringed.contains(&answer)),
                "lesson {}: {question:?}",
                lesson.id
            );
            assert_eq!(ringed.is_empty(), question.topic.info().about == QuestionSubject::All);
        }
    }
}

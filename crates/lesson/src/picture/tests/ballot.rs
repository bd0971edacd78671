//! The panel of the ballot.

use super::super::moment::vote;
use super::super::scene::{Font, Ink, Shape};
use super::super::*;
use super::{recorded, takes};
use crate::Step;
use crate::lessons::Take;
use crate::questions::{Answer, Topic};

#[test]
fn slots_and_votes_match_the_recording() {
    let recording = recorded("uniform:n=600,d=2", 9, 16, 16);
    let mut cursor = Cursor::new(recording.clone());
    let mut checked = 0;
    for position in 1..=recording.len() {
        cursor.seek(position);
        let vote = vote(&cursor);
        match &*cursor.step().unwrap() {
            Step::Group { .. } => assert_eq!(vote.unwrap().mask, None),
            Step::Ballot { mask } => {
                assert_eq!((vote.as_ref().unwrap().mask, vote.unwrap().voters), (Some(*mask), 0xffff))
            }
            Step::FilteredAgain { rest, mask } => {
                assert_eq!((vote.as_ref().unwrap().mask, vote.unwrap().voters), (Some(*mask), *rest))
            }
            Step::Positions { slots } => {
                let vote = vote.unwrap();
                let told: Vec<(u32, u32)> =
                    (0..16).filter_map(|lane| Some((lane, vote.slot(lane)?))).collect();
                assert_eq!(told, slots.iter().map(|slot| (slot.lane, slot.slot)).collect::<Vec<_>>());
                checked += 1;
            }
            Step::Appended { placed } => {
                let vote = vote.unwrap();
                assert_eq!(vote.appended as usize, placed.len());
                assert!(placed.iter().all(|candidate| vote.slot(candidate.lane) == Some(candidate.slot)));
            }
            _ => {}
        }
    }
    assert!(checked > 5);
}

/// The numbers of the ballot's lanes, from the left, with their sizes, on a page as large as a projector's.
fn distances_on(
    lesson: &crate::lessons::Lesson,
    take: &Take,
    position: usize,
    text: f32,
) -> Vec<(String, f32)> {
    let mut cursor = Cursor::new(take.recording.clone());
    cursor.seek(position);
    let scene = page(lesson, take, &View { asking: true, ..View::new(&cursor, text) }, [1280.0, 720.0]);
    let is_number = |text: &str| text.contains('.') && text.parse::<f32>().is_ok();
    // Such a page has no other numbers in the monospaced font: the warp's 32 keys are bars.
    let mut numbers: Vec<([f32; 4], String, f32)> = Vec::new();
    for shape in &scene.shapes {
        if let Shape::Text { at, anchor, size, font: Font::Mono, text, .. } = shape
            && is_number(text)
        {
            let (wide, left) = (
                pen::width(Font::Mono, *size, text),
                at[0] - anchor[0] * pen::width(Font::Mono, *size, text),
            );
            let letters = [left, at[1] - size * 0.36, left + wide, at[1] + size * 0.36];
            for (other, ..) in &numbers {
                let apart = letters[0] >= other[2]
                    || other[0] >= letters[2]
                    || letters[1] >= other[3]
                    || other[1] >= letters[3];
                assert!(apart, "lesson {}, position {position}, text {text}: numbers overlap", lesson.number);
            }
            numbers.push((letters, text.clone(), *size));
        }
    }
    numbers.sort_by(|a, b| (a.0[0] + a.0[2]).total_cmp(&(b.0[0] + b.0[2])));
    numbers.into_iter().map(|(_, words, size)| (words, size)).collect()
}

/// Large type still shows enough to tell which lanes vote.
#[test]
fn votes_are_legible_in_the_picture() {
    let mut asked = 0;
    for (lesson, take) in takes() {
        let width = take.recording.shape().width as usize;
        for question in lesson.questions(&take).iter().filter(|question| question.topic == Topic::Votes) {
            // With larger type, not everything fits on the page.
            for (text, least) in [(16.0, 9.6), (18.0, 10.8), (22.0, 8.0)] {
                let numbers = distances_on(lesson, &take, question.at, text);
                assert_eq!(
                    numbers.len(),
                    width,
                    "lesson {}, position {}, text {text}: {numbers:?}",
                    lesson.number,
                    question.at
                );
                assert!(
                    numbers.iter().all(|(_, size)| *size >= least),
                    "lesson {}, text {text}: {numbers:?}",
                    lesson.number
                );
                let bound: f32 =
                    question.text.split(' ').nth(2).unwrap().trim_end_matches('.').parse().unwrap();
                let votes = (0u32..).zip(&numbers).fold(0, |mask, (lane, (number, _))| {
                    mask | u32::from(number.parse::<f32>().unwrap() < bound) << lane
                });
                assert_eq!(
                    question.answer,
                    Answer::Lanes(votes),
                    "lesson {}: {} {numbers:?}",
                    lesson.number,
                    question.text
                );
                asked += 1;
            }
        }
    }
    assert!(asked > 15, "{asked}");
}

/// A set bit is legible on its colour in every theme.
#[test]
fn bit_labels_have_sufficient_contrast() {
    use crate::palette::{DARK, HIGH_CONTRAST, LIGHT, TEXT_CONTRAST};
    for palette in [&LIGHT, &DARK, &HIGH_CONTRAST] {
        for ink in [Ink::Candidate, Ink::Intermediate, Ink::Accent, Ink::Error] {
            let contrast = ink.color(palette).contrast(ballot::on(ink).color(palette));
            assert!(contrast >= TEXT_CONTRAST, "{ink:?}: {contrast:.2}");
        }
    }
}

use super::*;
use crate::engines::lockstep::PADDING;
use crate::lesson::cursor::Cursor;
use crate::lesson::lessons::{Choice, LESSONS, named};
use crate::lesson::picture::film::SIZE_ON_PAPER;
use crate::lesson::questions::{Answer, Ask, Form, largest};
use crate::palette::LIGHT;
use crate::progress::Silent;

fn film(id: &str, seed: u64) -> Film {
    let lesson = named(id).unwrap();
    let film = Film::new(lesson, lesson.record(Choice::default(), &Silent).unwrap(), SIZE_ON_PAPER, 1.0, LIGHT);
    Film { seed, ..film }
}

/// Worksheet and key.
fn written(film: &Film) -> [String; 2] {
    let (mut sheet, mut solved) = (Vec::new(), Vec::new());
    worksheet(film, Theme::Readers, &Silent, &mut sheet).unwrap();
    key(film, Theme::Readers, &mut solved).unwrap();
    [sheet, solved].map(|file| String::from_utf8(file).unwrap())
}

#[test]
fn a_sheet_has_the_questions_of_its_key_without_their_answers() {
    for lesson in &LESSONS {
        let film = film(lesson.id, 4);
        let [sheet, key] = written(&film);
        let questions = questions(&film);
        let (mut in_sheet, mut in_key) = (0, 0);
        for (take, question) in &questions {
            let text = escaped(&question.text);
            // In the same order, so by the same numbers.
            in_sheet += sheet[in_sheet..].find(&text).unwrap_or_else(|| panic!("{text} is not next on the sheet"));
            in_key += key[in_key..].find(&text).unwrap_or_else(|| panic!("{text} is not next in the key"));
            let reason = question.why.as_deref().map(escaped);
            assert!(reason.is_none_or(|why| !sheet.contains(&why) && key.contains(&why)), "{question:?}");
            for slip in &question.slips {
                assert!(!sheet.contains(&escaped(&slip.says)) && key.contains(&escaped(&slip.says)), "{slip:?}");
            }
            let width = film.takes[*take].recording.shape().width;
            assert!(key.contains(&escaped(&question.right(width))));
            // Of options all are there, and no mark which.
            assert!(question.options.iter().all(|option| sheet.contains(&escaped(option))), "{question:?}");
        }
        assert_eq!([&sheet, &key].map(|file| file.matches("<li><p>").count() + file.matches("<li><figure>").count()), [questions.len(); 2]);
        let boxes: usize = questions
            .iter()
            .map(|(take, question)| match (question.answer, question.ask.kind().form) {
                (Answer::Choice(_), _) => question.options.len(),
                (Answer::YesNo(_), _) => 2,
                (_, Form::Lanes { .. }) => film.takes[*take].recording.shape().width as usize,
                _ => 0,
            })
            .sum();
        assert_eq!((sheet.matches("class=\"box\"").count(), key.matches("class=\"box\"").count()), (boxes, 0), "lesson {}", lesson.id);
        assert!(sheet.matches("class=\"ruled\"").count() >= questions.len() && !sheet.contains("class=\"right\""));
        // With another k or other data the same number has other questions.
        let name = format!("<p class=\"weak\">Sheet 4 \u{b7} {}</p>", escaped(&about(&film.lead().recording)));
        assert!(!key.contains("<svg") && sheet.contains("<title>Lesson ") && [&sheet, &key].iter().all(|file| file.contains(&name)));
    }
}

#[test]
fn another_number_makes_another_sheet() {
    let [first, again, other] = [1, 1, 2].map(|seed| written(&film("sort", seed)));
    assert_eq!(first, again);
    assert!(first[0] != other[0] && first[1] != other[1]);
}

#[test]
fn pictures_of_a_sheet_are_those_that_hide_the_answer() {
    let film = film("buffer", 3);
    let [sheet, _] = written(&film);
    let mut hides = 0;
    for (number, (take, question)) in questions(&film).iter().enumerate().filter(|(_, (_, question))| !question.ask.is_idea()) {
        let element = |scene| svg::element(&scene, &format!("step{number}-"), &css::variable);
        let (asked, shown) = (element(film.asked(*take, question.at)), element(film.figure(question.at)));
        assert!(sheet.contains(&asked), "{question:?}");
        hides += u32::from(asked != shown && !sheet.contains(&shown));
    }
    // Who votes is not decided yet, but a slot would be spelled out.
    assert!(hides > 0);
}

/// A place of a queue that is still empty holds infinity, which is a key; a lane without a point has no distance at all.
#[test]
fn an_empty_place_is_infinite_and_a_lane_without_a_point_has_none() {
    let lesson = named("warp-select").unwrap();
    // With one register a lane the queues have more places than the warp's, and some stay empty after a merge.
    let takes = lesson.record(Choice { k: Some(8), width: Some(8), ..Choice::default() }, &Silent).unwrap();
    let (mut infinite, mut finite) = (0, 0);
    for (_, question) in (0..6).flat_map(|seed| lesson.pool(&takes, seed)).filter(|(_, question)| question.ask == Ask::Takes) {
        let written = item(&takes[0], &question, false);
        let keys = written.split_once("Largest keys of the queues from lane 0 on: ").unwrap().1.split_once(".</p>").unwrap().0;
        let mut cursor = Cursor::new(takes[0].recording.clone());
        cursor.seek(question.at);
        let empty = largest(cursor.state().queues.as_ref().unwrap()).iter().filter(|&&key| key == PADDING).count();
        assert_eq!((keys.matches('\u{221e}').count(), keys.contains("none")), (empty, false), "{written}");
        (infinite, finite) = (infinite + usize::from(empty > 0), finite + usize::from(empty == 0));
    }
    assert!(infinite > 0 && finite > 0, "{infinite}, {finite}");
}

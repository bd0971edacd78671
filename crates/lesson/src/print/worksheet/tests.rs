use std::sync::Arc;

use super::*;
use crate::cloud::{self, Order, Source};
use crate::edits::Edits;
use crate::knn::{Metric, ProblemParameters, Queries};
use crate::lessons::{Arrangement, LESSONS, Overrides, named};
use crate::own_data::UserData;
use crate::palette::LIGHT;
use crate::picture::Scene;
use crate::picture::film::PRINT_SIZE;
use crate::progress::NoProgress;
use crate::questions::{Answer, AnswerForm, Topic};

fn film(id: &str, seed: u64) -> Film {
    let lesson = named(id).unwrap();
    let film =
        Film::new(lesson, lesson.record(Overrides::default(), &NoProgress).unwrap(), PRINT_SIZE, 1.0, LIGHT);
    Film { seed, ..film }
}

/// Worksheet and key.
fn written(film: &Film) -> [String; 2] {
    let (mut sheet, mut solved) = (Vec::new(), Vec::new());
    write(film, Theme::Adaptive, &NoProgress, &mut sheet).unwrap();
    write_key(film, Theme::Adaptive, &mut solved).unwrap();
    [sheet, solved].map(|file| String::from_utf8(file).unwrap())
}

#[test]
fn worksheets_match_the_answer_key_without_answers() {
    for lesson in &LESSONS {
        let film = film(lesson.id, 4);
        let [sheet, key] = written(&film);
        let questions = questions(&film);
        let (mut in_sheet, mut in_key) = (0, 0);
        for (take, question) in &questions {
            let text = escaped(&question.text);
            // The same order gives the same numbers.
            in_sheet +=
                sheet[in_sheet..].find(&text).unwrap_or_else(|| panic!("{text} is not next on the sheet"));
            in_key += key[in_key..].find(&text).unwrap_or_else(|| panic!("{text} is not next in the key"));
            let reason = question.why.as_deref().map(escaped);
            assert!(reason.is_none_or(|why| !sheet.contains(&why) && key.contains(&why)), "{question:?}");
            for misconception in &question.misconceptions {
                let explanation = escaped(&misconception.explanation);
                assert!(!sheet.contains(&explanation) && key.contains(&explanation), "{misconception:?}");
            }
            let width = film.takes[*take].recording.shape().width;
            assert!(key.contains(&escaped(&question.right(width))));
            // All options are printed, and the right one is not marked.
            assert!(question.options.iter().all(|option| sheet.contains(&escaped(option))), "{question:?}");
        }
        assert_eq!(
            [&sheet, &key].map(|file| file.matches("<li><p>").count() + file.matches("<li><figure>").count()),
            [questions.len(); 2]
        );
        let boxes: usize = questions
            .iter()
            .map(|(take, question)| match (question.answer, question.topic.info().form) {
                (Answer::Choice(_), _) => question.options.len(),
                (Answer::YesNo(_), _) => 2,
                (_, AnswerForm::Lanes { .. }) => film.takes[*take].recording.shape().width as usize,
                _ => 0,
            })
            .sum();
        assert_eq!(
            (sheet.matches("class=\"box\"").count(), key.matches("class=\"box\"").count()),
            (boxes, 0),
            "lesson {}",
            lesson.id
        );
        assert!(
            sheet.matches("class=\"ruled\"").count() >= questions.len() && !sheet.contains("class=\"right\"")
        );
        // With another k or other data the same number has other questions.
        let name =
            format!("<p class=\"weak\">Sheet 4 \u{b7} {}</p>", escaped(&about(&film.lead().recording)));
        assert!(
            !key.contains("<svg")
                && sheet.contains("<title>Lesson ")
                && [&sheet, &key].iter().all(|file| file.contains(&name))
        );
    }
}

#[test]
fn seeds_produce_different_sheets() {
    let [first, again, other] = [1, 1, 2].map(|seed| written(&film("sort", seed)));
    assert_eq!(first, again);
    assert!(first[0] != other[0] && first[1] != other[1]);
}

#[test]
fn sheet_figures_hide_the_answer() {
    let film = film("buffer", 3);
    let [sheet, _] = written(&film);
    let mut hides = 0;
    for (number, (take, question)) in
        questions(&film).iter().enumerate().filter(|(_, (_, question))| !question.topic.is_idea())
    {
        let element = |scene: Scene| svg::element(&scene, &format!("step{number}-"), &svg::variable);
        let asked = element(film.question_scene(*take, question.at));
        let shown = element(film.figure(question.at));
        assert!(sheet.contains(&asked), "{question:?}");
        hides += u32::from(asked != shown && !sheet.contains(&shown));
    }
    // A picture before a ballot hides nothing, but one before slots are computed hides the explanation of a
    // slot.
    assert!(hides > 0);
}

/// An empty place of a queue holds the key infinity; a lane without a point has no distance.
#[test]
fn empty_slots_are_infinite_and_idle_lanes_have_no_distance() {
    let lesson = named("warp-select").unwrap();
    // Two groups fill the queues and are merged; the last point then comes alone.
    let source = Source::Generate { spec: "uniform:d=2,n=17".to_owned(), seed: 5 };
    let cloud = Arc::new(cloud::load(&source, false, &NoProgress).unwrap());
    let setup = ProblemParameters {
        k: 8,
        metric: Metric::L2,
        order: Order::File,
        seed: 5,
        exclude_self: false,
        drop_zero_rows: false,
    };
    let none = Edits::default();
    let queries = Queries::Rows(vec![0]);
    let own = UserData { cloud: &cloud, queries: &queries, query: 0, arrangement: Arrangement::AsDrawn };
    let take = lesson.record_edited(own, setup, 8, &none, None).unwrap();
    let pool = lesson.pool(std::slice::from_ref(&take), 1);
    let mut alone = pool
        .iter()
        .filter(|(_, question)| question.topic == Topic::Takes)
        .map(|(_, question)| question_html(&take, question, false));
    let alone = alone.find(|item| item.contains("none")).unwrap();
    let (distances, keys) = alone.split_once(" Largest keys of the queues from lane 0 on: ").unwrap();
    assert_eq!((distances.matches("none").count(), distances.contains('\u{221e}')), (7, false), "{alone}");
    assert!(keys.starts_with(&format!("{}.", ["\u{221e}"; 8].join(", "))), "{alone}");
}

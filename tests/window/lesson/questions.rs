//! The questions of a lesson, answered alone and by a class.

use egui::Key;
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::Command;
use warpscope::app::lesson::quiz::Phase;
use warpscope::app::lesson::session::FaultChoice;
use warpscope::app::lesson::{LessonAction, LessonFile, QuizAction};
use warpscope::lesson::fault::Fault;
use warpscope::lesson::picture::{Panel, Target};
use warpscope::lesson::questions::{Answer, AnswerForm, ClickTarget, Question, Reply, Topic, letter};

use super::{click, key, number, on_lesson, open, picture, player, position, quiz};
use crate::driven::{Window, press, press_below, small, until, window};

fn pointer_target(question: &Question) -> Option<ClickTarget> {
    if let AnswerForm::Number { clickable, .. } = question.topic.info().form { clickable } else { None }
}

/// Skips questions until a wanted one comes.
#[track_caller]
fn skip_until(window: &mut Window, wanted: impl Fn(&Question) -> bool) -> Question {
    let (_, questions) = quiz(window).place();
    for _ in 0..questions {
        let question = quiz(window).question().1.clone();
        if wanted(&question) {
            return question;
        }
        press(window, "Skip");
    }
    panic!("no such question")
}

/// Answers the question correctly, with the mouse if requested.
fn answer(window: &mut Window, by_mouse: bool) {
    let question = quiz(window).question().1.clone();
    match question.answer {
        Answer::Lanes(mask) => {
            for lane in 0..32 {
                if mask >> lane & 1 == 1 && by_mouse {
                    click(window, Target::Lane(lane));
                }
                if !by_mouse {
                    if mask >> lane & 1 == 1 {
                        key(window, Key::Space);
                    }
                    key(window, Key::ArrowRight);
                }
            }
        }
        Answer::Number { right, .. } if by_mouse && pointer_target(&question).is_some() => {
            click(
                window,
                if pointer_target(&question) == Some(ClickTarget::Slot) {
                    Target::Slot(right)
                } else {
                    Target::Lane(right)
                },
            );
        }
        Answer::Number { right, .. } => {
            for digit in right.to_string().chars() {
                key(window, Key::from_name(&digit.to_string()).expect("a digit"));
            }
        }
        Answer::YesNo(yes) if by_mouse => press(window, if yes { "Yes" } else { "No" }),
        Answer::YesNo(yes) => key(window, if yes { Key::Y } else { Key::N }),
        Answer::Choice(option) if by_mouse => {
            press(window, &format!("{}  {}", letter(option as usize), question.options[option as usize]));
        }
        Answer::Choice(option) => {
            key(window, Key::from_name(&letter(option as usize).to_string()).expect("a letter"))
        }
    }
    if by_mouse { press(window, "Answer") } else { key(window, Key::Enter) }
}

#[test]
fn every_question_can_be_answered_by_mouse_and_by_keyboard() {
    for id in ["sort", "merge", "buffer", "order", "pruning", "warp-select", "radix-select"] {
        for by_mouse in [true, false] {
            let mut window = on_lesson(id);
            key(&mut window, Key::P);
            let (_, questions) = quiz(&window).place();
            assert!(questions > 1, "lesson {id}");
            for at in 0..questions {
                let (_, question) = quiz(&window).question().clone();
                assert_eq!(position(&window), question.at, "a later state is shown");
                key(&mut window, Key::End);
                assert_eq!(position(&window), question.at, "a later state can be reached");
                assert!(
                    window.query_by_role_and_label(Role::Slider, "Position").is_none(),
                    "marks would reveal the answer"
                );
                answer(&mut window, by_mouse);
                assert!(
                    matches!(quiz(&window).phase(), Phase::Answered { right: true, .. }),
                    "{question:?}: {:?}",
                    quiz(&window).phase()
                );
                assert_eq!(
                    position(&window),
                    question.shown_at(),
                    "the next state is shown, unless the answer is an idea"
                );
                let score = window.state().session().lesson.score(number(id));
                assert_eq!((score.right, score.asked), (at as u32 + 1, at as u32 + 1));
                if by_mouse { press(&mut window, "Next question") } else { key(&mut window, Key::Enter) }
            }
            assert_eq!(quiz(&window).phase(), &Phase::Done);
            key(&mut window, Key::P);
            assert!(window.state().session().lesson.quiz.is_none());
        }
    }
}

#[test]
fn wrong_answers_show_the_correct_one_and_a_reason() {
    let mut window = on_lesson("sort");
    key(&mut window, Key::P);
    let right = skip_until(&mut window, |question| question.topic == Topic::Partner).right(8);
    key(&mut window, Key::Enter);
    assert!(quiz(&window).is_asking(), "nothing was said");
    // Lane 9 does not exist, so the answer is wrong.
    key(&mut window, Key::Num9);
    key(&mut window, Key::Enter);
    window.get_by_label_contains(&format!("The answer is {right}."));
    let score = window.state().session().lesson.score(number("sort"));
    assert_eq!((score.right, score.asked), (0, 1));
    let said = warpscope::lesson::feedback::why(&quiz(&window).question().1, player(&window).cursor());
    assert!(said.ends_with(&format!("= {right}.")), "no worked example: {said}");
    assert!(window.query_all_by_label(&said).count() > 0, "{said}");
}

#[test]
fn known_misconceptions_are_explained() {
    let mut window = on_lesson("radix-select");
    key(&mut window, Key::P);
    // The first pass has no known mistake.
    let question = skip_until(&mut window, |question| {
        !question.misconceptions.is_empty() && matches!(question.answer, Answer::Number { .. })
    });
    let first = question.misconceptions.first().map(|misconception| (misconception, misconception.reply));
    let Some((misconception, Reply::Number(wrong))) = first else {
        panic!("{question:?} has no known mistake")
    };
    for digit in wrong.to_string().chars() {
        key(&mut window, Key::from_name(&digit.to_string()).expect("a digit"));
    }
    key(&mut window, Key::Enter);
    assert!(matches!(quiz(&window).phase(), Phase::Answered { right: false, .. }));
    window.get_by_label(&misconception.explanation);
}

#[test]
fn answers_are_hidden_until_questions_are_answered() {
    let mut window = on_lesson("order");
    press_below(&mut window, "Predict");
    let takes = player(&window).takes.len();
    for at in 0..takes {
        answer(&mut window, false);
        let before = position(&window);
        key(&mut window, Key::End);
        let (open, moved) = (at + 1 < takes, position(&window) > before);
        assert_eq!(moved, !open, "others would move, too");
        assert_eq!(
            window.query_by_role_and_label(Role::Slider, "Position").is_none(),
            open,
            "marks reveal the answer"
        );
        key(&mut window, Key::Enter);
    }
    let score = quiz(&window).score();
    assert_eq!((score.right, score.asked), (3, 3));
    // Starting again preserves the lesson's score.
    key(&mut window, Key::P);
    key(&mut window, Key::P);
    let (_, questions) = quiz(&window).place();
    for _ in 0..questions {
        press(&mut window, "Skip");
    }
    window.get_by_label(&format!("All {questions} questions asked: 0 of 0 right."));
    assert_eq!(window.state().session().lesson.score(number("order")).asked, 3);
    let next = player(&window).lesson.next().expect("a lesson after it");
    press_below(&mut window, &format!("Next: {}  {}", next.number, next.title));
    until(&mut window, "the next lesson", |app| {
        !app.is_busy()
            && app.session().lesson.player.as_ref().is_some_and(|player| player.lesson.id == next.id)
    });
    assert!(window.state().session().lesson.quiz.is_none());
}

/// The questions asked, in order.
fn questions(window: &mut Window) -> Vec<(usize, String)> {
    let (_, questions) = quiz(window).place();
    let mut asked = Vec::new();
    for _ in 0..questions {
        asked.push((quiz(window).question().1.at, quiz(window).question().1.text.clone()));
        press(window, "Skip");
    }
    asked
}

#[test]
fn questions_differ_each_time_unless_a_seed_is_given() {
    let mut window = on_lesson("merge");
    key(&mut window, Key::P);
    let mut rounds = vec![questions(&mut window)];
    for _ in 0..2 {
        press(&mut window, "Again");
        rounds.push(questions(&mut window));
    }
    assert!(rounds[0] != rounds[1] || rounds[1] != rounds[2], "{rounds:?}");
    let with_seed = || {
        let mut window = window_with_seed(5);
        open(&mut window, "merge");
        key(&mut window, Key::P);
        questions(&mut window)
    };
    assert_eq!(with_seed(), with_seed());
}

/// A window whose questions are drawn from a seed.
fn window_with_seed(seed: u64) -> Window {
    let mut window = window(small);
    window.state_mut().set_question_seed(seed);
    window
}

#[test]
fn wrong_options_explain_their_misconception() {
    let mut window = on_lesson("sort");
    key(&mut window, Key::P);
    let question = skip_until(&mut window, |question| question.topic == Topic::Why);
    let misconception = question.misconceptions[0].clone();
    let Reply::Choice(wrong) = misconception.reply else { panic!("{misconception:?}") };
    let before = position(&window);
    key(&mut window, Key::from_name(&(wrong + 1).to_string()).expect("a digit"));
    key(&mut window, Key::Enter);
    window.get_by_label(&misconception.explanation);
    window.get_by_label(question.why.as_deref().expect("a reason"));
    assert_eq!(position(&window), before, "no step answers it");
}

#[test]
fn class_votes_do_not_change_the_layout() {
    let mut window = on_lesson("buffer");
    window.state_mut().send(Command::Presenter);
    key(&mut window, Key::P);
    for wanted in [Topic::Votes, Topic::Slot, Topic::WhatIf] {
        let question = skip_until(&mut window, |question| question.topic == wanted);
        press(&mut window, "Let the class vote");
        let poll = |window: &Window| {
            if let Phase::Held(poll) = quiz(window).phase() {
                poll.clone()
            } else {
                panic!("no vote is open")
            }
        };
        let right = poll(&window).right();
        assert!(
            poll(&window).offers().len() >= 3 && question.answer.accepts(poll(&window).offers()[right].reply)
        );
        for pressed in [Key::A, Key::B, Key::Num2, Key::C, Key::C, Key::Backspace] {
            key(&mut window, pressed);
        }
        press(&mut window, "One vote more for A");
        press(&mut window, "One vote less for B");
        assert_eq!([0, 1, 2].map(|option| poll(&window).counted(option)), [2, 1, 1]);
        // While the question is open, the right answer is hidden and the picture does not change.
        let why = poll(&window).why().to_owned();
        let hidden = |window: &Window| {
            window.query_all_by_label_contains(&why).count()
                + window.query_all_by_label_contains(" is right: ").count()
        };
        assert_eq!((hidden(&window), position(&window)), (0, question.at));
        // The label of a wrong option does not change.
        let wrong = (0..).find(|option| *option != right).expect("a wrong option");
        let text = format!("{}: {}", letter(wrong), poll(&window).offers()[wrong].text);
        let tops = |window: &Window| {
            let option = window.get_by_label(&text).rect().top();
            let buttons = ["Stop asking", "Ask again after discussing"]
                .map(|name| window.get_by_role_and_label(Role::Button, name).rect().top());
            (option, buttons, picture(window))
        };
        let before = tops(&window);
        press(&mut window, "Show the votes");
        window.get_by_label("Votes for A: 2 (50 %)");
        assert_eq!((hidden(&window), position(&window), tops(&window)), (0, question.at, before));
        press(&mut window, "Ask again after discussing");
        assert_eq!(tops(&window), before);
        key(&mut window, Key::B);
        key(&mut window, Key::Enter);
        // Only the votes: the right answer is hidden until everybody has voted again.
        let shown = |window: &Window| {
            window.get_by_label("Votes for A: 2 (50 %), then 0 (0 %)");
            window.get_by_label("Votes for B: 1 (25 %), then 1 (100 %)");
        };
        shown(&window);
        assert_eq!((hidden(&window), position(&window), tops(&window)), (0, question.at, before));
        key(&mut window, Key::Enter);
        assert_eq!(tops(&window), before, "the layout changed");
        assert_eq!(position(&window), question.shown_at());
        assert!(hidden(&window) >= 2);
        shown(&window);
        assert_eq!(
            window.state().session().lesson.score(number("buffer")).asked,
            0,
            "a class vote changed the score"
        );
        key(&mut window, Key::Enter);
        assert!(
            matches!(quiz(&window).phase(), Phase::Held(_) | Phase::Done),
            "the class must continue voting"
        );
        // Restarts the questions, to reach the next kind.
        key(&mut window, Key::P);
        key(&mut window, Key::P);
    }
}

#[test]
fn questions_do_not_move_the_picture_in_the_presenter() {
    for id in ["buffer", "sort", "search"] {
        let mut window = on_lesson(id);
        key(&mut window, Key::F5);
        let before = picture(&window);
        key(&mut window, Key::P);
        // The question takes the place of the sentence, which is part of the picture.
        let above = picture(&window);
        assert_eq!((above.left_top(), above.width()), (before.left_top(), before.width()));
        while quiz(&window).is_asking() {
            assert_eq!(
                picture(&window),
                above,
                "lesson {id}, while {:?} is asked",
                quiz(&window).question().1.topic
            );
            answer(&mut window, false);
            assert_eq!(picture(&window), above, "lesson {id}, once it is answered");
            key(&mut window, Key::Enter);
        }
        key(&mut window, Key::P);
        assert_eq!(picture(&window), before);
    }
}

/// The positions of all labels, buttons and fields below the picture, by name.
fn texts_below(window: &Window) -> Vec<(String, egui::Rect)> {
    let top = picture(window).bottom();
    let roles = [Role::Label, Role::Button, Role::SpinButton];
    let nodes = roles.iter().flat_map(|&role| window.query_all_by_role(role));
    nodes
        .map(|node| (node.accesskit_node().label().or(node.value()).unwrap_or_default(), node.rect()))
        .filter(|(_, rect)| rect.center().y > top)
        .collect()
}

#[test]
fn a_question_and_its_poll_fit_on_a_projector() {
    for (id, seed) in ["search", "merge", "order"].into_iter().flat_map(|id| [(id, 1), (id, 2), (id, 3)]) {
        let mut window = window_with_seed(seed);
        open(&mut window, id);
        window.set_size(egui::vec2(1280.0, 720.0));
        key(&mut window, Key::F5);
        key(&mut window, Key::P);
        let at_first = picture(&window);
        let panel = egui::Rect::from_min_max(at_first.left_bottom(), egui::pos2(1280.0, 720.0));
        let all_is_there = |window: &Window, when: &str, names: &[&str]| {
            let (asked, shown) = (quiz(window).question().1.text.clone(), texts_below(window));
            assert_eq!(picture(window), at_first, "lesson {id}, {asked}, {when}");
            for (name, rect) in &shown {
                assert!(
                    panel.contains_rect(*rect),
                    "lesson {id}, {asked}, {when}: {name} is at {rect}, the panel at {panel}"
                );
            }
            for name in names.iter().copied().chain([asked.as_str(), "Stop asking"]) {
                assert!(
                    shown.iter().any(|(shown, _)| shown.contains(name)),
                    "lesson {id}, {asked}, {when}: no {name} in {shown:?}"
                );
            }
        };
        let (_, questions) = quiz(&window).place();
        for _ in 0..questions {
            // If a class is still voting, return to answering alone.
            if matches!(quiz(&window).phase(), Phase::Held(_)) {
                press(&mut window, "Back to answering");
            }
            let question = quiz(&window).question().1.clone();
            let options: Vec<&str> = question.options.iter().map(String::as_str).collect();
            all_is_there(
                &window,
                "while it is asked",
                &[&options[..], &["Answer", "Skip", "Let the class vote"]].concat(),
            );
            press(&mut window, "Let the class vote");
            [Key::A, Key::A, Key::B].into_iter().for_each(|vote| key(&mut window, vote));
            all_is_there(
                &window,
                "while a class votes",
                &[&options[..], &["One vote more for A", "Votes for B", "Show the votes"]].concat(),
            );
            press(&mut window, "Show the votes");
            all_is_there(
                &window,
                "with its votes",
                &["Votes for A: 2 (67 %)", "Votes for B: 1 (33 %)", "Reveal", "Ask again after discussing"],
            );
            press(&mut window, "Reveal");
            let Phase::Held(poll) = quiz(&window).phase() else { panic!("no vote is open") };
            let why = poll.why().to_owned();
            all_is_there(&window, "with its answer", &[" is right: ", &why, "Next question"]);
            press(&mut window, "Next question");
        }
        // Answered alone, with the longest explanation: a known mistake.
        key(&mut window, Key::P);
        key(&mut window, Key::P);
        while quiz(&window).is_asking() {
            let question = quiz(&window).question().1.clone();
            match question.misconceptions.first().map(|misconception| misconception.reply) {
                Some(Reply::Choice(wrong)) => {
                    window.state_mut().send(LessonAction::Quiz(QuizAction::Choose(wrong)));
                    key(&mut window, Key::Enter);
                    let chosen = format!("Not quite: you chose {}. Right is ", letter(wrong as usize));
                    all_is_there(
                        &window,
                        "once it is answered",
                        &[&chosen, &question.misconceptions[0].explanation, "Next question"],
                    );
                }
                _ => {
                    answer(&mut window, false);
                    all_is_there(&window, "once it is answered", &["Right: ", "Next question"]);
                }
            }
            key(&mut window, Key::Enter);
        }
    }
}

#[test]
fn questions_show_all_panels() {
    let mut window = on_lesson("buffer");
    window.state_mut().send(LessonAction::Zoom(Some(Panel::Code)));
    window.run_steps(2);
    key(&mut window, Key::P);
    assert_eq!(window.state().session().lesson.zoom, None);
    skip_until(&mut window, |question| question.topic == Topic::Votes);
    click(&mut window, Target::Lane(1));
    assert_eq!(quiz(&window).lanes(), Some(0b10), "not clickable");
}

#[test]
fn arrow_keys_select_options_and_change_numbers() {
    let mut window = on_lesson("sort");
    key(&mut window, Key::P);
    skip_until(&mut window, |question| question.topic == Topic::Why);
    let mut said = Vec::new();
    for pressed in [Key::ArrowDown, Key::ArrowDown, Key::ArrowUp, Key::ArrowRight, Key::ArrowLeft] {
        key(&mut window, pressed);
        said.push(quiz(&window).reply());
    }
    assert_eq!(said, [0, 1, 0, 1, 0].map(|option| Some(Reply::Choice(option))));
    key(&mut window, Key::P);
    key(&mut window, Key::P);
    skip_until(&mut window, |question| question.topic == Topic::Partner);
    [Key::ArrowUp, Key::ArrowUp].into_iter().for_each(|pressed| key(&mut window, pressed));
    assert_eq!(quiz(&window).reply(), Some(Reply::Number(1)));
}

#[test]
fn leaving_the_questions_returns_to_the_step_before() {
    let mut window = on_lesson("search");
    key(&mut window, Key::ArrowRight);
    let before = position(&window);
    for leave in [Key::P, Key::Escape] {
        key(&mut window, Key::P);
        skip_until(&mut window, |question| question.at != before);
        assert_ne!(position(&window), before);
        key(&mut window, leave);
        assert!(window.state().session().lesson.quiz.is_none());
        assert_eq!(position(&window), before, "{leave:?}");
    }
}

#[test]
fn faulty_searches_cannot_be_exported_as_worksheets() {
    let mut window = on_lesson("sort");
    let entries = |window: &mut Window| {
        press(window, "Export the lesson");
        let lacking = [LessonFile::Worksheet, LessonFile::Key, LessonFile::Handout].map(|file| {
            window.get_by_role_and_label(Role::Button, file.text()).accesskit_node().is_disabled()
        });
        key(window, Key::Escape);
        lacking
    };
    assert_eq!(entries(&mut window), [false; 3]);
    window.state_mut().send(LessonAction::SetFault(FaultChoice::Chosen(Fault::Direction)));
    until(&mut window, "the mistake", |app| {
        !app.is_busy()
            && app
                .session()
                .lesson
                .player
                .as_ref()
                .is_some_and(|player| player.take().recording.parameters.fault.is_some())
    });
    assert_eq!(entries(&mut window), [true, true, false]);
}

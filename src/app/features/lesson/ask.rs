//! The quiz question below the picture, answered by mouse or keyboard.

use egui::{Align, Key, Layout, Modifiers, RichText, Ui, UiBuilder};

use super::controls::next_button;
use super::poll::{LETTERS, cells, keys as poll_keys, leave_ui, poll_ui, stop_ui};
use super::state::player::Player;
use super::state::quiz::{AnswerInput, Phase, Quiz, Score};
use super::state::{LessonAction, PollAction, QuizAction};
use crate::app::look::tokens::Palette;
use crate::app::model::Actions;
use crate::lesson::describe::lanes;
use crate::lesson::feedback::why;
use crate::lesson::questions::{Answer, AnswerForm, ClickTarget, Question, Reply, letter};

/// Layout of a question.
#[derive(Clone, Copy, Debug)]
pub struct QuestionLayout {
    /// Size of running text, in points.
    pub size: f32,
    /// Whether the height is fixed, as when presenting. Everything must then fit without scrolling, in text
    /// no smaller than `size`.
    pub is_tight: bool,
}

pub fn ask_ui(
    ui: &mut Ui,
    quiz: &Quiz,
    player: &Player,
    room: QuestionLayout,
    palette: &Palette,
    actions: &mut Actions,
) {
    let size = room.size;
    let width = player.take().recording.shape().width;
    let (at, of) = quiz.place();
    let of_all = |text: String| {
        RichText::new(text).size(if room.is_tight { size } else { size * 0.85 }).color(palette.text_weak)
    };
    let scored = || of_all(format!("Question {at} of {of} · {}", score_text(quiz.score())));
    let large = |text: &str| RichText::new(text).size(size * 1.25).strong();
    let main = |text: &str| {
        egui::Button::new(RichText::new(text).size(size).strong().color(palette.on_accent))
            .fill(palette.accent)
    };
    let (_, question) = quiz.question();
    match quiz.phase() {
        Phase::Asking(entry) => {
            ui.label(large(&question.text).color(palette.text));
            match entry {
                AnswerInput::Choice(chosen) => options_ui(ui, question, *chosen, size, actions),
                AnswerInput::Lanes { .. } | AnswerInput::Number(_) => {
                    drop(ui.horizontal_wrapped(|ui| entry_ui(ui, entry, question, width, size, palette)))
                }
                AnswerInput::YesNo(_) => {}
            }
            ui.horizontal_wrapped(|ui| {
                if let AnswerInput::YesNo(said) = entry {
                    yes_no_ui(ui, *said, size, actions);
                }
                if ui.add_enabled(quiz.reply().is_some(), main("Answer")).on_hover_text("Enter").clicked() {
                    actions.send(LessonAction::Quiz(QuizAction::Enter));
                }
                if ui.button(RichText::new("Skip").size(size)).clicked() {
                    actions.send(LessonAction::Quiz(QuizAction::Skip));
                }
                let hold = ui.button(RichText::new("Let the class vote").size(size));
                if hold
                    .on_hover_text(
                        "Options to vote for. The answer stays hidden until you reveal it, and the score as \
                         it is.",
                    )
                    .clicked()
                {
                    actions.send(LessonAction::Quiz(QuizAction::Poll(PollAction::Hold)));
                }
                stop_ui(ui, size, actions);
                ui.label(scored());
            });
        }
        Phase::Held(poll) => {
            // The votes take most of the fixed height.
            let text = if room.is_tight { large(&question.text).size(size) } else { large(&question.text) };
            ui.label(text.color(palette.text));
            poll_ui(ui, poll, question, of_all(format!("Question {at} of {of}")), size, palette, actions);
        }
        Phase::Answered { reply, right } => {
            ui.label(RichText::new(&question.text).size(size).color(palette.text_weak));
            ui.label(large(&verdict(question, *reply, *right, width)).color(if *right {
                palette.intermediate
            } else {
                palette.error
            }));
            if let Some(says) = question.misconception(*reply) {
                ui.label(RichText::new(says).size(size).color(palette.text));
            }
            ui.label(RichText::new(why(question, player.cursor())).size(size).color(palette.text));
            ui.horizontal_wrapped(|ui| {
                if ui.add(main("Next question")).on_hover_text("Enter").clicked() {
                    actions.send(LessonAction::Quiz(QuizAction::Enter));
                }
                stop_ui(ui, size, actions);
                ui.label(scored());
            });
        }
        Phase::Done => {
            let text = format!("All {of} questions asked: {}.", score_text(quiz.score()));
            ui.label(large(&text).color(palette.text));
            ui.horizontal_wrapped(|ui| {
                if ui
                    .button(RichText::new("Again").size(size))
                    .on_hover_text("New questions, and a score of their own.")
                    .clicked()
                {
                    actions.send(LessonAction::Quiz(QuizAction::Again));
                }
                next_button(ui, player, Some(size), palette, actions);
                leave_ui(ui, "Close", size, actions);
            });
        }
    }
}

/// Whether the reply was right, and the right answer; for options with their letters.
fn verdict(question: &Question, reply: Reply, is_right: bool, width: u32) -> String {
    let right = question.right(width);
    match (reply, question.answer) {
        (Reply::Choice(chosen), Answer::Choice(option)) => {
            let right = format!("{}: \u{201c}{right}\u{201d}.", letter(option as usize));
            if is_right {
                format!("Right: {right}")
            } else {
                format!("Not quite: you chose {}. Right is {right}", letter(chosen as usize))
            }
        }
        _ if is_right => format!("Right: {right}."),
        _ => format!("Not quite: you said {}. The answer is {right}.", question.words(reply, width)),
    }
}

fn score_text(score: Score) -> String {
    format!("{} of {} right", score.right, score.asked)
}

/// The lanes or the number entered so far, and how to enter them.
fn entry_ui(ui: &mut Ui, entry: &AnswerInput, question: &Question, width: u32, size: f32, palette: &Palette) {
    let weak = |text: &str| RichText::new(text.to_owned()).size(size).color(palette.text_weak);
    let strong = |text: String| RichText::new(text).size(size).strong().color(palette.text);
    match (entry, question.topic.info().form) {
        (AnswerInput::Lanes { mask, at }, AnswerForm::Lanes { doing, none, .. }) => {
            ui.label(strong(if *mask == 0 {
                none.to_owned()
            } else {
                format!("{doing}: {}", lanes(*mask, width))
            }));
            ui.label(weak(&format!("· click lanes, or ← → and Space (lane {at})")));
        }
        (AnswerInput::Number(text), AnswerForm::Number { noun, clickable }) => {
            let shown = if text.is_empty() { "…" } else { text };
            ui.label(strong(format!("{noun}: {shown}")));
            ui.label(weak(&match clickable {
                Some(ClickTarget::Slot | ClickTarget::Lane) => {
                    format!("· click a {}, or type its number", noun.to_lowercase())
                }
                None => "· type a number; ← → count".to_owned(),
            }));
        }
        _ => {}
    }
}

fn yes_no_ui(ui: &mut Ui, said: Option<bool>, size: f32, actions: &mut Actions) {
    for (yes, text) in [(true, "Yes"), (false, "No")] {
        if ui
            .add(egui::Button::selectable(said == Some(yes), RichText::new(text).size(size)))
            .on_hover_text(&text[..1])
            .clicked()
        {
            actions.send(LessonAction::Quiz(QuizAction::Say(yes)));
        }
    }
}

fn options_ui(ui: &mut Ui, question: &Question, chosen: Option<u32>, size: f32, actions: &mut Actions) {
    let name = |(option, text)| format!("{}  {text}", letter(option));
    let texts: Vec<String> = question.options.iter().enumerate().map(name).collect();
    for (option, (rect, _)) in (0..).zip(cells(ui, &texts, 0.0, size)) {
        let button = egui::Button::selectable(
            chosen == Some(option),
            RichText::new(&texts[option as usize]).size(size),
        )
        .wrap();
        let builder =
            UiBuilder::new().id_salt(("option", option)).max_rect(rect).layout(Layout::top_down(Align::Min));
        let pressed = ui.scope_builder(builder, |ui| ui.add(button.min_size(rect.size()))).inner;
        if pressed.clicked() {
            actions.send(LessonAction::Quiz(QuizAction::Choose(option)));
        }
    }
}

/// Handles keys that answer, before shortcuts use them.
pub fn keys(ctx: &egui::Context, quiz: &Quiz, actions: &mut Actions) {
    // Typing into a field or pressing a focused button does not answer.
    if ctx.egui_wants_keyboard_input() {
        return;
    }
    if let Phase::Held(poll) = quiz.phase() {
        return poll_keys(ctx, poll, actions);
    }
    let asking = quiz.is_asking();
    let lanes = quiz.lanes();
    let mut send = |action| actions.send(LessonAction::Quiz(action));
    ctx.input_mut(|input| {
        if input.consume_key(Modifiers::NONE, Key::Enter) {
            send(QuizAction::Enter);
        }
        if matches!(quiz.phase(), Phase::Asking(AnswerInput::Choice(_))) {
            for (option, key) in (0..).zip(LETTERS) {
                if input.consume_key(Modifiers::NONE, key) {
                    send(QuizAction::Choose(option));
                }
            }
        }
        if !asking {
            return;
        }
        // In a list of options, down is forward; for numbers, up is more.
        let is_list = matches!(quiz.phase(), Phase::Asking(AnswerInput::Choice(_)));
        for (key, forward) in [
            (Key::ArrowLeft, false),
            (Key::ArrowRight, true),
            (Key::ArrowUp, !is_list),
            (Key::ArrowDown, is_list),
        ] {
            for _ in 0..input.count_and_consume_key(Modifiers::NONE, key) {
                send(QuizAction::Arrow(forward));
            }
        }
        if input.consume_key(Modifiers::NONE, Key::Space)
            && let Phase::Asking(AnswerInput::Lanes { at, .. }) = quiz.phase()
        {
            send(QuizAction::ChooseLane(*at));
        }
        if input.consume_key(Modifiers::NONE, Key::Backspace) {
            send(QuizAction::Erase);
        }
        if matches!(quiz.phase(), Phase::Asking(AnswerInput::YesNo(_))) {
            for (key, yes) in [(Key::Y, true), (Key::N, false)] {
                if input.consume_key(Modifiers::NONE, key) {
                    send(QuizAction::Say(yes));
                }
            }
        }
        const DIGITS: [Key; 10] = [
            Key::Num0,
            Key::Num1,
            Key::Num2,
            Key::Num3,
            Key::Num4,
            Key::Num5,
            Key::Num6,
            Key::Num7,
            Key::Num8,
            Key::Num9,
        ];
        // One at a time, in the order typed.
        let typed: Vec<u8> = input
            .events
            .iter()
            .filter_map(|event| match event {
                egui::Event::Key { key, pressed: true, modifiers, .. }
                    if !modifiers.command && !modifiers.alt =>
                {
                    DIGITS.iter().position(|digit| digit == key).map(|digit| digit as u8)
                }
                _ => None,
            })
            .collect();
        for digit in typed {
            input.consume_key(Modifiers::NONE, DIGITS[digit as usize]);
            if lanes.is_none() {
                send(QuizAction::Digit(char::from(b'0' + digit)));
            }
        }
    });
}

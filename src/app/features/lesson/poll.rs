//! A question that is left to a class: votes for its options, then bars. Nothing moves when they are revealed: their room is there before.

use std::sync::Arc;

use egui::{Align2, Color32, DragValue, FontId, Galley, Key, Modifiers, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::app::features::lesson::ask::{LETTERS, stop_ui};
use crate::app::look::tokens::Palette;
use crate::app::model::lesson::poll::{MOST_VOTES, Poll};
use crate::app::model::{Actions, LessonAction, PollAction, QuizAction};
use crate::lesson::questions::{Question, letter};

/// The options with their votes and bars, and why the right one is right.
pub fn poll_ui(ui: &mut Ui, poll: &Poll, question: &Question, size: f32, palette: &Palette, actions: &mut Actions) {
    let mut send = |action| actions.send(LessonAction::Quiz(QuizAction::Poll(action)));
    let row = size * 1.7;
    let wide = ui.available_width();
    // What is left of the text and the votes is the bars'.
    let votes = size * 7.5;
    let text = ((wide - votes) * 0.58).max(size * 6.0);
    for (option, offer) in poll.offers().iter().enumerate() {
        let is_right = poll.is_revealed() && option == poll.right();
        let color = if is_right { palette.intermediate } else { palette.text };
        let words = layout(ui, format!("{}  {}", letter(option), offer.text), size, color, text - size * 0.5);
        let high = row.max(words.size().y + size * 0.2);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = size * 0.25;
            let (rect, response) = ui.allocate_exact_size(vec2(text, high), Sense::hover());
            let said = if is_right { format!("{} is right: {}", letter(option), offer.text) } else { format!("{}: {}", letter(option), offer.text) };
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, said.clone()));
            ui.painter().galley(pos2(rect.left(), rect.center().y - words.size().y / 2.0), words, color);
            if is_right {
                // Not by colour alone.
                let frame = rect.shrink2(vec2(size * 0.15, 1.0)).translate(vec2(-size * 0.3, 0.0));
                ui.painter().rect_stroke(frame, 3.0, Stroke::new(2.0, palette.intermediate), StrokeKind::Inside);
            }
            votes_ui(ui, poll, option, size, &mut send);
            let (bars, response) = ui.allocate_exact_size(vec2(ui.available_width().max(size * 4.0), high), Sense::hover());
            if poll.is_revealed() {
                bars_ui(ui, poll, option, bars, size, palette);
                let said = (0..poll.rounds()).map(|round| shown(poll, round, option)).collect::<Vec<_>>().join(", then ");
                response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Votes for {}: {said}", letter(option))));
            }
        });
    }
    reasons_ui(ui, poll, question, size, palette);
    ui.horizontal_wrapped(|ui| {
        let (text, action) = if poll.is_revealed() { ("Next question", QuizAction::Enter) } else { ("Reveal", QuizAction::Poll(PollAction::Reveal)) };
        let main = egui::Button::new(RichText::new(text).size(size).strong().color(palette.on_accent)).fill(palette.accent);
        if ui.add(main).on_hover_text("Enter").clicked() {
            actions.send(LessonAction::Quiz(action));
        }
        let again = egui::Button::new(RichText::new("Ask again after discussing").size(size));
        let about = "Votes begin again. The first ones stay, and both are shown side by side.";
        if ui.add_enabled(poll.can_ask_again(), again).on_hover_text(about).on_disabled_hover_text("It was voted on twice.").clicked() {
            actions.send(LessonAction::Quiz(QuizAction::Poll(PollAction::AskAgain)));
        }
        let back = egui::Button::new(RichText::new("Back to answering").size(size));
        if ui.add_enabled(!poll.is_revealed(), back).on_hover_text("Without votes.").clicked() {
            actions.send(LessonAction::Quiz(QuizAction::Poll(PollAction::LetGo)));
        }
        stop_ui(ui, size, actions);
        let twice = poll.rounds() == 2;
        let says = match (poll.is_revealed(), twice) {
            (false, _) => format!("{}A to D or 1 to 4 count a vote, Backspace takes it back", if twice { "Second vote: " } else { "" }),
            (true, true) => "Left the first vote, right the second".to_owned(),
            (true, false) => return,
        };
        ui.label(RichText::new(says).size(size * 0.85).color(palette.text_weak));
    });
}

fn layout(ui: &Ui, text: String, size: f32, color: Color32, wide: f32) -> Arc<Galley> {
    ui.painter().layout(text, FontId::proportional(size), color, wide)
}

/// How many voted for an option: counted, typed or dragged.
fn votes_ui(ui: &mut Ui, poll: &Poll, option: usize, size: f32, send: &mut impl FnMut(PollAction)) {
    let (counted, open, name) = (poll.counted(option), !poll.is_revealed(), letter(option));
    let small = |text: &str| egui::Button::new(RichText::new(text).size(size)).min_size(vec2(size * 1.6, size * 1.5));
    let less = ui.add_enabled(open && counted > 0, small("\u{2212}"));
    less.widget_info(|| WidgetInfo::labeled(Role::Button, open && counted > 0, format!("One vote less for {name}")));
    if less.clicked() {
        send(PollAction::Set(option, counted - 1));
    }
    let mut votes = counted;
    let field = ui
        .scope(|ui| {
            ui.style_mut().override_font_id = Some(FontId::proportional(size));
            ui.add_enabled_ui(open, |ui| ui.add_sized(vec2(size * 2.8, size * 1.5), DragValue::new(&mut votes).range(0..=MOST_VOTES))).inner
        })
        .inner;
    field.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::SpinButton, open, format!("Votes for {name}"));
        info.value = Some(f64::from(counted));
        info
    });
    if votes != counted {
        send(PollAction::Set(option, votes));
    }
    let more = ui.add_enabled(open, small("+"));
    more.widget_info(|| WidgetInfo::labeled(Role::Button, open, format!("One vote more for {name}")));
    if more.clicked() {
        send(PollAction::Vote(option));
    }
}

/// The votes of a round, in words.
fn shown(poll: &Poll, round: usize, option: usize) -> String {
    format!("{} ({:.0} %)", poll.votes(round, option), 100.0 * poll.share(round, option))
}

/// A bar for each round, the second beside the first.
fn bars_ui(ui: &Ui, poll: &Poll, option: usize, rect: Rect, size: f32, palette: &Palette) {
    let rounds = poll.rounds();
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let wide = rect.width() / rounds as f32;
    for round in 0..rounds {
        let place = Rect::from_min_size(pos2(rect.left() + round as f32 * wide, rect.top()), vec2(wide - size * 0.5, rect.height()));
        let bar = place.shrink2(vec2(0.0, rect.height() * 0.18));
        painter.rect_filled(bar, 2.0, palette.panel);
        let share = Rect::from_min_size(bar.min, vec2(bar.width() * poll.share(round, option), bar.height()));
        let color = if option == poll.right() { palette.intermediate } else { palette.candidate };
        painter.rect_filled(share, 2.0, color.gamma_multiply(if round + 1 == rounds { 0.75 } else { 0.45 }));
        painter.text(
            bar.left_center() + vec2(size * 0.3, 0.0),
            Align2::LEFT_CENTER,
            shown(poll, round, option),
            FontId::proportional(size * 0.9),
            palette.text,
        );
    }
}

/// Why the right option is right, and what the wrong one with most votes would be the answer to.
fn reasons_ui(ui: &mut Ui, poll: &Poll, question: &Question, size: f32, palette: &Palette) {
    let wide = ui.available_width();
    let mistake = |option: usize| question.slip(poll.offers()[option].reply).map(|says| format!("{}: {says}", letter(option)));
    let high = |ui: &Ui, text: String| layout(ui, text, size, palette.text, wide).size().y;
    let why = layout(ui, poll.why().to_owned(), size, palette.text, wide);
    // As high as the longest, whichever it will be.
    let longest = (0..poll.offers().len()).filter_map(mistake).map(|text| high(ui, text)).fold(0.0, f32::max);
    let (rect, response) = ui.allocate_exact_size(vec2(wide, why.size().y + longest), Sense::hover());
    if !poll.is_revealed() {
        return;
    }
    let below = rect.min + vec2(0.0, why.size().y);
    ui.painter().galley(rect.min, why, palette.text);
    let wrong = poll.most_wrong().and_then(mistake);
    if let Some(wrong) = &wrong {
        ui.painter().galley(below, layout(ui, wrong.clone(), size, palette.text_weak, wide), palette.text_weak);
    }
    let said = [Some(poll.why().to_owned()), wrong].into_iter().flatten().collect::<Vec<_>>().join(" ");
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, said.clone()));
}

/// Takes the keys that count votes.
pub fn keys(ctx: &egui::Context, poll: &Poll, actions: &mut Actions) {
    const DIGITS: [Key; 4] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4];
    let mut send = |action| actions.send(LessonAction::Quiz(action));
    ctx.input_mut(|input| {
        if input.consume_key(Modifiers::NONE, Key::Enter) {
            send(if poll.is_revealed() { QuizAction::Enter } else { QuizAction::Poll(PollAction::Reveal) });
        }
        for (option, key) in LETTERS.into_iter().enumerate().chain(DIGITS.into_iter().enumerate()) {
            for _ in 0..input.count_and_consume_key(Modifiers::NONE, key) {
                send(QuizAction::Poll(PollAction::Vote(option)));
            }
        }
        for _ in 0..input.count_and_consume_key(Modifiers::NONE, Key::Backspace) {
            send(QuizAction::Poll(PollAction::TakeBack));
        }
    });
}

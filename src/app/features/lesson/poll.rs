//! A question for a class: vote on the options, show bars, then reveal the right one. Space for everything is
//! reserved from the start, so that nothing moves.

use std::sync::Arc;

use egui::{
    Align, Align2, Color32, DragValue, FontId, Galley, Key, Layout, Modifiers, Rect, RichText, Role, Sense,
    Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use super::state::poll::{MAX_VOTES, Poll};
use super::state::{LessonAction, PollAction, QuizAction};
use crate::app::look::tokens::Palette;
use crate::app::model::{Actions, Command};
use crate::lesson::questions::{Question, Reply, letter};

/// Width of an option's votes, in units of the text size.
const VOTES: f32 = 5.6;

/// The options with votes and bars, and the explanation. `small` names the question.
pub fn poll_ui(
    ui: &mut Ui,
    poll: &Poll,
    question: &Question,
    small: RichText,
    size: f32,
    palette: &Palette,
    actions: &mut Actions,
) {
    let mut send = |action| actions.send(LessonAction::Quiz(QuizAction::Poll(action)));
    let texts: Vec<String> = poll
        .offers()
        .iter()
        .enumerate()
        .map(|(option, offer)| format!("{}  {}", letter(option), offer.text))
        .collect();
    for (option, (rect, words)) in cells(ui, &texts, size * VOTES, size).into_iter().enumerate() {
        option_ui(ui, poll, option, rect, words, palette, size);
        let votes = Rect::from_min_max(pos2(rect.right() - size * VOTES, rect.top()), rect.max);
        if poll.is_open() {
            votes_ui(ui, poll, option, votes, size, &mut send);
        } else {
            counts_ui(ui, poll, option, votes, size, palette);
        }
    }
    reasons_ui(ui, poll, question, size, palette);
    ui.horizontal_wrapped(|ui| {
        let (text, action) = next(poll);
        let main = egui::Button::new(RichText::new(text).size(size).strong().color(palette.on_accent))
            .fill(palette.accent);
        if ui.add(main).on_hover_text("Enter").clicked() {
            actions.send(LessonAction::Quiz(action));
        }
        let again = egui::Button::new(RichText::new("Ask again after discussing").size(size));
        let about = "Votes begin again. The first ones stay, and both are shown side by side.";
        let why_not = if poll.is_revealed() { "The answer is known." } else { "The class has voted twice." };
        if ui
            .add_enabled(poll.can_ask_again(), again)
            .on_hover_text(about)
            .on_disabled_hover_text(why_not)
            .clicked()
        {
            actions.send(LessonAction::Quiz(QuizAction::Poll(PollAction::AskAgain)));
        }
        let back = egui::Button::new(RichText::new("Back to answering").size(size));
        if ui.add_enabled(!poll.is_revealed(), back).on_hover_text("Without votes.").clicked() {
            actions.send(LessonAction::Quiz(QuizAction::Poll(PollAction::LetGo)));
        }
        stop_ui(ui, size, actions);
        ui.label(small);
    });
}

/// The action of Enter and of the first button.
fn next(poll: &Poll) -> (&'static str, QuizAction) {
    match (poll.is_open(), poll.is_revealed()) {
        (true, _) => ("Show the votes", QuizAction::Poll(PollAction::ShowVotes)),
        (false, false) => ("Reveal", QuizAction::Poll(PollAction::Reveal)),
        (false, true) => ("Next question", QuizAction::Enter),
    }
}

fn layout(ui: &Ui, text: String, size: f32, color: Color32, wide: f32) -> Arc<Galley> {
    ui.painter().layout(text, FontId::proportional(size), color, wide)
}

/// An option, with bars behind it once votes are shown: the second vote below the first.
fn option_ui(
    ui: &mut Ui,
    poll: &Poll,
    option: usize,
    rect: Rect,
    words: Arc<Galley>,
    palette: &Palette,
    size: f32,
) {
    let is_right = poll.is_revealed() && option == poll.right();
    let text = &poll.offers()[option].text;
    let said = if is_right {
        format!("{} is right: {text}", letter(option))
    } else {
        format!("{}: {text}", letter(option))
    };
    let response = ui.allocate_rect(rect, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, said.clone()));
    let painter = ui.painter();
    painter.rect_filled(rect, 3.0, palette.panel);
    if !poll.is_open() {
        let (rounds, color) =
            (poll.rounds(), if is_right { palette.intermediate } else { palette.candidate });
        let high = rect.height() / rounds as f32;
        for round in 0..rounds {
            let top = rect.top() + round as f32 * high;
            let bar = Rect::from_min_size(
                pos2(rect.left(), top),
                vec2(rect.width() * poll.share(round, option), high),
            );
            painter.rect_filled(bar, 3.0, color.gamma_multiply(if round + 1 == rounds { 0.5 } else { 0.3 }));
        }
    }
    let color = if is_right { palette.intermediate } else { palette.line };
    // A wider border marks the right option without relying on colour.
    painter.rect_stroke(rect, 3.0, Stroke::new(if is_right { 3.0 } else { 1.0 }, color), StrokeKind::Inside);
    painter.galley(
        pos2(rect.left() + size * 0.4, rect.center().y - words.size().y / 2.0),
        words,
        palette.text,
    );
}

/// The number of votes for an option, which can be clicked, typed or dragged.
fn votes_ui(
    ui: &mut Ui,
    poll: &Poll,
    option: usize,
    rect: Rect,
    size: f32,
    send: &mut impl FnMut(PollAction),
) {
    let (counted, name) = (poll.counted(option), letter(option));
    let builder = UiBuilder::new()
        .id_salt(("votes", option))
        .max_rect(rect)
        .layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(builder, |ui| {
        ui.spacing_mut().item_spacing.x = size * 0.15;
        ui.spacing_mut().button_padding = vec2(2.0, 0.0);
        let small = |text: &str| {
            egui::Button::new(RichText::new(text).size(size)).min_size(vec2(size * 1.3, size * 1.3))
        };
        ui.add_space(size * 0.1);
        let more = ui.add(small("+"));
        more.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("One vote more for {name}")));
        if more.clicked() {
            send(PollAction::Vote(option));
        }
        let mut votes = counted;
        ui.style_mut().override_font_id = Some(FontId::proportional(size));
        let field =
            ui.add_sized(vec2(size * 2.4, size * 1.3), DragValue::new(&mut votes).range(0..=MAX_VOTES));
        field.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::SpinButton, true, format!("Votes for {name}"));
            info.value = Some(f64::from(counted));
            info
        });
        if votes != counted {
            send(PollAction::Set(option, votes));
        }
        let less = ui.add_enabled(counted > 0, small("\u{2212}"));
        less.widget_info(|| {
            WidgetInfo::labeled(Role::Button, counted > 0, format!("One vote less for {name}"))
        });
        if less.clicked() {
            send(PollAction::Set(option, counted - 1));
        }
    });
}

/// The votes shown: count and share for one round, the change of the share for two.
fn counts_ui(ui: &mut Ui, poll: &Poll, option: usize, rect: Rect, size: f32, palette: &Palette) {
    let share = |round: usize| format!("{:.0} %", 100.0 * poll.share(round, option));
    let counted = |round: usize| format!("{} ({})", poll.votes(round, option), share(round));
    let shown = if poll.rounds() == 1 { counted(0) } else { format!("{} \u{2192} {}", share(0), share(1)) };
    let said = (0..poll.rounds()).map(counted).collect::<Vec<_>>().join(", then ");
    ui.painter().text(
        rect.right_center() - vec2(size * 0.4, 0.0),
        Align2::RIGHT_CENTER,
        shown,
        FontId::proportional(size),
        palette.text,
    );
    let response = ui.allocate_rect(rect, Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Label, true, format!("Votes for {}: {said}", letter(option)))
    });
    response.on_hover_text(said);
}

/// Instructions for voting. After the reveal they are replaced by the explanation of the right option, and
/// the misconception behind the most frequent wrong one.
fn reasons_ui(ui: &mut Ui, poll: &Poll, question: &Question, size: f32, palette: &Palette) {
    let wide = ui.available_width();
    let mistake = |option: usize| {
        question.misconception(poll.offers()[option].reply).map(|says| format!("{}: {says}", letter(option)))
    };
    let high = |ui: &Ui, text: String| layout(ui, text, size, palette.text, wide).size().y;
    let why = layout(ui, poll.why().to_owned(), size, palette.text, wide);
    // Sized for the longest explanation.
    let longest = (0..poll.offers().len()).filter_map(mistake).map(|text| high(ui, text)).fold(0.0, f32::max);
    let (rect, response) = ui.allocate_exact_size(vec2(wide, why.size().y + longest), Sense::hover());
    if poll.is_revealed() {
        let below = rect.min + vec2(0.0, why.size().y);
        ui.painter().galley(rect.min, why, palette.text);
        let wrong = poll.most_wrong().and_then(mistake);
        if let Some(wrong) = &wrong {
            ui.painter().galley(
                below,
                layout(ui, wrong.clone(), size, palette.text_weak, wide),
                palette.text_weak,
            );
        }
        let said = [Some(poll.why().to_owned()), wrong].into_iter().flatten().collect::<Vec<_>>().join(" ");
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, said.clone()));
        return;
    }
    let options = poll.offers().len();
    let keys = match (options, yes(poll).is_some()) {
        (2, true) => "Y and N, A and B, or 1 and 2".to_owned(),
        _ => format!("A to {} or 1 to {options}", letter(options.saturating_sub(1))),
    };
    let says = match (poll.is_open(), poll.rounds()) {
        (true, 1) => format!("{keys} count a vote; Backspace takes the last one back."),
        (true, _) => format!("Second vote: {keys} count a vote; Backspace takes the last one back."),
        (false, 1) => "Reveal the answer, or let them discuss it and vote again.".to_owned(),
        (false, _) => "Above the first vote, below it the second.".to_owned(),
    };
    ui.painter().galley(rect.min, layout(ui, says.clone(), size, palette.text_weak, wide), palette.text_weak);
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, says.as_str()));
}

/// The option "yes" of a yes/no question.
fn yes(poll: &Poll) -> Option<usize> {
    poll.offers().iter().position(|offer| offer.reply == Reply::YesNo(true))
}

/// Handles keys that count votes.
pub fn keys(ctx: &egui::Context, poll: &Poll, actions: &mut Actions) {
    const DIGITS: [Key; 4] = [Key::Num1, Key::Num2, Key::Num3, Key::Num4];
    let mut send = |action| actions.send(LessonAction::Quiz(action));
    ctx.input_mut(|input| {
        if input.consume_key(Modifiers::NONE, Key::Enter) {
            send(next(poll).1);
        }
        let yes_no = yes(poll).into_iter().flat_map(|yes| [(yes, Key::Y), (1 - yes.min(1), Key::N)]);
        for (option, key) in
            LETTERS.into_iter().enumerate().chain(DIGITS.into_iter().enumerate()).chain(yes_no)
        {
            for _ in 0..input.count_and_consume_key(Modifiers::NONE, key) {
                send(QuizAction::Poll(PollAction::Vote(option)));
            }
        }
        for _ in 0..input.count_and_consume_key(Modifiers::NONE, Key::Backspace) {
            send(QuizAction::Poll(PollAction::TakeBack));
        }
    });
}

pub(super) const LETTERS: [Key; 4] = [Key::A, Key::B, Key::C, Key::D];

pub(super) fn stop_ui(ui: &mut Ui, size: f32, actions: &mut Actions) {
    leave_ui(ui, "Stop asking", size, actions);
}

pub(super) fn leave_ui(ui: &mut Ui, text: &str, size: f32, actions: &mut Actions) {
    if ui.button(RichText::new(text).size(size)).on_hover_text("P").clicked() {
        actions.send(Command::Predict);
    }
}

// Layout of options in one row, two columns or one column, depending on the width.

/// Height of a one-line cell, and minimum width in two columns, in units of the text size.
const ROW: f32 = 1.3;
const COLUMN: f32 = 20.0;

/// Cells for texts in reading order, with their layouts. Next to each text, `margin` points are left free.
pub fn cells(ui: &mut Ui, texts: &[String], margin: f32, size: f32) -> Vec<(Rect, Arc<Galley>)> {
    let (wide, gap, around) = (ui.available_width(), size * 0.5, margin + size * 0.6);
    let text = |text: &String, wide: f32| {
        ui.painter().layout(text.clone(), FontId::proportional(size), Color32::PLACEHOLDER, wide)
    };
    let lengths: Vec<f32> = texts.iter().map(|of| text(of, f32::INFINITY).size().x + around).collect();
    let widths = columns(&lengths, wide, gap, size * COLUMN);
    let galleys: Vec<Arc<Galley>> = texts
        .iter()
        .zip(widths.iter().cycle())
        .map(|(of, width)| text(of, (width - around + 1.0).max(size * 4.0)))
        .collect();
    let mut placed = Vec::with_capacity(galleys.len());
    for row in galleys.chunks(widths.len()) {
        let high = row.iter().map(|galley| galley.size().y + size * 0.1).fold(size * ROW, f32::max);
        let (rect, _) = ui.allocate_exact_size(vec2(wide, high), Sense::hover());
        let mut left = rect.left();
        for (&width, galley) in widths.iter().zip(row) {
            placed.push((Rect::from_min_size(pos2(left, rect.top()), vec2(width, high)), Arc::clone(galley)));
            left += width + gap;
        }
    }
    placed
}

/// Column widths for cells of these lengths: one row if all fit equal shares, else two columns if they are
/// wide enough, else one.
fn columns(lengths: &[f32], wide: f32, gap: f32, least: f32) -> Vec<f32> {
    let all = lengths.len().max(1);
    let share = |columns: usize| (wide - gap * (columns as f32 - 1.0)) / columns as f32;
    let longest = |cells: &mut dyn Iterator<Item = &f32>| cells.copied().fold(least.min(share(2)), f32::max);
    if lengths.iter().all(|&length| length <= share(all)) {
        return vec![share(all); all];
    }
    if share(2) < least {
        return vec![wide];
    }
    // A column of short options yields room to a long one before it wraps.
    let [left, right] = [0, 1].map(|first| longest(&mut lengths.iter().skip(first).step_by(2)));
    let spare = wide - gap - left - right;
    if spare >= 0.0 { vec![left + spare / 2.0, right + spare / 2.0] } else { vec![share(2); 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn option_columns_depend_on_text_width() {
        assert_eq!(columns(&[50.0, 60.0, 70.0, 80.0], 390.0, 10.0, 100.0), [90.0; 4]);
        assert_eq!(
            columns(&[120.0, 60.0, 150.0, 80.0], 390.0, 10.0, 100.0),
            [215.0, 165.0],
            "widths follow the contents"
        );
        assert_eq!(
            columns(&[300.0, 200.0, 150.0, 80.0], 390.0, 10.0, 100.0),
            [190.0; 2],
            "longer texts wrap"
        );
        assert_eq!(columns(&[120.0, 60.0, 150.0, 80.0], 190.0, 10.0, 100.0), [190.0]);
        assert_eq!(columns(&[120.0, 60.0], 390.0, 10.0, 100.0), [190.0; 2]);
    }
}

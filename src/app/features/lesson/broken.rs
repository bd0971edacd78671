//! Left, below the data: a mistake that the search is recorded with, and the exercise of finding one that is not named.

use egui::{ComboBox, RichText, Ui};

use crate::app::features::lesson::state::LessonAction;
use crate::app::features::lesson::state::player::Player;
use crate::app::features::lesson::state::session::Breaking;
use crate::app::look::{Palette, heading_ui, row_ui};
use crate::app::model::Actions;
use crate::lesson::fault::{self, FAULTS, Fault, Row, known_by};
use crate::lesson::lessons::{Lesson, Search, Take};
use crate::lesson::{LessonError, Recording};

/// Records takes again as it is chosen: with a mistake, with one that nobody is told, or as they are.
///
/// # Errors
/// When the lesson cannot be broken.
pub fn broken(lesson: &Lesson, takes: Vec<Take>, breaking: Breaking) -> Result<Vec<Take>, LessonError> {
    let with = |fault: Fault| takes.iter().map(|take| lesson.broken(take, fault)).collect::<Result<Vec<_>, _>>();
    match breaking {
        Breaking::No => Ok(takes),
        Breaking::Chosen(fault) => with(fault),
        Breaking::Hunt { draw, .. } => {
            // One that nothing comes of cannot be found.
            let known = known_by(lesson);
            for row in known.iter().cycle().skip(draw as usize % known.len()).take(known.len()) {
                let tried = with(row.fault)?;
                if tried.iter().all(|take| take.broken_at().is_some()) {
                    return Ok(tried);
                }
            }
            Ok(takes)
        }
    }
}

/// The mistake of what is shown.
fn mistake(recording: &Recording) -> Option<&'static Row> {
    recording.parameters.fault.map(fault::row)
}

pub fn broken_ui(ui: &mut Ui, lesson: &Lesson, breaking: Breaking, player: Option<&Player>, palette: &Palette, actions: &mut Actions) {
    if lesson.search != Search::Kernel {
        return;
    }
    heading_ui(ui, "Break it");
    let player = player.filter(|player| player.lesson.number == lesson.number);
    match breaking {
        Breaking::Hunt { guess, .. } => hunt_ui(ui, lesson, guess, player, palette, actions),
        _ => choice_ui(ui, breaking, player, palette, actions),
    }
}

/// Which mistake is made, and what it leads to.
fn choice_ui(ui: &mut Ui, breaking: Breaking, player: Option<&Player>, palette: &Palette, actions: &mut Actions) {
    let chosen = if let Breaking::Chosen(fault) = breaking { Some(fault) } else { None };
    row_ui(ui, "Mistake", palette, |ui, _| {
        let title = |fault: Option<Fault>| fault.map_or("None", |fault| fault::row(fault).title);
        let combo = ComboBox::from_id_salt("mistake").width(ui.available_width()).truncate().selected_text(title(chosen));
        let response = combo.show_ui(ui, |ui| {
            for other in std::iter::once(None).chain(FAULTS.iter().map(|row| Some(row.fault))) {
                if ui.selectable_label(other == chosen, title(other)).clicked() && other != chosen {
                    actions.send(LessonAction::Break(other.map_or(Breaking::No, Breaking::Chosen)));
                }
            }
        });
        response.response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Mistake made on purpose"));
    });
    if let Some(fault) = chosen {
        wrap_ui(ui, fault::row(fault).about, palette);
        // What is shown may still be what was chosen before.
        if let Some(player) = player.filter(|player| player.take().recording.parameters.fault == Some(fault)) {
            consequences_ui(ui, player, palette, actions);
        }
    }
    let hunt = "Find the bug\u{2026}";
    if ui.button(hunt).on_hover_text("One of these mistakes is made, and you say which.").clicked() {
        // Any number will do, as long as it is another one each time.
        let draw = ui.input(|input| input.time.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
        actions.send(LessonAction::Break(Breaking::Hunt { draw, guess: None }));
    }
}

/// Where an invariant breaks, and what comes of it in the end.
fn consequences_ui(ui: &mut Ui, player: &Player, palette: &Palette, actions: &mut Actions) {
    if let Some(consequences) = player.take().recording.consequences() {
        wrap_ui(ui, &consequences.verdict(), palette);
    }
    if let Some(at) = player.take().broken_at()
        && ui.button("Go to where it breaks").clicked()
    {
        actions.send(LessonAction::Seek(at));
    }
}

/// Which mistake is it? Then why.
fn hunt_ui(ui: &mut Ui, lesson: &Lesson, guess: Option<Fault>, player: Option<&Player>, palette: &Palette, actions: &mut Actions) {
    let made = player.and_then(|player| mistake(&player.take().recording));
    match guess.and(made) {
        Some(row) => {
            let right = guess == Some(row.fault);
            let verdict = if right { "Right".to_owned() } else { format!("No, it is: {}", row.title) };
            ui.label(RichText::new(verdict).strong().color(if right { palette.text } else { palette.error }));
            wrap_ui(ui, row.about, palette);
            wrap_ui(ui, row.look_for, palette);
            if let Some(player) = player {
                consequences_ui(ui, player, palette, actions);
            }
        }
        None => {
            wrap_ui(ui, "The search makes one of these mistakes. Step through it until a badge turns red, and say which one.", palette);
            for row in known_by(lesson) {
                let response = ui.add_enabled(made.is_some(), egui::Button::selectable(false, row.title).wrap());
                if response.on_hover_text(row.about).clicked() {
                    actions.send(LessonAction::Guess(row.fault));
                }
            }
        }
    }
    if ui.button("Stop looking").clicked() {
        actions.send(LessonAction::Break(Breaking::No));
    }
}

fn wrap_ui(ui: &mut Ui, text: &str, palette: &Palette) {
    ui.add(egui::Label::new(RichText::new(text).color(palette.text_weak)).wrap());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::lesson::state::player::tests::player;

    #[test]
    fn what_is_chosen_is_made() {
        let player = player("buffer");
        let made = |breaking| {
            let takes = broken(player.lesson, player.takes.clone(), breaking).expect("a lesson of the kernel");
            takes[0].recording.parameters.fault
        };
        assert_eq!(made(Breaking::No), None);
        assert_eq!(made(Breaking::Chosen(Fault::Stale)), Some(Fault::Stale));
    }

    /// In every lesson of the kernel there is something to find, whatever is drawn.
    #[test]
    fn what_is_to_be_found_breaks_something() {
        for id in ["sort", "merge", "buffer"] {
            let player = player(id);
            let mut found = std::collections::HashSet::new();
            for draw in 0..FAULTS.len() as u64 {
                let takes = broken(player.lesson, player.takes.clone(), Breaking::Hunt { draw, guess: None }).expect("a lesson of the kernel");
                assert!(takes[0].broken_at().is_some(), "lesson {id}, {draw}");
                found.insert(takes[0].recording.parameters.fault);
            }
            assert!(found.len() > 1, "lesson {id}: {found:?}");
        }
    }
}

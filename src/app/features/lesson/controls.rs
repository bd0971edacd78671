//! The player below the picture, with a scrubber that marks the ends of merges.

use egui::{Color32, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};

use super::state::LessonAction;
use super::state::files::LessonFile;
use super::state::player::{Player, SPEEDS};
use super::state::session::LessonView;
use crate::app::features::export::state::ExportKind;
use crate::app::look::{Palette, keys_text, menu_entry_ui, menu_ui};
use crate::app::model::{Action, Actions, Command};
use crate::lesson::Level;
use crate::lesson::recording::Recording;
use crate::text;

/// Display options of the player.
#[derive(Clone, Copy)]
pub struct PlayerOptions<'a> {
    /// Speed, and whether takes are side by side.
    pub view: &'a LessonView,
    /// Whether a question is open, so that later steps must stay hidden.
    pub asking: bool,
    /// Whether to show only what a presenter needs.
    pub brief: bool,
    pub zoomed: bool,
    /// Text size in points; `None` for the window's own.
    pub text: Option<f32>,
    pub palette: &'static Palette,
}

impl PlayerOptions<'_> {
    /// Approximate height of its two rows, in points.
    pub fn height(&self) -> f32 {
        self.text.unwrap_or(14.0) * 1.5 + 6.0 + SCRUBBER
    }
}

const SCRUBBER: f32 = 20.0;

pub fn controls_ui(ui: &mut Ui, player: &Player, controls: PlayerOptions<'_>, actions: &mut Actions) {
    let palette = controls.palette;
    if let Some(size) = controls.text {
        ui.style_mut().text_styles.values_mut().for_each(|font| font.size = size);
    }
    if !controls.asking {
        // A presented picture shows the position itself.
        scrubber_ui(ui, player, controls.text.is_none(), palette, actions);
    }
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled_ui(!controls.asking, |ui| {
            icon_ui(ui, "|◀", Command::ToStart, actions);
            icon_ui(ui, "◀", Command::StepBack, actions);
            icon_ui(ui, if player.is_playing() { "Pause" } else { "▶ Play" }, Command::PlayPause, actions);
            icon_ui(ui, "▶", Command::StepForward, actions);
            icon_ui(ui, "▶|", Command::ToEnd, actions);
        });
        speed_ui(ui, controls.view.speed, actions);
        ui.separator();
        level_ui(ui, player, controls, actions);
        ui.separator();
        zoom_ui(ui, controls.zoomed, actions);
        next_ui(ui, player, palette, actions);
    });
    if controls.brief {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.add_enabled_ui(!controls.asking, |ui| marks_ui(ui, player, palette, actions));
        if player.take().range != (0..player.take().recording.len()) {
            let mut whole = player.whole;
            if ui
                .checkbox(&mut whole, "Whole search")
                .on_hover_text("Also show the steps before and after the part of this lesson.")
                .changed()
            {
                actions.send(LessonAction::SetWhole(whole));
            }
        }
        takes_ui(ui, player, controls, actions);
        let response = menu_ui(ui, "Export", |ui| export_ui(ui, player, actions));
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, "Export the lesson"));
    });
}

/// Buttons that jump between marks.
fn marks_ui(ui: &mut Ui, player: &Player, palette: &Palette, actions: &mut Actions) {
    let gap = std::mem::replace(&mut ui.spacing_mut().item_spacing.x, 3.0);
    for (name, back, on) in marks_of(&player.take().recording) {
        icon_ui(ui, "‹", back, actions);
        ui.label(RichText::new(name).color(palette.text_weak));
        icon_ui(ui, "›", on, actions);
        ui.add_space(10.0);
    }
    ui.spacing_mut().item_spacing.x = gap;
}

/// The marks of a recording: their names, and the commands for the previous and the next one.
fn marks_of(recording: &Recording) -> Vec<(&'static str, Command, Command)> {
    let [hit, merge, bound] = recording.mark_names();
    let of = |name: Option<&'static str>, back, on| name.map(|name| (name, back, on));
    let marks = [
        of(hit, Command::PreviousHit, Command::NextHit),
        of(Some("Stage"), Command::PreviousStage, Command::NextStage),
        of(merge, Command::PreviousMerge, Command::NextMerge),
        of(bound, Command::PreviousBound, Command::NextBound),
    ];
    marks.into_iter().flatten().collect()
}

/// A command as a small button with an accessible name.
fn icon_ui(ui: &mut Ui, icon: &str, command: Command, actions: &mut Actions) {
    let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    let enabled = ui.is_enabled();
    let response = ui.button(icon).on_hover_text(format!("{}\n{keys}", command.tooltip()));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, command.text()));
    if response.clicked() {
        actions.send(command);
    }
}

fn speed_ui(ui: &mut Ui, speed: f32, actions: &mut Actions) {
    let text = |speed: f32| format!("{speed} /s");
    let combo = egui::ComboBox::from_id_salt("speed").width(58.0).selected_text(text(speed));
    let response = combo.show_ui(ui, |ui| {
        for other in SPEEDS {
            if ui.selectable_label(other == speed, text(other)).clicked() {
                actions.send(LessonAction::SetSpeed(other));
            }
        }
    });
    response
        .response
        .on_hover_text("Steps a second")
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Steps a second"));
}

/// The step size.
fn level_ui(
    ui: &mut Ui,
    player: &Player,
    PlayerOptions { asking, brief, palette, .. }: PlayerOptions<'_>,
    actions: &mut Actions,
) {
    if !brief {
        ui.label(RichText::new("One step is a").color(palette.text_weak));
    }
    ui.spacing_mut().item_spacing.x = 3.0;
    for level in Level::ALL {
        let command = Command::level(level);
        let has = player.has_level(level);
        let button = egui::Button::selectable(player.level == level, level.name());
        let response = ui.add_enabled(has && !asking, button);
        response.widget_info(|| {
            egui::WidgetInfo::selected(
                egui::Role::Button,
                has && !asking,
                player.level == level,
                command.text(),
            )
        });
        let response = response
            .on_hover_text(command.tooltip())
            .on_disabled_hover_text("No step shown is of this kind.");
        if response.clicked() {
            actions.send(command);
        }
    }
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// Buttons for zooming into one panel after another.
fn zoom_ui(ui: &mut Ui, zoomed: bool, actions: &mut Actions) {
    icon_ui(ui, if zoomed { "All panels" } else { "Zoom" }, Command::Zoom, actions);
    if zoomed {
        icon_ui(ui, "Next panel", Command::ZoomNext, actions);
    }
}

/// A button for the next lesson, at the end of one.
fn next_ui(ui: &mut Ui, player: &Player, palette: &Palette, actions: &mut Actions) {
    if player.cursor().position() >= player.range().end && player.lesson.next().is_some() {
        ui.separator();
        next_button(ui, player, None, palette, actions);
    }
}

/// A button for the next lesson, if there is one; `size` overrides the font size.
pub fn next_button(
    ui: &mut Ui,
    player: &Player,
    size: Option<f32>,
    palette: &Palette,
    actions: &mut Actions,
) {
    let Some(next) = player.lesson.next() else { return };
    // After the short route, further lessons are optional.
    let what = if player.lesson.minutes.is_route() && !next.minutes.is_route() {
        "The story ends here. More:"
    } else {
        "Next:"
    };
    let words = RichText::new(format!("{what} {}  {}", next.number, next.title)).color(palette.on_accent);
    let words = if let Some(size) = size { words.size(size) } else { words };
    let response = ui.add(egui::Button::new(words).fill(palette.accent));
    if response.on_hover_text(next.fill_in(next.goal, next.shape())).clicked() {
        actions.send(LessonAction::Open(next.number));
    }
}

/// Buttons for the processing orders compared.
fn takes_ui(ui: &mut Ui, player: &Player, controls: PlayerOptions<'_>, actions: &mut Actions) {
    if player.takes.len() < 2 {
        return;
    }
    for (at, take) in player.takes.iter().enumerate() {
        let name = take.arrangement.name().replace('-', " ");
        let response =
            ui.add_enabled(!controls.asking, egui::Button::selectable(player.active() == at, &name));
        if response
            .on_hover_text("Step through this one; the others go to where as many points were seen.")
            .clicked()
        {
            actions.send(LessonAction::Choose(at));
        }
    }
    let mut together = controls.view.side_by_side;
    if ui.checkbox(&mut together, "Side by side").changed() {
        actions.send(LessonAction::SetSideBySide(together));
    }
}

/// Menu entries for the lesson's files.
pub fn export_ui(ui: &mut Ui, player: &Player, actions: &mut Actions) {
    for file in LessonFile::ALL {
        let (lacks, export) =
            (file.lacks(player), Action::StartExport(ExportKind::Lesson(file, player.lesson.number)));
        let entry = ui
            .add_enabled_ui(lacks.is_none(), |ui| {
                menu_entry_ui(ui, egui::Button::new(file.text()), export, actions)
            })
            .inner;
        if let Some(why) = lacks {
            entry.on_disabled_hover_text(why);
        }
    }
}

/// The position in a recording, in words.
fn place(recording: &Recording, position: usize, points_seen: u32, merges: u32) -> String {
    let [round, rounds] = recording.round_names();
    format!(
        "step {} of {} · {} of {} · {}",
        text::thousands(position as u64),
        text::thousands(recording.len() as u64),
        text::thousands(points_seen.into()),
        text::count(recording.shape().n.into(), "point", "points"),
        text::count(merges.into(), round, rounds),
    )
}

/// The scrubber: all positions, with a mark for each merge.
fn scrubber_ui(ui: &mut Ui, player: &Player, is_labelled: bool, palette: &Palette, actions: &mut Actions) {
    const MARGIN: f32 = 7.0;
    let (range, position) = (player.range(), player.cursor().position());
    let state = player.cursor().state();
    let recording = &player.take().recording;
    let rounds = recording.round_names()[1];
    let label = place(recording, position, state.counts.points_seen, state.counts.merges);
    ui.horizontal(|ui| {
        // Sized for the longest text, so that the scrubber does not change its width.
        let longest =
            place(recording, recording.len(), recording.shape().n, (recording.merges() as u32).max(2));
        let wide =
            ui.painter().layout_no_wrap(longest, egui::FontId::monospace(11.0), palette.text_weak).size().x
                + 16.0;
        let reserved = if is_labelled { wide } else { 0.0 };
        let (rect, response) = ui.allocate_exact_size(
            vec2((ui.available_width() - reserved).max(60.0), SCRUBBER),
            Sense::click_and_drag(),
        );
        let track = Rect::from_min_max(
            pos2(rect.left() + MARGIN, rect.top()),
            pos2(rect.right() - MARGIN, rect.bottom()),
        );
        let x_of =
            |at: usize| track.left() + track.width() * (at - range.start) as f32 / range.len().max(1) as f32;
        let at_of = |x: f32| {
            let fraction = ((x - track.left()) / track.width().max(1.0)).clamp(0.0, 1.0);
            range.start + (f64::from(fraction) * range.len() as f64).round() as usize
        };
        let painter = ui.painter();
        let middle = rect.center().y;
        painter.line_segment(
            [pos2(track.left(), middle), pos2(track.right(), middle)],
            Stroke::new(2.0, palette.line),
        );
        painter.line_segment(
            [pos2(track.left(), middle), pos2(x_of(position), middle)],
            Stroke::new(4.0, palette.accent),
        );
        let mut last = f32::NEG_INFINITY;
        for merge in player.merges() {
            let x = x_of(merge);
            // Marks less than a pixel apart are merged.
            if x - last >= 1.0 {
                painter.line_segment(
                    [pos2(x, rect.top() + 1.0), pos2(x, middle - 3.0)],
                    Stroke::new(1.5, palette.buffer),
                );
                last = x;
            }
        }
        let ring =
            if response.has_focus() || response.hovered() { palette.text } else { Color32::TRANSPARENT };
        painter.circle(pos2(x_of(position), middle), 6.0, palette.accent, Stroke::new(1.5, ring));
        response.widget_info(|| egui::WidgetInfo::slider(true, position as f64, "Position"));
        if (response.clicked() || response.dragged())
            && let Some(pointer) = response.interact_pointer_pos()
            && at_of(pointer.x) != position
        {
            actions.send(LessonAction::Seek(at_of(pointer.x)));
        }
        if let Some(pointer) = response.hover_pos() {
            response.on_hover_text_at_pointer(format!(
                "step {}; marks are {rounds}",
                text::thousands(at_of(pointer.x) as u64)
            ));
        }
        if is_labelled {
            ui.label(RichText::new(label).font(egui::FontId::monospace(11.0)).color(palette.text_weak));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::features::lesson::state::player::tests::player;
    use crate::lesson::Mark;

    /// Marks come from the recording, with its own names.
    #[test]
    fn marks_match_the_recording() {
        let named = |id: &str| {
            marks_of(&player(id).take().recording).into_iter().map(|(name, ..)| name).collect::<Vec<_>>()
        };
        assert_eq!(named("search"), ["Ballot hit", "Stage", "Merge", "max_distance"]);
        assert_eq!(named("warp-select"), ["Key taken", "Stage", "Merge", "k-th"]);
        assert_eq!(named("radix-select"), ["Stage", "Pass"]);
        for id in ["search", "pruning", "warp-select", "radix-select"] {
            let player = player(id);
            let has = |mark: Mark| {
                crate::lesson::Cursor::new(player.take().recording.clone()).next_mark(mark).is_some()
            };
            let marks = [Mark::BallotHit, Mark::Stage, Mark::Merge, Mark::MaxDistance].map(has);
            assert_eq!(named(id).len(), marks.into_iter().filter(|has| *has).count(), "lesson {id}");
        }
    }

    /// The scrubber's width is based on the longest position text.
    #[test]
    fn position_texts_fit_the_reserved_width() {
        for id in ["buffer", "search", "warp-select", "radix-select"] {
            let mut player = player(id);
            player.whole = true;
            let recording = player.take().recording.clone();
            let longest =
                place(&recording, recording.len(), recording.shape().n, (recording.merges() as u32).max(2))
                    .chars()
                    .count();
            for at in 0..=recording.len() {
                player.seek(at);
                let counts = player.cursor().state().counts;
                assert!(
                    place(&recording, at, counts.points_seen, counts.merges).chars().count() <= longest,
                    "lesson {id}, step {at}"
                );
            }
        }
    }
}

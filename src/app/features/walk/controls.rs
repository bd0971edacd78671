//! Over Plane and Space: where the walk is, what brings it elsewhere, and what happened in the step.

use egui::text::LayoutJob;
use egui::{Color32, Label, RichText, Sense, Slider, Stroke, StrokeKind, TextStyle, Ui, vec2};

use crate::app::features::walk::paint::Colors;
use crate::app::features::walk::state::{WalkAction, WalkView, Walked, Walkthrough};
use crate::app::features::walk::wanted::remedy;
use crate::app::look::{Palette, keys_text};
use crate::app::model::{Actions, Command, Session, State};
use crate::knn::walk::Part;
use crate::text;

/// Panes lower than this show the sentence alone, and no more of it than two lines.
const LOW: f32 = 330.0;

/// Panes narrower than this have room for a sentence of two lines, so that the picture does not jump from step to step.
const NARROW: f32 = 720.0;

/// Whether the walk is shown, among the other controls of a pane.
pub fn show_ui(ui: &mut Ui, state: &State, actions: &mut Actions) {
    let mut shown = state.walk.shown;
    let keys = Command::ShowWalk.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    if ui.checkbox(&mut shown, "Walk").on_hover_text(format!("{} {keys}", Command::ShowWalk.tooltip())).changed() {
        actions.send(WalkAction::Show(shown));
    }
}

/// The scrubber and what happened, or why there is no walk; nothing where none is shown. `numbered` is whether leaves have the numbers of
/// their turns.
pub fn walk_ui(ui: &mut Ui, state: &State, session: &Session, numbered: bool, palette: &Palette, actions: &mut Actions) {
    let low = ui.available_height() < LOW;
    let line = |ui: &mut Ui, text: &str, color: Color32| {
        let mut job = LayoutJob::simple(text.to_owned(), TextStyle::Body.resolve(ui.style()), color, 0.0);
        if low {
            job.wrap.max_rows = 2;
        }
        ui.add(Label::new(job).wrap()).on_hover_text(text);
    };
    match &session.walked {
        Walked::Hidden => {}
        Walked::Missing(why) => {
            line(ui, why, palette.text_weak);
            if let Some((words, draft)) = remedy(&state.draft, session)
                && ui.button(words).on_hover_text("Changes the fields on the left, and answers the picked query anew.").clicked()
            {
                actions.send(WalkAction::Answer(Box::new(draft)));
            }
        }
        Walked::Working => line(ui, "Walking through the search…", palette.text_weak),
        Walked::Failed(_, why) => line(ui, why, palette.error),
        Walked::Ready(walked) => {
            scrubber_ui(ui, state.walk, session.walking.is_some(), walked, palette, actions);
            let at = walked.at(state.walk);
            let sentence = walked.sentence(at);
            let lines = if ui.available_width() >= NARROW { 1.0 } else { 2.0 };
            ui.scope(|ui| {
                ui.set_min_height(lines * ui.text_style_height(&TextStyle::Body));
                line(ui, &sentence, palette.text);
            });
            if !low {
                let facts = walked.facts(at).join(" · ");
                ui.add(Label::new(RichText::new(&facts).color(palette.text_weak).small()).truncate()).on_hover_text(&facts);
                if walked.has_boxes() {
                    legend_ui(ui, walked, numbered, palette);
                } else {
                    let [_, leaves] = walked.leaf();
                    let why = format!("The {leaves} enclose unit vectors and cannot be drawn here; the visited points are marked instead.");
                    ui.add(Label::new(RichText::new(&why).color(palette.text_weak).small()).truncate()).on_hover_text(&why);
                }
            }
        }
    }
}

fn scrubber_ui(ui: &mut Ui, view: WalkView, playing: bool, walked: &Walkthrough, palette: &Palette, actions: &mut Actions) {
    let (at, count) = (walked.at(view), walked.last() + 1);
    ui.horizontal(|ui| {
        button_ui(ui, "◀", Command::WalkBack, at > 0, actions);
        button_ui(ui, if playing { "Pause" } else { "▶ Play" }, Command::PlayWalk, count > 1, actions);
        button_ui(ui, "▶", Command::WalkForward, at + 1 < count, actions);
        let label = ui.label(RichText::new("Step").color(palette.text_weak));
        let of = format!("of {}", text::thousands(count as u64));
        ui.spacing_mut().slider_width = (ui.available_width() - 80.0 - 7.0 * of.len() as f32).clamp(40.0, 420.0);
        let mut step = at + 1;
        let slider = Slider::new(&mut step, 1..=count)
            .custom_formatter(|value, _| text::thousands(value as u64))
            .custom_parser(|text| text.replace(',', "").trim().parse().ok());
        if ui.add(slider).labelled_by(label.id).changed() {
            actions.send(WalkAction::Seek(step - 1));
        }
        ui.label(RichText::new(of).color(palette.text_weak));
    });
}

/// A command as a small button with a name to be read out.
fn button_ui(ui: &mut Ui, text: &str, command: Command, enabled: bool, actions: &mut Actions) {
    let keys = command.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
    let response = ui.add_enabled(enabled, egui::Button::new(text)).on_hover_text(format!("{} {keys}", command.tooltip()));
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, command.text()));
    if response.clicked() {
        actions.send(command);
    }
}

/// What the boxes' colours mean.
fn legend_ui(ui: &mut Ui, walked: &Walkthrough, numbered: bool, palette: &Palette) {
    let colors = Colors::of(palette);
    let [leaf, _] = walked.leaf();
    let visited = format!("{leaf}, visited{}", if numbered { ", with its turn" } else { "" });
    // Clusters are in no nodes.
    let nodes = walked.walk.regions.iter().any(|region| matches!(region.part, Part::Node { .. }));
    ui.horizontal_wrapped(|ui| {
        for (stroke, name) in [
            (colors.now, "this step"),
            (colors.opened, "node, opened"),
            (colors.visited, &visited),
            (colors.waiting, "seen"),
            (colors.left_out, "left out"),
        ] {
            if nodes || stroke != colors.opened {
                entry_ui(ui, stroke, name, palette);
            }
        }
    });
}

fn entry_ui(ui: &mut Ui, stroke: Stroke, name: &str, palette: &Palette) {
    // Its width is known beforehand, so that it goes to the next line as a whole.
    let (sample, gap) = (vec2(13.0, 10.0), 4.0);
    let text = ui.painter().layout_no_wrap(name.to_owned(), egui::TextStyle::Small.resolve(ui.style()), palette.text_weak);
    let size = vec2(sample.x + gap + text.size().x, text.size().y.max(sample.y));
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let (rect, _) = ui.allocate_exact_size(sample, Sense::hover());
        ui.painter().rect_stroke(rect.shrink(1.0), 0.0, stroke, StrokeKind::Middle);
        ui.add(Label::new(RichText::new(name).color(palette.text_weak).small()).extend());
    });
}

//! The legend in a picture: nothing of it is pressed, and all of it is in sight.

use egui::{Label, Rect, RichText, Sense, Ui, pos2, vec2};

use crate::app::features::color::legend::{LISTED, gradient_ui, moments};
use crate::app::features::color::request::moment_of;
use crate::app::features::color::state::ColorMap;
use crate::app::features::color::state::channel::{Categories, Colored};
use crate::app::look::Palette;
use crate::app::model::{Session, State};
use crate::text;

/// The widest that a scale of colours is.
const WIDEST: f32 = 320.0;

/// What colours mean; nothing where there are none.
pub fn legend_ui(ui: &mut Ui, state: &State, session: &Session, palette: &Palette) {
    let Colored::Ready(channel) = &session.colored else { return };
    let (view, map) = (&state.color, channel.map(state.color.map));
    ui.horizontal_wrapped(|ui| {
        let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
        ui.label(format!("{}{unit}", channel.title));
        match (map, &channel.categories, &channel.numbers) {
            (ColorMap::Categories, Some(categories), _) => categories_ui(ui, categories, palette),
            (_, _, Some(numbers)) => {
                let (low, high, log) = numbers.ends(view);
                if let Some(moment) = moment_of(session, &view.by) {
                    ui.label(RichText::new(moments(moment, low, high)).color(palette.text_weak));
                }
                let width = (ui.available_width() - 8.0).clamp(96.0, WIDEST);
                gradient_ui(ui, width, (low, high), log, map, numbers.integers, palette);
            }
            _ => {}
        }
        let missing = (channel.missing > 0).then(|| format!("{} {}", text::count(channel.missing, "row", "rows"), channel.why_missing));
        let said: Vec<String> = missing.into_iter().chain(channel.note.clone()).collect();
        if !said.is_empty() {
            ui.label(RichText::new(said.join("; ")).color(palette.text_weak).small());
        }
    });
}

fn categories_ui(ui: &mut Ui, categories: &Categories, palette: &Palette) {
    for (at, category) in categories.list.iter().enumerate().take(LISTED) {
        let name: String = category.name.chars().take(24).collect();
        let text = ui.painter().layout_no_wrap(name.clone(), egui::TextStyle::Body.resolve(ui.style()), palette.text);
        // In one piece, which goes to the next line as a whole.
        ui.allocate_ui_with_layout(vec2(16.0 + text.size().x, text.size().y), egui::Layout::left_to_right(egui::Align::Center), |ui| {
            let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
            ui.painter().rect_filled(
                Rect::from_center_size(pos2(rect.center().x, rect.center().y), vec2(10.0, 10.0)),
                2.0,
                ColorMap::Categories.category(at, palette),
            );
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.add(Label::new(name).extend());
        });
    }
    let others = categories.list.len().saturating_sub(LISTED);
    if others > 0 {
        ui.label(RichText::new(format!("and {} more share colours", text::thousands(others as u64))).color(palette.text_weak).small());
    }
}

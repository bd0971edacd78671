//! Above on the right: the answer in a sentence, of what kind the neighbours are, and how their distances spread.

use egui::{Color32, Rect, RichText, Sense, Stroke, Ui, vec2};

use crate::app::features::color::state::ColorMap;
use crate::app::features::color::state::channel::Colored;
use crate::app::features::telling::telling;
use crate::app::look::{Palette, heading_ui};
use crate::app::model::{Action, Actions, Answered, Kinds, Session, Telling};
use crate::text;

/// The bar of kinds, and the line of distances.
const BAR: f32 = 12.0;

/// Says what was found.
pub fn answer_ui(ui: &mut Ui, session: &Session, answered: &Answered, palette: &Palette, actions: &mut Actions) {
    let telling = telling(ui, session, answered);
    heading_ui(ui, "Answer");
    ui.add(egui::Label::new(RichText::new(telling.sentence()).size(15.0)).wrap());
    if let Some(kinds) = &telling.kinds {
        kinds_ui(ui, session, kinds, palette);
    }
    distances_ui(ui, &telling, palette);
    why_ui(ui, session, answered, palette, actions);
    nearby_ui(ui, session, answered, palette, actions);
}

/// Selects all rows within a distance, however many there are.
fn nearby_ui(ui: &mut Ui, session: &Session, answered: &Answered, palette: &Palette, actions: &mut Actions) {
    let metric = answered.record.spec.metric;
    let mut typed = session.nearby.typed.clone();
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(RichText::new("All within").color(palette.text_weak));
        let edit = egui::TextEdit::singleline(&mut typed).id_salt("radius").hint_text("0.5").desired_width(56.0);
        let about = "Every row at most so far from the query, counted by the same distances as its neighbours.";
        let field = ui.add(edit).labelled_by(label.id).on_hover_text(about);
        if let Some(unit) = metric.unit() {
            ui.label(unit);
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let pressed = ui.add_enabled(!typed.trim().is_empty(), egui::Button::new("Select")).on_hover_text("Select these rows.").clicked();
        if typed != session.nearby.typed {
            actions.send(Action::TypeRadius(typed));
        }
        if entered || pressed {
            actions.send(Action::SelectNearby);
        }
    });
    if let Some(wrong) = &session.nearby.wrong {
        ui.label(RichText::new(wrong).color(palette.error));
    }
}

/// The next question: why a row is, or is not, among them.
fn why_ui(ui: &mut Ui, session: &Session, answered: &Answered, palette: &Palette, actions: &mut Actions) {
    let mut typed = session.why.typed.clone();
    let asks = ui
        .horizontal_wrapped(|ui| {
            let label = ui.label(RichText::new("Why row").color(palette.text_weak));
            let edit = egui::TextEdit::singleline(&mut typed).id_salt("why").hint_text("12").desired_width(88.0);
            let about = "Where any row of the data stands, by its number or its name: its rank and distance, the query’s rank from its side, and what the distance is made of.";
            let field = ui.add(edit).labelled_by(label.id).on_hover_text(about);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
            if entered {
                // The next row is typed at once.
                field.request_focus();
            }
            let pressed = ui.add_enabled(!typed.trim().is_empty(), egui::Button::new("Ask")).clicked();
            // One row that is selected, by a click with Ctrl or in the table, is likely the one that is meant.
            let selected = match session.selection.rows()[..] {
                [row] => Some(row),
                _ => session.rank.and_then(|rank| answered.neighbors().nth(rank)).map(|(row, _)| row),
            };
            if let Some(row) = selected
                && ui.button("Selected").on_hover_text("Ask about the row that is selected.").clicked()
            {
                typed = answered.record.cloud.record(row as usize).to_string();
                return true;
            }
            entered || pressed
        })
        .inner;
    if typed != session.why.typed {
        actions.send(Action::TypeWhy(typed));
    }
    if asks {
        actions.send(Action::AskWhy);
    }
    match session.why.told.as_ref().filter(|told| told.is_of(answered)).map(|told| &told.said) {
        None => {}
        Some(Ok(sentences)) => sentences.iter().for_each(|sentence| drop(ui.label(sentence))),
        Some(Err(why)) => drop(ui.label(RichText::new(why).color(palette.error))),
    }
}

fn kinds_ui(ui: &mut Ui, session: &Session, kinds: &Kinds, palette: &Palette) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let sentence = kinds.sentence();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &sentence));
    let total: usize = kinds.counts.iter().map(|(_, count)| count).sum::<usize>() + kinds.others;
    // As they are in Plane and Space, where these are coloured by the same column.
    let shown = match &session.colored {
        Colored::Ready(channel) if channel.title == kinds.column => channel.categories.as_ref(),
        _ => None,
    };
    let color = |at: usize| match (kinds.counts.get(at), shown) {
        (None, _) => palette.muted,
        (Some((kind, _)), Some(shown)) => {
            let place = shown.list.iter().position(|category| category.name == *kind);
            place.map_or(palette.muted, |place| ColorMap::Categories.category(place, palette))
        }
        (Some(_), None) => palette.categories[at % palette.categories.len()],
    };
    let mut left = rect.left();
    let mut parts: Vec<(String, usize)> = kinds.counts.clone();
    if kinds.others > 0 {
        parts.push(("others".to_owned(), kinds.others));
    }
    for (at, (_, count)) in parts.iter().enumerate() {
        let right = left + rect.width() * *count as f32 / total.max(1) as f32;
        ui.painter().rect_filled(Rect::from_x_y_ranges(left..=(right - 1.0).max(left), rect.y_range()), 0.0, color(at));
        left = right;
    }
    response.on_hover_text(&sentence);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(RichText::new(&kinds.column).color(palette.text_weak));
        for (at, (kind, count)) in parts.iter().enumerate() {
            kind_ui(ui, &format!("{kind} ({count})"), color(at));
        }
    });
    if let Some((alike, total)) = kinds.alike.filter(|(alike, total)| alike < total) {
        let share = format!("{alike} of {total} share the query’s {}.", kinds.column);
        ui.label(RichText::new(share).color(palette.text_weak).small());
    }
}

/// A kind's colour and its count, which go to the next line together.
fn kind_ui(ui: &mut Ui, text: &str, color: Color32) {
    const SQUARE: f32 = 8.0;
    let galley = ui.painter().layout_no_wrap(text.to_owned(), egui::TextStyle::Body.resolve(ui.style()), Color32::WHITE);
    let gap = ui.spacing().item_spacing.x;
    let size = vec2(SQUARE + gap + galley.size().x + gap, galley.size().y);
    ui.allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Center), |ui| {
        let (square, _) = ui.allocate_exact_size(vec2(SQUARE, SQUARE), Sense::hover());
        ui.painter().rect_filled(square, 1.0, color);
        ui.add(egui::Label::new(text).truncate());
    });
}

/// A tick for each neighbour, from the query on the left to the farthest.
fn distances_ui(ui: &mut Ui, telling: &Telling, palette: &Palette) {
    let (Some(&nearest), Some(&farthest)) = (telling.distances.first(), telling.distances.last()) else { return };
    if telling.distances.len() < 2 || farthest <= 0.0 {
        return;
    }
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let line = rect.center().y;
    ui.painter().hline(rect.x_range(), line, Stroke::new(1.0, palette.line));
    let at = |distance: f64| rect.left() + 1.0 + (rect.width() - 2.0) * (distance / farthest) as f32;
    let tick = |distance: f64, color: Color32, width: f32| ui.painter().vline(at(distance), rect.y_range(), Stroke::new(width, color));
    for &distance in &telling.distances {
        tick(distance, palette.neighbor.gamma_multiply(0.6), 1.0);
    }
    let middle = telling.distances.len() / 2;
    let median = if telling.distances.len() % 2 == 1 {
        telling.distances[middle]
    } else {
        f64::midpoint(telling.distances[middle - 1], telling.distances[middle])
    };
    tick(median, palette.text, 2.0);
    // The farthest is spelled as in the sentence above.
    let words = format!("nearest {}, median {}, farthest {}", text::digits(nearest, 4), text::digits(median, 4), telling.within);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, format!("Distances: {words}")));
    ui.label(RichText::new(words).color(palette.text_weak).small());
}

//! The distribution of values above the colour scale: a histogram to brush, and thresholds to type.

use egui::containers::menu::{MenuButton, MenuConfig};
use egui::{DragValue, PointerButton, PopupCloseBehavior, StrokeKind};

use super::state::ColorAction;
use super::state::channel::{Channel, NumericValues};
use crate::app::look::focus::{arrows, is_keyed};
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::text;

pub const HEIGHT: f32 = 22.0;

const BIN_WIDTH: f32 = 3.0;

const PRIMARY: PointerButton = PointerButton::Primary;

/// Shorter drags are ignored.
const MIN_DRAG: f32 = 3.0;

/// A histogram over the colour scale; dragging selects by value. A brush that reaches an end of the scale
/// includes all values beyond that end.
pub fn histogram_ui(
    ui: &mut Ui,
    width: f32,
    channel: &Channel,
    numbers: &NumericValues,
    scale: (f64, f64, bool),
    context: &mut UiContext<'_>,
) {
    let palette = context.palette;
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click_and_drag());
    let response = response.on_hover_text(format!(
        "Distribution of {}. Drag to select a range, or use the arrow keys and Enter. Shift adds; Ctrl \
         toggles.",
        channel.title
    ));
    let bins = ((width / BIN_WIDTH) as usize).max(1);
    let keyed = keyed_ui(ui, &response, bins);
    let counts = numbers.histogram(scale, bins);
    let most = counts.iter().copied().max().unwrap_or(0).max(1) as f32;
    let step = width / bins as f32;
    let painter = ui.painter();
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        // A minimum height keeps small bins visible.
        let height = (count as f32 / most * (HEIGHT - 2.0)).max(1.5);
        let left = rect.left() + bin as f32 * step;
        painter.rect_filled(
            Rect::from_min_max(pos2(left, rect.bottom() - height), pos2(left + step, rect.bottom())),
            0.0,
            palette.text_weak,
        );
    }
    let ends =
        keyed.map(|[from, to]| [rect.left() + from as f32 * step, rect.left() + (to + 1) as f32 * step]);
    // Remembered, because egui forgets the origin when the button is released.
    if response.drag_started()
        && let Some(origin) = ui.input(|input| input.pointer.press_origin())
    {
        ui.data_mut(|data| data.insert_temp(response.id, origin));
    }
    let origin: Option<Pos2> = ui.data(|data| data.get_temp(response.id));
    let dragged = origin
        .filter(|_| response.dragged_by(PRIMARY) || response.drag_stopped_by(PRIMARY))
        .zip(response.interact_pointer_pos());
    let dragged = dragged
        .map(|(from, to)| [from.x.min(to.x), from.x.max(to.x)])
        .filter(|[left, right]| right - left >= MIN_DRAG);
    let name = format!("Histogram of {}", channel.title);
    let Some(ends) = dragged.or(ends) else {
        return name_widget(&response, Role::Button, &name);
    };
    let [left, right] = ends.map(|x| x.clamp(rect.left(), rect.right()));
    let brush = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
    painter.rect_filled(brush, 0.0, palette.query.gamma_multiply(0.25));
    painter.rect_stroke(brush, 0.0, Stroke::new(1.0, palette.query), StrokeKind::Inside);
    let (low, high, log) = scale;
    let value = |x: f32| {
        let share = f64::from((x - rect.left()) / width);
        if log { low * (high / low).powf(share) } else { low + (high - low) * share }
    };
    let low = if left > rect.left() { value(left) } else { f64::NEG_INFINITY };
    let high = if right < rect.right() { value(right) } else { f64::INFINITY };
    let named = format!("{name}, {}", numbers.span(low, high));
    name_widget(&response, Role::Button, &named);
    if response.drag_stopped_by(PRIMARY) || (dragged.is_none() && response.clicked()) {
        let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
        context.actions.send(ColorAction::SelectBetween(low, high, how));
    } else {
        response.show_tooltip_text(format!("{} {}", channel.title, numbers.span(low, high)));
    }
}

/// First and last bin chosen by keys: arrows move both, Shift moves only the last.
fn keyed_ui(ui: &Ui, response: &Response, bins: usize) -> Option<[usize; 2]> {
    if !is_keyed(response) {
        return None;
    }
    let by = arrows(ui, response).x as isize;
    let shift = ui.input(|input| input.modifiers.shift);
    let id = response.id.with("bins by keys");
    let [from, to]: [usize; 2] =
        ui.data(|data| data.get_temp(id)).unwrap_or([0, bins.saturating_sub(1) / 10]);
    let to = to.saturating_add_signed(by).min(bins - 1);
    let from = if shift { from } else { from.saturating_add_signed(by) }.min(to);
    ui.data_mut(|data| data.insert_temp(id, [from, to]));
    Some([from, to])
}

/// A menu that selects by value: between two thresholds, or the highest and lowest.
pub fn select_ui(ui: &mut Ui, channel: &Channel, numbers: &NumericValues, actions: &mut Actions) {
    let id = ui.scope_id().with(("select by", &channel.title));
    // Stays open when a field is clicked.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Select…").config(stays).ui(ui, |ui| {
        ui.set_min_width(190.0);
        ui.label(RichText::new(format!("By {}", channel.title)).strong());
        // Keyed by range too, because another column may have the same name.
        type Typed = ((f64, f64), (f64, f64));
        let typed: Option<Typed> = ui.data(|data| data.get_temp(id));
        let (mut from, mut to) =
            typed.filter(|(of, _)| *of == numbers.whole).map_or(numbers.whole, |(_, typed)| typed);
        let speed = ((numbers.whole.1 - numbers.whole.0) / 300.0).clamp(f64::MIN_POSITIVE, f64::MAX);
        let field = |ui: &mut Ui, name: &str, value: &mut f64| {
            ui.horizontal(|ui| {
                // The style of menus draws fields without frames.
                ui.reset_style();
                let label = ui.label(name);
                let shown = |value: f64, _| {
                    if numbers.integers { text::coordinate(value.round()) } else { text::digits(value, 6) }
                };
                let typed = DragValue::new(value)
                    .speed(speed)
                    .custom_formatter(shown)
                    .custom_parser(|text| text.replace(',', "").trim().parse().ok());
                ui.add(typed).labelled_by(label.id);
            });
        };
        field(ui, "From", &mut from);
        field(ui, "To", &mut to);
        ui.data_mut(|data| data.insert_temp::<Typed>(id, (numbers.whole, (from, to))));
        let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
        let mut choose = |ui: &mut Ui, from: f64, to: f64| {
            actions.send(ColorAction::SelectBetween(from, to, how));
            ui.close();
        };
        if ui.add_enabled(from <= to, Button::new("Select this range")).clicked() {
            choose(ui, from, to);
        }
        ui.separator();
        for (text, share) in [("About the top 1 %", 0.99), ("About the top 10 %", 0.9)] {
            if ui.button(text).clicked() {
                choose(ui, numbers.quantile(share), f64::INFINITY);
            }
        }
        for (text, share) in [("About the bottom 1 %", 0.01), ("About the bottom 10 %", 0.1)] {
            if ui.button(text).clicked() {
                choose(ui, f64::NEG_INFINITY, numbers.quantile(share));
            }
        }
        ui.separator();
        let id = id.with("so many");
        let mut count: usize = ui.data(|data| data.get_temp(id)).unwrap_or(100);
        ui.horizontal(|ui| {
            ui.reset_style();
            let label = ui.label("How many");
            ui.add(DragValue::new(&mut count).range(1..=usize::MAX).speed(1.0)).labelled_by(label.id);
            for (text, highest) in [("Highest", true), ("Lowest", false)] {
                if ui
                    .button(text)
                    .on_hover_text("Select this many points, plus ties with the last.")
                    .clicked()
                {
                    actions.send(ColorAction::SelectMost { count, highest, how });
                    ui.close();
                }
            }
        });
        ui.data_mut(|data| data.insert_temp(id, count));
    });
    button.on_hover_text("Select points by value: a range, or the highest or lowest.");
}

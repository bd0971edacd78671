//! The legend: the meaning of colours, and the number of rows without a value. It is between the chooser and
//! the points, so that it covers no points.

use std::ops::RangeInclusive;
use std::sync::Arc;

use egui::{DragValue, Galley, Mesh, Slider};

use super::brush::{HEIGHT, histogram_ui, select_ui};
use super::moment_of;
use super::state::channel::{Categories, Channel, ColoringState, NumericValues};
use super::state::{ColorAction, ColorBy, ColorMap, ColorRange, ColorView};
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::cloud::formats::TimestampType;
use crate::draw::pen::{linear_ticks, log_ticks};
use crate::palette::CATEGORIES;
use crate::text;

pub(super) const MAX_LISTED: usize = CATEGORIES;

pub fn legend_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    let mut view = state.color.clone();
    if view.by == ColorBy::Moment {
        moment_ui(ui, &mut view, context);
    }
    match &session.colored {
        ColoringState::Nothing => {}
        ColoringState::Missing(first) => {
            ui.label(palette.weak(first));
        }
        ColoringState::Working => {
            ui.label(palette.weak("Computing the colours…"));
        }
        ColoringState::Failed(why) => {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(why).color(palette.error));
                if ui.button("Try again").clicked() {
                    context.actions.send(ColorAction::Retry);
                }
            });
        }
        ColoringState::Ready(channel) => channel_ui(ui, &mut view, channel, context),
    }
    if view != state.color {
        context.actions.send(ColorAction::Set(view));
    }
}

/// A read-only legend in one line, for panes with little room.
pub fn legend_line_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    let mut view = state.color.clone();
    if view.by == ColorBy::Moment {
        moment_ui(ui, &mut view, context);
    }
    let line = |ui: &mut Ui, text: &str, color| {
        ui.add(Label::new(RichText::new(text).color(color)).truncate()).on_hover_text(text)
    };
    match &session.colored {
        ColoringState::Nothing => {}
        ColoringState::Missing(first) => {
            line(ui, first, palette.text_weak);
        }
        ColoringState::Working => {
            line(ui, "Computing the colours…", palette.text_weak);
        }
        ColoringState::Failed(why) => {
            line(ui, why, palette.error);
        }
        ColoringState::Ready(channel) => {
            let map = channel.map(view.map);
            // A scale has numbers below its colours, so text next to it is aligned with the top.
            let align = if map == ColorMap::Categories { Align::Center } else { Align::TOP };
            let layout = Layout::left_to_right(align);
            let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
            ui.allocate_ui_with_layout(size, layout, |ui| {
                match (map, &channel.categories, &channel.numbers) {
                    (ColorMap::Categories, Some(categories), _) => {
                        line(ui, &channel.title, palette.text);
                        current_category_ui(ui, channel, categories, context);
                        ScrollArea::horizontal().id_salt("categories").auto_shrink([false, true]).show(
                            ui,
                            |ui| {
                                ui.horizontal(|ui| categories_ui(ui, channel, categories, context));
                            },
                        );
                    }
                    (_, _, Some(numbers)) => {
                        let (low, high, log) = numbers.ends(&view);
                        let width = (ui.available_width() * 0.5).max(24.0);
                        gradient_ui(ui, width, (low, high), log, map, numbers.integers, palette);
                        line(ui, &channel.title, palette.text);
                    }
                    (ColorMap::Own, ..) => {
                        line(ui, &channel.title, palette.text);
                    }
                    _ => {
                        line(ui, "No row has a value.", palette.text_weak);
                    }
                }
            });
        }
    }
    if view != state.color {
        context.actions.send(ColorAction::Set(view));
    }
}

/// Values beyond the scale, the number of rows without a value, and the channel's note.
fn notes_ui(ui: &mut Ui, channel: &Channel, clamped: Option<String>, palette: &Palette) {
    let missing = (channel.missing > 0)
        .then(|| format!("{} {}", text::count(channel.missing, "row", "rows"), channel.why_missing));
    let said: Vec<String> = clamped.into_iter().chain(missing).chain(channel.note.clone()).collect();
    if !said.is_empty() {
        ui.label(palette.small(said.join("; ")));
    }
}

/// The moment of the search, with a slider and a play button.
fn moment_ui(ui: &mut Ui, view: &mut ColorView, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let Some(record) = &session.record else { return };
    let n = record.cloud.len() as u32;
    view.moment = view.moment.min(n);
    ui.horizontal(|ui| {
        let playing = session.playing.is_some();
        let (text, tooltip) = if playing {
            ("Pause", "Stop here.")
        } else {
            ("Play", "Play the search from here to the end in ten seconds.")
        };
        if ui.button(text).on_hover_text(tooltip).clicked() {
            context.actions.send(ColorAction::Play(!playing));
        }
        let label = ui.label(palette.weak("Points seen"));
        ui.spacing_mut().slider_width = (ui.available_width() - 90.0).clamp(60.0, 420.0);
        let slider = Slider::new(&mut view.moment, 0..=n)
            .logarithmic(true)
            .smallest_positive(1.0)
            .custom_formatter(|value, _| text::thousands(value as u64))
            .custom_parser(|text| text.replace(',', "").trim().parse().ok());
        ui.add(slider).labelled_by(label.id);
    });
}

fn channel_ui(ui: &mut Ui, view: &mut ColorView, channel: &Channel, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let (map, moment) = (channel.map(view.map), moment_of(session, &view.by));
    let numbers = channel.numbers.as_ref().filter(|_| map != ColorMap::Categories);
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(&channel.title).strong());
        if !channel.unit.is_empty() {
            ui.label(palette.weak(channel.unit));
        }
        if let (Some(moment), Some(numbers)) = (moment, numbers) {
            // Dates in words; the fields below show the file's numbers.
            let (low, high, _) = numbers.ends(view);
            ui.label(palette.weak(moments(moment, low, high)));
        }
        map_ui(ui, view, map, channel);
        match (map, &channel.categories, numbers) {
            (ColorMap::Categories, Some(categories), _) => {
                current_category_ui(ui, channel, categories, context);
                categories_ui(ui, channel, categories, context);
            }
            (_, _, Some(numbers)) => {
                range_ui(ui, view, numbers);
                select_ui(ui, channel, numbers, context.actions);
            }
            (ColorMap::Own, ..) => {}
            _ => {
                ui.label(palette.weak("No row has a value."));
            }
        }
        notes_ui(ui, channel, numbers.and_then(|numbers| numbers.clamped(view)), palette);
    });
    if let Some(numbers) = numbers {
        ends_ui(ui, view, map, (channel, numbers), context);
    }
}

/// The ends of a scale of dates, in the file's time unit.
pub(super) fn moments(moment: TimestampType, low: f64, high: f64) -> String {
    format!("{} to {}", moment.text(low.round()), moment.text(high.round()))
}

/// The colour map chooser, if there is a choice.
fn map_ui(ui: &mut Ui, view: &mut ColorView, map: ColorMap, channel: &Channel) {
    if channel.numbers.is_none() {
        return;
    }
    let response = ComboBox::from_id_salt("map").width(76.0).selected_text(map.text()).show_ui(ui, |ui| {
        for other in ColorMap::ALL {
            if (other != ColorMap::Categories || channel.categories.is_some())
                && ui.selectable_label(other == map, other.text()).clicked()
            {
                view.map = Some(other);
            }
        }
    });
    name_widget(&response.response, Role::ComboBox, "Colours");
}

fn range_ui(ui: &mut Ui, view: &mut ColorView, numbers: &NumericValues) {
    if numbers.can_be_log() {
        ui.checkbox(&mut view.log, "Log").on_hover_text("Logarithmic: equal ratios are equal colour steps.");
    }
    let ranges = [
        (
            ColorRange::Most,
            "Most values",
            "1st to 99th percentile plus a margin, or the whole range if it is not much wider. Values \
             outside take the end colours.",
        ),
        (ColorRange::Whole, "Whole range", "Smallest to largest value."),
    ];
    for (range, text, about) in ranges {
        ui.selectable_value(&mut view.range, range, text).on_hover_text(about);
    }
}

/// Fields for low and high, with the colours and the histogram between them.
fn ends_ui(
    ui: &mut Ui,
    view: &mut ColorView,
    map: ColorMap,
    (channel, numbers): (&Channel, &NumericValues),
    context: &mut UiContext<'_>,
) {
    let palette = context.palette;
    let (low, high, log) = numbers.ends(view);
    let (mut from, mut to) = (low, high);
    ui.horizontal_top(|ui| {
        let speed = ((high - low) / 300.0).max(f64::MIN_POSITIVE);
        let least = if log { f64::MIN_POSITIVE } else { f64::MIN };
        let text = |value: f64| end(value, (low, high), numbers.integers);
        let font = ui.style().drag_value_text_style.resolve(ui.style());
        let of_text =
            |value: f64| ui.painter().layout_no_wrap(text(value), font.clone(), palette.text).size().x;
        let widest = of_text(low).max(of_text(high));
        let field = (widest + 2.0 * ui.spacing().button_padding.x + 2.0).max(MIN_FIELD_WIDTH);
        // Aligned with the colours, below the histogram.
        let beside = |ui: &mut Ui, field: &mut dyn FnMut(&mut Ui)| {
            ui.vertical(|ui| {
                ui.add_space(HEIGHT - 4.0);
                field(ui);
            });
        };
        beside(ui, &mut |ui| {
            end_ui(ui, "Low end of the colours", &mut from, least..=high, speed, text, field)
        });
        // In a narrow pane the colours shrink, not the fields.
        let width = (ui.available_width() - field - ui.spacing().item_spacing.x).clamp(24.0, 460.0);
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            histogram_ui(ui, width, channel, numbers, (low, high, log), context);
            gradient_ui(ui, width, (low, high), log, map, numbers.integers, palette);
        });
        beside(ui, &mut |ui| {
            end_ui(ui, "High end of the colours", &mut to, low..=f64::MAX, speed, text, field)
        });
    });
    if (from, to) != (low, high) {
        view.range = ColorRange::Typed(from, to);
    }
}

/// An end of the scale, with enough digits to distinguish it from the other.
fn end(value: f64, (low, high): (f64, f64), integers: bool) -> String {
    if integers && value.fract() == 0.0 && value.abs() < 1e15 {
        text::fixed(value, 0)
    } else {
        text::digits(value, digits(value, high - low))
    }
}

/// Significant digits needed to show three digits of the range, at least four.
fn digits(value: f64, extent: f64) -> usize {
    let power = |value: f64| value.abs().log10().floor();
    let needed = power(value) - power(extent) + 3.0;
    if needed.is_finite() { needed.clamp(4.0, 15.0) as usize } else { 4 }
}

fn end_ui(
    ui: &mut Ui,
    name: &'static str,
    value: &mut f64,
    range: RangeInclusive<f64>,
    speed: f64,
    text: impl Fn(f64) -> String,
    width: f32,
) {
    let shown = *value;
    let field = DragValue::new(value)
        .range(range)
        .speed(speed)
        .custom_formatter(|value, _| text(value))
        .custom_parser(|text| text.replace(',', "").trim().parse().ok());
    let response = ui
        .add_sized([width, ui.spacing().interact_size.y], field)
        .on_hover_text(format!("{name}: drag, or click and type."));
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::drag_value(true, shown);
        info.label = Some(name.to_owned());
        info
    });
}

/// Minimum width of an end's field.
const MIN_FIELD_WIDTH: f32 = 60.0;

/// Height of the colours; the numbers are below.
const BAR_HEIGHT: f32 = 12.0;

pub(super) fn gradient_ui(
    ui: &mut Ui,
    width: f32,
    (low, high): (f64, f64),
    log: bool,
    map: ColorMap,
    integers: bool,
    palette: &Palette,
) {
    let (rect, response) = ui.allocate_exact_size(vec2(width, BAR_HEIGHT + 14.0), Sense::hover());
    let name = format!(
        "From {} to {}, {}{}",
        end(low, (low, high), integers),
        end(high, (low, high), integers),
        map.text(),
        if log { ", log scale" } else { "" }
    );
    name_widget(&response, Role::Image, &name);
    let bar = Rect::from_min_size(rect.min + vec2(0.0, 2.0), vec2(width, BAR_HEIGHT));
    let painter = ui.painter();
    painter.add(gradient(bar, map, palette));
    painter.rect_stroke(bar, 0.0, Stroke::new(1.0, palette.line), egui::StrokeKind::Outside);
    let font = FontId::proportional(10.5);
    let place =
        |value: f64| if log { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
    // As many as fit without overlap.
    let marks = |most: usize| -> Vec<(f32, f32, Arc<Galley>)> {
        let (marks, decimals) =
            if log { (log_ticks(low, high, most), None) } else { both(linear_ticks(low, high, most)) };
        let marks = marks.into_iter().filter(|value| !integers || value.fract() == 0.0);
        let mark = |value: f64| {
            let text = match decimals {
                _ if integers => text::fixed(value, 0),
                Some(decimals) if decimals <= 6 && value.abs() < 1e12 => text::fixed(value, decimals),
                Some(_) => end(value, (low, high), false),
                None => text::digits(value, 3),
            };
            let galley = painter.layout_no_wrap(text, font.clone(), palette.text_weak);
            let at = bar.left() + place(value) as f32 * width;
            // Labels stay within the width of the bar, because fields are on both sides.
            let left = (at - galley.size().x / 2.0).min(bar.right() - galley.size().x).max(bar.left());
            (at, left, galley)
        };
        marks.map(mark).collect()
    };
    let fits = |marks: &Vec<(f32, f32, Arc<Galley>)>| {
        let right = |(_, left, galley): &(f32, f32, Arc<Galley>)| left + galley.size().x;
        marks.windows(2).all(|pair| right(&pair[0]) + 6.0 <= pair[1].1)
            && marks.last().is_none_or(|last| right(last) <= bar.right() + 0.5)
    };
    let marks = (1..=(width / 52.0) as usize).rev().map(marks).find(fits).unwrap_or_default();
    for (at, left, galley) in marks {
        painter.vline(at, bar.bottom() - 3.0..=bar.bottom() + 3.0, Stroke::new(1.0, palette.text_weak));
        painter.galley(pos2(left, bar.bottom() + 2.0), galley, palette.text_weak);
    }
}

fn both((values, decimals): (Vec<f64>, usize)) -> (Vec<f64>, Option<usize>) {
    (values, Some(decimals))
}

fn gradient(rect: Rect, map: ColorMap, palette: &Palette) -> Mesh {
    const STEPS: u32 = 64;
    let mut mesh = Mesh::default();
    for step in 0..=STEPS {
        let at = step as f32 / STEPS as f32;
        let (x, color) = (rect.left() + at * rect.width(), map.color(at, palette));
        mesh.colored_vertex(Pos2::new(x, rect.top()), color);
        mesh.colored_vertex(Pos2::new(x, rect.bottom()), color);
        if step > 0 {
            let first = (step - 1) * 2;
            mesh.add_triangle(first, first + 1, first + 2);
            mesh.add_triangle(first + 2, first + 1, first + 3);
        }
    }
    mesh
}

/// With more categories than colours, names the category of the hovered point, or else of the query.
fn current_category_ui(ui: &mut Ui, channel: &Channel, categories: &Categories, context: &UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    const LETTERS: usize = 24;
    let row = |what: PickedPoint| if let PickedPoint::Row(row) = what { Some(row as usize) } else { None };
    let hovered = session.hovered.and_then(|hovered| row(hovered.what));
    let Some((who, row)) =
        hovered.map(|row| ("Here", row)).or_else(|| session.picked.and_then(row).map(|row| ("Query", row)))
    else {
        return;
    };
    if categories.list.len() <= MAX_LISTED {
        return;
    }
    let own = categories.values.values.get(row).filter(|value| !value.is_nan()).map(|&value| value as usize);
    let color = own.map_or(palette.muted, |at| ColorMap::Categories.category(at, palette));
    let name = channel.text(row).filter(|_| own.is_some()).unwrap_or_else(|| "no value".to_owned());
    let short: String = name.chars().take(LETTERS).collect();
    // A fixed width, so that hovering does not move what follows.
    let letter = ui.fonts_mut(|fonts| fonts.glyph_width(&egui::TextStyle::Body.resolve(ui.style()), 'n'));
    let longest =
        categories.list.iter().map(|category| category.name.chars().count().min(LETTERS)).max().unwrap_or(0);
    let size = vec2(14.0 + letter * (longest + 7) as f32, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(size.x);
        ui.spacing_mut().item_spacing.x = 4.0;
        let (swatch, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
        ui.painter().rect_filled(swatch, 2.0, color);
        ui.add(Label::new(RichText::new(format!("{who}: {short}")).strong()).truncate()).on_hover_text(name);
    });
}

/// The categories with colours and counts; a click selects the rows of one.
fn categories_ui(ui: &mut Ui, channel: &Channel, categories: &Categories, context: &mut UiContext<'_>) {
    let palette = context.palette;
    let modifiers = ui.input(|input| input.modifiers);
    for (at, category) in categories.list.iter().enumerate().take(MAX_LISTED) {
        let name: String = category.name.chars().take(24).collect();
        let count = text::thousands(category.count);
        let text = format!("     {name}  {count}");
        let button = Button::new(RichText::new(text).size(12.0)).frame_when_inactive(false);
        let tooltip = format!(
            "Select {} where {} is {}.",
            text::count(category.count, "row", "rows"),
            channel.title,
            category.name
        );
        let response = ui.add(button).on_hover_text(tooltip);
        name_widget(&response, Role::Button, &format!("{} = {}, {count}", channel.title, category.name));
        let swatch = Rect::from_center_size(response.rect.left_center() + vec2(12.0, 0.0), vec2(10.0, 10.0));
        ui.painter().rect_filled(swatch, 2.0, ColorMap::Categories.category(at, palette));
        if response.clicked() {
            context.actions.send(ColorAction::SelectCategory(at, SelectMode::from_modifiers(modifiers)));
        }
    }
    let others = categories.list.len().saturating_sub(MAX_LISTED);
    if others > 0 {
        let rows: u64 = categories.list[MAX_LISTED..].iter().map(|category| category.count).sum();
        let text = format!(
            "and {} more share colours, {}",
            text::thousands(others as u64),
            text::count(rows, "row", "rows")
        );
        ui.label(palette.small(text));
    }
}

// The legend in a picture, complete and without controls.

/// Maximum width of the colour scale.
const MAX_SCALE_WIDTH: f32 = 320.0;

pub fn picture_legend_ui(ui: &mut Ui, state: &State, session: &Session, palette: &Palette) {
    let ColoringState::Ready(channel) = &session.colored else { return };
    let (view, map) = (&state.color, channel.map(state.color.map));
    ui.horizontal_wrapped(|ui| {
        let unit = if channel.unit.is_empty() { String::new() } else { format!(" {}", channel.unit) };
        ui.label(format!("{}{unit}", channel.title));
        match (map, &channel.categories, &channel.numbers) {
            (ColorMap::Categories, Some(categories), _) => picture_categories_ui(ui, categories, palette),
            (_, _, Some(numbers)) => {
                let (low, high, log) = numbers.ends(view);
                if let Some(moment) = moment_of(session, &view.by) {
                    ui.label(palette.weak(moments(moment, low, high)));
                }
                let width = (ui.available_width() - 8.0).clamp(96.0, MAX_SCALE_WIDTH);
                gradient_ui(ui, width, (low, high), log, map, numbers.integers, palette);
            }
            _ => {}
        }
        let numbers = channel.numbers.as_ref().filter(|_| map != ColorMap::Categories);
        notes_ui(ui, channel, numbers.and_then(|numbers| numbers.clamped(view)), palette);
    });
}

fn picture_categories_ui(ui: &mut Ui, categories: &Categories, palette: &Palette) {
    for (at, category) in categories.list.iter().enumerate().take(MAX_LISTED) {
        let name: String = category.name.chars().take(24).collect();
        let text = ui.painter().layout_no_wrap(
            name.clone(),
            egui::TextStyle::Body.resolve(ui.style()),
            palette.text,
        );
        // Allocated as one item, which wraps as a whole.
        ui.allocate_ui_with_layout(
            vec2(16.0 + text.size().x, text.size().y),
            Layout::left_to_right(Align::Center),
            |ui| {
                let (rect, _) = ui.allocate_exact_size(vec2(10.0, 10.0), Sense::hover());
                let swatch = Rect::from_center_size(rect.center(), vec2(10.0, 10.0));
                ui.painter().rect_filled(swatch, 2.0, ColorMap::Categories.category(at, palette));
                ui.spacing_mut().item_spacing.x = 6.0;
                ui.add(Label::new(name).extend());
            },
        );
    }
    let others = categories.list.len().saturating_sub(MAX_LISTED);
    if others > 0 {
        ui.label(palette.small(format!("and {} more share colours", text::thousands(others as u64))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_ranges_are_shown_as_dates() {
        let days: TimestampType = serde_json::from_str(r#"{"unit":"days","utc":false}"#).expect("days");
        assert_eq!(moments(days, 19_723.4, 20_089.0), "2024-01-01 to 2025-01-01");
    }

    #[test]
    fn range_ends_have_enough_digits_to_differ() {
        let both = |low, high| [end(low, (low, high), false), end(high, (low, high), false)];
        assert_eq!(both(4_918_340.36, 4_918_381.12), ["4,918,340.4", "4,918,381.1"]);
        assert_eq!(both(0.0, 12_345.6), ["0", "12,350"]);
        assert_eq!(both(100.001, 100.003), ["100.00100", "100.00300"]);
        assert_eq!(both(0.25, 0.25), ["0.2500", "0.2500"]);
        assert_eq!(end(515_368.0, (515_368.0, 515_401.0), true), "515,368");
    }
}

//! Shared parts of plots: base settings, lines, legends and axes. Logarithmic axes plot the logarithm.

use std::ops::RangeInclusive;

use egui_plot::{GridInput, GridMark, HoverPosition, Line, Plot, PlotPoint, PlotPoints};

use crate::app::prelude::*;
use crate::text;

/// A plot with the settings shared by all panes.
pub fn plot<'a>(id: &'static str, palette: &Palette) -> Plot<'a> {
    // Without click handling the plot must not take keyboard focus.
    let sense = Sense::CLICK | Sense::DRAG;
    Plot::new(id)
        .sense(sense)
        .show_background(false)
        .grid_color(palette.line)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .set_margin_fraction(vec2(0.02, 0.08))
}

/// Height of the x axis below a plot: its numbers and title.
const X_AXIS: f32 = 40.0;

/// The first title that fits along the y axis of a plot of this height; none if all are too long.
pub fn y_title(ui: &Ui, height: f32, titles: &[&str]) -> String {
    fitting_title(ui, height - X_AXIS, titles)
}

/// The first title that is at most so wide; none if all are wider, because a title is not clipped.
pub fn fitting_title(ui: &Ui, width: f32, titles: &[&str]) -> String {
    let font = egui::TextStyle::Body.resolve(ui.style());
    let fits = |title: &&&str| {
        let text = (**title).to_owned();
        ui.painter().layout_no_wrap(text, font.clone(), Color32::PLACEHOLDER).size().x <= width
    };
    titles.iter().find(fits).map_or_else(String::new, |title| (*title).to_owned())
}

/// Draws a plot in a scroll area, which would cut the title of its y axis: it begins left of the plot.
pub fn scrolled_plot_ui<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    const LEFT: egui::Margin = egui::Margin { left: 4, right: 0, top: 0, bottom: 0 };
    egui::Frame::NONE.inner_margin(LEFT).show(ui, add).inner
}

/// About ten marks at most, at whole numbers.
pub fn whole_numbers(most: usize) -> Vec<GridMark> {
    let steps = (0..9).flat_map(|power| [1, 2, 5].map(|step| step * 10usize.pow(power)));
    let step = steps.into_iter().find(|step| most / step <= 10).unwrap_or(most.max(1));
    (0..=most / step).map(|at| GridMark { value: (at * step) as f64, step_size: step as f64 }).collect()
}

/// A coloured square and a name.
pub fn swatch_ui(ui: &mut Ui, color: Color32, name: &str) -> Response {
    ui.horizontal(|ui| {
        let (rect, _) = ui.allocate_exact_size(SWATCH, Sense::hover());
        ui.painter().rect_filled(rect, 2.0, color);
        // The text determines the cell's width.
        ui.add(Label::new(name).extend())
    })
    .inner
}

/// [`swatch_ui`] for a line that wraps: the entry wraps as a whole, unless it is wider than the line.
pub fn inline_swatch_ui(ui: &mut Ui, color: Color32, name: &str) {
    entry_ui(ui, SWATCH, name, |ui, rect| {
        ui.painter().rect_filled(rect, 2.0, color);
    });
}

/// [`inline_swatch_ui`] with a line as its sample, optionally dashed to be recognisable without colour.
pub fn inline_line_ui(ui: &mut Ui, color: Color32, dashed: bool, name: &str) {
    entry_ui(ui, vec2(18.0, SWATCH.y), name, |ui, rect| {
        let (ends, stroke) = ([rect.left_center(), rect.right_center()], Stroke::new(2.0, color));
        if dashed {
            ui.painter().extend(egui::Shape::dashed_line(&ends, stroke, 4.0, 3.0));
        } else {
            ui.painter().line_segment(ends, stroke);
        }
    });
}

fn entry_ui(ui: &mut Ui, sample: Vec2, name: &str, paint: impl FnOnce(&Ui, Rect)) {
    let text = ui.painter().layout_no_wrap(
        name.to_owned(),
        egui::TextStyle::Body.resolve(ui.style()),
        Color32::PLACEHOLDER,
    );
    let width = sample.x + ui.spacing().item_spacing.x + text.size().x;
    let all = ui.max_rect().width();
    let size = vec2(width.min(all), text.size().y.max(sample.y));
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        let (rect, _) = ui.allocate_exact_size(sample, Sense::hover());
        paint(ui, rect);
        let label = Label::new(name);
        ui.add(if width > all { label.wrap() } else { label.extend() });
    });
}

const SWATCH: Vec2 = Vec2::splat(10.0);

/// A line without a hover band.
pub fn line<'a>(name: impl Into<String>, points: Vec<[f64; 2]>, color: Color32, width: f32) -> Line<'a> {
    Line::new(name, PlotPoints::from(points)).color(color).width(width).allow_band(false)
}

/// A tooltip for the data point under the pointer, from its plot's name and its position.
pub fn hover_label<'a>(
    say: impl Fn(&str, PlotPoint) -> Option<String> + 'a,
) -> impl Fn(&HoverPosition<'_>) -> Option<String> + 'a {
    move |at| match at {
        HoverPosition::NearDataPoint { plot_name, position, .. } => say(plot_name, *position),
        HoverPosition::Elsewhere { .. } => None,
    }
}

/// Formats a count; empty between whole numbers.
pub fn whole(mark: GridMark, _: &RangeInclusive<f64>) -> String {
    if mark.value.fract() == 0.0 && mark.value >= 0.0 {
        text::thousands(mark.value as u64)
    } else {
        String::new()
    }
}

/// Marks at powers of ten, with fainter ones in between.
pub fn decades(input: GridInput) -> Vec<GridMark> {
    let (low, high) = (input.bounds.0.floor() as i32, input.bounds.1.ceil() as i32);
    if high - low > 40 {
        return Vec::new();
    }
    (low..=high)
        .flat_map(|decade| (1..10).map(move |digit| (decade, digit)))
        .map(|(decade, digit)| GridMark {
            value: f64::from(decade) + f64::from(digit).log10(),
            step_size: if digit == 1 { 1.0 } else { 0.1 },
        })
        .collect()
}

/// Formats the number at a mark of a logarithmic axis.
pub fn power(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let narrow = range.end() - range.start() < 1.5;
    let whole = (mark.value - mark.value.round()).abs() < 1e-6;
    // At the ends of the axis a label would be clipped.
    let extent = range.end() - range.start();
    if mark.value > range.end() - 0.04 * extent || mark.value < *range.start() {
        return String::new();
    }
    let value = 10f64.powf(mark.value);
    if whole {
        text::digits(value, 1)
    } else if narrow {
        text::digits(value, 3)
    } else {
        String::new()
    }
}

/// [`power`] for large numbers, written with a prefix: `10 T`.
pub fn prefixed(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    if power(mark, range).is_empty() {
        return String::new();
    }
    let value = 10f64.powf(mark.value);
    let (unit, scale) = text::unit_prefix(value);
    format!("{} {unit}", text::digits(value / scale, 1)).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_axis_ticks_are_labelled_by_value() {
        let mark = |value| GridMark { value, step_size: 1.0 };
        let wide = 0.0..=20.0;
        assert_eq!([0.0, 3.0, 13.0].map(|value| prefixed(mark(value), &wide)), ["1", "1 k", "10 T"]);
        assert_eq!([power(mark(3.0), &wide), power(mark(3.3), &wide)], ["1,000", ""]);
        assert_eq!(power(mark(3.301_03), &(3.0..=4.0)), "2,000");
    }
}

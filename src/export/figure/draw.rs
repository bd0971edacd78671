//! Draws a figure for print: title, panels with axes, legend, and the publication's statements.

use super::{Curve, Figure};
use crate::draw::pen::{MeasuredText, ROW, area, dashed, line, log_ticks, sans, width};
use crate::draw::{Area, Drawing, Font, Ink, Point, Shape};
use crate::run::presets::{PanelQuantity, XQuantity};
use crate::run::stats::DISTANCE_BYTES;
use crate::text::{coordinate, sentence_case, significant, thousands, unit_prefix};

/// Sizes of text, of notes in a panel and of titles, in points.
const TEXT: f32 = 12.0;
const NOTE: f32 = 10.0;
const TITLE: f32 = 16.0;

/// Size of a panel with its labels, its width if there are more than two in a row, and the outer margin.
const PANEL: [f32; 2] = [450.0, 330.0];
const NARROW: f32 = 400.0;
const MARGIN: f32 = 24.0;

/// Width of axis labels, left and right.
const LABELS: f32 = 58.0;

/// Half the size of a marker.
const MARKER: f32 = 4.0;

/// Height of a line of text.
const LINE: f32 = TEXT * ROW;

/// A panel, for one value of the size that distinguishes panels.
struct Facet {
    panel: PanelQuantity,
    panel_value: Option<u64>,
    curves: Vec<Curve>,
}

/// Draws the figure; the height follows from its content.
pub fn drawing(figure: &Figure) -> Drawing {
    // Panels without measurements are skipped, but at least one remains.
    let mut cells = Vec::new();
    for &panel in &figure.panels {
        cells.extend(figure.panel_values().into_iter().map(|panel_value| Facet {
            panel,
            panel_value,
            curves: figure.curves(panel, panel_value),
        }));
    }
    if cells.iter().any(|cell| !cell.curves.is_empty()) {
        cells.retain(|cell| !cell.curves.is_empty());
    } else {
        cells.truncate(1);
    }
    // If a size has panels per value, each kind of panel starts a new row.
    let groups: Vec<&[Facet]> = match cells.first() {
        Some(Facet { panel_value: None, .. }) => vec![&cells],
        _ => cells.chunk_by(|a, b| a.panel == b.panel).collect(),
    };
    let most = groups.iter().map(|group| group.len()).max().unwrap_or(1);
    // Four panels make two rows of two.
    let columns = if most == 4 { 2 } else { most.clamp(1, 3) };
    let each = if columns > 2 { NARROW } else { PANEL[0] };
    let wide = each * columns as f32;
    let mut page = Page { drawing: Drawing::new(wide + 2.0 * MARGIN, 0.0), y: MARGIN, wide };
    page.lines(&figure.title, TITLE, Ink::Text);
    let by = figure.preset.as_ref().map(|name| format!("warpscope sweep --preset {name}"));
    let conditions = figure.conditions();
    let devices = (!figure.devices.is_empty()).then(|| format!("on {}", figure.devices.join(" and ")));
    let about: Vec<&str> = by.iter().chain(&conditions).chain(&devices).map(String::as_str).collect();
    page.lines(&about.join(", "), TEXT, Ink::TextWeak);
    page.y += LINE / 2.0;
    for group in &groups {
        if let Some(cell) = group.first().filter(|cell| cell.panel_value.is_some()) {
            page.lines(&panel_label(figure, cell.panel), TEXT, Ink::Text);
            page.y += LINE / 2.0;
        }
        for row in group.chunks(columns) {
            for (at, cell) in row.iter().enumerate() {
                let room = area(MARGIN + each * at as f32, page.y, each, PANEL[1]);
                let of_kind: Vec<&Facet> = group.iter().filter(|other| other.panel == cell.panel).collect();
                draw_panel(&mut page.drawing, room, figure, cell, &of_kind);
            }
            page.y += PANEL[1] + LINE / 2.0;
        }
    }
    page.legend(figure, &cells);
    page.notes(figure, &cells);
    page.statements(figure);
    page.drawing.size[1] = page.y + MARGIN;
    page.drawing
}

/// A page that is filled from top to bottom.
struct Page {
    drawing: Drawing,
    /// Current height.
    y: f32,
    /// Width between the margins.
    wide: f32,
}

impl Page {
    /// Draws text, wrapped.
    fn lines(&mut self, text: &str, size: f32, ink: Ink) {
        for row in MeasuredText::new(text, Font::Sans).wrap(size, self.wide) {
            self.drawing.text([MARGIN, self.y], [0.0, 0.0], sans(size, ink), row);
            self.y += size * ROW;
        }
    }

    /// Draws a marker and a name for each method, and explains dashed lines and open marks.
    fn legend(&mut self, figure: &Figure, cells: &[Facet]) {
        let mut x = MARGIN;
        let mut put = |page: &mut Self, text: &str, draw: &dyn Fn(&mut Drawing, [Point; 2])| {
            let needed = 30.0 + width(Font::Sans, TEXT, text) + 18.0;
            if x > MARGIN && x + needed > MARGIN + page.wide {
                (x, page.y) = (MARGIN, page.y + LINE);
            }
            let middle = page.y + LINE / 2.0;
            draw(&mut page.drawing, [[x, middle], [x + 24.0, middle]]);
            page.drawing.text([x + 30.0, middle], [0.0, 0.5], sans(TEXT, Ink::Text), text);
            x += needed;
        };
        for (series, of) in figure.series().into_iter().enumerate() {
            if cells.iter().flat_map(|cell| &cell.curves).any(|curve| curve.series == series) {
                put(self, &figure.series_name(of), &|drawing, ends| {
                    curve(drawing, &ends, series, false, &[middle_of(ends)])
                });
            }
        }
        if cells.iter().any(|cell| cell.panel == PanelQuantity::Points) {
            for (text, is_dashed) in [("distance evaluations", false), ("retained points", true)] {
                put(self, text, &|drawing, ends| {
                    let stroke =
                        if is_dashed { dashed(Ink::TextWeak, 1.5, 4.0) } else { line(Ink::TextWeak, 1.5) };
                    drawing.path(ends.to_vec(), stroke);
                });
            }
        }
        let is_stated = cells.iter().any(|cell| !figure.stated_in(cell.panel).is_empty());
        if let Some(publication) = figure.publication.filter(|_| is_stated) {
            put(self, &format!("stated in {}", publication.short), &|drawing, ends| {
                open_diamond(drawing, middle_of(ends))
            });
        }
        self.y += LINE * 1.5;
    }

    /// Draws notes on how to read the panels.
    fn notes(&mut self, figure: &Figure, cells: &[Facet]) {
        let any = |kinds: &[PanelQuantity]| cells.iter().any(|cell| kinds.contains(&cell.panel));
        if figure.has_zeros() {
            self.lines("Counts of 0 are not drawn on the logarithmic axis.", TEXT, Ink::TextWeak);
        }
        if let Some(repeats) = figure
            .repeats
            .as_ref()
            .filter(|_| any(&[PanelQuantity::Throughput, PanelQuantity::Speedup, PanelQuantity::Transfer]))
        {
            self.lines(repeats, TEXT, Ink::TextWeak);
        }
        if any(&[PanelQuantity::Throughput]) && !figure.measured.is_empty() {
            let bandwidth = figure.peak().map(|peak| {
                let (unit, scale) = unit_prefix(peak);
                let peak = significant(peak / scale);
                format!(
                    "Right axis: reading {DISTANCE_BYTES} bytes per distance once, in % of the measured \
                     memory bandwidth of {peak} {unit}B/s."
                )
            });
            let without = || {
                "The share of the memory bandwidth is omitted: the methods ran on several devices or the \
                 bandwidth is unknown."
                    .to_owned()
            };
            self.lines(&bandwidth.unwrap_or_else(without), TEXT, Ink::TextWeak);
        }
        if let Some(best) = &figure.axes.best {
            self.lines(&format!("Numbers at points are the fastest {best}."), TEXT, Ink::TextWeak);
        }
    }

    /// Draws the publication's statements, and whether they are about the same problem.
    fn statements(&mut self, figure: &Figure) {
        let Some(publication) = figure.publication.filter(|_| !figure.stated.is_empty()) else { return };
        let condition = if figure.is_as_published { "" } else { ", with other data and sizes than these" };
        self.lines(
            &format!("{} states for {}{condition}", sentence_case(&publication.who), publication.device),
            TEXT,
            Ink::Text,
        );
        for stated in figure.stated {
            self.lines(&format!("\u{2022} {}", stated.says), TEXT, Ink::TextWeak);
        }
    }
}

/// Draws a panel: axes, grid, lines and marks. All panels of a kind have the same axes.
fn draw_panel(drawing: &mut Drawing, mut room: Area, figure: &Figure, cell: &Facet, of_kind: &[&Facet]) {
    let title = room.take_top(LINE * 1.6);
    let foot = room.take_bottom(LINE * 2.6);
    let peak = figure.peak().filter(|_| cell.panel == PanelQuantity::Throughput);
    room.take_left(LABELS);
    room.take_right(if peak.is_some() { LABELS } else { 16.0 });
    let said = figure
        .axes
        .panel
        .zip(cell.panel_value)
        .map_or_else(|| panel_label(figure, cell.panel), |(size, value)| figure.value_label(size, value));
    drawing.text([room.x, title.y], [0.0, 0.0], sans(TEXT, Ink::Text), said);
    let x_axis = match &figure.axes.x {
        XQuantity::Size(size) => format!("{}, {}", size.name(), size.about()),
        XQuantity::Share => "k, % of n".to_owned(),
        XQuantity::Parameter { name, about } => format!("{name}, {about}"),
    };
    drawing.text([room.x + room.width / 2.0, foot.bottom()], [0.5, 1.0], sans(TEXT, Ink::Text), x_axis);
    let stated = figure.stated_in(cell.panel);
    let curves = || of_kind.iter().flat_map(|cell| &cell.curves);
    let all = || curves().flat_map(|curve| &curve.points).chain(&stated);
    let across = Axis::around(all().map(|point| point[0]), [room.x, room.right()]);
    let positions = [room.bottom(), room.y];
    let upwards = match cell.panel {
        PanelQuantity::ActiveThreads => Some(Axis::linear([0.0, 32.0], positions)),
        _ => Axis::around(
            all().map(|point| point[1]).chain(curves().flat_map(Curve::ends).flatten().flatten()),
            positions,
        ),
    };
    let (Some(across), Some(upwards)) = (across, upwards) else {
        drawing.text(room.center(), [0.5, 0.5], sans(TEXT, Ink::TextWeak), "No measurements");
        return;
    };
    let of_tick = if cell.panel == PanelQuantity::Throughput { large } else { label };
    for tick in upwards.ticks(8) {
        let y = upwards.position(tick);
        drawing.path(vec![[room.x, y], [room.right(), y]], line(Ink::Grid, 1.0));
        drawing.text([room.x - 6.0, y], [1.0, 0.5], sans(TEXT, Ink::TextWeak), of_tick(tick));
    }
    if let Some(peak) = peak {
        drawing.text([room.right() + LABELS, title.y], [1.0, 0.0], sans(TEXT, Ink::Text), "% of bandwidth");
        let percent = upwards.in_units(100.0 * DISTANCE_BYTES / peak);
        for tick in percent.ticks(8) {
            let y = percent.position(tick);
            drawing.path(vec![[room.right(), y], [room.right() + 4.0, y]], line(Ink::TextWeak, 1.0));
            drawing.text(
                [room.right() + 8.0, y],
                [0.0, 0.5],
                sans(TEXT, Ink::TextWeak),
                format!("{} %", label(tick)),
            );
        }
    }
    // Ticks are at the measured values, labelled where there is room.
    let mut values: Vec<f64> = all().map(|point| point[0]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut free = f32::NEG_INFINITY;
    for value in values {
        let (x, text) = (across.position(value), label(value));
        let half = width(Font::Sans, TEXT, &text) / 2.0;
        drawing.path(vec![[x, room.bottom()], [x, room.bottom() + 4.0]], line(Ink::TextWeak, 1.0));
        if x - half > free {
            drawing.text([x, room.bottom() + 6.0], [0.5, 0.0], sans(TEXT, Ink::TextWeak), text);
            free = x + half + 6.0;
        }
    }
    drawing.rect(room, 0.0, None, Some(line(Ink::TextWeak, 1.0)));
    for drawn in &cell.curves {
        let points: Vec<Point> =
            drawn.points.iter().map(|&[x, y]| [across.position(x), upwards.position(y)]).collect();
        for ([x, _], ends) in points.iter().zip(drawn.ends()) {
            if let Some([low, high]) = ends {
                bar(
                    drawing,
                    *x,
                    [if low > 0.0 { upwards.position(low) } else { room.bottom() }, upwards.position(high)],
                    drawn.series,
                );
            }
        }
        curve(drawing, &points, drawn.series, drawn.dashed, &points);
        for ([x, y], note) in points.iter().zip(&drawn.notes).filter(|(_, note)| !note.is_empty()) {
            drawing.text([x + MARKER, y - MARKER], [0.0, 1.0], sans(NOTE, Ink::Category(drawn.series)), note);
        }
    }
    for [x, y] in stated {
        open_diamond(drawing, [across.position(x), upwards.position(y)]);
    }
}

impl Curve {
    /// Both ends of each point's error bar, in the panel's units, or `None`.
    fn ends(&self) -> impl Iterator<Item = Option<[f64; 2]>> {
        let of = |([_, y], deviation): (&[f64; 2], &f64)| {
            (*deviation > 0.0).then(|| [y * (1.0 - deviation), y * (1.0 + deviation)])
        };
        self.points.iter().zip(&self.deviations).map(of)
    }
}

/// The quantity of a panel, with its unit.
fn panel_label(figure: &Figure, panel: PanelQuantity) -> String {
    match panel {
        PanelQuantity::Time => "Median search time in ms, excluding the index".to_owned(),
        PanelQuantity::Points => "Distance evaluations and retained points, means over queries".to_owned(),
        PanelQuantity::ActiveThreads => "Active threads of 32 in a warp, mean".to_owned(),
        PanelQuantity::Throughput => "Throughput in distances per second".to_owned(),
        PanelQuantity::Wrong => "Wrong neighbours of k, means over queries".to_owned(),
        PanelQuantity::Transfer => "Search time as a multiple of upload and download".to_owned(),
        PanelQuantity::Speedup => {
            let first = figure.methods.first().map_or_else(String::new, ToString::to_string);
            format!("Speedup factor over {first}")
        }
    }
}

/// Draws an error bar.
fn bar(drawing: &mut Drawing, x: f32, [low, high]: [f32; 2], series: usize) {
    let half = MARKER * 0.8;
    for points in [
        vec![[x, low], [x, high]],
        vec![[x - half, low], [x + half, low]],
        vec![[x - half, high], [x + half, high]],
    ] {
        drawing.path(points, line(Ink::Category(series), 1.0));
    }
}

/// Draws a line in the colour of a series, and its marker at each of `marks`.
fn curve(drawing: &mut Drawing, points: &[Point], series: usize, is_dashed: bool, marks: &[Point]) {
    let ink = Ink::Category(series);
    let stroke = if is_dashed { dashed(ink, 1.5, 4.0) } else { line(ink, 1.8) };
    drawing.path(points.to_vec(), stroke);
    for &[x, y] in marks {
        let corners = |around: &[[f32; 2]]| {
            around.iter().map(|[right, down]| [x + right * MARKER, y + down * MARKER]).collect()
        };
        let shape = match series % 4 {
            0 => Shape::Dots { centers: vec![[x, y]], radius: MARKER, fill: Some(ink.into()), line: None },
            1 => Shape::Polygon {
                corners: corners(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
                fill: ink.into(),
            },
            2 => {
                Shape::Polygon { corners: corners(&[[0.0, -1.2], [1.1, 0.9], [-1.1, 0.9]]), fill: ink.into() }
            }
            _ => Shape::Polygon {
                corners: corners(&[[0.0, 1.2], [1.1, -0.9], [-1.1, -0.9]]),
                fill: ink.into(),
            },
        };
        drawing.shapes.push(shape);
    }
}

/// Marks a number that a publication states.
fn open_diamond(drawing: &mut Drawing, [x, y]: Point) {
    let size = MARKER * 1.7;
    let points = vec![[x, y - size], [x + size, y], [x, y + size], [x - size, y], [x, y - size]];
    drawing.path(points, line(Ink::Theory, 1.6));
}

fn middle_of([from, to]: [Point; 2]) -> Point {
    [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Logarithmic,
}

impl Scale {
    fn transform(self, value: f64) -> f64 {
        if self == Self::Linear { value } else { value.ln() }
    }
}

/// A scale over a length of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    scale: Scale,
    /// The values at both ends, or their logarithms.
    ends: [f64; 2],
    /// Positions of both ends, in points.
    positions: [f32; 2],
}

impl Axis {
    /// A linear axis between two values.
    pub fn linear(ends: [f64; 2], positions: [f32; 2]) -> Self {
        Self { scale: Scale::Linear, ends, positions }
    }

    /// A logarithmic axis around all positive `values`, with a margin; `None` if there are none.
    pub fn around(values: impl Iterator<Item = f64>, positions: [f32; 2]) -> Option<Self> {
        let logs = values.filter(|value| *value > 0.0 && value.is_finite()).map(f64::ln);
        let [min, max] =
            logs.fold([f64::INFINITY, f64::NEG_INFINITY], |[min, max], log| [min.min(log), max.max(log)]);
        // A factor of 6 always contains two ticks.
        let room = f64::max((max - min) * 0.06, (6f64.ln() - (max - min)) / 2.0);
        (min <= max).then_some(Self { scale: Scale::Logarithmic, ends: [min - room, max + room], positions })
    }

    /// The same axis in other units; `per_one` of them equal one unit of this axis.
    pub fn in_units(&self, per_one: f64) -> Self {
        let ends =
            self.ends.map(|end| if self.scale == Scale::Linear { end * per_one } else { end + per_one.ln() });
        Self { ends, ..*self }
    }

    /// The position of a value; only positive ones have a position on a logarithmic axis.
    pub fn position(&self, value: f64) -> f32 {
        let [min, max] = self.ends;
        let along = (self.scale.transform(value) - min) / (max - min);
        self.positions[0] + along as f32 * (self.positions[1] - self.positions[0])
    }

    /// At most `most` round values; quarters on a linear axis.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        if self.scale == Scale::Linear {
            return (0..=4)
                .map(|quarter| self.ends[0] + (self.ends[1] - self.ends[0]) * f64::from(quarter) / 4.0)
                .collect();
        }
        let [min, max] = self.ends.map(f64::exp);
        // Within about a decade, 1, 2, 5 would be too few ticks to read off a factor, so whole multiples are
        // used.
        let power = 10f64.powf(min.log10().floor());
        let whole = [1.0, 10.0]
            .into_iter()
            .flat_map(|by| [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0].map(|factor| factor * by * power));
        let whole: Vec<f64> = whole.filter(|tick| (min..=max).contains(tick)).collect();
        if max < 100.0 * power && whole.len() <= most { whole } else { log_ticks(min, max, most) }
    }
}

/// The label of a large value: `500 G`.
pub fn large(value: f64) -> String {
    let (unit, scale) = unit_prefix(value);
    if unit.is_empty() { label(value) } else { format!("{} {unit}", label(value / scale)) }
}

/// The label of a value.
pub fn label(value: f64) -> String {
    // Powers of ten are not exact: 3·10⁻⁴ may be 0.00030000000000000003.
    if value == 0.0 || (1.0..1e15).contains(&value) {
        return thousands(value.round() as u64);
    }
    coordinate(format!("{value:.6e}").parse().unwrap_or(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equidistant_on_a_log_axis() {
        let axis = Axis::around([1.0, 100.0, 10.0].into_iter(), [50.0, 250.0]).unwrap();
        let positions = [1.0, 10.0, 100.0].map(|value| axis.position(value));
        assert!(
            (positions[1] - 150.0).abs() < 1e-3
                && ((positions[2] - positions[1]) - (positions[1] - positions[0])).abs() < 1e-3,
            "{positions:?}"
        );
        assert!(50.0 < positions[0] && positions[2] < 250.0, "there is a margin: {positions:?}");
        let upwards = Axis::around([1.0, 100.0].into_iter(), [300.0, 100.0]).unwrap();
        assert!(upwards.position(100.0) < upwards.position(1.0));
    }

    #[test]
    fn ticks_are_round_and_on_the_axis() {
        let axis = Axis::around([0.31, 0.9, 42.0].into_iter(), [0.0, 100.0]).unwrap();
        assert_eq!(
            axis.ticks(8).into_iter().map(label).collect::<Vec<_>>(),
            ["0.5", "1", "2", "5", "10", "20", "50"]
        );
        assert!(axis.ticks(8).iter().all(|tick| (0.0..=100.0).contains(&axis.position(*tick))));
        assert_eq!(label(65_536.0), "65,536");
        assert_eq!(
            [1e-4, 3.0 * 10f64.powi(-1), 3.0 * 10f64.powi(-4)].map(label),
            ["0.0001", "0.3", "0.0003"]
        );
    }

    #[test]
    fn changing_axis_units_preserves_positions() {
        let axis = Axis::around([2e9, 8e11].into_iter(), [300.0, 20.0]).unwrap();
        let shares = axis.in_units(4.0 / 3.2e12);
        assert!((shares.position(0.5) - axis.position(4e11)).abs() < 1e-3);
        assert_eq!(Axis::linear([0.0, 32.0], [0.0, 1.0]).in_units(0.5).ticks(8), [0.0, 4.0, 8.0, 12.0, 16.0]);
        assert_eq!([2e9, 5e11, 1e12, 700.0].map(large), ["2 G", "500 G", "1 T", "700"]);
    }

    #[test]
    fn short_axes_get_more_ticks() {
        let of = |ends: [f64; 2]| {
            Axis::around(ends.into_iter(), [0.0, 1.0])
                .unwrap()
                .ticks(8)
                .into_iter()
                .map(large)
                .collect::<Vec<_>>()
        };
        assert_eq!(of([2.2e11, 7e11]), ["200 G", "300 G", "400 G", "500 G", "600 G", "800 G"]);
        assert_eq!(of([7.0, 12.0]), ["4", "5", "6", "8", "10", "20"]);
    }

    #[test]
    fn linear_axes_have_ticks_at_quarters() {
        let axis = Axis::linear([0.0, 32.0], [132.0, 100.0]);
        assert_eq!(axis.ticks(8).into_iter().map(label).collect::<Vec<_>>(), ["0", "8", "16", "24", "32"]);
        assert_eq!([0.0, 8.0, 32.0].map(|value| axis.position(value)), [132.0, 124.0, 100.0]);
    }

    #[test]
    fn equal_values_are_centred_and_empty_data_has_no_axis() {
        let axis = Axis::around([7.0, 7.0].into_iter(), [0.0, 100.0]).unwrap();
        assert!((axis.position(7.0) - 50.0).abs() < 1e-3);
        for value in [1.01, 2.1, 3.3, 5.1, 9.9] {
            assert!(Axis::around([value].into_iter(), [0.0, 1.0]).unwrap().ticks(8).len() >= 2, "{value}");
        }
        assert!(Axis::around([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter(), [0.0, 1.0]).is_none());
    }
}

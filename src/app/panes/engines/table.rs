//! The table of engines, with search times as bars.

use egui_extras::{Column, TableBuilder, TableRow};

use crate::app::features::engine_comparison::state::{EngineComparison, EnginesAction, deviation};
use crate::app::panes::empty::PaneContext;
use crate::app::prelude::*;
use crate::engines::registry;
use crate::knn::{EngineId, Measure};
use crate::run::RunRecord;
use crate::run::analysis::{Limit, Roofline};
use crate::run::planner::{Candidate, StageTimes, about};
use crate::text;

/// Margin to the right of numbers.
const GAP: f32 = 6.0;

const HEADER: f32 = 20.0;
const ROW: f32 = 24.0;

/// If the slowest time exceeds the fastest by more than this factor, bars are logarithmic: on a linear scale
/// most would be slivers.
const MAX_LINEAR_RATIO: f64 = 20.0;

/// A column of the table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableColumn {
    Engine,
    Predicted,
    Time,
    Deviation,
    Bar,
    Times,
    Memory,
    Answer,
    Buttons,
    Counted,
}

struct ColumnHeader {
    cell: TableColumn,
    title: &'static str,
    width: f32,
    hover: &'static str,
}

const HEADS: [ColumnHeader; 10] = {
    const fn head(cell: TableColumn, title: &'static str, width: f32, hover: &'static str) -> ColumnHeader {
        ColumnHeader { cell, title, width, hover }
    }
    [
        head(TableColumn::Engine, "engine", 104.0, "Click to see how it works."),
        head(
            TableColumn::Predicted,
            "predicted",
            64.0,
            "Predicted time to search all queries, from earlier runs on this machine.",
        ),
        head(
            TableColumn::Time,
            "search",
            66.0,
            "Median of the repeats. The window uses some CPU time; for publication, use `warpscope run`.",
        ),
        head(TableColumn::Deviation, "±", 58.0, "One standard deviation of the repeats."),
        head(TableColumn::Bar, "", 88.0, ""),
        head(TableColumn::Times, "× fastest", 58.0, "Time relative to the fastest engine."),
        head(
            TableColumn::Memory,
            "memory",
            56.0,
            "Share of the memory bandwidth used to read points and queries once and write answers. Excludes \
             distance matrices.",
        ),
        head(TableColumn::Answer, "answer", 48.0, "Whether its neighbours match those of the first engine."),
        head(TableColumn::Buttons, "", 76.0, ""),
        head(TableColumn::Counted, "counted", 150.0, "Means over all queries. Hover for descriptions."),
    ]
};

/// Columns dropped if there is not enough room, in this order.
const DROPPED: [TableColumn; 4] =
    [TableColumn::Deviation, TableColumn::Predicted, TableColumn::Times, TableColumn::Memory];

/// The columns that fit; a picture has no buttons.
fn shown(width: f32, spacing: f32, is_picture: bool) -> Vec<&'static ColumnHeader> {
    let mut heads: Vec<&ColumnHeader> =
        HEADS.iter().filter(|head| !(is_picture && head.cell == TableColumn::Buttons)).collect();
    for cell in DROPPED {
        let needed: f32 = heads.iter().map(|head| head.width + spacing).sum();
        if needed <= width {
            break;
        }
        heads.retain(|head| head.cell != cell);
    }
    heads
}

/// All engines: fastest answers first, then available engines, then unavailable ones. During a comparison
/// they are in running order.
pub fn table_ui(ui: &mut Ui, context: &mut PaneContext<'_>, candidates: &[Candidate], is_asked: bool) {
    let palette = context.palette;
    let comparison = &context.session.engine_comparison;
    let time = |candidate: &Candidate| {
        comparison.answer(candidate.engine).filter(|_| is_asked).map(|record| record.summary.search_ms_median)
    };
    let mut order: Vec<&Candidate> = candidates.iter().collect();
    let runs = comparison.under_way().is_some();
    let key = |candidate: &Candidate| {
        let forecast =
            forecast(comparison, candidate, is_asked).map_or(f64::INFINITY, |forecast| forecast.search_ms);
        match (time(candidate).filter(|_| !runs), &candidate.why_not) {
            (Some(ms), _) => (0, ms),
            (None, None) => (1, forecast),
            (None, Some(_)) => (2, forecast),
        }
    };
    order.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
    let times: Vec<f64> = candidates.iter().filter_map(time).collect();
    let scale = Scale::for_times(&times);
    let heads = shown(ui.available_width(), ui.spacing().item_spacing.x, context.session.picture.is_some());
    let height = ui.available_height();
    ScrollArea::horizontal().id_salt("engines").auto_shrink([false, true]).show(ui, |ui| {
        // The selected row contains numbers, links and buttons, some of which would be unreadable on the
        // default selection colour.
        let selection = &mut ui.visuals_mut().selection;
        (selection.bg_fill, selection.stroke) = (palette.field_hover, Stroke::new(1.0, palette.text));
        let mut table = TableBuilder::new(ui)
            .id_salt(("engines", heads.len()))
            .striped(true)
            .cell_layout(Layout::left_to_right(Align::Center))
            .max_scroll_height(height - HEADER)
            .min_scrolled_height(0.0)
            .auto_shrink([false, true]);
        for head in &heads {
            table = table.column(match head.cell {
                TableColumn::Counted => Column::remainder().at_least(96.0),
                _ => Column::initial(head.width).at_least(28.0),
            });
        }
        let table = table.header(HEADER, |mut header| {
            for head in &heads {
                header.col(|ui| head_ui(ui, head, scale, palette));
            }
        });
        table.body(|body| {
            body.rows(ROW, order.len(), |mut row| {
                let candidate = order[row.index()];
                row.set_selected(comparison.page == Some(candidate.engine));
                let line = EngineRow {
                    candidate,
                    answer: comparison.answer(candidate.engine).filter(|_| is_asked).map(|record| &**record),
                    failure: comparison.failure(candidate.engine).filter(|_| is_asked),
                    is_asked,
                    session: context.session,
                    scale,
                    palette,
                };
                for head in &heads {
                    row_ui(&mut row, head.cell, &line, context.actions);
                }
            });
        });
        // Room for the floating scroll bar below the last row.
        ui.add_space(ui.spacing().scroll.bar_width + 2.0);
    });
}

/// The prediction from before the engine's first run, or the current one.
fn forecast(comparison: &EngineComparison, candidate: &Candidate, is_asked: bool) -> Option<StageTimes> {
    comparison.predicted(candidate.engine).filter(|_| is_asked).or(candidate.forecast)
}

fn is_number(cell: TableColumn) -> bool {
    matches!(
        cell,
        TableColumn::Predicted
            | TableColumn::Time
            | TableColumn::Deviation
            | TableColumn::Times
            | TableColumn::Memory
    )
}

fn head_ui(ui: &mut Ui, head: &ColumnHeader, scale: Scale, palette: &Palette) {
    let (title, hover) = match head.cell {
        TableColumn::Bar => (scale.title(), scale.says()),
        _ => (head.title, head.hover.to_owned()),
    };
    let layout = if is_number(head.cell) {
        Layout::right_to_left(Align::Center)
    } else {
        Layout::left_to_right(Align::Center)
    };
    let label = ui.with_layout(layout, |ui| {
        ui.add_space(if is_number(head.cell) { GAP } else { 0.0 });
        ui.add(Label::new(palette.small(title)).extend())
    });
    if !hover.is_empty() {
        label.inner.on_hover_text(hover);
    }
}

/// The scale of the bars: linear from 0, or logarithmic if times differ much.
#[derive(Clone, Copy)]
struct Scale {
    fastest: f64,
    /// Start of the bars in milliseconds: 0, or a power of ten on a logarithmic scale.
    from: f64,
    /// The slowest time, in milliseconds.
    to: f64,
}

impl Scale {
    fn for_times(times: &[f64]) -> Self {
        let (fastest, slowest) =
            times.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &ms| (least.min(ms), most.max(ms)));
        let logarithmic = slowest > MAX_LINEAR_RATIO * fastest;
        // Lower than the fastest time, so that its bar is visible.
        let from = if logarithmic { 10f64.powf((fastest / 2.0).log10().floor()) } else { 0.0 };
        Self { fastest, from, to: slowest }
    }

    fn is_logarithmic(self) -> bool {
        self.from > 0.0
    }

    /// The position of a time, from 0 to 1.
    fn place(self, ms: f64) -> f32 {
        let place = if self.is_logarithmic() {
            (ms / self.from).ln() / (self.to / self.from).ln()
        } else {
            ms / self.to
        };
        place.clamp(0.0, 1.0) as f32
    }

    /// The powers of ten on a logarithmic scale, in milliseconds.
    fn decades(self) -> impl Iterator<Item = f64> {
        let first = self.from;
        std::iter::successors(Some(first * 10.0), |ms| Some(ms * 10.0))
            .take_while(move |&ms| self.is_logarithmic() && ms < self.to)
    }

    fn title(self) -> &'static str {
        if self.is_logarithmic() { "search, log scale" } else { "search" }
    }

    fn says(self) -> String {
        if self.is_logarithmic() {
            format!(
                "The median on a logarithmic scale from {} to {}; a line is a power of ten.",
                about(self.from),
                text::time(self.to)
            )
        } else {
            "The median as a bar from 0; the longest is the slowest engine.".to_owned()
        }
    }
}

/// The contents of a row.
struct EngineRow<'a> {
    candidate: &'a Candidate,
    answer: Option<&'a RunRecord>,
    failure: Option<&'a str>,
    /// Whether the answers are for the current problem.
    is_asked: bool,
    session: &'a Session,
    scale: Scale,
    palette: &'a Palette,
}

impl EngineRow<'_> {
    fn engine(&self) -> EngineId {
        self.candidate.engine
    }

    fn comparison(&self) -> &EngineComparison {
        &self.session.engine_comparison
    }

    /// Progress of the engine's run, from 0 to 1; `None` if it is not running.
    fn under_way(&self) -> Option<f32> {
        let runs = self.comparison().under_way().is_some_and(|(engine, _)| engine == self.engine());
        runs.then(|| self.session.running.as_ref().map_or(0.0, |running| running.fraction))
    }

    fn median(&self) -> Option<f64> {
        // While the engine runs again, its previous time is hidden.
        self.answer.filter(|_| self.under_way().is_none()).map(|record| record.summary.search_ms_median)
    }
}

fn row_ui(row: &mut TableRow<'_, '_>, cell: TableColumn, line: &EngineRow<'_>, actions: &mut Actions) {
    let (candidate, palette) = (line.candidate, line.palette);
    match cell {
        TableColumn::Engine => {
            row.col(|ui| engine_ui(ui, line, actions));
        }
        TableColumn::Predicted => {
            let forecast = forecast(line.comparison(), candidate, line.is_asked);
            number_ui(row, forecast.map_or_else(|| "–".to_owned(), |forecast| about(forecast.search_ms)));
        }
        TableColumn::Time => match line.under_way() {
            Some(fraction) => number_ui(row, format!("{:.0} %", fraction * 100.0)),
            None => number_ui(row, line.median().map(text::time).unwrap_or_default()),
        },
        TableColumn::Deviation => number_ui(
            row,
            line.median().and(line.answer).and_then(deviation).map(text::time).unwrap_or_default(),
        ),
        TableColumn::Bar => {
            row.col(|ui| match (line.under_way(), line.median()) {
                (Some(_), _) => under_way_ui(ui, line),
                (None, Some(ms)) => bar_ui(ui, ms, line.scale, palette),
                _ if line.comparison().is_waiting(candidate.engine) => {
                    drop(ui.label(palette.weak("waits").size(12.0)))
                }
                _ => {}
            });
        }
        TableColumn::Times => {
            let times = line.median().map(|ms| format!("{}×", text::significant(ms / line.scale.fastest)));
            number_ui(row, times.unwrap_or_default());
        }
        TableColumn::Memory => {
            let share =
                line.answer.and_then(Roofline::of_run).and_then(|roofline| roofline.share(Limit::Memory));
            number_ui(
                row,
                share
                    .map(
                        |share| {
                            if share < 0.01 { "< 1 %".to_owned() } else { format!("{:.0} %", share * 100.0) }
                        },
                    )
                    .unwrap_or_default(),
            );
        }
        TableColumn::Answer => {
            row.col(|ui| {
                let (text, color) =
                    match line.comparison().differing(candidate.engine).filter(|_| line.answer.is_some()) {
                        None => return,
                        Some(0) => ("equal".to_owned(), palette.text),
                        Some(queries) => {
                            (format!("{} differ", text::thousands(queries as u64)), palette.error)
                        }
                    };
                ui.add(Label::new(RichText::new(text).color(color).size(12.0)).extend());
            });
        }
        TableColumn::Buttons => {
            row.col(|ui| buttons_ui(ui, line, actions));
        }
        TableColumn::Counted => {
            row.col(|ui| counted_ui(ui, line));
        }
    }
}

fn engine_ui(ui: &mut Ui, line: &EngineRow<'_>, actions: &mut Actions) {
    let (engine, palette) = (line.engine(), line.palette);
    let is_dim = line.candidate.why_not.is_some()
        || line.comparison().time_limit.excludes(line.candidate) && line.answer.is_none();
    let color = if is_dim { palette.text_weak } else { palette.text };
    let text = RichText::new(engine.as_str()).color(color);
    if ui.add(Button::new(text).frame(false)).on_hover_text("Show how it works.").clicked() {
        let shown = line.comparison().page == Some(engine);
        actions.send(EnginesAction::Page((!shown).then_some(engine)));
    }
}

fn buttons_ui(ui: &mut Ui, line: &EngineRow<'_>, actions: &mut Actions) {
    let engine = line.engine();
    ui.spacing_mut().item_spacing.x = 4.0;
    if line.answer.is_some()
        && ui.small_button("Show").on_hover_text("Show its run in the other panes.").clicked()
    {
        actions.send(EnginesAction::Show(engine));
    }
    if line.candidate.why_not.is_none() {
        let (sign, name, hover) = if line.answer.is_some() {
            ("↻", format!("Run again {engine}"), "Run it again.")
        } else {
            ("Run", format!("Run {engine}"), "Run it alone.")
        };
        let button = ui.add_enabled(line.comparison().under_way().is_none(), Button::new(sign).small());
        name_widget(&button, Role::Button, &name);
        if button.on_hover_text(hover).clicked() {
            actions.send(EnginesAction::One(engine));
        }
    }
}

/// The counters, or why there is no answer.
fn counted_ui(ui: &mut Ui, line: &EngineRow<'_>) {
    let (candidate, palette) = (line.candidate, line.palette);
    let time_limit = line.comparison().time_limit;
    let (text, color) = match (line.answer, line.failure, &candidate.why_not) {
        (Some(record), ..) => (counted(record), palette.text),
        (None, Some(why), _) => (text::sentence_case(why), palette.error),
        (None, None, Some(why)) => (text::sentence_case(why), palette.text_weak),
        (None, None, None) if time_limit.excludes(candidate) => (
            format!("Skipped: about {} with all passes", about(candidate.total_ms.unwrap_or(0.0))),
            palette.text_weak,
        ),
        (None, None, None) => return,
    };
    let label = ui.add(Label::new(RichText::new(&text).color(color).size(12.0)).truncate());
    match line.answer {
        Some(record) if !record.summary.measures.is_empty() => {
            label.on_hover_ui(|ui| measures_ui(ui, record, palette))
        }
        _ => label.on_hover_text(text),
    };
}

/// A right-aligned number, so that digits line up.
fn number_ui(row: &mut TableRow<'_, '_>, text: String) {
    row.col(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add_space(GAP);
            ui.add(Label::new(number(text).size(12.0)).extend());
        });
    });
}

/// A time as a bar, over lines at powers of ten.
fn bar_ui(ui: &mut Ui, ms: f64, scale: Scale, palette: &Palette) {
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width() - 6.0, 12.0), Sense::hover());
    let x = |ms: f64| rect.left() + rect.width() * scale.place(ms);
    for decade in scale.decades() {
        ui.painter().vline(x(decade), rect.y_range().expand(4.0), Stroke::new(1.0, palette.line));
    }
    let bar = rect.with_max_x(x(ms).max(rect.left() + 2.0));
    ui.painter().rect_filled(bar, 2.0, palette.phases[1]);
}

/// The progress bar of a run, with the elapsed time.
fn under_way_ui(ui: &mut Ui, line: &EngineRow<'_>) {
    let palette = line.palette;
    let seconds = line.comparison().elapsed().map_or(0, |elapsed| elapsed.as_secs());
    let text =
        ui.painter().layout_no_wrap(format!("{seconds} s"), FontId::proportional(11.0), palette.text_weak);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width() - 6.0, 12.0), Sense::hover());
    let frame = rect.with_max_x(rect.right() - text.size().x - 6.0);
    let part = frame.with_max_x(frame.left() + frame.width() * line.under_way().unwrap_or(0.0));
    ui.painter().rect_filled(part, 2.0, palette.accent);
    ui.painter().rect_stroke(frame, 2.0, Stroke::new(1.0, palette.accent), egui::StrokeKind::Inside);
    let at = pos2(frame.right() + 6.0, rect.center().y - text.size().y / 2.0);
    ui.painter().galley(at, text, palette.text_weak);
}

/// Means of an engine's counters over all queries.
fn counted(record: &RunRecord) -> String {
    let measure = |measure: &crate::run::MeasureMean| {
        format!("{} {}", Measure::words(&measure.name), text::significant(measure.mean))
    };
    record.summary.measures.iter().map(measure).collect::<Vec<_>>().join(", ")
}

/// The same, with explanations.
fn measures_ui(ui: &mut Ui, record: &RunRecord, palette: &Palette) {
    ui.label(RichText::new("Means of all queries").strong());
    egui::Grid::new("counted").num_columns(3).show(ui, |ui| {
        for measure in &record.summary.measures {
            ui.label(Measure::words(&measure.name));
            ui.label(number(text::significant(measure.mean)));
            let help = registry::measure(record.engine, &measure.name).map_or("", |measure| measure.help);
            ui.label(palette.weak(help));
            ui.end_row();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_tables_drop_columns() {
        let cells = |width| shown(width, 8.0, false).iter().map(|head| head.cell).collect::<Vec<_>>();
        assert_eq!(cells(2000.0).len(), HEADS.len());
        assert!(shown(2000.0, 8.0, true).iter().all(|head| head.cell != TableColumn::Buttons));
        let narrow = cells(300.0);
        assert_eq!(narrow.len(), HEADS.len() - DROPPED.len());
        assert!(
            [
                TableColumn::Engine,
                TableColumn::Time,
                TableColumn::Bar,
                TableColumn::Answer,
                TableColumn::Counted
            ]
            .iter()
            .all(|cell| narrow.contains(cell))
        );
    }

    #[test]
    fn bars_are_logarithmic_for_widely_spread_times() {
        let near = Scale::for_times(&[2.0, 4.0]);
        assert!(!near.is_logarithmic() && near.decades().count() == 0);
        assert_eq!([near.place(0.0), near.place(2.0), near.place(4.0)], [0.0, 0.5, 1.0]);
        let far = Scale::for_times(&[1.5, 1500.0]);
        assert_eq!(far.from, 0.1);
        assert_eq!(far.decades().map(|ms| ms.round() as u64).collect::<Vec<_>>(), [1, 10, 100, 1000]);
        assert!(far.place(1.5) > 0.2 && far.place(1500.0) == 1.0);
        let none = Scale::for_times(&[]);
        assert!(!none.is_logarithmic() && none.decades().count() == 0);
    }
}

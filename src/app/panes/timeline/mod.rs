//! Timeline: the phases of a run, the streams of several devices and, if it was profiled, warps on
//! multiprocessors by the device's clock, or queries on CPU threads. W and S zoom, A and D move, F shows the
//! picked query.

use egui::Rangef;

use super::empty::{ExportEntry, Pane, PaneContext, without_run};
use super::plots::inline_swatch_ui;
use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::look::any_of;
use crate::app::look::focus::arrows;
use crate::app::model::views::NAMES;
use crate::app::model::{TimeAxis, TimelineView, shown_run};
use crate::app::prelude::*;
use crate::draw::pen::linear_ticks;
use crate::engines::registry;
use crate::run::{RunRecord, Timeline, UnitKind};
use crate::text;

pub mod bars;

/// Height of the time axis above the tracks.
const RULER: f32 = 22.0;

pub const PANE: Pane = Pane {
    kind: PaneKind::Timeline,
    draw: timeline_ui,
    data: |session| session.record.clone().map(PaneData::Timeline),
    exports: &[ExportEntry { kind: ExportKind::Trace, text: "Trace for Perfetto…", about: "" }],
};

fn timeline_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (palette, session) = (context.palette, context.session);
    let Some(record) = session.record.as_ref() else {
        return without_run(session, "timeline", "Press Run to see where the time goes.").ui(ui, palette);
    };
    let Some(derived) = session.derived.as_ref() else {
        return empty_ui(
            ui,
            "Building the timeline…",
            "Arranging the run's phases, warps and queries.",
            palette,
        );
    };
    let timeline = &derived.timeline;
    let mut view = session.timeline.clone();
    if session.picture.is_none() {
        head_ui(ui, record, timeline, &view, context);
    } else if session.has_legend() {
        ui.horizontal_wrapped(|ui| legend_ui(ui, record, timeline, &view, palette));
    }
    let pane = ui.available_rect_before_wrap();
    if pane.width() < NAMES + 40.0 || pane.height() < RULER + 30.0 {
        return;
    }
    let axis = TimeAxis::new(pane, view.shown(timeline));
    ruler_ui(ui, pane, &axis, palette);
    ui.advance_cursor_after_rect(Rect::from_min_size(pane.min, vec2(pane.width(), RULER)));
    let rows = rows(timeline, &view);
    let height = rows.last().map_or(0.0, |(_, range)| range.max);
    let scroll = ScrollArea::vertical().id_salt("tracks").auto_shrink(false);
    scroll.show_viewport(ui, |ui, seen| {
        let (canvas, response) = ui.allocate_exact_size(
            vec2(ui.available_width(), height.max(seen.height())),
            Sense::click_and_drag(),
        );
        name_widget(&response, Role::Canvas, "Tracks of the run");
        let tracks = TrackPainter { record, timeline, axis, palette, session, top: canvas.top() };
        let shown = rows.iter().filter(|(_, range)| range.max >= seen.top() && range.min <= seen.bottom());
        for &(row, range) in shown {
            if let Row::Multiprocessor(at) = row {
                toggle_ui(ui, &tracks, at, range, &mut view);
            }
            tracks.row_ui(ui, canvas, row, range);
        }
        move_ui(ui, &response, timeline, &axis, &mut view);
        // A click by keys has no position and shows the picked query's warp.
        if response.clicked() && response.interact_pointer_pos().is_none() {
            context.actions.send(Command::FitView);
        }
        let by = arrows(ui, &response);
        if by.x != 0.0 {
            view.pan(timeline, f64::from(by.x) * 0.1);
        }
        tracks.point_ui(ui, &response, &rows, context.actions);
    });
    if view != session.timeline {
        context.actions.send(Action::SetTimeline(view));
    }
}

/// Everything needed to draw a track.
struct TrackPainter<'a> {
    record: &'a RunRecord,
    timeline: &'a Timeline,
    axis: TimeAxis,
    palette: &'static Palette,
    session: &'a crate::app::model::session::Session,
    /// The top of the first row, in screen points.
    top: f32,
}

/// The legend: phases, and colours of warps if any are visible.
fn head_ui(
    ui: &mut Ui,
    record: &RunRecord,
    timeline: &Timeline,
    view: &TimelineView,
    context: &mut PaneContext<'_>,
) {
    let palette = context.palette;
    ui.horizontal_wrapped(|ui| {
        let [from, to] = view.shown(timeline);
        let shown = (to.min(timeline.end_us) - from.max(0.0)).max(0.0) / 1e3;
        let all = text::time(timeline.end_us / 1e3);
        ui.label(if view.window.is_none() {
            format!("The whole run, {all}")
        } else {
            format!("{} of {all}", text::time(shown))
        });
        for command in [Command::TimelineCloser, Command::TimelineFarther] {
            command_ui(ui, command, context.actions);
        }
        if ui.add_enabled(view.window.is_some(), Button::new("Whole run")).clicked() {
            context.actions.send(Action::SetTimeline(TimelineView { window: None, ..view.clone() }));
        }
        // Searches on several streams cannot be profiled.
        if timeline.multiprocessors.is_empty() && (record.spec.profile || timeline.lanes.is_empty()) {
            let why = if record.spec.profile {
                format!("{} cannot be profiled on {}.", record.engine, record.device.name)
            } else {
                let engines = any_of(&registry::with_profile());
                format!(
                    "Tick “Profile” on the left and run again to see warps per multiprocessor ({engines}) or \
                     queries per CPU thread."
                )
            };
            ui.label(palette.small(why));
        }
        legend_ui(ui, record, timeline, view, palette);
        if let Some(shown) = shown_run(record, &context.state.draft) {
            ui.label(palette.small(shown));
        }
    });
}

/// The phases of lanes, and of warps if any are visible, with their colours.
fn legend_ui(ui: &mut Ui, record: &RunRecord, timeline: &Timeline, view: &TimelineView, palette: &Palette) {
    for phase in timeline.lane_phases() {
        inline_swatch_ui(ui, bars::stream_color(phase, palette), phase.name());
    }
    if view.open.is_empty() || timeline.unit != UnitKind::Multiprocessor {
        return;
    }
    let phases = record.profile.iter().flat_map(|profile| &profile.phases);
    for (at, phase) in phases.enumerate() {
        inline_swatch_ui(ui, bars::color(at, palette), phase);
    }
    ui.label(palette.small("share of a warp's cycles, not their order"));
}

/// The time axis above the tracks, with grid lines through all of them.
fn ruler_ui(ui: &Ui, pane: Rect, axis: &TimeAxis, palette: &Palette) {
    let painter = ui.painter_at(pane);
    let (from, to) = (axis.window[0], axis.window[1]);
    // The largest unit that fits into the window at least twice.
    let (unit, us) = [("s", 1e6), ("ms", 1e3), ("µs", 1.0), ("ns", 1e-3)]
        .into_iter()
        .find(|(_, us)| to - from >= 2.0 * us)
        .unwrap_or(("ns", 1e-3));
    let (values, decimals) = linear_ticks(from / us, to / us, (axis.range().span() / 80.0) as usize);
    let font = FontId::proportional(11.0);
    let name = painter.text(
        pane.left_top() + vec2(4.0, 4.0),
        Align2::LEFT_TOP,
        format!("{unit} since start"),
        font.clone(),
        palette.text_weak,
    );
    for value in values.into_iter().filter(|value| *value >= 0.0) {
        let x = axis.x(value * us);
        painter.vline(x, pane.y_range(), Stroke::new(1.0, palette.grid));
        // The first label may collide with the axis name, the last with the pane's edge.
        let number = painter.layout_no_wrap(text::fixed(value, decimals), font.clone(), palette.text_weak);
        let at = pos2(x - number.size().x / 2.0, pane.top() + 4.0);
        if at.x > name.right() + 2.0 && at.x + number.size().x <= pane.right() {
            painter.galley(at, number, palette.text_weak);
        }
    }
    painter.hline(pane.x_range(), pane.top() + RULER - 1.0, Stroke::new(1.0, palette.line));
}

/// The button that expands or collapses a multiprocessor's warps.
fn toggle_ui(ui: &mut Ui, tracks: &TrackPainter<'_>, at: usize, range: Rangef, view: &mut TimelineView) {
    let sm = tracks.timeline.multiprocessors[at].sm;
    let open = view.open.contains(&sm);
    let left = ui.max_rect().left();
    let rect = Rect::from_x_y_ranges(
        left..=left + NAMES - 6.0,
        Rangef::new(tracks.top + range.min, tracks.top + range.max).shrink(1.0),
    );
    let unit = tracks.timeline.unit;
    let text = format!("{} {}", if open { "▾" } else { "▸" }, unit.name(sm));
    let response = ui.put(rect, Button::new(RichText::new(text).size(12.0)).frame(false));
    let verb = if open { "Hide" } else { "Show" };
    let name = format!("{verb} the {} of {}", track_contents(unit), unit.name(sm));
    name_widget(&response, Role::Button, &name);
    if response.on_hover_text(&name).clicked() && !view.open.remove(&sm) {
        view.open.insert(sm);
    }
}

/// What the tracks contain.
fn track_contents(unit: UnitKind) -> &'static str {
    match unit {
        UnitKind::Multiprocessor => "warps",
        UnitKind::Thread => "queries",
    }
}

/// Pans by dragging and scrolling; zooms with Ctrl and the wheel, or a pinch.
fn move_ui(ui: &Ui, response: &Response, timeline: &Timeline, axis: &TimeAxis, view: &mut TimelineView) {
    if response.dragged() {
        view.pan(timeline, -f64::from(response.drag_delta().x / axis.range().span()));
    }
    if let Some(pointer) = response.hover_pos() {
        let (zoom, scroll) = ui.input(|input| (input.zoom_delta(), input.smooth_scroll_delta().x));
        if zoom != 1.0 {
            view.zoom(timeline, axis.at(pointer.x), f64::from(zoom));
        }
        if scroll != 0.0 {
            view.pan(timeline, -f64::from(scroll / axis.range().span()));
        }
    }
}

// The tracks of Timeline from top to bottom, and their positions.

/// A horizontal track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// A phase timed by the host, by index.
    Phase(usize),
    /// The times that no phase covers.
    Untimed,
    /// The heading above the lanes.
    Lanes,
    /// A device or stream, by index.
    Lane(usize),
    /// The heading above the multiprocessors.
    Warps,
    /// The number of active warps of a multiprocessor, by index.
    Multiprocessor(usize),
    /// A track of warps of an expanded multiprocessor.
    Track(usize, usize),
}

impl Row {
    /// In screen points.
    pub fn height(self) -> f32 {
        match self {
            Self::Phase(_) | Self::Untimed | Self::Lane(_) | Self::Multiprocessor(_) => 22.0,
            Self::Lanes | Self::Warps => 26.0,
            Self::Track(..) => 16.0,
        }
    }
}

/// All rows with top and bottom, relative to the first.
pub fn rows(timeline: &Timeline, view: &TimelineView) -> Vec<(Row, Rangef)> {
    let phases = (0..timeline.phases.len()).map(Row::Phase);
    let untimed = (!timeline.untimed.is_empty()).then_some(Row::Untimed);
    let heading = (!timeline.lanes.is_empty()).then_some(Row::Lanes);
    let lanes = heading.into_iter().chain((0..timeline.lanes.len()).map(Row::Lane));
    let warps = (!timeline.multiprocessors.is_empty()).then_some(Row::Warps);
    let multiprocessors = timeline.multiprocessors.iter().enumerate().flat_map(|(at, multiprocessor)| {
        let tracks = if view.open.contains(&multiprocessor.sm) { multiprocessor.tracks.len() } else { 0 };
        std::iter::once(Row::Multiprocessor(at)).chain((0..tracks).map(move |track| Row::Track(at, track)))
    });
    let mut top = 0.0;
    let place = |row: Row| {
        let range = Rangef::new(top, top + row.height());
        top = range.max;
        (row, range)
    };
    untimed.into_iter().chain(phases).chain(lanes).chain(warps).chain(multiprocessors).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::profiled_record;

    #[test]
    fn expanded_multiprocessors_show_contiguous_tracks() {
        let timeline = Timeline::new(&profiled_record());
        let mut view = TimelineView::default();
        let closed = rows(&timeline, &view);
        assert_eq!(
            closed.iter().filter(|(row, _)| matches!(row, Row::Multiprocessor(_))).count(),
            timeline.multiprocessors.len()
        );
        assert!(!closed.iter().any(|(row, _)| matches!(row, Row::Track(..))));
        let first = &timeline.multiprocessors[0];
        view.open.insert(first.sm);
        let open = rows(&timeline, &view);
        assert_eq!(open.len(), closed.len() + first.tracks.len());
        assert!(open.windows(2).all(|pair| pair[0].1.max == pair[1].1.min) && open[0].1.min == 0.0);
    }
}

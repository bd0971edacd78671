//! Painting of tracks: spans, active warps of a multiprocessor, the picked query.

use egui::{Painter, Rangef};

use super::{Row, TrackPainter};
use crate::app::features::selection::state::SelectAction;
use crate::app::look::fact_ui;
use crate::app::model::select_mode::SelectMode;
use crate::app::model::views::NAMES;
use crate::app::prelude::*;
use crate::export::tables::query_record;
use crate::knn::{MAX_STREAM_SPANS, Measure, StreamPhase, StreamSpan};
use crate::run::{Phase, PhaseSpan, UnitKind, UnitTracks, WarpTime};
use crate::text::{self, sentence_case};

/// The colour of an engine's n-th phase. The first six are the colours of the warp-per-query search's
/// concepts, in the order of its phases.
pub fn color(phase: usize, palette: &Palette) -> Color32 {
    let concepts = [
        palette.phases[0],
        palette.rejected,
        palette.candidate,
        palette.buffer,
        palette.intermediate,
        palette.neighbor,
    ];
    concepts.get(phase).copied().unwrap_or_else(|| palette.phases[phase % palette.phases.len()])
}

/// The colour of a stream's phase: that of the run's phase, if there is one.
pub fn stream_color(phase: StreamPhase, palette: &Palette) -> Color32 {
    match phase {
        StreamPhase::Copy => palette.phase(Phase::Upload),
        StreamPhase::Index => palette.buffer,
        StreamPhase::Search => palette.phase(Phase::Search),
        StreamPhase::Download => palette.phase(Phase::Download),
        StreamPhase::Wait => palette.line,
        StreamPhase::Merge => palette.intermediate,
    }
}

impl TrackPainter<'_> {
    pub(super) fn row_ui(&self, ui: &Ui, canvas: Rect, row: Row, range: Rangef) {
        let y = Rangef::new(self.top + range.min, self.top + range.max);
        let names = ui.painter_at(Rect::from_x_y_ranges(canvas.left()..=canvas.left() + NAMES - 4.0, y));
        let plot = ui.painter_at(Rect::from_x_y_ranges(self.axis.range(), y));
        let name = |text: &str, color: Color32| {
            names.text(
                pos2(canvas.left() + 4.0, y.center()),
                Align2::LEFT_CENTER,
                text,
                FontId::proportional(12.0),
                color,
            );
        };
        let heading = |text: &str| {
            ui.painter_at(Rect::from_x_y_ranges(canvas.x_range(), y)).text(
                pos2(canvas.left() + 4.0, y.max - 3.0),
                Align2::LEFT_BOTTOM,
                text,
                FontId::proportional(12.0),
                self.palette.text_weak,
            );
        };
        match row {
            Row::Phase(at) => {
                let track = &self.timeline.phases[at];
                name(track.phase.name(), self.palette.text);
                let color = self.palette.phase(track.phase);
                let spans = track.spans.iter().map(|span| ([span.start_us, span.stop_us], color, ""));
                self.spans_ui(&plot, spans, y.shrink(2.0));
            }
            Row::Untimed => {
                name("other work", self.palette.text_weak);
                let spans = self.timeline.untimed.iter().map(|&span| (span, self.palette.line, ""));
                self.spans_ui(&plot, spans, y.shrink(2.0));
            }
            Row::Lanes => {
                let cut = if self.timeline.lanes_are_cut() {
                    format!(", the first {} spans", text::thousands(MAX_STREAM_SPANS as u64))
                } else {
                    String::new()
                };
                heading(&format!("Devices and streams{cut}"));
            }
            Row::Lane(at) => {
                let track = &self.timeline.lanes[at];
                name(&track.lane.to_string(), self.palette.text);
                let bar = |span: &StreamSpan| {
                    (span.times_us(), stream_color(span.phase, self.palette), span.phase.name())
                };
                let spans = track.spans.iter().map(bar);
                self.spans_ui(&plot, spans, y.shrink(2.0));
            }
            Row::Warps => {
                let about = match self.timeline.unit {
                    UnitKind::Multiprocessor => {
                        format!("Active warps, at most {}", text::thousands(self.timeline.max_warps() as u64))
                    }
                    UnitKind::Thread => "Threads answering queries".to_owned(),
                };
                heading(&about);
            }
            Row::Multiprocessor(at) => {
                self.multiprocessor_ui(&plot, &self.timeline.multiprocessors[at], y.shrink(2.0))
            }
            Row::Track(at, track) => {
                let text = match self.timeline.unit {
                    UnitKind::Multiprocessor => format!("      warp {track}"),
                    UnitKind::Thread => "      queries".to_owned(),
                };
                name(&text, self.palette.text_weak);
                self.warps_ui(&plot, &self.timeline.multiprocessors[at].tracks[track], y.shrink(1.5));
            }
        }
    }

    /// Draws spans, ordered by start, with their colours, names and durations.
    fn spans_ui(
        &self,
        painter: &Painter,
        spans: impl Iterator<Item = ([f64; 2], Color32, &'static str)>,
        y: Rangef,
    ) {
        // Spans within one pixel are drawn once.
        let mut drawn = f32::NEG_INFINITY;
        let [from, to] = self.axis.window;
        let shown = spans.skip_while(|(times, ..)| times[1] < from).take_while(|(times, ..)| times[0] <= to);
        for ([start, stop], fill, name) in shown {
            let (left, right) = (self.axis.x(start), self.axis.x(stop));
            let right = right.max(left + 1.0);
            if right <= drawn {
                continue;
            }
            // A gap of one point between spans, if they are long enough.
            let end = if right - left > 4.0 { right - 1.0 } else { right };
            let rect = Rect::from_x_y_ranges(left..=end, y);
            painter.rect_filled(rect, 2.0, fill);
            drawn = right;
            if rect.width() > 60.0 {
                let time = text::time((stop - start) / 1e3);
                let named = !name.is_empty() && rect.width() > 110.0;
                let text = if named { format!("{name} {time}") } else { time };
                let place = pos2(rect.left().max(self.axis.range().min) + 5.0, rect.center().y);
                painter.with_clip_rect(rect).text(
                    place,
                    Align2::LEFT_CENTER,
                    text,
                    FontId::proportional(11.0),
                    contrasting(fill),
                );
            }
        }
    }

    /// The number of active warps, pixel by pixel, with marks at the picked and selected queries.
    fn multiprocessor_ui(&self, painter: &Painter, multiprocessor: &UnitTracks, y: Rangef) {
        let most = self.timeline.max_warps().max(1) as f32;
        let range = self.axis.range();
        let step = 1.0 / painter.ctx().pixels_per_point();
        let fill = self.palette.phase(Phase::Profiled);
        let Some([first, last]) = multiprocessor.extent_us() else { return };
        let (mut x, end) = (self.axis.x(first).max(range.min), self.axis.x(last).min(range.max));
        // One rectangle for each interval with a constant number of warps.
        let mut began = (x, multiprocessor.active(self.axis.at(x)));
        while x < end {
            x = (x + step).min(end);
            let active = multiprocessor.active(self.axis.at(x));
            if active != began.1 || x >= end {
                let top = y.max - y.span() * began.1 as f32 / most;
                painter.rect_filled(Rect::from_x_y_ranges(began.0..=x, Rangef::new(top, y.max)), 0.0, fill);
                began = (x, active);
            }
        }
        for warp in multiprocessor.tracks.iter().flatten() {
            if let Some(mark) = self.mark(warp) {
                let left = self.axis.x(warp.start_us);
                let rect = Rect::from_x_y_ranges(
                    left..=self.axis.x(warp.stop_us).max(left + 2.0),
                    Rangef::new(y.max - 3.0, y.max),
                );
                painter.rect_filled(rect, 0.0, mark);
            }
        }
    }

    /// The warps of a track, divided into phases by cycles if there is room.
    fn warps_ui(&self, painter: &Painter, warps: &[WarpTime], y: Rangef) {
        let mut drawn = f32::NEG_INFINITY;
        let first = warps.partition_point(|warp| warp.stop_us < self.axis.window[0]);
        for warp in warps[first..].iter().take_while(|warp| warp.start_us <= self.axis.window[1]) {
            let left = self.axis.x(warp.start_us);
            let right = self.axis.x(warp.stop_us).max(left + 1.0);
            let mark = self.mark(warp);
            if right <= drawn && mark.is_none() {
                continue;
            }
            drawn = right;
            let end = if right - left > 4.0 { right - 1.0 } else { right };
            let rect = Rect::from_x_y_ranges(left..=end, y);
            match self.cycles(warp).filter(|_| rect.width() > 12.0) {
                Some(cycles) => shares_ui(painter, rect, &cycles, self.palette),
                None => _ = painter.rect_filled(rect, 1.0, self.palette.phase(Phase::Profiled)),
            }
            if let Some(mark) = mark {
                painter.rect_stroke(rect, 1.0, Stroke::new(2.0, mark), egui::StrokeKind::Inside);
            }
        }
    }

    /// The colour of a warp with the picked query, or with a selected one.
    fn mark(&self, warp: &WarpTime) -> Option<Color32> {
        let record = self.session.record.as_ref()?;
        let picked = self
            .session
            .answered
            .as_ref()
            .filter(|answered| std::sync::Arc::ptr_eq(&answered.record, record));
        if picked.is_some_and(|answered| warp.queries.contains(&(answered.query as u32))) {
            return Some(self.palette.query);
        }
        let selected = self.session.selection.queries();
        let next = selected.partition_point(|&query| query < warp.queries.start);
        selected.get(next).is_some_and(|query| warp.queries.contains(query)).then_some(self.palette.selected)
    }

    pub(super) fn cycles(&self, warp: &WarpTime) -> Option<Vec<u64>> {
        let profile = self.record.profile.as_ref()?;
        let mut sums = vec![0; profile.phases.len()];
        for query in warp.queries.clone() {
            for (sum, cycles) in sums.iter_mut().zip(profile.cycles_of(query as usize)?) {
                *sum += cycles;
            }
        }
        (sums.iter().sum::<u64>() > 0).then_some(sums)
    }
}

/// A span divided into shares of its phases.
fn shares_ui(painter: &Painter, rect: Rect, cycles: &[u64], palette: &Palette) {
    let total: u64 = cycles.iter().sum();
    let mut before = 0;
    for (phase, &cycles) in cycles.iter().enumerate() {
        let at = |cycles: u64| rect.left() + rect.width() * (cycles as f64 / total as f64) as f32;
        let part = at(before)..=at(before + cycles);
        before += cycles;
        painter.rect_filled(Rect::from_x_y_ranges(part, rect.y_range()), 0.0, color(phase, palette));
    }
}

/// Black or white, whichever is more readable on a colour.
fn contrasting(ground: Color32) -> Color32 {
    if ground.intensity() > 0.5 { Color32::BLACK } else { Color32::WHITE }
}

// Hovering and clicking in the tracks.

/// Maximum distance of the pointer from a narrow span, in screen points.
const REACH: f32 = 3.0;

enum HitTarget<'a> {
    /// Work of the host before or between phases.
    Untimed([f64; 2]),
    /// A chunk of a phase.
    Phase(usize, &'a PhaseSpan),
    Stream(&'a StreamSpan),
    Warp(u32, &'a WarpTime),
    /// Number of active warps on a multiprocessor at that time.
    Active(u32, usize),
}

impl TrackPainter<'_> {
    /// Draws the pointer's line, shows a tooltip, and handles a click.
    pub(super) fn point_ui(
        &self,
        ui: &Ui,
        response: &Response,
        rows: &[(Row, egui::Rangef)],
        actions: &mut Actions,
    ) {
        let Some(pointer) = response.hover_pos() else { return };
        let below = pointer.y - self.top;
        let row = rows.iter().find(|(_, range)| (range.min..range.max).contains(&below)).map(|(row, _)| *row);
        if !self.axis.range().contains(pointer.x) {
            if let Some(Row::Phase(at)) = row {
                response.clone().on_hover_text_at_pointer(self.timeline.phases[at].phase.about());
            }
            return;
        }
        ui.painter().vline(pointer.x, ui.clip_rect().y_range(), Stroke::new(1.0, self.palette.text_weak));
        let at_us = self.axis.at(pointer.x);
        let under = row.and_then(|row| self.under(row, at_us));
        response.clone().on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(300.0);
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.label(format!("{} since start", text::time(at_us.max(0.0) / 1e3)));
            if let Some(under) = &under {
                self.about_ui(ui, under);
            }
        });
        if response.clicked()
            && let Some(HitTarget::Warp(sm, warp)) = under
        {
            let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
            if how == SelectMode::Replace {
                actions.send(Action::PickQuery(warp.queries.start as usize));
            }
            let name = self.selection_name(sm, warp);
            actions.send(SelectAction::queries(warp.queries.clone().collect(), how, name));
        }
    }

    fn under(&self, row: Row, at_us: f64) -> Option<HitTarget<'_>> {
        let reach = f64::from(REACH / self.axis.range().span()) * (self.axis.window[1] - self.axis.window[0]);
        match row {
            Row::Lanes | Row::Warps => None,
            Row::Lane(at) => nearest(&self.timeline.lanes[at].spans, at_us, reach, StreamSpan::times_us)
                .map(HitTarget::Stream),
            Row::Untimed => {
                nearest(&self.timeline.untimed, at_us, reach, |&span| span).copied().map(HitTarget::Untimed)
            }
            Row::Phase(at) => {
                let spans = &self.timeline.phases[at].spans;
                nearest(spans, at_us, reach, |span| [span.start_us, span.stop_us])
                    .map(|span| HitTarget::Phase(at, span))
            }
            Row::Multiprocessor(at) => {
                let multiprocessor = &self.timeline.multiprocessors[at];
                Some(HitTarget::Active(multiprocessor.sm, multiprocessor.active(at_us)))
            }
            Row::Track(at, track) => {
                let multiprocessor = &self.timeline.multiprocessors[at];
                let warp = nearest(&multiprocessor.tracks[track], at_us, reach, |warp| {
                    [warp.start_us, warp.stop_us]
                })?;
                Some(HitTarget::Warp(multiprocessor.sm, warp))
            }
        }
    }

    /// The description of a selection that consists of a span's queries.
    fn selection_name(&self, number: u32, warp: &WarpTime) -> String {
        let name = self.timeline.unit.name(number);
        match self.timeline.unit {
            UnitKind::Multiprocessor => format!("a warp of {name}"),
            UnitKind::Thread => text::count(
                warp.queries.len() as u64,
                &format!("query of {name}"),
                &format!("queries of {name}"),
            ),
        }
    }

    fn about_ui(&self, ui: &mut Ui, under: &HitTarget<'_>) {
        let palette = self.palette;
        let took = |start: f64, stop: f64| text::time((stop - start) / 1e3);
        match under {
            HitTarget::Untimed([start, stop]) => {
                ui.strong("Other work on the CPU");
                fact_ui(ui, "took", took(*start, *stop), palette);
                ui.label(palette.small(
                    "Preparing points and queries, starting the device, warm-up passes, and work between \
                     phases.",
                ));
            }
            HitTarget::Phase(at, span) => {
                ui.strong(self.timeline.phases[*at].phase.name());
                fact_ui(ui, "took", took(span.start_us, span.stop_us), palette);
                fact_ui(ui, "repeat", text::thousands(u64::from(span.repeat) + 1), palette);
                fact_ui(ui, "chunk", text::thousands(u64::from(span.chunk) + 1), palette);
                ui.label(palette.small("A chunk is a part of the queries that runs at once."));
            }
            HitTarget::Stream(span) => {
                ui.strong(format!("{} on {}", sentence_case(span.phase.name()), span.lane));
                fact_ui(ui, "took", text::time(span.duration_ms), palette);
                if let Some(tile) = span.tile {
                    fact_ui(ui, "tile", text::thousands(u64::from(tile) + 1), palette);
                }
                ui.label(palette.small(span.phase.about()));
            }
            HitTarget::Active(sm, active) => {
                ui.strong(sentence_case(&self.timeline.unit.name(*sm)));
                let what = if self.timeline.unit == UnitKind::Thread { "at work now" } else { "warps now" };
                fact_ui(ui, what, text::thousands(*active as u64), palette);
            }
            HitTarget::Warp(sm, warp) => {
                ui.strong(match self.timeline.unit {
                    UnitKind::Multiprocessor => format!("SM {sm}, warp slot {}", warp.warp),
                    UnitKind::Thread => sentence_case(&self.timeline.unit.name(*sm)),
                });
                fact_ui(ui, "took", took(warp.start_us, warp.stop_us), palette);
                for query in warp.queries.clone().take(4) {
                    let counted = self
                        .record
                        .measured
                        .columns()
                        .next()
                        .and_then(|(name, values)| Some((name, *values.get(query as usize)?)));
                    let counted = counted.map_or_else(String::new, |(name, value)| {
                        format!(", {} {}", text::thousands(value.into()), Measure::words(name))
                    });
                    let asked = query_record(self.record, query as usize)
                        .map_or("a place".to_owned(), |row| format!("row {}", text::thousands(row)));
                    fact_ui(
                        ui,
                        &format!("query {}", text::thousands(u64::from(query) + 1)),
                        format!("{asked}{counted}"),
                        palette,
                    );
                }
                if let (Some(cycles), Some(profile)) = (self.cycles(warp), &self.record.profile) {
                    let total = cycles.iter().sum::<u64>() as f64;
                    for (phase, cycles) in profile.phases.iter().zip(cycles) {
                        let share = format!(
                            "{} cycles, {:.0} %",
                            text::thousands(cycles),
                            cycles as f64 / total * 100.0
                        );
                        fact_ui(ui, phase, share, palette);
                    }
                }
                ui.label(palette.small("Click to select its queries. Shift adds them; Ctrl toggles them."));
            }
        }
    }
}

/// The span at a time, or the nearest within reach. Spans must be sorted and barely overlap.
fn nearest<T>(spans: &[T], at_us: f64, reach: f64, of: impl Fn(&T) -> [f64; 2]) -> Option<&T> {
    let next = spans.partition_point(|span| of(span)[0] <= at_us);
    let far = |span: &T| {
        let [start, stop] = of(span);
        (start - at_us).max(at_us - stop).max(0.0)
    };
    let around = spans[next.saturating_sub(1)..spans.len().min(next + 1)].iter();
    around
        .map(|span| (far(span), span))
        .filter(|(far, _)| *far <= reach)
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, span)| span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_span_is_found_within_reach() {
        let spans = [[0.0, 1.0], [2.0, 3.0], [10.0, 10.001]];
        let at = |us: f64, reach: f64| nearest(&spans, us, reach, |span| *span).copied();
        assert_eq!(at(0.5, 0.0), Some([0.0, 1.0]));
        assert_eq!(at(1.9, 0.2), Some([2.0, 3.0]));
        assert_eq!(at(1.2, 0.3), Some([0.0, 1.0]));
        assert_eq!(at(5.0, 1.0), None);
        assert_eq!(at(9.9, 0.2), Some([10.0, 10.001]));
        assert_eq!(nearest(&[] as &[[f64; 2]], 1.0, 1.0, |span| *span), None);
    }
}

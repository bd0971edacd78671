//! What is under the pointer: said beside it, and picked by a click.

use egui::{Response, Stroke, Ui};

use crate::app::features::selection::state::SelectAction;
use crate::app::look::widgets::fact_ui;
use crate::app::model::how::How;
use crate::app::model::{Action, Actions};
use crate::app::panes::timeline::Tracks;
use crate::app::panes::timeline::rows::Row;
use crate::export::tables::query_record;
use crate::knn::Measure;
use crate::run::{PhaseSpan, Place, WarpTime};
use crate::text::{self, sentence_case};

/// How near the pointer has to be to a span that is narrower than that, in points of the screen.
const REACH: f32 = 3.0;

/// What is under the pointer.
enum Under<'a> {
    /// A chunk of a phase.
    Phase(usize, &'a PhaseSpan),
    Warp(u32, &'a WarpTime),
    /// As many warps on a multiprocessor at that time.
    Active(u32, usize),
}

impl Tracks<'_> {
    /// The pointer's line, what is under it, and a click on it.
    pub(super) fn point_ui(&self, ui: &Ui, response: &Response, rows: &[(Row, egui::Rangef)], actions: &mut Actions) {
        let Some(pointer) = response.hover_pos().filter(|pointer| self.axis.range().contains(pointer.x)) else { return };
        ui.painter().vline(pointer.x, ui.clip_rect().y_range(), Stroke::new(1.0, self.palette.text_weak));
        let below = pointer.y - self.top;
        let row = rows.iter().find(|(_, range)| (range.min..range.max).contains(&below)).map(|(row, _)| *row);
        let at_us = self.axis.at(pointer.x);
        let under = row.and_then(|row| self.under(row, at_us));
        response.clone().on_hover_ui_at_pointer(|ui| {
            ui.set_max_width(300.0);
            ui.spacing_mut().item_spacing.y = 2.0;
            ui.label(format!("{} after the run began", text::time(at_us.max(0.0) / 1e3)));
            if let Some(under) = &under {
                self.about_ui(ui, under);
            }
        });
        if response.clicked()
            && let Some(Under::Warp(sm, warp)) = under
        {
            let how = How::of_click(ui.input(|input| input.modifiers));
            if how == How::Replace {
                actions.send(Action::PickQuery(warp.queries.start as usize));
            }
            actions.send(SelectAction::queries(warp.queries.clone().collect(), how, self.whose(sm, warp)));
        }
    }

    fn under(&self, row: Row, at_us: f64) -> Option<Under<'_>> {
        let reach = f64::from(REACH / self.axis.range().span()) * (self.axis.window[1] - self.axis.window[0]);
        match row {
            Row::Warps => None,
            Row::Phase(at) => {
                let spans = &self.timeline.phases[at].spans;
                nearest(spans, at_us, reach, |span| [span.start_us, span.stop_us]).map(|span| Under::Phase(at, span))
            }
            Row::Multiprocessor(at) => {
                let multiprocessor = &self.timeline.multiprocessors[at];
                Some(Under::Active(multiprocessor.sm, multiprocessor.active(at_us)))
            }
            Row::Track(at, track) => {
                let multiprocessor = &self.timeline.multiprocessors[at];
                let warp = nearest(&multiprocessor.tracks[track], at_us, reach, |warp| [warp.start_us, warp.stop_us])?;
                Some(Under::Warp(multiprocessor.sm, warp))
            }
        }
    }

    /// What a selection of a span's queries is called.
    fn whose(&self, number: u32, warp: &WarpTime) -> String {
        let name = self.timeline.place.name(number);
        match self.timeline.place {
            Place::Multiprocessor => format!("a warp of {name}"),
            Place::Thread => text::count(warp.queries.len() as u64, &format!("query of {name}"), &format!("queries of {name}")),
        }
    }

    fn about_ui(&self, ui: &mut Ui, under: &Under<'_>) {
        let palette = self.palette;
        let took = |start: f64, stop: f64| text::time((stop - start) / 1e3);
        match under {
            Under::Phase(at, span) => {
                ui.strong(self.timeline.phases[*at].phase.name());
                fact_ui(ui, "took", took(span.start_us, span.stop_us), palette);
                fact_ui(ui, "repeat", text::thousands(u64::from(span.repeat) + 1), palette);
                fact_ui(ui, "chunk", text::thousands(u64::from(span.chunk) + 1), palette);
            }
            Under::Active(sm, active) => {
                ui.strong(sentence_case(&self.timeline.place.name(*sm)));
                let what = if self.timeline.place == Place::Thread { "at work now" } else { "warps now" };
                fact_ui(ui, what, text::thousands(*active as u64), palette);
            }
            Under::Warp(sm, warp) => {
                ui.strong(match self.timeline.place {
                    Place::Multiprocessor => format!("SM {sm}, warp slot {}", warp.warp),
                    Place::Thread => sentence_case(&self.timeline.place.name(*sm)),
                });
                fact_ui(ui, "took", took(warp.start_us, warp.stop_us), palette);
                for query in warp.queries.clone().take(4) {
                    let counted = self.record.measured.columns().next().and_then(|(name, values)| Some((name, *values.get(query as usize)?)));
                    let counted =
                        counted.map_or_else(String::new, |(name, value)| format!(", {} {}", text::thousands(value.into()), Measure::words(name)));
                    let asked = query_record(self.record, query as usize).map_or("a place".to_owned(), |row| format!("row {}", text::thousands(row)));
                    fact_ui(ui, &format!("query {}", text::thousands(u64::from(query) + 1)), format!("{asked}{counted}"), palette);
                }
                if let (Some(cycles), Some(profile)) = (self.cycles(warp), &self.record.profile) {
                    let total = cycles.iter().sum::<u64>() as f64;
                    for (phase, cycles) in profile.phases.iter().zip(cycles) {
                        let share = format!("{} cycles, {:.0} %", text::thousands(cycles), cycles as f64 / total * 100.0);
                        fact_ui(ui, phase, share, palette);
                    }
                }
                ui.label(egui::RichText::new("Click to select its queries; with Shift or Ctrl, more.").color(palette.text_weak).small());
            }
        }
    }
}

/// The span at a time, or the nearest one within reach. Spans come in order and do not overlap, or hardly.
fn nearest<T>(spans: &[T], at_us: f64, reach: f64, of: impl Fn(&T) -> [f64; 2]) -> Option<&T> {
    let next = spans.partition_point(|span| of(span)[0] <= at_us);
    let far = |span: &T| {
        let [start, stop] = of(span);
        (start - at_us).max(at_us - stop).max(0.0)
    };
    let around = spans[next.saturating_sub(1)..spans.len().min(next + 1)].iter();
    around.map(|span| (far(span), span)).filter(|(far, _)| *far <= reach).min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, span)| span)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_span_is_found_within_reach_only() {
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

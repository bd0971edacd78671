//! Engines: all of them on one question, fastest first, and what each of them is.

mod page;
mod table;

use egui::{Align, Button, ComboBox, Layout, RichText, ScrollArea, Stroke, Ui, UiBuilder};
use strum::VariantArray as _;

use crate::app::features::contest::state::{ContestAction, Longest};
use crate::app::features::export::PaneData;
use crate::app::look::name_chooser;
use crate::app::model::{PaneKind, Session, candidates, comparable};
use crate::app::panes::descriptor::{Pane, PaneContext};
use crate::app::panes::empty::without_cloud;
use crate::engines::registry;
use crate::run::planner::{Candidate, Planner, about};
use crate::text;

pub const PANE: Pane = Pane { kind: PaneKind::Engines, draw: engines_ui, data, more: &[] };

/// The runs that are compared, fastest first.
fn data(session: &Session) -> Option<PaneData> {
    let rows: Vec<_> = session.contest.answers().into_iter().map(|record| (record.engine.to_string(), false, record.head.clone())).collect();
    (!rows.is_empty()).then_some(PaneData::Runs(rows))
}

fn engines_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    if session.cloud.is_none() {
        return without_cloud(session).ui(ui, palette);
    }
    let Some((spec, job, candidates)) = candidates(&context.state.draft, session, &Planner::shared()) else {
        let known = session.engines.iter().all(|status| status.device.is_some());
        let next = if known {
            "Engines are compared on the cloud that is loaded, with queries of its rows: choose these on the left."
        } else {
            "What can run here is still being found out."
        };
        ui.label(RichText::new(next).color(palette.text_weak));
        return;
    };
    let (is_asked, shape) = (session.contest.is_of(&spec), job.shape);
    let question = format!(
        "{} among {}, d = {}{}, k = {}",
        text::count(shape.q as u64, "query", "queries"),
        text::count(shape.n as u64, "point", "points"),
        shape.d,
        // Nobody has loaded three columns.
        if job.metric.is_on_sphere() { " (places as points of a sphere)" } else { "" },
        text::thousands(shape.k as u64)
    );
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(question).strong());
        if session.picture.is_none() {
            start_ui(ui, context, &candidates);
        }
        let said = session.contest.verdict().filter(|_| is_asked);
        ui.label(RichText::new(said.unwrap_or_default()).color(palette.text));
    });
    let engine = session.contest.page.and_then(registry::find);
    let Some(engine) = engine else { return table::table_ui(ui, context, &candidates, is_asked) };
    // The page is beside the table where both have room, else in its place.
    let width = ui.available_width();
    if width < 760.0 {
        return page::page_ui(ui, context, engine, &shape);
    }
    let whole = ui.available_rect_before_wrap();
    let (left, right) = whole.split_left_right_at_x(whole.left() + width * 0.56);
    let part = |rect| UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min));
    ui.scope_builder(part(left), |ui| table::table_ui(ui, context, &candidates, is_asked));
    ui.painter().vline(right.left() + 4.0, right.y_range(), Stroke::new(1.0, palette.line));
    ui.scope_builder(part(right.with_min_x(right.left() + 12.0)), |ui| {
        ScrollArea::vertical().id_salt("page of an engine").auto_shrink(false).show(ui, |ui| page::page_ui(ui, context, engine, &shape));
    });
}

/// The button that runs all, with the time that this takes and who is left out, or the one that stops.
fn start_ui(ui: &mut Ui, context: &mut PaneContext<'_>, candidates: &[Candidate]) {
    let contest = &context.session.contest;
    if let Some((engine, left)) = contest.under_way() {
        if ui.button("Stop").on_hover_text("Stop the engine that runs, and run no more.").clicked() {
            context.actions.send(ContestAction::Stop);
        }
        let more = if left == 0 { "the last one".to_owned() } else { format!("{left} to come") };
        ui.label(RichText::new(format!("{engine} runs, {more}")).color(context.palette.text_weak));
        return;
    }
    let longest = contest.longest;
    let (count, total) =
        comparable(candidates, longest).fold((0, 0.0), |(count, total), candidate| (count + 1, total + candidate.total_ms.unwrap_or(0.0)));
    let button = ui.add_enabled(count > 0, Button::new(format!("Compare {}", text::count(count, "engine", "engines"))));
    let left_out = "Runs them one after another, with the warm-ups and repeats on the left. Left out is what cannot run here, cannot take this question, \
                    or is predicted to take longer than is chosen beside.";
    if button.on_hover_text(left_out).on_disabled_hover_text(left_out).clicked() {
        context.actions.send(ContestAction::Start);
    }
    let mut chosen = longest;
    let chooser = ComboBox::from_id_salt("longest").selected_text(longest.text()).show_ui(ui, |ui| {
        for &longest in Longest::VARIANTS {
            ui.selectable_value(&mut chosen, longest, longest.text());
        }
    });
    name_chooser(&chooser.response, "Longest time of an engine", longest.text());
    if chosen != longest {
        context.actions.send(ContestAction::SetLongest(chosen));
    }
    let slow = candidates.iter().filter(|candidate| longest.leaves_out(candidate)).count() as u64;
    let mut said = Vec::new();
    if count > 0 {
        said.push(format!("about {} in all", about(total)));
    }
    if slow > 0 {
        said.push(format!("{} would take longer", text::count(slow, "engine", "engines")));
    }
    ui.label(RichText::new(said.join("; ")).color(context.palette.text_weak));
}

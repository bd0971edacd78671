//! Engines: all engines on one problem, fastest first, with a description of each.

use egui::{StrokeKind, UiBuilder};
use strum::VariantArray as _;

use super::empty::{Pane, PaneContext, without_cloud};
use crate::app::features::engine_comparison::state::{EnginesAction, TimeLimit};
use crate::app::features::export::PaneData;
use crate::app::features::lesson::state::LessonAction;
use crate::app::features::manual::state::{DOCUMENTS, Manual, named};
use crate::app::look::{code_ui, heading_ui};
use crate::app::model::{candidates, comparable};
use crate::app::prelude::*;
use crate::engines::registry;
use crate::knn::{Buffer, Descriptor, MemorySpace, Shape};
use crate::lesson::lessons;
use crate::run::planner::{Candidate, Planner, about};
use crate::text;

mod table;

pub const PANE: Pane = Pane { kind: PaneKind::Engines, draw: engines_ui, data, exports: &[] };

/// The compared runs, fastest first.
fn data(session: &Session) -> Option<PaneData> {
    let rows: Vec<_> = session
        .engine_comparison
        .answers()
        .into_iter()
        .map(|record| (record.engine.to_string(), false, record.head.clone()))
        .collect();
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
            "To compare engines, load a cloud and choose its rows as queries on the left."
        } else {
            "Detecting available engines…"
        };
        ui.label(palette.weak(next));
        return;
    };
    let (is_asked, shape) = (session.engine_comparison.is_of(&spec), job.shape);
    let question = format!(
        "{} among {}, d = {}{}, k = {}",
        text::count(shape.q as u64, "query", "queries"),
        text::count(shape.n as u64, "point", "points"),
        shape.d,
        // Explains d = 3: the file itself has two coordinates.
        if job.metric.is_on_sphere() { " (places as points of a sphere)" } else { "" },
        text::thousands(shape.k as u64)
    );
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new(question).strong());
        if session.picture.is_none() {
            start_ui(ui, context, &candidates);
        }
        let verdict = session.engine_comparison.verdict().filter(|_| is_asked);
        ui.label(RichText::new(verdict.unwrap_or_default()).color(palette.text));
    });
    let engine = session.engine_comparison.page.and_then(registry::find);
    let Some(engine) = engine else { return table::table_ui(ui, context, &candidates, is_asked) };
    // The page is next to the table if both have room, otherwise it replaces the table.
    let width = ui.available_width();
    if width < 760.0 {
        return page_ui(ui, context, engine, &shape);
    }
    let whole = ui.available_rect_before_wrap();
    let (left, right) = whole.split_left_right_at_x(whole.left() + width * 0.56);
    let part = |rect| UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min));
    ui.scope_builder(part(left), |ui| table::table_ui(ui, context, &candidates, is_asked));
    ui.painter().vline(right.left() + 4.0, right.y_range(), Stroke::new(1.0, palette.line));
    ui.scope_builder(part(right.with_min_x(right.left() + 12.0)), |ui| {
        ScrollArea::vertical()
            .id_salt("page of an engine")
            .auto_shrink(false)
            .show(ui, |ui| page_ui(ui, context, engine, &shape));
    });
}

/// The button that runs all engines, with the predicted time and the number skipped; during a comparison, the
/// button that stops it.
fn start_ui(ui: &mut Ui, context: &mut PaneContext<'_>, candidates: &[Candidate]) {
    let comparison = &context.session.engine_comparison;
    if let Some((engine, left)) = comparison.under_way() {
        if ui.button("Stop").on_hover_text("Cancel this engine and skip the rest.").clicked() {
            context.actions.send(EnginesAction::Stop);
        }
        let more = if left == 0 { "the last engine".to_owned() } else { format!("{left} left") };
        ui.label(context.palette.weak(format!("Running {engine}, {more}")));
        return;
    }
    let time_limit = comparison.time_limit;
    let (count, total) = comparable(candidates, time_limit)
        .fold((0, 0.0), |(count, total), candidate| (count + 1, total + candidate.total_ms.unwrap_or(0.0)));
    let button = ui
        .add_enabled(count > 0, Button::new(format!("Compare {}", text::count(count, "engine", "engines"))));
    let left_out = "Run each engine with the warm-ups and repeats on the left. Skips engines that cannot run \
                    this search or would exceed the time limit.";
    if button.on_hover_text(left_out).on_disabled_hover_text(left_out).clicked() {
        context.actions.send(EnginesAction::Start);
    }
    let mut chosen = time_limit;
    let chooser = ComboBox::from_id_salt("longest").selected_text(time_limit.text()).show_ui(ui, |ui| {
        for &time_limit in TimeLimit::VARIANTS {
            ui.selectable_value(&mut chosen, time_limit, time_limit.text());
        }
    });
    name_chooser(&chooser.response, "Time limit per engine", time_limit.text());
    if chosen != time_limit {
        context.actions.send(EnginesAction::SetTimeLimit(chosen));
    }
    let slow = candidates.iter().filter(|candidate| time_limit.excludes(candidate)).count() as u64;
    let mut notes = Vec::new();
    if count > 0 {
        notes.push(format!("about {} in all", about(total)));
    }
    if slow > 0 {
        notes.push(format!("{} over the limit", text::count(slow, "engine", "engines")));
    }
    ui.label(context.palette.weak(notes.join("; ")));
}

// An engine's page: its memory layout drawn as cells, counters, parameters and source.

/// Maximum number of cells in a strip; beyond that, a cell represents several elements.
const MAX_CELLS: usize = 32;

pub fn page_ui(ui: &mut Ui, context: &mut PaneContext<'_>, engine: &Descriptor, shape: &Shape) {
    let palette = context.palette;
    ui.horizontal(|ui| {
        ui.label(RichText::new(engine.id.as_str()).strong().size(16.0));
        ui.label(palette.weak(engine.group.title()));
        if context.session.picture.is_none() && ui.small_button("Close").clicked() {
            context.actions.send(EnginesAction::Page(None));
        }
    });
    ui.label(engine.about);
    ui.label(palette.weak(format!("Based on {}.", engine.source)));
    links_ui(ui, context, engine);
    heading_ui(ui, "Memory layout");
    for memory in MemorySpace::ALL {
        let applies = |buffer: &&Buffer| buffer.memory == memory && (buffer.is_used)(shape);
        let mut here = engine.buffers.iter().filter(applies).peekable();
        if here.peek().is_some() {
            ui.label(palette.small(memory.title()));
        }
        for buffer in here {
            buffer_ui(ui, buffer, shape, palette);
        }
    }
    if !engine.measures.is_empty() {
        heading_ui(ui, "Counters per query");
        for measure in engine.measures {
            ui.horizontal_wrapped(|ui| {
                ui.label(number(measure.name.to_owned()).strong());
                ui.label(measure.help);
            });
        }
    }
    if !engine.parameters.is_empty() {
        heading_ui(ui, "Parameters");
        for parameter in engine.parameters {
            ui.horizontal_wrapped(|ui| {
                ui.label(number(parameter.name.to_owned()).strong());
                ui.label(format!(
                    "{} Values: {}; default: {}.",
                    parameter.help, parameter.values, parameter.default
                ));
            });
        }
        let first = &engine.parameters[0];
        ui.label(palette.weak(format!("Syntax: {}:{}=…", engine.id, first.name)));
    }
    heading_ui(ui, "Source code");
    for (at, code) in engine.code.iter().enumerate() {
        let lines = text::thousands(code.text.lines().count() as u64);
        if ui.link(number(format!("{}, {lines} lines", code.path))).clicked() {
            context.actions.send(EnginesAction::Source(Some(at)));
        }
    }
    source_ui(ui, context, engine);
}

/// A source file in a separate window, because lines are long.
fn source_ui(ui: &Ui, context: &mut PaneContext<'_>, engine: &Descriptor) {
    let source = context.session.engine_comparison.source;
    let Some(code) = source.and_then(|at| engine.code.get(at)) else { return };
    let size = ui.ctx().content_rect().size();
    let mut open = true;
    egui::Window::new(code.path)
        .id(Id::unique("source of an engine"))
        .open(&mut open)
        .collapsible(false)
        .default_size([760.0_f32.min(size.x - 40.0), 480.0_f32.min(size.y - 80.0)])
        .default_pos([(size.x - 800.0).max(10.0), 60.0])
        .show(ui.ctx(), |ui| {
            // Per file, so that each starts at its beginning.
            let area = ScrollArea::both().id_salt(code.path).auto_shrink(false);
            code_ui(area, ui, code.text, None, context.palette);
        });
    if !open {
        context.actions.send(EnginesAction::Source(None));
    }
}

fn links_ui(ui: &mut Ui, context: &mut PaneContext<'_>, engine: &Descriptor) {
    if context.session.picture.is_some() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        if let Some(lesson) = engine.lesson.and_then(|id| lessons::named(id).ok()) {
            let button = ui.button(format!("Step through it: lesson {}", lesson.number));
            if button.on_hover_text(lesson.title).clicked() {
                context.actions.send(LessonAction::Open(lesson.number));
            }
        }
        if let Some(document) = named(engine.document) {
            let button = ui.button(format!("Read {}", engine.document));
            if button.on_hover_text(&DOCUMENTS[document].title).clicked() {
                let manual = Manual { document, before: Vec::new(), sought: engine.id.as_str().to_owned() };
                context.actions.send(Action::SetManual(Some(manual)));
            }
        }
    });
}

/// A buffer as a strip of cells, with its name and size.
fn buffer_ui(ui: &mut Ui, buffer: &Buffer, shape: &Shape, palette: &Palette) {
    let elements = (buffer.elements)(shape);
    let color = match buffer.memory {
        MemorySpace::Registers => palette.intermediate,
        MemorySpace::Shared => palette.buffer,
        MemorySpace::Memory => palette.point,
    };
    let each = elements.max(1).div_ceil(MAX_CELLS);
    let cells = elements.max(1).div_ceil(each);
    let size = match elements {
        0 => format!("{}: as many as fit", buffer.owner),
        _ if each > 1 => format!(
            "{} for {} ({} per cell)",
            text::thousands(elements as u64),
            buffer.owner,
            text::thousands(each as u64)
        ),
        _ => format!("{} for {}", text::thousands(elements as u64), buffer.owner),
    };
    let (rect, response) =
        ui.allocate_exact_size(vec2(ui.available_width().clamp(120.0, 420.0), 34.0), Sense::hover());
    name_widget(&response, Role::Label, &format!("{}, {size}", buffer.name));
    let painter = ui.painter();
    let font = FontId::proportional(12.0);
    painter.text(rect.left_top(), Align2::LEFT_TOP, buffer.name, font, palette.text);
    let size = painter.layout_no_wrap(size, FontId::proportional(11.0), palette.text_weak);
    let width = ((rect.width() - size.size().x - 8.0) / cells as f32).clamp(3.0, 8.0);
    let strip = Rect::from_min_size(rect.left_top() + vec2(0.0, 18.0), vec2(width * cells as f32, 12.0));
    for cell in 0..cells {
        let at = Rect::from_min_size(strip.min + vec2(width * cell as f32, 0.0), vec2(width, strip.height()))
            .shrink(0.5);
        if elements == 0 {
            painter.rect_stroke(at, 1.0, Stroke::new(1.0, color), StrokeKind::Inside);
        } else {
            painter.rect_filled(at, 1.0, color);
        }
    }
    painter.galley(strip.right_center() + vec2(8.0, -size.size().y / 2.0), size, palette.text_weak);
}

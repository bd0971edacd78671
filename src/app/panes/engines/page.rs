//! What an engine is: what it keeps where, drawn as cells, what it counts, what can be chosen, and its source.

use egui::{Align2, FontId, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, vec2};

use crate::app::features::contest::state::ContestAction;
use crate::app::features::lesson::state::LessonAction;
use crate::app::features::manual::state::{DOCUMENTS, Manual, named};
use crate::app::look::{Palette, code_ui, heading_ui, number};
use crate::app::model::Action;
use crate::app::panes::descriptor::PaneContext;
use crate::knn::{Descriptor, Keeps, Place, Shape};
use crate::lesson::lessons;
use crate::text;

/// The most cells of a strip: of more elements each cell is several.
const CELLS: usize = 32;

pub fn page_ui(ui: &mut Ui, context: &mut PaneContext<'_>, engine: &Descriptor, shape: &Shape) {
    let palette = context.palette;
    ui.horizontal(|ui| {
        ui.label(RichText::new(engine.id.as_str()).strong().size(16.0));
        ui.label(RichText::new(engine.group.title()).color(palette.text_weak));
        if context.session.picture.is_none() && ui.small_button("Close").clicked() {
            context.actions.send(ContestAction::Page(None));
        }
    });
    ui.label(engine.about);
    ui.label(RichText::new(format!("After {}.", engine.source)).color(palette.text_weak));
    links_ui(ui, context, engine);
    heading_ui(ui, "What it keeps");
    for place in Place::ALL {
        let mut here = engine.keeps.iter().filter(|keeps| keeps.place == place && (keeps.is_there)(shape)).peekable();
        if here.peek().is_some() {
            ui.label(RichText::new(place.title()).color(palette.text_weak).small());
        }
        for keeps in here {
            keeps_ui(ui, keeps, shape, palette);
        }
    }
    if !engine.measures.is_empty() {
        heading_ui(ui, "What it counts, of each query");
        for measure in engine.measures {
            ui.horizontal_wrapped(|ui| {
                ui.label(number(measure.name.to_owned()).strong());
                ui.label(measure.help);
            });
        }
    }
    if !engine.parameters.is_empty() {
        heading_ui(ui, "What can be chosen");
        for parameter in engine.parameters {
            ui.horizontal_wrapped(|ui| {
                ui.label(number(parameter.name.to_owned()).strong());
                ui.label(format!("{} It may be {}; usually {}.", parameter.help, parameter.values, parameter.default));
            });
        }
        let first = &engine.parameters[0];
        ui.label(RichText::new(format!("Written after the engine's name: {}:{}=…", engine.id, first.name)).color(palette.text_weak));
    }
    heading_ui(ui, "Its source");
    for (at, code) in engine.code.iter().enumerate() {
        let lines = text::thousands(code.text.lines().count() as u64);
        if ui.link(number(format!("{}, {lines} lines", code.path))).clicked() {
            context.actions.send(ContestAction::Source(Some(at)));
        }
    }
    source_ui(ui, context, engine);
}

/// A file of it, in a window of its own: lines are long.
fn source_ui(ui: &Ui, context: &mut PaneContext<'_>, engine: &Descriptor) {
    let Some(code) = context.session.contest.source.and_then(|at| engine.code.get(at)) else { return };
    let size = ui.ctx().content_rect().size();
    let mut open = true;
    egui::Window::new(code.path)
        .id(egui::Id::unique("source of an engine"))
        .open(&mut open)
        .collapsible(false)
        .default_size([760.0_f32.min(size.x - 40.0), 480.0_f32.min(size.y - 80.0)])
        .default_pos([(size.x - 800.0).max(10.0), 60.0])
        .show(ui.ctx(), |ui| {
            // Each file from its beginning.
            let area = ScrollArea::both().id_salt(code.path).auto_shrink(false);
            code_ui(area, ui, code.text, None, context.palette);
        });
    if !open {
        context.actions.send(ContestAction::Source(None));
    }
}

/// The lesson that steps through it, and the document that explains it.
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

/// A strip of cells under its name.
fn keeps_ui(ui: &mut Ui, keeps: &Keeps, shape: &Shape, palette: &Palette) {
    let elements = (keeps.elements)(shape);
    let color = match keeps.place {
        Place::Registers => palette.intermediate,
        Place::Shared => palette.buffer,
        Place::Memory => palette.point,
    };
    let each = elements.max(1).div_ceil(CELLS);
    let cells = elements.max(1).div_ceil(each);
    let size = match elements {
        0 => format!("{}: as many as there is room for", keeps.each),
        _ if each > 1 => format!("{} for {}; a cell stands for {}", text::thousands(elements as u64), keeps.each, text::thousands(each as u64)),
        _ => format!("{} for {}", text::thousands(elements as u64), keeps.each),
    };
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width().clamp(120.0, 420.0), 34.0), Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, format!("{}, {size}", keeps.what)));
    let painter = ui.painter();
    painter.text(rect.left_top(), Align2::LEFT_TOP, keeps.what, FontId::proportional(12.0), palette.text);
    let size = painter.layout_no_wrap(size, FontId::proportional(11.0), palette.text_weak);
    let width = ((rect.width() - size.size().x - 8.0) / cells as f32).clamp(3.0, 8.0);
    let strip = Rect::from_min_size(rect.left_top() + vec2(0.0, 18.0), vec2(width * cells as f32, 12.0));
    for cell in 0..cells {
        let at = Rect::from_min_size(strip.min + vec2(width * cell as f32, 0.0), vec2(width, strip.height())).shrink(0.5);
        if elements == 0 {
            painter.rect_stroke(at, 1.0, Stroke::new(1.0, color), StrokeKind::Inside);
        } else {
            painter.rect_filled(at, 1.0, color);
        }
    }
    painter.galley(strip.right_center() + vec2(8.0, -size.size().y / 2.0), size, palette.text_weak);
}

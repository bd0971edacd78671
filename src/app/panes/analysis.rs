//! Analysis: one line for each analysis of all rows' neighbours, and how well neighbours predict labels.

use std::sync::Arc;

use egui::Grid;

use super::empty::{ExportEntry, Pane, PaneContext, without_cloud};
use super::gallery::selection_gallery_ui;
use crate::app::features::analysis::label_column;
use crate::app::features::analysis::state::{AnalysisAction, AnalysisKind, AnalysisResults, AnalysisView};
use crate::app::features::color::column_keys;
use crate::app::features::color::state::{ColorAction, ColorBy};
use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::selection::state::SelectAction;
use crate::app::look::{heading_ui, percent as percent_done};
use crate::app::model::select_mode::SelectMode;
use crate::app::prelude::*;
use crate::export::graph::GraphFormat;
use crate::run::graph::labels::{Classification, ConfusionCell};
use crate::run::graph::summary::percent;
use crate::text;

/// Maximum number of labels in a full confusion matrix; with more, the most frequent confusions are listed.
const MAX_LABELS: usize = 16;

const MAX_CONFUSIONS: usize = 12;

/// Width of a name with its button.
const NAME_WIDTH: f32 = 220.0;

pub const PANE: Pane = Pane {
    kind: PaneKind::Analysis,
    draw: analysis_ui,
    data: |session| {
        let comparisons: Vec<_> = session.file_comparisons().cloned().collect();
        match session.analysed() {
            Some(analysed) => Some(PaneData::Analysis(Arc::clone(analysed), comparisons)),
            None => (!comparisons.is_empty()).then_some(PaneData::FileComparisons(comparisons)),
        }
    },
    exports: &[ExportEntry {
        kind: ExportKind::Graph(GraphFormat::Edges),
        text: "Neighbour graph…",
        about: "Every row's neighbours as an edge list, a SciPy sparse matrix or umap-learn arrays.",
    }],
};

fn analysis_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let session = context.session;
    if session.cloud.is_none() {
        return without_cloud(session).ui(ui, context.palette);
    }
    settings_ui(ui, context);
    comparisons_ui(ui, context);
    let Some(analysed) = session.analysed() else {
        if let Activity::Preparing { what, fraction } = &session.activity {
            return empty_ui(
                ui,
                &format!("{what}{}", percent_done(*fraction)),
                "Press Cancel in the status line to stop it.",
                context.palette,
            );
        }
        let next = "Finds density, outliers, hubs, dimension, duplicates, components and label agreement. \
                    Each can colour points, select by value, and be exported.";
        return empty_ui(ui, "Not analysed yet", next, context.palette);
    };
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        analyses_ui(ui, analysed, context);
        if let Some(classified) = analysed.classified.as_ref().filter(|classified| classified.points > 0) {
            confusion_ui(ui, analysed, classified, context);
        }
    });
}

/// Settings, and the button that starts the analysis.
fn settings_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let mut view = context.state.analysis.clone();
    ui.horizontal_wrapped(|ui| {
        let pressed = ui.button(AnalysisKind::START).on_hover_text(
            "Search every row's neighbours with k and metric on the left, on the fastest engine. Cancel \
             stops it.",
        );
        if pressed.clicked() {
            context.actions.send(AnalysisAction::Start);
        }
        labels_ui(ui, &mut view, session);
        let label = ui.label(palette.weak("Duplicates within"));
        let edit = TextEdit::singleline(&mut view.eps).id_salt("eps").desired_width(56.0);
        ui.add(edit)
            .labelled_by(label.id)
            .on_hover_text("Maximum distance between duplicates, in the metric's unit; 0 for equal rows.");
        if let Err(why) = view.eps() {
            ui.label(RichText::new(why).color(palette.error).small());
        }
        if let Some(analysed) = session.analysed() {
            let of = format!(
                "{} analysed, k = {}",
                text::count(analysed.record.query_rows.len() as u64, "row", "rows"),
                analysed.record.spec.k
            );
            ui.label(palette.small(of));
        }
    });
    if view != context.state.analysis {
        context.actions.send(AnalysisAction::Set(view));
    }
}

/// Comparisons with other files: shared neighbours, and leaks.
fn comparisons_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let mut view = context.state.analysis.clone();
    ui.horizontal_wrapped(|ui| {
        let compare = ui.button("Compare with another file…").on_hover_text(AnalysisKind::Overlap.about());
        if compare.clicked() {
            context.actions.send(AnalysisAction::Browse(AnalysisKind::Overlap));
        }
        let leaks = ui.button("Find leaks in another file…").on_hover_text(AnalysisKind::Leaks.about());
        if leaks.clicked() {
            context.actions.send(AnalysisAction::Browse(AnalysisKind::Leaks));
        }
        let label = ui.label(palette.weak("within"));
        let edit = TextEdit::singleline(&mut view.leak_eps).id_salt("leak eps").desired_width(56.0);
        ui.add(edit).labelled_by(label.id).on_hover_text(
            "Maximum distance between a leaked row and its match, in the metric's unit; 0 for equal rows.",
        );
        if let Err(why) = view.leak_eps() {
            ui.label(RichText::new(why).color(palette.error).small());
        }
    });
    if view != context.state.analysis {
        context.actions.send(AnalysisAction::Set(view));
    }
    for comparison in
        [AnalysisKind::Overlap, AnalysisKind::Leaks].iter().filter_map(|&kind| session.file_comparison(kind))
    {
        line_ui(ui, comparison.kind(), Ok(&comparison.sentence), context);
        if comparison.kind() == AnalysisKind::Overlap {
            continue;
        }
        let leaking = comparison.leaking_rows();
        ui.horizontal(|ui| {
            ui.add_space(NAME_WIDTH + ui.spacing().item_spacing.x);
            if ui
                .button(format!("Export rows of {}…", comparison.other))
                .on_hover_text("Each with its nearest row here.")
                .clicked()
            {
                context.actions.send(Action::StartExport(ExportKind::Leaks));
            }
            if leaking.is_empty() {
                return;
            }
            let name = format!("Select {} here", text::count(leaking.len() as u64, "row", "rows"));
            if ui.button(name).clicked() {
                context.actions.send(SelectAction::rows(
                    leaking,
                    SelectMode::Replace,
                    format!("leaks: also in {}", comparison.other),
                ));
            }
        });
    }
}

fn labels_ui(ui: &mut Ui, view: &mut AnalysisView, session: &Session) {
    let Some(known) = session.file_columns() else { return };
    let chosen = label_column(view, session);
    let shown = chosen.as_ref().map_or("none", |(_, title)| title);
    let response = ComboBox::from_id_salt("labels")
        .width(90.0)
        .height(320.0)
        .selected_text(format!("Labels: {shown}"))
        .show_ui(ui, |ui| {
            if ui.selectable_label(chosen.is_none(), "none").clicked() {
                view.labels = Some(String::new());
            }
            for (name, key) in column_keys(known.columns.iter().map(|column| column.name.as_str())) {
                if ui.selectable_label(chosen.as_ref().is_some_and(|(of, _)| *of == key), name).clicked() {
                    view.labels = Some(key);
                }
            }
        });
    name_chooser(&response.response, "Label column", shown);
}

/// A line for each analysis, with a button that colours the points by it.
fn analyses_ui(ui: &mut Ui, analysed: &AnalysisResults, context: &mut PaneContext<'_>) {
    for (kind, sentence) in &analysed.sentences {
        line_ui(ui, *kind, sentence.as_ref(), context);
    }
}

fn line_ui(
    ui: &mut Ui,
    kind: AnalysisKind,
    sentence: Result<&String, &String>,
    context: &mut PaneContext<'_>,
) {
    ui.horizontal_top(|ui| {
        let height = ui.spacing().interact_size.y;
        ui.allocate_ui_with_layout(vec2(NAME_WIDTH, height), Layout::right_to_left(Align::Center), |ui| {
            colour_ui(ui, kind, sentence.is_ok(), context);
            let name = Label::new(RichText::new(text::sentence_case(kind.title())).strong()).truncate();
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(name).on_hover_text(kind.about())
            });
        });
        let color = if sentence.is_ok() { context.palette.text } else { context.palette.error };
        let (Ok(sentence) | Err(sentence)) = sentence;
        ui.add(Label::new(RichText::new(text::sentence_case(sentence)).color(color)).wrap());
    });
}

fn colour_ui(ui: &mut Ui, kind: AnalysisKind, is_there: bool, context: &mut PaneContext<'_>) {
    let by = ColorBy::Analysis(kind);
    let colours = context.state.color.by == by;
    let button = ui.add_enabled(is_there, Button::new("Colour").selected(colours));
    let name = format!("Colour by {}", kind.title());
    button.widget_info(|| egui::WidgetInfo::selected(Role::Button, is_there, colours, &name));
    if button.on_hover_text(kind.about()).clicked() {
        let mut view = context.state.color.clone();
        view.choose(if colours { ColorBy::Nothing } else { by });
        context.actions.send(ColorAction::Set(view));
    }
}

/// The confusion matrix, with labels in rows and predictions in columns; with many labels, the most frequent
/// confusions. A click selects the rows.
fn confusion_ui(ui: &mut Ui, analysed: &AnalysisResults, of: &Classification, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let column = analysed.labels.as_deref().unwrap_or_default();
    heading_ui(ui, "Label against the majority of its neighbours");
    ui.horizontal_wrapped(|ui| {
        let wrong = of.points - of.correct;
        let rows =
            text::count(wrong, "row disagrees with its neighbours", "rows disagree with their neighbours");
        let share = of.accuracy.map_or_else(String::new, |accuracy| format!("; {} agree", percent(accuracy)));
        ui.label(format!("{rows}{share}."));
        if wrong > 0 && ui.button("Select them").clicked() {
            context.actions.send(SelectAction::rows(
                analysed.disagreeing(None),
                SelectMode::Replace,
                format!("{column} disagrees"),
            ));
        }
    });
    let mut pressed: Option<&ConfusionCell> = None;
    if of.labels.len() <= MAX_LABELS {
        ui.horizontal_top(|ui| {
            let grid =
                Grid::new("confusion").num_columns(of.labels.len() + 1).spacing([8.0, 2.0]).striped(true);
            grid.show(ui, |ui| {
                ui.label(palette.weak(format!("{column} ↓ majority →")));
                of.labels.iter().for_each(|label| drop(ui.label(RichText::new(label).strong())));
                ui.end_row();
                for (label, name) in of.labels.iter().enumerate() {
                    ui.label(RichText::new(name).strong());
                    for predicted in 0..of.labels.len() {
                        let cell = of.confusion.iter().find(|cell| {
                            (cell.label as usize, cell.predicted as usize) == (label, predicted)
                        });
                        let Some(cell) = cell else {
                            ui.label(palette.weak("·"));
                            continue;
                        };
                        let count = number(text::thousands(cell.points));
                        let count = if label == predicted {
                            count.color(palette.text_weak)
                        } else {
                            count.color(palette.error)
                        };
                        if cell_ui(ui, of, cell, count).clicked() {
                            pressed = Some(cell);
                        }
                    }
                    ui.end_row();
                }
            });
            // What disagrees can be seen once it is selected.
            ui.vertical(|ui| selection_gallery_ui(ui, context.session, palette, context.actions));
        });
    } else {
        let mut wrong: Vec<&ConfusionCell> =
            of.confusion.iter().filter(|cell| cell.label != cell.predicted).collect();
        wrong.sort_by_key(|cell| std::cmp::Reverse(cell.points));
        for cell in wrong.into_iter().take(MAX_CONFUSIONS) {
            let said = format!("{}: {}", sentence(of, cell), text::thousands(cell.points));
            if cell_ui(ui, of, cell, RichText::new(said)).clicked() {
                pressed = Some(cell);
            }
        }
    }
    if let Some(cell) = pressed {
        let rows = analysed.disagreeing(Some((cell.label, cell.predicted)));
        context.actions.send(SelectAction::rows(
            rows,
            SelectMode::Replace,
            format!("{column} {}", sentence(of, cell)),
        ));
    }
}

/// `4 predicted as 9`
fn sentence(of: &Classification, cell: &ConfusionCell) -> String {
    format!("{} predicted as {}", of.labels[cell.label as usize], of.labels[cell.predicted as usize])
}

fn cell_ui(ui: &mut Ui, of: &Classification, cell: &ConfusionCell, shown: RichText) -> Response {
    let response = ui.add(Button::new(shown).frame(false));
    let name = format!("{}: {}", sentence(of, cell), text::count(cell.points, "row", "rows"));
    name_widget(&response, Role::Button, &name);
    response.on_hover_text(format!("{name}. Click to select them."))
}

//! Neighbours: the picked query's, nearest first.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use egui::{Align, FontId, Label, Layout, RichText, ScrollArea, Sense, TextStyle, Ui};
use egui_extras::{Column, TableBuilder};

use super::PaneContext;
use super::empty::without_answer;
use crate::app::commands::Action;
use crate::app::format;
use crate::app::selection::{Hovered, How, SelectAction};
use crate::app::session::{Answered, Picked};
use crate::app::state::PaneKind;
use crate::app::widgets::number;
use crate::knn::Metric;
use crate::run::QuerySpec;

/// Coordinates that are shown; the export has them all.
const SHOWN: usize = 12;

/// The pane.
pub fn neighbors_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let Some(answered) = &context.session.answered else {
        return without_answer(context.session).ui(ui, palette);
    };
    let cloud = &answered.record.cloud;
    let metric = answered.record.spec.metric;
    let neighbors: Vec<(u32, f32)> = answered.neighbors().collect();
    let found = neighbors.len() as u64;
    let k = answered.record.spec.k as u64;
    let of = match &answered.record.spec.queries {
        QuerySpec::At(at) if at.len() <= 3 => {
            format!("of the place {}", at.iter().map(|&value| format::coordinate(value)).collect::<Vec<_>>().join(", "))
        }
        QuerySpec::At(_) => "of a place".to_owned(),
        _ => format!("of query row {}", format::count(answered.query_cloud().record(answered.row() as usize))),
    };
    let mut title = format!("{} {of}", format::counted(found, "neighbour", "neighbours"));
    if found < k {
        title = format!("{title}; k = {} is more than there are points", format::count(k));
    }
    ui.horizontal(|ui| {
        ui.label(title);
        if cloud.dims() > SHOWN {
            let note = format!("the first {SHOWN} of {} coordinates are shown; the export has all", cloud.dims());
            ui.label(RichText::new(note).color(palette.text_weak).small());
        }
    });
    let columns: Vec<usize> = (0..cloud.dims().min(SHOWN)).collect();
    let distance = if metric == Metric::Angular { "angle (rad)" } else { "distance" };
    let axes = columns.iter().map(|&axis| cloud.axes()[axis].name.as_str());
    let names: Vec<&str> = ["rank", "row", "squared distance", distance].into_iter().chain(axes).collect();
    let letters = letters(ui, answered, &neighbors, columns.len());
    let widths = widths(ui, &names, &letters);
    ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        let mut table =
            TableBuilder::new(ui).striped(true).sense(Sense::click()).cell_layout(Layout::left_to_right(Align::Center)).auto_shrink(false);
        for &width in &widths {
            table = table.column(Column::exact(width));
        }
        let table = table.header(20.0, |mut header| {
            for (at, name) in names.iter().enumerate() {
                // Rank and row, of which somebody may think that they begin at 1.
                let counts = at < 2;
                header.col(|ui| {
                    let name = ui.add(Label::new(RichText::new(*name).color(palette.text_weak)).truncate());
                    if counts {
                        name.on_hover_text("From 0, as in the files.");
                    }
                });
            }
        });
        let mut pointed = false;
        table.body(|body| {
            body.rows(20.0, neighbors.len(), |mut row| {
                let rank = row.index();
                let (index, squared) = neighbors[rank];
                row.set_selected(context.session.rank == Some(rank));
                let here = Hovered { what: Picked::Row(index), pane: PaneKind::Neighbors };
                // Also the one whose point the pointer rests on.
                row.set_hovered(context.session.hovered.is_some_and(|hovered| hovered.what == here.what));
                let selected = context.session.selection.has_row(index);
                let mut cell = |text: String| {
                    row.col(|ui| {
                        ui.add(Label::new(number(text)).selectable(false).extend());
                    });
                };
                cell(rank_text(rank, selected));
                for text in texts(answered, (index, squared), columns.len()) {
                    cell(text);
                }
                let response = row.response();
                pointed |= response.hovered();
                if response.hovered() && context.session.hovered != Some(here) {
                    context.actions.send(SelectAction::Hover(Some(here)));
                }
                if response.clicked() {
                    let how = How::of_click(response.ctx.input(|input| input.modifiers));
                    choose(rank, how, &neighbors, context);
                }
            });
        });
        if !pointed && context.session.hovered.is_some_and(|hovered| hovered.pane == PaneKind::Neighbors) {
            context.actions.send(SelectAction::Hover(None));
        }
    });
}

fn rank_text(rank: usize, selected: bool) -> String {
    format!("{} {}", if selected { "●" } else { " " }, format::count(rank as u64))
}

/// What a row says after its rank.
fn texts(answered: &Answered, (index, squared): (u32, f32), dims: usize) -> impl Iterator<Item = String> {
    let (cloud, metric) = (&answered.record.cloud, answered.record.spec.metric);
    let coordinates = (0..dims).map(move |axis| format::coordinate(cloud.coordinate(index as usize, axis)));
    let row = format::count(cloud.record(index as usize));
    [row, format::digits(f64::from(squared), 6), format::digits(metric.distance(squared), 6)].into_iter().chain(coordinates)
}

/// The letters of each column's longest text. All rows are asked, once for each answer, so that columns stay as they are
/// while they scroll.
fn letters(ui: &Ui, answered: &Answered, neighbors: &[(u32, f32)], dims: usize) -> Arc<Vec<usize>> {
    let mut hasher = DefaultHasher::new();
    Arc::as_ptr(&answered.record).hash(&mut hasher);
    neighbors.iter().for_each(|&(index, squared)| (index, squared.to_bits()).hash(&mut hasher));
    let key = hasher.finish();
    let id = egui::Id::unique("letters of neighbours");
    if let Some((_, known)) = ui.data(|data| data.get_temp::<(u64, Arc<Vec<usize>>)>(id)).filter(|(of, _)| *of == key) {
        return known;
    }
    let mut most = vec![0; 4 + dims];
    for (rank, &neighbor) in neighbors.iter().enumerate() {
        for (most, text) in most.iter_mut().zip([rank_text(rank, true)].into_iter().chain(texts(answered, neighbor, dims))) {
            *most = text.chars().count().max(*most);
        }
    }
    let most = Arc::new(most);
    ui.data_mut(|data| data.insert_temp(id, (key, Arc::clone(&most))));
    most
}

/// Columns as wide as their numbers and names; a long name is cut instead, and says so.
fn widths(ui: &Ui, names: &[&str], letters: &[usize]) -> Vec<f32> {
    const NAME: f32 = 160.0;
    let (numbers, text): (FontId, FontId) = (TextStyle::Monospace.resolve(ui.style()), TextStyle::Body.resolve(ui.style()));
    let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&numbers, '0'));
    let of_name = |name: &str| ui.painter().layout_no_wrap(name.to_owned(), text.clone(), egui::Color32::WHITE).size().x.min(NAME);
    names.iter().zip(letters).map(|(name, &letters)| (letters as f32 * digit).max(of_name(name)).ceil() + 4.0).collect()
}

/// A click on a row: alone it selects it, or lets go of it; with Shift all from the last one clicked to this; with Ctrl it adds
/// or removes this one.
fn choose(rank: usize, how: How, neighbors: &[(u32, f32)], context: &mut PaneContext<'_>) {
    let by = "rows of Neighbours";
    let row = neighbors[rank].0;
    match (how, context.session.rank) {
        (How::Replace, Some(at)) if at == rank => {
            context.actions.send(Action::SelectRank(None));
            context.actions.send(SelectAction::rows(vec![row], How::Remove, by));
        }
        (How::Add, Some(from)) => {
            let between = &neighbors[from.min(rank)..=from.max(rank).min(neighbors.len() - 1)];
            context.actions.send(SelectAction::rows(between.iter().map(|&(row, _)| row).collect(), How::Add, by));
        }
        _ => {
            context.actions.send(Action::SelectRank(Some(rank)));
            context.actions.send(SelectAction::rows(vec![row], how, by));
        }
    }
}

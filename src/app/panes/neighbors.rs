//! Neighbours: the picked query's neighbours, nearest first or sorted by a column.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use egui::style::ScrollStyle;
use egui::{Rangef, TextStyle};
use egui_extras::{Column, TableBuilder};

use super::empty::{ExportEntry, Pane, PaneContext, without_answer};
use super::hover::{cell_text, picture_ui};
use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::picking::state::ExtraColumns;
use crate::app::features::selection::state::{HoverTarget, SelectAction};
use crate::app::look::focus::arrows;
use crate::app::look::sort_head_ui;
use crate::app::model::select_mode::SelectMode;
use crate::app::model::{RoleChoice, SortKey, SortOrder, sorted};
use crate::app::prelude::*;
use crate::cloud::formats::Cell;
use crate::knn::Metric;
use crate::run::QuerySpec;
use crate::text;

pub const PANE: Pane = Pane {
    kind: PaneKind::Neighbors,
    draw: neighbors_ui,
    data: |session| {
        session
            .answered
            .clone()
            .map(|answered| PaneData::Neighbors(answered, session.listed_columns().cloned()))
    },
    exports: &[ExportEntry {
        kind: ExportKind::AllNeighbors,
        text: "All neighbours of the run…",
        about: "Of every query: a table, or ivecs and ibin as benchmarks have them.",
    }],
};

const MOVED: &str = "row of Neighbours that keys went to";

/// Side length of a row's image.
const IMAGE_SIDE: f32 = 28.0;

/// Index of the column that images precede: after rank and row.
const IMAGE_COLUMN: usize = 2;

fn neighbors_ui(ui: &mut Ui, context: &mut PaneContext<'_>) {
    let palette = context.palette;
    let session = context.session;
    let Some(answered) = &session.answered else {
        return without_answer(session).ui(ui, palette);
    };
    let columns = NeighborTable::new(session, answered);
    ui.horizontal(|ui| {
        ui.label(title(answered, columns.neighbors.len() as u64));
        if let Some(note) = columns.note() {
            ui.add(Label::new(palette.small(note)).truncate());
        }
    });
    // An always visible scroll bar shows that there are more columns.
    ui.spacing_mut().scroll = ScrollStyle::thin();
    // Per cloud, so that another cloud starts at the first column.
    let cloud = std::sync::Arc::as_ptr(&answered.record.cloud);
    ScrollArea::horizontal().id_salt(cloud).auto_shrink(false).show(ui, |ui| table_ui(ui, context, &columns));
}

/// The number of neighbours, and the query.
fn title(answered: &QueryAnswer, found: u64) -> String {
    let k = answered.record.spec.k as u64;
    let of = match &answered.record.spec.queries {
        QuerySpec::At(at) if at.len() <= 3 => {
            format!(
                "of the place {}",
                at.iter().map(|&value| text::coordinate(value)).collect::<Vec<_>>().join(", ")
            )
        }
        QuerySpec::At(_) => "of a place".to_owned(),
        _ => format!(
            "of query row {}",
            text::thousands(answered.query_cloud().record(answered.row() as usize))
        ),
    };
    let own =
        answered.record.query_cloud.is_none() && answered.neighbors().any(|(row, _)| row == answered.row());
    let itself = if own { ", itself included" } else { "" };
    let title = format!("{} {of}{itself}", text::count(found, "neighbour", "neighbours"));
    if found < k {
        format!("{title}; k = {} is more than there are points", text::thousands(k))
    } else {
        title
    }
}

fn table_ui(ui: &mut Ui, context: &mut PaneContext<'_>, columns: &NeighborTable<'_>) {
    let palette = context.palette;
    let sight = ui.clip_rect().x_range();
    let sort = context.session.sorts.get(&PaneKind::Neighbors);
    let (widths, order) = (columns.widths(ui, sort), columns.order(ui, sort));
    // Only the row selected last can have the keyboard focus; arrow keys move it.
    let current = context.session.rank.and_then(|rank| order.iter().position(|&of| of == rank)).unwrap_or(0);
    let moved = ui.data_mut(|data| data.remove_temp::<usize>(Id::unique(MOVED)));
    let cloud =
        context.session.answered.as_ref().map(|answered| std::sync::Arc::clone(&answered.record.cloud));
    let pictured = cloud.and_then(|cloud| Some((context.session.pictures(&cloud)?, cloud)));
    let height = if pictured.is_some() { IMAGE_SIDE + 4.0 } else { 20.0 };
    let mut table = TableBuilder::new(ui)
        .striped(true)
        .sense(Sense::CLICK)
        .cell_layout(Layout::left_to_right(Align::Center))
        .auto_shrink(false);
    for (at, width) in widths.into_iter().enumerate() {
        if at == IMAGE_COLUMN && pictured.is_some() {
            table = table.column(Column::exact(IMAGE_SIDE + 4.0));
        }
        table = table.column(Column::exact(width));
    }
    if let Some(moved) = moved {
        table = table.scroll_to_row(moved, None);
    }
    let table = table.header(20.0, |mut header| {
        for (at, name) in columns.names().into_iter().enumerate() {
            // Rank and row; their tooltips say that they count from 0.
            let counts = at < 2;
            if at == IMAGE_COLUMN && pictured.is_some() {
                header.col(|_| {});
            }
            header.col(|ui| {
                if !is_whole(ui.max_rect().x_range(), sight) {
                    return;
                }
                let head = sort_head_ui(ui, palette.weak(name), PaneKind::Neighbors, sort, context.actions);
                head.on_hover_text(if counts {
                    "Counted from 0, as in files. A click sorts."
                } else {
                    "A click sorts: up, down, and by rank again."
                });
            });
        }
    });
    let mut pointed = false;
    let neighbors = &columns.neighbors;
    let mut keyed = None;
    table.body(|body| {
        body.rows(height, neighbors.len(), |mut row| {
            let rank = order[row.index()];
            let (index, _) = neighbors[rank];
            row.set_selected(context.session.rank == Some(rank));
            let here = HoverTarget { what: PickedPoint::Row(index), pane: PaneKind::Neighbors };
            // Also highlights the row whose point is hovered in another pane.
            row.set_hovered(context.session.hovered.is_some_and(|hovered| hovered.what == here.what));
            let has_keys = row.index() == current;
            for (at, shown) in columns.texts(rank, context.session.selection.has_row(index)).enumerate() {
                if let Some((pictures, cloud)) = pictured.as_ref().filter(|_| at == IMAGE_COLUMN) {
                    row.col(|ui| {
                        if is_whole(ui.max_rect().x_range(), sight) {
                            picture_ui(ui, cloud, index as usize, *pictures, IMAGE_SIDE);
                        }
                    });
                }
                row.col(|ui| {
                    if has_keys && at == 0 {
                        keyed = Some(ui.interact(
                            ui.max_rect(),
                            Id::unique("row of Neighbours with the keys"),
                            Sense::focusable_noninteractive(),
                        ));
                    }
                    if is_whole(ui.max_rect().x_range(), sight) {
                        let label = Label::new(number(shown.text)).selectable(false);
                        ui.add(if shown.long { label.truncate() } else { label.extend() });
                    }
                });
            }
            let response = row.response();
            pointed |= response.hovered();
            if response.hovered() && context.session.hovered != Some(here) {
                context.actions.send(SelectAction::Hover(Some(here)));
            }
            if response.clicked() {
                let how = SelectMode::from_modifiers(response.ctx.input(|input| input.modifiers));
                choose(rank, how, neighbors, &order, context);
            }
        });
    });
    if let Some(keyed) = keyed {
        keys_ui(ui, &keyed, current, neighbors, &order, context);
    }
    if !pointed && context.session.hovered.is_some_and(|hovered| hovered.pane == PaneKind::Neighbors) {
        context.actions.send(SelectAction::Hover(None));
    }
}

/// Arrow keys select the row above or below, with Shift in addition; Enter and Space act like a click.
fn keys_ui(
    ui: &Ui,
    row: &Response,
    at: usize,
    neighbors: &[(u32, f32)],
    order: &[usize],
    context: &mut PaneContext<'_>,
) {
    let Some(&rank) = order.get(at) else { return };
    let name = format!(
        "Neighbour of rank {}, row {}",
        text::thousands(rank as u64),
        text::thousands(u64::from(neighbors[rank].0))
    );
    let chosen = context.session.rank == Some(rank);
    row.widget_info(|| egui::WidgetInfo::selected(Role::Button, true, chosen, &name));
    let by = arrows(ui, row).y as isize;
    if !row.has_focus() {
        return;
    }
    let (shift, pressed) = ui.input(|input| {
        (input.modifiers.shift, input.key_pressed(Key::Enter) || input.key_pressed(Key::Space))
    });
    if pressed {
        let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
        choose(rank, how, neighbors, order, context);
    } else if by != 0
        && let Some(&next) = at.checked_add_signed(by).and_then(|next| order.get(next))
    {
        let how = if shift { SelectMode::Add } else { SelectMode::Replace };
        context.actions.send(Action::SelectRank(Some(next)));
        context.actions.send(SelectAction::rows(vec![neighbors[next].0], how, "rows of Neighbours"));
        ui.data_mut(|data| data.insert_temp(Id::unique(MOVED), at.saturating_add_signed(by)));
    }
}

/// A click selects or deselects a row; Shift selects all rows from the last one clicked, Ctrl toggles the
/// row.
fn choose(
    rank: usize,
    how: SelectMode,
    neighbors: &[(u32, f32)],
    order: &[usize],
    context: &mut PaneContext<'_>,
) {
    let by = "rows of Neighbours";
    let row = neighbors[rank].0;
    match (how, context.session.rank) {
        (SelectMode::Replace, Some(at)) if at == rank => {
            context.actions.send(Action::SelectRank(None));
            context.actions.send(SelectAction::rows(vec![row], SelectMode::Remove, by));
        }
        (SelectMode::Add, Some(from)) => {
            // In table order.
            let place = |rank: usize| order.iter().position(|&of| of == rank);
            let (from, to) = (place(from).unwrap_or(0), place(rank).unwrap_or(0));
            let between = order[from.min(to)..=from.max(to)].iter().map(|&rank| neighbors[rank].0);
            context.actions.send(SelectAction::rows(between.collect(), SelectMode::Add, by));
        }
        _ => {
            let goes = how == SelectMode::Toggle && context.session.selection.has_row(row);
            context.actions.send(Action::SelectRank(Some(rank).filter(|_| !goes)));
            context.actions.send(SelectAction::rows(vec![row], how, by));
        }
    }
}

// Columns, their widths, and which are visible. Only whole columns are shown, because a truncated number
// would be misread.

/// Maximum number of coordinates, and of other columns, shown; the export has all coordinates.
pub const MAX_COLUMNS: usize = 12;

/// Width of a text column, in characters.
const TEXT_WIDTH: usize = 24;

/// The contents of the table.
pub struct NeighborTable<'a> {
    answered: &'a QueryAnswer,
    /// Rows with squared distances, nearest first.
    pub neighbors: Vec<(u32, f32)>,
    /// The file's other columns of these neighbours. While they are being read, those of the previous
    /// neighbours, which have the same headings.
    other_columns: Option<&'a ExtraColumns>,
    is_read: bool,
    columns: Vec<ShownColumn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ShownColumn {
    Rank,
    Row,
    /// One of the file's other columns.
    Other(usize),
    /// In the metric's unit.
    Distance,
    SquaredDistance,
    Axis(usize),
}

pub struct CellText {
    pub text: String,
    /// Whether the text may be truncated, with the full text as a tooltip.
    pub long: bool,
}

impl<'a> NeighborTable<'a> {
    pub fn new(session: &'a Session, answered: &'a QueryAnswer) -> Self {
        let neighbors: Vec<(u32, f32)> = answered.neighbors().collect();
        let cloud = &answered.record.cloud;
        let other_columns =
            session.other_columns.as_ref().filter(|columns| Arc::ptr_eq(&columns.cloud, cloud));
        let is_read = session.listed_columns().is_some();
        let all = other_columns.and_then(ExtraColumns::cells).map_or(&[][..], |others| &others.columns);
        let index = |choice: &RoleChoice| {
            all.iter().position(|name| choice.column().is_some_and(|column| column.name == *name))
        };
        let of_roles: Vec<usize> =
            [&session.roles.name, &session.roles.label].into_iter().filter_map(index).collect();
        let others = (0..all.len()).filter(|column| !of_roles.contains(column)).take(MAX_COLUMNS);
        // Elsewhere it is the square of a chord, which says nothing about the data.
        let squared = answered.record.spec.metric == Metric::L2;
        let columns = [ShownColumn::Rank, ShownColumn::Row]
            .into_iter()
            .chain(of_roles.iter().map(|&column| ShownColumn::Other(column)))
            .chain(squared.then_some(ShownColumn::SquaredDistance))
            .chain([ShownColumn::Distance])
            .chain((0..cloud.dims().min(MAX_COLUMNS)).map(ShownColumn::Axis))
            .chain(others.map(ShownColumn::Other))
            .collect();
        Self { answered, neighbors, other_columns, is_read, columns }
    }

    pub fn names(&self) -> Vec<&'a str> {
        let name = |column: &ShownColumn| match *column {
            ShownColumn::Rank => "rank",
            ShownColumn::Row => "row",
            ShownColumn::Other(column) => self
                .other_columns
                .and_then(ExtraColumns::cells)
                .map_or("", |cells| cells.columns[column].as_str()),
            ShownColumn::Distance => self.answered.record.spec.metric.heading(),
            ShownColumn::SquaredDistance => "squared distance",
            ShownColumn::Axis(axis) => self.answered.record.cloud.axes()[axis].name.as_str(),
        };
        self.columns.iter().map(name).collect()
    }

    /// What is omitted, and why.
    pub fn note(&self) -> Option<String> {
        let dims = self.answered.record.cloud.dims();
        let coordinates = (dims > MAX_COLUMNS)
            .then(|| format!("the first {MAX_COLUMNS} of {dims} coordinates are shown; the export has all"));
        let total = self.other_columns.and_then(ExtraColumns::cells).map_or(0, |others| others.total);
        let shown = self.columns.iter().filter(|column| matches!(column, ShownColumn::Other(_))).count();
        let others = (total > shown).then(|| format!("{shown} of {total} other columns are shown"));
        let failed = self
            .other_columns
            .filter(|_| self.is_read)
            .and_then(|columns| columns.found.as_ref().as_ref().err().cloned());
        let notes: Vec<String> = [coordinates, others, failed].into_iter().flatten().collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// The cells of a row, starting with its rank.
    pub fn texts(&self, rank: usize, selected: bool) -> impl Iterator<Item = CellText> {
        let (cloud, metric) = (&self.answered.record.cloud, self.answered.record.spec.metric);
        let (index, squared) = self.neighbors[rank];
        let short = |text| CellText { text, long: false };
        self.columns.iter().map(move |column| match *column {
            ShownColumn::Rank => {
                short(format!("{} {}", if selected { "●" } else { " " }, text::thousands(rank as u64)))
            }
            ShownColumn::Row => short(text::thousands(cloud.record(index as usize))),
            ShownColumn::Distance => short(text::digits(metric.distance(squared), 6)),
            ShownColumn::SquaredDistance => short(text::digits(f64::from(squared), 6)),
            ShownColumn::Axis(axis) => short(text::coordinate(cloud.coordinate(index as usize, axis))),
            ShownColumn::Other(column) => {
                let cell = self.cell(rank, column);
                let text = cell.map(cell_text).unwrap_or_default();
                CellText { text, long: matches!(cell, Some(Cell::Text(_))) }
            }
        })
    }

    fn cell(&self, rank: usize, column: usize) -> Option<&'a Cell> {
        self.other_columns.filter(|_| self.is_read)?.cell(rank, column)
    }

    /// Ranks in table order, cached for each answer.
    pub fn order(&self, ui: &Ui, sort: Option<&SortOrder>) -> Arc<Vec<usize>> {
        let ranks = || (0..self.neighbors.len()).collect();
        let Some((sort, column)) =
            sort.and_then(|sort| Some((sort, self.names().iter().position(|name| *name == sort.column)?)))
        else {
            return Arc::new(ranks());
        };
        let mut hasher = DefaultHasher::new();
        (self.key(), column, sort.descending).hash(&mut hasher);
        let key = hasher.finish();
        let id = Id::unique("order of neighbours");
        if let Some((_, known)) =
            ui.data(|data| data.get_temp::<(u64, Arc<Vec<usize>>)>(id)).filter(|(of, _)| *of == key)
        {
            return known;
        }
        let keys: Vec<SortKey> = (0..self.neighbors.len()).map(|rank| self.sort_key(rank, column)).collect();
        let order = Arc::new(sorted(&keys, sort.descending));
        ui.data_mut(|data| data.insert_temp(id, (key, Arc::clone(&order))));
        order
    }

    fn sort_key(&self, rank: usize, column: usize) -> SortKey {
        let (cloud, (index, squared)) = (&self.answered.record.cloud, self.neighbors[rank]);
        match self.columns[column] {
            ShownColumn::Rank => SortKey::Number(rank as f64),
            ShownColumn::Row => SortKey::Number(cloud.record(index as usize) as f64),
            ShownColumn::Distance | ShownColumn::SquaredDistance => SortKey::Number(f64::from(squared)),
            ShownColumn::Axis(axis) => SortKey::Number(cloud.coordinate(index as usize, axis)),
            ShownColumn::Other(column) => match self.cell(rank, column) {
                Some(Cell::Number(value)) => SortKey::Number(*value),
                Some(Cell::Text(text)) => SortKey::text(text),
                Some(Cell::Missing) | None => SortKey::Missing,
            },
        }
    }

    /// Column widths that fit numbers and names; long names and texts are truncated.
    pub fn widths(&self, ui: &Ui, sort: Option<&SortOrder>) -> Vec<f32> {
        const NAME: f32 = 160.0;
        let (numbers, text): (FontId, FontId) =
            (TextStyle::Monospace.resolve(ui.style()), TextStyle::Body.resolve(ui.style()));
        let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&numbers, '0'));
        let of_name = |name: &str| {
            ui.painter().layout_no_wrap(name.to_owned(), text.clone(), Color32::WHITE).size().x.min(NAME)
        };
        let letters = self.letters(ui);
        let arrow = |name: &str| if sort.is_some_and(|sort| sort.column == name) { 2.0 * digit } else { 0.0 };
        let width = |(name, &letters): (&&str, &usize)| {
            (letters as f32 * digit).max(of_name(name) + arrow(name)).ceil() + 4.0
        };
        self.names().iter().zip(letters.iter()).map(width).collect()
    }

    /// Identifies the table for caches.
    fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        Arc::as_ptr(&self.answered.record).hash(&mut hasher);
        (self.is_read, &self.columns).hash(&mut hasher);
        self.neighbors.iter().for_each(|&(index, squared)| (index, squared.to_bits()).hash(&mut hasher));
        hasher.finish()
    }

    /// The length of each column's longest text over all rows, cached for each answer: widths stay constant
    /// while scrolling, and while the next answer's columns are read.
    fn letters(&self, ui: &Ui) -> Arc<Vec<usize>> {
        let key = self.key();
        let id = Id::unique("letters of neighbours");
        let known = ui.data(|data| data.get_temp::<(u64, Arc<Vec<usize>>)>(id));
        if let Some((_, known)) = known.as_ref().filter(|(of, _)| *of == key) {
            return Arc::clone(known);
        }
        let mut most = vec![0; self.columns.len()];
        if let Some((_, before)) = known.filter(|(_, before)| !self.is_read && before.len() == most.len()) {
            let kept = self.columns.iter().map(|column| matches!(column, ShownColumn::Other(_)));
            most.iter_mut()
                .zip(before.iter())
                .zip(kept)
                .filter(|(_, kept)| *kept)
                .for_each(|((most, before), _)| *most = *before);
        }
        for rank in 0..self.neighbors.len() {
            for (most, CellText { text, long }) in most.iter_mut().zip(self.texts(rank, true)) {
                let letters = text.chars().count();
                *most = (if long { letters.min(TEXT_WIDTH) } else { letters }).max(*most);
            }
        }
        let most = Arc::new(most);
        ui.data_mut(|data| data.insert_temp(id, (key, Arc::clone(&most))));
        most
    }
}

/// Whether a cell is fully visible, or is wider than the view.
pub fn is_whole(cell: Rangef, sight: Rangef) -> bool {
    let inside = cell.min >= sight.min - 0.5 && cell.max <= sight.max + 0.5;
    inside || (cell.span() > sight.span() && cell.min < sight.max && cell.max > sight.min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partly_visible_columns_are_hidden() {
        let sight = Rangef::new(100.0, 300.0);
        let whole = |min: f32, max: f32| is_whole(Rangef::new(min, max), sight);
        assert_eq!([whole(100.0, 160.0), whole(240.0, 300.0), whole(99.7, 160.0)], [true; 3]);
        assert_eq!([whole(280.0, 340.0), whole(60.0, 120.0), whole(310.0, 380.0)], [false; 3]);
        assert!(whole(90.0, 310.0), "wider than the pane");
        assert!(!whole(310.0, 600.0));
    }
}

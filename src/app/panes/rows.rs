//! Tables of the cloud's rows: all points, or the picked query's neighbours.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;
use std::sync::{Arc, Weak};

use egui::{Rangef, TextStyle};
use egui_extras::{Column, TableBuilder};

use super::empty::PaneContext;
use super::hover::{cell_text, picture_ui};
use crate::app::features::picking::state::ExtraColumns;
use crate::app::features::points_table::state::WholeColumn;
use crate::app::features::selection::state::{HoverTarget, SelectAction};
use crate::app::look::focus::arrows;
use crate::app::look::table::{head_ui, header_height};
use crate::app::model::select_mode::SelectMode;
use crate::app::model::{RoleChoice, Roles, TableView};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::cloud::formats::Cell;
use crate::knn::Metric;
use crate::run::RunRecord;
use crate::text;

/// Number of coordinates, and of other columns, shown at first.
pub const MAX_COLUMNS: usize = 12;

/// Width of a text column, in characters.
const TEXT_WIDTH: usize = 24;

/// Side length of a row's image.
const IMAGE_SIDE: f32 = 28.0;

/// The rows and columns of a table. An item is a row of the cloud or, among neighbours, a rank from 0.
pub struct RowsTable<'a> {
    pub cloud: &'a Arc<PointCloud>,
    pub neighbors: Option<Neighbors<'a>>,
    /// The file's other columns of the visible items or, while they are being read, of the previous ones,
    /// which have the same headings.
    other_columns: Option<&'a ExtraColumns>,
    is_read: bool,
    /// Whole columns that order or select all points.
    pub whole: &'a BTreeMap<String, WholeColumn>,
    columns: Vec<TableColumn<'a>>,
    /// Indices of the visible columns.
    shown: Vec<usize>,
    /// The points around the visible ones, which determine the widths.
    pub page: Vec<u32>,
}

/// Rows with squared distances, nearest first. There may be millions, so frames copy none of them.
pub struct Neighbors<'a> {
    answered: &'a QueryAnswer,
    rows: &'a [u32],
    squared_distances: &'a [f32],
}

impl<'a> Neighbors<'a> {
    pub fn new(answered: &'a QueryAnswer) -> Self {
        let squared_distances = answered.record.neighbors.for_query(answered.query).1;
        Self { answered, rows: answered.neighbor_rows(), squared_distances }
    }

    pub fn metric(&self) -> Metric {
        self.answered.record.spec.metric
    }
}

/// Something computed for a table, with its keys. The neighbours' record is kept so that its address, which
/// is in a key, is not reused.
type Cached<K, V> = (K, Arc<Vec<V>>, Option<Weak<RunRecord>>);

pub struct TableColumn<'a> {
    name: &'a str,
    value: ColumnValue,
    at_first: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ColumnValue {
    /// Among the neighbours, from 1.
    Rank,
    Row,
    /// One of the file's other columns.
    Other(usize),
    /// In the metric's unit.
    Distance,
    SquaredDistance,
    Axis(usize),
}

struct CellText {
    text: String,
    /// Whether the text may be truncated.
    long: bool,
}

/// What was done with a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowEvent {
    Click,
    DoubleClick,
    Enter,
    /// The keys went to it.
    Reached,
}

/// The columns of a table of all rows or, with a metric, of neighbours.
pub fn columns_of<'a>(
    roles: &Roles,
    cloud: &'a PointCloud,
    metric: Option<Metric>,
    other_columns: Option<&'a ExtraColumns>,
) -> Vec<TableColumn<'a>> {
    let all = other_columns.and_then(ExtraColumns::cells).map_or(&[][..], |others| &others.columns);
    let index = |choice: &RoleChoice| {
        all.iter().position(|name| choice.column().is_some_and(|column| column.name == *name))
    };
    let of_roles: Vec<usize> = [&roles.name, &roles.label].into_iter().filter_map(index).collect();
    let column = |name: &'a str, value: ColumnValue, at_first: bool| TableColumn { name, value, at_first };
    let other =
        |(at, place): (usize, usize)| column(&all[place], ColumnValue::Other(place), at < MAX_COLUMNS);
    let axis = |at: usize| column(&cloud.axes()[at].name, ColumnValue::Axis(at), at < MAX_COLUMNS);
    let others = (0..all.len()).filter(|place| !of_roles.contains(place)).enumerate();
    // A file may have columns of these names.
    let is_taken = |name: &str| {
        all.iter().any(|other| other == name) || cloud.axes().iter().any(|axis| axis.name == name)
    };
    let own = |name: &'static str, other: &'static str| if is_taken(name) { other } else { name };
    let mut columns = vec![column(own("row", "row number"), ColumnValue::Row, true)];
    columns.extend(of_roles.iter().map(|&place| other((0, place))));
    if let Some(metric) = metric {
        columns.insert(0, column(own("rank", "neighbour rank"), ColumnValue::Rank, true));
        // Elsewhere it is the square of a chord, which says nothing about the data.
        if metric == Metric::L2 {
            let name = own("squared distance", "squared distance to the query");
            columns.push(column(name, ColumnValue::SquaredDistance, true));
        }
        columns.push(column(own(metric.heading(), "distance to the query"), ColumnValue::Distance, true));
    }
    columns.extend((0..cloud.dims()).map(axis).chain(others.map(other)));
    columns
}

impl<'a> RowsTable<'a> {
    pub fn new(
        cloud: &'a Arc<PointCloud>,
        neighbors: Option<Neighbors<'a>>,
        (other_columns, is_read): (Option<&'a ExtraColumns>, bool),
        whole: &'a BTreeMap<String, WholeColumn>,
        columns: Vec<TableColumn<'a>>,
        view: &TableView,
    ) -> Self {
        let shown =
            (0..columns.len()).filter(|&at| view.shows(columns[at].name, columns[at].at_first)).collect();
        Self { cloud, neighbors, other_columns, is_read, whole, columns, shown, page: Vec::new() }
    }

    /// Number of items.
    pub fn count(&self) -> usize {
        self.neighbors.as_ref().map_or(self.cloud.len(), |neighbors| neighbors.rows.len())
    }

    /// The row of an item.
    pub fn row(&self, item: usize) -> u32 {
        self.neighbors.as_ref().map_or(item as u32, |neighbors| neighbors.rows[item])
    }

    fn squared(&self, item: usize) -> f32 {
        self.neighbors.as_ref().map_or(f32::NAN, |neighbors| neighbors.squared_distances[item])
    }

    fn distance(&self, item: usize) -> f64 {
        self.neighbors.as_ref().map_or(f64::NAN, |of| of.metric().distance(self.squared(item)))
    }

    /// Names of all columns, and whether they are shown at first.
    pub fn choices(&self) -> Vec<(&str, bool)> {
        self.columns.iter().map(|column| (column.name, column.at_first)).collect()
    }

    /// The items that meet the conditions of a view, in its order.
    pub fn items(&self, view: &TableView, cancelled: impl Fn() -> bool + Sync) -> Vec<u32> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name).collect();
        view.rows(self.count(), &names, |item, column| self.cell(item, column), cancelled)
    }

    /// [`Self::items`] of a short table, cached between frames; `None` if they are all, in its own order.
    pub fn cached_items(&self, ui: &Ui, view: &TableView) -> Option<Arc<Vec<u32>>> {
        view.keys().next()?;
        let mut hasher = DefaultHasher::new();
        (self.key(), view.of_rows()).hash(&mut hasher);
        let (key, id) = (hasher.finish(), Id::unique("items of a table"));
        let known = ui.data(|data| data.get_temp::<Cached<u64, u32>>(id));
        if let Some((_, known, _)) = known.filter(|(of, ..)| *of == key) {
            return Some(known);
        }
        let items = Arc::new(self.items(view, || false));
        ui.data_mut(|data| data.insert_temp(id, (key, Arc::clone(&items), self.record())));
        Some(items)
    }

    /// The place of an item among the rows whose other columns are known.
    fn place(&self, item: usize) -> Option<usize> {
        let known = self.other_columns.filter(|_| self.is_read)?;
        match self.neighbors {
            Some(_) => Some(item),
            None => known.rows.iter().position(|&row| row as usize == item),
        }
    }

    fn other(&self, place: Option<usize>, column: usize) -> Option<&'a Cell> {
        self.other_columns?.cell(place?, column)
    }

    fn cell(&self, item: usize, column: usize) -> Cell {
        let TableColumn { name, value, .. } = &self.columns[column];
        let row = self.row(item) as usize;
        Cell::Number(match *value {
            ColumnValue::Rank => (item + 1) as f64,
            ColumnValue::Row => self.cloud.record(row) as f64,
            ColumnValue::Distance => self.distance(item),
            ColumnValue::SquaredDistance => self.squared(item).into(),
            ColumnValue::Axis(axis) => self.cloud.coordinate(row, axis),
            ColumnValue::Other(other) => {
                let known = match self.whole.get(*name).map(|column| &**column) {
                    Some(Ok(cells)) => cells.get(row),
                    _ => self.other(self.place(item), other),
                };
                return known.cloned().unwrap_or(Cell::Missing);
            }
        })
    }

    /// Whether a column has texts, as far as is known.
    fn is_text(&self, column: usize) -> bool {
        match self.columns[column].value {
            ColumnValue::Other(other) => matches!(self.other(Some(0), other), Some(Cell::Text(_))),
            _ => false,
        }
    }

    /// The visible cells of an item.
    fn texts(&self, item: usize, selected: bool) -> impl Iterator<Item = CellText> {
        let (row, place) = (self.row(item) as usize, self.place(item));
        let first = if selected { "● " } else { "  " };
        self.shown.iter().enumerate().map(move |(at, &column)| {
            let mut long = false;
            let text = match self.columns[column].value {
                ColumnValue::Rank => text::thousands(item as u64 + 1),
                ColumnValue::Row => text::thousands(self.cloud.record(row)),
                ColumnValue::Distance => text::digits(self.distance(item), 6),
                ColumnValue::SquaredDistance => text::digits(self.squared(item).into(), 6),
                ColumnValue::Axis(axis) => text::coordinate(self.cloud.coordinate(row, axis)),
                ColumnValue::Other(other) => {
                    let cell = self.other(place, other);
                    long = matches!(cell, Some(Cell::Text(_)));
                    cell.map(cell_text).unwrap_or_default()
                }
            };
            CellText { text: if at == 0 { format!("{first}{text}") } else { text }, long }
        })
    }

    /// Why other columns are missing.
    pub fn note(&self) -> Option<String> {
        let failed = self
            .other_columns
            .filter(|_| self.is_read)
            .and_then(|columns| columns.found.as_ref().as_ref().err());
        let failed = failed.or_else(|| self.whole.values().find_map(|column| column.as_ref().as_ref().err()));
        let (all, listed) = self
            .other_columns
            .and_then(ExtraColumns::cells)
            .map_or((0, 0), |others| (others.total, others.columns.len()));
        let left_out = || format!("{listed} of {all} other columns can be shown; the export has all");
        let unread = self.neighbors.as_ref().filter(|_| all > 0).and_then(|of| of.answered.lookup_note());
        failed.cloned().or(unread).or_else(|| (all > listed).then(left_out))
    }

    /// Column widths that fit numbers and names; long names and texts are truncated.
    fn widths(&self, ui: &Ui, view: &TableView) -> Vec<f32> {
        const NAME: f32 = 160.0;
        let (numbers, text): (FontId, FontId) =
            (TextStyle::Monospace.resolve(ui.style()), TextStyle::Body.resolve(ui.style()));
        let digit = ui.fonts_mut(|fonts| fonts.glyph_width(&numbers, '0'));
        let of_name = |name: &str| {
            ui.painter().layout_no_wrap(name.to_owned(), text.clone(), Color32::WHITE).size().x.min(NAME)
        };
        let letters = self.letters(ui);
        let width = |(&column, &letters): (&usize, &usize)| {
            let name = self.columns[column].name;
            let sorted = view.sort.as_ref().is_some_and(|sort| sort.column == name);
            let arrow = if sorted { 2.0 * digit } else { 0.0 };
            let field = if view.filtering { 72.0 } else { 0.0 };
            (letters as f32 * digit).max(of_name(name) + arrow).max(field).ceil() + 4.0
        };
        self.shown.iter().zip(letters.iter()).map(width).collect()
    }

    /// Identifies rows and columns for caches; `kind` without the rows whose cells are known.
    fn keys(&self) -> [u64; 2] {
        let mut hasher = DefaultHasher::new();
        let columns = self.shown.iter().map(|&at| self.columns[at].value);
        (Arc::as_ptr(self.cloud), self.neighbors.is_some()).hash(&mut hasher);
        columns.for_each(|column| column.hash(&mut hasher));
        let kind = hasher.finish();
        self.is_read.hash(&mut hasher);
        match &self.neighbors {
            Some(of) => (Arc::as_ptr(&of.answered.record), of.answered.query).hash(&mut hasher),
            None => (&self.page, self.other_columns.map(|of| &of.rows)).hash(&mut hasher),
        }
        [kind, hasher.finish()]
    }

    fn key(&self) -> u64 {
        self.keys()[1]
    }

    fn record(&self) -> Option<Weak<RunRecord>> {
        self.neighbors.as_ref().map(|of| Arc::downgrade(&of.answered.record))
    }

    /// The length of each column's longest text, cached: widths stay constant while scrolling through
    /// neighbours, and only grow while scrolling through all points.
    fn letters(&self, ui: &Ui) -> Arc<Vec<usize>> {
        type Known = Cached<[u64; 2], usize>;
        let (keys, id) = (self.keys(), Id::unique(("letters of a table", self.neighbors.is_some())));
        let known = ui.data(|data| data.get_temp::<Known>(id)).filter(|(of, ..)| of[0] == keys[0]);
        if let Some((_, known, _)) = known.as_ref().filter(|(of, ..)| *of == keys) {
            return Arc::clone(known);
        }
        let mut most = vec![0; self.shown.len()];
        if let Some((_, before, _)) = known {
            // While the other columns of new neighbours are read.
            let keeps = |at: usize| {
                let is_other = matches!(self.columns[self.shown[at]].value, ColumnValue::Other(_));
                self.neighbors.is_none() || !self.is_read && is_other
            };
            (0..most.len()).filter(|&at| keeps(at)).for_each(|at| most[at] = before[at]);
        }
        let items: Vec<usize> = match &self.neighbors {
            Some(of) => (0..of.rows.len()).collect(),
            None => self.page.iter().map(|&row| row as usize).collect(),
        };
        for item in items {
            for (most, CellText { text, long }) in most.iter_mut().zip(self.texts(item, true)) {
                let letters = text.chars().count();
                *most = (if long { letters.min(TEXT_WIDTH) } else { letters }).max(*most);
            }
        }
        let most = Arc::new(most);
        ui.data_mut(|data| data.insert_temp(id, (keys, Arc::clone(&most), self.record())));
        most
    }
}

/// Draws the table; `items` are all if `None`. `current` is the position that can have the keyboard focus.
/// Returns the visible positions, and what was done with one.
pub fn rows_ui(
    ui: &mut Ui,
    context: &mut PaneContext<'_>,
    (pane, view): (PaneKind, &TableView),
    table: &RowsTable<'_>,
    items: Option<&[u32]>,
    current: usize,
) -> (Range<usize>, Option<(usize, RowEvent, SelectMode)>) {
    let (palette, session) = (context.palette, context.session);
    let sight = ui.clip_rect().x_range();
    let widths = table.widths(ui, view);
    let item_at = |at: usize| items.map_or(at, |items| items[at] as usize);
    let len = items.map_or_else(|| table.count(), <[u32]>::len);
    let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
    let moved_id = Id::unique(("row that keys went to", pane));
    let moved = ui.data_mut(|data| data.remove_temp::<usize>(moved_id));
    let pictured = session.pictures(table.cloud);
    let height = if pictured.is_some() { IMAGE_SIDE + 4.0 } else { 20.0 };
    // Images precede the first value.
    let is_count =
        |column: &usize| matches!(table.columns[*column].value, ColumnValue::Rank | ColumnValue::Row);
    let image_at = table.shown.iter().take_while(|column| is_count(column)).count();
    let mut builder = TableBuilder::new(ui)
        .id_salt(pane)
        .striped(true)
        .sense(Sense::CLICK)
        .cell_layout(Layout::left_to_right(Align::Center))
        .auto_shrink(false);
    for (at, width) in widths.into_iter().enumerate() {
        if at == image_at && pictured.is_some() {
            builder = builder.column(Column::exact(IMAGE_SIDE + 4.0));
        }
        builder = builder.column(Column::exact(width));
    }
    if let Some(moved) = moved {
        builder = builder.scroll_to_row(moved, None);
    }
    let builder = builder.header(header_height(view), |mut header| {
        for (at, &column) in table.shown.iter().enumerate() {
            let TableColumn { name, value, .. } = &table.columns[column];
            if at == image_at && pictured.is_some() {
                header.col(|_| {});
            }
            header.col(|ui| {
                if !is_whole(ui.max_rect().x_range(), sight) {
                    return;
                }
                let kind = [false, table.is_text(column)];
                let head = head_ui(ui, name, kind, (pane, view), palette, context.actions);
                head.on_hover_text(match value {
                    ColumnValue::Rank => "The nearest is 1; files count from 0. A click sorts.",
                    ColumnValue::Row => "Counted from 0, as in files. A click sorts.",
                    _ => "A click sorts: up, down, and in the first order again.",
                });
            });
        }
    });
    let (mut pointed, mut keyed, mut visible, mut event) = (false, None, len..0, None);
    builder.body(|body| {
        body.rows(height, len, |mut row| {
            let at = row.index();
            visible = visible.start.min(at)..visible.end.max(at + 1);
            let item = item_at(at);
            let index = table.row(item);
            row.set_selected(match table.neighbors {
                Some(_) => session.rank == Some(item),
                None => session.picked == Some(PickedPoint::Row(index)),
            });
            let here = HoverTarget { what: PickedPoint::Row(index), pane };
            // Also highlights the row whose point is hovered in another pane.
            row.set_hovered(session.hovered.is_some_and(|hovered| hovered.what == here.what));
            for (column, shown) in table.texts(item, session.selection.has_row(index)).enumerate() {
                if let Some(pictures) = pictured.filter(|_| column == image_at) {
                    row.col(|ui| {
                        if is_whole(ui.max_rect().x_range(), sight) {
                            picture_ui(ui, table.cloud, index as usize, pictures, IMAGE_SIDE);
                        }
                    });
                }
                row.col(|ui| {
                    if at == current && column == 0 {
                        keyed = Some(ui.interact(
                            ui.max_rect(),
                            Id::unique(("row with the keys", pane)),
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
            if response.hovered() && session.hovered != Some(here) {
                context.actions.send(SelectAction::Hover(Some(here)));
            }
            if response.double_clicked() {
                event = Some((at, RowEvent::DoubleClick, how));
            } else if response.clicked() {
                event = Some((at, RowEvent::Click, how));
            }
        });
    });
    if let Some(keyed) = keyed.filter(|_| current < len) {
        let item = item_at(current);
        let row = text::thousands(table.row(item).into());
        let name = match table.neighbors {
            Some(_) => format!("Neighbour of rank {}, row {row}", text::thousands(item as u64 + 1)),
            None => format!("Point of row {row}"),
        };
        let chosen = session.rank == Some(item) && table.neighbors.is_some();
        keyed.widget_info(|| egui::WidgetInfo::selected(Role::Button, true, chosen, &name));
        let by = arrows(ui, &keyed).y as isize;
        let pressed = ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
        if keyed.has_focus() && pressed {
            event = Some((current, RowEvent::Enter, how));
        } else if keyed.has_focus()
            && by != 0
            && let Some(next) = current.checked_add_signed(by).filter(|&next| next < len)
        {
            let shift = ui.input(|input| input.modifiers.shift);
            let how = if shift { SelectMode::Add } else { SelectMode::Replace };
            event = Some((next, RowEvent::Reached, how));
            ui.data_mut(|data| data.insert_temp(moved_id, next));
        }
    }
    if !pointed && session.hovered.is_some_and(|hovered| hovered.pane == pane) {
        context.actions.send(SelectAction::Hover(None));
    }
    (visible, event)
}

/// Whether a cell is fully visible, or is wider than the view: a truncated number would be misread.
fn is_whole(cell: Rangef, sight: Rangef) -> bool {
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

//! The dialog for column roles, with a preview of the first rows.

use std::path::PathBuf;

use crate::app::model::files::{ColumnRole, FileColumn, RoleChoice, Roles, column_ranges};
use crate::app::model::pictures::{ImageShape, RowImageChoice};
use crate::app::model::search::folded;
use crate::cloud::formats::{ColumnKind, Records};

pub const PREVIEW: usize = 4;

/// Maximum number of coordinates typed by name; more are typed by number.
const MAX_NAMED: usize = 8;

#[derive(Clone, Debug)]
pub struct ColumnRow {
    pub column: FileColumn,
    pub kind: ColumnKind,
    pub role: ColumnRole,
}

impl ColumnRow {
    /// Whether the column's contents allow the role.
    pub fn may_be(&self, role: ColumnRole) -> bool {
        match role {
            ColumnRole::Coordinate => self.kind == ColumnKind::Numeric,
            ColumnRole::Label | ColumnRole::Name => self.kind != ColumnKind::Empty,
            ColumnRole::Ignored => true,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Preview {
    Reading,
    Read(Records),
    Failed(String),
}

#[derive(Clone, Debug)]
pub struct ColumnsDialog {
    pub path: PathBuf,
    pub rows: Vec<ColumnRow>,
    /// The current coordinates, as column numbers in axis order.
    pub axes: Vec<usize>,
    pub typed: String,
    pub preview: Preview,
    pub pictures: Option<ImageShape>,
    /// The text of the search box.
    pub search: String,
    /// The column set last, where a Shift-click range begins.
    last: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnsAction {
    Open,
    /// Set the text of the search box.
    Search(String),
    /// Set a column's role; `through` sets all columns since the last one set.
    Set {
        column: usize,
        role: ColumnRole,
        through: bool,
    },
    /// Set the image layout of rows, or none.
    Pictures(Option<ImageShape>),
    /// Set the image layout without opening the dialog.
    ShowPictures(ImageShape),
    /// Make all numeric columns coordinates, except label and name.
    AllNumbers,
    /// Apply the choices.
    Use,
    /// Forget the choices and infer the columns again.
    Guess,
    Close,
}

impl ColumnsDialog {
    /// The dialog for `columns`; `axes` are the current coordinates, `label` and `name` the current or
    /// inferred columns.
    pub fn new(
        path: PathBuf,
        columns: impl Iterator<Item = (FileColumn, ColumnKind)>,
        (axes, typed): (Vec<usize>, String),
        [label, name]: [Option<&str>; 2],
    ) -> Self {
        let rows =
            columns.map(|(column, kind)| ColumnRow { column, kind, role: ColumnRole::Ignored }).collect();
        let (preview, search) = (Preview::Reading, String::new());
        let mut dialog = Self { path, rows, axes, typed, preview, pictures: None, search, last: None };
        for &axis in &dialog.axes {
            dialog.rows[axis].role = ColumnRole::Coordinate;
        }
        for (wanted, role) in [(label, ColumnRole::Label), (name, ColumnRole::Name)] {
            let is_it = |row: &ColumnRow| {
                Some(row.column.key.as_str()) == wanted && row.role == ColumnRole::Ignored && row.may_be(role)
            };
            if let Some(row) = dialog.rows.iter_mut().find(|row| is_it(row)) {
                row.role = role;
            }
        }
        dialog
    }

    /// Sets a column's role; `through` sets all columns since the last one set, if their contents allow it.
    pub fn set(&mut self, column: usize, role: ColumnRole, through: bool) {
        if self.rows.get(column).is_none_or(|row| !row.may_be(role)) {
            return;
        }
        let one = matches!(role, ColumnRole::Label | ColumnRole::Name);
        if one {
            self.rows
                .iter_mut()
                .filter(|row| row.role == role)
                .for_each(|row| row.role = ColumnRole::Ignored);
        }
        let from = self.last.filter(|_| through && !one).unwrap_or(column);
        for row in &mut self.rows[from.min(column)..=from.max(column)] {
            if row.may_be(role) {
                row.role = role;
            }
        }
        self.last = Some(column);
    }

    /// Makes all numeric columns coordinates, except label and name.
    pub fn all_numbers(&mut self) {
        let others = self
            .rows
            .iter_mut()
            .filter(|row| row.role == ColumnRole::Ignored && row.may_be(ColumnRole::Coordinate));
        others.for_each(|row| row.role = ColumnRole::Coordinate);
    }

    /// The columns whose name contains the text of the search box.
    pub fn found(&self) -> Vec<usize> {
        let wanted = folded(self.search.trim());
        (0..self.rows.len()).filter(|&at| folded(&self.rows[at].column.name).contains(&wanted)).collect()
    }

    /// Number of columns with a role.
    pub fn count(&self, role: ColumnRole) -> usize {
        self.rows.iter().filter(|row| row.role == role).count()
    }

    /// Column numbers of the coordinates: in file order, unless the user typed another order.
    pub fn coordinates(&self) -> Vec<usize> {
        let is = |at: usize| self.rows[at].role == ColumnRole::Coordinate;
        let all = (0..self.rows.len()).filter(|&at| is(at));
        if self.axes.is_sorted() {
            return all.collect();
        }
        let kept: Vec<usize> = self.axes.iter().copied().filter(|&at| is(at)).collect();
        let new = all.filter(|at| !kept.contains(at));
        kept.iter().copied().chain(new).collect()
    }

    /// The coordinates as typed text.
    pub fn typed_coordinates(&self) -> String {
        let coordinates = self.coordinates();
        if coordinates == self.axes && !self.typed.trim().is_empty() {
            return self.typed.clone();
        }
        let numbers: Vec<String> = coordinates.iter().map(usize::to_string).collect();
        // A name that would parse as a list, a range or a number is replaced by its number.
        let plain =
            |name: &str| !name.contains([',', '-']) && name.trim() == name && name.parse::<usize>().is_err();
        let name = |at: usize| {
            Some(self.rows[at].column.key.as_str())
                .filter(|key| plain(key))
                .map_or_else(|| at.to_string(), str::to_owned)
        };
        if coordinates.len() <= MAX_NAMED {
            return coordinates.into_iter().map(name).collect::<Vec<_>>().join(",");
        }
        column_ranges(&numbers).unwrap_or_default()
    }

    /// The image layouts that fit the chosen coordinates.
    pub fn possible_pictures(&self) -> Vec<ImageShape> {
        let dims = self.count(ColumnRole::Coordinate);
        let chosen = self.pictures.filter(|pictures| pictures.fits(dims));
        let mut possible = ImageShape::possible(dims);
        possible.extend(chosen.filter(|chosen| !ImageShape::possible(dims).contains(chosen)));
        possible
    }

    /// The roles of columns other than coordinates.
    pub fn roles(&self) -> Roles {
        let chosen = |role| {
            self.rows
                .iter()
                .find(|row| row.role == role)
                .map_or(RoleChoice::Nothing, |row| RoleChoice::Column(row.column.clone()))
        };
        let dims = self.count(ColumnRole::Coordinate);
        let pictures = match self.pictures.filter(|pictures| pictures.fits(dims)) {
            Some(pictures) => RowImageChoice::Images(pictures),
            None if self.possible_pictures().is_empty() => RowImageChoice::Inferred,
            None => RowImageChoice::Nothing,
        };
        Roles { label: chosen(ColumnRole::Label), name: chosen(ColumnRole::Name), pictures }
    }

    /// `64 coordinates, label d64, no name, 3 columns not used`.
    pub fn sentence(&self) -> String {
        let coordinates = self.count(ColumnRole::Coordinate) as u64;
        let roles = self.roles();
        let described = |role: &str, choice: &RoleChoice| {
            choice.column().map_or_else(|| format!("no {role}"), |column| format!("{role} {}", column.name))
        };
        let unused = match self.count(ColumnRole::Ignored) as u64 {
            0 => String::new(),
            unused => format!(", {} not used", crate::text::count(unused, "column", "columns")),
        };
        format!(
            "{}, {}, {}{unused}",
            crate::text::count(coordinates, "coordinate", "coordinates"),
            described("label", &roles.label),
            described("name", &roles.name)
        )
    }
}

#[cfg(test)]
mod tests {
    use ColumnKind::{Empty, Numeric, Text};
    use ColumnRole::{Coordinate, Ignored, Label, Name};

    use super::*;

    fn dialog(columns: &[(&str, ColumnKind)], axes: &[usize], told: [Option<&str>; 2]) -> ColumnsDialog {
        let columns = columns
            .iter()
            .map(|&(name, kind)| (FileColumn { name: name.to_owned(), key: name.to_owned() }, kind));
        ColumnsDialog::new(PathBuf::new(), columns, (axes.to_vec(), String::new()), told)
    }

    fn roles(dialog: &ColumnsDialog) -> Vec<ColumnRole> {
        dialog.rows.iter().map(|row| row.role).collect()
    }

    #[test]
    fn column_roles_depend_on_the_column_type() {
        let mut table = dialog(
            &[("x", Numeric), ("y", Numeric), ("city", Text), ("none", Empty)],
            &[0, 1],
            [None, Some("city")],
        );
        assert_eq!(roles(&table), [Coordinate, Coordinate, Name, Ignored]);
        table.set(2, Coordinate, false);
        table.set(3, Label, false);
        table.set(9, Label, false);
        assert_eq!(
            roles(&table),
            [Coordinate, Coordinate, Name, Ignored],
            "text cannot be a coordinate, empty columns cannot be labels"
        );
        table.set(1, Label, false);
        table.set(2, Label, false);
        assert_eq!(roles(&table), [Coordinate, Ignored, Label, Ignored], "only one column is the label");
        assert_eq!(table.sentence(), "1 coordinate, label city, no name, 2 columns not used");
        table.all_numbers();
        assert_eq!((roles(&table)[1], table.typed_coordinates().as_str()), (Coordinate, "x,y"));
    }

    #[test]
    fn columns_are_found_by_part_of_their_name() {
        let mut table = dialog(&[("Größe", Numeric), ("x", Numeric), ("grosse Zahl", Text)], &[], [None; 2]);
        assert_eq!(table.found(), [0, 1, 2]);
        table.search = " grosse".to_owned();
        assert_eq!(table.found(), [0, 2]);
    }

    #[test]
    fn roles_can_be_set_for_a_range() {
        let names: Vec<String> = (0..30).map(|at| format!("d{at}")).collect();
        let columns: Vec<(&str, ColumnKind)> = names
            .iter()
            .enumerate()
            .map(|(at, name)| (name.as_str(), if at == 5 { Text } else { Numeric }))
            .collect();
        let mut table = dialog(&columns, &[], [None, None]);
        table.set(20, Coordinate, true);
        table.set(2, Coordinate, true);
        assert_eq!(
            (table.typed_coordinates().as_str(), roles(&table)[5]),
            ("2-4,6-20", Ignored),
            "text columns in between are unchanged"
        );
        table.set(10, Label, true);
        assert_eq!((table.count(Label), table.count(Coordinate)), (1, 17));
    }

    #[test]
    fn typed_coordinate_order_is_preserved() {
        let columns = [("lat", Numeric), ("lon", Numeric), ("a-b", Numeric)];
        let mut table = dialog(&columns, &[1, 0], [None, None]);
        table.set(2, Coordinate, false);
        assert_eq!((table.coordinates(), table.typed_coordinates().as_str()), (vec![1, 0, 2], "lon,lat,2"));
    }
}

//! Picking by pointer or region: screen positions, regions, actions, and other columns of records.

use std::collections::HashSet;
use std::sync::Arc;

use egui::{Pos2, Rect};

use crate::app::model::camera::{PlaneCamera, Scene, SpaceCamera, place};
use crate::app::model::pane::PaneKind;
use crate::app::model::select_mode::SelectMode;
use crate::cloud::PointCloud;
use crate::cloud::formats::{Cell, Records};
use crate::export::table::Table;
use crate::run::RunRecord;

/// A scene, and the camera that shows it.
#[derive(Clone, Debug)]
pub struct PickView {
    /// The camera, and the pane it belongs to.
    pub eye: PaneCamera,
    pub scene: Scene,
    /// The run that the scene's query file belongs to.
    pub record: Option<Arc<RunRecord>>,
}

/// A selection by region.
#[derive(Clone, Debug)]
pub struct RegionSelection {
    pub sight: PickView,
    pub region: Region,
}

/// What dragging with the primary button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Move,
    /// Selects inside a rectangle.
    Rectangle,
    /// Selects inside an outline.
    Lasso,
}

impl Tool {
    /// All tools, in the order of their buttons.
    pub const ALL: [Self; 3] = [Self::Move, Self::Rectangle, Self::Lasso];
}

/// What a picked point is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Query,
    Select(SelectMode),
    /// The view zooms to it and its neighbours, or on empty ground to everything.
    Focus,
    /// It is described in a tooltip.
    Hover,
}

#[derive(Clone, Debug)]
pub enum PickAction {
    /// Pick the point under the pointer.
    At {
        /// The camera when the action was sent.
        eye: PaneCamera,
        /// In points, from the window's corner.
        pointer: Pos2,
        purpose: Purpose,
    },
    Region {
        /// The camera when the region was drawn.
        eye: PaneCamera,
        region: Region,
        how: SelectMode,
    },
    Tool(Tool),
}

// Other columns of points.

/// Other columns of rows, or why they are unavailable.
pub type RowColumns = Result<ExtraCells, String>;

/// Columns of rows that are not axes.
#[derive(Clone, Debug)]
pub struct ExtraColumns {
    /// The cloud that `rows` index.
    pub cloud: Arc<PointCloud>,
    pub rows: Vec<u32>,
    /// The other columns, in the order of `rows`.
    pub found: Arc<RowColumns>,
}

impl ExtraColumns {
    pub fn is_of(&self, cloud: &Arc<PointCloud>, rows: &[u32]) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.rows == rows
    }

    /// The columns, if available.
    pub fn cells(&self) -> Option<&ExtraCells> {
        self.found.as_ref().as_ref().ok()
    }

    /// Adds the columns to a table of these rows; columns with only numbers become numeric.
    pub fn with<'a>(&'a self, table: Table<'a>) -> Table<'a> {
        let number = |cell: &Cell| if let Cell::Number(value) = cell { Some(*value) } else { None };
        let text = |cell: &Cell| match cell {
            Cell::Number(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text.clone()),
            Cell::Missing => None,
        };
        let columns = self.cells().map_or(&[][..], |others| &others.columns).iter().enumerate();
        columns.fold(table, |table, (column, name)| {
            let cells = (0..self.rows.len()).filter_map(|place| self.cell(place, column));
            if cells.clone().all(|cell| !matches!(cell, Cell::Text(_))) {
                table.with(name, move |place| self.cell(place, column).and_then(number))
            } else {
                table.with(name, move |place| self.cell(place, column).and_then(text))
            }
        })
    }

    /// A cell, by position of the row and of the column.
    pub fn cell(&self, place: usize, column: usize) -> Option<&Cell> {
        self.cells()?.rows.get(place)?.get(column)
    }
}

// Screen positions of rows, for both Plane and Space.

/// A pane's camera and its axes.
#[derive(Clone, Copy, Debug)]
pub enum PaneCamera {
    /// Plane's camera, and its axes: right, up.
    Plane(PlaneCamera, [usize; 2]),
    /// The same of the second view.
    Second(PlaneCamera, [usize; 2]),
    /// Space's camera, and its axes: x, y, up.
    Space(SpaceCamera, [usize; 3]),
}

/// Distance from the pointer in screen points, then depth; a click picks the minimum.
pub type PickDistance = (f64, f64);

impl PaneCamera {
    pub fn pane(&self) -> PaneKind {
        match self {
            Self::Plane(..) => PaneKind::Plane,
            Self::Second(..) => PaneKind::Second,
            Self::Space(..) => PaneKind::Space,
        }
    }

    /// A row's screen position; `None` behind the eye.
    pub fn screen(&self, cloud: &PointCloud, row: usize) -> Option<Pos2> {
        match self {
            Self::Plane(camera, axes) | Self::Second(camera, axes) => {
                Some(camera.screen(place(cloud, row, *axes)))
            }
            Self::Space(camera, axes) => camera.screen(place(cloud, row, *axes)).map(|(screen, _)| screen),
        }
    }

    /// A function from rows to their distance from the pointer; `None` behind the eye, outside the pane, or
    /// beyond `reach`.
    pub fn pick_distances<'a>(
        &'a self,
        cloud: &'a PointCloud,
        pointer: Pos2,
        reach: f64,
    ) -> Box<dyn Fn(usize) -> Option<PickDistance> + Sync + 'a> {
        /// Within this distance from the pointer, in screen points, the row nearest to the eye wins.
        const NEAR: f64 = 4.0;
        /// Margin around the pane, in screen points, where the dot of a row may still be visible.
        const EDGE: f32 = 4.0;
        match self {
            Self::Plane(camera, axes) | Self::Second(camera, axes) => {
                // Relative to the pointer in local coordinates, which stays precise when zoomed in deeply.
                let (at, scale) = (camera.place(pointer), camera.units().map(f64::recip));
                let most = reach.powi(2);
                let [right, up] =
                    [camera.rect.width(), camera.rect.height()].map(|side| f64::from(side / 2.0 + EDGE));
                let center = camera.window.center;
                Box::new(move |row| {
                    let place = place(cloud, row, *axes);
                    let away = |from: [f64; 2]| [0, 1].map(|axis| (place[axis] - from[axis]) * scale[axis]);
                    let ([x, y], [from_middle, above_middle]) = (away(at), away(center));
                    let squared = x * x + y * y;
                    let there = squared <= most && from_middle.abs() <= right && above_middle.abs() <= up;
                    there.then(|| (squared.sqrt(), 0.0))
                })
            }
            Self::Space(camera, axes) => {
                let seen = camera.rect().expand(EDGE);
                Box::new(move |row| {
                    let (screen, depth) = camera.screen(place(cloud, row, *axes))?;
                    let far = f64::from(screen.distance(pointer));
                    (far <= reach && seen.contains(screen))
                        .then_some((if far <= NEAR { 0.0 } else { far }, depth))
                })
            }
        }
    }
}

// Columns of a file's records that are not axes, up to a limit.

/// Maximum number of cells and names stored for a file: more than a hundred columns for the largest number of
/// neighbours.
pub const MAX_CELLS: usize = 1 << 17;

#[derive(Clone, Debug, PartialEq)]
pub struct ExtraCells {
    /// Column names in file order, truncated to fit [`MAX_CELLS`].
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
    /// Number of such columns in the file.
    pub total: usize,
}

impl ExtraCells {
    /// The columns of records that are not axes, limited to [`MAX_CELLS`].
    pub fn limited(cloud: &PointCloud, records: Records) -> Self {
        Self::first(cloud, records, MAX_CELLS)
    }

    /// The same without a limit.
    pub fn all(cloud: &PointCloud, records: Records) -> Self {
        Self::first(cloud, records, usize::MAX)
    }

    fn first(cloud: &PointCloud, records: Records, most: usize) -> Self {
        let axes: HashSet<&str> = cloud.axes().iter().map(|axis| axis.name.as_str()).collect();
        let mut others: Vec<usize> =
            (0..records.columns.len()).filter(|&at| !axes.contains(records.columns[at].as_str())).collect();
        let total = others.len();
        others.truncate(most / (records.rows.len() + 1));
        let columns = others.iter().map(|&at| records.columns[at].clone()).collect();
        // New vectors, because truncating in place would keep the memory of the coordinates.
        let row = |mut cells: Vec<Cell>| {
            others.iter().map(|&at| std::mem::replace(&mut cells[at], Cell::Missing)).collect()
        };
        Self { columns, rows: records.rows.into_iter().map(row).collect(), total }
    }

    /// Number of cells and names.
    pub fn size(&self) -> usize {
        self.columns.len() * (self.rows.len() + 1)
    }
}

/// A region of a pane, in screen points.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Includes its edges.
    Rectangle(Rect),
    Lasso(Lasso),
}

impl Region {
    pub fn contains(&self, place: Pos2) -> bool {
        match self {
            Self::Rectangle(rect) => rect.contains(place),
            Self::Lasso(lasso) => lasso.contains(place),
        }
    }
}

/// A closed outline. Places with a nonzero winding number are inside, so a lasso that crosses itself has a
/// hole only where the windings cancel.
///
/// Places exactly on the outline are inside on its left side and outside on its right side. Therefore two
/// adjacent lassos never share a point or miss one between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasso {
    bounds: Rect,
    /// Horizontal bands of equal height from top to bottom, each with the edges that cross it.
    bands: Vec<Vec<[Pos2; 2]>>,
}

impl Lasso {
    /// A lasso with these corners; fewer than three enclose nothing.
    pub fn new(corners: &[Pos2]) -> Self {
        let bounds = Rect::from_points(corners);
        let count = corners.len().clamp(1, 256);
        let mut lasso = Self { bounds, bands: vec![Vec::new(); count] };
        for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            // Horizontal edges do not cross horizontal rays.
            if from.y == to.y {
                continue;
            }
            let (top, bottom) = (lasso.band(from.y.min(to.y)), lasso.band(from.y.max(to.y)));
            for band in &mut lasso.bands[top..=bottom] {
                band.push([from, to]);
            }
        }
        lasso
    }

    fn band(&self, y: f32) -> usize {
        let part = (y - self.bounds.top()) / self.bounds.height().max(f32::MIN_POSITIVE);
        ((part * self.bands.len() as f32) as usize).min(self.bands.len() - 1)
    }

    pub fn contains(&self, place: Pos2) -> bool {
        if !self.bounds.contains(place) {
            return false;
        }
        // Signed crossings of the outline with a ray to the right.
        let crossings = self.bands[self.band(place.y)].iter().map(|&[from, to]| {
            let down = from.y <= place.y && place.y < to.y;
            let up = to.y <= place.y && place.y < from.y;
            if !down && !up {
                return 0;
            }
            let (from, to) = if down { (from, to) } else { (to, from) };
            // In f64, differences and products of f32 are exact enough to agree for both lassos that share an
            // edge.
            let across = |a: f32, b: f32| f64::from(a) - f64::from(b);
            let left = across(to.x, from.x) * across(place.y, from.y)
                - across(place.x, from.x) * across(to.y, from.y)
                > 0.0;
            i32::from(left) * if down { 1 } else { -1 }
        });
        crossings.sum::<i32>() != 0
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;
    use proptest::prelude::*;

    use super::*;
    use crate::cloud::{Column, Source, Table};

    #[test]
    fn cached_columns_exclude_axes_and_fit_the_limit() {
        let (axes, total, rows) = (3000, 3000, 1024);
        let name = |at: usize| Column { name: format!("c{at}") };
        let table = Table { columns: (0..axes).map(|at| name(2 * at)).collect(), values: vec![0.5; axes] };
        let cloud = PointCloud::from_table(table, Source::Coordinates("0.5".to_owned()), None, false)
            .expect("a cloud");
        let columns: Vec<String> = (0..axes + total).map(|at| name(at).name).collect();
        let row =
            |row: usize| (0..columns.len()).map(|at| Cell::Number((row * 10_000 + at) as f64)).collect();
        let records = Records { columns: columns.clone(), rows: (0..rows).map(row).collect() };
        let others = ExtraCells::limited(&cloud, records);
        assert_eq!((others.total, others.columns.len()), (total, 127));
        assert!(others.size() <= MAX_CELLS && others.rows.len() == rows);
        assert!(others.rows.iter().all(|row| row.capacity() == 127), "without spare capacity for the axes");
        assert_eq!((&*others.columns[126], &others.rows[1023][126]), ("c253", &Cell::Number(10_230_253.0)));
        let one = ExtraCells::limited(&cloud, Records { columns: columns.clone(), rows: vec![row(7)] });
        assert_eq!(
            (one.columns.len(), one.size(), &one.rows[0][2999]),
            (total, 2 * total, &Cell::Number(75_999.0))
        );
    }

    fn place() -> impl Strategy<Value = Pos2> {
        // On a grid, so that many places lie on outlines.
        (0..24i32, 0..24i32).prop_map(|(x, y)| pos2(x as f32, y as f32))
    }

    /// Computes the winding number from the corners' angles.
    fn winds(corners: &[Pos2], place: Pos2) -> bool {
        let angle = |at: &Pos2| f64::from(at.y - place.y).atan2(f64::from(at.x - place.x));
        let turn = |from: &Pos2, to: &Pos2| {
            let by = angle(to) - angle(from);
            if by > std::f64::consts::PI {
                by - std::f64::consts::TAU
            } else if by < -std::f64::consts::PI {
                by + std::f64::consts::TAU
            } else {
                by
            }
        };
        corners.iter().zip(corners.iter().cycle().skip(1)).map(|(from, to)| turn(from, to)).sum::<f64>().abs()
            > 1.0
    }

    proptest! {
        // Three of four random quadrilaterals are not convex and are rejected.
        #![proptest_config(ProptestConfig { max_global_rejects: 1 << 16, ..ProptestConfig::default() })]

        #[test]
        fn lasso_containment_matches_the_winding_number(
            corners in prop::collection::vec(place(), 3..40),
            x in 0..24i32,
            y in 0..24i32,
        ) {
            // Off the grid, so never on a corner, though possibly on an edge.
            let place = pos2(x as f32 + 0.37, y as f32 + 0.41);
            let on_edge = corners.iter().zip(corners.iter().cycle().skip(1)).any(|(a, b)| {
                ((b.x - a.x) * (place.y - a.y) - (b.y - a.y) * (place.x - a.x)).abs() < 1e-3
            });
            prop_assume!(!on_edge);
            prop_assert_eq!(Lasso::new(&corners).contains(place), winds(&corners, place));
        }

        #[test]
        fn adjacent_lassos_partition_their_union(
            a in place(),
            b in place(),
            c in place(),
            d in place(),
            at in place(),
        ) {
            // A convex quadrilateral and its two halves, including places on the diagonal.
            let cross = |o: Pos2, p: Pos2, q: Pos2| (p - o).x * (q - o).y - (p - o).y * (q - o).x;
            let signs = [cross(a, b, c), cross(b, c, d), cross(c, d, a), cross(d, a, b)];
            prop_assume!(signs.iter().all(|sign| *sign > 0.0) || signs.iter().all(|sign| *sign < 0.0));
            let has = |corners: &[Pos2]| Lasso::new(corners).contains(at);
            let (one, other) = (has(&[a, b, c]), has(&[c, d, a]));
            prop_assert!(!(one && other));
            prop_assert_eq!(one || other, has(&[a, b, c, d]));
        }

        #[test]
        fn lasso_direction_and_start_do_not_matter(
            corners in prop::collection::vec(place(), 3..20),
            at in place(),
            by in 0usize..20,
        ) {
            let mut other = corners.clone();
            other.rotate_left(by % corners.len());
            other.reverse();
            prop_assert_eq!(Lasso::new(&corners).contains(at), Lasso::new(&other).contains(at));
        }
    }

    #[test]
    fn rectangles_include_edges_and_degenerate_lassos_are_empty() {
        let rectangle = Region::Rectangle(Rect::from_two_pos(pos2(1.0, 1.0), pos2(3.0, 2.0)));
        assert!(
            rectangle.contains(pos2(1.0, 1.0))
                && rectangle.contains(pos2(3.0, 2.0))
                && !rectangle.contains(pos2(3.001, 2.0))
        );
        for corners in [
            &[][..],
            &[pos2(1.0, 1.0)],
            &[pos2(1.0, 1.0), pos2(4.0, 3.0)],
            &[pos2(1.0, 1.0), pos2(4.0, 1.0), pos2(2.0, 1.0)],
        ] {
            assert!(!Lasso::new(corners).contains(pos2(1.0, 1.0)), "{corners:?}");
        }
        // An outline drawn twice still encloses its inside.
        let square = [pos2(0.0, 0.0), pos2(4.0, 0.0), pos2(4.0, 4.0), pos2(0.0, 4.0)];
        let twice = Lasso::new(&[square, square].concat());
        assert!(twice.contains(pos2(2.0, 2.0)) && !twice.contains(pos2(5.0, 2.0)));
    }
}

//! Picking, by pointer or by region: screen positions, regions, and the requests made with them.

use std::collections::HashSet;
use std::sync::Arc;

use egui::{Pos2, Rect};

use crate::app::model::camera::{PlaneCamera, Scene, SpaceCamera, place};
use crate::app::model::how::How;
use crate::app::model::pane::PaneKind;
use crate::cloud::PointCloud;
use crate::cloud::formats::{Cell, Records};
use crate::export::table::Table;
use crate::run::RunRecord;

/// What is on the screen, and from where it is seen.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The camera, and the pane it belongs to.
    pub eye: Eye,
    pub scene: Scene,
    /// Whose queries a file of queries holds.
    pub record: Option<Arc<RunRecord>>,
}

/// All rows of a region of the screen.
#[derive(Clone, Debug)]
pub struct Within {
    pub sight: Sight,
    pub region: Region,
}

/// What a drag with the first button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tool {
    #[default]
    Move,
    /// Selects what is in a rectangle.
    Rectangle,
    /// Selects what it goes around.
    Lasso,
}

impl Tool {
    /// All, as the buttons show them.
    pub const ALL: [Self; 3] = [Self::Move, Self::Rectangle, Self::Lasso];
}

/// Why a point is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To be the query.
    Query,
    Select(How),
    /// To be shown large with its neighbours; empty ground shows everything.
    Focus,
    /// To be told about.
    Hover,
}

/// What panes ask for.
#[derive(Clone, Debug)]
pub enum PickAction {
    /// The point under the pointer.
    At {
        /// The camera when the pointer was there.
        eye: Eye,
        /// In points, from the window's corner.
        pointer: Pos2,
        purpose: Purpose,
    },
    /// All points in a region are selected.
    Within {
        /// The camera when the region was drawn.
        eye: Eye,
        region: Region,
        how: How,
    },
    /// What a drag means from now on.
    Tool(Tool),
}

// What a file has of points beside their coordinates.

/// The other columns of some rows, or why they cannot be had.
pub type Found = Result<Others, String>;

/// What the file has of some rows beside their coordinates.
#[derive(Clone, Debug)]
pub struct Beside {
    /// The cloud that `rows` index.
    pub cloud: Arc<PointCloud>,
    pub rows: Vec<u32>,
    /// In the same order.
    pub found: Arc<Found>,
}

impl Beside {
    /// Whether it is of these rows.
    pub fn is_of(&self, cloud: &Arc<PointCloud>, rows: &[u32]) -> bool {
        Arc::ptr_eq(&self.cloud, cloud) && self.rows == rows
    }

    /// What was found, if anything was.
    pub fn others(&self) -> Option<&Others> {
        self.found.as_ref().as_ref().ok()
    }

    /// A table of these rows, with these columns too: of numbers, where these rows have nothing else.
    pub fn with<'a>(&'a self, table: Table<'a>) -> Table<'a> {
        let number = |cell: &Cell| if let Cell::Number(value) = cell { Some(*value) } else { None };
        let text = |cell: &Cell| match cell {
            Cell::Number(value) => Some(value.to_string()),
            Cell::Text(text) => Some(text.clone()),
            Cell::Missing => None,
        };
        let columns = self.others().map_or(&[][..], |others| &others.columns).iter().enumerate();
        columns.fold(table, |table, (column, name)| {
            let cells = (0..self.rows.len()).filter_map(|place| self.cell(place, column));
            if cells.clone().all(|cell| !matches!(cell, Cell::Text(_))) {
                table.with(name, move |place| self.cell(place, column).and_then(number))
            } else {
                table.with(name, move |place| self.cell(place, column).and_then(text))
            }
        })
    }

    /// What one of these columns has for one of the rows.
    pub fn cell(&self, place: usize, column: usize) -> Option<&Cell> {
        self.others()?.rows.get(place)?.get(column)
    }
}

// Where rows are on the screen, for Plane and Space alike.

/// A pane's camera and the axes that it looks along.
#[derive(Clone, Copy, Debug)]
pub enum Eye {
    /// Plane's camera, and its axes: right, up.
    Plane(PlaneCamera, [usize; 2]),
    /// Space's camera, and its axes: x, y, up.
    Space(SpaceCamera, [usize; 3]),
}

/// How far a row is from the pointer, in points of the screen, and how deep behind it; the least is meant by
/// a click.
pub type Far = (f64, f64);

impl Eye {
    pub fn pane(&self) -> PaneKind {
        match self {
            Self::Plane(..) => PaneKind::Plane,
            Self::Space(..) => PaneKind::Space,
        }
    }

    /// Where a row is on the screen; `None` behind the eye.
    pub fn screen(&self, cloud: &PointCloud, row: usize) -> Option<Pos2> {
        match self {
            Self::Plane(camera, axes) => Some(camera.screen(place(cloud, row, *axes))),
            Self::Space(camera, axes) => camera.screen(place(cloud, row, *axes)).map(|(screen, _)| screen),
        }
    }

    /// How far rows of a cloud are from the pointer; `None` behind the eye, outside the pane, or beyond
    /// `reach`.
    pub fn far<'a>(
        &'a self,
        cloud: &'a PointCloud,
        pointer: Pos2,
        reach: f64,
    ) -> Box<dyn Fn(usize) -> Option<Far> + Sync + 'a> {
        /// Points of the screen around the pointer in which the row nearest to the eye is meant.
        const NEAR: f64 = 4.0;
        /// Points of the screen beyond the pane's edges at which a row's dot may still be seen within.
        const EDGE: f32 = 4.0;
        match self {
            Self::Plane(camera, axes) => {
                // In local coordinates, which keep their digits in a deep zoom.
                let (at, unit) = (camera.place(pointer), camera.window.units_per_point);
                let most = (reach * unit).powi(2);
                let [right, up] = [camera.rect.width(), camera.rect.height()]
                    .map(|side| f64::from(side / 2.0 + EDGE) * unit);
                let center = camera.window.center;
                Box::new(move |row| {
                    let [x, y] = place(cloud, row, *axes);
                    let squared = (x - at[0]).powi(2) + (y - at[1]).powi(2);
                    let there =
                        squared <= most && (x - center[0]).abs() <= right && (y - center[1]).abs() <= up;
                    there.then(|| (squared.sqrt() / unit, 0.0))
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

// What of a file's records stands beside points: the columns that are no axes, and of these as many as there
// is room for.

/// Cells and names that are kept of a file: more than a hundred columns of as many neighbours as there can
/// be.
pub const MOST: usize = 1 << 17;

/// The columns that are no axes, of some rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Others {
    /// Their names, in the file's order; the first of them, where all would be more than [`MOST`].
    pub columns: Vec<String>,
    /// A cell for each of these, for each row.
    pub rows: Vec<Vec<Cell>>,
    /// How many the file has.
    pub total: usize,
}

impl Others {
    /// What records of a cloud's file have beside its axes, no more than [`MOST`].
    pub fn of(cloud: &PointCloud, records: Records) -> Self {
        Self::first(cloud, records, MOST)
    }

    /// The same of all columns.
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
        // Rows of their own: what is left of one in place would keep the room of its coordinates.
        let row = |mut cells: Vec<Cell>| {
            others.iter().map(|&at| std::mem::replace(&mut cells[at], Cell::Missing)).collect()
        };
        Self { columns, rows: records.rows.into_iter().map(row).collect(), total }
    }

    /// Cells and names that it takes.
    pub fn size(&self) -> usize {
        self.columns.len() * (self.rows.len() + 1)
    }
}

// Regions of the screen.

/// Part of a pane, in points of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Region {
    /// Its edges are included.
    Rectangle(Rect),
    Lasso(Lasso),
}

impl Region {
    /// Whether a place belongs to it.
    pub fn contains(&self, place: Pos2) -> bool {
        match self {
            Self::Rectangle(rect) => rect.contains(place),
            Self::Lasso(lasso) => lasso.contains(place),
        }
    }
}

/// A closed outline. What it goes around any number of times, in either sense, is inside: a lasso that
/// crosses itself has no holes but those that it goes around once each way.
///
/// Of places on the outline exactly, those on its left side are inside and those on its right are not, so
/// that two lassos side by side never share a point, and never lose one between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Lasso {
    bounds: Rect,
    /// Bands of equal height from top to bottom, each with the edges that cross it.
    bands: Vec<Vec<[Pos2; 2]>>,
}

impl Lasso {
    /// From its corners; fewer than three enclose nothing.
    pub fn new(corners: &[Pos2]) -> Self {
        let bounds = Rect::from_points(corners);
        let count = corners.len().clamp(1, 256);
        let mut lasso = Self { bounds, bands: vec![Vec::new(); count] };
        for (&from, &to) in corners.iter().zip(corners.iter().cycle().skip(1)) {
            // Horizontal edges are crossed by no horizontal ray.
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

    /// Whether a place is inside.
    pub fn contains(&self, place: Pos2) -> bool {
        if !self.bounds.contains(place) {
            return false;
        }
        // How often, and in which sense, the outline crosses the ray that goes to the right.
        let crossings = self.bands[self.band(place.y)].iter().map(|&[from, to]| {
            let down = from.y <= place.y && place.y < to.y;
            let up = to.y <= place.y && place.y < from.y;
            if !down && !up {
                return 0;
            }
            let (from, to) = if down { (from, to) } else { (to, from) };
            // In f64, products and differences of f32 are exact enough to be the same for both neighbours of
            // an edge.
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
    fn axes_are_not_kept_nor_more_than_there_is_room_for() {
        let (axes, total, rows) = (3000, 3000, 1024);
        let name = |at: usize| Column { name: format!("c{at}") };
        let table = Table { columns: (0..axes).map(|at| name(2 * at)).collect(), values: vec![0.5; axes] };
        let cloud = PointCloud::from_table(table, Source::Coordinates("0.5".to_owned()), None, false)
            .expect("a cloud");
        let columns: Vec<String> = (0..axes + total).map(|at| name(at).name).collect();
        let row =
            |row: usize| (0..columns.len()).map(|at| Cell::Number((row * 10_000 + at) as f64)).collect();
        let others =
            Others::of(&cloud, Records { columns: columns.clone(), rows: (0..rows).map(row).collect() });
        assert_eq!((others.total, others.columns.len()), (total, 127));
        assert!(others.size() <= MOST && others.rows.len() == rows);
        assert!(others.rows.iter().all(|row| row.capacity() == 127), "without the room of the axes");
        assert_eq!((&*others.columns[126], &others.rows[1023][126]), ("c253", &Cell::Number(10_230_253.0)));
        let one = Others::of(&cloud, Records { columns: columns.clone(), rows: vec![row(7)] });
        assert_eq!(
            (one.columns.len(), one.size(), &one.rows[0][2999]),
            (total, 2 * total, &Cell::Number(75_999.0))
        );
    }

    fn place() -> impl Strategy<Value = Pos2> {
        // On a grid, so that many places lie on outlines.
        (0..24i32, 0..24i32).prop_map(|(x, y)| pos2(x as f32, y as f32))
    }

    /// By the angles under which the corners are seen.
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
        // Three of four quadrilaterals are not convex, and are drawn again.
        #![proptest_config(ProptestConfig { max_global_rejects: 1 << 16, ..ProptestConfig::default() })]

        #[test]
        fn a_place_inside_is_gone_around(
            corners in prop::collection::vec(place(), 3..40),
            x in 0..24i32,
            y in 0..24i32,
        ) {
            // Half-way between grid lines, off every corner; outlines may still pass through.
            let place = pos2(x as f32 + 0.37, y as f32 + 0.41);
            let on_edge = corners.iter().zip(corners.iter().cycle().skip(1)).any(|(a, b)| {
                ((b.x - a.x) * (place.y - a.y) - (b.y - a.y) * (place.x - a.x)).abs() < 1e-3
            });
            prop_assume!(!on_edge);
            prop_assert_eq!(Lasso::new(&corners).contains(place), winds(&corners, place));
        }

        #[test]
        fn two_side_by_side_share_nothing_and_lose_nothing(
            a in place(),
            b in place(),
            c in place(),
            d in place(),
            at in place(),
        ) {
            // A convex quadrilateral and its two halves; also for places on the diagonal.
            let cross = |o: Pos2, p: Pos2, q: Pos2| (p - o).x * (q - o).y - (p - o).y * (q - o).x;
            let signs = [cross(a, b, c), cross(b, c, d), cross(c, d, a), cross(d, a, b)];
            prop_assume!(signs.iter().all(|sign| *sign > 0.0) || signs.iter().all(|sign| *sign < 0.0));
            let has = |corners: &[Pos2]| Lasso::new(corners).contains(at);
            let (one, other) = (has(&[a, b, c]), has(&[c, d, a]));
            prop_assert!(!(one && other));
            prop_assert_eq!(one || other, has(&[a, b, c, d]));
        }

        #[test]
        fn the_sense_and_the_first_corner_do_not_matter(
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
    fn rectangles_have_their_edges_and_nothing_encloses_nothing() {
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
        // Twice around is not outside.
        let square = [pos2(0.0, 0.0), pos2(4.0, 0.0), pos2(4.0, 4.0), pos2(0.0, 4.0)];
        let twice = Lasso::new(&[square, square].concat());
        assert!(twice.contains(pos2(2.0, 2.0)) && !twice.contains(pos2(5.0, 2.0)));
    }
}

//! A [`Drawing`] of a moment, with hit targets and things to track from one picture to the next.

use std::ops::{Deref, DerefMut, Range};

use super::Panel;
use super::pen::line;
pub use crate::draw::{Area, Drawing, Font, Ink, Paint, Point, Shape, StrokeStyle};
use crate::engines::lockstep::Key;

/// Shapes and hit areas of a picture. It dereferences to its drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Its shapes; files contain only these.
    pub drawing: Drawing,
    /// Hit areas from back to front: the last one under the pointer wins.
    pub spots: Vec<HitArea>,
    /// The maps on which query and points can be moved.
    pub maps: Vec<Map>,
    /// Things to track from one scene to the next.
    pub tracked: Vec<TrackedShapes>,
}

impl Deref for Scene {
    type Target = Drawing;

    fn deref(&self) -> &Drawing {
        &self.drawing
    }
}

impl DerefMut for Scene {
    fn deref_mut(&mut self) -> &mut Drawing {
        &mut self.drawing
    }
}

/// A map in the picture, of points in a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Map {
    /// Its place in the picture.
    pub area: Area,
    /// The coordinates of the data at its top left corner; the second axis points up.
    pub corner: [f32; 2],
    /// Points of the picture for one unit of the data.
    pub scale: f32,
    /// Smallest and largest coordinates of the data, for each axis.
    pub bounds: [[f32; 2]; 2],
    /// The query's coordinates.
    pub query: [f32; 2],
    /// The part that a lens covers, where nothing can be dragged.
    pub lens: Option<Area>,
}

impl Map {
    /// Maps data coordinates to the picture.
    pub fn point(&self, [x, y]: [f32; 2]) -> Point {
        [self.area.x + (x - self.corner[0]) * self.scale, self.area.y + (self.corner[1] - y) * self.scale]
    }

    /// Maps the picture to data coordinates, clamped to their bounds, so that nothing is dragged off the map.
    pub fn coordinates(&self, [x, y]: Point) -> [f32; 2] {
        let at = [
            self.corner[0] + (x - self.area.x) / self.scale,
            self.corner[1] - (y - self.area.y) / self.scale,
        ];
        self.within(at)
    }

    /// The nearest coordinates within the bounds of the data.
    pub fn within(&self, at: [f32; 2]) -> [f32; 2] {
        [0, 1].map(|axis| at[axis].clamp(self.bounds[axis][0], self.bounds[axis][1]))
    }
}

/// A hit area and its target.
#[derive(Clone, Debug, PartialEq)]
pub struct HitArea {
    /// Bounds in the picture.
    pub area: Area,
    /// Its target.
    pub target: Target,
}

/// An object of the search that can be hovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A lane, or its bit in the ballot; a bucket of radix select.
    Lane(u32),
    /// A slot of the candidate buffer.
    Slot(u32),
    /// An element of the registers.
    Element(u32),
    /// A key of the lanes' queues, by element.
    Queued(u32),
    /// The comparator of the current layer with this lower element.
    Comparator(u32),
    /// A data point, by its position in processing order.
    Point(u32),
    /// A line of the pseudocode, from 0.
    CodeLine(usize),
    /// A position in the recording: a merge on the convergence curve, a layer of the network.
    Position(usize),
}

impl Scene {
    /// A scene without shapes, of a size in points.
    pub fn new(width: f32, height: f32) -> Self {
        Drawing::new(width, height).into()
    }

    /// Adds a hit area.
    pub(crate) fn spot(&mut self, area: Area, target: Target) {
        self.spots.push(HitArea { area, target });
    }

    /// Frames the hovered target.
    pub(crate) fn hovered(&mut self, area: Area) {
        self.rect(area.inner(0.5), 2.0, None, Some(line(Ink::Text, 1.8)));
    }

    /// The topmost target at a point.
    pub fn target_at(&self, point: Point) -> Option<Target> {
        self.spots.iter().rev().find(|spot| spot.area.contains(point)).map(|spot| spot.target)
    }

    /// Draws another scene on top, with its top left corner at `at`.
    pub fn put(&mut self, scene: Self, at: Point) {
        let first = self.drawing.put(scene.drawing, at);
        self.tracked.extend(scene.tracked.into_iter().map(|thing| thing.put(first, at)));
        self.spots
            .extend(scene.spots.into_iter().map(|spot| HitArea { area: spot.area.shifted(at), ..spot }));
        self.maps.extend(scene.maps.into_iter().map(|map| Map {
            area: map.area.shifted(at),
            lens: map.lens.map(|lens| lens.shifted(at)),
            ..map
        }));
    }
}

impl From<Drawing> for Scene {
    fn from(drawing: Drawing) -> Self {
        Self { drawing, ..Self::default() }
    }
}

// Shapes of a scene that are one thing, tracked to the next scene.

/// Shapes that form one thing, which is tracked to the next scene.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedShapes {
    /// What it is.
    pub id: TrackKey,
    /// The indices of its shapes in the scene.
    pub shapes: Range<usize>,
    /// Its area.
    pub area: Area,
    /// How it moves.
    pub transition: Transition,
    /// The panel that shows it.
    pub frame: Option<Frame>,
}

/// The identity of a thing across scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TrackKey {
    /// What it represents.
    pub id: TrackId,
    /// Distinguishes things with the same key that are tracked separately, such as in different heaps.
    pub instance: usize,
}

/// What a thing represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrackId {
    /// A point's key, in a cell of some kind. Padding is not tracked: all padding is equal.
    Key(Key),
    /// A circle around the query, by number.
    Bound(usize),
    /// A curve, by number.
    Curve(usize),
}

/// How a thing moves or changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Transition {
    /// On an arc to its left, so that opposite things do not collide.
    Arc,
    /// Through these points.
    Path(Vec<Point>),
    /// Its lengths change: it grows, shrinks or bends.
    Morph,
}

/// The frame of a panel. Things are not tracked across frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The panel.
    pub panel: Panel,
    /// Its column, if several recordings are side by side.
    pub column: usize,
    /// Its bounds in the scene.
    pub area: Area,
}

impl TrackKey {
    /// The identity of a thing that a panel shows only once.
    pub fn new(id: TrackId) -> Self {
        Self { id, instance: 0 }
    }
}

impl TrackedShapes {
    /// Moves it into a larger scene, in which its shapes start at an index and its origin is at a point.
    pub(crate) fn put(self, first: usize, at: Point) -> Self {
        let transition = match self.transition {
            Transition::Path(through) => {
                Transition::Path(through.into_iter().map(|[x, y]| [x + at[0], y + at[1]]).collect())
            }
            transition => transition,
        };
        let shapes = self.shapes.start + first..self.shapes.end + first;
        let frame = self.frame.map(|frame| Frame { area: frame.area.shifted(at), ..frame });
        Self { shapes, area: self.area.shifted(at), transition, frame, ..self }
    }

    /// What it is and which panel shows it.
    pub(crate) fn identity(&self) -> (TrackKey, Option<(Panel, usize)>) {
        (self.id, self.frame.map(|frame| (frame.panel, frame.column)))
    }
}

impl Scene {
    /// Draws a thing that is tracked from one scene to the next. If several share an id, the one drawn last
    /// is tracked.
    pub(crate) fn track(
        &mut self,
        id: TrackKey,
        area: Area,
        transition: Transition,
        draw: impl FnOnce(&mut Self),
    ) {
        let first = self.shapes.len();
        draw(self);
        self.tracked.push(TrackedShapes {
            id,
            shapes: first..self.shapes.len(),
            area,
            transition,
            frame: None,
        });
    }

    /// Assigns a panel to the things that have none.
    pub(crate) fn framed(&mut self, panel: Panel) {
        let frame = Frame {
            panel,
            column: 0,
            area: Area { x: 0.0, y: 0.0, width: self.size[0], height: self.size[1] },
        };
        for thing in &mut self.tracked {
            thing.frame.get_or_insert(frame);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::scene::{TrackId, TrackKey, Transition};

    #[test]
    fn embedded_scenes_keep_their_shapes_and_spots() {
        let mut scene = Scene::new(10.0, 5.0);
        let area = Area { x: 1.0, y: 2.0, width: 3.0, height: 1.0 };
        scene.shapes.push(Shape::Rect { area, round: 0.0, fill: Some(Ink::Text.into()), line: None });
        scene.spots.push(HitArea { area, target: Target::Lane(3) });
        let mut page = Scene::new(100.0, 100.0);
        page.spots.push(HitArea {
            area: Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 },
            target: Target::Point(9),
        });
        scene.track(TrackKey::new(TrackId::Bound(0)), area, Transition::Arc, |scene| {
            scene.shapes.push(Shape::Clip(None))
        });
        page.shapes.push(Shape::Clip(None));
        page.put(scene, [20.0, 30.0]);
        page.shapes.remove(0);
        assert_eq!((page.tracked[0].shapes.clone(), page.tracked[0].area.x), (3..4, 21.0));
        let moved = Area { x: 21.0, y: 32.0, width: 3.0, height: 1.0 };
        assert_eq!(page.shapes[0], Shape::Clip(Some(Area { x: 20.0, y: 30.0, width: 10.0, height: 5.0 })));
        assert!(matches!(page.shapes[1], Shape::Rect { area, .. } if area == moved));
        assert_eq!(page.shapes[2], Shape::Clip(None));
        assert_eq!(page.target_at([22.0, 32.5]), Some(Target::Lane(3)), "the topmost target wins");
        assert_eq!(page.target_at([24.5, 32.5]), Some(Target::Point(9)));
        assert_eq!(page.target_at([100.5, 32.5]), None);
    }
}

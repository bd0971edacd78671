//! Shapes of a scene that are one thing, which is found again in the next scene.

use std::ops::Range;

use super::Panel;
use super::scene::{Area, Point, Scene};
use crate::engines::lockstep::Key;

/// Shapes that are one thing, which is found again in the next scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Thing {
    /// What it is.
    pub id: Id,
    /// Its shapes, as indices of the scene's.
    pub shapes: Range<usize>,
    /// Where it is.
    pub area: Area,
    /// How it gets there.
    pub way: Way,
    /// The panel that shows it.
    pub frame: Option<Frame>,
}

/// What is the same thing in two scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    /// What it stands for.
    pub what: What,
    /// Tells apart what has the same key and is followed separately, such as a lane's heap.
    pub part: usize,
}

/// What a thing stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// A point's key, in a cell of some kind. Padding is no thing: one cannot be told from another.
    Key(Key),
    /// A circle around the query, by number.
    Bound(usize),
    /// A curve, by number.
    Curve(usize),
}

/// How a thing gets from one place to another, or becomes what it is.
#[derive(Clone, Debug, PartialEq)]
pub enum Way {
    /// On an arc to its left, so that what comes the other way passes by.
    Past,
    /// Through these points.
    Along(Vec<Point>),
    /// Its lengths change: it grows, shrinks, or is bent.
    Becomes,
}

/// Where a panel lies. What is drawn in another frame is drawn anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The panel.
    pub panel: Panel,
    /// Its column, where several recordings are side by side.
    pub column: usize,
    /// Its bounds in the scene.
    pub area: Area,
}

impl Id {
    /// Of the only part.
    pub fn of(what: What) -> Self {
        Self { what, part: 0 }
    }
}

impl Thing {
    /// The same in a larger scene: its shapes begin at an index there, and its origin is at a point.
    pub(crate) fn put(self, first: usize, at: Point) -> Self {
        let way = match self.way {
            Way::Along(through) => Way::Along(through.into_iter().map(|[x, y]| [x + at[0], y + at[1]]).collect()),
            way => way,
        };
        let shapes = self.shapes.start + first..self.shapes.end + first;
        let frame = self.frame.map(|frame| Frame { area: frame.area.shifted(at), ..frame });
        Self { shapes, area: self.area.shifted(at), way, frame, ..self }
    }

    /// What it is and which panel shows it.
    pub(crate) fn place(&self) -> (Id, Option<(Panel, usize)>) {
        (self.id, self.frame.map(|frame| (frame.panel, frame.column)))
    }
}

impl Scene {
    /// Draws a thing that is followed from one scene to the next. Of several with an id, the next scene's come from the one drawn last.
    pub(crate) fn thing(&mut self, id: Id, area: Area, way: Way, draw: impl FnOnce(&mut Self)) {
        let first = self.shapes.len();
        draw(self);
        self.things.push(Thing { id, shapes: first..self.shapes.len(), area, way, frame: None });
    }

    /// Notes which panel the things are of that do not say it yet.
    pub(crate) fn framed(&mut self, panel: Panel) {
        let frame = Frame { panel, column: 0, area: Area { x: 0.0, y: 0.0, width: self.size[0], height: self.size[1] } };
        for thing in &mut self.things {
            thing.frame.get_or_insert(frame);
        }
    }
}

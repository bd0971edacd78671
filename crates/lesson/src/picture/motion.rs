//! The motion from one scene to the next: things in both move from their old place to the new one.
//!
//! Panels only declare which of their shapes form a tracked thing ([`TrackedShapes`]). Motion follows from
//! the two scenes, so a thing always starts at its old place.

use std::collections::HashMap;
use std::ops::Range;

use super::Panel;
use super::scene::{Area, Drawing, Frame, Point, Scene, Shape, Target, TrackedShapes, Transition};

/// How long a motion takes, in seconds.
pub const SECONDS: f32 = 0.25;

/// With more moving things in a panel, motion is skipped: the eye could not follow.
pub(super) const MAX_MOVING: usize = 256;

/// Places closer than this are the same, in points.
const SAME: f32 = 0.25;

/// The gap between two things that swap places, relative to their size.
const CLEAR: f32 = 0.55;

/// The motion of some shapes of a scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    /// Indices of the shapes in the new scene.
    pub shapes: Range<usize>,
    /// Their origin.
    pub from: Origin,
}

/// The origin of shapes.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Other places: they start at the first offset, pass the others, and end at offset 0, bowing to their
    /// left by some points.
    Places {
        /// At least one offset.
        offsets: Vec<Point>,
        /// Largest deviation, half-way.
        bow: f32,
    },
    /// Other shapes, of the same kinds.
    Shapes(Vec<Shape>),
}

/// The motions from one scene to the next: of all things in both whose place, such as a slot or a register,
/// has changed.
pub fn motions(before: &Scene, after: &Scene) -> Vec<Motion> {
    let mut were: HashMap<_, Vec<&TrackedShapes>> = HashMap::new();
    for thing in &before.tracked {
        were.entry(thing.identity()).or_default().push(thing);
    }
    let mut moving: HashMap<Option<(Panel, usize)>, Vec<Motion>> = HashMap::new();
    for thing in &after.tracked {
        let Some(were) = were.get(&thing.identity()) else { continue };
        let Some(last) = were.last().filter(|last| is_same_frame(last.frame, thing.frame)) else { continue };
        let from = match thing.transition {
            Transition::Morph => {
                morph(&before.shapes[last.shapes.clone()], &after.shapes[thing.shapes.clone()])
            }
            _ if were.iter().any(|were| is_same_place((before, were), (after, thing))) => None,
            _ => Some(moved_from(last.area.center(), thing)),
        };
        if let Some(from) = from {
            moving.entry(thing.identity().1).or_default().push(Motion { shapes: thing.shapes.clone(), from });
        }
    }
    let mut all: Vec<Motion> =
        moving.into_values().filter(|moving| moving.len() <= MAX_MOVING).flatten().collect();
    all.sort_unstable_by_key(|motion| motion.shapes.start);
    all
}

fn is_same_frame(a: Option<Frame>, b: Option<Frame>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => {
            let far = [
                a.area.x - b.area.x,
                a.area.y - b.area.y,
                a.area.width - b.area.width,
                a.area.height - b.area.height,
            ];
            far.iter().all(|far| far.abs() < SAME)
        }
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// Whether a thing kept its place, even if the panel now draws that place elsewhere.
fn is_same_place((before, was): (&Scene, &TrackedShapes), (after, is): (&Scene, &TrackedShapes)) -> bool {
    let [a, b] = [was.area.center(), is.area.center()];
    // A point is a thing, not a place.
    let place =
        |scene: &Scene, at: Point| scene.target_at(at).filter(|target| !matches!(target, Target::Point(_)));
    is_near(a, b)
        || is.transition == Transition::Arc
            && place(before, a).is_some_and(|was| place(after, b) == Some(was))
}

fn is_near(a: Point, b: Point) -> bool {
    (a[0] - b[0]).abs() < SAME && (a[1] - b[1]).abs() < SAME
}

/// The motion of a thing whose centre has moved.
fn moved_from(from: Point, thing: &TrackedShapes) -> Origin {
    let to = thing.area.center();
    let by = |[x, y]: Point| [x - to[0], y - to[1]];
    let [dx, dy] = by(from);
    match &thing.transition {
        Transition::Path(through) => Origin::Places {
            offsets: std::iter::once(&from).chain(through).map(|&point| by(point)).collect(),
            bow: 0.0,
        },
        _ => {
            let far = dx.hypot(dy);
            // Proportional to the thing's extent across its path; less on a short path, which would otherwise
            // bend too much.
            let across = (dx.abs() * thing.area.height + dy.abs() * thing.area.width) / far;
            Origin::Places { offsets: vec![[dx, dy]], bow: (across * CLEAR).min(far / 2.0) }
        }
    }
}

/// The motion of shapes whose lengths have changed; `None` if they are equal or of other kinds.
fn morph(before: &[Shape], after: &[Shape]) -> Option<Origin> {
    let alike = before.len() == after.len()
        && before.iter().zip(after).all(|(before, after)| is_alike(before, after));
    let moved = |(before, after): (&Shape, &Shape)| between(after, before, 0.0) != *after;
    (alike && before.iter().zip(after).any(moved)).then(|| Origin::Shapes(before.to_vec()))
}

/// Whether a shape can become another one.
fn is_alike(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Rect { .. }, Shape::Rect { .. }) | (Shape::Text { .. }, Shape::Text { .. }) => true,
        (Shape::Dots { centers: a, .. }, Shape::Dots { centers: b, .. })
        | (Shape::Path { points: a, .. }, Shape::Path { points: b, .. })
        | (Shape::Polygon { corners: a, .. }, Shape::Polygon { corners: b, .. }) => a.len() == b.len(),
        _ => false,
    }
}

/// A shape between two shapes, with the colours of the new one. At `part` 1 it is exactly the new shape.
fn between(shape: &Shape, from: &Shape, part: f32) -> Shape {
    let rest = 1.0 - part;
    let number = |to: f32, from: f32| to + (from - to) * rest;
    let mut shape = shape.clone();
    match (&mut shape, from) {
        (Shape::Rect { area, round, .. }, Shape::Rect { area: was, round: was_round, .. }) => {
            *area = Area {
                x: number(area.x, was.x),
                y: number(area.y, was.y),
                width: number(area.width, was.width),
                height: number(area.height, was.height),
            };
            *round = number(*round, *was_round);
        }
        (Shape::Dots { centers: points, radius, .. }, Shape::Dots { centers: were, radius: was, .. }) => {
            *radius = number(*radius, *was);
            points
                .iter_mut()
                .zip(were)
                .for_each(|(point, was)| *point = [0, 1].map(|axis| number(point[axis], was[axis])));
        }
        (Shape::Path { points, .. }, Shape::Path { points: were, .. })
        | (Shape::Polygon { corners: points, .. }, Shape::Polygon { corners: were, .. }) => {
            points
                .iter_mut()
                .zip(were)
                .for_each(|(point, was)| *point = [0, 1].map(|axis| number(point[axis], was[axis])));
        }
        (Shape::Text { at, .. }, Shape::Text { at: was, .. }) => {
            *at = [0, 1].map(|axis| number(at[axis], was[axis]))
        }
        _ => {}
    }
    shape
}

impl Origin {
    /// The shapes at a fraction of the motion, from 0 to 1.
    pub fn shapes(&self, shapes: &[Shape], part: f32) -> Vec<Shape> {
        match self {
            Self::Shapes(were) => {
                shapes.iter().zip(were).map(|(shape, was)| between(shape, was, part)).collect()
            }
            Self::Places { offsets, bow } => {
                let by = offset(offsets, *bow, part);
                let moved = |shape: &Shape| {
                    let mut shape = shape.clone();
                    shape.shift(by);
                    shape
                };
                shapes.iter().map(moved).collect()
            }
        }
    }
}

/// The offset at a fraction of a path with corners, at constant speed.
pub fn offset(offsets: &[Point], bow: f32, part: f32) -> Point {
    let end = [0.0, 0.0];
    let corners: Vec<Point> = offsets.iter().copied().chain([end]).collect();
    let length = |pair: &[Point]| (pair[1][0] - pair[0][0]).hypot(pair[1][1] - pair[0][1]);
    let mut left = corners.windows(2).map(length).sum::<f32>() * (1.0 - part);
    let mut at = end;
    // Computed from the end, so that the end is exact.
    for pair in corners.windows(2).rev() {
        let long = length(pair);
        let share = if long > 0.0 { (left / long).min(1.0) } else { 0.0 };
        at = [0, 1].map(|axis| pair[1][axis] + (pair[0][axis] - pair[1][axis]) * share);
        left -= long;
        if left <= 0.0 {
            break;
        }
    }
    // To the left of its direction, with y downwards.
    let [x, y] = corners[0];
    let deviation = 4.0 * part * (1.0 - part) * bow / x.hypot(y).max(1e-6);
    [at[0] - y * deviation, at[1] + x * deviation]
}

/// The fraction of the path at a time, both from 0 to 1, with a smooth start and end.
pub fn eased(time: f32) -> f32 {
    let time = time.clamp(0.0, 1.0);
    time * time * (3.0 - 2.0 * time)
}

/// A scene with things in motion.
#[derive(Clone, Debug)]
pub struct MovingScene {
    still: Drawing,
    parts: Vec<MovingShapes>,
}

/// Moving shapes, their clip areas, and their origins.
#[derive(Clone, Debug)]
struct MovingShapes {
    clip: Option<Area>,
    shapes: Vec<Shape>,
    from: Origin,
}

impl MovingScene {
    /// The motion from one scene to the next; `None` if nothing moves.
    pub fn between(before: &Scene, after: &Scene) -> Option<Self> {
        let motions = motions(before, after);
        if motions.is_empty() {
            return None;
        }
        let (mut shapes, mut parts) =
            (Vec::with_capacity(after.shapes.len()), Vec::with_capacity(motions.len()));
        let (mut clip, mut at) = (None, 0);
        let mut stay = |from: usize, to: usize, clip: &mut Option<Area>| {
            for shape in &after.shapes[from..to] {
                if let Shape::Clip(area) = shape {
                    *clip = *area;
                }
                shapes.push(shape.clone());
            }
        };
        for Motion { shapes: range, from } in motions {
            stay(at, range.start, &mut clip);
            parts.push(MovingShapes { clip, shapes: after.shapes[range.clone()].to_vec(), from });
            at = range.end;
        }
        stay(at, after.shapes.len(), &mut clip);
        Some(Self { still: Drawing { shapes, size: after.size, ..Drawing::default() }, parts })
    }

    /// The still shapes.
    pub fn still(&self) -> &Drawing {
        &self.still
    }

    /// The moving shapes at a time from 0 (old place) to 1 (new place), drawn on top of the still ones.
    pub fn parts(&self, time: f32) -> Drawing {
        let part_of_way = eased(time);
        let mut scene = Drawing { size: self.still.size, ..Drawing::default() };
        let mut clipped = None;
        for MovingShapes { clip, shapes, from } in &self.parts {
            if clipped != *clip {
                scene.shapes.push(Shape::Clip(*clip));
                clipped = *clip;
            }
            scene.shapes.extend(from.shapes(shapes, part_of_way));
        }
        scene.shapes.push(Shape::Clip(None));
        scene
    }

    /// All shapes at a time.
    pub fn at(&self, time: f32) -> Drawing {
        let mut scene = self.still.clone();
        scene.shapes.append(&mut self.parts(time).shapes);
        scene
    }
}

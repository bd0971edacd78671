//! The points, the query, and the circle of `max_distance`, in the plane of the first two axes.

use super::View;
use super::moment::{nearest, vote};
use super::pen::{ROW, area, faint, fit, line, sans, width};
use super::scene::{Area, Font, Ink, Place, Scene, Target};
use crate::engines::lockstep::index_of;
use crate::knn::Problem;
use crate::lesson::step::Step;
use crate::text::thousands;

/// The most points that are drawn.
const MOST: usize = 20_000;

/// The most earlier candidates that are drawn.
const EARLIER: usize = 512;

/// Chooses the points that are drawn, where they are too many.
const SEED: u64 = 0x5eed;

/// Draws the part.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = Scene::new(wide, high);
    let text = view.text;
    let (cursor, state) = (view.cursor, view.cursor.state());
    let problem = cursor.recording().problem();
    let parameters = &cursor.recording().parameters;
    let mut room = area(0.0, 0.0, wide, high);
    let title = room.take_top(text * 1.6);
    let note = room.take_bottom(text * ROW);
    let kinds = room.take_bottom(text * ROW);
    let plane = Plane::new(problem, &parameters.query, room);
    let shown = shown(problem.n());
    scene.label(title, 0.0, sans(text, Ink::Text), &heading(problem, shown.len()));
    scene.rect(plane.area, 0.0, Some(Ink::Canvas.into()), Some(line(Ink::Line, 1.0)));
    scene.shapes.push(super::scene::Shape::Clip(Some(plane.area)));

    // All points: those to come fainter than those that were met.
    let radius = (text * 0.16 * (2000.0 / shown.len() as f32).powf(0.25)).clamp(0.6, text * 0.2);
    let seen = state.counts.points_seen;
    let (met, to_come): (Vec<u32>, Vec<u32>) = shown.iter().partition(|&&point| point < seen);
    scene.dots(to_come.iter().map(|&point| plane.place(problem, point)).collect(), radius, Some(faint(Ink::Point, 0.45)), None);
    scene.dots(met.iter().map(|&point| plane.place(problem, point)).collect(), radius, Some(faint(Ink::Point, 1.0)), None);
    for &point in &shown {
        plane.spot(&mut scene, problem, point, radius.max(3.0));
    }

    // Earlier candidates: the longer ago, the fainter.
    let earlier = earlier(view);
    const SHADES: usize = 6;
    for (shade, points) in earlier.chunks(EARLIER / SHADES + 1).enumerate().rev() {
        let opacity = 0.65 * (1.0 - shade as f32 / SHADES as f32);
        let places = points.iter().map(|&point| plane.place(problem, point)).collect();
        scene.dots(places, radius * 1.4, Some(faint(Ink::Candidate, opacity)), None);
    }
    // What waits in the buffer, and the best so far.
    let waiting: Vec<u32> =
        state.buffer[..state.buffered as usize].iter().map(|&key| index_of(key)).filter(|&point| (point as usize) < problem.n()).collect();
    let merging = matches!(state.stage, crate::lesson::state::Stage::Sort | crate::lesson::state::Stage::Merge);
    if !merging {
        plane.marked(&mut scene, problem, &waiting, radius * 1.9, Ink::Buffer);
    }
    let best: Vec<u32> = nearest(cursor).into_iter().map(index_of).collect();
    plane.marked(&mut scene, problem, &best, radius * 1.9, Ink::Neighbor);

    // The group that is being filtered.
    let mut group = (0, 0);
    if let Some(vote) = vote(view.cursor).filter(|_| !merging) {
        let (mut accepted, mut rejected, mut undecided) = (Vec::new(), Vec::new(), Vec::new());
        for lane in 0..state.shape.width {
            let point = vote.base + lane;
            if point as usize >= problem.n() {
                continue;
            }
            match vote.mask {
                None => undecided.push(point),
                Some(mask) if mask >> lane & 1 == 1 => accepted.push(point),
                Some(_) if vote.asked >> lane & 1 == 1 => rejected.push(point),
                Some(_) => {}
            }
        }
        let ring = |points: &[u32]| -> Vec<Place> { points.iter().map(|&point| plane.place(problem, point)).collect() };
        scene.dots(ring(&undecided), radius * 2.2, None, Some(line(Ink::Text, text * 0.1)));
        scene.dots(ring(&rejected), radius * 2.2, Some(Ink::Canvas.into()), Some(line(Ink::Rejected, text * 0.13)));
        scene.dots(ring(&accepted), radius * 2.4, Some(Ink::Candidate.into()), Some(line(Ink::Canvas, 1.0)));
        group = (accepted.len(), rejected.len());
        for &point in undecided.iter().chain(&rejected).chain(&accepted) {
            plane.spot(&mut scene, problem, point, radius * 2.4);
        }
    }

    plane.bound(&mut scene, problem, &parameters.query, state.max_distance, text);
    plane.query(&mut scene, &parameters.query, text);
    if let Some(Target::Point(point)) = view.hover
        && (point as usize) < problem.n()
    {
        scene.dots(vec![plane.place(problem, point)], radius * 3.4, None, Some(line(Ink::Text, 2.0)));
    }
    scene.shapes.push(super::scene::Shape::Clip(None));

    legend(&mut scene, kinds, text, view, group, best.len(), if merging { 0 } else { waiting.len() });
    scene.label(note, 0.0, sans(text * 0.85, Ink::TextWeak), &words(view, problem));
    scene
}

fn heading(problem: &Problem, drawn: usize) -> String {
    let (n, d) = (problem.n(), problem.dims());
    let axes = match d {
        1 => "on their only axis".to_owned(),
        2 => "in the plane".to_owned(),
        _ => format!("axes 1 and 2 of {d}"),
    };
    if drawn == n {
        format!("{} points, {axes}", thousands(n as u64))
    } else {
        format!("{} of {} points, drawn at random, {axes}", thousands(drawn as u64), thousands(n as u64))
    }
}

/// What the circle is, or why there is none; or the point under the pointer.
fn words(view: &View<'_>, problem: &Problem) -> String {
    let (state, recording) = (view.cursor.state(), view.cursor.recording());
    if let Some(Target::Point(point)) = view.hover
        && (point as usize) < problem.n()
    {
        let base = point - point % state.shape.width;
        let distance = recording.distances(base)[(point - base) as usize];
        return format!(
            "Point {} (row {}): squared distance {}, lane {} of its group",
            thousands(point.into()),
            thousands(problem.row(point).into()),
            super::pen::digits(distance, 3),
            point - base
        );
    }
    let bound = super::pen::digits(state.max_distance, 3);
    match problem.dims() {
        _ if state.max_distance.is_infinite() => "max_distance is still infinite: every point is a candidate".to_owned(),
        1 => format!("Bar: \u{221a}max_distance on both sides; max_distance = {bound}"),
        2 => format!("Circle: radius \u{221a}max_distance; max_distance = {bound}"),
        d => format!("max_distance = {bound}; no circle: distances are in all {d} dimensions"),
    }
}

/// All points, or a part of them, chosen by the seed.
fn shown(n: usize) -> Vec<u32> {
    if n <= MOST {
        return (0..n as u32).collect();
    }
    // Every point has a number of its own; those with the smallest ones are drawn.
    let mixed = |point: u32| {
        let mut bits = (u64::from(point) ^ SEED).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    };
    // Twice: first nearly as many as are wanted, so that few have to be put in order.
    let limit = (MOST as f64 * 1.1 / n as f64 * u64::MAX as f64) as u64;
    let mut chosen: Vec<(u64, u32)> = (0..n as u32).map(|point| (mixed(point), point)).filter(|(number, _)| *number < limit).collect();
    if chosen.len() > MOST {
        chosen.select_nth_unstable(MOST - 1);
        chosen.truncate(MOST);
    }
    let mut points: Vec<u32> = chosen.into_iter().map(|(_, point)| point).collect();
    points.sort_unstable();
    points
}

/// Earlier candidates, the latest first, without those of the last step.
fn earlier(view: &View<'_>) -> Vec<u32> {
    let steps = &view.cursor.recording().steps()[..view.cursor.position()];
    let appended = steps.iter().rev().filter_map(|step| match step {
        Step::Appended { placed } => Some(placed.iter().rev().map(|candidate| index_of(candidate.key))),
        _ => None,
    });
    appended.flatten().take(EARLIER).collect()
}

/// Where points are drawn.
struct Plane {
    area: Area,
    low: [f32; 2],
    /// Points of the picture for one of the axes.
    scale: f32,
    dims: usize,
}

impl Plane {
    fn new(problem: &Problem, query: &[f32], room: Area) -> Self {
        let dims = problem.dims();
        let mut low = [query[0], query.get(1).copied().unwrap_or(0.0)];
        let mut high = low;
        for point in problem.points().chunks_exact(dims) {
            for axis in 0..dims.min(2) {
                low[axis] = low[axis].min(point[axis]);
                high[axis] = high[axis].max(point[axis]);
            }
        }
        let extent = [f64::from(high[0]) - f64::from(low[0]), f64::from(high[1]) - f64::from(low[1])];
        let place = room.inner((room.width.min(room.height) * 0.02).min(6.0));
        // Both axes alike: a circle is a circle.
        let fits = |size: f32, extent: f64| if extent > 0.0 { f64::from(size) * 0.96 / extent } else { f64::INFINITY };
        let mut scale = fits(place.width, extent[0]).min(fits(place.height, extent[1]));
        if !scale.is_finite() {
            scale = 1.0;
        }
        let middle = [f64::from(low[0]) + extent[0] / 2.0, f64::from(low[1]) + extent[1] / 2.0];
        let low = [middle[0] - f64::from(place.width) / scale / 2.0, middle[1] + f64::from(place.height) / scale / 2.0];
        Self { area: place, low: low.map(|value| value as f32), scale: scale as f32, dims }
    }

    /// Where coordinates lie; y goes up in the data.
    fn at(&self, coordinates: &[f32]) -> Place {
        let y = if self.dims == 1 { 0.0 } else { coordinates[1] };
        [self.area.x + (coordinates[0] - self.low[0]) * self.scale, self.area.y + (self.low[1] - y) * self.scale]
    }

    fn place(&self, problem: &Problem, point: u32) -> Place {
        let first = point as usize * self.dims;
        self.at(&problem.points()[first..first + self.dims])
    }

    fn spot(&self, scene: &mut Scene, problem: &Problem, point: u32, radius: f32) {
        let [x, y] = self.place(problem, point);
        scene.spot(area(x - radius, y - radius, 2.0 * radius, 2.0 * radius), Target::Point(point));
    }

    fn marked(&self, scene: &mut Scene, problem: &Problem, points: &[u32], radius: f32, ink: Ink) {
        let places = points.iter().map(|&point| self.place(problem, point)).collect();
        scene.dots(places, radius, Some(ink.into()), Some(line(faint(Ink::Canvas, 0.9), 0.8)));
        for &point in points {
            self.spot(scene, problem, point, radius.max(3.0));
        }
    }

    /// A circle where the plane is the whole space, a bar where it is a line.
    fn bound(&self, scene: &mut Scene, problem: &Problem, query: &[f32], max_distance: f32, text: f32) {
        if max_distance.is_infinite() {
            return;
        }
        let (center, radius) = (self.at(query), max_distance.sqrt() * self.scale);
        let stroke = line(Ink::Intermediate, (text * 0.15).max(1.5));
        // Farther out than this nothing of it is in the picture.
        let most = 4.0 * (self.area.width + self.area.height);
        match problem.dims() {
            1 => {
                let high = text * 1.2;
                let ends = [center[0] - radius, center[0] + radius].map(|x| x.clamp(self.area.x, self.area.right()));
                scene.fill(area(ends[0], center[1] - high, ends[1] - ends[0], 2.0 * high), faint(Ink::Intermediate, 0.15));
                for x in ends {
                    scene.path(vec![[x, center[1] - high], [x, center[1] + high]], stroke);
                }
            }
            2 if radius < most => scene.dots(vec![center], radius, Some(faint(Ink::Intermediate, 0.1)), Some(stroke)),
            _ => {}
        }
    }

    fn query(&self, scene: &mut Scene, query: &[f32], text: f32) {
        let [x, y] = self.at(query);
        let arm = text * 0.55;
        for (ink, width) in [(Ink::Canvas, text * 0.36), (Ink::Query, text * 0.18)] {
            scene.path(vec![[x - arm, y], [x + arm, y]], line(ink, width));
            scene.path(vec![[x, y - arm], [x, y + arm]], line(ink, width));
        }
    }
}

/// What the colours are; how many there are of each.
fn legend(scene: &mut Scene, mut room: Area, text: f32, view: &View<'_>, (accepted, rejected): (usize, usize), best: usize, waiting: usize) {
    let k = view.cursor.state().shape.k;
    let kinds = [
        (Ink::Query, "query".to_owned(), true),
        (Ink::Neighbor, format!("{best} of {k} nearest so far"), true),
        (Ink::Buffer, format!("{waiting} in the buffer"), true),
        (Ink::Candidate, format!("{accepted} accepted"), true),
        (Ink::Rejected, format!("{rejected} rejected"), false),
    ];
    // All of them in one line, as large as fits.
    let gap = |size: f32| size * 1.9;
    let wide = |size: f32| kinds.iter().map(|(_, words, _)| width(Font::Sans, size, words) + gap(size)).sum::<f32>();
    let size = (text * 0.8).min(text * 0.8 * room.width / wide(text * 0.8));
    for (ink, words, filled) in kinds {
        let mut place = room.take_left((width(Font::Sans, size, &words) + gap(size)).min(room.width));
        let dot = place.take_left(size);
        let (fill, stroke) = if filled { (Some(ink.into()), None) } else { (None, Some(line(ink, size * 0.15))) };
        scene.dots(vec![dot.center()], size * 0.36, fill, stroke);
        place.take_left(size * 0.2);
        let style = sans(size, Ink::TextWeak);
        let (fitted, words) = fit(&words, style, place.width);
        scene.text([place.x, place.center()[1]], [0.0, 0.5], sans(fitted, Ink::TextWeak), words);
    }
}

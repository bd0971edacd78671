//! The panel of the points, the query, and the circle of `max_distance`, in the plane of the first two axes.

use std::cmp::Ordering;

use super::View;
use super::legend::{self, is_merging, legend_entries, nearest_kept};
use super::moment::{classify_points, distance_words, nearest, vote, waiting};
use super::pen::{ROW, faint, line, sans};
use super::plane::{Lens, Plane};
use super::scene::{Ink, Map, Point, Scene, Target};
use crate::algorithms::warp_select::WarpSelectStep;
use crate::algorithms::{Baseline, SpecificStep, heap, tree};
use crate::engines::lockstep::{Key, index_of};
use crate::knn::{Metric, Problem};
use crate::step::Step;
use crate::text::thousands;

/// Maximum number of earlier candidates drawn.
const EARLIER: usize = 512;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let text = view.text;
    let recording = view.recording();
    let (problem, overview) = (recording.problem(), recording.overview());
    let title = room.take_top(text * 1.6);
    let note = room.take_bottom(text * ROW);
    let around = legend::keyed_radius(view, [wide, high]);
    let keyed = around.filter(|_| legend::keys_are_shown(view));
    let entries = keyed.map_or_else(|| legend_entries(view), |radius| legend::keyed_entries(view, radius));
    let size = view.font_size(legend::LEGEND_TYPE);
    // The plane is about square: in a wide panel the legend is beside it, at all moments or at none.
    let k = view.state().shape.k.into();
    let least = legend::entry_width(&nearest_kept(k, k), size);
    let beside = if room.width > 1.5 * room.height && least < room.width * 0.45 {
        let widths = entries.iter().map(|(_, words, _)| legend::entry_width(words, size));
        let widest = widths.fold(least, f32::max);
        let beside = room.take_right(widest.min(room.width * 0.45));
        room.take_right(text * 0.5);
        beside
    } else {
        room.take_bottom(size * legend::LEGEND_LINE * legend::legend_rows(&entries, size, wide) as f32)
    };
    let plane = Plane::new(overview, problem.dims(), room, around.unwrap_or(0.0));
    scene.label(title, 0.0, sans(text, Ink::Text), &heading(problem, overview.points.len()));
    let radius = (plane.spacing(overview.points.len()) * 0.3).clamp(0.6, text * 0.2);
    draw_in(&mut scene, &plane, view, &overview.points, radius, keyed);
    let lens = Lens::new(&plane, view);
    if let Some(lens) = &lens {
        lens.draw(&mut scene, &plane, view);
    }
    if problem.dims() == 2 && problem.metric() == Metric::L2 {
        scene.maps.push(Map {
            lens: lens.map(|lens| lens.area()),
            ..plane.map(overview, &recording.parameters.query)
        });
    }

    legend::draw_legend(&mut scene, beside, &entries, size);
    scene.label(note, 0.0, sans(text * 0.85, Ink::TextWeak), &words(view, problem));
    scene
}

/// Draws the content of a plane: `shown` are the points, with `radius`; `keyed` is the radius of points
/// coloured like their keys, if any.
pub(super) fn draw_in(
    scene: &mut Scene,
    plane: &Plane,
    view: &View<'_>,
    shown: &[u32],
    radius: f32,
    keyed: Option<f32>,
) {
    let (cursor, state, text) = (view.cursor, view.state(), view.text);
    let problem = cursor.recording().problem();
    let parameters = &cursor.recording().parameters;
    scene.rect(plane.area, 0.0, Some(Ink::Canvas.into()), Some(line(Ink::Line, 1.0)));
    scene.shapes.push(super::scene::Shape::Clip(Some(plane.area)));

    if let Some((index, descent)) = cursor.recording().index().zip(state.descent()) {
        tree::panel::draw_under(scene, plane, view, &index.tree, descent);
    }

    // All points; unseen ones are fainter, pruned ones faintest.
    let large = (radius * 1.8).max(text * 0.2);
    let pointed = keyed.unwrap_or(large * 1.6) * 1.2;
    let status = point_status(view);
    for (wanted, opacity) in OPACITIES {
        let centers = shown
            .iter()
            .filter(|&&point| status(point) == wanted)
            .map(|&point| plane.position(problem, point))
            .collect();
        scene.dots(centers, radius, Some(faint(Ink::Point, opacity)), None);
    }
    for &point in shown {
        plane.spot(scene, problem, point, radius.max(3.0));
    }

    // Earlier candidates fade with age.
    let earlier = earlier(view);
    const SHADES: usize = 6;
    for (shade, points) in earlier.chunks(EARLIER / SHADES + 1).enumerate().rev() {
        let opacity = 0.65 * (1.0 - shade as f32 / SHADES as f32);
        let centers = points.iter().map(|&point| plane.position(problem, point)).collect();
        scene.dots(centers, (radius * 1.4).max(text * 0.1), Some(faint(Ink::Candidate, opacity)), None);
    }
    // The candidates in the buffer, and the intermediate result.
    let waiting: Vec<u32> =
        waiting(state).into_iter().map(index_of).filter(|&point| (point as usize) < problem.n()).collect();
    let merging = is_merging(view);
    // During a merge the buffer's candidates are in the registers; the lanes' queues keep theirs.
    if !merging || state.queues().is_some() {
        plane.marked(scene, problem, &waiting, large, Ink::Buffer);
    }
    if let Some(closing) = RemainingInterval::at(view) {
        plane.marked(scene, problem, &closing.left, large * 0.8, Ink::Candidate);
        plane.marked(scene, problem, &closing.nearer, large, Ink::Neighbor);
        for (number, bound) in (1..).zip(closing.rings) {
            plane.bound(scene, problem, &parameters.query, (number, bound), text);
        }
    }
    let best: Vec<u32> = nearest(cursor).into_iter().map(index_of).collect();
    plane.marked(scene, problem, &best, large, Ink::Neighbor);

    // The group being filtered.
    if let Some(vote) = vote(view.cursor).filter(|_| !merging) {
        let [undecided, accepted, rejected] = classify_points(&vote, view.cursor);
        let ring = |points: &[u32]| -> Vec<Point> {
            points.iter().map(|&point| plane.position(problem, point)).collect()
        };
        scene.dots(ring(&undecided), large * 1.2, None, Some(line(Ink::Text, text * 0.1)));
        scene.dots(
            ring(&rejected),
            large * 1.2,
            Some(Ink::Canvas.into()),
            Some(line(Ink::Rejected, text * 0.13)),
        );
        scene.dots(ring(&accepted), large * 1.3, Some(Ink::Candidate.into()), Some(line(Ink::Canvas, 1.0)));
        for &point in undecided.iter().chain(&rejected).chain(&accepted) {
            plane.spot(scene, problem, point, large * 1.3);
        }
    }

    plane.bound(scene, problem, &parameters.query, (0, state.max_distance), text);
    if let Some((index, descent)) = cursor.recording().index().zip(state.descent()) {
        tree::panel::draw_over(scene, plane, view, &index.tree, descent);
    }
    if let Some(heaps) = state.heaps() {
        heap::panel::draw_queries(scene, plane, view, problem, heaps);
    }
    if let Some(radius) = keyed {
        legend::draw_keyed(scene, plane, view, problem, radius);
    }
    plane.query(scene, &parameters.query, text);
    if let Some(point) = pointed_at(view).filter(|&point| (point as usize) < problem.n()) {
        scene.dots(vec![plane.position(problem, point)], pointed, None, Some(line(Ink::Text, 2.0)));
    }
    scene.shapes.push(super::scene::Shape::Clip(None));
}

/// The interval of radix select: points that share the digits found so far are between two rings around the
/// query.
struct RemainingInterval {
    /// Known neighbours.
    nearer: Vec<u32>,
    /// Remaining points.
    left: Vec<u32>,
    /// The squared radii.
    rings: Vec<f32>,
}

impl RemainingInterval {
    /// `None` in other searches, before the first pass, and once the neighbours are gathered.
    fn at(view: &View<'_>) -> Option<Self> {
        let buckets =
            view.state().buckets().filter(|buckets| !buckets.passes.is_empty() && !buckets.is_gathered)?;
        let Baseline::RadixSelect(chosen) = view.recording().baseline() else { return None };
        let (mut nearer, mut left) = (Vec::new(), Vec::new());
        for (point, &distance) in (0..).zip(&chosen.distances) {
            match buckets.compare_to_prefix(distance) {
                Ordering::Less => nearer.push(point),
                Ordering::Equal => left.push(point),
                Ordering::Greater => {}
            }
        }
        let (low, high) = buckets.range(buckets.passes.len());
        let rings = [low, high].map(f32::from_bits).into_iter().filter(|bound| bound.is_finite()).collect();
        Some(Self { nearer, left, rings })
    }
}

/// The opacity of points, by status.
const OPACITIES: [(PointStatus, f32); 3] =
    [(PointStatus::Pruned, 0.15), (PointStatus::Pending, 0.45), (PointStatus::Evaluated, 1.0)];

/// Whether a point's distance was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PointStatus {
    Pending,
    Evaluated,
    /// In the tree search, a box around it was pruned; in radix select, it is past the bucket of the k-th.
    Pruned,
}

/// The status of each point.
fn point_status(view: &View<'_>) -> impl Fn(u32) -> PointStatus {
    let (recording, state) = (view.recording(), view.state());
    let points_seen = state.counts.points_seen;
    // The points of a leaf are not consecutive positions.
    let of_tree = recording.index().zip(state.descent()).map(|(index, descent)| {
        let mut statuses = vec![PointStatus::Pending; state.shape.n as usize];
        let mut mark = |leaf: usize, status: PointStatus| {
            for &point in index.tree.leaf(leaf).1.iter().filter(|&&point| point != u32::MAX) {
                statuses[point as usize] = status;
            }
        };
        tree::panel::pruned_leaves(&index.tree, descent).for_each(|leaf| mark(leaf, PointStatus::Pruned));
        descent.visited.iter().for_each(|&leaf| mark(leaf as usize, PointStatus::Evaluated));
        statuses
    });
    let of_digits = match recording.baseline() {
        Baseline::RadixSelect(chosen) => state.buckets().map(|buckets| {
            let status = |&distance: &f32| match buckets.compare_to_prefix(distance) {
                Ordering::Greater => PointStatus::Pruned,
                _ => PointStatus::Evaluated,
            };
            chosen.distances.iter().map(status).collect::<Vec<_>>()
        }),
        _ => None,
    };
    move |point| match of_tree.as_ref().or(of_digits.as_ref()) {
        Some(statuses) => statuses[point as usize],
        None if point < points_seen => PointStatus::Evaluated,
        None => PointStatus::Pending,
    }
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

/// The point under the pointer, or the one in the cell or lane under it.
fn pointed_at(view: &View<'_>) -> Option<u32> {
    let state = view.state();
    let of_key = |keys: &[Key], at: u32| keys.get(at as usize).map(|&key| index_of(key));
    match view.hover? {
        Target::Point(point) => Some(point),
        Target::Element(element) => of_key(&state.registers, element),
        Target::Queued(element) => of_key(&state.queues()?.keys, element),
        Target::Slot(slot) if is_merging(view) || slot < state.buffered => of_key(&state.buffer, slot),
        Target::Lane(lane) if !is_merging(view) && lane < state.shape.width => {
            vote(view.cursor).map(|vote| vote.points[lane as usize])
        }
        _ => None,
    }
}

/// A caption: the circle, or why there is none; or the point under the pointer.
fn words(view: &View<'_>, problem: &Problem) -> String {
    let (state, recording) = (view.state(), view.recording());
    if let Some(point) = pointed_at(view).filter(|&point| (point as usize) < problem.n()) {
        let base = point - point % state.shape.width;
        let distance = recording.distances(base)[(point - base) as usize];
        let lane = if state.descent().is_some() || state.heaps().is_some() {
            String::new()
        } else {
            format!(", lane {} of its group", point - base)
        };
        return format!(
            "Point {} (row {}): squared distance {}{lane}",
            thousands(point.into()),
            thousands(problem.row(point).into()),
            distance_words(problem.metric(), distance),
        );
    }
    let bound = distance_words(problem.metric(), state.max_distance);
    if let Some(RemainingInterval { rings, .. }) = RemainingInterval::at(view) {
        let ends: Vec<String> = rings.iter().map(|&ring| super::pen::digits(ring, 3)).collect();
        return format!("Rings: squared distances {}; the points left are between", ends.join(" and "));
    }
    recording.algorithm().caption(view, &bound)
}

/// The circle of `max_distance`, or why there is none.
pub(crate) fn max_distance_words(view: &View<'_>, bound: &str) -> String {
    match view.recording().problem().dims() {
        _ if view.state().max_distance.is_infinite() => {
            "max_distance = \u{221e}: every point is a candidate".to_owned()
        }
        1 => format!("Bar: \u{221a}max_distance on both sides; max_distance = {bound}"),
        2 => format!("Circle: \u{221a}max_distance = \u{221a}{bound}"),
        dims => format!("max_distance = {bound}; no circle: distances are in all {dims} dimensions"),
    }
}

/// The circle through the k-th, or why there is none; `kth` is its distance in words.
pub(crate) fn kth_words(view: &View<'_>, kth: &str) -> String {
    match view.recording().problem().dims() {
        1 => format!("Bar: as far as the k-th on both sides, {kth}"),
        2 => format!("Circle: through the k-th, {kth}"),
        dims => format!("The k-th: {kth}; no circle, as distances are in all {dims} dimensions"),
    }
}

/// Earlier candidates, latest first.
fn earlier(view: &View<'_>) -> Vec<u32> {
    let steps = &view.recording().steps()[..view.cursor.position()];
    let appended = steps.iter().rev().filter_map(|step| match step {
        Step::Appended { placed }
        | Step::Own(SpecificStep::WarpSelect(WarpSelectStep::Inserted { placed })) => {
            Some(placed.iter().rev().map(|candidate| index_of(candidate.key)))
        }
        _ => None,
    });
    appended.flatten().take(EARLIER).collect()
}

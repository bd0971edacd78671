//! The panel of the tree search's lanes, each with a child of a node or a point of a leaf; below it, the
//! intermediate result and the buffer.

use std::io::{self, Write};

use super::state::{Descent, Node};
use super::{TreeBaseline, TreeStep};
use crate::algorithms::AlgorithmPictures;
use crate::engines::index::{Tree, WARP};
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::lessons::Take;
use crate::picture::ballot::{LaneColumns, NumberLayout, buffer, explained_lane};
use crate::picture::cells::{Cell, Grid};
use crate::picture::counter_table::{self, Bar};
use crate::picture::legend::{Entry, buffer_entries};
use crate::picture::moment::{Vote, nearest, vote};
use crate::picture::pen::{ROW, Scale, area, dashed, digits, faint, line, sans};
use crate::picture::plane::Plane;
use crate::picture::scene::{Area, Ink, Point, Scene, Target};
use crate::picture::{Film, View};
use crate::state::lanes_in;
use crate::step::Step;
use crate::text::thousands;

impl AlgorithmPictures for TreeBaseline {
    fn draw_account(&self, view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
        let (mut scene, mut room) = view.canvas([wide, high]);
        let text = view.text;
        let row = (text * ROW).min(high * 0.6 / 8.0);
        let (counts, shape) = (view.state().counts, view.state().shape);
        let [nodes, pruned] =
            view.state().descent().map_or([0; 2], |descent| [descent.nodes, descent.pruned.len() as u32]);
        let so_far = [counts.points_seen, counts.groups, nodes, pruned, counts.candidates, counts.merges];
        // Hides the numbers that a question about the whole search may ask for. Those of brute force are
        // known.
        let known = |at: usize, column: usize| !view.asking || (column == 2 && at < 4);
        let rows = self.counted(shape.n).into_iter().zip(so_far).enumerate().map(
            |(at, ((name, numbers), so_far))| {
                let [end, lie, brute] = [0, 1, 2]
                    .map(|column| if known(at, column) { words(numbers[column]) } else { String::new() });
                (name, [words(Some(so_far)), end, lie, brute])
            },
        );
        let heads = ["so far", "at the end", "by curve", "brute force"];
        let room_of_table = room.take_top(row * 7.6);
        counter_table::table(
            &mut scene,
            room_of_table,
            row,
            &[0.28, 0.13, 0.19, 0.19, 0.21],
            heads,
            &rows.collect::<Vec<_>>(),
        );
        room.take_top(row * 0.4);
        bars(&mut scene, room, view, self);
        scene
    }

    fn legend(&self, view: &View<'_>) -> Vec<Entry> {
        let mut entries = buffer_entries(view);
        if view.state().descent().is_some() {
            entries.extend(KINDS.map(|(ink, words, filled)| (ink, words.to_owned(), filled)));
        }
        entries
    }

    fn write_table(&self, _film: &Film, take: &Take, out: &mut dyn Write) -> io::Result<()> {
        let heads = ["", "nearest box first", "boxes in curve order", "brute force"]
            .map(|head| format!("<th class=\"n\">{head}</th>"));
        writeln!(out, "<table>\n<tr>{}</tr>", heads.concat())?;
        for (what, numbers) in self.counted(take.recording.shape().n) {
            let numbers = numbers.map(|number| format!("<td class=\"n\">{}</td>", words(number)));
            writeln!(out, "<tr><th>{what}</th>{}</tr>", numbers.concat())?;
        }
        writeln!(out, "</table>")
    }
}

impl TreeBaseline {
    /// Final counts: of this search, of one that visits boxes in curve order, and of brute force.
    fn counted(&self, n: u32) -> [(&'static str, [Option<u32>; 3]); 6] {
        let (here, lie, brute) = (self.visits, self.curve_order, self.brute);
        [
            ("distances", [Some(here.distance_evals), Some(lie.distance_evals), Some(n)]),
            ("leaves visited", [Some(here.leaves), Some(lie.leaves), None]),
            ("nodes visited", [Some(here.nodes), Some(lie.nodes), None]),
            ("boxes pruned", [Some(here.pruned), Some(lie.pruned), None]),
            ("candidates", [Some(here.candidates), Some(lie.candidates), Some(brute.candidates)]),
            ("merges", [Some(here.merges), Some(lie.merges), Some(brute.merges)]),
        ]
    }
}

/// A number in words; a dash if it is not counted.
fn words(number: Option<u32>) -> String {
    number.map_or_else(|| "\u{2013}".to_owned(), |number| thousands(number.into()))
}

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let shape = state.shape;
    let title = room.take_top(text * 1.6);
    let columns = LaneColumns::new(view, wide, "voters below");

    // Rows of lanes, then two headings with a grid each.
    let heading = (text * 1.5).min(high * 0.08);
    let rest = (room.height - 2.0 * heading - text * 0.4).max(1.0);
    let vote = vote(view.cursor);
    let node = state.descent().and_then(|descent| descent.node()).filter(|_| vote.is_none());
    let boxes = node.filter(|node| !node.keys.is_empty()).map(as_vote);
    let shown = vote.as_ref().or(boxes.as_ref());
    let grids = 2.0 * (shape.registers as f32).min(8.0) * 0.6;
    let numbers = NumberLayout::fit(shown, &columns, rest);
    let (of_one, more) = (numbers.share_of_row(), numbers.height());
    let one = ((rest - more) / (3.0 + of_one + grids)).clamp(1.0, text * 2.2);
    let all = (3.0 + of_one) * one + more;
    scene.label(title, 0.0, sans(text, Ink::Text), &heading_of(view, node));

    let chosen = match view.step().and_then(Step::tree) {
        Some(TreeStep::Child { lane }) => Some(*lane),
        _ => None,
    };
    let lane = if vote.is_some() { explained_lane(view, vote.as_ref()) } else { chosen };
    let mut table = columns.table(&mut scene, room.y, one, all);
    table.lanes(shown, lane);
    table.distances(shown, &numbers);
    match &boxes {
        Some(boxes) => {
            let left = node.map_or(0, |node| node.below(state.last()));
            table.bits("nearer", Some(left).filter(|_| !view.asking), Ink::Accent, None);
            table.bits(
                "next",
                Some(chosen.map_or(0, |lane| 1 << lane)).filter(|_| boxes.mask.is_some() && !view.asking),
                Ink::Candidate,
                None,
            );
        }
        None => {
            table.bits("ballot", vote.as_ref().and_then(|vote| vote.mask), Ink::Candidate, None);
            table.slots(vote.as_ref(), lane);
        }
    }
    room.take_top(all + text * 0.2);

    let half = ((room.height - 2.0 * heading) / 2.0).max(1.0);
    let grid_high = half.min(one * 1.2 * shape.registers as f32).max(1.0);
    let says = format!(
        "Intermediate result: {} of {} found; the k-th is framed",
        thousands(nearest(view.cursor).len() as u64),
        thousands(shape.k.into())
    );
    scene.label(room.take_top(heading), 0.0, sans(text * 0.9, Ink::Text), &says);
    let grid = columns.grid(room.y, grid_high, shape.registers);
    result(&mut scene, view, &grid, columns.names(room.y, grid_high));
    room.take_top(grid_high);
    let says = format!(
        "Buffer: {} of {} slots taken",
        thousands(state.buffered.into()),
        thousands(shape.capacity().into())
    );
    scene.label(room.take_top(heading), 0.0, sans(text * 0.9, Ink::Text), &says);
    let grid = columns.grid(room.y, grid_high, shape.registers);
    buffer(&mut scene, view, &grid, columns.names(room.y, grid_high));
    scene
}

fn heading_of(view: &View<'_>, node: Option<&Node>) -> String {
    let state = view.state();
    let Some(descent) = state.descent() else { return "Lanes: nothing yet".to_owned() };
    if let Some(leaf) = &descent.leaf {
        return format!("Lanes: the points of leaf {}", thousands(leaf.number.into()));
    }
    match node {
        None => "Lanes: nothing yet".to_owned(),
        Some(node) => {
            let name = if descent.path.len() == usize::from(descent.done.is_none()) {
                "the root".to_owned()
            } else {
                format!("node {}", node.group)
            };
            let bound = match state.last() {
                PADDING => String::new(),
                last => format!("; the k-th neighbour is at {}", digits(distance_of(last), 3)),
            };
            format!("Lanes: the children of {name}{bound}")
        }
    }
}

/// A node's remaining boxes as a vote.
fn as_vote(node: &Node) -> Vote {
    let distances = node.keys.iter().map(|&key| distance_of(key)).collect();
    Vote {
        points: vec![u32::MAX; node.keys.len()],
        distances,
        voters: node.waiting,
        mask: Some(0),
        slots_before: 0,
        appended: 0,
    }
}

/// The intermediate result in element order, lane after lane, the k-th framed.
fn result(scene: &mut Scene, view: &View<'_>, grid: &Grid, names: Area) {
    let state = view.state();
    let shape = state.shape;
    let scale = Scale::for_recording(view.recording());
    let taken = |element: usize, key: Key| {
        if element < shape.k as usize { Cell::Taken(key) } else { Cell::Leftover(key) }
    };
    let look = crate::picture::cells::CellStyle::Colors;
    for (element, &key) in state.registers.iter().enumerate() {
        let (lane, register) = shape.lane_and_register(element as u32);
        grid.draw(scene, lane, register, taken(element, key), look, &scale);
        scene.spot(grid.cell(lane, register), Target::Element(element as u32));
    }
    let (lane, register) = shape.lane_and_register(shape.k - 1);
    if state.last() != PADDING {
        grid.mark(scene, lane, register, Ink::Accent);
    }
    if let Some(Target::Element(element)) = view.hover
        && element < shape.capacity()
    {
        let (lane, register) = shape.lane_and_register(element);
        scene.hovered(grid.full(lane, register));
    }
    scene.label(names, 1.0, sans(view.text * 0.8, Ink::TextWeak), "element");
}

// The account panel: points evaluated by the tree search and by other searches for the same neighbours.

/// Points evaluated, as bars; that of brute force fills the width.
fn bars(scene: &mut Scene, room: Area, view: &View<'_>, index: &TreeBaseline) {
    let state = view.state();
    let share = |points: u32| points as f32 / state.shape.n as f32;
    let hidden = |points: u32| (!view.asking).then(|| share(points));
    let lie = index.curve_order.distance_evals;
    let searches = [
        Bar {
            name: "nearest first",
            done: share(state.counts.points_seen),
            all: hidden(index.visits.distance_evals),
            ink: Ink::Intermediate,
        },
        Bar { name: "curve order", done: hidden(lie).unwrap_or(0.0), all: hidden(lie), ink: Ink::Theory },
        Bar { name: "brute force", done: 1.0, all: hidden(state.shape.n), ink: Ink::Rejected },
    ];
    counter_table::bars(scene, room, view.text, "Points evaluated", &searches);
}

// The boxes of a tree in the panel of the points: those of the current node, visited and pruned ones, and the
// place in each box that is nearest to the query.

/// Colours and meanings, for the legend.
pub const KINDS: [(Ink, &str, bool); 3] = [
    (Ink::Intermediate, "leaf visited", true),
    (Ink::Accent, "box nearer than the k-th", false),
    (Ink::Rejected, "box pruned", false),
];

/// The leaves under pruned boxes.
pub fn pruned_leaves<'a>(tree: &Tree, descent: &'a Descent) -> impl Iterator<Item = usize> + 'a {
    let leaves = tree.boxes(0).count();
    descent.pruned.iter().flat_map(move |&(height, number)| {
        let under = WARP.pow(height);
        number as usize * under..((number as usize + 1) * under).min(leaves)
    })
}

/// Draws the boxes, below the points.
pub fn draw_under(scene: &mut Scene, plane: &Plane, view: &View<'_>, tree: &Tree, descent: &Descent) {
    let text = view.text;
    let thin = (text * 0.06).max(0.8);
    for &(height, number) in &descent.pruned {
        let rect = box_area(plane, tree, height, number);
        scene.rect(
            rect,
            0.0,
            Some(faint(Ink::Rejected, 0.07)),
            Some(dashed(faint(Ink::Rejected, 0.45), thin, text * 0.2)),
        );
    }
    for &leaf in &descent.visited {
        let now = descent.leaf.as_ref().is_some_and(|looked_at| looked_at.number == leaf);
        let (fill, stroke) = if now { (0.3, thin * 2.5) } else { (0.14, thin) };
        scene.rect(
            box_area(plane, tree, 0, leaf),
            0.0,
            Some(faint(Ink::Intermediate, fill)),
            Some(line(faint(Ink::Intermediate, 0.8), stroke)),
        );
    }
    if descent.visited.is_empty() {
        scene.rect(
            box_area(plane, tree, 0, descent.own),
            0.0,
            Some(faint(Ink::Accent, 0.18)),
            Some(line(Ink::Accent, text * 0.2)),
        );
    }
    // While points are evaluated, only their leaf matters.
    let Some(node) = descent.node().filter(|_| descent.leaf.is_none()) else { return };
    let (loads, near) = (node.keys.is_empty(), node.below(view.state().last()));
    for lane in 0..WARP as u32 {
        let (height, number) = node.child(lane);
        if number as usize >= tree.boxes(height as usize).count() {
            break;
        }
        let (waits, is_near) = (node.waiting >> lane & 1 == 1, near >> lane & 1 == 1);
        if loads || is_near {
            scene.rect(
                box_area(plane, tree, height, number),
                0.0,
                Some(faint(Ink::Accent, 0.08)),
                Some(line(Ink::Accent, thin * 1.6)),
            );
        } else if waits && descent.done.is_none() {
            scene.rect(
                box_area(plane, tree, height, number),
                0.0,
                None,
                Some(line(faint(Ink::TextWeak, 0.6), thin)),
            );
        }
    }
}

/// Draws over the points: the query clamped to the boxes, with lines to it, and the box that is visited next.
pub fn draw_over(scene: &mut Scene, plane: &Plane, view: &View<'_>, tree: &Tree, descent: &Descent) {
    let Some(node) = descent.node().filter(|_| descent.leaf.is_none()) else { return };
    let (text, query) = (view.text, &view.recording().parameters.query);
    let from = plane.at(query);
    let near = node.below(view.state().last());
    match view.step().and_then(Step::tree) {
        Some(TreeStep::Boxes { .. }) => {
            for lane in lanes_in(node.waiting) {
                let (ink, opacity) =
                    if near >> lane & 1 == 1 { (Ink::Accent, 1.0) } else { (Ink::TextWeak, 0.35) };
                draw_clamped(scene, from, plane.at(&clamp(tree, node, lane, query)), ink, opacity, text);
            }
        }
        Some(TreeStep::Child { lane }) => draw_box(scene, plane, tree, node, *lane, query, Ink::Accent, text),
        // The nearest place in the box is on the circle or outside, because it is not nearer than the k-th
        // neighbour.
        Some(TreeStep::Pruned { .. }) => {
            if let Some((lane, _)) = node.nearest() {
                draw_box(scene, plane, tree, node, lane, query, Ink::Text, text);
            }
        }
        _ => {}
    }
}

/// Draws a box, the place in it that is nearest to the query, and the line to it.
#[expect(clippy::too_many_arguments, reason = "the box and its place in the scene")]
fn draw_box(
    scene: &mut Scene,
    plane: &Plane,
    tree: &Tree,
    node: &Node,
    lane: u32,
    query: &[f32],
    ink: Ink,
    text: f32,
) {
    let (height, number) = node.child(lane);
    let area = box_area(plane, tree, height, number);
    scene.rect(area, 0.0, Some(faint(ink, 0.18)), Some(line(ink, text * 0.2)));
    draw_clamped(scene, plane.at(query), plane.at(&clamp(tree, node, lane, query)), ink, 1.0, text);
}

fn draw_clamped(scene: &mut Scene, from: Point, to: Point, ink: Ink, opacity: f32, text: f32) {
    if from != to {
        scene.path(vec![from, to], line(faint(ink, 0.8 * opacity), (text * 0.08).max(1.0)));
    }
    scene.dots(vec![to], text * 0.2, Some(faint(ink, opacity)), Some(line(Ink::Canvas, 0.8)));
}

/// The query clamped to a child's box, axis by axis.
fn clamp(tree: &Tree, node: &Node, lane: u32, query: &[f32]) -> Vec<f32> {
    let (low, high, _) = tree.boxes(node.height as usize).group(node.group as usize);
    let sides = low.iter().zip(high).zip(query);
    sides.map(|((low, high), &q)| q.max(low.0[lane as usize]).min(high.0[lane as usize])).collect()
}

/// The area of a box in the picture; a box without extent gets a minimum size.
fn box_area(plane: &Plane, tree: &Tree, height: u32, number: u32) -> Area {
    const LEAST: f32 = 3.0;
    let (group, lane) = (number as usize / WARP, number as usize % WARP);
    let (low, high, _) = tree.boxes(height as usize).group(group);
    let low: Vec<f32> = low.iter().map(|row| row.0[lane]).collect();
    let high: Vec<f32> = high.iter().map(|row| row.0[lane]).collect();
    let ([left, bottom], [right, top]) = (plane.at(&low), plane.at(&high));
    let more = [(LEAST - (right - left)).max(0.0) / 2.0, (LEAST - (bottom - top)).max(0.0) / 2.0];
    area(left - more[0], top - more[1], right - left + 2.0 * more[0], bottom - top + 2.0 * more[1])
}

//! The panel of the lanes of a tree's search: a child of a node in each, or a point of a leaf, and the intermediate result and the buffer
//! below.

use crate::algorithms::tree::TreeStep;
use crate::algorithms::tree::state::Node;
use crate::engines::lockstep::{Key, PADDING, distance_of};
use crate::picture::View;
use crate::picture::ballot::{Numbers, Table, buffer, spelled_out};
use crate::picture::cells::{Cell, Grid};
use crate::picture::moment::{Vote, nearest, vote};
use crate::picture::pen::{Scale, area, digits, line, sans, width};
use crate::picture::scene::{Area, Font, Ink, Scene, Target};
use crate::step::Step;
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let mut scene = view.scene([wide, high]);
    let (state, text) = (view.cursor.state(), view.text);
    let shape = state.shape;
    let mut room = area(0.0, 0.0, wide, high);
    let title = room.take_top(text * 1.6);
    let names = width(Font::Sans, view.type_of(0.8), "voters below") + text * 0.5;
    let margin = text * 0.6;
    let columns = |room: Area, high: f32| Grid {
        area: area(names, room.y, (wide - names - margin).max(1.0), high),
        columns: shape.width,
        rows: 1,
        gutter: 0.0,
    };
    let label = |room: Area, high: f32| area(0.0, room.y, names - text * 0.5, high);

    // Rows of lanes, then two headings with a grid each.
    let heading = (text * 1.5).min(high * 0.08);
    let rest = (room.height - 2.0 * heading - text * 0.4).max(1.0);
    let vote = vote(view.cursor);
    let node = state.descent().and_then(|descent| descent.node()).filter(|_| vote.is_none());
    let boxes = node.filter(|node| !node.keys.is_empty()).map(as_vote);
    let shown = vote.as_ref().or(boxes.as_ref());
    let grids = 2.0 * (shape.registers as f32).min(8.0) * 0.6;
    let numbers = Numbers::fit(shown, columns(room, 1.0).area.width / shape.width as f32, margin, rest, view);
    let (of_one, more) = (numbers.share_of_row(), numbers.height());
    let one = ((rest - more) / (3.0 + of_one + grids)).clamp(1.0, text * 2.2);
    let all = (3.0 + of_one) * one + more;
    scene.label(title, 0.0, sans(text, Ink::Text), &heading_of(view, node));

    let chosen = match view.cursor.step().as_deref().and_then(Step::tree) {
        Some(TreeStep::Child { lane }) => Some(*lane),
        _ => None,
    };
    let lane = if vote.is_some() { spelled_out(view, vote.as_ref()) } else { chosen };
    let mut table = Table { scene: &mut scene, view, grid: columns(room, one), names: label(room, one), one, all };
    table.lanes(shown, lane);
    table.distances(shown, &numbers);
    match &boxes {
        Some(boxes) => {
            let left = node.map_or(0, |node| node.below(state.last()));
            table.bits("is nearer", Some(left).filter(|_| !view.asking), Ink::Accent, None);
            table.bits("is next", Some(chosen.map_or(0, |lane| 1 << lane)).filter(|_| boxes.mask.is_some() && !view.asking), Ink::Candidate, None);
        }
        None => {
            table.bits("ballot", vote.as_ref().and_then(|vote| vote.mask), Ink::Candidate, None);
            table.slots(vote.as_ref(), lane);
        }
    }
    room.take_top(all + text * 0.2);

    let half = ((room.height - 2.0 * heading) / 2.0).max(1.0);
    let grid_high = half.min(one * 1.2 * shape.registers as f32).max(1.0);
    let says =
        format!("Intermediate result: {} of {} found; the k-th is framed", thousands(nearest(view.cursor).len() as u64), thousands(shape.k.into()));
    scene.label(room.take_top(heading), 0.0, sans(text * 0.9, Ink::Text), &says);
    result(&mut scene, view, &Grid { rows: shape.registers, ..columns(room, grid_high) }, label(room, grid_high));
    room.take_top(grid_high);
    let says = format!("Buffer: {} of {} slots taken", thousands(state.buffered.into()), thousands(shape.capacity().into()));
    scene.label(room.take_top(heading), 0.0, sans(text * 0.9, Ink::Text), &says);
    buffer(&mut scene, view, &Grid { rows: shape.registers, ..columns(room, grid_high) }, label(room, grid_high));
    scene
}

fn heading_of(view: &View<'_>, node: Option<&Node>) -> String {
    let state = view.cursor.state();
    let Some(descent) = state.descent() else { return "Lanes: nothing yet".to_owned() };
    if let Some(leaf) = &descent.leaf {
        return format!("Lanes: a point each, of leaf {}", thousands(leaf.number.into()));
    }
    match node {
        None => "Lanes: nothing yet".to_owned(),
        Some(node) => {
            let name = if descent.way.len() == usize::from(descent.done.is_none()) { "the root".to_owned() } else { format!("node {}", node.group) };
            let bound = match state.last() {
                PADDING => String::new(),
                last => format!("; the k-th neighbour is at {}", digits(distance_of(last), 3)),
            };
            format!("Lanes: a child each, of {name}{bound}")
        }
    }
}

/// A node's boxes as what lanes are asked about: those that are left.
fn as_vote(node: &Node) -> Vote {
    let distances = node.keys.iter().map(|&key| distance_of(key)).collect();
    Vote { points: vec![u32::MAX; node.keys.len()], distances, asked: node.waiting, mask: Some(0), taken: 0, appended: 0 }
}

/// The intermediate result in element order, lane after lane, the k-th framed.
fn result(scene: &mut Scene, view: &View<'_>, grid: &Grid, names: Area) {
    let state = view.cursor.state();
    let shape = state.shape;
    let scale = Scale::of(view.cursor.recording());
    let taken = |element: usize, key: Key| if element < shape.k as usize { Cell::Taken(key) } else { Cell::Leftover(key) };
    let look = crate::picture::cells::Look::Colors;
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
        scene.rect(grid.full(lane, register).inner(0.5), 2.0, None, Some(line(Ink::Text, 1.8)));
    }
    scene.label(names, 1.0, sans(view.text * 0.8, Ink::TextWeak), "element");
}

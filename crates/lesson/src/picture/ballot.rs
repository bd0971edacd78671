//! The panel of the ballot, the computation of a lane's slot, and the buffer as it fills.
//!
//! Lane 0 is on the left, as in the other panels; the mask, whose lowest bit is lane 0's, is shown beside it
//! as a number.

use super::View;
use super::cells::Grid;
use super::moment::{Vote, vote};
use super::pen::{ROW, Scale, TextStyle, area, dashed, digits, faint, line, mono, sans, width};
use super::scene::{Area, Font, Ink, Scene, Target, TrackId, TrackKey, Transition};
use super::warp::{buffer_holds, slot_holds};
use crate::algorithms::SpecificStep;
use crate::algorithms::tree::TreeStep;
use crate::algorithms::tree::state::Descent;
use crate::describe::hex;
use crate::engines::lockstep::{PADDING, key_of, lanes_below};
use crate::state::State;
use crate::step::Step;
use crate::text::thousands;

/// Draws the panel in a size given in points.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let (state, text) = (view.state(), view.text);
    let shape = state.shape;
    let vote = vote(view.cursor);
    let lane = explained_lane(view, vote.as_ref());
    scene.label(room.take_top(text * 1.6), 0.0, sans(text, Ink::Text), &title(state, vote.as_ref()));

    // Rows: lanes, distances, votes, slots, lower lanes, both masks combined; two lines of text; the buffer.
    let buffer_rows = shape.registers as f32;
    // Text is shortened before numbers are.
    let row = (text * ROW).min(high * 0.09);
    // A question must not show these lines, and large type needs the room.
    let told = !(view.asking && view.min_type > 0.0);
    let words = if told { 3.0 * row } else { row };
    let rest = room.height - words - text * 1.4;
    let columns = LaneColumns::new(view, wide, "voters below");
    let numbers = NumberLayout::fit(vote.as_ref(), &columns, rest);
    let (of_one, more) = (numbers.share_of_row(), numbers.height());
    // Large type in little room: the text below has the result of the masks.
    let rows = if view.min_type > 0.0 && rest < text * TIGHT { 3.0 } else { 5.0 };
    let one = ((rest - more) / (rows + of_one + 1.2 * buffer_rows))
        .max((rest * 0.55 - more) / (rows + of_one))
        .clamp(1.0, text * 2.2);
    let all = rows * one + of_one * one + more;
    let mut table = columns.table(&mut scene, room.y, one, all);
    table.lanes(vote.as_ref(), lane);
    table.distances(vote.as_ref(), &numbers);
    table.bits("ballot", vote.as_ref().and_then(|vote| vote.mask), Ink::Candidate, None);
    table.slots(vote.as_ref(), lane);
    if rows > 3.0 {
        let lower = lane.map(lanes_below);
        table.bits("lanes below", lower, Ink::TextWeak, lane);
        let both = lower.and_then(|lower| vote.as_ref().and_then(|vote| vote.mask).map(|mask| mask & lower));
        table.bits("voters below", both, Ink::Accent, lane);
    }
    room.take_top(all);
    room.take_top(text * 0.2);

    let lines = popcount_lines(state, vote.as_ref(), lane);
    let [first, second] = [0, 1].map(|_| room.take_top(if told { row } else { 0.0 }));
    let third = room.take_top(row);
    scene.label(first, 0.0, mono(text * 0.9, Ink::Text), &lines[0]);
    scene.label(second, 0.0, mono(text * 0.9, Ink::Text), &lines[1]);

    let (_, says) = buffer_holds(state, view.step());
    scene.label(third, 0.0, sans(text * 0.9, Ink::Text), &says);
    room.take_top(text * 0.15);
    let slots_high = (room.height - text * 0.2).min(one * 1.1 * buffer_rows).max(1.0);
    let grid = columns.grid(room.y, slots_high, shape.registers);
    buffer(&mut scene, view, &grid, columns.names(room.y, slots_high));
    scene
}

fn title(state: &State, vote: Option<&Vote>) -> String {
    let width = state.shape.width;
    match vote {
        None => "Ballot: no group of points yet".to_owned(),
        Some(vote) => {
            let points = match state.descent() {
                Some(Descent { leaf: Some(leaf), .. }) => format!("leaf {}", thousands(leaf.number.into())),
                _ => {
                    let last = vote.points.iter().rfind(|&&point| point != u32::MAX).unwrap_or(&0);
                    format!("points {} to {}", thousands(vote.points[0].into()), thousands((*last).into()))
                }
            };
            match vote.mask {
                // The bound of the next comparison.
                None => {
                    format!("Ballot: {points}, not voted yet; max_distance {}", digits(state.max_distance, 3))
                }
                // Digits begin with the highest lane, cells with lane 0.
                Some(mask) => {
                    format!("Ballot of {points}: {}, the last digit is lanes 0 to 3", hex(mask, width))
                }
            }
        }
    }
}

/// The lane whose slot is explained: the one under the pointer, or the highest voting lane.
pub(crate) fn explained_lane(view: &View<'_>, vote: Option<&Vote>) -> Option<u32> {
    let shape = view.state().shape;
    match view.hover {
        Some(Target::Lane(lane)) if lane < shape.width => Some(lane),
        _ if view.asking => None,
        _ => {
            let mask = vote?.mask?;
            (mask != 0).then(|| mask.ilog2())
        }
    }
}

/// The popcount in words and in numbers.
fn popcount_lines(state: &State, vote: Option<&Vote>, lane: Option<u32>) -> [String; 2] {
    let (Some(vote), Some(lane)) = (vote, lane) else { return [String::new(), String::new()] };
    let Some(mask) = vote.mask else { return [format!("lane {lane}: not voted yet"), String::new()] };
    let (width, below) = (state.shape.width, vote.below(lane));
    let first =
        format!("lane {lane}: popcount({} & {}) = {below}", hex(mask, width), hex(lanes_below(lane), width));
    let second = match vote.slot(lane) {
        None if vote.voters >> lane & 1 == 0 => {
            format!("lane {lane} did not vote: it has a slot, or was not a candidate")
        }
        None => format!("lane {lane} does not vote: it writes nothing"),
        Some(slot) => {
            let sum = format!("slot = buffered + count = {} + {below} = {slot}", vote.slots_before);
            if slot < state.shape.capacity() { sum } else { format!("{sum}: no such slot, it waits") }
        }
    };
    [first, second]
}

/// The layout of distances: all of them, at the precision at which a question states `max_distance`, so that
/// votes can be read off. In narrow cells, neighbouring lanes alternate between lines.
pub(crate) struct NumberLayout {
    /// Number of lines that lanes alternate between.
    lines: u32,
    /// Font size in points.
    size: f32,
}

impl NumberLayout {
    /// The fewest lines on which numbers are readable; otherwise the number of lines that gives the largest
    /// font. `high` is the height of all rows of the panel.
    pub(crate) fn fit(vote: Option<&Vote>, columns: &LaneColumns<'_, '_>, high: f32) -> Self {
        let (view, text) = (columns.view, columns.view.text);
        let (cell, margin) = (columns.width / view.state().shape.width as f32, text * MARGIN);
        const LINES: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
        let Some(vote) = vote else { return Self { lines: 1, size: 0.0 } };
        let there = vote.distances.iter().filter(|distance| distance.is_finite());
        let widest = there.map(|&distance| width(Font::Mono, 1.0, &digits(distance, 3))).fold(0.1, f32::max);
        let on = |lines: u32| {
            // The last number may be shifted left to end at the panel's edge, and must not overlap its
            // predecessor.
            let (apart, free) = (cell * lines as f32, cell * 0.5 + margin);
            let wide = if apart * APART / 2.0 <= free {
                apart * APART
            } else {
                ((apart + free) / 1.5 * 0.97).max(2.0 * free).min(apart * APART)
            };
            let wide = if lines == 1 { wide - 2.0 } else { wide };
            let share = if view.min_type > 0.0 { 0.55 } else { 0.4 };
            let line = if lines == 1 { high / 6.0 / ROW } else { high * share / lines as f32 / LINE };
            Self { lines, size: (wide / widest).min(line).min(text * 0.9) }
        };
        // With large type, votes and slots need the room; a question about votes needs the distances.
        let most = if view.min_type > 0.0 && !view.asking { 2 } else { LINES.len() };
        let first = LINES[..most]
            .iter()
            .map(|&lines| on(lines))
            .find(|numbers| numbers.size >= (text * READABLE).max(view.min_type));
        let best = first.unwrap_or_else(|| {
            LINES[..most]
                .iter()
                .map(|&lines| on(lines))
                .max_by(|a, b| a.size.total_cmp(&b.size))
                .expect("there are some")
        });
        // Numbers smaller than the minimum type are not drawn.
        if best.size < view.min_type * 0.97 { Self { lines: 1, size: 0.0 } } else { best }
    }

    /// Height of the coloured cells as a fraction of a row: less if numbers are above them.
    pub(crate) fn share_of_row(&self) -> f32 {
        if self.lines == 1 { 1.0 } else { 0.4 }
    }

    /// Height of the numbers above the cells.
    pub(crate) fn height(&self) -> f32 {
        if self.lines == 1 { 0.0 } else { self.lines as f32 * self.size * LINE }
    }
}

/// Height, in lines of running text, below which not all rows of large type can be read.
const TIGHT: f32 = 14.0;

/// Width of a number relative to its room: neighbours on one line must not touch.
const APART: f32 = 0.84;

/// Minimum font size, relative to running text, at which a distance is easy to read.
const READABLE: f32 = 0.62;

/// Line height of numbers relative to the font size.
const LINE: f32 = 1.1;

/// Gap between the names of rows and the columns, and room to the right of these, relative to running text.
const NAME_GAP: f32 = 0.5;
const MARGIN: f32 = 0.6;

/// The columns of a panel, one per lane, with the names of rows on the left.
pub(crate) struct LaneColumns<'a, 'v> {
    view: &'a View<'v>,
    /// The left end of the columns.
    left: f32,
    /// The width of all columns.
    width: f32,
}

impl<'a, 'v> LaneColumns<'a, 'v> {
    /// Columns in a panel of a width, with room for the longest name of a row.
    pub(crate) fn new(view: &'a View<'v>, panel: f32, longest: &str) -> Self {
        let left = width(Font::Sans, view.font_size(0.8), longest) + view.text * NAME_GAP;
        Self { view, left, width: (panel - left - view.text * MARGIN).max(1.0) }
    }

    /// A grid of rows with a height in total.
    pub(crate) fn grid(&self, y: f32, high: f32, rows: u32) -> Grid {
        let columns = self.view.state().shape.width;
        Grid { area: area(self.left, y, self.width, high), columns, rows, gutter: 0.0 }
    }

    /// The room for names.
    pub(crate) fn names(&self, y: f32, high: f32) -> Area {
        area(0.0, y, self.left - self.view.text * NAME_GAP, high)
    }

    /// A table whose rows are drawn one after another.
    pub(crate) fn table<'s>(
        &self,
        scene: &'s mut Scene,
        y: f32,
        row_height: f32,
        total_height: f32,
    ) -> LaneTable<'s, 'a, 'v> {
        let (grid, names) = (self.grid(y, row_height, 1), self.names(y, row_height));
        LaneTable { scene, view: self.view, grid, names, row_height, total_height }
    }
}

/// Rows with one cell per lane.
pub(crate) struct LaneTable<'s, 'a, 'v> {
    scene: &'s mut Scene,
    view: &'a View<'v>,
    /// The grid of the row to draw next.
    grid: Grid,
    names: Area,
    row_height: f32,
    /// The height of all rows together.
    total_height: f32,
}

impl LaneTable<'_, '_, '_> {
    fn name(&mut self, name: &str) {
        self.scene.label(self.names, 1.0, sans(self.view.text * 0.8, Ink::TextWeak), name);
    }

    fn next(&mut self) {
        self.grid.area.y += self.row_height;
        self.names.y += self.row_height;
    }

    fn spots(&mut self) {
        for lane in 0..self.grid.columns {
            self.scene.spot(self.grid.cell(lane, 0), Target::Lane(lane));
        }
    }

    /// Labels the lanes, and frames the explained lane through all rows.
    pub(crate) fn lanes(&mut self, vote: Option<&Vote>, lane: Option<u32>) {
        self.name("lane");
        let size = (self.view.text * 0.85).min(self.row_height / ROW).max(self.view.min_type);
        let widest = width(Font::Sans, size, "00") + size * 0.3;
        let every =
            [1, 2, 4, 8].into_iter().find(|&every| self.grid.wide() * every as f32 >= widest).unwrap_or(16);
        let mask = vote.and_then(|vote| vote.mask).unwrap_or(0);
        for number in 0..self.grid.columns {
            let ink = if Some(number) == lane {
                Ink::Accent
            } else if mask >> number & 1 == 1 {
                Ink::Candidate
            } else {
                Ink::TextWeak
            };
            if number % every == 0 || Some(number) == lane && every == 1 {
                let center = self.grid.cell(number, 0).center();
                self.scene.text(center, [0.5, 0.5], sans(size, ink), number.to_string());
            }
        }
        if let Some(lane) = lane {
            let mut column = self.grid.cell(lane, 0);
            column.height = self.total_height;
            self.scene.rect(column, 3.0, Some(faint(Ink::Accent, 0.16)), None);
        }
        self.spots();
        self.next();
    }

    pub(crate) fn distances(&mut self, vote: Option<&Vote>, numbers: &NumberLayout) {
        let (above, strip) = (numbers.height(), self.row_height * numbers.share_of_row());
        let row = self.grid.area;
        self.names.height = above + strip;
        self.name("distance");
        let scale = Scale::for_recording(self.view.recording());
        self.grid.area = area(row.x, row.y + above, row.width, strip);
        for (lane, &distance) in (0u32..).zip(vote.iter().flat_map(|vote| &vote.distances)) {
            let body = self.grid.body(lane, 0);
            if distance.is_infinite() {
                self.scene.rect(body, 1.5, None, Some(dashed(faint(Ink::TextWeak, 0.8), 0.8, 2.0)));
                continue;
            }
            let magnitude = scale.magnitude(distance);
            let is_asked = vote.is_some_and(|vote| vote.voters >> lane & 1 == 1);
            let fill = Some(faint(Ink::Scale(magnitude), if is_asked { 1.0 } else { 0.25 }));
            match vote.and_then(|vote| vote.points.get(lane as usize)) {
                // Candidates move from here to their slots.
                Some(&point) if point != u32::MAX => {
                    let id = TrackKey::new(TrackId::Key(key_of(distance, point)));
                    self.scene.track(id, body, Transition::Arc, |scene| scene.rect(body, 1.5, fill, None));
                }
                _ => self.scene.rect(body, 1.5, fill, None),
            }
            let words = digits(distance, 3);
            let [x, y] = body.center();
            if numbers.lines == 1 {
                let ink = if is_asked { Ink::OnScale(magnitude) } else { Ink::TextWeak };
                self.scene.text([x, y], [0.5, 0.5], mono(numbers.size, ink), words);
                continue;
            }
            let half = width(Font::Mono, numbers.size, &words) / 2.0;
            let y = row.y + ((lane % numbers.lines) as f32 + 0.5) * numbers.size * LINE;
            // With two lines, the upper numbers are above gaps in the lower line.
            if numbers.lines == 2 && lane % 2 == 0 {
                let from = y + numbers.size * LINE * 0.5;
                self.scene.path(vec![[x, from], [x, self.grid.area.y]], line(faint(Ink::TextWeak, 0.5), 0.8));
            }
            let middle = x.min(self.scene.size[0] - half);
            self.scene.text(
                [middle, y],
                [0.5, 0.5],
                mono(numbers.size, if is_asked { Ink::Text } else { Ink::TextWeak }),
                words,
            );
        }
        self.grid.area = area(row.x, row.y, row.width, above + strip);
        self.spots();
        self.grid.area = area(row.x, row.y + above + strip, row.width, self.row_height);
        self.names.y += above + strip;
        self.names.height = self.row_height;
    }

    /// Draws a mask, lane 0 on the left. `lane`: only the bits below it count.
    pub(crate) fn bits(&mut self, name: &str, bits: Option<u32>, ink: Ink, lane: Option<u32>) {
        self.name(name);
        let size = (self.row_height * 0.66).min(self.grid.wide() * 0.95).min(self.view.text * 0.95);
        for column in 0..self.grid.columns {
            let body = self.grid.body(column, 0);
            let Some(bits) = bits else {
                self.scene.rect(body, 2.0, None, Some(line(faint(Ink::Line, 0.7), 0.8)));
                continue;
            };
            let set = bits >> column & 1 == 1;
            let fill =
                if set { Some(faint(ink, if ink == Ink::TextWeak { 0.35 } else { 1.0 })) } else { None };
            self.scene.rect(body, 2.0, fill, Some(line(faint(Ink::Line, 0.9), 0.8)));
            let words: TextStyle = match set {
                true => mono(size, on(ink)),
                false => mono(
                    size,
                    faint(Ink::TextWeak, if lane.is_some_and(|lane| column > lane) { 0.4 } else { 0.9 }),
                ),
            };
            if size >= 5.0 {
                self.scene.text(body.center(), [0.5, 0.5], words, if set { "1" } else { "0" });
            }
        }
        // Four lanes are one digit of the mask.
        for column in (4..self.grid.columns).step_by(4) {
            let x = self.grid.cell(column, 0).x;
            self.scene.path(
                vec![[x, self.grid.area.y], [x, self.grid.area.y + self.row_height]],
                line(Ink::TextWeak, 1.0),
            );
        }
        self.spots();
        self.next();
    }

    /// Draws the slots of the voting lanes, once they are computed.
    pub(crate) fn slots(&mut self, vote: Option<&Vote>, lane: Option<u32>) {
        self.name("slot");
        let capacity = self.view.state().shape.capacity();
        let known = matches!(
            self.view.step(),
            Some(step)
                if !matches!(
                    step,
                    Step::Group { .. }
                        | Step::Own(SpecificStep::Tree(TreeStep::Leaf { .. }))
                        | Step::Ballot { .. }
                        | Step::FilteredAgain { .. }
                )
        );
        for column in 0..self.grid.columns {
            let body = self.grid.body(column, 0);
            let Some(slot) =
                vote.and_then(|vote| vote.slot(column)).filter(|_| known || lane == Some(column))
            else {
                continue;
            };
            let there = slot < capacity;
            let frame = if there { line(Ink::Buffer, 1.2) } else { dashed(Ink::Candidate, 1.2, 2.5) };
            self.scene.rect(body, 2.0, there.then(|| faint(Ink::Buffer, 0.22)), Some(frame));
            let words = slot.to_string();
            // All numbers or none: large type may have no room for two digits, and single digits alone would
            // confuse.
            let is_large = self.scene.min_type > 0.0;
            let longest = if is_large { (capacity - 1).to_string().len() } else { words.len() };
            let fits = body.width / width(Font::Sans, 1.0, &"0".repeat(longest.max(words.len())));
            let size = (self.row_height * 0.66).min(fits * 0.95).min(self.view.text * 0.9);
            if size >= 4.5 {
                self.scene.text(
                    body.center(),
                    [0.5, 0.5],
                    sans(size, if there { Ink::Text } else { Ink::Candidate }),
                    words,
                );
            }
        }
        self.spots();
        self.next();
    }
}

/// The ink that is legible on a set bit.
pub(crate) fn on(ink: Ink) -> Ink {
    match ink {
        Ink::TextWeak => Ink::Text,
        Ink::Candidate | Ink::Intermediate => Ink::OnCandidate,
        _ => Ink::Canvas,
    }
}

/// Draws the buffer with the last candidates marked.
pub(crate) fn buffer(scene: &mut Scene, view: &View<'_>, grid: &Grid, names: Area) {
    let (state, text) = (view.state(), view.text);
    let shape = state.shape;
    let scale = Scale::for_recording(view.recording());
    let taken = state.buffer[..state.buffered as usize].iter().copied().filter(|&key| key != PADDING);
    let look = grid.flat_look(taken, text);
    for (slot, &key) in (0u32..).zip(&state.buffer) {
        let (row, column) = (slot / shape.width, slot % shape.width);
        grid.draw(scene, column, row, slot_holds(state, slot, key), look, &scale);
        scene.spot(grid.cell(column, row), Target::Slot(slot));
    }
    match view.step() {
        Some(Step::Appended { placed }) => {
            for candidate in placed {
                grid.mark(scene, candidate.slot % shape.width, candidate.slot / shape.width, Ink::Candidate);
            }
        }
        Some(Step::Positions { slots }) => {
            for slot in slots.iter().map(|slot| slot.slot).filter(|&slot| slot < shape.capacity()) {
                let rect = grid.full(slot % shape.width, slot / shape.width).inner(1.0);
                scene.rect(rect, 2.0, None, Some(dashed(Ink::Candidate, 1.6, 3.0)));
            }
        }
        _ => {}
    }
    if let Some(Target::Slot(slot)) = view.hover
        && slot < shape.capacity()
    {
        scene.hovered(grid.full(slot % shape.width, slot / shape.width));
    }
    let size = (text * 0.8).min(grid.high() * 1.1);
    let every = [1, 2, 4, 8, 16, 32]
        .into_iter()
        .find(|&every| grid.high() * every as f32 >= text * 0.8)
        .unwrap_or(32);
    for row in (0..shape.registers).step_by(every as usize) {
        let rect = area(
            names.x,
            grid.cell(0, row).y,
            names.width,
            grid.high().max(size * ROW).min(names.bottom() - grid.cell(0, row).y),
        );
        let slots =
            if shape.registers == 1 { "buffer".to_owned() } else { format!("{} on", row * shape.width) };
        scene.label(rect, 1.0, sans(size, Ink::TextWeak), &slots);
    }
}

//! The picture of a figure: title, panels side by side, legend, and what the publication states.

use super::axis::{Axis, label};
use super::{Curve, Figure};
use crate::lesson::picture::pen::{ROW, Words, area, dashed, line, sans, width};
use crate::lesson::picture::scene::{Area, Font, Ink, Point, Scene, Shape};
use crate::run::presets::Panel;

/// Size of text and of titles, in points.
const TEXT: f32 = 12.0;
const TITLE: f32 = 16.0;

/// Width and height of a panel with its labels, and the space around everything.
const PANEL: [f32; 2] = [450.0, 330.0];
const MARGIN: f32 = 24.0;

/// Half the size of a marker.
const MARKER: f32 = 4.0;

/// A line of text.
const LINE: f32 = TEXT * ROW;

/// Draws everything, on a picture as high as it needs.
pub fn scene(figure: &Figure) -> Scene {
    // A panel that nothing was measured for is left out, but one stays.
    let mut panels: Vec<(Panel, Vec<Curve>)> = figure.panels.iter().map(|panel| (*panel, figure.curves(*panel))).collect();
    if panels.iter().any(|(_, curves)| !curves.is_empty()) {
        panels.retain(|(_, curves)| !curves.is_empty());
    } else {
        panels.truncate(1);
    }
    let wide = PANEL[0] * panels.len().max(1) as f32;
    let mut page = Page { scene: Scene::new(wide + 2.0 * MARGIN, 0.0), y: MARGIN, wide };
    page.lines(&figure.title, TITLE, Ink::Text);
    let by = figure.preset.map(|name| format!("warpscope sweep --preset {name}"));
    let devices = (!figure.devices.is_empty()).then(|| format!("on {}", figure.devices.join(" and ")));
    let about: Vec<&str> = by.iter().chain(&figure.conditions).chain(&devices).map(String::as_str).collect();
    page.lines(&about.join(", "), TEXT, Ink::TextWeak);
    page.y += LINE / 2.0;
    for (at, (panel, curves)) in panels.iter().enumerate() {
        let room = area(MARGIN + PANEL[0] * at as f32, page.y, PANEL[0], PANEL[1]);
        draw_panel(&mut page.scene, room, figure, *panel, curves);
    }
    page.y += PANEL[1] + LINE / 2.0;
    page.legend(figure, &panels);
    if figure.has_zeros() {
        page.lines("Counts of 0 are not drawn: a logarithmic axis has no place for them.", TEXT, Ink::TextWeak);
    }
    page.stated(figure);
    page.scene.size[1] = page.y + MARGIN;
    page.scene
}

/// A picture that is written from top to bottom.
struct Page {
    scene: Scene,
    /// How far it is written.
    y: f32,
    /// Width between the margins.
    wide: f32,
}

impl Page {
    /// Text in as many lines as it needs.
    fn lines(&mut self, text: &str, size: f32, ink: Ink) {
        for row in Words::new(text, Font::Sans).wrap(size, self.wide) {
            self.scene.text([MARGIN, self.y], [0.0, 0.0], sans(size, ink), row);
            self.y += size * ROW;
        }
    }

    /// A marker and a name for each method, and what dashed lines and open marks are.
    fn legend(&mut self, figure: &Figure, panels: &[(Panel, Vec<Curve>)]) {
        let mut x = MARGIN;
        let mut put = |page: &mut Self, text: &str, draw: &dyn Fn(&mut Scene, [Point; 2])| {
            let needed = 30.0 + width(Font::Sans, TEXT, text) + 18.0;
            if x > MARGIN && x + needed > MARGIN + page.wide {
                (x, page.y) = (MARGIN, page.y + LINE);
            }
            let middle = page.y + LINE / 2.0;
            draw(&mut page.scene, [[x, middle], [x + 24.0, middle]]);
            page.scene.text([x + 30.0, middle], [0.0, 0.5], sans(TEXT, Ink::Text), text);
            x += needed;
        };
        for (method, choice) in figure.methods.iter().enumerate() {
            if panels.iter().flat_map(|(_, curves)| curves).any(|curve| curve.method == method) {
                put(self, &choice.to_string(), &|scene, ends| curve(scene, &ends, method, false, &[middle_of(ends)]));
            }
        }
        if panels.iter().any(|(panel, _)| *panel == Panel::Points) {
            for (text, is_dashed) in [("accessed", false), ("retained", true)] {
                put(self, text, &|scene, ends| {
                    let stroke = if is_dashed { dashed(Ink::TextWeak, 1.5, 4.0) } else { line(Ink::TextWeak, 1.5) };
                    scene.shapes.push(Shape::Path { points: ends.to_vec(), line: stroke });
                });
            }
        }
        if panels.iter().any(|(panel, _)| !figure.stated_in(*panel).is_empty()) {
            put(self, "stated in the paper (RTX 3070)", &|scene, ends| open_diamond(scene, middle_of(ends)));
        }
        self.y += LINE * 1.5;
    }

    /// The publication's sentences, and whether they are about the same problem.
    fn stated(&mut self, figure: &Figure) {
        if figure.stated.is_empty() {
            return;
        }
        let condition = if figure.is_as_published { "" } else { ", with its own data and sizes, which differ from these" };
        self.lines(&format!("The paper (Wang and Ino 2025) states, of an NVIDIA GeForce RTX 3070{condition}"), TEXT, Ink::Text);
        for stated in figure.stated {
            self.lines(&format!("\u{2022} {}", stated.says), TEXT, Ink::TextWeak);
        }
    }
}

/// Axes, grid, lines and marks of a panel.
fn draw_panel(scene: &mut Scene, mut room: Area, figure: &Figure, panel: Panel, curves: &[Curve]) {
    let title = room.take_top(LINE * 1.6);
    let foot = room.take_bottom(LINE * 2.6);
    room.take_left(58.0);
    room.take_right(16.0);
    scene.text([room.x, title.y], [0.0, 0.0], sans(TEXT, Ink::Text), about(figure, panel));
    scene.text([room.x + room.width / 2.0, foot.bottom()], [0.5, 1.0], sans(TEXT, Ink::Text), format!("{}, {}", figure.x.name(), figure.x.about()));
    let stated = figure.stated_in(panel);
    let all = || curves.iter().flat_map(|curve| &curve.points).chain(&stated);
    let across = Axis::around(all().map(|point| point[0]), [room.x, room.right()]);
    let places = [room.bottom(), room.y];
    let upwards = match panel {
        Panel::ActiveThreads => Some(Axis::linear([0.0, 32.0], places)),
        _ => Axis::around(all().map(|point| point[1]), places),
    };
    let (Some(across), Some(upwards)) = (across, upwards) else {
        scene.text(room.center(), [0.5, 0.5], sans(TEXT, Ink::TextWeak), "Nothing was measured");
        return;
    };
    for tick in upwards.ticks(8) {
        let y = upwards.place(tick);
        scene.shapes.push(Shape::Path { points: vec![[room.x, y], [room.right(), y]], line: line(Ink::Grid, 1.0) });
        scene.text([room.x - 6.0, y], [1.0, 0.5], sans(TEXT, Ink::TextWeak), label(tick));
    }
    // The values that were measured are the ticks, where their numbers have room.
    let mut values: Vec<f64> = all().map(|point| point[0]).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut free = f32::NEG_INFINITY;
    for value in values {
        let (x, text) = (across.place(value), label(value));
        let half = width(Font::Sans, TEXT, &text) / 2.0;
        scene.shapes.push(Shape::Path { points: vec![[x, room.bottom()], [x, room.bottom() + 4.0]], line: line(Ink::TextWeak, 1.0) });
        if x - half > free {
            scene.text([x, room.bottom() + 6.0], [0.5, 0.0], sans(TEXT, Ink::TextWeak), text);
            free = x + half + 6.0;
        }
    }
    scene.shapes.push(Shape::Rect { area: room, round: 0.0, fill: None, line: Some(line(Ink::TextWeak, 1.0)) });
    for drawn in curves {
        let points: Vec<Point> = drawn.points.iter().map(|&[x, y]| [across.place(x), upwards.place(y)]).collect();
        curve(scene, &points, drawn.method, drawn.dashed, &points);
    }
    for [x, y] in stated {
        open_diamond(scene, [across.place(x), upwards.place(y)]);
    }
}

/// What a panel draws, with its unit.
fn about(figure: &Figure, panel: Panel) -> String {
    match panel {
        Panel::Time => "Search time in ms, median, without the index".to_owned(),
        Panel::Points => "Points accessed and retained, means over queries".to_owned(),
        Panel::ActiveThreads => "Active threads of a warp, of 32, mean".to_owned(),
        Panel::Speedup => {
            let first = figure.methods.first().map_or_else(String::new, ToString::to_string);
            format!("Speedup, a factor, over {first}")
        }
    }
}

/// A line in the colour of a method, and its marker at each place.
fn curve(scene: &mut Scene, points: &[Point], method: usize, is_dashed: bool, marks: &[Point]) {
    let ink = Ink::Category(method);
    let stroke = if is_dashed { dashed(ink, 1.5, 4.0) } else { line(ink, 1.8) };
    scene.shapes.push(Shape::Path { points: points.to_vec(), line: stroke });
    for &[x, y] in marks {
        let corners = |around: &[[f32; 2]]| around.iter().map(|[right, down]| [x + right * MARKER, y + down * MARKER]).collect();
        let shape = match method % 4 {
            0 => Shape::Dots { centers: vec![[x, y]], radius: MARKER, fill: Some(ink.into()), line: None },
            1 => Shape::Polygon { corners: corners(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]), fill: ink.into() },
            2 => Shape::Polygon { corners: corners(&[[0.0, -1.2], [1.1, 0.9], [-1.1, 0.9]]), fill: ink.into() },
            _ => Shape::Polygon { corners: corners(&[[0.0, 1.2], [1.1, -0.9], [-1.1, -0.9]]), fill: ink.into() },
        };
        scene.shapes.push(shape);
    }
}

/// The mark of a number that somebody else measured.
fn open_diamond(scene: &mut Scene, [x, y]: Point) {
    let size = MARKER * 1.7;
    let points = vec![[x, y - size], [x + size, y], [x, y + size], [x - size, y], [x, y - size]];
    scene.shapes.push(Shape::Path { points, line: line(Ink::Theory, 1.6) });
}

fn middle_of([from, to]: [Point; 2]) -> Point {
    [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0]
}

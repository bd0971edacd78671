//! The panel of the pseudocode, with the current line highlighted.

use std::ops::Range;

use super::View;
use super::pen::{MeasuredText, ROW, area, faint, line, mono, sans, width};
use super::scene::{Font, Ink, Scene, Target};
use crate::algorithms::Pseudocode;

/// Indentation per level, in characters.
const INDENT: usize = 2;

/// Minimum font size relative to running text at which all lines, or one half, are shown; below that, only
/// the lines around the current one are.
const SMALLEST: f32 = 0.62;
const FEW: f32 = 0.85;

/// Lines of the pseudocode, wrapped at a font size.
struct Layout {
    size: f32,
    /// Index of the line, horizontal offset, and text.
    rows: Vec<(usize, f32, String)>,
}

impl Layout {
    fn new(size: f32, code: &Pseudocode, words: &[MeasuredText<'_>], lines: Range<usize>, room: f32) -> Self {
        let letter = width(Font::Mono, size, "0");
        let mut rows = Vec::new();
        for number in lines {
            let line = &code.lines[number];
            let indent = (line.depth * INDENT) as f32 * letter;
            if line.text.is_empty() {
                rows.push((number, 0.0, String::new()));
                continue;
            }
            // Continuation lines are indented further.
            let hang = 2.0 * letter;
            for (at, words) in words[number].wrap(size, room - indent - hang).into_iter().enumerate() {
                rows.push((number, indent + if at > 0 { hang } else { 0.0 }, words));
            }
        }
        Self { size, rows }
    }

    fn height(&self) -> f32 {
        self.rows.len() as f32 * self.size * ROW
    }
}

/// Draws the panel: all lines if they are readable, else the half (search or merge) that is running.
pub fn draw(view: &View<'_>, [wide, high]: [f32; 2]) -> Scene {
    let (mut scene, mut room) = view.canvas([wide, high]);
    let text = view.text;
    let code = view.recording().code();
    let running = view.step().and_then(|step| code.line_of(step));
    let title = room.take_top(text * 1.6);
    // Very low panels show a line of code without its file.
    let has_foot = high >= text * (1.6 + 2.5 * ROW);
    let foot = room.take_bottom(if has_foot { text * ROW } else { 0.0 });
    let margin = text * 0.4;
    let inside = room.width - 2.0 * margin;

    let (all, second) = (code.lines.len(), code.second_part);
    let half = if running.is_some_and(|line| line >= second) { second..all } else { 0..second - 1 };
    let words: Vec<MeasuredText<'_>> =
        code.lines.iter().map(|line| MeasuredText::new(line.text, Font::Mono)).collect();
    let sizes = |lines: Range<usize>| {
        let steps = (0..=12).map(|step| text * (0.95 - (0.95 - SMALLEST) * step as f32 / 12.0));
        steps
            .map(|size| Layout::new(size, code, &words, lines.clone(), inside))
            .find(|layout| layout.height() <= room.height)
    };
    let (layout, says) = match sizes(0..all) {
        Some(layout) => (layout, code.titles[0]),
        None => {
            let says = code.titles[if half.start == second { 2 } else { 1 }];
            (sizes(half.clone()).unwrap_or_else(|| Layout::new(text * FEW, code, &words, half, inside)), says)
        }
    };
    scene.label(title, 0.0, sans(text, Ink::Text), says);
    let row = layout.size * ROW;
    // If even half of the lines do not fit, those around the current one.
    let fit = ((room.height / row) as usize).max(1);
    let lit = layout.rows.iter().position(|(number, ..)| Some(*number) == running).unwrap_or(0);
    let first = lit.saturating_sub(fit / 2).min(layout.rows.len().saturating_sub(fit));
    let shown = &layout.rows[first..(first + fit).min(layout.rows.len())];
    for (at, (number, indent, words)) in shown.iter().enumerate() {
        let rect = area(room.x, room.y + at as f32 * row, room.width, row);
        let runs = Some(*number) == running;
        if runs {
            scene.fill(rect, faint(Ink::Accent, 0.2));
            scene.fill(area(rect.x, rect.y, margin * 0.5, rect.height), Ink::Accent);
        }
        if view.hover == Some(Target::CodeLine(*number)) {
            scene.rect(rect.inner(0.5), 2.0, None, Some(line(faint(Ink::Text, 0.6), 1.0)));
        }
        scene.label(
            area(margin + indent, rect.y, (inside - indent).max(0.0), rect.height),
            0.0,
            mono(layout.size, Ink::Text),
            words,
        );
        if !words.is_empty() {
            scene.spot(rect, Target::CodeLine(*number));
        }
    }
    let asked = match view.hover {
        Some(Target::CodeLine(number)) => Some(number),
        _ => running,
    };
    let source = asked
        .and_then(|number| code.lines.get(number)?.source)
        .map_or_else(String::new, |(file, _)| format!("in cuda/{file}"));
    if has_foot {
        scene.label(foot, 0.0, sans(text * 0.85, Ink::TextWeak), &source);
    }
    scene
}

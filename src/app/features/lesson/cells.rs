//! Options of a question in cells: all in a row, in two columns, or where the window is narrow one below the other.

use std::sync::Arc;

use egui::{Color32, FontId, Galley, Rect, Sense, Ui, pos2, vec2};

/// How a question is laid out.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Size of running text, in points.
    pub size: f32,
    /// Whether the height is given, as when it is presented: nothing may have to be scrolled to, and no type is smaller than `size`.
    pub is_tight: bool,
}

/// The height of a cell of one line, and its least width where there are two columns, in sizes of type.
const ROW: f32 = 1.3;
const COLUMN: f32 = 20.0;

/// Cells for texts, in reading order, with the texts laid out. Beside each text, `beside` points are left free.
pub fn cells(ui: &mut Ui, texts: &[String], beside: f32, size: f32) -> Vec<(Rect, Arc<Galley>)> {
    let (wide, gap, around) = (ui.available_width(), size * 0.5, beside + size * 0.6);
    let text = |text: &String, wide: f32| ui.painter().layout(text.clone(), FontId::proportional(size), Color32::PLACEHOLDER, wide);
    let lengths: Vec<f32> = texts.iter().map(|of| text(of, f32::INFINITY).size().x + around).collect();
    let widths = columns(&lengths, wide, gap, size * COLUMN);
    let galleys: Vec<Arc<Galley>> =
        texts.iter().zip(widths.iter().cycle()).map(|(of, width)| text(of, (width - around + 1.0).max(size * 4.0))).collect();
    let mut placed = Vec::with_capacity(galleys.len());
    for row in galleys.chunks(widths.len()) {
        let high = row.iter().map(|galley| galley.size().y + size * 0.1).fold(size * ROW, f32::max);
        let (rect, _) = ui.allocate_exact_size(vec2(wide, high), Sense::hover());
        let mut left = rect.left();
        for (&width, galley) in widths.iter().zip(row) {
            placed.push((Rect::from_min_size(pos2(left, rect.top()), vec2(width, high)), Arc::clone(galley)));
            left += width + gap;
        }
    }
    placed
}

/// The widths of columns for cells of these lengths: one row if each fits into the same share, else two columns at least so wide, else one.
fn columns(lengths: &[f32], wide: f32, gap: f32, least: f32) -> Vec<f32> {
    let all = lengths.len().max(1);
    let share = |columns: usize| (wide - gap * (columns as f32 - 1.0)) / columns as f32;
    let longest = |cells: &mut dyn Iterator<Item = &f32>| cells.copied().fold(least.min(share(2)), f32::max);
    if lengths.iter().all(|&length| length <= share(all)) {
        return vec![share(all); all];
    }
    if share(2) < least {
        return vec![wide];
    }
    // A long option takes room from a column of short ones before it is broken.
    let [left, right] = [0, 1].map(|first| longest(&mut lengths.iter().skip(first).step_by(2)));
    let spare = wide - gap - left - right;
    if spare >= 0.0 { vec![left + spare / 2.0, right + spare / 2.0] } else { vec![share(2); 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_options_stand_in_a_row_long_ones_in_two_columns_or_below_each_other() {
        assert_eq!(columns(&[50.0, 60.0, 70.0, 80.0], 390.0, 10.0, 100.0), [90.0; 4]);
        assert_eq!(columns(&[120.0, 60.0, 150.0, 80.0], 390.0, 10.0, 100.0), [215.0, 165.0], "as wide as what is in them asks for");
        assert_eq!(columns(&[300.0, 200.0, 150.0, 80.0], 390.0, 10.0, 100.0), [190.0; 2], "what is longer is broken");
        assert_eq!(columns(&[120.0, 60.0, 150.0, 80.0], 190.0, 10.0, 100.0), [190.0]);
        assert_eq!(columns(&[120.0, 60.0], 390.0, 10.0, 100.0), [190.0; 2]);
    }
}

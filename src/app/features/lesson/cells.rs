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
const ROW: f32 = 1.4;
const COLUMN: f32 = 20.0;

/// Cells for texts, in reading order. Beside each text, `beside` points are left free.
pub fn cells(ui: &mut Ui, texts: &[String], beside: f32, size: f32) -> Vec<(Rect, Arc<Galley>)> {
    let (wide, gap, inside) = (ui.available_width(), size * 0.5, size * 0.8);
    let width = |columns: usize| (wide - gap * (columns as f32 - 1.0)) / columns as f32;
    let text = |text: &String, wide: f32| ui.painter().layout(text.clone(), FontId::proportional(size), Color32::PLACEHOLDER, wide);
    let longest = texts.iter().map(|of| text(of, f32::INFINITY).size().x).fold(0.0, f32::max);
    let columns = match texts.len().max(1) {
        all if longest + beside + inside <= width(all) => all,
        all if width(2) >= size * COLUMN => all.min(2),
        _ => 1,
    };
    let galleys: Vec<Arc<Galley>> = texts.iter().map(|of| text(of, (width(columns) - beside - inside).max(size * 4.0))).collect();
    let mut placed = Vec::with_capacity(galleys.len());
    for row in galleys.chunks(columns) {
        let high = row.iter().map(|galley| galley.size().y + size * 0.2).fold(size * ROW, f32::max);
        let (rect, _) = ui.allocate_exact_size(vec2(wide, high), Sense::hover());
        for (column, galley) in row.iter().enumerate() {
            let left = rect.left() + column as f32 * (width(columns) + gap);
            placed.push((Rect::from_min_size(pos2(left, rect.top()), vec2(width(columns), high)), Arc::clone(galley)));
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tops of the cells of four options, and their number in the first row.
    fn laid_out(text: &str, wide: f32) -> (usize, usize) {
        let ctx = egui::Context::default();
        let mut found = (0, 0);
        let _ = ctx.run_ui(egui::RawInput::default(), |ui| {
            ui.set_width(wide);
            let texts = vec![text.to_owned(); 4];
            let tops: Vec<f32> = cells(ui, &texts, 100.0, 18.0).iter().map(|(rect, _)| rect.top()).collect();
            let first = tops.iter().filter(|top| **top == tops[0]).count();
            found = (first, tops.len());
        });
        found
    }

    #[test]
    fn short_options_stand_in_a_row_long_ones_in_two_columns_or_below_each_other() {
        assert_eq!(laid_out("A  7", 1200.0), (4, 4));
        assert_eq!(laid_out("A  The direction of every comparator", 1200.0), (2, 4));
        assert_eq!(laid_out("A  The direction of every comparator", 600.0), (1, 4));
    }
}

//! Rings in the picture while a question is open: around what it is about, and around what was chosen.

use egui::{Color32, Rect, Stroke, StrokeKind, Ui};

use crate::app::features::lesson::paint::Place;
use crate::app::features::lesson::state::player::Player;
use crate::app::features::lesson::state::quiz::{Entry, Phase, Quiz};
use crate::app::look::tokens::Palette;
use crate::lesson::feedback::subjects;
use crate::lesson::picture::{Scene, Target};
use crate::lesson::questions::Pointed;

/// What a question is about, and what was chosen, around it.
pub fn marks_ui(ui: &Ui, scene: &Scene, place: Place, quiz: &Quiz, player: &Player, palette: &Palette) {
    let painter = ui.painter();
    let ring = |target: Target, color: Color32, width: f32, grow: f32| {
        for rect in columns_of(scene.spots.iter().filter(|spot| spot.target == target).map(|spot| place.rect(spot.area))) {
            painter.rect_stroke(rect.expand(grow), 3.0, Stroke::new(width, color), StrokeKind::Outside);
        }
    };
    let (_, question) = quiz.question();
    for target in subjects(question, &player.take().recording) {
        ring(target, palette.query, 2.5, if matches!(target, Target::Lane(_)) { 1.0 } else { 0.0 });
    }
    match quiz.phase() {
        Phase::Asking(Entry::Lanes { mask, at }) => {
            for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
                ring(Target::Lane(lane), palette.accent, 3.0, 1.0);
            }
            ring(Target::Lane(*at), palette.text, 1.0, 4.0);
        }
        Phase::Asking(Entry::Number(text)) => {
            let target = match quiz.pointed() {
                Some(Pointed::Slot) => text.parse().map(Target::Slot).ok(),
                Some(Pointed::Lane) => text.parse().map(Target::Lane).ok(),
                None => None,
            };
            if let Some(target) = target {
                ring(target, palette.accent, 3.0, 1.0);
            }
        }
        _ => {}
    }
}

/// Cells that stand one under the other, as one.
fn columns_of(cells: impl Iterator<Item = Rect>) -> Vec<Rect> {
    /// Rows farther apart are parts of their own.
    const GAP: f32 = 8.0;
    let mut columns: Vec<Rect> = Vec::new();
    for cell in cells {
        let above = columns.iter_mut().find(|column| {
            (column.left() - cell.left()).abs() < 1.0 && (column.right() - cell.right()).abs() < 1.0 && cell.expand(GAP).intersects(**column)
        });
        match above {
            Some(column) => *column = column.union(cell),
            None => columns.push(cell),
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use egui::{pos2, vec2};

    use super::*;

    #[test]
    fn cells_of_a_lane_are_ringed_together_and_its_other_place_apart() {
        let cell = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(10.0, 8.0));
        let rings = columns_of([cell(20.0, 0.0), cell(20.0, 9.0), cell(20.0, 18.0), cell(20.0, 80.0), cell(31.0, 9.0)].into_iter());
        assert_eq!(rings, [Rect::from_min_max(pos2(20.0, 0.0), pos2(30.0, 26.0)), cell(20.0, 80.0), cell(31.0, 9.0)]);
    }
}

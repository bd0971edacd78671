//! The marks over points, explained.

use egui::{Align, Align2, Label, Layout, Sense, Stroke, TextStyle, Ui, vec2};

use crate::app::look::tokens::Palette;
use crate::app::model::Mark;

/// How wide a mark is in the legend.
const SAMPLE: f32 = 14.0;

/// Each mark and what it stands for, in a line that wraps.
pub fn marks_legend_ui(ui: &mut Ui, marks: &[Mark], palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        for &mark in marks {
            let text = ui.painter().layout_no_wrap(mark.text().to_owned(), TextStyle::Body.resolve(ui.style()), palette.text);
            let size = vec2(SAMPLE + 6.0 + text.size().x, text.size().y);
            // In one piece, which goes to the next line as a whole.
            ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = 6.0;
                let (rect, _) = ui.allocate_exact_size(vec2(SAMPLE, SAMPLE), Sense::hover());
                let (painter, center) = (ui.painter(), Align2::CENTER_CENTER.pos_in_rect(&rect));
                match mark {
                    Mark::Query => {
                        painter.circle_filled(center, 3.0, palette.query);
                        painter.circle_stroke(center, 6.0, Stroke::new(1.5, palette.query));
                    }
                    Mark::Neighbors => {
                        painter.circle_filled(center, 3.5, palette.neighbor);
                    }
                    Mark::Circle => {
                        painter.circle_stroke(center, 6.0, Stroke::new(1.5, palette.intermediate));
                    }
                    Mark::Selected => {
                        painter.circle_filled(center, 3.5, palette.selected);
                    }
                }
                ui.add(Label::new(mark.text()).extend());
            });
        }
    });
}

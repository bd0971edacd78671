//! Source text, with the numbers of its lines.

use egui::{Label, RichText, ScrollArea, TextStyle, Ui};

use crate::app::look::tokens::Palette;

/// The height of a line, without what is between two.
pub fn code_height(ui: &Ui) -> f32 {
    ui.text_style_height(&TextStyle::Monospace) + 2.0
}

/// A text in an area that scrolls; of its lines only those in sight are laid out. `lit` is a line that is emphasised, from 0.
pub fn code_ui(area: ScrollArea, ui: &mut Ui, text: &str, lit: Option<usize>, palette: &Palette) {
    area.show_rows(ui, code_height(ui), text.lines().count(), |ui, rows| {
        for (at, line) in text.lines().enumerate().skip(rows.start).take(rows.len()) {
            let is_lit = lit == Some(at);
            let color = if is_lit { palette.on_accent } else { palette.text };
            let mut shown = RichText::new(format!("{:>4}  {line}", at + 1)).monospace().color(color);
            if is_lit {
                shown = shown.background_color(palette.accent);
            }
            ui.add(Label::new(shown).extend());
        }
    });
}

//! The CUDA source that corresponds to the picture.

use egui::{RichText, ScrollArea, Ui};

use super::state::LessonAction;
use super::state::player::Player;
use crate::app::look::tokens::Palette;
use crate::app::look::{code_height, code_ui};
use crate::app::model::Actions;
use crate::engines::cuda::source_of;

/// The source window while it is open. `shown` is a line of the pseudocode; `None` follows the running one.
pub fn source_ui(ui: &Ui, shown: Option<usize>, player: &Player, palette: &Palette, actions: &mut Actions) {
    let code = player.cursor().recording().code();
    let running = || player.cursor().step().and_then(|step| code.line_of(&step));
    let line = shown.or_else(running);
    let found =
        line.and_then(|line| code.lines.get(line)).and_then(|line| line.source.map(|source| (line, source)));
    let mut open = true;
    let size = ui.ctx().content_rect().size();
    egui::Window::new("Source of the kernel")
        .id(egui::Id::unique("kernel source"))
        .open(&mut open)
        .collapsible(false)
        .default_size([640.0_f32.min(size.x - 40.0), 420.0_f32.min(size.y - 80.0)])
        .default_pos([(size.x - 680.0).max(10.0), 60.0])
        .show(ui.ctx(), |ui| {
            let Some((line, (file, search))) = found else {
                let why = if line.is_none() {
                    "Nothing has run yet: step forward, or click a line of the code."
                } else {
                    "This line of the code has no line of its own in cuda/."
                };
                ui.label(RichText::new(why).color(palette.text_weak));
                return;
            };
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(format!("cuda/{file}")).strong());
                ui.label(RichText::new(line.text.trim()).color(palette.text_weak));
                if shown.is_some() && ui.button("Follow the steps").clicked() {
                    actions.send(LessonAction::Source(Some(None)));
                }
            });
            ui.separator();
            match source_of(file) {
                Some(text) => text_ui(ui, file, text, search, palette),
                None => {
                    ui.label(RichText::new("This build does not include that file.").color(palette.error));
                }
            }
        });
    if !open {
        actions.send(LessonAction::Source(None));
    }
}

/// A source with line numbers; the line that contains `search` is highlighted and scrolled into view.
fn text_ui(ui: &mut Ui, file: &str, text: &'static str, search: &str, palette: &Palette) {
    let lit = text.lines().position(|line| line.contains(search));
    let height = code_height(ui);
    let seen = egui::Id::unique("kernel source line");
    // Scrolls only when the line changes.
    let moved = ui.ctx().data_mut(|data| data.insert_temp_or_replace(seen, (file.to_owned(), lit)));
    let mut area = ScrollArea::both().auto_shrink(false);
    if let Some(at) = lit.filter(|_| moved) {
        area = area.vertical_scroll_offset(
            (at as f32 * (height + ui.spacing().item_spacing.y) - ui.available_height() / 2.0).max(0.0),
        );
    }
    code_ui(area, ui, text, lit, palette);
}

/// Stores a value and returns whether it changed.
trait IdTypeMapExt {
    fn insert_temp_or_replace<T: Clone + PartialEq + Send + Sync + 'static>(
        &mut self,
        id: egui::Id,
        value: T,
    ) -> bool;
}

impl IdTypeMapExt for egui::util::IdTypeMap {
    fn insert_temp_or_replace<T: Clone + PartialEq + Send + Sync + 'static>(
        &mut self,
        id: egui::Id,
        value: T,
    ) -> bool {
        let before = self.get_temp::<T>(id);
        let moved = before.as_ref() != Some(&value);
        self.insert_temp(id, value);
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::algorithms::kernel::KERNEL;
    use crate::lesson::algorithms::radix_select::SELECTION;
    use crate::lesson::algorithms::tree::TRAVERSAL;
    use crate::lesson::algorithms::warp_select::QUEUES;

    #[test]
    fn code_lines_occur_once_in_the_embedded_source() {
        let lines = [&KERNEL, &TRAVERSAL, &QUEUES, &SELECTION].into_iter().flat_map(|code| &code.lines);
        for (file, search) in lines.filter_map(|line| line.source) {
            let text = source_of(file).unwrap_or_else(|| panic!("{file} is not embedded"));
            assert_eq!(text.matches(search).count(), 1, "{search} in {file}");
        }
    }
}

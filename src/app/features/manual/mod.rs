//! The embedded documents, shown in the window.
//!
//! | module | role |
//! |---|---|
//! | `state` | the documents, and the current one |
//! | `apply` | opens and switches documents |

use egui_commonmark::{CommonMarkCache, CommonMarkViewer};

use crate::app::features::manual::state::{DOCUMENTS, Manual, count, named, targets};
use crate::app::prelude::*;
use crate::text;

pub mod apply;
pub mod state;

/// Width of the table of contents.
const CONTENTS_WIDTH: f32 = 216.0;

/// A narrower window has a chooser instead of the table of contents.
const NARROW_WINDOW: f32 = 560.0;

/// Maximum width of a text, for readability.
const MAX_TEXT_WIDTH: usize = 680;

/// A cache with hooks for all links, so that clicks are reported here and nothing else is opened.
pub fn cache() -> CommonMarkCache {
    let mut cache = CommonMarkCache::default();
    for document in DOCUMENTS.iter() {
        targets(&document.text).for_each(|target| cache.add_link_hook(target));
    }
    cache
}

pub fn manual_ui(
    ui: &Ui,
    session: &Session,
    cache: &mut CommonMarkCache,
    palette: &Palette,
    actions: &mut Actions,
) {
    let Some(manual) = &session.manual else { return };
    let (mut next, mut open) = (manual.clone(), true);
    let room = ui.ctx().content_rect().shrink(16.0);
    let window = egui::Window::new("Help")
        .open(&mut open)
        .collapsible(false)
        .default_size(room.size().min(vec2(900.0, 640.0)));
    window.default_pos(room.center() - room.size().min(vec2(900.0, 660.0)) / 2.0).show(ui.ctx(), |ui| {
        let narrow = ui.available_width() < NARROW_WINDOW;
        head_ui(ui, &mut next, cache, narrow, palette);
        ui.separator();
        let size = ui.available_size();
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
            if !narrow {
                let size = vec2(CONTENTS_WIDTH, ui.available_height());
                ui.allocate_ui_with_layout(size, Layout::top_down_justified(Align::Min), |ui| {
                    contents_ui(ui, &mut next, palette)
                });
            }
            ui.vertical(|ui| document_ui(ui, &next, cache));
        });
    });
    for (target, _) in cache.link_hooks().iter().filter(|(_, clicked)| **clicked) {
        match named(target) {
            Some(document) => next.open(document),
            // No browser can be opened from here.
            None => actions.send(Action::CopyAddress(target.clone())),
        }
    }
    if !open {
        actions.send(Action::SetManual(None));
    } else if next != *manual {
        actions.send(Action::SetManual(Some(next)));
    }
}

/// Back button, chooser in a narrow window, and search field.
fn head_ui(ui: &mut Ui, manual: &mut Manual, cache: &mut CommonMarkCache, narrow: bool, palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        if ui.add_enabled(!manual.before.is_empty(), Button::new("Back")).clicked()
            && let Some(before) = manual.before.pop()
        {
            manual.document = before;
        }
        if narrow {
            let shown = &*DOCUMENTS[manual.document].title;
            let combo = ComboBox::from_id_salt("document")
                .width(150.0)
                .selected_text(shown)
                .show_ui(ui, |ui| contents_ui(ui, manual, palette));
            name_chooser(&combo.response, "Document", shown);
        }
        let edit = TextEdit::singleline(&mut manual.sought).hint_text("Search").desired_width(160.0);
        let field = ui.add(edit);
        name_widget(&field, Role::TextInput, "Search in the documents");
        let again = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let (id, text) = (id_of(manual.document), &DOCUMENTS[manual.document].text);
        if *cache.search_query_mut(&id) != manual.sought {
            cache.search_query_mut(&id).clone_from(&manual.sought);
            cache.update_search_matches(&id, text);
        }
        if manual.sought.trim().is_empty() {
            return;
        }
        let found = cache.search_ranges(&id).len();
        for (name, by) in [("Previous", -1), ("Next", 1)] {
            if ui.add_enabled(found > 0, Button::new(name)).clicked() || (again && by > 0) {
                cache.go_to_match(&id, by);
            }
        }
        if again {
            field.request_focus();
        }
        let at = cache.active_match(&id).map_or(0, |at| at + 1);
        let said = if found == 0 {
            "not in this document".to_owned()
        } else {
            format!("{at} of {}", text::thousands(found as u64))
        };
        ui.label(palette.weak(said));
    });
}

/// The table of contents, with the number of matches during a search.
fn contents_ui(ui: &mut Ui, manual: &mut Manual, palette: &Palette) {
    ScrollArea::vertical().id_salt("contents").auto_shrink(false).show(ui, |ui| {
        for (at, document) in DOCUMENTS.iter().enumerate() {
            let found = count(document, &manual.sought);
            let searching = !manual.sought.trim().is_empty();
            let title = RichText::new(&document.title);
            let title = if searching && found == 0 { title.color(palette.text_weak) } else { title };
            let mut button = Button::selectable(at == manual.document, title).truncate();
            if found > 0 {
                button = button.right_text(RichText::new(text::thousands(found as u64)).small());
            }
            if ui.add(button).on_hover_text(document.path).clicked() {
                manual.open(at);
            }
        }
        ui.add(Label::new(palette.small("Links to the web are copied.")).wrap());
    });
}

fn document_ui(ui: &mut Ui, manual: &Manual, cache: &mut CommonMarkCache) {
    // Per document, so that each keeps its scroll position.
    let id = id_of(manual.document);
    ScrollArea::both().id_salt(id).auto_shrink(false).show(ui, |ui| {
        ui.set_max_width(ui.available_width().min(MAX_TEXT_WIDTH as f32));
        CommonMarkViewer::new().show_with_id(id, ui, cache, &DOCUMENTS[manual.document].text);
    });
}

fn id_of(document: usize) -> Id {
    Id::unique(("manual", document))
}

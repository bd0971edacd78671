//! The bar above Plane and Space: controls and colour legend. In a small pane, most controls are behind a
//! button, to leave room for the picture.

use super::empty::PaneContext;
use crate::app::features::color::legend::{legend_line_ui, legend_ui, picture_legend_ui};
use crate::app::features::color::state::ColorBy;
use crate::app::look::widgets::marks_legend_ui;
use crate::app::prelude::*;

/// Width of all controls in one line, in screen points.
const LENGTH: f32 = 780.0;

/// Height of a line of controls, and of the legend, without and with a moment slider.
const LINE: f32 = 28.0;

const LEGEND: f32 = 75.0;

const MOMENT: f32 = 28.0;

/// Maximum share of the pane's height for controls and legend.
const MAX_SHARE: f32 = 0.35;

/// Draws controls and legend. `add` puts controls into a line that wraps: all of them, or only the essential
/// ones.
pub fn bar_ui(
    ui: &mut Ui,
    context: &mut PaneContext<'_>,
    add: impl FnOnce(&mut Ui, &mut PaneContext<'_>, bool),
) {
    if let Some(picture) = &context.session.picture {
        if picture.legend {
            marks_legend_ui(ui, &picture.marks, context.palette);
            picture_legend_ui(ui, context.state, context.session, context.palette);
        }
        return;
    }
    let size = ui.available_size();
    let legend = LEGEND + if context.state.color.by == ColorBy::Moment { MOMENT } else { 0.0 };
    if has_room(size, legend) {
        ui.horizontal_wrapped(|ui| add(ui, context, true));
        legend_ui(ui, &mut context.controls());
        return;
    }
    let id = ui.scope_id().with("options");
    let before = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let mut open = before;
    let all =
        ScrollArea::vertical().id_salt("bar").auto_shrink([false, true]).max_height((size.y * 0.5).max(LINE));
    all.show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            let options = Button::new("Options").selected(open);
            open ^=
                ui.add(options).on_hover_text("Axes, colours, colour range and display options.").clicked();
            add(ui, context, before);
        });
        if before {
            legend_ui(ui, &mut context.controls());
        } else {
            legend_line_ui(ui, &mut context.controls());
        }
    });
    if open != before {
        ui.data_mut(|data| data.insert_temp(id, open));
    }
}

/// Rarely used controls, in a menu at the end of the bar.
pub fn more_ui(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let config = egui::containers::menu::MenuConfig::new()
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let (response, _) = egui::containers::menu::MenuButton::new("More").config(config).ui(ui, add);
    name_widget(&response, Role::Button, "More view options");
}

/// Whether controls and a legend of this height leave enough room.
fn has_room(size: Vec2, legend: f32) -> bool {
    let lines = (LENGTH / size.x.max(1.0)).ceil();
    lines * LINE + legend <= size.y * MAX_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_panes_hide_controls() {
        let has_room = |width: f32, height: f32| has_room(vec2(width, height), LEGEND);
        assert!(has_room(417.0, 650.0) && has_room(800.0, 300.0));
        assert!(!has_room(195.0, 330.0) && !has_room(360.0, 330.0) && !has_room(900.0, 150.0));
    }
}

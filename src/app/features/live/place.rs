//! The query's coordinates on the right, as fields: any place can be typed.

use egui::{Key, RichText, TextEdit, Ui};

use crate::app::features::live::state::LiveAction;
use crate::app::look::{Palette, row_ui};
use crate::app::model::{Actions, Session};
use crate::cloud::PointCloud;

/// The most dimensions that have a field each.
const MOST: usize = 3;

/// A coordinate with all its digits, and no more than f32 has where that is what it comes from.
fn typed(value: f64) -> String {
    let short = value as f32;
    if f64::from(short) == value { short.to_string() } else { value.to_string() }
}

/// Fields of the query's coordinates, in the file's own units; false where the cloud has too many for that.
pub fn place_ui(ui: &mut Ui, session: &Session, cloud: &PointCloud, palette: &Palette, actions: &mut Actions) -> bool {
    if cloud.dims() > MOST {
        return false;
    }
    let live = &session.live;
    let mut fields = live.typed.clone().filter(|typed| typed.len() == cloud.dims()).unwrap_or_else(|| {
        let value = |axis| session.picked_point().map(|(of, row)| typed(of.coordinate(row, axis)));
        (0..cloud.dims()).map(|axis| value(axis).unwrap_or_default()).collect()
    });
    let (before, mut entered) = (fields.clone(), false);
    for (axis, (field, column)) in fields.iter_mut().zip(cloud.axes()).enumerate() {
        let response = row_ui(ui, &column.name, palette, |ui, label| {
            let width = ui.available_width();
            let edit = TextEdit::singleline(field).id_salt(("query at", axis)).hint_text("anywhere").desired_width(width);
            ui.add(edit).labelled_by(label).on_hover_text("Type a place in the file's own units and press Enter.")
        });
        entered |= response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        if let Some((_, why)) = live.wrong.as_ref().filter(|(wrong, _)| *wrong == axis) {
            ui.label(RichText::new(why).color(palette.error).small());
        }
    }
    if fields != before {
        actions.send(LiveAction::Type(fields));
    }
    if live.typed.is_some() && live.wrong.is_none() {
        ui.label(RichText::new("Press Enter to search from there.").color(palette.text_weak).small());
    }
    if entered {
        actions.send(LiveAction::Apply);
    }
    true
}

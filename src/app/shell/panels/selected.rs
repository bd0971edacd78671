//! The selection: its facts, pictures of its rows, what to do with it, and the kept sets.

use crate::app::features::selection::state::SelectAction;
use crate::app::look::{fact_ui, heading_ui};
use crate::app::model::distances::pair_sentence;
use crate::app::model::select_mode::SelectMode;
use crate::app::panes::gallery::selection_gallery_ui;
use crate::app::prelude::*;
use crate::knn::{Measure, Metric};
use crate::text;

pub fn selected_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    /// Maximum number of axes whose range is listed.
    const MAX_RANGES: usize = 4;
    /// Maximum number of measures listed.
    const MAX_MEASURES: usize = 4;
    let Some(cloud) = &session.cloud else { return };
    heading_ui(ui, "Selection");
    let (selection, facts) = (&session.selection, &session.selected);
    if selection.is_empty() {
        let next = "Nothing selected. Drag with Shift in Plane or Space, drag over the histogram of colours, or click \
                    a bin of Counts or a row of Neighbours.";
        ui.label(palette.weak(next));
        return sets_ui(ui, session, palette, actions);
    }
    fact_ui(ui, "Rows", text::thousands(selection.rows().len() as u64), palette);
    if session.record.is_some() {
        fact_ui(ui, "Queries", text::thousands(selection.queries().len() as u64), palette);
    }
    fact_ui(ui, "Selected by", selection.by(), palette);
    if let [a, b] = selection.rows()[..] {
        let asked = session.answered.as_ref().map(|answered| &answered.record).or(session.record.as_ref());
        let metric = asked.map_or_else(Metric::default, |record| record.spec.metric);
        if let Some(said) = pair_sentence(cloud, a, b, metric) {
            ui.add(Label::new(said).wrap());
        }
    }
    for measure in facts.measures.iter().take(MAX_MEASURES) {
        let (fewest, most) = measure.range();
        let range = if fewest == most {
            String::new()
        } else {
            format!(", {} to {}", text::thousands(fewest.into()), text::thousands(most.into()))
        };
        fact_ui(
            ui,
            &text::sentence_case(&Measure::words(&measure.name)),
            format!("mean {}{range}", text::digits(measure.mean, 3)),
            palette,
        );
    }
    for (axis, column) in cloud.axes().iter().enumerate().take(MAX_RANGES) {
        let Some((low, high)) = facts.range(cloud, axis) else { continue };
        let text = if low == high {
            text::coordinate(low)
        } else {
            format!("{} to {}", text::coordinate(low), text::coordinate(high))
        };
        fact_ui(ui, &column.name, text, palette);
    }
    if cloud.dims() > MAX_RANGES && !facts.extremes.is_empty() {
        ui.label(palette.small(format!("and {} more ranges", cloud.dims() - MAX_RANGES)));
    }
    selection_gallery_ui(ui, session, palette, actions);
    ui.horizontal_wrapped(|ui| {
        for (text, command) in [
            ("Clear", Command::SelectNone),
            ("Zoom to", Command::ZoomToSelection),
            ("Add neighbours", Command::GrowSelection),
            ("Use as queries", Command::UseAsQueries),
            ("Export rows…", Command::ExportSelection),
        ] {
            let keys = command
                .shortcut()
                .map(|shortcut| format!(" {}", keys_text(ui.ctx(), &shortcut)))
                .unwrap_or_default();
            if ui.button(text).on_hover_text(format!("{}{keys}", command.tooltip())).clicked() {
                actions.send(command);
            }
        }
    });
    keep_ui(ui, session, actions);
    sets_ui(ui, session, palette, actions);
}

/// Names and stores the selected rows.
fn keep_ui(ui: &mut Ui, session: &Session, actions: &mut Actions) {
    let mut typed = session.sets.typed.clone();
    ui.horizontal(|ui| {
        let label = ui.label("Name");
        let edit = TextEdit::singleline(&mut typed)
            .id_salt("set")
            .hint_text(session.selection.by())
            .desired_width(ui.available_width() - 84.0);
        let field = ui.add(edit).labelled_by(label.id).on_hover_text("A name for the selected rows.");
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let about = "Save the selection under this name. Sessions include saved sets.";
        let keeps = ui.button("Save set").on_hover_text(about).clicked() || entered;
        if typed != session.sets.typed {
            actions.send(SelectAction::TypeName(typed));
        }
        if keeps {
            actions.send(SelectAction::Keep);
        }
    });
}

/// The named sets: a click selects one, Shift adds it, Ctrl toggles it.
fn sets_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    if session.sets.list().is_empty() {
        return;
    }
    ui.label(palette.weak("Saved sets"));
    for set in session.sets.list() {
        ui.horizontal(|ui| {
            let forget = ui.small_button("×").on_hover_text("Delete this set; its rows stay selected.");
            name_widget(&forget, Role::Button, &format!("Delete {}", set.name));
            if forget.clicked() {
                actions.send(SelectAction::Forget(set.name.clone()));
            }
            let shown = format!("{} ({})", set.name, text::thousands(set.rows.len() as u64));
            let selected = session.selection.rows() == &set.rows;
            let about = "Select these rows. Shift adds them; Ctrl toggles them.";
            let label = ui.add(Button::selectable(selected, shown).truncate()).on_hover_text(about);
            if label.clicked() {
                let how = SelectMode::from_modifiers(ui.input(|input| input.modifiers));
                actions.send(SelectAction::rows(set.rows.to_vec(), how, set.name.as_str()));
            }
        });
    }
}

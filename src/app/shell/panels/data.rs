//! The data in the left panel: the points shown and what was chosen of their file, and the fields of a file or
//! a generator.

use crate::app::features::columns::state::ColumnsAction;
use crate::app::features::unusable::state::listed;
use crate::app::look::{field_ui, heading_ui, row_ui, wide_field_ui};
use crate::app::model::files::unused_columns_sentence;
use crate::app::model::{DataKind, Draft, Field, FieldError, data_file, source_name};
use crate::app::prelude::*;
use crate::cloud::{Axis, PointCloud, Source, generate};
use crate::knn::Metric;
use crate::text;

/// The points shown and how to change them; `workspace` decides whether the fields are folded.
pub fn data_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], context: &mut UiContext<'_>) {
    let (session, workspace) = (context.session, context.state.workspace);
    heading_ui(ui, "Data");
    if session.awaited.is_some() {
        ui.label(context.palette.small("The session's points are missing."));
        let about = "Choose the file of the points, for example where it has moved.";
        if ui.button("Find it…").on_hover_text(about).clicked() {
            context.actions.send(Action::FindData);
        }
    }
    let fields = |ui: &mut Ui, draft: &mut Draft, context: &mut UiContext<'_>| {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut draft.data, DataKind::Generate, "Generated");
            ui.selectable_value(&mut draft.data, DataKind::File, "From a file");
            command_ui(ui, Command::Open, context.actions);
        });
        match draft.data {
            DataKind::Generate => generator_ui(ui, draft, errors, context),
            DataKind::File => file_ui(ui, draft, errors, context),
        }
    };
    // Once there are points, Explore shows what they are; the fields are folded.
    let load = match session.cloud.as_ref().filter(|_| workspace == Workspace::Explore) {
        None => fields(ui, draft, context),
        Some(cloud) => {
            cloud_ui(ui, draft, cloud, context);
            let is_wrong = errors.iter().any(|error| matches!(error.field, Field::Path | Field::Generator));
            let folded = egui::CollapsingHeader::new("Change the data").open(is_wrong.then_some(true));
            let shown = folded.show_unindented(ui, |ui| fields(ui, draft, context));
            shown.body_returned == Some(true)
        }
    };
    if load {
        // Load uses the fields of this frame.
        context.actions.send(Action::SetDraft(Box::new(draft.clone())));
        context.actions.send(Action::Load);
    }
}

/// The points shown, and what was chosen of their file.
fn cloud_ui(ui: &mut Ui, draft: &Draft, cloud: &PointCloud, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    ui.add(Label::new(RichText::new(source_name(cloud)).strong()).truncate());
    let rows = text::count(cloud.len() as u64, "row", "rows");
    let dimensions = text::count(cloud.dims() as u64, "dimension", "dimensions");
    ui.add(Label::new(palette.weak(format!("{rows}, {dimensions}"))).wrap());
    ui.horizontal(|ui| {
        command_ui(ui, Command::Open, context.actions);
        // The note about unused columns has this button too.
        if session.unused_columns() == 0 {
            columns_button_ui(ui, draft, context);
        }
    });
    notes_ui(ui, draft, context);
}

/// Returns whether to generate the cloud.
fn generator_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], context: &mut UiContext<'_>) -> bool {
    let (palette, workspace) = (context.palette, context.state.workspace);
    row_ui(ui, "Generator", palette, |ui, _| {
        let name = draft.generator.split(':').next().unwrap_or_default().trim().to_owned();
        let combo =
            ComboBox::from_id_salt("generator").width(ui.available_width()).selected_text(name.clone());
        let response = combo.show_ui(ui, |ui| {
            for generator in generate::catalogue() {
                if ui
                    .selectable_label(generator.name == name, generator.name)
                    .on_hover_text(generator.about)
                    .clicked()
                    && generator.name != name
                {
                    draft.generator = suggestion(generator);
                }
            }
        });
        name_widget(&response.response, Role::ComboBox, "Generator");
    });
    let parsed = draft.generator.parse::<generate::Spec>();
    let ready = parsed.is_ok() && draft.source().is_ok();
    let settings = egui::CollapsingHeader::new("Generator settings")
        .id_salt(("generator", workspace.command()))
        .default_open(workspace == Workspace::Measure)
        .open((!ready).then_some(true));
    let settings = settings.show_unindented(ui, |ui| {
        let spec = wide_field_ui(
            ui,
            "Spec",
            &mut draft.generator,
            "uniform:n=100000,d=2",
            Field::Generator,
            errors,
            palette,
        );
        match &parsed {
            Err(why) if !draft.generator.trim().is_empty() => {
                ui.label(RichText::new(why).color(palette.error).small());
            }
            Ok(spec) => {
                let keys: Vec<&str> =
                    spec.generator().parameters.iter().map(|parameter| parameter.key).collect();
                ui.label(palette.small(format!("{}; {}", spec.generator().about, keys.join(", "))));
            }
            Err(_) => {}
        }
        let seed = field_ui(ui, "Seed", &mut draft.seed, "0", Field::Seed, errors, palette);
        spec.lost_focus() || seed.lost_focus()
    });
    let entered = settings.body_returned == Some(true) && ui.input(|input| input.key_pressed(Key::Enter));
    ui.add_enabled(ready, Button::new("Generate"))
        .on_hover_text("Generate the cloud and show it; Run also does this when needed.")
        .clicked()
        || (ready && entered)
}

/// A spec with the generator's default values, for editing.
fn suggestion(generator: &generate::Generator) -> String {
    let settings: Vec<String> = generator
        .parameters
        .iter()
        .map(|parameter| format!("{}={}", parameter.key, parameter.default))
        .collect();
    format!("{}:{}", generator.name, settings.join(","))
}

/// Returns whether to read the file.
fn file_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], context: &mut UiContext<'_>) -> bool {
    let (session, palette, workspace) = (context.session, context.palette, context.state.workspace);
    let before = draft.path.clone();
    let path =
        wide_field_ui(ui, "Path", &mut draft.path, "type or paste a path", Field::Path, errors, palette);
    if path.changed()
        && let Some(Source::File { path: loaded, .. }) = session.cloud.as_ref().map(|cloud| cloud.source())
    {
        draft.leave(&before, loaded);
    }
    let columns = row_ui(ui, "Columns", palette, |ui, label| {
        columns_button_ui(ui, draft, context);
        let width = ui.available_width();
        ui.add(
            TextEdit::singleline(&mut draft.columns)
                .id_salt("columns")
                .hint_text("x,y,z or all numbers")
                .desired_width(width),
        )
        .labelled_by(label)
    });
    // Only if this file is the loaded one.
    let read = session.cloud.as_ref().filter(|cloud| {
        draft.columns.trim().is_empty() && draft.source().is_ok_and(|source| *cloud.source() == source)
    });
    if let Some(cloud) = read.filter(|_| session.note.is_none()) {
        let names: Vec<&str> = cloud.axes().iter().map(|axis| axis.name.as_str()).take(8).collect();
        let more = if cloud.dims() > 8 { format!(", … ({})", cloud.dims()) } else { String::new() };
        ui.label(palette.small(format!("Read: {}{more}", names.join(", "))));
    }
    // In Explore, the notes are above the fields.
    if workspace == Workspace::Measure {
        notes_ui(ui, draft, context);
    }
    ui.checkbox(&mut draft.drop_nonfinite, "Drop rows with NaN or ∞")
        .on_hover_text("Applies to this file only.");
    let entered =
        (path.lost_focus() || columns.lost_focus()) && ui.input(|input| input.key_pressed(Key::Enter));
    let ready = draft.source().is_ok();
    ui.add_enabled(ready, Button::new("Load"))
        .on_hover_text("Read the file and show it; Run also does this when needed.")
        .clicked()
        || (ready && entered)
}

/// Opens the table of the file's columns, once they are listed.
fn columns_button_ui(ui: &mut Ui, draft: &Draft, context: &mut UiContext<'_>) {
    let session = context.session;
    let known = session.file_columns().is_some_and(|known| !known.columns.is_empty());
    if known
        && draft.source().ok().as_ref().and_then(data_file)
            == session.cloud.as_ref().and_then(|cloud| data_file(cloud.source()))
    {
        let about = "Choose the coordinate, label and name columns.";
        if ui.button("Columns…").on_hover_text(about).clicked() {
            context.actions.send(ColumnsAction::Open);
        }
    }
}

/// How the file was read, and buttons that change it.
fn notes_ui(ui: &mut Ui, draft: &Draft, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let Some(cloud) =
        session.cloud.as_ref().filter(|cloud| draft.source().is_ok_and(|source| *cloud.source() == source))
    else {
        return;
    };
    let unused = session.unused_columns() as u64;
    if unused > 0 {
        ui.horizontal_wrapped(|ui| {
            let unused = text::count(unused, "numeric column", "numeric columns");
            let response = ui.label(palette.small(format!("{unused} not used.")));
            if !session.left_out.is_empty() {
                response.on_hover_text(text::sentence_case(&unused_columns_sentence(&session.left_out)));
            }
            if ui.small_button("Choose columns…").clicked() {
                context.actions.send(ColumnsAction::Open);
            }
        });
    }
    if let Some(pictures) = session.suggested_image_shape() {
        ui.horizontal_wrapped(|ui| {
            ui.label(palette.small(format!("Rows look like {} pictures.", pictures.text())));
            let where_to = "Show rows as pictures in tooltips and Neighbours. Columns… undoes this.";
            if ui.small_button("Show as pictures").on_hover_text(where_to).clicked() {
                context.actions.send(ColumnsAction::ShowPictures(pictures));
            }
        });
    }
    if let Some(note) = &session.note {
        ui.label(palette.small(text::sentence_case(note)));
    }
    let told = session.roles.sentence().filter(|_| session.left_out.is_empty());
    if let Some(told) = told {
        ui.label(palette.small(text::sentence_case(&told)));
    }
    if let Some(axis) = dominant_axis(cloud.axes()).filter(|_| draft.metric == Metric::L2) {
        let said = format!(
            "{} ranges from {} to {}, much further than the others: it decides nearly every distance.",
            axis.name,
            text::coordinate(axis.min),
            text::coordinate(axis.max)
        );
        ui.add(Label::new(RichText::new(said).color(palette.warning).small()).wrap());
    }
    if cloud.dropped() > 0 {
        dropped_ui(ui, cloud, palette);
    }
}

/// The axis whose range is so much wider than all others that it decides nearly every distance. Clouds of few
/// dimensions have a unit in common.
fn dominant_axis(axes: &[Axis]) -> Option<&Axis> {
    const MIN_DIMS: usize = 4;
    const SHARE: f64 = 0.99;
    let squared = |axis: &Axis| (axis.max - axis.min).powi(2);
    let widest = axes.iter().max_by(|a, b| squared(a).total_cmp(&squared(b)))?;
    let sum: f64 = axes.iter().map(squared).sum();
    (axes.len() >= MIN_DIMS && squared(widest) > SHARE * sum).then_some(widest)
}

/// The number of dropped rows, and which.
fn dropped_ui(ui: &mut Ui, cloud: &PointCloud, palette: &Palette) {
    /// Ranges listed in the label and in the tooltip.
    const MAX_LISTED: [usize; 2] = [5, 300];
    let [few, many] = MAX_LISTED.map(|most| listed(cloud.dropped_records(), most));
    let said = format!("{} dropped: {few}", text::count(cloud.dropped(), "row", "rows"));
    ui.label(palette.small(said)).on_hover_text(format!("Dropped rows: {many}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_that_dwarfs_the_others_is_named() {
        let axes = |ranges: &[f64]| -> Vec<Axis> {
            let axis = |(at, &max): (usize, &f64)| Axis { name: at.to_string(), origin: 0.0, min: 0.0, max };
            ranges.iter().enumerate().map(axis).collect()
        };
        let named = |ranges: &[f64]| dominant_axis(&axes(ranges)).map(|axis| axis.name.clone());
        assert_eq!(named(&[1.0, 2.0, 1000.0, 3.0]).as_deref(), Some("2"));
        assert_eq!((named(&[1.0, 2.0, 10.0, 3.0]), named(&[1.0, 1000.0, 2.0])), (None, None));
    }
}

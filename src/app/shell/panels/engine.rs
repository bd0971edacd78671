//! Left panel, below the queries: engine, device, parameters and repeats.

use crate::app::look::{error_ui, heading_ui, row_ui};
use crate::app::model::{Draft, EngineStatus, Field, FieldError};
use crate::app::prelude::*;
use crate::cloud::Order;
use crate::engines::registry;
use crate::knn::{AllowedValues, Descriptor, DeviceId, EngineId, Parameter};
use crate::run::EngineChoice;
use crate::text;

const AUTO: &str = "Auto";

const ABOUT_AUTO: &str = "Use the engine predicted to be fastest. Run shows which and why.";

/// Hint of an empty parameter field.
const DEFAULT_HINT: &str = "engine default";

pub fn engine_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], context: &UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    heading_ui(ui, "Engine");
    picker_ui(ui, draft, session, errors, palette);
    device_ui(ui, draft, session, palette);
    parameters_ui(ui, draft, errors, palette);
    row_ui(ui, "Order", palette, |ui, _| {
        ui.selectable_value(&mut draft.order, Order::File, "File")
            .on_hover_text("Search points in file order.");
        ui.selectable_value(&mut draft.order, Order::Shuffled, "Shuffled")
            .on_hover_text("Search points in random order, as the theory assumes.");
    });
    row_ui(ui, "Warm-up", palette, |ui, label| {
        ui.add(TextEdit::singleline(&mut draft.warmup).id_salt("warmup").desired_width(48.0))
            .labelled_by(label);
        let repeats = ui.label(palette.weak("Repeats"));
        ui.add(TextEdit::singleline(&mut draft.repeats).id_salt("repeats").desired_width(48.0))
            .labelled_by(repeats.id);
    });
    let profile = "Add a profiling pass for Timeline: times, multiprocessor and cycles of each warp; on a \
                   CPU, time and thread of each query.";
    ui.checkbox(&mut draft.profile, "Profile").on_hover_text(profile);
    error_ui(ui, Field::Warmup, errors, palette);
    error_ui(ui, Field::Repeats, errors, palette);
}

/// Why an engine cannot run on the chosen device, if known.
fn unavailable_reason(session: &Session, id: EngineId, device: Option<DeviceId>) -> Option<&str> {
    let status = session.engine(id, device).or_else(|| session.engine(id, None))?;
    status.device.as_ref()?.as_ref().err().map(String::as_str)
}

/// The list of engines by group, and notes on the chosen one.
fn picker_ui(ui: &mut Ui, draft: &mut Draft, session: &Session, errors: &[FieldError], palette: &Palette) {
    let chosen = match &draft.engine {
        EngineChoice::Auto => None,
        EngineChoice::Named(method) => Some(method.engine),
    };
    let name = chosen.map_or_else(|| AUTO.to_owned(), |id| id.to_string());
    let combo =
        ComboBox::from_id_salt("engine").width(ui.available_width()).height(420.0).selected_text(name);
    let response = combo.show_ui(ui, |ui| {
        if ui.selectable_label(chosen.is_none(), AUTO).on_hover_text(ABOUT_AUTO).clicked() && chosen.is_some()
        {
            (draft.engine, draft.device) = (EngineChoice::Auto, None);
        }
        for (group, engines) in registry::grouped() {
            ui.add_space(4.0);
            ui.label(palette.small(group.title()));
            for engine in engines {
                let device = draft.device.filter(|device| engine.runs_on.contains(&device.kind()));
                engine_row_ui(
                    ui,
                    engine,
                    chosen == Some(engine.id),
                    unavailable_reason(session, engine.id, device),
                    draft,
                    palette,
                );
            }
        }
    });
    name_widget(&response.response, Role::ComboBox, "Engine");
    if let Some(engine) = chosen.and_then(registry::find) {
        let about = ui.label(palette.small(engine.about));
        about.on_hover_text(format!("After: {}", engine.source));
        if let Some(reason) = unavailable_reason(session, engine.id, draft.device) {
            ui.label(RichText::new(text::sentence_case(reason)).color(palette.error).small());
        }
    }
    error_ui(ui, Field::Engine, errors, palette);
}

/// A row of the engine list. The tooltip describes the engine, or says why it cannot run.
fn engine_row_ui(
    ui: &mut Ui,
    engine: &Descriptor,
    chosen: bool,
    reason: Option<&str>,
    draft: &mut Draft,
    palette: &Palette,
) {
    let mut label = RichText::new(engine.id.as_str());
    // For the chosen engine, a sentence below the list says why it cannot run.
    if reason.is_some() && !chosen {
        label = label.color(palette.text_weak).strikethrough();
    }
    let response = ui.selectable_label(chosen, label);
    if response.clicked() && !chosen {
        draft.choose_engine(engine);
    }
    response.on_hover_ui(|ui| {
        ui.label(engine.about);
        ui.label(palette.small(format!("After: {}", engine.source)));
        if let Some(reason) = reason {
            ui.label(RichText::new(text::sentence_case(reason)).color(palette.error).small());
        }
    });
}

/// The device chooser, if there is a choice.
fn device_ui(ui: &mut Ui, draft: &mut Draft, session: &Session, palette: &Palette) {
    let may = |status: &&EngineStatus| draft.engine.engines().any(|engine| engine.id == status.id);
    let statuses: Vec<&EngineStatus> = session.engines.iter().filter(may).collect();
    let several = statuses.windows(2).any(|pair| pair[0].id == pair[1].id);
    if !several && draft.device.is_none() {
        return;
    }
    let mut devices: Vec<(DeviceId, String)> = Vec::new();
    for status in statuses {
        match devices.iter_mut().find(|(device, _)| *device == status.device_id) {
            // Only an engine that can run there knows the device's name.
            Some((_, text)) if status.is_available() => *text = status.device_text(),
            Some(_) => {}
            None => devices.push((status.device_id, status.device_text())),
        }
    }
    row_ui(ui, "Device", palette, |ui, _| {
        let shown = draft.device.map_or_else(
            || "Auto".to_owned(),
            |device| {
                devices
                    .iter()
                    .find(|(of, _)| *of == device)
                    .map_or_else(|| format!("{device}: not available"), |(_, text)| text.clone())
            },
        );
        let combo =
            ComboBox::from_id_salt("device").width(ui.available_width()).selected_text(shown).truncate();
        let response = combo.show_ui(ui, |ui| {
            ui.selectable_value(&mut draft.device, None, "Auto")
                .on_hover_text("Use the engine's first available device.");
            for (device, text) in &devices {
                ui.selectable_value(&mut draft.device, Some(*device), text);
            }
        });
        name_widget(&response.response, Role::ComboBox, "Device");
    });
}

/// A field for each declared parameter of the engine; an empty field uses the engine's default.
fn parameters_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], palette: &Palette) {
    let EngineChoice::Named(method) = &draft.engine else { return };
    let Some(engine) = registry::find(method.engine) else { return };
    let given = method.parameters.clone();
    if engine.parameters.is_empty() && given.is_empty() {
        return;
    }
    let title = match given.iter().len() {
        0 => "Parameters".to_owned(),
        set => format!("Parameters ({set} set)"),
    };
    let wrong = errors.iter().any(|error| matches!(error.field, Field::Engine | Field::Parameter(_)));
    let open = wrong.then_some(true);
    egui::CollapsingHeader::new(title).id_salt(("parameters", engine.id)).open(open).show_unindented(
        ui,
        |ui| {
            for parameter in engine.parameters {
                parameter_ui(ui, parameter, given.get(parameter.name).unwrap_or_default(), draft, palette);
                error_ui(ui, Field::Parameter(parameter.name), errors, palette);
            }
            let reset = ui.add_enabled(!given.is_empty(), Button::new("Reset"));
            if reset.on_hover_text("Reset all parameters to the engine's defaults.").clicked() {
                draft.choose_engine(engine);
            }
        },
    );
}

fn parameter_ui(ui: &mut Ui, parameter: &Parameter, given: &str, draft: &mut Draft, palette: &Palette) {
    let help = format!(
        "{}\n{}. If empty: {}.",
        parameter.help,
        text::sentence_case(&parameter.values.to_string()),
        parameter.default
    );
    let row = row_ui(ui, parameter.name, palette, |ui, label| {
        let width = ui.available_width();
        match &parameter.values {
            AllowedValues::Numbers(_) => {
                let mut typed = given.to_owned();
                let edit = TextEdit::singleline(&mut typed)
                    .id_salt(parameter.name)
                    .hint_text(parameter.default)
                    .desired_width(width);
                let response = ui.add(edit).labelled_by(label);
                if response.changed() {
                    draft.set_parameter(parameter.name, &typed);
                }
                response
            }
            AllowedValues::Words(words) => {
                let shown = if given.is_empty() { palette.weak(DEFAULT_HINT) } else { RichText::new(given) };
                let combo = ComboBox::from_id_salt(parameter.name).width(width).selected_text(shown).show_ui(
                    ui,
                    |ui| {
                        if ui
                            .selectable_label(given.is_empty(), DEFAULT_HINT)
                            .on_hover_text(parameter.default)
                            .clicked()
                        {
                            draft.set_parameter(parameter.name, "");
                        }
                        for word in *words {
                            if ui.selectable_label(given == *word, *word).clicked() {
                                draft.set_parameter(parameter.name, word);
                            }
                        }
                    },
                );
                name_widget(&combo.response, Role::ComboBox, parameter.name);
                combo.response
            }
        }
    });
    row.on_hover_text(help);
}

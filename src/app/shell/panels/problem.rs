//! Left panel, top to bottom: data, k and metric, which are answered at once; then the answer, or, for
//! measuring, queries, engine and Run.

use super::engine::engine_ui;
use super::prediction::plan_text;
use super::selection::picked_ui;
use crate::app::features::columns::state::ColumnsAction;
use crate::app::features::unusable::state::listed;
use crate::app::look::{error_ui, field_ui, follow_ui, heading_ui, percent, row_ui, wide_field_ui};
use crate::app::model::fields::number;
use crate::app::model::files::unused_columns_sentence;
use crate::app::model::{DataKind, Draft, Field, FieldError, QueryKind, data_file, source_name};
use crate::app::prelude::*;
use crate::cloud::{Axis, GlobeAxes, PointCloud, Source, generate};
use crate::knn::Metric;
use crate::run::planner::Purpose;
use crate::text;

pub fn problem_ui(ui: &mut Ui, state: &State, session: &Session, palette: &Palette, actions: &mut Actions) {
    let mut draft = state.draft.clone();
    let mut errors = draft.errors();
    errors.extend(too_many_queries(&draft, session));
    with_footer_ui(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // Keeps the floating scroll bar off the fields.
                ui.set_max_width(ui.available_width() - ui.spacing().scroll.bar_width);
                ui.spacing_mut().item_spacing.y = 4.0;
                data_ui(ui, &mut draft, (state.workspace, session), &errors, palette, actions);
                question_ui(ui, &mut draft, session, &errors, palette);
                match state.workspace {
                    Workspace::Explore => picked_ui(ui, state.workspace, session, palette, actions),
                    Workspace::Measure => {
                        query_ui(ui, &mut draft, session, &errors, palette, actions);
                        engine_ui(ui, &mut draft, session, &errors, palette);
                    }
                }
                follow_ui(ui);
            });
        },
        |ui| match state.workspace {
            Workspace::Explore => progress_ui(ui, session, palette),
            Workspace::Measure => run_ui(ui, &state.draft, session, &errors, palette),
        },
    )
    .into_iter()
    .for_each(|action| actions.send(action));
    if draft != state.draft {
        actions.send(Action::SetDraft(Box::new(draft)));
    }
}

/// A scrolling part above a fixed footer. The scrolling part is drawn first, because Tab follows the drawing
/// order, so the footer's height is that of the previous frame.
fn with_footer_ui<R>(ui: &mut Ui, body: impl FnOnce(&mut Ui), footer: impl FnOnce(&mut Ui) -> R) -> R {
    const GAP: f32 = 6.0;
    let id = ui.scope_id().with("height below");
    let (whole, known) =
        (ui.available_rect_before_wrap(), ui.data(|data| data.get_temp::<f32>(id)).unwrap_or(80.0));
    let split = (whole.bottom() - known - GAP).max(whole.top());
    ui.scope_builder(
        egui::UiBuilder::new().max_rect(Rect::from_min_max(whole.min, pos2(whole.right(), split))),
        body,
    );
    let below = Rect::from_min_max(pos2(whole.left(), split + GAP), whole.max);
    let below = ui.scope_builder(egui::UiBuilder::new().max_rect(below), |ui| {
        let inner = footer(ui);
        (inner, ui.min_rect().height())
    });
    let (inner, height) = below.inner;
    if (height - known).abs() > 0.5 {
        ui.data_mut(|data| data.insert_temp(id, height));
        ui.ctx().request_discard("what stands below has another height");
    }
    inner
}

/// An error if more queries are requested than there are rows; the number is never reduced silently.
fn too_many_queries(draft: &Draft, session: &Session) -> Option<FieldError> {
    let count = draft.count()?;
    let source = draft.source().ok()?;
    let cloud = session.cloud.as_ref().filter(|cloud| *cloud.source() == source)?;
    let rows = text::count(cloud.len() as u64, "row", "rows");
    (count > cloud.len() as u64).then(|| FieldError {
        field: Field::QueryCount,
        sentence: format!("The cloud has only {rows}; choose All or a smaller sample."),
    })
}

fn data_ui(
    ui: &mut Ui,
    draft: &mut Draft,
    (workspace, session): (Workspace, &Session),
    errors: &[FieldError],
    palette: &Palette,
    actions: &mut Actions,
) {
    heading_ui(ui, "Data");
    let fields = |ui: &mut Ui, draft: &mut Draft, actions: &mut Actions| {
        ui.horizontal(|ui| {
            ui.selectable_value(&mut draft.data, DataKind::Generate, "Generated");
            ui.selectable_value(&mut draft.data, DataKind::File, "From a file");
            command_ui(ui, Command::Open, actions);
        });
        match draft.data {
            DataKind::Generate => generator_ui(ui, draft, workspace, errors, palette),
            DataKind::File => file_ui(ui, draft, (workspace, session), errors, palette, actions),
        }
    };
    // Once there are points, Explore shows what they are; the fields are folded.
    let load = match session.cloud.as_ref().filter(|_| workspace == Workspace::Explore) {
        None => fields(ui, draft, actions),
        Some(cloud) => {
            cloud_ui(ui, draft, session, cloud, palette, actions);
            let is_wrong = errors.iter().any(|error| matches!(error.field, Field::Path | Field::Generator));
            let folded = egui::CollapsingHeader::new("Change the data").open(is_wrong.then_some(true));
            let shown = folded.show_unindented(ui, |ui| fields(ui, draft, actions));
            shown.body_returned == Some(true)
        }
    };
    if load {
        // Load uses the fields of this frame.
        actions.send(Action::SetDraft(Box::new(draft.clone())));
        actions.send(Action::Load);
    }
}

/// The points shown, and what was chosen of their file.
fn cloud_ui(
    ui: &mut Ui,
    draft: &Draft,
    session: &Session,
    cloud: &PointCloud,
    palette: &Palette,
    actions: &mut Actions,
) {
    ui.add(Label::new(RichText::new(source_name(cloud)).strong()).truncate());
    let rows = text::count(cloud.len() as u64, "row", "rows");
    let dimensions = text::count(cloud.dims() as u64, "dimension", "dimensions");
    ui.add(Label::new(palette.weak(format!("{rows}, {dimensions}"))).wrap());
    ui.horizontal(|ui| {
        command_ui(ui, Command::Open, actions);
        columns_button_ui(ui, draft, session, actions);
    });
    notes_ui(ui, draft, session, palette, actions);
}

/// Returns whether to generate the cloud.
fn generator_ui(
    ui: &mut Ui,
    draft: &mut Draft,
    workspace: Workspace,
    errors: &[FieldError],
    palette: &Palette,
) -> bool {
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
fn file_ui(
    ui: &mut Ui,
    draft: &mut Draft,
    (workspace, session): (Workspace, &Session),
    errors: &[FieldError],
    palette: &Palette,
    actions: &mut Actions,
) -> bool {
    let before = draft.path.clone();
    let path =
        wide_field_ui(ui, "Path", &mut draft.path, "type or paste a path", Field::Path, errors, palette);
    if path.changed()
        && let Some(Source::File { path: loaded, .. }) = session.cloud.as_ref().map(|cloud| cloud.source())
    {
        draft.leave(&before, loaded);
    }
    let columns = row_ui(ui, "Columns", palette, |ui, label| {
        columns_button_ui(ui, draft, session, actions);
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
        notes_ui(ui, draft, session, palette, actions);
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
fn columns_button_ui(ui: &mut Ui, draft: &Draft, session: &Session, actions: &mut Actions) {
    let known = session.file_columns().is_some_and(|known| !known.columns.is_empty());
    if known
        && draft.source().ok().as_ref().and_then(data_file)
            == session.cloud.as_ref().and_then(|cloud| data_file(cloud.source()))
    {
        let about = "Choose the coordinate, label and name columns.";
        if ui.button("Columns…").on_hover_text(about).clicked() {
            actions.send(ColumnsAction::Open);
        }
    }
}

/// What was chosen for the file shown, with remedies.
fn notes_ui(ui: &mut Ui, draft: &Draft, session: &Session, palette: &Palette, actions: &mut Actions) {
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
                actions.send(ColumnsAction::Open);
            }
        });
    }
    if let Some(pictures) = session.suggested_image_shape() {
        ui.horizontal_wrapped(|ui| {
            ui.label(palette.small(format!("Rows look like {} pictures.", pictures.text())));
            let where_to = "Show rows as pictures in tooltips and Neighbours. Columns… undoes this.";
            if ui.small_button("Show as pictures").on_hover_text(where_to).clicked() {
                actions.send(ColumnsAction::ShowPictures(pictures));
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

fn query_ui(
    ui: &mut Ui,
    draft: &mut Draft,
    session: &Session,
    errors: &[FieldError],
    palette: &Palette,
    actions: &mut Actions,
) {
    heading_ui(ui, "Measure");
    let about = "Benchmark the search on these queries.";
    ui.label(palette.small(about));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.selectable_value(&mut draft.queries, QueryKind::Count, "Random sample")
            .on_hover_text("A random sample of rows, set by the seed.");
        ui.selectable_value(&mut draft.queries, QueryKind::All, "All")
            .on_hover_text("Use every row as a query.");
        ui.selectable_value(&mut draft.queries, QueryKind::Rows, "Rows")
            .on_hover_text("Rows by number, or the row picked in a view.");
        if draft.queries == QueryKind::Selected || !draft.selected_rows.is_empty() {
            ui.selectable_value(&mut draft.queries, QueryKind::Selected, "Selected")
                .on_hover_text("Rows selected in the views.");
        }
        ui.selectable_value(&mut draft.queries, QueryKind::Coordinates, "Place")
            .on_hover_text("A point given by coordinates in the data's units.");
        ui.selectable_value(&mut draft.queries, QueryKind::File, "A file")
            .on_hover_text("A file of queries, in the data's coordinates.");
    });
    match draft.queries {
        QueryKind::Count => {
            field_ui(ui, "Sample size", &mut draft.query_count, "1000", Field::QueryCount, errors, palette);
        }
        QueryKind::All => {
            let rows = session.cloud.as_ref().map_or(String::new(), |cloud| {
                format!("{}.", text::count(cloud.len() as u64, "query", "queries"))
            });
            ui.label(palette.small(format!("Every row is a query. {rows}")));
        }
        QueryKind::Rows => {
            field_ui(
                ui,
                "Row numbers",
                &mut draft.query_rows,
                "0,5,10-20",
                Field::QueryRows,
                errors,
                palette,
            );
        }
        QueryKind::Coordinates => {
            field_ui(ui, "Coordinates", &mut draft.query_place, "0.5,-1", Field::QueryPlace, errors, palette);
        }
        QueryKind::Selected => {
            let rows = text::count(draft.selected_rows.len() as u64, "row", "rows");
            let about = format!("{rows} from the selection; too many to list here.");
            ui.label(palette.small(about));
            error_ui(ui, Field::QueryRows, errors, palette);
        }
        QueryKind::File => {
            wide_field_ui(
                ui,
                "Query file",
                &mut draft.query_path,
                "type or paste a path",
                Field::QueryPath,
                errors,
                palette,
            );
            if ui.button("Browse…").clicked() {
                actions.send(Action::BrowseQueries);
            }
        }
    }
    if draft.data == DataKind::File {
        field_ui(ui, "Seed", &mut draft.seed, "0", Field::Seed, errors, palette);
    }
}

fn question_ui(ui: &mut Ui, draft: &mut Draft, session: &Session, errors: &[FieldError], palette: &Palette) {
    heading_ui(ui, "Find");
    let takes = plan_text(ui, draft, session, Purpose::Answer)
        .map_or_else(String::new, |takes| format!(" ({takes})"));
    ui.label(palette.small(format!("Updates as you click{takes}.")));
    k_ui(ui, draft, errors, palette);
    row_ui(ui, "Metric", palette, |ui, _| {
        ui.selectable_value(&mut draft.metric, Metric::L2, "L2")
            .on_hover_text("Euclidean distance. Searches compare its square.");
        ui.selectable_value(&mut draft.metric, Metric::Angular, "Angular")
            .on_hover_text("Angle between rows as vectors.");
        // Cosine finds the same neighbours as the angular metric, so it is offered only if a recording uses
        // it.
        if draft.metric == Metric::Cosine {
            ui.selectable_value(&mut draft.metric, Metric::Cosine, "Cosine")
                .on_hover_text("1 − cos of the angle; same neighbours as Angular.");
        }
        let axes = session.cloud.as_ref().map_or(&[][..], |cloud| cloud.axes());
        let globe = GlobeAxes::from_axes(axes).ok();
        if GlobeAxes::is_sky(axes) || draft.metric == Metric::Sky {
            ui.selectable_value(&mut draft.metric, Metric::Sky, "Sky")
                .on_hover_text("Angle in degrees between positions on the celestial sphere.");
        } else if globe.is_some() || draft.metric == Metric::Haversine {
            let about = "Great-circle distance in km from longitude and latitude in degrees, to about 0.5 m.";
            let assumed = globe
                .and_then(|globe| globe.note(axes))
                .map_or_else(String::new, |note| format!("\n{}.", text::sentence_case(&note)));
            ui.selectable_value(&mut draft.metric, Metric::Haversine, "Globe")
                .on_hover_text(format!("{about}{assumed}"));
        }
    });
    let unit = match draft.metric {
        Metric::Haversine => Some("Longitude and latitude: distances in km on the globe."),
        Metric::Sky => Some("Positions in the sky: distances in degrees."),
        _ => None,
    };
    if let Some(unit) = unit {
        ui.label(palette.small(unit));
    }
    ui.checkbox(&mut draft.exclude_self, "Don't count the point itself")
        .on_hover_text("Exclude a query's own row from its neighbours.");
}

/// The slider's maximum; larger values of k are typed. A slider up to the largest k of any engine would leave
/// no room for common values.
const SLIDER_END: usize = 2048;

/// k as a number and a slider. If answers are fast, the picked query follows it.
fn k_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], palette: &Palette) {
    row_ui(ui, "k", palette, |ui, label| {
        let most = draft.max_k().min(SLIDER_END);
        let hint = if draft.max_k() > most {
            "1 or more".to_owned()
        } else {
            format!("1 to {}", text::thousands(most as u64))
        };
        ui.add(TextEdit::singleline(&mut draft.k).id_salt("k").hint_text(hint).desired_width(56.0))
            .labelled_by(label);
        // Values out of range are shown at the nearest end.
        let mut k = number(Field::K, &draft.k, 0, u64::MAX).map_or(1, |k| k.clamp(1, most as u64) as usize);
        ui.spacing_mut().slider_width = (ui.available_width() - 4.0).max(40.0);
        let slider = ui.add(egui::Slider::new(&mut k, 1..=most).logarithmic(true).show_value(false));
        slider.widget_info(|| egui::WidgetInfo::slider(true, k as f64, "k, slider"));
        if slider.on_hover_text("Set the number of neighbours. Fast answers update as you drag.").changed() {
            draft.k = k.to_string();
        }
    });
    error_ui(ui, Field::K, errors, palette);
}

/// The progress of a load or a run, with a button that cancels it.
fn progress_ui(ui: &mut Ui, session: &Session, palette: &Palette) -> Vec<Action> {
    let mut asked = Actions::default();
    let (text, fraction) = match &session.activity {
        Activity::Loading { what, fraction } => (format!("Loading {what}{}", percent(*fraction)), *fraction),
        Activity::Running { stage, fraction } => {
            (format!("{stage}{}", percent(Some(*fraction))), Some(*fraction))
        }
        _ => return asked.take(),
    };
    ui.horizontal(|ui| {
        command_ui(ui, Command::Cancel, &mut asked);
        ui.add(egui::ProgressBar::new(fraction.unwrap_or(0.0)).desired_width(ui.available_width()));
    });
    ui.add(Label::new(palette.small(text)).truncate());
    asked.take()
}

fn run_ui(
    ui: &mut Ui,
    draft: &Draft,
    session: &Session,
    errors: &[FieldError],
    palette: &Palette,
) -> Vec<Action> {
    /// Lines reserved below the button, so that it does not move with their text; a low window reserves one.
    const LINES: f32 = 3.0;
    const LOW_WINDOW: f32 = 640.0;
    const BUTTON: f32 = 30.0;
    let low = ui.ctx().content_rect().height() <= LOW_WINDOW;
    let line = ui.text_style_height(&egui::TextStyle::Small) + ui.spacing().item_spacing.y;
    ui.set_min_height(BUTTON + line * if low { 1.0 } else { LINES });
    if matches!(session.activity, Activity::Loading { .. } | Activity::Running { .. }) {
        return progress_ui(ui, session, palette);
    }
    let mut asked = Actions::default();
    let reason = errors.first().map(|error| error.sentence.clone());
    let text = RichText::new("Run").strong().color(if reason.is_none() {
        palette.on_accent
    } else {
        palette.text_weak
    });
    let button = Button::new(text);
    let button = if reason.is_none() { button.fill(palette.accent) } else { button };
    let size = vec2(ui.available_width(), BUTTON);
    let response = ui.add_enabled_ui(reason.is_none(), |ui| ui.add_sized(size, button)).inner;
    let shortcut = Command::Run.shortcut().map(|shortcut| keys_text(ui.ctx(), &shortcut)).unwrap_or_default();
    if response.on_hover_text(format!("{} {shortcut}", Command::Run.tooltip())).clicked() {
        asked.send(Command::Run);
    }
    let said = match reason {
        Some(reason) => Some((reason, palette.error)),
        None => plan_text(ui, draft, session, Purpose::Measure)
            .map(|sentence| (text::sentence_case(&sentence), palette.text_weak)),
    };
    if let Some((text, color)) = said {
        let label = Label::new(RichText::new(&text).color(color).small());
        if low {
            ui.add(label.truncate()).on_hover_text(text);
        } else {
            ui.add(label);
        }
    }
    asked.take()
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

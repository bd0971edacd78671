//! Left panel, top to bottom: data, k and metric, which are answered at once; then the answer, or, for
//! measuring, queries, engine and Run.

use super::data::data_ui;
use super::engine::engine_ui;
use super::prediction::plan_text;
use super::selection::picked_ui;
use crate::app::look::{error_ui, field_ui, follow_ui, heading_ui, percent, row_ui, wide_field_ui};
use crate::app::model::fields::number;
use crate::app::model::{DataKind, Draft, Field, FieldError, QueryKind};
use crate::app::prelude::*;
use crate::cloud::GlobeAxes;
use crate::knn::Metric;
use crate::run::planner::{Purpose, about};
use crate::text;

pub fn problem_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    let mut draft = state.draft.clone();
    let rows = session.cloud.as_ref().map_or(u64::MAX, |cloud| cloud.len() as u64);
    let mut errors = draft.errors(rows);
    errors.extend(too_many_queries(&draft, session));
    with_footer_ui(
        ui,
        |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                // Keeps the floating scroll bar off the fields.
                ui.set_max_width(ui.available_width() - ui.spacing().scroll.bar_width);
                ui.spacing_mut().item_spacing.y = 4.0;
                data_ui(ui, &mut draft, &errors, context);
                question_ui(ui, &mut draft, session, &errors, palette);
                match state.workspace {
                    Workspace::Explore => picked_ui(ui, context),
                    Workspace::Measure => {
                        query_ui(ui, &mut draft, &errors, context);
                        engine_ui(ui, &mut draft, &errors, context);
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
    .for_each(|action| context.actions.send(action));
    if draft != state.draft {
        context.actions.send(Action::SetDraft(Box::new(draft)));
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

fn query_ui(ui: &mut Ui, draft: &mut Draft, errors: &[FieldError], context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
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
                context.actions.send(Action::BrowseQueries);
            }
        }
    }
    if draft.data == DataKind::File {
        field_ui(ui, "Seed", &mut draft.seed, "0", Field::Seed, errors, palette);
    }
}

fn question_ui(ui: &mut Ui, draft: &mut Draft, session: &Session, errors: &[FieldError], palette: &Palette) {
    heading_ui(ui, "Find");
    k_ui(ui, draft, palette);
    // The room of two lines, so that what is below does not move with the text.
    let height = 2.0 * ui.text_style_height(&egui::TextStyle::Small).ceil();
    ui.allocate_ui(vec2(ui.available_width(), height), |ui| {
        ui.set_min_height(height);
        k_note_ui(ui, draft, session, errors, palette);
    });
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

/// Shows an error in k, a warning if k exceeds the number of neighbours, or the predicted time of an answer.
fn k_note_ui(ui: &mut Ui, draft: &Draft, session: &Session, errors: &[FieldError], palette: &Palette) {
    if errors.iter().any(|error| error.field == Field::K) {
        return error_ui(ui, Field::K, errors, palette);
    }
    let k = number(Field::K, &draft.k, 1, u64::MAX).unwrap_or_default();
    if let Some(rows) = session.cloud.as_ref().map(|cloud| cloud.len() as u64)
        && let most = draft.most_found(rows)
        && k > most
    {
        let [rows, most] = [(rows, "row", "rows"), (most, "neighbour", "neighbours")]
            .map(|(count, one, many)| text::count(count, one, many));
        let said = format!("The cloud has {rows}: at most {most} can be found.");
        return drop(ui.label(RichText::new(said).color(palette.warning).small()));
    }
    let takes = match session.live.took {
        // Predictions ignore that more neighbours take longer to rank.
        Some((_, last)) if k > 16 * last as u64 => None,
        Some((took, last)) if k > SLIDER_END as u64 => {
            Some(format!("about {}", about(took.as_secs_f64() * 1e3 * k as f64 / last as f64)))
        }
        _ => plan_text(ui, draft, session, Purpose::Answer),
    };
    let takes = takes.map_or_else(String::new, |takes| format!(" ({takes})"));
    ui.label(palette.small(format!("Updates as you click{takes}.")));
}

/// The slider's maximum; larger values of k are typed. A slider up to the largest k of any engine would leave
/// no room for common values.
const SLIDER_END: usize = 2048;

/// k as a number and a slider. If answers are fast, the picked query follows it.
fn k_ui(ui: &mut Ui, draft: &mut Draft, palette: &Palette) {
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

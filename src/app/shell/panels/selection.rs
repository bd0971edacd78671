//! Right panel: the picked query's answer, the selection, and the run.

use super::nearest::nearest_ui;
use super::selected::selected_ui;
use crate::app::features::answer_summary::answer_summary;
use crate::app::features::color::state::ColorMap;
use crate::app::features::color::state::channel::ColoringState;
use crate::app::features::live::place_ui;
use crate::app::look::{fact_ui, follow_ui, heading_ui, if_shuffled};
use crate::app::model::fields::number;
use crate::app::model::{AnswerSummary, ClassCounts, Draft, FailureReason, Field};
use crate::app::prelude::*;
use crate::cloud::Source;
use crate::knn::{Measure, Metric, ProblemParameters};
use crate::run::{EngineChoice, RunRecord};
use crate::text;

/// Number of coordinates listed; tables and exports contain all.
const MAX_COORDINATES: usize = 8;

pub fn selection_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let session = context.session;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        picked_ui(ui, context);
        let shown = session.record.as_ref().or(session.answered.as_ref().map(|answered| &answered.record));
        if let Some(record) = shown {
            folded_ui(ui, "Run", |ui| run_ui(ui, record, context));
        }
        follow_ui(ui);
    });
}

/// The picked query's answer, the query and the selection.
pub fn picked_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    if let Some(answered) = &session.answered {
        let (draft, slow) = (&context.state.draft, session.live.is_slow());
        let wrong = number(Field::K, &draft.k, 1, draft.max_k() as u64).is_err();
        let k = text::thousands(answered.record.spec.k as u64);
        heading_ui(
            ui,
            &match () {
                () if slow => "Answering…".to_owned(),
                () if wrong => format!("Answer for k = {k}"),
                () => "Answer".to_owned(),
            },
        );
        ui.scope(|ui| {
            // The answer to another query than that of the fields.
            if slow || wrong {
                ui.multiply_opacity(0.5);
            }
            answer_ui(ui, answered, context);
        });
    }
    heading_ui(ui, "Query");
    match session.picked_point() {
        None => {
            let next = if session.cloud.is_some() {
                "Click a point in Plane or Space to see its neighbours."
            } else {
                "Open or generate a cloud first."
            };
            ui.label(palette.weak(next));
            if let Some(cloud) = &session.cloud {
                place_ui(ui, cloud, context);
            }
        }
        Some((cloud, row)) => {
            match cloud.source() {
                Source::Coordinates(_) => fact_ui(ui, "Place", "not a row of the cloud", palette),
                _ => fact_ui(ui, "Row", text::thousands(cloud.record(row)), palette),
            }
            if !place_ui(ui, cloud, context) {
                for (axis, column) in cloud.axes().iter().enumerate().take(MAX_COORDINATES) {
                    fact_ui(ui, &column.name, text::coordinate(cloud.coordinate(row, axis)), palette);
                }
            }
            if cloud.dims() > MAX_COORDINATES {
                let rest = format!("and {} more coordinates", cloud.dims() - MAX_COORDINATES);
                ui.label(palette.small(rest));
            }
            match &session.answered {
                Some(answered) => search_ui(ui, answered, palette),
                None if session.live.is_waiting() => {
                    ui.label(palette.weak("Answering…"));
                }
                None => {
                    let why = match &session.endings.ask {
                        Some(FailureReason::Cancelled) => "Cancelled before it was answered.",
                        Some(FailureReason::Failed(why)) => why,
                        None => "Not answered.",
                    };
                    ui.label(palette.weak(why));
                }
            }
        }
    }
    if let Some(record) = session.record.as_ref().filter(|record| !record.query_rows.is_empty()) {
        stepper_ui(ui, record, context);
    } else if session.picked_point().is_some() {
        command_ui(ui, Command::FocusQuery, context.actions);
    }
    if session.picked_point().is_some() {
        command_ui(ui, Command::LessonOfQuery, context.actions);
    }
    selected_ui(ui, session, palette, context.actions);
}

/// How the answer was found; collapsed by default, as most users care about the points.
fn search_ui(ui: &mut Ui, answered: &QueryAnswer, palette: &Palette) {
    let record = &answered.record;
    if let (Some(engine), Some(accessed)) =
        (record.descriptor().filter(|engine| !engine.is_exhaustive), answered.counted("distance_evals"))
    {
        let (accessed, all) =
            (text::thousands(accessed.into()), text::count(record.cloud.len() as u64, "point", "points"));
        ui.label(palette.small(format!("{} computed distances to {accessed} of {all}.", engine.id)));
    }
    folded_ui(ui, "Search details", |ui| {
        let spec = &record.spec;
        fact_ui(ui, "Settings", format!("k = {}, {}, {}", spec.k, spec.metric, record.engine), palette);
        let squared = answered.max_squared_distance();
        if squared.is_finite() {
            let what = if spec.metric == Metric::L2 { "Squared distance" } else { "Squared chord" };
            fact_ui(ui, what, text::digits(f64::from(squared), 6), palette);
        }
        if record.measured.queries() <= answered.query {
            ui.label(palette.small(format!("{} has no counters.", record.engine)));
            return;
        }
        for (name, value) in record.measured.for_query(answered.query) {
            fact_ui(ui, &text::sentence_case(&Measure::words(name)), text::thousands(value.into()), palette);
        }
    });
}

fn folded_ui(ui: &mut Ui, title: &str, add: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(title).id_salt(title).default_open(false).show(ui, add);
}

fn stepper_ui(ui: &mut Ui, record: &RunRecord, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let count = record.query_rows.len();
    let current = session
        .answered
        .as_ref()
        .filter(|answered| std::ptr::eq(&*answered.record, record))
        .map(|answered| answered.query);
    ui.horizontal(|ui| {
        for (text, name, by) in [("‹", "Previous query", count - 1), ("›", "Next query", 1)] {
            let response = ui.add_enabled(count > 1, Button::new(text)).on_hover_text(name);
            response.widget_info(|| egui::WidgetInfo::labeled(Role::Button, count > 1, name));
            if response.clicked() {
                context.actions.send(Action::PickQuery(current.map_or(0, |at| (at + by) % count)));
            }
        }
        command_ui(ui, Command::FocusQuery, context.actions);
    });
    ui.horizontal(|ui| {
        let place = current.map_or("Not a query of the run".to_owned(), |at| {
            format!("Query {} (0 to {})", text::thousands(at as u64), text::thousands(count as u64 - 1))
        });
        ui.label(palette.weak(place));
    });
}

fn run_ui(ui: &mut Ui, record: &RunRecord, context: &mut UiContext<'_>) {
    let palette = context.palette;
    let (spec, summary) = (&record.spec, &record.summary);
    fact_ui(ui, "Points", text::thousands(summary.n), palette);
    fact_ui(ui, "Queries", text::thousands(summary.q), palette);
    let searched = if spec.metric.is_on_sphere() { " (on the sphere)" } else { "" };
    fact_ui(ui, "Dimensions", format!("{}{searched}", text::thousands(summary.d)), palette);
    fact_ui(
        ui,
        "k",
        format!("{} (K = {})", spec.k, crate::knn::theory::capacity(ProblemParameters::from(spec).found_k())),
        palette,
    );
    let order = match spec.order {
        crate::cloud::Order::File => "file",
        crate::cloud::Order::Shuffled => "shuffled",
    };
    fact_ui(ui, "Metric, order", format!("{}, {order}", spec.metric), palette);
    let shuffled = if_shuffled(spec.order);
    // The mean of one query is a count, shown exactly above.
    let mean = |mean: f64| if summary.q == 1 { text::thousands(mean as u64) } else { text::digits(mean, 3) };
    fact_ui(ui, "Search", text::time(summary.search_ms_median), palette);
    if let Some(rate) = summary.distances_per_second {
        fact_ui(ui, "Rate", text::rate(rate), palette);
    }
    for measure in &summary.measures {
        let bound = measure
            .expected
            .map_or_else(String::new, |bound| format!(" (≤\u{a0}{}{shuffled})", text::digits(bound, 3)));
        fact_ui(
            ui,
            &format!("Mean {}", Measure::words(&measure.name)),
            format!("{}{bound}", mean(measure.mean)),
            palette,
        );
    }
    if let Some(active) = summary.active_threads {
        fact_ui(ui, "Active threads", format!("{} of 32", text::digits(active, 3)), palette);
    }
    fact_ui(ui, "Seed", spec.seed.to_string(), palette);
    heading_ui(ui, "Device");
    fact_ui(ui, "Engine", record.engine.to_string(), palette);
    if let Some(method) = &record.method {
        ui.add(Label::new(method).wrap());
        method_ui(ui, method, context);
    }
    if let Some(note) = &record.note {
        ui.label(palette.small(note));
    }
    ui.add(Label::new(&record.device.name).wrap());
    for (name, value) in &record.device.details {
        fact_ui(ui, name, value, palette);
    }
    if let Some(why) = &record.fallback {
        // Not an error: another engine gave the same bits.
        ui.label(palette.small(why));
    }
}

/// Copies a run's method to the left panel, if it differs.
fn method_ui(ui: &mut Ui, method: &str, context: &mut UiContext<'_>) {
    let state = context.state;
    let Ok(engine) = method.parse::<EngineChoice>() else { return };
    if engine == state.draft.engine {
        return;
    }
    let button =
        ui.button("Use these parameters").on_hover_text("Copy them to the left panel for the next run.");
    if button.clicked() {
        context.actions.send(Action::SetDraft(Box::new(Draft { engine, ..state.draft.clone() })));
    }
}

// The answer at the top of the right panel: a sentence, classes of the neighbours, and their distances.

/// Height of the class bar and the distance line.
const BAR: f32 = 12.0;

fn answer_ui(ui: &mut Ui, answered: &QueryAnswer, context: &mut UiContext<'_>) {
    let (session, palette, workspace) = (context.session, context.palette, context.state.workspace);
    let summary = answer_summary(ui, session, answered);
    let order = if session.has_record(&answered.record) {
        "From the run: sorted by the measured squared distances (f32)."
    } else {
        "Sorted by exact distance; ties by row."
    };
    ui.add(Label::new(RichText::new(summary.sentence()).size(15.0)).wrap()).on_hover_text(order);
    if let Some(classes) = &summary.classes {
        classes_ui(ui, session, classes, summary.found, palette);
    }
    distances_ui(ui, &summary, palette);
    if workspace == Workspace::Explore {
        nearest_ui(ui, answered, &summary, context);
    }
    why_ui(ui, answered, context);
    nearby_ui(ui, answered, context);
}

/// Selects all rows within a distance, without a limit on their number.
fn nearby_ui(ui: &mut Ui, answered: &QueryAnswer, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let metric = answered.record.spec.metric;
    let mut typed = session.nearby.typed.clone();
    ui.horizontal_wrapped(|ui| {
        let label = ui.label(palette.weak("Select everything within"));
        let edit = TextEdit::singleline(&mut typed).id_salt("radius").hint_text("0.5").desired_width(56.0);
        let about = "Select every row within this distance of the query.";
        let field = ui.add(edit).labelled_by(label.id).on_hover_text(about);
        if let Some(unit) = metric.unit() {
            ui.label(unit);
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        let pressed = ui
            .add_enabled(!typed.trim().is_empty(), Button::new("Select"))
            .on_hover_text("Select all rows within this distance.")
            .clicked();
        if typed != session.nearby.typed {
            context.actions.send(Action::TypeRadius(typed));
        }
        if entered || pressed {
            context.actions.send(Action::SelectNearby);
        }
    });
    if let Some(wrong) = &session.nearby.wrong {
        ui.label(RichText::new(wrong).color(palette.error));
    }
}

/// Asks why a row is, or is not, among the neighbours.
fn why_ui(ui: &mut Ui, answered: &QueryAnswer, context: &mut UiContext<'_>) {
    let (session, palette) = (context.session, context.palette);
    let mut typed = session.why.typed.clone();
    let asks = ui
        .horizontal_wrapped(|ui| {
            let label = ui.label(palette.weak("Where does"));
            let edit = TextEdit::singleline(&mut typed).id_salt("why").hint_text("row").desired_width(88.0);
            let about = "Type a row number or name to see its rank, its distance, and how each axis \
                         contributes.";
            let field = ui.add(edit).labelled_by(label.id).on_hover_text(about);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if entered {
                // Ready for the next row.
                field.request_focus();
            }
            ui.label(palette.weak("rank?"));
            let pressed = ui.add_enabled(!typed.trim().is_empty(), Button::new("Show")).clicked();
            // A single selected row, from Ctrl-click or the table, is probably the one meant.
            let selected = match session.selection.rows()[..] {
                [row] => Some(row),
                _ => session.rank.and_then(|rank| answered.neighbors().nth(rank)).map(|(row, _)| row),
            };
            if let Some(row) = selected
                && ui.button("Use selected").on_hover_text("Show where the selected row ranks.").clicked()
            {
                typed = answered.record.cloud.record(row as usize).to_string();
                return true;
            }
            entered || pressed
        })
        .inner;
    if typed != session.why.typed {
        context.actions.send(Action::TypeWhy(typed));
    }
    if asks {
        context.actions.send(Action::AskWhy);
    }
    let explanation = session.why.explanation.as_ref().filter(|known| known.answered == *answered);
    match explanation.map(|known| &known.sentences) {
        None => {}
        Some(Ok(sentences)) => sentences.iter().for_each(|sentence| drop(ui.label(sentence))),
        Some(Err(why)) => drop(ui.label(RichText::new(why).color(palette.error))),
    }
}

fn classes_ui(ui: &mut Ui, session: &Session, classes: &ClassCounts, found: usize, palette: &Palette) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let sentence = classes.sentence();
    name_widget(&response, Role::Image, &sentence);
    let total: usize = classes.counts.iter().map(|(_, count)| count).sum::<usize>() + classes.others;
    // Use the colours of Plane and Space, if the same column colours them.
    let shown = match &session.colored {
        ColoringState::Ready(channel) if channel.title == classes.column => channel.categories.as_ref(),
        _ => None,
    };
    let color = |at: usize| match (classes.counts.get(at), shown) {
        (None, _) => palette.muted,
        (Some((kind, _)), Some(shown)) => {
            let place = shown.list.iter().position(|category| category.name == *kind);
            place.map_or(palette.muted, |place| ColorMap::Categories.category(place, palette))
        }
        (Some(_), None) => palette.categories[at % palette.categories.len()],
    };
    let mut left = rect.left();
    let mut parts: Vec<(String, usize)> = classes.counts.clone();
    if classes.others > 0 {
        parts.push(("others".to_owned(), classes.others));
    }
    for (at, (_, count)) in parts.iter().enumerate() {
        let right = left + rect.width() * *count as f32 / total.max(1) as f32;
        ui.painter().rect_filled(
            Rect::from_x_y_ranges(left..=(right - 1.0).max(left), rect.y_range()),
            0.0,
            color(at),
        );
        left = right;
    }
    response.on_hover_text(&sentence);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let nearest = format!("{} of the nearest {}", classes.column, text::thousands(total as u64));
        ui.label(palette.weak(if total < found { &nearest } else { &classes.column }));
        for (at, (kind, count)) in parts.iter().enumerate() {
            class_ui(ui, &format!("{kind} ({count})"), color(at));
        }
    });
    if let Some((alike, total)) = classes.same_class.filter(|(alike, total)| alike < total) {
        let share = format!("{alike} of {total} share the query’s {}.", classes.column);
        ui.label(palette.small(share));
    }
}

/// A class's colour and count, kept together when wrapping.
fn class_ui(ui: &mut Ui, text: &str, color: Color32) {
    const SQUARE: f32 = 8.0;
    let galley = ui.painter().layout_no_wrap(
        text.to_owned(),
        egui::TextStyle::Body.resolve(ui.style()),
        Color32::WHITE,
    );
    let gap = ui.spacing().item_spacing.x;
    let size = vec2(SQUARE + gap + galley.size().x + gap, galley.size().y);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        let (square, _) = ui.allocate_exact_size(vec2(SQUARE, SQUARE), Sense::hover());
        ui.painter().rect_filled(square, 1.0, color);
        ui.add(Label::new(text).truncate());
    });
}

/// A tick at each neighbour's distance; the query is at the left end.
fn distances_ui(ui: &mut Ui, summary: &AnswerSummary, palette: &Palette) {
    let (Some(&nearest), Some(&farthest)) = (summary.distances.first(), summary.distances.last()) else {
        return;
    };
    if summary.distances.len() < 2 || farthest <= 0.0 {
        return;
    }
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let line = rect.center().y;
    ui.painter().hline(rect.x_range(), line, Stroke::new(1.0, palette.line));
    let at = |distance: f64| rect.left() + 1.0 + (rect.width() - 2.0) * (distance / farthest) as f32;
    let tick = |distance: f64, color: Color32, width: f32| {
        ui.painter().vline(at(distance), rect.y_range(), Stroke::new(width, color))
    };
    // Ticks less than half a screen point apart are drawn once, however many neighbours there are.
    let mut left = &summary.distances[..];
    while let Some(&distance) = left.first() {
        tick(distance, palette.neighbor.gamma_multiply(0.6), 1.0);
        left = &left[left.partition_point(|&other| at(other) < at(distance) + 0.5).max(1)..];
    }
    let middle = summary.distances.len() / 2;
    let median = if summary.distances.len() % 2 == 1 {
        summary.distances[middle]
    } else {
        f64::midpoint(summary.distances[middle - 1], summary.distances[middle])
    };
    tick(median, palette.text, 2.0);
    // The farthest distance is formatted as in the sentence above.
    let words = format!(
        "nearest {}, median {}, farthest {}",
        text::digits(nearest, 4),
        text::digits(median, 4),
        summary.within
    );
    name_widget(&response, Role::Image, &format!("Distances: {words}"));
    ui.label(palette.small(words));
}

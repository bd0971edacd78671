//! Right: what is selected, and the run that answered it.

use egui::{RichText, ScrollArea, TextEdit, Ui};

use crate::app::features::live::place::place_ui;
use crate::app::features::selection::state::SelectAction;
use crate::app::look::{Palette, command_ui, fact_ui, follow_ui, heading_ui, if_shuffled, keys_text};
use crate::app::model::between::between;
use crate::app::model::how::How;
use crate::app::model::{Action, Actions, Answered, Command, Draft, Ended, Session, State};
use crate::app::shell::panels::answer::answer_ui;
use crate::cloud::Source;
use crate::knn::{Measure, Metric, Setup};
use crate::run::{EngineChoice, RunRecord};
use crate::text;

/// Coordinates that are listed; the table and the export have them all.
const LISTED: usize = 8;

pub fn selection_ui(ui: &mut Ui, state: &State, session: &Session, palette: &Palette, actions: &mut Actions) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        if let Some(answered) = &session.answered {
            answer_ui(ui, session, answered, palette, actions);
        }
        heading_ui(ui, "Query");
        match session.picked_point() {
            None => {
                let next = if session.cloud.is_some() {
                    "Click a point in Plane or Space to see its neighbours."
                } else {
                    "Open or generate a cloud first."
                };
                ui.label(RichText::new(next).color(palette.text_weak));
                if let Some(cloud) = &session.cloud {
                    place_ui(ui, session, cloud, palette, actions);
                }
            }
            Some((cloud, row)) => {
                match cloud.source() {
                    Source::Coordinates(_) => fact_ui(ui, "Place", "no row of the cloud", palette),
                    _ => fact_ui(ui, "Row", text::thousands(cloud.record(row)), palette),
                }
                if !place_ui(ui, session, cloud, palette, actions) {
                    for (axis, column) in cloud.axes().iter().enumerate().take(LISTED) {
                        fact_ui(ui, &column.name, text::coordinate(cloud.coordinate(row, axis)), palette);
                    }
                }
                if cloud.dims() > LISTED {
                    let rest = format!("and {} more coordinates", cloud.dims() - LISTED);
                    ui.label(RichText::new(rest).color(palette.text_weak).small());
                }
                match &session.answered {
                    Some(answered) => search_ui(ui, answered, palette),
                    None if session.live.is_waiting() => {
                        ui.label(RichText::new("Answering…").color(palette.text_weak));
                    }
                    None => {
                        let why = match &session.endings.ask {
                            Some(Ended::Cancelled) => "Cancelled before it was answered.",
                            Some(Ended::Failed(why)) => why,
                            None => "Not answered.",
                        };
                        ui.label(RichText::new(why).color(palette.text_weak));
                    }
                }
            }
        }
        if let Some(record) = session.record.as_ref().filter(|record| !record.query_rows.is_empty()) {
            stepper_ui(ui, session, record, palette, actions);
        } else if session.picked_point().is_some() {
            command_ui(ui, Command::FocusQuery, actions);
        }
        if session.picked_point().is_some() {
            command_ui(ui, Command::LessonOfQuery, actions);
        }
        chosen_ui(ui, session, palette, actions);
        let shown = session.record.as_ref().or(session.answered.as_ref().map(|answered| &answered.record));
        if let Some(record) = shown {
            folded_ui(ui, "Run", |ui| run_ui(ui, record, state, palette, actions));
        }
        follow_ui(ui);
    });
}

/// How the answer was found: folded, for those who look at the search and not at the points.
fn search_ui(ui: &mut Ui, answered: &Answered, palette: &Palette) {
    let record = &answered.record;
    if let (Some(engine), Some(accessed)) = (record.descriptor().filter(|engine| !engine.is_exhaustive), answered.counted("accessed")) {
        let (accessed, all) = (text::thousands(accessed.into()), text::count(record.cloud.len() as u64, "point", "points"));
        ui.label(RichText::new(format!("{} looked at {accessed} of {all}.", engine.id)).color(palette.text_weak).small());
    }
    folded_ui(ui, "How it was found", |ui| {
        let spec = &record.spec;
        fact_ui(ui, "Asked", format!("k = {}, {}, {}", spec.k, spec.metric, record.engine), palette);
        let squared = answered.max_squared_distance();
        if squared.is_finite() {
            fact_ui(ui, "Squared distance", text::digits(f64::from(squared), 6), palette);
        }
        if record.measured.queries() <= answered.query {
            ui.label(RichText::new(format!("{} counts nothing.", record.engine)).color(palette.text_weak).small());
            return;
        }
        for (name, value) in record.measured.of(answered.query) {
            fact_ui(ui, &text::sentence_case(&Measure::words(name)), text::thousands(value.into()), palette);
        }
    });
}

/// A part of the panel that opens when asked.
fn folded_ui(ui: &mut Ui, title: &str, add: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(title).id_salt(title).default_open(false).show(ui, add);
}

fn stepper_ui(ui: &mut Ui, session: &Session, record: &RunRecord, palette: &Palette, actions: &mut Actions) {
    let count = record.query_rows.len();
    let current = session.answered.as_ref().filter(|answered| std::ptr::eq(&*answered.record, record)).map(|answered| answered.query);
    ui.horizontal(|ui| {
        for (text, name, by) in [("‹", "Previous query", count - 1), ("›", "Next query", 1)] {
            let response = ui.add_enabled(count > 1, egui::Button::new(text)).on_hover_text(name);
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, count > 1, name));
            if response.clicked() {
                actions.send(Action::PickQuery(current.map_or(0, |at| (at + by) % count)));
            }
        }
        command_ui(ui, Command::FocusQuery, actions);
    });
    ui.horizontal(|ui| {
        let place = current.map_or("This query is not part of the run".to_owned(), |at| {
            format!("Query {}, of 0 to {}", text::thousands(at as u64), text::thousands(count as u64 - 1))
        });
        ui.label(RichText::new(place).color(palette.text_weak));
    });
}

/// What is selected beside the query, and what can be done with it.
fn chosen_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    /// The most axes whose range is listed.
    const RANGES: usize = 4;
    /// The most measures that are listed.
    const MEASURES: usize = 4;
    let Some(cloud) = &session.cloud else { return };
    heading_ui(ui, "Selection");
    let (selection, facts) = (&session.selection, &session.selected);
    if selection.is_empty() {
        let next =
            "Nothing. Drag with Shift in Plane or Space, or over the histogram of their colours; or click a bin of Counts or a row of Neighbours.";
        ui.label(RichText::new(next).color(palette.text_weak));
        return sets_ui(ui, session, palette, actions);
    }
    fact_ui(ui, "Rows", text::thousands(selection.rows().len() as u64), palette);
    if session.record.is_some() {
        fact_ui(ui, "Queries", text::thousands(selection.queries().len() as u64), palette);
    }
    fact_ui(ui, "By", selection.by(), palette);
    if let [a, b] = selection.rows()[..] {
        let asked = session.answered.as_ref().map(|answered| &answered.record).or(session.record.as_ref());
        let metric = asked.map_or_else(Metric::default, |record| record.spec.metric);
        if let Some(said) = between(cloud, a, b, metric) {
            ui.add(egui::Label::new(said).wrap());
        }
    }
    for measure in facts.measures.iter().take(MEASURES) {
        let (fewest, most) = measure.range();
        let range = if fewest == most { String::new() } else { format!(", {} to {}", text::thousands(fewest.into()), text::thousands(most.into())) };
        fact_ui(ui, &text::sentence_case(&Measure::words(&measure.name)), format!("mean {}{range}", text::digits(measure.mean, 3)), palette);
    }
    for (axis, column) in cloud.axes().iter().enumerate().take(RANGES) {
        let Some((low, high)) = facts.range(cloud, axis) else { continue };
        let text = if low == high { text::coordinate(low) } else { format!("{} to {}", text::coordinate(low), text::coordinate(high)) };
        fact_ui(ui, &column.name, text, palette);
    }
    if cloud.dims() > RANGES && !facts.extremes.is_empty() {
        ui.label(RichText::new(format!("and {} more ranges", cloud.dims() - RANGES)).color(palette.text_weak).small());
    }
    ui.horizontal_wrapped(|ui| {
        for (text, command) in [
            ("Clear", Command::SelectNone),
            ("Zoom to", Command::ZoomToSelection),
            ("Grow", Command::GrowSelection),
            ("Use as queries", Command::UseAsQueries),
            ("Export rows…", Command::ExportSelection),
        ] {
            let keys = command.shortcut().map(|shortcut| format!(" {}", keys_text(ui.ctx(), &shortcut))).unwrap_or_default();
            if ui.button(text).on_hover_text(format!("{}{keys}", command.tooltip())).clicked() {
                actions.send(command);
            }
        }
    });
    keep_ui(ui, session, actions);
    sets_ui(ui, session, palette, actions);
}

/// Gives the selected rows a name, by which they can be had again.
fn keep_ui(ui: &mut Ui, session: &Session, actions: &mut Actions) {
    let mut typed = session.sets.typed.clone();
    ui.horizontal(|ui| {
        let label = ui.label("Name");
        let edit = TextEdit::singleline(&mut typed).id_salt("set").hint_text(session.selection.by()).desired_width(ui.available_width() - 60.0);
        let field = ui.add(edit).labelled_by(label.id).on_hover_text("A name for the selected rows.");
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
        let about = "Keep the selected rows under this name, to select them again; a session saves them.";
        let keeps = ui.button("Keep").on_hover_text(about).clicked() || entered;
        if typed != session.sets.typed {
            actions.send(SelectAction::TypeName(typed));
        }
        if keeps {
            actions.send(SelectAction::Keep);
        }
    });
}

/// The sets that are kept: a click selects one, Shift adds it, Ctrl adds or removes it.
fn sets_ui(ui: &mut Ui, session: &Session, palette: &Palette, actions: &mut Actions) {
    if session.sets.list().is_empty() {
        return;
    }
    ui.label(RichText::new("Kept sets").color(palette.text_weak));
    for set in session.sets.list() {
        ui.horizontal(|ui| {
            let forget = ui.small_button("×").on_hover_text("Forget this set; its rows stay selected.");
            forget.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Forget {}", set.name)));
            if forget.clicked() {
                actions.send(SelectAction::Forget(set.name.clone()));
            }
            let shown = format!("{} ({})", set.name, text::thousands(set.rows.len() as u64));
            let selected = session.selection.rows() == &set.rows;
            let about = "Select these rows; with Shift, add them; with Ctrl, add or remove them.";
            let label = ui.add(egui::Button::selectable(selected, shown).truncate()).on_hover_text(about);
            if label.clicked() {
                let how = How::of_click(ui.input(|input| input.modifiers));
                actions.send(SelectAction::rows(set.rows.to_vec(), how, set.name.as_str()));
            }
        });
    }
}

fn run_ui(ui: &mut Ui, record: &RunRecord, state: &State, palette: &Palette, actions: &mut Actions) {
    let (spec, summary) = (&record.spec, &record.summary);
    fact_ui(ui, "Points", text::thousands(summary.n), palette);
    fact_ui(ui, "Queries", text::thousands(summary.q), palette);
    let searched = if spec.metric.is_on_sphere() { " (on the sphere)" } else { "" };
    fact_ui(ui, "Dimensions", format!("{}{searched}", text::thousands(summary.d)), palette);
    fact_ui(ui, "k", format!("{} (K = {})", spec.k, crate::knn::theory::capacity(Setup::from(spec).found_k())), palette);
    let order = match spec.order {
        crate::cloud::Order::File => "file",
        crate::cloud::Order::Shuffled => "shuffled",
    };
    fact_ui(ui, "Metric, order", format!("{}, {order}", spec.metric), palette);
    let shuffled = if_shuffled(spec.order);
    // One query's mean is a count, which stands above to its last digit.
    let mean = |mean: f64| if summary.q == 1 { text::thousands(mean as u64) } else { text::digits(mean, 3) };
    fact_ui(ui, "Search", text::time(summary.search_ms_median), palette);
    if let Some(rate) = summary.distances_per_second {
        fact_ui(ui, "Rate", text::rate(rate), palette);
    }
    for measure in &summary.measures {
        let bound = measure.expected.map_or_else(String::new, |bound| format!(" (≤\u{a0}{}{shuffled})", text::digits(bound, 3)));
        fact_ui(ui, &format!("Mean {}", Measure::words(&measure.name)), format!("{}{bound}", mean(measure.mean)), palette);
    }
    if let Some(active) = summary.active_threads {
        fact_ui(ui, "Active threads", format!("{} of 32", text::digits(active, 3)), palette);
    }
    fact_ui(ui, "Seed", spec.seed.to_string(), palette);
    heading_ui(ui, "Device");
    fact_ui(ui, "Engine", record.engine.to_string(), palette);
    if let Some(method) = &record.method {
        ui.add(egui::Label::new(method).wrap());
        method_ui(ui, method, state, actions);
    }
    if let Some(note) = &record.note {
        ui.label(RichText::new(note).color(palette.text_weak).small());
    }
    ui.add(egui::Label::new(&record.device.name).wrap());
    for (name, value) in &record.device.details {
        fact_ui(ui, name, value, palette);
    }
    if let Some(why) = &record.fallback {
        // No fault: another engine answered, to the same bits.
        ui.label(RichText::new(why).color(palette.text_weak).small());
    }
}

/// Takes a run's method over into the fields on the left, where that is not what they say.
fn method_ui(ui: &mut Ui, method: &str, state: &State, actions: &mut Actions) {
    let Ok(engine) = method.parse::<EngineChoice>() else { return };
    if engine == state.draft.engine {
        return;
    }
    let button = ui.button("Use these parameters").on_hover_text("Copy them to the fields on the left, for the next run.");
    if button.clicked() {
        actions.send(Action::SetDraft(Box::new(Draft { engine, ..state.draft.clone() })));
    }
}

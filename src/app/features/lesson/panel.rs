//! Left panel: the list of lessons, the chosen lesson's text, and its settings.

use egui::{ComboBox, RichText, ScrollArea, Ui};

use super::state::LessonAction;
use super::state::player::Player;
use super::state::quiz::Quiz;
use super::state::session::{FaultChoice, LessonDraft, LessonSession, lesson_of, sentence};
use crate::app::look::{Palette, UiContext, command_ui, fact_ui, field_ui, heading_ui, keys_text, row_ui};
use crate::app::model::{Actions, Command, Field, FieldError, Session};
use crate::cloud::Source;
use crate::lesson::Recording;
use crate::lesson::algorithms::Baseline;
use crate::lesson::edits::Edits;
use crate::lesson::fault::{self, FAULTS, Fault, FaultInfo, faults_known_after};
use crate::lesson::lessons::{LESSONS, Lesson, OWN_DATA, SearchAlgorithm, SearchRange, named};
use crate::text;

pub fn panel_ui(ui: &mut Ui, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    let lesson = lesson_of(state.lesson.number);
    // Per lesson, so that each starts scrolled to the top.
    ScrollArea::vertical().id_salt(lesson.id).auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        heading_ui(ui, "Lessons");
        list_ui(ui, lesson, palette, context.actions);
        ui.add_space(6.0);
        ui.separator();
        text_ui(ui, lesson, session, palette, context.actions);
        ui.add_space(2.0);
        choice_ui(ui, lesson, context);
        let (choice, player) = (session.lesson.fault_choice, session.lesson.player_of(lesson));
        faults_ui(ui, lesson, choice, player, palette, context.actions);
        heading_ui(ui, "Questions");
        score_ui(ui, lesson, &session.lesson, palette, context.actions);
        ui.add_space(4.0);
        command_ui(ui, Command::KernelLine, context.actions);
        heading_ui(ui, "For a class");
        ui.horizontal_wrapped(|ui| {
            command_ui(ui, Command::Presenter, context.actions);
            command_ui(ui, Command::Bare, context.actions);
        });
    });
}

/// The lessons in order, with marks for the short route.
fn list_ui(ui: &mut Ui, lesson: &Lesson, palette: &Palette, actions: &mut Actions) {
    ui.with_layout(egui::Layout::top_down_justified(egui::Align::LEFT), |ui| {
        for other in &LESSONS {
            let mark = if other.minutes.is_route() { "\u{25cf}" } else { "\u{25cb}" };
            let text = format!("{mark}  {}  {}", other.number, other.title);
            let response = ui.add(egui::Button::selectable(other.number == lesson.number, text).wrap());
            if response
                .on_hover_text(format!(
                    "{} About {} min.",
                    other.fill_in(other.goal, other.shape()),
                    other.minutes.count()
                ))
                .clicked()
            {
                actions.send(LessonAction::Open(other.number));
            }
        }
    });
    let minutes: u32 =
        LESSONS.iter().filter(|lesson| lesson.minutes.is_route()).map(|lesson| lesson.minutes.count()).sum();
    ui.label(
        RichText::new(format!("\u{25cf} the story in {minutes} minutes   \u{25cb} more"))
            .color(palette.text_weak)
            .small(),
    );
}

fn text_ui(ui: &mut Ui, lesson: &Lesson, session: &Session, palette: &Palette, actions: &mut Actions) {
    let player = session.lesson.player_of(lesson);
    let shape = player.map_or_else(|| lesson.shape(), |player| player.take().recording.shape());
    let mut say = |text: RichText| ui.add(egui::Label::new(text.color(palette.text)).wrap());
    say(RichText::new(lesson.fill_in(lesson.goal, shape)).strong());
    // The text would give away the answer.
    if session.lesson.quiz.as_ref().is_some_and(Quiz::is_asking) {
        ui.label(RichText::new("The text is hidden while a question is open.").color(palette.text_weak));
        return;
    }
    say(RichText::new(lesson.fill_in(lesson.paragraph, shape)));
    say(RichText::new(lesson.fill_in(lesson.summary, shape)).strong());
    let next = lesson.next().map(|next| ("Next", next.id));
    let links = lesson.prerequisites.iter().map(|id| ("Builds on", *id)).chain(next);
    for (what, other) in links.filter_map(|(what, id)| Some((what, named(id).ok()?))) {
        let text = format!("{what}: {}  {}", other.number, other.title);
        if ui.link(text).clicked() {
            actions.send(LessonAction::Open(other.number));
        }
    }
    ui.add_space(2.0);
}

/// Fields for data, k and W.
fn choice_ui(ui: &mut Ui, lesson: &'static Lesson, context: &mut UiContext<'_>) {
    let (state, session, palette) = (context.state, context.session, context.palette);
    heading_ui(ui, "Data");
    let mut draft = session.lesson.draft(lesson);
    let before = draft.clone();
    if lesson.own_data && lesson.number != OWN_DATA {
        open_cloud_ui(ui, session.cloud.is_some(), &mut draft);
    }
    let cloud = session.cloud.as_ref().filter(|_| draft.takes_open_cloud(lesson));
    let errors = draft.read(lesson, cloud.map(|cloud| &**cloud)).err().unwrap_or_default();
    // Whether a field was left or confirmed with Enter.
    let mut entered = false;
    match cloud {
        Some(cloud) => {
            let source = cloud.source().to_string();
            ui.add(egui::Label::new(RichText::new(&source).color(palette.text_weak)).truncate())
                .on_hover_text(&source);
            let question = session.lesson.asked.as_ref().filter(|_| lesson.number == OWN_DATA);
            match question.and_then(|question| question.query.as_ref()) {
                Some(query) if matches!(query.queries.source(), Source::Coordinates(_)) => {
                    fact_ui(ui, "Query", "a place", palette)
                }
                Some(query) => fact_ui(
                    ui,
                    "Query",
                    format!("{} of the file", text::thousands(query.number as u64 + 1)),
                    palette,
                ),
                None => {
                    let middle = format!("{}, the middle", cloud.record(cloud.len() / 2));
                    entered |= field_ui(
                        ui,
                        "Query row",
                        &mut draft.row,
                        &middle,
                        Field::QueryRows,
                        &errors,
                        palette,
                    )
                    .lost_focus();
                    if question.map_or(state.draft.exclude_self, |question| question.exclude_self) {
                        let left = "The query's own row is left out, as in the explorer.";
                        ui.add(egui::Label::new(RichText::new(left).color(palette.text_weak).small()).wrap());
                    }
                }
            }
        }
        None => {
            if let Some(player) = session.lesson.player_of(lesson) {
                let parameters = &player.take().recording.parameters;
                // Moves are described below.
                let moved = draft.touched.words().map(|words| format!("; {words}")).unwrap_or_default();
                let data = parameters.data.strip_suffix(&moved).unwrap_or(&parameters.data);
                wrap_ui(ui, data, palette);
            }
            if lesson.number == OWN_DATA {
                let next = "No cloud is open, so this is a generated one. Open yours in the explorer, or \
                            drop a file here.";
                ui.label(RichText::new(next).color(palette.text_weak).small());
            }
            entered |= field_ui(ui, "Seed", &mut draft.seed, "0", Field::Seed, &errors, palette).lost_focus();
            entered |= keys_ui(ui, lesson, &mut draft, &errors, palette);
            if !state.lesson.has_dragged
                && matches!(lesson.shows, SearchRange::FirstSort | SearchRange::SecondMinimum)
            {
                ui.label(
                    RichText::new("Drag a key in the picture up or down.").color(palette.text_weak).small(),
                );
            }
        }
    }
    entered |= field_ui(ui, "k", &mut draft.k, "neighbours", Field::K, &errors, palette).lost_focus();
    // A node of the tree has as many children as a warp has lanes.
    if lesson.search != SearchAlgorithm::Tree {
        row_ui(ui, "Lanes, W", palette, |ui, _| {
            let combo = ComboBox::from_id_salt("lanes").width(64.0).selected_text(draft.width.to_string());
            let response = combo.show_ui(ui, |ui| {
                for width in [4, 8, 16, 32] {
                    ui.selectable_value(&mut draft.width, width, width.to_string());
                }
            });
            response
                .response
                .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Lanes, W"));
        });
    }
    if let Some(moved) = draft.touched.words() {
        ui.add(egui::Label::new(RichText::new(sentence(&moved)).color(palette.text)).wrap());
    }
    let changed = draft != before;
    // Typed numbers are recorded when confirmed, choices at once.
    let chosen = (draft.width, draft.open_cloud) != (before.width, before.open_cloud);
    let record = (entered || chosen) && draft.read(lesson, cloud.map(|cloud| &**cloud)).is_ok();
    let own = LessonDraft::for_lesson(lesson);
    let differs = draft != own || (lesson.number == OWN_DATA && session.lesson.asked.is_some());
    if changed {
        context.actions.send(LessonAction::Edit(draft));
    }
    if record {
        context.actions.send(LessonAction::Record);
    }
    if differs
        && ui.button("Back to the lesson's own").on_hover_text("The lesson's own k, W and data.").clicked()
    {
        context.actions.send(LessonAction::Reset);
    }
    if let Some(player) = session.lesson.player_of(lesson) {
        let (shape, parameters) = (player.take().recording.shape(), &player.take().recording.parameters);
        fact_ui(ui, "Points, n", text::thousands(shape.n.into()), palette);
        fact_ui(
            ui,
            "K = W·R",
            format!("{} = {}·{}", text::thousands(shape.capacity().into()), shape.width, shape.registers),
            palette,
        );
        if let Baseline::WarpSelect(queued) = player.take().recording.baseline() {
            // Not a setting: the length follows from the engine's queue, with the same number of keys per
            // lane.
            fact_ui(
                ui,
                "Queue, Q",
                format!(
                    "{} a lane, for R = {}",
                    text::count(queued.length.into(), "key", "keys"),
                    shape.registers
                ),
                palette,
            );
        }
        fact_ui(ui, "Recorded on", parameters.recorder_name(), palette);
    }
    if session.can_record_on_gpu(32) {
        let mut gpu = state.lesson.gpu;
        let about = "The kernel itself searches and writes down what it does; its steps are held against \
                     the twin's. A GPU's warp has 32 lanes.";
        let response = ui.add_enabled(
            session.lesson.draft(lesson).width == 32,
            egui::Checkbox::new(&mut gpu, "Record on the GPU"),
        );
        if response.on_hover_text(about).on_disabled_hover_text(about).changed() {
            context.actions.send(LessonAction::SetGpu(gpu));
        }
    }
}

/// Whether to use the points of the open cloud.
fn open_cloud_ui(ui: &mut Ui, is_open: bool, draft: &mut LessonDraft) {
    let about =
        "Compares the order of its rows with the others. Open a cloud in the explorer, or drop a file here.";
    let response = ui.add_enabled(
        is_open || draft.open_cloud,
        egui::Checkbox::new(&mut draft.open_cloud, "Points of the open cloud"),
    );
    if response.on_hover_text(about).on_disabled_hover_text(about).changed() {
        // Row and moved points refer to other data.
        (draft.row, draft.touched) = (String::new(), Edits::default());
    }
}

/// Typed keys, if they are few; returns whether the field was left.
fn keys_ui(
    ui: &mut Ui,
    lesson: &Lesson,
    draft: &mut LessonDraft,
    errors: &[FieldError],
    palette: &Palette,
) -> bool {
    let count = draft
        .k
        .parse()
        .ok()
        .filter(|k| (1..=draft.width as usize * 32).contains(k))
        .and_then(|k| lesson.keys(k, draft.width));
    if count.is_none() && draft.keys.is_empty() {
        return false;
    }
    let hint = count.map_or(String::new(), |count| format!("{count} of your own: 5 3 8 1 \u{2026}"));
    let response = field_ui(ui, "Keys", &mut draft.keys, &hint, Field::Keys, errors, palette);
    let halves = if lesson.shows == SearchRange::SecondMinimum {
        " The first half becomes the sorted list that the other half is merged with."
    } else {
        ""
    };
    let about = format!(
        "Squared distances, instead of the lesson's points: points around the query, at exactly these \
         distances.{halves}"
    );
    response.on_hover_text(about).lost_focus()
}

fn score_ui(ui: &mut Ui, lesson: &Lesson, session: &LessonSession, palette: &Palette, actions: &mut Actions) {
    let score = session.score(lesson.number);
    ui.horizontal_wrapped(|ui| {
        let text = if session.quiz.is_some() { "Stop asking" } else { Command::Predict.text() };
        let keys = Command::Predict.shortcut().map(|keys| keys_text(ui.ctx(), &keys)).unwrap_or_default();
        if ui.button(text).on_hover_text(format!("{} {keys}", Command::Predict.tooltip())).clicked() {
            actions.send(Command::Predict);
        }
        let said = if score.asked == 0 {
            "No question answered yet".to_owned()
        } else {
            format!("{} of {} right", score.right, score.asked)
        };
        ui.label(RichText::new(said).color(palette.text_weak));
    });
}

// Faults: recording with a chosen one, and the exercise of finding an unknown one.

/// The fault of the recording shown.
fn mistake(recording: &Recording) -> Option<&'static FaultInfo> {
    recording.parameters.fault.map(fault::row)
}

pub fn faults_ui(
    ui: &mut Ui,
    lesson: &Lesson,
    choice: FaultChoice,
    player: Option<&Player>,
    palette: &Palette,
    actions: &mut Actions,
) {
    if lesson.search != SearchAlgorithm::Kernel {
        return;
    }
    heading_ui(ui, "Break it");
    match choice {
        FaultChoice::Hunt { guess, .. } => hunt_ui(ui, lesson, guess, player, palette, actions),
        _ => fault_ui(ui, choice, player, palette, actions),
    }
}

/// The chosen fault and its consequences.
fn fault_ui(
    ui: &mut Ui,
    choice: FaultChoice,
    player: Option<&Player>,
    palette: &Palette,
    actions: &mut Actions,
) {
    let chosen = if let FaultChoice::Chosen(fault) = choice { Some(fault) } else { None };
    row_ui(ui, "Mistake", palette, |ui, _| {
        let title = |fault: Option<Fault>| fault.map_or("None", |fault| fault::row(fault).title);
        let combo = ComboBox::from_id_salt("mistake")
            .width(ui.available_width())
            .truncate()
            .selected_text(title(chosen));
        let response = combo.show_ui(ui, |ui| {
            for other in std::iter::once(None).chain(FAULTS.iter().map(|row| Some(row.fault))) {
                if ui.selectable_label(other == chosen, title(other)).clicked() && other != chosen {
                    let choice = other.map_or(FaultChoice::None, FaultChoice::Chosen);
                    actions.send(LessonAction::SetFault(choice));
                }
            }
        });
        response
            .response
            .widget_info(|| egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Mistake made on purpose"));
    });
    if let Some(fault) = chosen {
        wrap_ui(ui, fault::row(fault).about, palette);
        // The recording shown may still have the previous fault.
        if let Some(player) = player.filter(|player| player.take().recording.parameters.fault == Some(fault))
        {
            consequences_ui(ui, player, palette, actions);
        }
    }
    let hunt = "Find the bug\u{2026}";
    if ui.button(hunt).on_hover_text("One of these mistakes is made, and you say which.").clicked() {
        // Any seed that differs each time.
        let draw = ui.input(|input| input.time.to_bits().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32);
        actions.send(LessonAction::SetFault(FaultChoice::Hunt { draw, guess: None }));
    }
}

/// Where an invariant breaks, and the final consequence.
fn consequences_ui(ui: &mut Ui, player: &Player, palette: &Palette, actions: &mut Actions) {
    if let Some(consequences) = player.take().recording.consequences() {
        wrap_ui(ui, &consequences.verdict(), palette);
    }
    if let Some(at) = player.take().broken_at()
        && ui.button("Go to where it breaks").clicked()
    {
        actions.send(LessonAction::Seek(at));
    }
}

/// The exercise: guess the fault, then see why.
fn hunt_ui(
    ui: &mut Ui,
    lesson: &Lesson,
    guess: Option<Fault>,
    player: Option<&Player>,
    palette: &Palette,
    actions: &mut Actions,
) {
    let made = player.and_then(|player| mistake(&player.take().recording));
    match guess.and(made) {
        Some(row) => {
            let right = guess == Some(row.fault);
            let verdict = if right { "Right".to_owned() } else { format!("No, it is: {}", row.title) };
            ui.label(RichText::new(verdict).strong().color(if right { palette.text } else { palette.error }));
            wrap_ui(ui, row.about, palette);
            wrap_ui(ui, row.look_for, palette);
            if let Some(other) = guess.map(fault::row).filter(|_| !right) {
                let instead = format!("Your guess, {}, would show this: {}", other.title, other.look_for);
                wrap_ui(ui, &instead, palette);
            }
            if let Some(player) = player {
                consequences_ui(ui, player, palette, actions);
            }
        }
        None => {
            wrap_ui(
                ui,
                "The search makes one of these mistakes. Step through it until a badge turns red, and say \
                 which one.",
                palette,
            );
            for row in faults_known_after(lesson) {
                let response =
                    ui.add_enabled(made.is_some(), egui::Button::selectable(false, row.title).wrap());
                if response.on_hover_text(row.about).clicked() {
                    actions.send(LessonAction::Guess(row.fault));
                }
            }
        }
    }
    if ui.button("Stop looking").clicked() {
        actions.send(LessonAction::SetFault(FaultChoice::None));
    }
}

fn wrap_ui(ui: &mut Ui, text: &str, palette: &Palette) {
    ui.add(egui::Label::new(RichText::new(text).color(palette.text_weak)).wrap());
}

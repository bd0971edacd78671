//! The lesson in the window, driven as by a lecturer and a student.

mod questions;

use crate::driven::{Window, fill, places, press, press_below, small, until, until_answered, window};
use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::lesson::player::Player;
use warpscope::app::lesson::quiz::Quiz;
use warpscope::app::lesson::session::LessonDraft;
use warpscope::app::lesson::{LessonAction, PresentationMode, target_position};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::State;
use warpscope::app::tokens::Theme;
use warpscope::app::{App, Draft, HeadlessOptions, QueryKind, check_adapter, render_headless};
use warpscope::knn::Metric;
use warpscope::lesson::Level;
use warpscope::lesson::lessons::{LESSONS, named};
use warpscope::lesson::picture::{Panel, Target};

fn player(window: &Window) -> &Player {
    window.state().session().lesson.player.as_ref().expect("a lesson that is recorded")
}

fn quiz(window: &Window) -> &Quiz {
    window.state().session().lesson.quiz.as_ref().expect("a question")
}

fn position(window: &Window) -> usize {
    player(window).cursor().position()
}

/// A window on a lesson.
fn on_lesson(id: &str) -> Window {
    let mut window = window(small);
    open(&mut window, id);
    window
}

fn number(id: &str) -> u32 {
    named(id).expect("a lesson").number
}

#[track_caller]
fn open(window: &mut Window, id: &str) {
    let number = number(id);
    window.state_mut().send(LessonAction::Open(number));
    until(window, "the lesson", |app| {
        !app.is_busy()
            && app.session().lesson.player.as_ref().is_some_and(|player| player.lesson.number == number)
    });
}

#[test]
fn lessons_hide_explorer_messages_in_the_status_line() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    let note = window.state().session().log.note().expect("a run that is done").text.clone();
    let is_said = |window: &Window| window.query_all_by_label(&note).count() > 0;
    assert!(is_said(&window), "{note}");
    open(&mut window, "merge");
    window.run_steps(3);
    assert!(!is_said(&window), "{note}");
    window.state_mut().send(Command::Lesson);
    window.run_steps(3);
    assert!(is_said(&window), "{note}");
}

/// The lesson on orders uses its own points, or those of the open cloud, with the order of the file's rows as
/// a further order.
#[test]
fn the_order_lesson_can_use_the_open_cloud() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    open(&mut window, "order");
    let takes =
        |window: &Window| player(window).takes.iter().map(|take| take.arrangement.name()).collect::<Vec<_>>();
    assert_eq!(takes(&window), ["shuffled", "nearest-first", "farthest-first"]);
    let own = player(&window).take().recording.shape().n;
    let tick = |window: &mut Window| {
        window.get_by_role_and_label(Role::CheckBox, "Points of the open cloud").click_accesskit();
        window.run_steps(3);
    };
    tick(&mut window);
    until(&mut window, "four takes", |app| {
        !app.is_busy() && app.session().lesson.player.as_ref().is_some_and(|player| player.takes.len() == 4)
    });
    assert_eq!(takes(&window)[0], "as-drawn", "a generated cloud has no file");
    let cloud = window.state().session().cloud.clone().expect("a cloud");
    assert_eq!((player(&window).take().recording.shape().n as usize, cloud.len()), (500, 500));
    tick(&mut window);
    until(&mut window, "three takes", |app| {
        !app.is_busy() && app.session().lesson.player.as_ref().is_some_and(|player| player.takes.len() == 3)
    });
    assert_eq!(player(&window).take().recording.shape().n, own);
}

/// Runs the search on the left, picks a query, and opens its lesson.
#[track_caller]
fn lesson_of_run(window: &mut Window, pick: Action) {
    press(window, "Run");
    until_answered(window);
    window.state_mut().send(pick);
    until_answered(window);
    press(window, "Lesson from this query");
}

fn key(window: &mut Window, key: Key) {
    window.key_press(key);
    window.run_steps(3);
}

fn shifted(window: &mut Window, key: Key) {
    window.key_press_modifiers(Modifiers::SHIFT, key);
    window.run_steps(3);
}

/// Clicks on elements of the picture.
#[track_caller]
fn click(window: &mut Window, target: Target) {
    let place =
        target_position(window.state(), target).unwrap_or_else(|| panic!("{target:?} is not in the picture"));
    window.hover_at(place);
    window.run_steps(2);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: place,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(2);
    }
    window.remove_cursor();
    window.run_steps(2);
}

#[test]
fn keys_step_forward_and_back_exactly() {
    let mut window = window(small);
    window.key_press_modifiers(Modifiers::COMMAND, Key::L);
    until(&mut window, "lesson 1", |app| app.session().lesson.player.is_some());
    assert_eq!(player(&window).lesson.number, 1);
    open(&mut window, "merge");
    let (start, before) = (position(&window), player(&window).cursor().state().clone());
    key(&mut window, Key::ArrowRight);
    assert_eq!(position(&window), start + 1);
    assert_ne!(*player(&window).cursor().state(), before);
    for _ in 0..3 {
        key(&mut window, Key::ArrowRight);
    }
    key(&mut window, Key::End);
    assert_eq!(position(&window), player(&window).range().end);
    key(&mut window, Key::Home);
    assert_eq!((position(&window), player(&window).cursor().state()), (start, &before));
    key(&mut window, Key::PageDown);
    assert_eq!(position(&window), start + 1, "a presenter's remote control");
    key(&mut window, Key::ArrowLeft);
    assert_eq!(player(&window).cursor().state(), &before);

    open(&mut window, "search");
    key(&mut window, Key::Num4);
    assert_eq!(player(&window).level, Level::Layer);
    shifted(&mut window, Key::ArrowRight);
    shifted(&mut window, Key::ArrowRight);
    let two = position(&window);
    assert_eq!(player(&window).cursor().state().counts.merges, 2);
    shifted(&mut window, Key::ArrowLeft);
    assert_eq!(player(&window).cursor().state().counts.merges, 1);
    key(&mut window, Key::M);
    assert_eq!(position(&window), two);
    key(&mut window, Key::B);
    assert_ne!(player(&window).cursor().state().ballot, 0, "a ballot with candidates");
    shifted(&mut window, Key::M);
    assert_eq!(position(&window), two);
    key(&mut window, Key::S);
    shifted(&mut window, Key::S);
    assert_eq!(position(&window), two);
}

#[test]
fn the_player_plays_pauses_and_changes_speed() {
    let mut window = on_lesson("search");
    let start = position(&window);
    let speed = window.state().state().lesson.speed;
    key(&mut window, Key::ArrowUp);
    assert_eq!(window.state().state().lesson.speed, speed * 2.0);
    key(&mut window, Key::ArrowDown);
    key(&mut window, Key::Space);
    window.run_steps(20);
    assert!(player(&window).is_playing() && position(&window) > start);
    key(&mut window, Key::Space);
    let paused = position(&window);
    window.run_steps(20);
    assert_eq!(position(&window), paused);
    press(&mut window, "Step back");
    assert!(position(&window) < paused);
}

#[test]
fn clicks_on_curve_layer_and_scrubber_seek() {
    let mut window = on_lesson("search");
    key(&mut window, Key::End);
    let end = position(&window);
    let merge = player(&window).take().recording.position_of_merge(2).expect("a third merge");
    click(&mut window, Target::Position(merge));
    assert_eq!(position(&window), merge, "from {end}");

    open(&mut window, "wide");
    key(&mut window, Key::End);
    let layer = player(&window).range().start + 3;
    click(&mut window, Target::Position(layer));
    assert_eq!(position(&window), layer);

    let rect = window.get_by_role_and_label(Role::Slider, "Position").rect();
    let start = player(&window).range().start;
    let place = egui::pos2(rect.left() + 7.0, rect.center().y);
    window.hover_at(place);
    window.run_steps(2);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: place,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(2);
    }
    assert_eq!(position(&window), start, "the left end of the scrubber");
}

#[test]
fn invalid_fields_show_a_reason_and_preserve_the_lesson() {
    let mut window = on_lesson("wide");
    fill(&mut window, "k", "300");
    window.get_by_label_contains(
        "k = 300: must be a whole number from 1 to 256. A warp of 8 lanes holds up to 256, 32 a lane.",
    );
    key(&mut window, Key::Enter);
    assert!(!window.state().is_busy());
    assert_eq!(player(&window).take().recording.shape().k, 32);
    fill(&mut window, "k", "64");
    key(&mut window, Key::Enter);
    until(&mut window, "the lesson with k = 64", |app| {
        app.session().lesson.player.as_ref().is_some_and(|player| player.take().recording.shape().k == 64)
    });
    assert_eq!(player(&window).take().recording.shape().registers, 8);
    press_below(&mut window, "Back to the lesson's own");
    until(&mut window, "the lesson's own k", |app| {
        app.session().lesson.player.as_ref().is_some_and(|player| player.take().recording.shape().k == 32)
    });
}

#[test]
fn typing_in_a_field_does_not_trigger_shortcuts() {
    let mut window = on_lesson("search");
    let level = player(&window).level;
    window.get_by_role_and_label(Role::TextInput, "k").focus();
    window.run_steps(2);
    key(&mut window, Key::Num4);
    key(&mut window, Key::P);
    assert_eq!(player(&window).level, level);
    assert!(window.state().session().lesson.quiz.is_none());
}

#[test]
fn a_new_recording_closes_the_quiz() {
    let mut window = on_lesson("sort");
    let draft =
        LessonDraft { k: "4".to_owned(), width: 4, ..LessonDraft::for_lesson(named("sort").expect("one")) };
    let app = window.state_mut();
    app.send(LessonAction::Edit(draft));
    app.send(LessonAction::Record);
    app.send(Command::Predict);
    until(&mut window, "four lanes", |app| {
        app.session().lesson.player.as_ref().is_some_and(|player| player.take().recording.shape().width == 4)
    });
    assert!(window.state().session().lesson.quiz.is_none());
}

#[test]
fn a_failed_recording_is_reported_while_another_is_running() {
    let mut window = on_lesson("wide");
    window.state_mut().send(LessonAction::Edit(LessonDraft {
        k: "many".to_owned(),
        ..LessonDraft::for_lesson(named("wide").expect("a lesson"))
    }));
    open(&mut window, "sort");
    let app = window.state_mut();
    app.send(LessonAction::Record);
    app.send(LessonAction::Open(number("wide")));
    until(&mut window, "an end of the work", |app| app.session().lesson.error.is_some() && !app.is_busy());
    // Late results are ignored.
    for _ in 0..20 {
        window.step();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let lesson = &window.state().session().lesson;
    assert!(
        lesson.player.is_none() && lesson.error.as_ref().is_some_and(|error| error.contains("many")),
        "{:?}",
        lesson.error
    );
    window.run_steps(2);
    assert!(window.query_all_by_role_and_label(Role::Button, "Back to the lesson's own").count() > 0);
}

#[test]
fn the_presenter_hides_everything_else() {
    let mut window = on_lesson("sort");
    window.get_by_role_and_label(Role::Button, "File");
    key(&mut window, Key::F5);
    assert_eq!(window.state().session().lesson.presenting, PresentationMode::Presenter);
    assert!(window.query_by_role_and_label(Role::Button, "File").is_none());
    window.get_by_role_and_label(Role::Button, "Step forward");
    key(&mut window, Key::F6);
    assert_eq!(window.state().session().lesson.presenting, PresentationMode::Bare);
    assert!(window.query_by_role_and_label(Role::Button, "Step forward").is_none());
    let before = position(&window);
    key(&mut window, Key::ArrowRight);
    assert_eq!(position(&window), before + 1, "the keys still work");
    key(&mut window, Key::Escape);
    assert_eq!(window.state().session().lesson.presenting, PresentationMode::Presenter);
    key(&mut window, Key::Escape);
    assert_eq!(window.state().session().lesson.presenting, PresentationMode::No);
    window.get_by_role_and_label(Role::Button, "File");
}

/// The picture's rectangle on screen.
fn picture(window: &Window) -> egui::Rect {
    window.get_by_role_and_label(Role::Canvas, "Picture of the lesson").rect()
}

#[test]
fn one_key_enlarges_a_panel_and_restores_the_others() {
    let mut window = on_lesson("sort");
    key(&mut window, Key::End);
    let zoom = |window: &Window| window.state().session().lesson.zoom;
    key(&mut window, Key::Z);
    assert_eq!(zoom(&window), Some(Panel::Network), "the largest");
    key(&mut window, Key::Escape);
    assert_eq!(zoom(&window), None);
    let register = target_position(window.state(), Target::Element(3)).expect("a register");
    window.hover_at(target_position(window.state(), Target::Lane(3)).unwrap_or(register));
    window.run_steps(3);
    key(&mut window, Key::Z);
    assert_eq!(zoom(&window), Some(Panel::Warp), "the one under the pointer");
    key(&mut window, Key::Z);
    assert_eq!(zoom(&window), None);
    let mut seen = Vec::new();
    while !zoom(&window).is_some_and(|panel| seen.contains(&panel)) {
        seen.extend(zoom(&window));
        shifted(&mut window, Key::Z);
    }
    assert!(seen.contains(&Panel::Code) && seen.len() >= 3, "all of the lesson: {seen:?}");
    let before = position(&window);
    key(&mut window, Key::ArrowLeft);
    assert_eq!(position(&window), before - 1, "the keys still work");
    open(&mut window, "buffer");
    assert_eq!(zoom(&window), None, "another lesson begins with all panels");
}

#[test]
fn lesson_7_shows_the_picked_query() {
    let mut window = window(small);
    lesson_of_run(&mut window, Action::PickRow(123));
    until(&mut window, "the lesson", |app| app.session().lesson.player.is_some());
    let session = window.state().session();
    assert_eq!(session.picked, Some(PickedPoint::Row(123)));
    let recording = &player(&window).take().recording;
    let parameters = &recording.parameters;
    assert_eq!((parameters.query_row, parameters.shape.n, parameters.shape.k), (123, 500, 8));
    // The lesson ends with the run's answer.
    let answered = session.answered.as_ref().expect("an answer");
    let expected: Vec<(u32, f32)> = answered.neighbors().collect();
    key(&mut window, Key::End);
    let found: Vec<(u32, f32)> = player(&window)
        .cursor()
        .state()
        .neighbours()
        .map(|(point, distance)| (player(&window).take().recording.problem().row(point), distance))
        .collect();
    assert_eq!(found, expected);
    fill(&mut window, "Query row", "999");
    window.get_by_label("999: must be a whole number from 0 to 499.");
    fill(&mut window, "Query row", "7");
    key(&mut window, Key::Enter);
    until(&mut window, "row 7", |app| {
        app.session()
            .lesson
            .player
            .as_ref()
            .is_some_and(|player| player.take().recording.parameters.query_row == 7)
    });
    // The lesson follows a new cloud.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("line.csv");
    let rows: Vec<String> = (0..90).map(|i| format!("{i},{}", i * i)).collect();
    std::fs::write(&path, format!("x,y\n{}\n", rows.join("\n"))).expect("a file");
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the lesson of the file", |app| {
        app.session()
            .lesson
            .player
            .as_ref()
            .is_some_and(|player| player.take().recording.parameters.shape.n == 90)
    });
    assert_eq!(player(&window).take().recording.parameters.query_row, 45, "the one in the middle");
    window.key_press_modifiers(Modifiers::COMMAND, Key::L);
    window.run_steps(3);
    assert!(!window.state().session().lesson.open);
    window.get_by_role_and_label(Role::Button, "Plane");
}

#[test]
fn a_query_from_a_file_survives_the_next_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("queries.csv");
    std::fs::write(&path, "x,y\n0.1,0.2\n0.5,0.5\n0.9,0.3\n").expect("a file");
    let queries = path.display().to_string();
    let mut window = window(move |state| {
        small(state);
        state.draft.queries = QueryKind::File;
        state.draft.query_path = queries;
    });
    lesson_of_run(&mut window, Action::PickQuery(2));
    until(&mut window, "the lesson", |app| app.session().lesson.player.is_some());
    window.get_by_label("3 of the file");
    let found = |window: &mut Window| {
        // The first key may still go to the field that had the focus.
        for _ in 0..20 {
            key(window, Key::End);
            if player(window).cursor().state().neighbours().next().is_some() {
                break;
            }
        }
        let recording = &player(window).take().recording;
        (
            recording.parameters.query.clone(),
            player(window).cursor().state().neighbours().take(8).collect::<Vec<_>>(),
        )
    };
    let before = found(&mut window);
    // Makes another run, with other queries and another metric.
    let mut draft = window.state().state().draft.clone();
    (draft.queries, draft.metric) = (QueryKind::Rows, Metric::Angular);
    draft.query_rows = "5".to_owned();
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(Command::Run);
    until(&mut window, "the other run", |app| {
        !app.is_busy() && app.session().record.as_ref().is_some_and(|record| record.query_rows == [5])
    });
    fill(&mut window, "k", "9");
    key(&mut window, Key::Enter);
    until(&mut window, "k = 9", |app| {
        app.session().lesson.player.as_ref().is_some_and(|player| player.take().recording.shape().k == 9)
    });
    window.get_by_label("3 of the file");
    assert_eq!(found(&mut window), before, "the same query, by the same metric");
}

/// The neighbours at the end of the lesson: rows and squared distances.
fn found_neighbors(window: &mut Window) -> Vec<(u32, f32)> {
    window.state_mut().send(Command::ToEnd);
    window.run_steps(3);
    let problem = player(window).take().recording.problem();
    player(window)
        .cursor()
        .state()
        .neighbours()
        .map(|(point, distance)| (problem.row(point), distance))
        .collect()
}

#[test]
fn lesson_7_uses_k_and_exclude_self_of_the_explorer() {
    let mut window = window(|state| {
        small(state);
        state.draft.exclude_self = true;
    });
    lesson_of_run(&mut window, Action::PickRow(123));
    until(&mut window, "the lesson", |app| app.session().lesson.player.is_some());
    assert_eq!(player(&window).take().recording.shape().k, 8);
    window.get_by_label("The query's own row is left out, as in the explorer.");
    let asked: Vec<(u32, f32)> =
        window.state().session().answered.as_ref().expect("an answer").neighbors().collect();
    assert_eq!((found_neighbors(&mut window), asked.len()), (asked, 8));
}

/// A search on the globe uses kilometres, even if the explorer's fields have changed by the time another row
/// is typed.
#[test]
fn lesson_7_uses_the_metric_of_the_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = places(folder.path(), 300);
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the places", |app| {
        !app.is_busy() && app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 300)
    });
    let draft = Draft { k: "8".to_owned(), exclude_self: true, ..window.state().state().draft.clone() };
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    lesson_of_run(&mut window, Action::PickRow(123));
    until(&mut window, "the lesson", |app| app.session().lesson.player.is_some());
    let asked: Vec<(u32, f32)> =
        window.state().session().answered.as_ref().expect("an answer").neighbors().collect();
    assert_eq!(found_neighbors(&mut window), asked);
    let metric = |window: &Window| player(window).take().recording.problem().metric();
    assert_eq!(metric(&window), Metric::Haversine);
    let kilometres = Metric::Haversine.distance(asked[7].1);
    let said = warpscope::lesson::picture::sentence::sentence(player(&window).cursor());
    assert!(said.ends_with(&format!("({} km).", warpscope::text::digits(kilometres, 3))), "{said}");
    let draft = Draft { metric: Metric::L2, exclude_self: false, ..window.state().state().draft.clone() };
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(2);
    fill(&mut window, "Query row", "7");
    key(&mut window, Key::Enter);
    until(&mut window, "row 7", |app| {
        app.session()
            .lesson
            .player
            .as_ref()
            .is_some_and(|player| player.take().recording.parameters.query_row == 7)
    });
    assert_eq!((metric(&window), found_neighbors(&mut window).len()), (Metric::Haversine, 8));
    assert!(found_neighbors(&mut window).iter().all(|&(row, _)| row != 7));
}

#[test]
fn the_source_panel_follows_steps_or_a_chosen_line() {
    let mut window = on_lesson("search");
    key(&mut window, Key::Num4);
    key(&mut window, Key::B);
    key(&mut window, Key::K);
    window.get_by_label_contains("cuda/warp/candidate_buffer.cuh");
    window.get_by_label_contains("unsigned candidates = __ballot_sync(ALL_LANES, distance < max_distance);");
    window.state_mut().send(LessonAction::Source(Some(Some(4))));
    window.run_steps(3);
    window.get_by_label_contains("cuda/direct/warp_knn.cuh");
    press(&mut window, "Follow the steps");
    window.get_by_label_contains("cuda/warp/candidate_buffer.cuh");
    key(&mut window, Key::K);
    assert!(window.query_by_label_contains("cuda/warp/candidate_buffer.cuh").is_none());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_and_cpu_recordings_have_equal_steps() {
    let mut window = on_lesson("search");
    until(&mut window, "the list of GPUs", |app| app.session().can_record_on_gpu(32));
    let by_twin = player(&window).take().recording.clone();
    assert_eq!(by_twin.parameters.recorded_on, "lockstep");
    window.run_steps(3);
    window.get_by_label("Record on the GPU").click();
    until(&mut window, "the GPU's recording", |app| {
        app.session()
            .lesson
            .player
            .as_ref()
            .is_some_and(|player| player.take().recording.parameters.recorded_on.starts_with("NVIDIA"))
    });
    assert_eq!(player(&window).take().recording.steps(), by_twin.steps());
    assert_eq!(window.state().session().lesson.error, None);
    println!("recorded on {}", player(&window).take().recording.parameters.recorded_on);
}

#[test]
fn three_orders_are_compared_step_for_step() {
    let mut window = on_lesson("order");
    press(&mut window, "farthest first");
    assert_eq!(player(&window).active(), 2);
    key(&mut window, Key::End);
    let merges: Vec<u32> =
        player(&window).cursors().iter().map(|cursor| cursor.state().counts.merges).collect();
    assert!(merges[1] < merges[0] && merges[0] < merges[2], "{merges:?}");
    window.get_by_role_and_label(Role::CheckBox, "Side by side").click();
    window.run_steps(3);
    assert!(!window.state().state().lesson.side_by_side);
}

#[test]
fn step_ranges_are_validated_and_exported() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("steps.gif");
    let mut window = on_lesson("sort");
    press(&mut window, "Export the lesson");
    press(&mut window, "Film as GIF…");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    let start = player(&window).range().start;
    fill(&mut window, "To step", "1");
    press(&mut window, "Save");
    assert!(
        window.state().session().export.as_ref().is_some_and(|dialog| dialog.error.is_some()),
        "the end is before the start"
    );
    fill(&mut window, "To step", &(start + 2).to_string());
    press(&mut window, "Save");
    until(&mut window, "the film", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written: "))
    });
    assert!(std::fs::read(&path).expect("a file").starts_with(b"GIF89a"));
    assert!(window.state().session().export.is_none());
}

#[test]
fn overwriting_a_folder_needs_confirmation() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, dir) = (folder.path().join("film/frame-0001.png"), folder.path().join("film"));
    std::fs::create_dir(&dir).expect("a folder");
    std::fs::write(&file, "somebody's").expect("a file");
    let mut window = on_lesson("sort");
    press(&mut window, "Export the lesson");
    press(&mut window, "Film as PNG files…");
    fill(&mut window, "File", dir.to_str().expect("a plain path"));
    press(&mut window, "Save");
    window.get_by_label_contains("This folder exists already.");
    assert_eq!(std::fs::read(&file).expect("the file"), b"somebody's");
    press(&mut window, "Save");
    until(&mut window, "the film", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.starts_with("written: "))
    });
    assert_ne!(std::fs::read(&file).expect("a picture"), b"somebody's");
}

/// A window with a picture.
fn drawn(size: [f32; 2], look: Theme, scale: f32) -> Window {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    Harness::builder().with_size(size).wgpu().build_eframe(move |cc| {
        let mut state = State { look, scale, ..State::default() };
        state.lesson.presenter_look = look;
        // Hide hints in pictures.
        state.lesson.has_dragged = true;
        small(&mut state);
        let mut app = App::with_state(cc, state).expect("a thread for the worker");
        app.set_question_seed(1);
        app
    })
}

/// Compares the window with its snapshot.
fn snapshot(window: &mut Window, title: &str, failures: &mut Vec<String>) {
    window.run_steps(4);
    // The status line depends on the machine.
    let rect = window.ctx.content_rect();
    if window.state().session().lesson.presenting == PresentationMode::No {
        window.mask(egui::Rect::from_min_max(egui::pos2(0.0, rect.bottom() - 32.0), rect.max));
    }
    let options = egui_kittest::SnapshotOptions::new().max_failed_pixels(60);
    if let Err(error) = window.try_snapshot_options(title, &options) {
        failures.push(error.to_string());
    }
}

#[test]
fn lessons_match_their_snapshots_at_each_level() {
    let mut failures = Vec::new();
    // Snapshots are small and show only the picture, because there are many.
    let mut window = drawn([640.0, 400.0], Theme::Light, 1.0);
    for lesson in &LESSONS {
        open(&mut window, lesson.id);
        if lesson.number == 1 {
            window.state_mut().send(Command::Bare);
        }
        for level in Level::ALL {
            if !player(&window).has_level(level) {
                continue;
            }
            window.state_mut().send(Command::level(level));
            window.state_mut().send(Command::ToStart);
            for _ in 0..3 {
                window.state_mut().send(Command::StepForward);
            }
            window.run_steps(2);
            snapshot(&mut window, &format!("lesson-{}-{}", lesson.id, level.name()), &mut failures);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn presenter_questions_and_themes_match_their_snapshots() {
    let mut failures = Vec::new();
    for (look, name) in
        [(Theme::Light, "light"), (Theme::Dark, "dark"), (Theme::HighContrast, "high-contrast")]
    {
        let mut window = drawn([960.0, 600.0], look, 1.0);
        open(&mut window, "merge");
        window.state_mut().send(Command::StepForward);
        window.run_steps(2);
        snapshot(&mut window, &format!("lesson-window-{name}"), &mut failures);
        window.state_mut().send(Command::Presenter);
        if look != Theme::Light {
            snapshot(&mut window, &format!("lesson-presenter-{name}"), &mut failures);
        }
        open(&mut window, "buffer");
        window.state_mut().send(Command::Predict);
        snapshot(&mut window, &format!("lesson-question-{name}"), &mut failures);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_lesson_is_drawn_without_a_display() {
    let folder = tempfile::tempdir().expect("a folder");
    let png = folder.path().join("lesson.png");
    let show = HeadlessOptions {
        lesson: Some(number("merge")),
        at: Some(100),
        presenter: true,
        size: [1280, 720],
        look: Theme::Dark,
        scale: 1.0,
        ..HeadlessOptions::default()
    };
    render_headless(&show, std::slice::from_ref(&png)).unwrap_or_else(|error| panic!("{error:#}"));
    let picture = image::open(&png).expect("a PNG").into_rgb8();
    assert_eq!(picture.dimensions(), (1280, 720));
    let [r, g, b, _] = warpscope::app::tokens::Palette::DARK.canvas.to_array();
    let empty = picture.pixels().filter(|pixel| pixel.0 == [r, g, b]).count();
    assert!(empty < 1280 * 720 * 9 / 10, "no picture was drawn");
    let late = folder.path().join("late.png");
    let error = render_headless(&HeadlessOptions { at: Some(999_999), ..show }, std::slice::from_ref(&late))
        .expect_err("there is no such step")
        .to_string();
    assert!(error.starts_with("invalid step 999999: must be between 0 and ") && !late.exists(), "{error}");
}

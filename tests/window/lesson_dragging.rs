//! Dragging the query and points of a lesson, and typing keys, as a lecturer would.

use crate::driven::{Window, fill, press, press_below, small, until, until_answered, window};
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::lesson::player::Player;
use warpscope::app::lesson::{LessonAction, MAP, PresentationMode, place_in_map, target_position};
use warpscope::lesson::Step;
use warpscope::lesson::lessons::named;
use warpscope::lesson::picture::Target;
use warpscope::lesson::picture::sentence::sentence;

fn player(window: &Window) -> &Player {
    window.state().session().lesson.player.as_ref().expect("a lesson that is recorded")
}

fn query(window: &Window) -> Vec<f32> {
    player(window).take().recording.parameters.query.clone()
}

fn step(window: &Window) -> Step {
    player(window).cursor().step().expect("a step").into_owned()
}

/// A window on a lesson.
fn on_lesson(id: &str) -> Window {
    let number = named(id).expect("a lesson").number;
    let mut window = window(small);
    window.state_mut().send(LessonAction::Open(number));
    settle(&mut window);
    window
}

/// Waits for the requested recording.
#[track_caller]
fn settle(window: &mut Window) {
    until(window, "the recording", |app| {
        let lesson = &app.session().lesson;
        !app.is_busy() && !lesson.drag.behind && lesson.player.is_some()
    });
}

fn key(window: &mut Window, key: Key) {
    window.key_press(key);
    window.run_steps(3);
}

fn button(window: &mut Window, pos: Pos2, pressed: bool) {
    window.event(Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    window.run_steps(2);
}

/// Presses at a position and moves the pointer, without releasing it.
fn drag(window: &mut Window, from: Pos2, by: Vec2) -> Pos2 {
    window.hover_at(from);
    window.run_steps(2);
    button(window, from, true);
    for part in 1..=4 {
        window.hover_at(from + by * (part as f32 / 4.0));
        window.run_steps(2);
    }
    settle(window);
    from + by
}

/// The query's or a position's place on screen.
fn on_map(window: &Window, at: Option<[f32; 2]>) -> Pos2 {
    place_in_map(window.state(), at).expect("a map")
}

#[test]
fn dragging_the_query_preserves_the_step() {
    for id in ["search", "own-data", "warp-select"] {
        let mut window = on_lesson(id);
        for _ in 0..3 {
            key(&mut window, Key::ArrowRight);
        }
        let (before, own, position) = (step(&window), query(&window), player(&window).cursor().position());
        let from = on_map(&window, None);
        let map = player(&window).take().recording.overview().clone();
        let middle = on_map(&window, Some([0, 1].map(|axis| (map.low[axis] + map.high[axis]) / 2.0)));
        let to = drag(&mut window, from, (middle - from) * 0.5 + vec2(9.0, 5.0));
        assert_ne!(query(&window), own, "lesson {id}: the query does not follow the pointer");
        assert!(
            (on_map(&window, None) - to).length() < 1.5,
            "lesson {id}: the query is at the pointer, and the map has not moved"
        );
        assert!(step(&window).is_same_kind(&before), "lesson {id}");
        if let (Step::Layer { layer, .. }, Step::Layer { layer: now, .. }) = (&before, &step(&window)) {
            assert_eq!(layer, now);
        }
        assert!(!player(&window).has_marks(), "lesson {id}: marks despite new distances");
        button(&mut window, to, false);
        window.get_by_label_contains("Query moved to (");
        assert!(
            player(&window).take().recording.parameters.data.contains("query moved to ("),
            "exports must mention it"
        );
        assert!(window.state().state().lesson.has_dragged);
        // Ctrl+Z restores the query and keeps the step.
        window.remove_cursor();
        window.key_press_modifiers(Modifiers::COMMAND, Key::Z);
        window.run_steps(3);
        settle(&mut window);
        assert_eq!(query(&window), own);
        assert_eq!(player(&window).cursor().position(), position, "lesson {id}");
        assert!(window.query_by_label_contains("Query moved to (").is_none());
    }
}

#[test]
fn a_single_point_can_be_dragged_and_reset() {
    let mut window = on_lesson("buffer");
    let own = player(&window).take().recording.problem().points().to_vec();
    // Far from the query, so that the pointer does not grab it.
    let from = on_map(&window, Some([own[0], own[1]]));
    let by = (on_map(&window, None) - from) * 0.5;
    let to = drag(&mut window, from, by);
    button(&mut window, to, false);
    let now = player(&window).take().recording.problem().points().to_vec();
    assert_eq!((0..own.len() / 2).filter(|row| now[row * 2..][..2] != own[row * 2..][..2]).count(), 1);
    window.get_by_label_contains("1 point moved.");
    press_below(&mut window, "Back to the lesson's own");
    settle(&mut window);
    assert_eq!(player(&window).take().recording.problem().points(), own);
    assert!(window.query_by_label_contains("1 point moved.").is_none());
}

/// The largest key of lesson `sort` becomes the smallest, which changes the outcome of its comparators.
#[test]
fn changed_comparators_are_marked_while_a_key_is_moved() {
    let mut window = on_lesson("sort");
    key(&mut window, Key::End);
    let position = player(&window).cursor().position();
    let own = player(&window).cursor().state().registers.clone();
    let from = target_position(window.state(), Target::Element(7)).expect("a key");
    let to = drag(&mut window, from, vec2(0.0, 300.0));
    button(&mut window, to, false);
    assert_eq!(player(&window).cursor().position(), position);
    let now = &player(&window).cursor().state().registers;
    let smallest = own.iter().map(|&key| key as u32).collect::<Vec<_>>()[7];
    assert!(now.iter().take(2).any(|&key| key as u32 == smallest && key >> 32 == 0), "at the query: {now:?}");
    assert!(player(&window).has_marks());
    let said = sentence(player(&window).cursor());
    assert!(said.contains("differently after the change."), "{said}");
    window.remove_cursor();
    key(&mut window, Key::Escape);
    assert!(!player(&window).has_marks());
    assert_eq!(player(&window).cursor().position(), position);
    assert!(!sentence(player(&window).cursor()).contains("otherwise"));
    window.get_by_label_contains("1 point moved.");
}

#[test]
fn escape_cancels_a_drag() {
    let mut window = on_lesson("buffer");
    let own = query(&window);
    let from = on_map(&window, None);
    drag(&mut window, from, vec2(-60.0, 30.0));
    assert_ne!(query(&window), own);
    window.key_down(Key::Escape);
    window.run_steps(3);
    settle(&mut window);
    assert_eq!(query(&window), own);
    let touch = &window.state().session().lesson.drag;
    assert!(!touch.held && !touch.can_undo());
}

#[test]
fn arrow_keys_move_the_query_of_the_focused_map() {
    let mut window = on_lesson("search");
    let (own, position) = (query(&window), player(&window).cursor().position());
    window.get_by_label(MAP).focus();
    window.run_steps(2);
    key(&mut window, Key::ArrowRight);
    settle(&mut window);
    let small = query(&window)[0] - own[0];
    assert!((0.005..0.02).contains(&small), "{small}");
    window.key_press_modifiers(Modifiers::SHIFT, Key::ArrowDown);
    window.run_steps(3);
    settle(&mut window);
    let large = own[1] - query(&window)[1];
    assert!((0.03..0.07).contains(&large), "{large}");
    assert_eq!(player(&window).cursor().position(), position, "keys still step");
    window.state_mut().send(Command::Undo);
    window.run_steps(3);
    settle(&mut window);
    assert_eq!(query(&window)[1], own[1]);
}

#[test]
fn dragging_is_disabled_during_questions() {
    let mut window = on_lesson("buffer");
    key(&mut window, Key::P);
    let own = query(&window);
    let from = on_map(&window, None);
    let to = drag(&mut window, from, vec2(-60.0, 30.0));
    button(&mut window, to, false);
    assert_eq!(query(&window), own);
    assert!(window.state().session().lesson.quiz.is_some());
    assert!(window.query_by_label(MAP).is_none());
}

#[test]
fn dragging_works_in_the_presenter() {
    let mut window = on_lesson("search");
    key(&mut window, Key::F5);
    assert_eq!(window.state().session().lesson.presenting, PresentationMode::Presenter);
    let own = query(&window);
    let from = on_map(&window, None);
    let to = drag(&mut window, from, vec2(-60.0, 30.0));
    button(&mut window, to, false);
    assert_ne!(query(&window), own);
}

#[test]
fn all_orders_share_the_dragged_query() {
    let mut window = on_lesson("order");
    let from = on_map(&window, None);
    let to = drag(&mut window, from, vec2(-30.0, 20.0));
    button(&mut window, to, false);
    let queries: Vec<_> =
        player(&window).takes.iter().map(|take| take.recording.parameters.query.clone()).collect();
    assert!(queries.len() == 3 && queries.iter().all(|query| *query == queries[0]));
    assert!(player(&window).takes[0].recording.parameters.data.contains("query moved"));
}

#[test]
fn the_query_can_be_dragged_in_user_data() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state_mut().send(Action::PickRow(123));
    until_answered(&mut window);
    press(&mut window, "Lesson from this query");
    settle(&mut window);
    let (own, own_row) = (query(&window), player(&window).take().recording.parameters.query_row);
    assert_eq!((own_row, player(&window).take().recording.shape().n), (123, 500));
    let from = on_map(&window, None);
    let middle = on_map(&window, Some([0.5, 0.5]));
    let to = drag(&mut window, from, (middle - from) * 0.5 + vec2(9.0, 5.0));
    button(&mut window, to, false);
    assert_ne!(query(&window), own);
    assert_eq!(player(&window).take().recording.shape().n, 500);
    window.state_mut().send(Command::Undo);
    window.run_steps(3);
    settle(&mut window);
    assert_eq!((query(&window), player(&window).take().recording.parameters.query_row), (own, 123));
}

#[test]
fn typed_keys_are_validated_and_sorted() {
    let mut window = on_lesson("sort");
    fill(&mut window, "Keys", "5 3 8 1 7 2 6");
    window.get_by_label("7 keys: lesson `sort` needs 8 with k = 8 and 8 lanes.");
    key(&mut window, Key::Enter);
    assert!(!window.state().is_busy());
    fill(&mut window, "Keys", "5 3 8 1 7 2 6 -4");
    window.get_by_label_contains("Key -4: must be a squared distance");
    fill(&mut window, "Keys", "5 3 8 1 7 2 6 4");
    key(&mut window, Key::Enter);
    until(&mut window, "the typed keys", |app| {
        app.session().lesson.player.as_ref().is_some_and(|player| {
            player.take().recording.parameters.data.starts_with("8 keys typed: 5.00 3.00")
        })
    });
    for _ in 0..20 {
        key(&mut window, Key::End);
    }
    let found: Vec<f32> = player(&window)
        .cursor()
        .state()
        .registers
        .iter()
        .map(|&key| f32::from_bits((key >> 32) as u32))
        .collect();
    assert_eq!(found, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}

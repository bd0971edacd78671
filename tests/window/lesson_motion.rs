//! Animations in the lesson's picture after a step, on a test clock.

use crate::driven::{Window, small, until};
use egui::Key;
use egui_kittest::Harness;
use warpscope::app::App;
use warpscope::app::commands::{Action, Command};
use warpscope::app::lesson::{LessonAction, is_moving};
use warpscope::app::state::State;
use warpscope::lesson::lessons::named;

/// Seconds between frames.
const FRAME: f32 = 0.02;

/// Frames of a motion of a quarter of a second, plus two.
const ALL: usize = 15;

/// A window at the start of a lesson's part.
fn on_lesson(id: &str, reduce_motion: bool) -> Window {
    let mut window =
        Harness::builder().with_size([1280.0, 800.0]).with_step_dt(FRAME).build_eframe(move |cc| {
            let mut state = State { reduce_motion, ..State::default() };
            small(&mut state);
            App::with_state(cc, state).expect("a thread for the worker")
        });
    let number = named(id).expect("a lesson").number;
    window.state_mut().send(LessonAction::Open(number));
    until(&mut window, "the lesson", |app| {
        !app.is_busy()
            && app.session().lesson.player.as_ref().is_some_and(|player| player.lesson.number == number)
    });
    window
}

fn position(window: &Window) -> usize {
    window.state().session().lesson.player.as_ref().expect("a lesson that is recorded").cursor().position()
}

/// One key, and a few frames.
fn key(window: &mut Window, key: Key, frames: usize) {
    window.key_press(key);
    window.run_steps(frames);
}

#[test]
fn a_step_forward_animates_for_a_quarter_of_a_second() {
    let mut window = on_lesson("merge", false);
    assert!(!is_moving(window.state()));
    let start = position(&window);
    key(&mut window, Key::ArrowRight, 3);
    assert!(is_moving(window.state()) && position(&window) == start + 1);
    window.run_steps(5);
    assert!(is_moving(window.state()));
    window.run_steps(ALL);
    assert!(!is_moving(window.state()));
    // After the motion, the window stops repainting.
    assert!(window.try_run().is_ok(), "the window keeps repainting");
}

#[test]
fn steps_restart_the_motion_and_other_actions_end_it() {
    let mut window = on_lesson("merge", false);
    let start = position(&window);
    for steps in 1..=2 {
        key(&mut window, Key::ArrowRight, 10);
        assert!(
            is_moving(window.state()) && position(&window) == start + steps,
            "the second motion waited for the first"
        );
    }
    // If motions were queued, the second would still be running.
    window.run_steps(ALL - 5);
    assert!(!is_moving(window.state()));
    let ends: [fn(&mut Window); 6] = [
        |window| key(window, Key::ArrowLeft, 2),
        |window| key(window, Key::End, 2),
        |window| key(window, Key::P, 2),
        |window| {
            window.state_mut().send(LessonAction::Seek(0));
            window.run_steps(2);
        },
        |window| {
            window.set_size([1100.0, 700.0].into());
            window.run_steps(2);
        },
        |window| {
            window.state_mut().send(Command::Bare);
            window.run_steps(2);
        },
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let mut window = on_lesson("merge", false);
        key(&mut window, Key::ArrowRight, 3);
        assert!(is_moving(window.state()), "{number}");
        end(&mut window);
        assert!(!is_moving(window.state()), "{number}");
    }
}

#[test]
fn hovering_does_not_end_a_motion() {
    let mut window = on_lesson("merge", false);
    key(&mut window, Key::ArrowRight, 3);
    for x in [300.0, 640.0, 900.0] {
        window.hover_at(egui::pos2(x, 320.0));
        window.run_steps(2);
        assert!(is_moving(window.state()));
    }
    window.run_steps(ALL);
    assert!(!is_moving(window.state()));
}

#[test]
fn animation_can_be_turned_off() {
    let mut window = on_lesson("merge", true);
    key(&mut window, Key::ArrowRight, 2);
    assert!(!is_moving(window.state()));
    window.state_mut().send(Action::ReduceMotion(false));
    key(&mut window, Key::ArrowRight, 2);
    assert!(is_moving(window.state()), "until it is wanted");
    window.run_steps(ALL);
    window.state_mut().send(Action::ReduceMotion(true));
    key(&mut window, Key::ArrowRight, 2);
    assert!(!is_moving(window.state()));
    assert!(window.state().state().reduce_motion);
    assert_eq!(window.ctx.global_style().animation_time, 0.0, "menus must not end a motion");
}

#[test]
fn stepping_back_and_forth_leaves_no_motion_running() {
    let mut window = on_lesson("buffer", false);
    let mut random = 7u32;
    let mut next = |below: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 16) % below
    };
    let mut moved = 0;
    for _ in 0..60 {
        let command = [
            Command::StepForward,
            Command::StepForward,
            Command::StepForward,
            Command::StepBack,
            Command::NextMerge,
            Command::PreviousHit,
            Command::ToStart,
            Command::NextStage,
            Command::PreviousStage,
        ][next(9) as usize];
        window.state_mut().send(command);
        window.run_steps(2);
        assert!(command == Command::StepForward || !is_moving(window.state()), "{command:?}");
        moved += usize::from(is_moving(window.state()));
        if next(2) == 0 {
            window.run_steps(ALL);
            assert!(!is_moving(window.state()), "{command:?}");
        }
    }
    assert!(moved >= 3, "{moved}");
}

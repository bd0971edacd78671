//! Closing the window: at once if nothing would be lost, otherwise after a question.

use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui::{Key, ViewportCommand, ViewportEvent, ViewportId};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::Command;
use warpscope::app::{App, ExportKind};

/// Whether the window received this viewport command in the last frame.
fn has_sent(window: &Window, command: &ViewportCommand) -> bool {
    window.output().viewport_output.values().any(|output| output.commands.contains(command))
}

/// Runs a frame after a command; returns whether the window closes.
fn quits(window: &mut Window, command: Command) -> bool {
    window.state_mut().send(command);
    window.step();
    let closes = has_sent(window, &ViewportCommand::Close);
    window.run_steps(3);
    closes
}

/// The desktop closes the window; returns whether it does.
fn closed(window: &mut Window) -> bool {
    let root = window.input_mut().viewports.get_mut(&ViewportId::ROOT).expect("the window");
    root.events.push(ViewportEvent::Close);
    window.step();
    let closes = !has_sent(window, &ViewportCommand::CancelClose);
    window.run_steps(3);
    closes
}

fn with_a_run() -> Window {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    window
}

fn asks(window: &Window) -> bool {
    window.query_by_role_and_label(Role::Button, "Quit without saving").is_some()
}

fn key(window: &mut Window, key: Key) {
    window.key_press(key);
    window.run_steps(2);
}

#[test]
fn automatic_runs_quit_without_confirmation() {
    let mut first: Window = Harness::builder()
        .with_size([1280.0, 800.0])
        .build_eframe(|cc| App::new(cc, None).expect("a thread for the worker"));
    until_answered(&mut first);
    assert_eq!(first.state().session().runs.runs().len(), 1);
    assert!(closed(&mut first), "runs of the first start need no confirmation");
    assert!(quits(&mut first, Command::Quit));
    let mut empty = window(small);
    assert!(closed(&mut empty) && quits(&mut empty, Command::Quit));
}

#[test]
fn quitting_with_unsaved_runs_prompts_once() {
    let mut window = with_a_run();
    assert!(!quits(&mut window, Command::Quit));
    window.get_by_label("1 run is not saved");
    assert!(
        window.get_by_role_and_label(Role::Button, "Save the session").is_focused(),
        "Enter must choose the answer that loses nothing"
    );
    key(&mut window, Key::Escape);
    assert!(!asks(&window));

    assert!(!closed(&mut window), "by the frame of the window too");
    assert!(asks(&window));
    assert!(!closed(&mut window) && asks(&window));
    for _ in 0..2 {
        key(&mut window, Key::Tab);
    }
    assert!(window.get_by_role_and_label(Role::Button, "Stay").is_focused());
    key(&mut window, Key::Enter);
    assert!(!asks(&window));

    press(&mut window, "Run");
    until(&mut window, "another run", |app| app.session().runs.runs().len() == 2 && !app.is_busy());
    assert!(!quits(&mut window, Command::Quit));
    window.get_by_label("2 runs are not saved");
    window.get_by_role_and_label(Role::Button, "Quit without saving").click();
    window.step();
    let closes = has_sent(&window, &ViewportCommand::Close);
    window.step();
    assert!(closes || has_sent(&window, &ViewportCommand::Close));
    assert!(closed(&mut window), "asked again");
}

#[test]
fn saved_sessions_quit_without_a_prompt() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.warpscope");
    let mut window = with_a_run();
    assert!(!closed(&mut window));
    press(&mut window, "Save the session");
    assert!(
        !asks(&window)
            && window
                .state()
                .session()
                .export
                .as_ref()
                .is_some_and(|dialog| dialog.kind == ExportKind::Session)
    );
    // Cancelling the file dialog keeps the window open.
    key(&mut window, Key::Escape);
    assert!(window.state().session().quitting.is_none());
    assert!(!closed(&mut window));
    press(&mut window, "Save the session");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    window.get_by_role_and_label(Role::Button, "Save").click();
    let mut left = false;
    for _ in 0..20_000 {
        window.step();
        left |= has_sent(&window, &ViewportCommand::Close);
        if left {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(left && path.is_file(), "it closes once the session is there");
    assert!(closed(&mut window), "saved sessions need no confirmation");
    press(&mut window, "Run");
    until(&mut window, "another run", |app| app.session().runs.runs().len() == 2 && !app.is_busy());
    assert_eq!(window.state().session().runs.unsaved(), 1, "the run that is missing from the file");
}

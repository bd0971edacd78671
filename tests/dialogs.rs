//! Windows over the main window: documents, About, and the built-in file dialog.

#![cfg(feature = "gui")]

#[path = "common/window.rs"]
mod driven;

use std::path::Path;

use driven::{Window, fill, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Pos2, Rect, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command, Manual};
use warpscope::app::state::{PaneKind, State};
use warpscope::app::{App, ExportKind};

/// The number of documents.
const DOCUMENTS: usize = 26;

fn key(window: &mut Window, key: Key) {
    window.key_press_modifiers(Modifiers::NONE, key);
    window.run_steps(3);
}

#[test]
fn help_documents_support_links_and_search() {
    let mut window = window(small);
    key(&mut window, Key::F1);
    window.get_by_role_and_label(Role::Window, "Help");
    let shown = |window: &Window| window.state().session().manual.clone().expect("a document").document;
    assert_eq!(shown(&window), 0);
    window.get_by_role_and_label(Role::Button, "Warpscope").click();
    window.run_steps(5);
    assert_ne!(shown(&window), 0);
    fill(&mut window, "Search in the documents", "neighbours");
    window.get_by_label_contains("1 of ");
    press(&mut window, "Next");
    window.get_by_label_contains("2 of ");
    press(&mut window, "Back");
    assert_eq!(shown(&window), 0);
    // The fonts have every character of every document; otherwise the harness panics.
    for document in 0..DOCUMENTS {
        window.state_mut().send(Action::SetManual(Some(Manual { document, ..Manual::default() })));
        window.run_steps(2);
    }
    // Escape leaves the field, then closes the window.
    key(&mut window, Key::Escape);
    key(&mut window, Key::Escape);
    assert!(window.state().session().manual.is_none());
}

#[test]
fn version_information_can_be_copied() {
    let mut window = window(small);
    until_answered_or_open(&mut window);
    window.state_mut().send(Command::About);
    window.run_steps(3);
    window.get_by_label(&warpscope::version::version());
    window.get_by_label("Settings");
    press(&mut window, "Copy");
    assert!(window.state().session().log.entries().iter().any(|entry| entry.text.starts_with("copied: ")));
    key(&mut window, Key::Escape);
    assert!(!window.state().session().about);
}

/// 1280 × 800 pixels at a scale of 200 %.
#[test]
fn the_about_dialog_fits_at_a_large_scale() {
    let mut window = Harness::builder().with_size([640.0, 400.0]).build_eframe(|cc| {
        let mut state = State::default();
        small(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    until_answered_or_open(&mut window);
    window.state_mut().send(Command::About);
    window.run_steps(3);
    let screen = Rect::from_min_size(Pos2::ZERO, vec2(640.0, 400.0));
    for part in [
        window.get_by_role_and_label(Role::Window, "About Warpscope"),
        window.get_by_role_and_label(Role::Button, "Copy"),
    ] {
        assert!(screen.contains_rect(part.rect()), "{:?}", part.rect());
    }
    let without = window
        .state()
        .session()
        .engines
        .iter()
        .filter(|status| status.is_gpu())
        .all(|status| status.unavailable_reason().is_some());
    if without {
        assert_eq!(window.query_all_by_label("GPU").count(), 1);
        window.get_by_label_contains("none: ");
    }
}

fn until_answered_or_open(window: &mut Window) {
    until(window, "what can run here", |app| {
        app.session().engines.iter().all(|engine| engine.device.is_some())
    });
}

/// Hides the desktop's file dialogs.
fn without_desktop() {
    for name in ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_DATA_DIRS", "PATH"] {
        // SAFETY: the test has just started; no other thread reads the environment.
        unsafe { std::env::set_var(name, "") };
    }
}

fn typed(window: &Window) -> String {
    window.get_by_role_and_label(Role::TextInput, "Path of the file").value().unwrap_or_default()
}

/// The built-in dialog lists its folder on a thread.
#[track_caller]
fn until_listed(window: &mut Window) {
    until(window, "the folder", |app| app.session().chooser.as_ref().is_some_and(|chooser| !chooser.reading));
}

#[test]
fn the_built_in_file_dialog_opens_and_saves() {
    without_desktop();
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    let rows: String = (0..40).map(|at| format!("{},{}\n", at % 8, at / 8)).collect();
    std::fs::write(inner.join("towns.csv"), format!("x,y\n{rows}")).expect("a file");
    for (name, text) in
        [("notes.pdf", ""), ("images-idx3-ubyte.gz", ""), ("numbers", "1 2\n3 4\n"), ("binary", "\0\0\0\x01")]
    {
        std::fs::write(inner.join(name), text).expect("a file");
    }
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state_mut().send(Command::Open);
    window.run_steps(3);
    window.get_by_label("Open a file of points or a recording");
    until_listed(&mut window);
    // Tab completes the unambiguous part.
    fill(&mut window, "Path of the file", &format!("{}/in", folder.path().display()));
    until_listed(&mut window);
    key(&mut window, Key::Tab);
    assert_eq!(Path::new(&typed(&window)), inner.join(""));
    until_listed(&mut window);
    window.get_by_role_and_label(Role::Button, "towns.csv");
    window.get_by_role_and_label(Role::Button, "images-idx3-ubyte.gz");
    window.get_by_role_and_label(Role::Button, "numbers");
    window.get_by_label("2 files of other kinds");
    assert!(window.query_by_role_and_label(Role::Button, "notes.pdf").is_none());
    window.get_by_role_and_label(Role::CheckBox, "All files").click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::Button, "notes.pdf");
    // For a missing file the dialog shows an error and stays open.
    fill(&mut window, "Path of the file", &inner.join("gone.csv").display().to_string());
    key(&mut window, Key::Enter);
    window.get_by_label_contains("There is no such file: ");
    window.get_by_role_and_label(Role::TextInput, "Path of the file").focus();
    window.run_steps(2);
    window.key_press_modifiers(Modifiers::COMMAND, Key::A);
    key(&mut window, Key::Backspace);
    key(&mut window, Key::Enter);
    window.get_by_label("Type a path, or choose a file in the list.");
    // By keyboard: a path typed after the current folder, and the unique start of a name.
    fill(&mut window, "Path of the file", &folder.path().join("").display().to_string());
    window
        .get_by_role_and_label(Role::TextInput, "Path of the file")
        .type_text(&inner.join("t").display().to_string());
    window.run_steps(3);
    until_listed(&mut window);
    assert_eq!(Path::new(&typed(&window)), inner.join("t"));
    key(&mut window, Key::Enter);
    until(&mut window, "the file", |app| app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 40));
    assert!(window.state().session().chooser.is_none());

    until(&mut window, "its answer", |app| app.session().answered.is_some() && !app.is_busy());
    // Both dialogs begin in the folder of the open file.
    window.state_mut().send(Command::Open);
    window.run_steps(3);
    assert_eq!(Path::new(&typed(&window)), inner.join(""));
    key(&mut window, Key::Escape);
    window.state_mut().send(Action::StartExport(ExportKind::Data(PaneKind::Plane)));
    window.run_steps(3);
    let offered = window.state().session().export.as_ref().expect("the export's dialog").path.clone();
    assert_eq!(Path::new(&offered), inner.join("plane.csv"));
    press(&mut window, "Browse…");
    fill(&mut window, "Path of the file", &inner.join("mine").display().to_string());
    press(&mut window, "Save here");
    let named = window.state().session().export.as_ref().expect("the export's dialog").path.clone();
    assert_eq!(Path::new(&named), inner.join("mine.csv"), "with the ending");
    press(&mut window, "Browse…");
    fill(&mut window, "Path of the file", &inner.join("towns.csv").display().to_string());
    press(&mut window, "Save here");
    let dialog = window.state().session().export.clone().expect("the export's dialog");
    assert_eq!(
        (Path::new(&dialog.path), dialog.overwrite),
        (&*inner.join("towns.csv"), false),
        "no question before overwriting"
    );
    // An unreadable folder shows the reason.
    press(&mut window, "Browse…");
    fill(&mut window, "Path of the file", &folder.path().join("none/x.csv").display().to_string());
    until_listed(&mut window);
    window.get_by_label_contains("This folder cannot be read: ");
    // An empty folder says so; a folder listed before is shown at once.
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).expect("a folder");
    fill(&mut window, "Path of the file", &empty.join("").display().to_string());
    until_listed(&mut window);
    window.get_by_label("This folder is empty.");
    key(&mut window, Key::Escape);
    assert!(window.state().session().chooser.is_none() && window.state().session().export.is_some());
}

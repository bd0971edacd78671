//! State that a window saves for the next start.

use std::path::Path;

use crate::driven::{Window, fill, press, small, until};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::Action;
use warpscope::app::state::State;
use warpscope::app::{App, settings};

/// A window that saves its state in a folder.
fn started(folder: &Path) -> Window {
    let startup = settings::begin(folder);
    Harness::builder()
        .with_size([1280.0, 800.0])
        .build_eframe(move |cc| App::begin(cc, None, Some(startup)).expect("a thread for the worker"))
}

/// Saves a small cloud: the very first start would search a larger one.
fn keep_small(folder: &Path) {
    let mut startup = settings::begin(folder);
    let mut state = State::default();
    small(&mut state);
    startup.settings.write(&state, None).expect("a writable folder");
    startup.start.over();
}

/// A window that crashed at once, as if its state made the program crash.
fn fail_start(folder: &Path) {
    drop(settings::begin(folder));
}

#[track_caller]
fn until_started(window: &mut Window) {
    until(window, "the cloud", |app| app.session().cloud.is_some() && !app.is_busy());
    window.run_steps(5);
}

#[test]
fn two_failed_starts_set_the_settings_aside() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path();
    keep_small(folder);
    let mut window = started(folder);
    until_started(&mut window);
    press(&mut window, "Measure");
    fill(&mut window, "Spec", "sphere:n=300");
    window.state_mut().send(Action::SetScale(1.25));
    window.run_steps(3);
    window.state_mut().save_settings();
    drop(window);

    fail_start(folder);
    fail_start(folder);
    let mut window = started(folder);
    window.run_steps(5);
    let aside = folder.join("state.set-aside-1.json");
    let said =
        format!("two starts failed, so this one uses defaults; old settings set aside: {}", aside.display());
    assert_eq!(window.state().session().log.problem().map(|entry| entry.text.as_str()), Some(said.as_str()));
    window.get_by_label_contains("two starts failed");
    assert_eq!(window.state().state().scale, 1.0);
    assert!(std::fs::read_to_string(aside).expect("it is set aside").contains("sphere:n=300"));
    drop(window);

    // The window was closed; the harness does not signal that.
    settings::begin(folder).start.over();
    keep_small(folder);
    let mut window = started(folder);
    until_started(&mut window);
    assert!(window.state().session().log.problem().is_none(), "{:?}", window.state().session().log.entries());
    assert!(!folder.join("starting").exists(), "this start did not fail");
}

#[test]
fn recent_files_of_all_windows_are_merged() {
    let place = tempfile::tempdir().expect("a folder");
    let [folder, one, two] = ["kept", "one.csv", "two.csv"].map(|name| place.path().join(name));
    for path in [&one, &two] {
        std::fs::write(path, "x,y\n1,2\n3,4\n5,7\n").expect("a file");
    }
    keep_small(&folder);
    let mut windows = [started(&folder), started(&folder)];
    for (window, path) in windows.iter_mut().zip([&one, &two]) {
        until_started(window);
        window.state_mut().send(Action::OpenPath(path.clone()));
        until(window, "the file", |app| app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 3));
    }
    for window in &mut windows {
        window.state_mut().save_settings();
    }
    drop(windows);
    let mut window = started(&folder);
    // The next start shows the file of the window that was closed last.
    until(&mut window, "the file", |app| app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 3));
    assert_eq!(window.state().state().recent, [two, one]);
}

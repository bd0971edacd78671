//! The pane Engines: comparing engines on one search, and the page of each engine.

use crate::driven::{Window, press, small, until, window};
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command, EnginesAction};
use warpscope::app::state::{PaneKind, single_layout};
use warpscope::app::{Draft, TimeLimit};
use warpscope::engines::registry;
use warpscope::knn::{DeviceId, DeviceKind};

/// The window with a small cloud and the list of available engines.
fn ready() -> Window {
    let mut window = window(|state| {
        small(state);
        state.draft.device = Some(DeviceId::Cpu);
        state.tree = single_layout(PaneKind::Engines);
    });
    press(&mut window, "Run");
    until(&mut window, "the run", |app| app.session().record.is_some() && !app.is_busy());
    until(&mut window, "the engines", |app| {
        app.session().engines.iter().all(|status| status.device.is_some())
    });
    window
}

#[test]
fn all_engines_answer_in_turn_and_agree() {
    let mut window = ready();
    let here = registry::ENGINES.iter().filter(|engine| engine.runs_on.contains(&DeviceKind::Cpu)).count();
    press(&mut window, &format!("Compare {here} engines"));
    assert!(window.state().session().engine_comparison.under_way().is_some());
    until(&mut window, "all answers", |app| {
        app.session().engine_comparison.under_way().is_none() && !app.is_busy()
    });
    let comparison = &window.state().session().engine_comparison;
    assert_eq!(comparison.answers().len(), here, "{:?}", window.state().session().log.entries());
    let times: Vec<f64> = comparison.answers().iter().map(|answer| answer.summary.search_ms_median).collect();
    assert!(times.is_sorted(), "the fastest first: {times:?}");
    window.get_by_label(&format!("All {here} engines gave the same neighbours, bit for bit."));
    assert_eq!(window.query_all_by_label("equal").count(), here);
    // The comparison's runs appear in the list of runs.
    assert!(window.state().session().runs.runs().len() >= here);
    // Runs one engine again.
    press(&mut window, "Run again kdtree");
    until(&mut window, "its answer", |app| {
        app.session().engine_comparison.under_way().is_none() && !app.is_busy()
    });
    assert_eq!(window.state().session().engine_comparison.answers().len(), here);
    window.get_by_role_and_label(Role::ComboBox, "Time limit per engine");
    // Compares all engines again: the new comparison contains no old answers.
    press(&mut window, &format!("Compare {here} engines"));
    assert!(window.state().session().engine_comparison.answers().len() < here);
    press(&mut window, "Stop");
    until(&mut window, "the end", |app| {
        app.session().engine_comparison.under_way().is_none() && !app.is_busy()
    });
    // A changed search has no answers yet.
    let draft = Draft { k: "9".to_owned(), ..window.state().state().draft.clone() };
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.run_steps(3);
    assert_eq!(window.query_all_by_label("equal").count(), 0);
}

#[test]
fn an_engine_page_describes_its_memory() {
    let mut window = ready();
    press(&mut window, "bits");
    window.get_by_label("Memory layout");
    window.get_by_label(
        "K smallest so far, sorted, consecutive ones in a thread, 128 for a block (4 per cell)",
    );
    window.get_by_label("Registers");
    window.get_by_label("Parameters");
    // The page shows the engine's source files.
    let files: Vec<_> =
        registry::find("bits".parse().expect("a name")).expect("an engine").code.iter().collect();
    assert_eq!(files[0].path, "cuda/select/bits.cuh");
    let lines = files[0].text.lines().count();
    window.get_by_label(&format!("cuda/select/bits.cuh, {lines} lines")).click_accesskit();
    window.run_steps(30);
    window.get_by_label(&format!("   1  {}", files[0].text.lines().next().expect("a line")));
    // The button was scrolled out of sight, so a pointer could not click it.
    window.get_by_role_and_label(Role::Button, "Read docs/selection.md").click_accesskit();
    window.run_steps(3);
    assert_eq!(window.state().session().manual.as_ref().map(|manual| manual.sought.as_str()), Some("bits"));
    window.state_mut().send(Action::SetManual(None));
    window.state_mut().send(EnginesAction::Page(None));
    window.run_steps(2);
    assert!(window.query_by_label("Memory layout").is_none());
}

#[test]
fn an_engine_page_links_to_its_lesson() {
    let mut window = ready();
    press(&mut window, "warp-select");
    press(&mut window, "Step through it: lesson 12");
    until(&mut window, "the lesson", |app| app.session().lesson.player.is_some());
    assert!(window.state().session().lesson.open);
}

#[test]
fn slow_engines_are_skipped_with_a_note() {
    let mut window = ready();
    // Without measurements, a search of this many points is predicted from the built-in rates.
    let draft =
        Draft { warmup: "0".to_owned(), repeats: "10000".to_owned(), ..window.state().state().draft.clone() };
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(EnginesAction::SetTimeLimit(TimeLimit::TenSeconds));
    window.run_steps(3);
    let left_out = window.query_all_by_label_contains("Skipped: about").count();
    assert!(left_out > 0, "10,000 passes of every engine take 10 s at most");
    window.get_by_label_contains("over the limit");
    window.state_mut().send(EnginesAction::SetTimeLimit(TimeLimit::Any));
    window.run_steps(3);
    assert_eq!(window.query_all_by_label_contains("Skipped: about").count(), 0);
}

#[test]
fn one_or_all_engines_can_be_run_and_stopped() {
    let mut window = ready();
    press(&mut window, "Run kdtree");
    until(&mut window, "its answer", |app| {
        app.session().engine_comparison.answers().len() == 1 && !app.is_busy()
    });
    let verdict = window.state().session().engine_comparison.verdict();
    assert!(verdict.is_none(), "there is nothing to compare it with");
    // No engine finishes before the comparison is stopped.
    let draft = Draft { repeats: "10000".to_owned(), ..window.state().state().draft.clone() };
    window.state_mut().send(Action::SetDraft(Box::new(draft)));
    window.state_mut().send(EnginesAction::SetTimeLimit(TimeLimit::Any));
    window.state_mut().send(Command::CompareEngines);
    until(&mut window, "the first engine", |app| app.session().engine_comparison.under_way().is_some());
    window.get_by_role_and_label(Role::Button, "Stop").click();
    window.run_steps(2);
    until(&mut window, "the end", |app| {
        app.session().engine_comparison.under_way().is_none() && !app.is_busy()
    });
    let here = registry::ENGINES.iter().filter(|engine| engine.runs_on.contains(&DeviceKind::Cpu)).count();
    assert!(window.state().session().engine_comparison.answers().len() < here);
    let said = |window: &Window| window.state().session().log.note().map(|note| note.text.clone());
    assert_eq!(said(&window).as_deref(), Some("cancelled"));
    window.state_mut().send(EnginesAction::One("kdtree".parse().expect("a name")));
    window.run_steps(2);
    assert_ne!(said(&window).as_deref(), Some("cancelled"), "from the run before");
}

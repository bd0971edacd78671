//! Everything around the panes: the finder, recent files, the projector's scale, and exports.

use std::path::Path;

use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command, Mode};
use warpscope::app::saved::{Layout, SizedTile};
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::tokens::{Palette, Theme};
use warpscope::app::{App, ExportKind, Level, check_adapter};
use warpscope::cloud::ColumnChoice;
use warpscope::cloud::formats::read;
use warpscope::progress::NoProgress;
use warpscope::run::EngineChoice;
use warpscope::text;

fn key(window: &mut Window, modifiers: egui::Modifiers, key: egui::Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

fn answered(change: impl FnOnce(&mut State) + 'static) -> Window {
    let mut window = window(|state| {
        small(state);
        change(state);
    });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    window
}

#[track_caller]
fn until_written(window: &mut Window, path: &Path) {
    let said = format!("written: {}", path.display());
    until(window, "the file", move |app| {
        app.session().log.last().is_some_and(|entry| entry.text.ends_with(&said))
    });
}

#[test]
fn the_predicted_time_is_shown_below_the_run_button() {
    let mut window = window(small);
    // Run loads the cloud itself, so its number of points is not known before.
    assert!(window.query_by_label_contains("Estimate: ").is_none(), "no cloud is loaded");
    press(&mut window, "Generate");
    until(&mut window, "the cloud, and what can run", |app| {
        let session = app.session();
        session.cloud.is_some()
            && !session.engines.is_empty()
            && session.engines.iter().all(|status| status.device.is_some())
    });
    window.run_steps(2);
    window.get_by_label_contains("Estimate: ");
    fill(&mut window, "k", "none");
    window.run_steps(2);
    assert!(window.query_by_label_contains("Estimate: ").is_none(), "nothing can be run");
}

#[test]
fn the_command_palette_runs_a_command() {
    let mut window = answered(|_| ());
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("hide left");
    window.run_steps(3);
    window.get_by_label_contains("Show or hide the left panel");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    assert!(!window.state().state().show_problem && window.state().session().finder.is_none());

    // Down selects the second match; Escape closes without an action.
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("show");
    window.run_steps(2);
    key(&mut window, egui::Modifiers::NONE, egui::Key::ArrowDown);
    assert_eq!(window.state().session().finder.as_ref().map(|finder| finder.at), Some(1));
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(window.state().session().finder.is_none());
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("no such thing");
    window.run_steps(2);
    window.get_by_label("No command matches “no such thing”.");
}

#[test]
fn the_command_palette_opens_paths_and_changes_settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("three words here.csv");
    std::fs::write(&path, "lon,lat,kind\n1,2,a\n3,4,b\n5,6,a\n").expect("a file");
    let mut window = answered(|_| ());
    let ask = |window: &mut Window, words: &str| {
        key(window, egui::Modifiers::COMMAND, egui::Key::P);
        window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text(words);
        window.run_steps(3);
        key(window, egui::Modifiers::NONE, egui::Key::Enter);
    };
    ask(&mut window, "k 64");
    assert_eq!(window.state().state().draft.k, "64");
    ask(&mut window, "engine kdtree");
    assert_eq!(window.state().state().draft.engine.to_string(), "kdtree");
    ask(&mut window, "color by rank");
    assert_eq!(window.state().state().color.by.text(), "rank");
    ask(&mut window, "scale 125");
    assert_eq!(window.state().state().scale, 1.25);
    // Unavailable commands are listed with the reason.
    ask(&mut window, "k 100000");
    assert!(window.state().session().finder.is_some() && window.state().state().draft.k == "64");
    window.get_by_label_contains("k = 100,000: must be between 1 and");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    ask(&mut window, path.to_str().expect("a plain path"));
    until(&mut window, "the file", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 3) && app.session().columns.is_some()
    });
    ask(&mut window, "plane up lon");
    assert_eq!(window.state().state().plane.axes, [0, 0]);
    ask(&mut window, "colour kind");
    until(&mut window, "the colours", |app| !app.is_coloring());
    assert_eq!(window.state().state().color.by.text(), "a column");
}

#[test]
fn a_row_is_found_and_queried_by_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("places.csv");
    let kinds = ["IA", "IL", "MO"];
    let mut text = "lon,lat,city,state\n".to_owned();
    (0..60).for_each(|at| text += &format!("{},{},City {at:02},{}\n", at % 9, at % 7, kinds[at % 3]));
    text += "30,40,Colorado Springs,CO\n31,40,Ames,IA\n1,2,Light,AR\n";
    std::fs::write(&path, text).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the answer", |app| {
        app.session().answer_sentence().is_some_and(|said| said.contains("City"))
    });
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("colorado");
    until(&mut window, "the names", |app| app.session().name_search.rows().len() == 1);
    window.get_by_label("Row 60: find its neighbours.");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    until(&mut window, "its neighbours", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 60)
    });
    // Ask why another place is not among the neighbours.
    let ask = |window: &mut Window, name: &str| {
        window.state_mut().send(Action::TypeWhy(name.to_owned()));
        window.run_steps(3);
        window.get_by_label("Show").click();
        until(window, "the reason", |app| app.session().why.explanation.is_some() && app.tasks() == 0);
    };
    ask(&mut window, "ames, ia");
    window.get_by_label_contains("Row 61 is a neighbour");
    ask(&mut window, "Boone");
    window.get_by_label_contains("No row is called “Boone”");
    // A position with the same name as a command comes after it.
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("light");
    window.run_steps(3);
    window.get_by_label("Light, AR");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    window.run_steps(3);
    assert_eq!(window.state().state().look, Theme::Light);
}

#[test]
fn row_names_are_found_among_more_than_65536() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("places.csv");
    let rows: String = (0..70_000).map(|at| format!("{},{},Place {at}\n", at % 911, at % 733)).collect();
    std::fs::write(&path, format!("x,y,name\n{rows}")).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path));
    until(&mut window, "the answer", |app| {
        app.session().answer_sentence().is_some_and(|said| said.contains("Place"))
    });
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("place 69999");
    window.step();
    until(&mut window, "a word on how far it is", |app| app.session().row_names.is_some());
    until(&mut window, "the row", |app| app.session().name_search.rows() == [69_999]);
    window.get_by_label("Row 69,999: find its neighbours.");
}

#[test]
fn the_command_palette_scrolls_and_fits_long_matches() {
    let long = format!("/data/{}.csv", "a very long name ".repeat(20).trim());
    let mut window = window({
        let long = long.clone();
        move |state| {
            small(state);
            state.recent = vec![long.into()];
        }
    });
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    let field = window.get_by_role_and_label(Role::TextInput, "Find a row or a command").rect();
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("very long");
    window.run_steps(3);
    let hit = window.get_by_label_contains("Open a very long name").rect();
    assert!(hit.right() <= field.right() + 1.0, "{hit:?} leaves {field:?}");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    for _ in 0..300 {
        window.key_press(egui::Key::ArrowDown);
        window.step();
    }
    window.run_steps(10);
    let last = window.get_by_role_and_label(Role::Button, "Colour by max_distance over the search").rect();
    let screen = window.ctx.content_rect();
    assert!(screen.contains_rect(last), "{last:?} is out of sight");
}

#[test]
fn the_command_palette_is_drawn_in_every_theme() {
    let mut window = window(small);
    for (words, look) in [
        ("dark", Theme::Dark),
        ("high contrast", Theme::HighContrast),
        ("light look", Theme::Light),
        ("system look", Theme::System),
    ] {
        key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
        window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text(words);
        window.run_steps(3);
        key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
        assert_eq!(window.state().state().look, look, "{words}");
    }
}

#[test]
fn keys_are_shown_with_their_symbols() {
    let mut window = window(small);
    window.state_mut().send(Command::Shortcuts);
    window.run_steps(3);
    window.get_by_role_and_label(Role::Label, "?");
    for name in ["Equals", "Minus", "Questionmark"] {
        assert!(window.query_by_label_contains(name).is_none(), "{name}");
    }
    // The list of shortcuts is taller than the window, and keys scroll it.
    let top = |window: &Window| window.get_by_role_and_label(Role::Label, "?").rect().top();
    let before = top(&window);
    window.key_press(egui::Key::End);
    window.run_steps(20);
    let end = top(&window);
    assert!(end < before - 100.0, "{before} {end}");
    window.key_press(egui::Key::PageUp);
    window.run_steps(20);
    assert!(top(&window) > end);
}

/// 1280 × 800 pixels at scales of 150 and 300 %.
#[test]
fn small_windows_show_one_side_panel_at_a_time() {
    let mut window: Window = Harness::builder().with_size([853.0, 533.0]).build_eframe(|cc| {
        let mut state = State { hints: false, ..State::default() };
        small(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    // Whether the problem panel and the selection panel are shown.
    let shown = |window: &Window| {
        [
            window.query_by_role_and_label(Role::Button, "Run").is_some(),
            window.query_by_label("Selection").is_some(),
        ]
    };
    assert_eq!(shown(&window), [true, false]);
    for (pressed, expected) in [
        (egui::Key::I, [false, true]),
        (egui::Key::I, [true, false]),
        (egui::Key::I, [false, true]),
        (egui::Key::B, [true, false]),
        (egui::Key::B, [false, true]),
        (egui::Key::I, [false, false]),
        (egui::Key::I, [false, true]),
        (egui::Key::B, [true, false]),
        (egui::Key::I, [false, true]),
    ] {
        key(&mut window, egui::Modifiers::COMMAND, pressed);
        assert_eq!(shown(&window), expected, "{pressed:?}");
    }
    // Using the selection as queries opens the problem panel.
    window.state_mut().send(Command::SelectAll);
    until(&mut window, "rows", |app| app.session().selection.rows().len() == 500);
    window.state_mut().send(Command::UseAsQueries);
    window.run_steps(3);
    assert_eq!(shown(&window), [true, false]);
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::I);

    window.set_size(egui::vec2(1280.0, 800.0));
    window.run_steps(3);
    assert_eq!(shown(&window), [true, true]);
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::I);
    assert_eq!(shown(&window), [true, false]);
    window.set_size(egui::vec2(427.0, 267.0));
    window.run_steps(3);
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::I);
    assert!(
        window
            .state()
            .session()
            .log
            .note()
            .is_some_and(|note| note.text.starts_with("no room for the right panel"))
    );
}

#[test]
fn new_panes_are_added_to_a_saved_layout() {
    let mut window = window(|state| {
        let runs = state.tree.tiles.find_pane(&PaneKind::Runs).expect("it is among the panes");
        state.tree.remove_recursively(runs);
    });
    let root = window.state().state().tree.root;
    let place = |window: &Window| window.get_by_label("Timings").rect();
    window.run_steps(3);
    let before = place(&window);
    window.state_mut().send(Command::Show(PaneKind::Runs));
    window.run_steps(3);
    assert_eq!((window.state().state().tree.root, place(&window)), (root, before), "the layout changed");
    assert!(window.get_by_label("Runs").rect().is_positive());
    assert!(PaneKind::ALL.iter().all(|pane| window.state().state().tree.tiles.find_pane(pane).is_some()));
}

#[test]
fn a_tab_bar_is_dragged_by_its_background() {
    let tab = |window: &Window, name: &str| window.get_by_role_and_label(Role::Button, name).rect();
    let dragged = |to: fn([egui::Rect; 2]) -> egui::Pos2| {
        let mut window = window(|_| {});
        window.run_steps(3);
        let [left, right] = [tab(&window, "Log").right(), tab(&window, "Maximise Timings").left()];
        assert!(right - left > 20.0, "there is ground beside the tabs");
        let from = egui::pos2((left + right) / 2.0, tab(&window, "Timings").center().y);
        let to = to(["Plane", "Convergence"].map(|name| tab(&window, name)));
        window.drag_at(from);
        for step in 0..=8 {
            window.hover_at(from.lerp(to, step as f32 / 8.0));
            window.run_steps(2);
        }
        window.drop_at(to);
        window.run_steps(4);
        let Some(Layout::Row(parts)) = Layout::from_tree(&window.state().state().tree) else {
            panic!("views, and what is beside them")
        };
        let strip = |part: &SizedTile| match &part.layout {
            Layout::Tabs { children, .. } => children
                .iter()
                .filter_map(|child| if let Layout::Pane(pane) = child { Some(*pane) } else { None })
                .collect(),
            _ => Vec::new(),
        };
        parts.iter().map(strip).collect::<Vec<_>>()
    };
    use PaneKind::{
        Analysis, Convergence, Engines, Log, Merges, Neighbors, Plane, Points, Runs, Second, Space, Timeline,
        Timings,
    };
    let (views, how, time) = (
        vec![Plane, Space, Second, Analysis, Engines, Points],
        vec![Convergence, Merges, Neighbors],
        vec![Timings, Timeline, Runs, Log],
    );
    // Drags the bar to the far left, then into another tab bar.
    assert_eq!(
        dragged(|[plane, _]| egui::pos2(plane.left() + 8.0, 450.0)),
        [time.clone(), views.clone(), how.clone()]
    );
    let [left, mut right] =
        <[_; 2]>::try_from(dragged(|[_, convergence]| convergence.center())).expect("two strips");
    right.sort();
    let mut both = [how, time].concat();
    both.sort();
    assert_eq!((left, right), (views, both));
}

#[test]
fn recent_files_are_remembered_and_reopened() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for name in ["one.csv", "two.csv"] {
        std::fs::write(path(name), "x,y\n1,2\n3,4\n5,6\n").expect("a file");
    }
    let mut window = window(small);
    for name in ["one.csv", "two.csv", "one.csv"] {
        window.state_mut().send(warpscope::app::commands::Action::OpenPath(path(name)));
        let wanted = path(name);
        until(&mut window, "the file", move |app| {
            app.session()
                .cloud
                .as_ref()
                .is_some_and(|cloud| cloud.source().to_string() == wanted.display().to_string())
        });
    }
    assert_eq!(
        window.state().state().recent,
        [path("one.csv"), path("two.csv")],
        "latest first, without duplicates"
    );
    key(&mut window, egui::Modifiers::COMMAND, egui::Key::P);
    window.get_by_role_and_label(Role::TextInput, "Find a row or a command").type_text("two.csv");
    window.run_steps(2);
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    let wanted = path("two.csv");
    until(&mut window, "the file", move |app| {
        app.session()
            .cloud
            .as_ref()
            .is_some_and(|cloud| cloud.source().to_string() == wanted.display().to_string())
    });
}

#[test]
fn leaving_the_projector_scale_restores_the_previous_one() {
    let mut window = answered(|state| state.scale = 1.25);
    let before = window.state().state().clone();
    key(&mut window, egui::Modifiers::NONE, egui::Key::F5);
    let state = window.state().state();
    assert!(
        state.scale > 1.5
            && state.plane.point_size > before.plane.point_size
            && !state.show_problem
            && !state.show_selection
    );
    key(&mut window, egui::Modifiers::NONE, egui::Key::F5);
    let state = window.state().state();
    assert_eq!(
        (state.scale, state.plane.point_size, state.show_problem),
        (1.25, before.plane.point_size, true)
    );
}

#[test]
fn hints_are_shown_until_dismissed() {
    let mut window = answered(|_| ());
    window.get_by_label("point you click");
    press(&mut window, "Dismiss the hints");
    assert!(window.query_by_label("point you click").is_none() && !window.state().state().hints);
}

#[test]
fn errors_stay_in_the_status_line_until_fixed_or_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data.csv");
    std::fs::write(&data, "x,y\n1,2\n3,4\n5,7\n").expect("a file");
    let mut window = answered(|_| ());
    let shows = |window: &Window| window.query_by_label_contains("Error: ").is_some();
    // Other messages may follow the error, such as one on a GPU that cannot be used.
    let errors =
        |app: &App| app.session().log.entries().iter().filter(|entry| entry.level == Level::Error).count();
    let fail = |window: &mut Window| {
        let before = errors(window.state());
        window.state_mut().send(Action::OpenPath("/there/is/no/such.csv".into()));
        until(window, "the error", |app| errors(app) > before && !app.is_busy());
    };
    assert!(!shows(&window) && window.query_by_label("Dismiss the message").is_none());

    // Newer messages follow the error, and unrelated successes do not remove it.
    fail(&mut window);
    assert!(shows(&window));
    window.state_mut().send(Action::PickRow(7));
    until_answered(&mut window);
    window.state_mut().send(Action::CopyTable(PaneKind::Merges));
    window.run_steps(3);
    assert!(shows(&window));
    window.get_by_label_contains("copied: ");
    window.state_mut().send(Action::OpenPath(data));
    until(&mut window, "the cloud", |app| app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 3));
    assert!(!shows(&window));

    fail(&mut window);
    press(&mut window, "Dismiss the message");
    assert!(!shows(&window));
    fail(&mut window);
    // An open dialog receives Escape.
    window.state_mut().send(Command::Shortcuts);
    window.run_steps(3);
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(shows(&window) && !window.state().session().help);
    // A focused field receives Escape, too.
    fill(&mut window, "k", "3");
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(shows(&window));
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(!shows(&window));
    assert_eq!(errors(window.state()), 3, "the log keeps them");
}

#[test]
fn a_missing_gpu_shows_a_label_without_an_error() {
    let mut window = answered(|state| state.draft.engine = EngineChoice::Auto);
    if window.state().session().record.as_ref().expect("a run").fallback.is_none() {
        // This machine has a GPU.
        return;
    }
    let log = &window.state().session().log;
    assert!(
        log.entries().iter().all(|entry| entry.level == Level::Info) && log.problem().is_none(),
        "nothing is wrong"
    );
    assert!(log.note().is_some_and(|entry| entry.level == Level::Info));
    // The devices are listed on a thread.
    for _ in 0..2000 {
        if window.query_by_label("No GPU").is_some() {
            break;
        }
        window.step();
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    window.get_by_label("No GPU").hover();
    window.run_steps(60);
    window.get_by_label_contains("engine auto searches on the CPU");
}

/// Presses Save in the open dialog, with a path, and waits for the error.
#[track_caller]
fn cannot_save(window: &mut Window, path: &Path) {
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
    until(window, "a sentence", |app| {
        app.session().export.as_ref().is_some_and(|dialog| dialog.error.is_some())
    });
}

#[test]
fn failed_saves_keep_the_dialog_open_with_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    // A file with the folder's name, so that even root cannot write there.
    let closed = folder.path().join("closed");
    std::fs::write(&closed, "").expect("a file");
    let mut window = answered(|_| ());
    for (kind, name) in
        [(ExportKind::Data(PaneKind::Merges), "a.parquet"), (ExportKind::Session, "a.warpscope")]
    {
        window.state_mut().send(Action::StartExport(kind));
        window.run_steps(3);
        let path = closed.join(name);
        cannot_save(&mut window, &path);
        window.get_by_label_contains("cannot write: ");
        assert!(window.query_by_label_contains("Error: ").is_none(), "shown twice");
        let typed = window.get_by_role_and_label(Role::TextInput, "File").value();
        assert_eq!(typed.as_deref(), path.to_str(), "the dialog cannot be edited");
        // Choosing another path keeps all other settings of the dialog.
        let path = folder.path().join(name);
        fill(&mut window, "File", path.to_str().expect("a plain path"));
        assert!(window.query_by_label_contains("cannot write: ").is_none());
        press(&mut window, "Save");
        until_written(&mut window, &path);
        assert!(window.state().session().export.is_none() && path.is_file());
    }
}

/// Presses the shortcuts of all explorer commands except those that dialogs use, and returns the effects.
fn press_all_shortcuts(window: &mut Window) -> bool {
    let all = |window: &Window| {
        let session = window.state().session();
        let (kept, tool) =
            (serde_json::to_string(window.state().state()).expect("text"), format!("{:?}", session.tool));
        (kept, tool, session.selection.rows().len(), session.picked)
    };
    let before = all(window);
    for command in Command::all().iter().filter(|command| command.mode().is_in(Mode::Explorer)) {
        // The desktop's file dialog and quitting cannot be tested here.
        let others =
            matches!(command, Command::Open | Command::Quit | Command::Run | Command::Cancel | Command::Find);
        if let Some(shortcut) = command.shortcut().filter(|_| !others) {
            key(window, shortcut.modifiers, shortcut.logical_key);
        }
    }
    !window.state().is_busy() && !window.state().session().help && all(window) == before
}

#[test]
fn a_dialog_receives_all_keys() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("two.npz");
    let mut file = zip::ZipWriter::new(std::fs::File::create(&path).expect("a file"));
    for name in ["first.npy", "second.npy"] {
        let head = format!("{:<117}\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }");
        file.start_file(name, zip::write::SimpleFileOptions::default()).expect("a member");
        std::io::Write::write_all(&mut file, &[b"\x93NUMPY\x01\x00v\x00", head.as_bytes(), &[1, 2]].concat())
            .expect("an array");
    }
    file.finish().expect("an archive");
    let mut window = answered(|_| ());
    let dialogs = [
        Action::StartExport(ExportKind::Data(PaneKind::Plane)),
        Action::OpenPath(path),
        Action::Command(Command::Find),
    ];
    let tool = |window: &Window| format!("{:?}", window.state().session().tool);
    window.state_mut().send(Command::LassoTool);
    for dialog in dialogs {
        window.state_mut().send(dialog.clone());
        until(&mut window, "the dialog", |app| app.session().has_dialog());
        if window.state().session().export.is_some() {
            // No field has the focus.
            window.get_by_role_and_label(Role::Button, "TSV").focus();
        }
        window.run_steps(3);
        assert!(press_all_shortcuts(&mut window), "behind {dialog:?}");
        assert!(window.state().session().has_dialog());
        // Escape must only close the dialog.
        key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
        assert!(!window.state().session().has_dialog() && tool(&window) == "Lasso", "{dialog:?}");
    }
    key(&mut window, egui::Modifiers::NONE, egui::Key::R);
    assert_eq!(tool(&window), "Rectangle", "without a dialog they work");
}

#[test]
fn export_needs_only_a_name_and_enter() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = answered(|state| state.tree = single_layout(PaneKind::Neighbors));
    let has_keys = |window: &Window| window.get_by_role_and_label(Role::TextInput, "File").is_focused();
    // The element focused before no longer receives keys.
    window.get_by_role_and_label(Role::TextInput, "k").focus();
    window.run_steps(2);
    window.state_mut().send(Action::StartExport(ExportKind::Data(PaneKind::Neighbors)));
    window.run_steps(3);
    assert!(has_keys(&window));
    let wrong = folder.path().join("neighbours.doc");
    window.event(egui::Event::Text(wrong.display().to_string()));
    window.run_steps(2);
    assert_eq!(
        window.get_by_role_and_label(Role::TextInput, "File").value().as_deref(),
        wrong.to_str(),
        "instead of what was offered"
    );
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    window.get_by_label_contains("It is not written as .doc");
    assert!(has_keys(&window));

    // Overwriting is asked once, however long Enter is held.
    let path = folder.path().join("neighbours.csv");
    std::fs::write(&path, "mine").expect("a file");
    fill(&mut window, "File", path.to_str().expect("a plain path"));
    let enter = |pressed, repeat| egui::Event::Key {
        key: egui::Key::Enter,
        physical_key: None,
        pressed,
        repeat,
        modifiers: egui::Modifiers::NONE,
    };
    for _ in 0..5 {
        window.event(enter(true, false));
        window.step();
    }
    window.event(enter(false, false));
    window.run_steps(3);
    window.get_by_label_contains("This file exists already.");
    assert!(has_keys(&window) && std::fs::read_to_string(&path).is_ok_and(|text| text == "mine"));
    key(&mut window, egui::Modifiers::NONE, egui::Key::Enter);
    until_written(&mut window, &path);
    assert!(window.state().session().export.is_none());

    // Tab cycles through the dialog; Enter presses the focused button; Escape closes.
    window.state_mut().send(Command::SaveSessionAs);
    window.run_steps(3);
    window.get_by_role_and_label(Role::Button, "Close").focus();
    window.run_steps(2);
    key(&mut window, egui::Modifiers::NONE, egui::Key::Tab);
    assert!(has_keys(&window));
    key(&mut window, egui::Modifiers::NONE, egui::Key::Escape);
    assert!(window.state().session().export.is_none());
}

#[test]
fn a_table_is_written_in_each_format_and_copied() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = answered(|state| state.tree = single_layout(PaneKind::Merges));
    let measured = window.state().session().record.as_ref().expect("a run").measured.clone();
    for ending in ["csv", "tsv", "parquet", "npz"] {
        let path = folder.path().join("merges").with_extension(ending);
        press(&mut window, "Export Counts");
        press(&mut window, "Data as CSV, TSV, Parquet or npz…");
        fill(&mut window, "File", path.to_str().expect("a plain path"));
        press(&mut window, "Save");
        until_written(&mut window, &path);
        // An archive has an array per column.
        let (path, column) = if ending == "npz" {
            (format!("{}:candidates", path.display()), ColumnChoice::Default)
        } else {
            (path.display().to_string(), "candidates".parse().expect("a name"))
        };
        let table = read(Path::new(&path), &column, &NoProgress).unwrap_or_else(|error| panic!("{error}"));
        let values: Vec<u32> = table.values.iter().map(|value| value as u32).collect();
        assert_eq!(values, measured.column("candidates").expect("counters"), "{ending}");
    }
    press(&mut window, "Export Counts");
    press(&mut window, "Copy the table");
    let copied = window.output().platform_output.commands.iter().any(|command| {
        matches!(
            command,
            egui::OutputCommand::CopyText(text)
                if text.starts_with("query\trow\tmerges") && text.lines().count() == measured.queries() + 1
        )
    });
    let said =
        window.state().session().log.last().is_some_and(|entry| entry.text == "copied: 40 rows of Counts");
    assert!(copied || said, "{:?}", window.state().session().log.last());
}

/// Exports Neighbours to a file.
fn export_neighbours(window: &mut Window, what: &str, path: &Path) {
    press(window, "Export Neighbours");
    press(window, what);
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
}

#[test]
fn neighbours_are_exported_only_in_known_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = answered(|state| state.tree = single_layout(PaneKind::Neighbors));
    let record = window.state().session().record.clone().expect("a run");
    let of_query = window.state().session().answered.as_ref().expect("an answer").query;
    let (k, all) = (record.neighbors.k, record.neighbors.queries());
    for (what, queries) in [
        ("Data as CSV, TSV, Parquet or npz…", of_query..of_query + 1),
        ("All neighbours of the run…", 0..all),
    ] {
        for [ending, beside] in [["ivecs", "fvecs"], ["ibin", "fbin"]] {
            let path = folder.path().join(format!("{} neighbours.{ending}", queries.len()));
            export_neighbours(&mut window, what, &path);
            let rows = text::count((queries.len() * k) as u64, "row", "rows");
            let beside_path = path.with_extension(beside);
            let said = format!("{rows} written: {}, {}", path.display(), beside_path.display());
            until(&mut window, "both files", move |app| {
                app.session().log.last().is_some_and(|entry| entry.text == said)
            });
            let values = |path: &Path| {
                read(path, &ColumnChoice::Default, &NoProgress)
                    .unwrap_or_else(|error| panic!("{error}"))
                    .values
            };
            let (rows, distances) = (values(&path), values(&path.with_extension(beside)));
            let found = queries.start * k..queries.end * k;
            let expected = &record.neighbors.indices[found.clone()];
            assert!(rows.iter().map(|row| row as u32).eq(expected.iter().copied()), "{what} as {ending}");
            assert!(
                distances
                    .iter()
                    .map(|value| value as f32)
                    .eq(record.neighbors.squared_distances[found].iter().copied()),
                "{what} as {beside}"
            );
        }
        for ending in ["csv", "tsv", "parquet", "npz"] {
            let path = folder.path().join(format!("{} neighbours.{ending}", queries.len()));
            export_neighbours(&mut window, what, &path);
            until_written(&mut window, &path);
            assert!(path.metadata().expect("the file").len() > 0);
        }
    }
    // A table of all neighbours has a row for each.
    let table =
        read(&folder.path().join("40 neighbours.csv"), &"index".parse().expect("a name"), &NoProgress)
            .expect("the file");
    assert!(table.values.iter().map(|index| index as u32).eq(record.neighbors.indices.iter().copied()));

    let path = folder.path().join("neighbours.txt");
    export_neighbours(&mut window, "All neighbours of the run…", &path);
    window.get_by_label_contains(
        "end it in .csv, .tsv, .parquet, .arrow, .npz, .geojson, .npy, .ivecs or .ibin.",
    );
    assert!(!path.exists());
    press(&mut window, "Close");
    // Files written next to it are not overwritten without a question either.
    std::fs::write(folder.path().join("mine.fvecs"), "mine").expect("a file");
    export_neighbours(&mut window, "All neighbours of the run…", &folder.path().join("mine.ivecs"));
    window.get_by_label_contains("This file exists already.");
    assert_eq!(std::fs::read_to_string(folder.path().join("mine.fvecs")).expect("the file"), "mine");
}

#[test]
fn panes_export_high_resolution_and_vector_images() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut window: Window = Harness::builder().with_size([900.0, 600.0]).wgpu().build_eframe(|cc| {
        let mut state = State {
            look: Theme::Light,
            hints: false,
            tree: single_layout(PaneKind::Plane),
            ..State::default()
        };
        small(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    let mut export = |name: &str, times: Option<&str>| {
        let path = folder.path().join(name);
        press(&mut window, "Export Plane");
        press(&mut window, "Picture as PNG or SVG…");
        fill(&mut window, "File", path.to_str().expect("a plain path"));
        if let Some(times) = times {
            press(&mut window, times);
        }
        press(&mut window, "Save");
        until_written(&mut window, &path);
        path
    };
    let size = |path: &Path| image::image_dimensions(path).expect("a PNG");
    let (once, twice) = (size(&export("once.png", None)), size(&export("twice.png", Some("2×"))));
    assert!(twice.0.abs_diff(once.0 * 2) <= 2 && twice.1.abs_diff(once.1 * 2) <= 2, "{once:?}, {twice:?}");

    let text = std::fs::read_to_string(export("plane.svg", None)).expect("an SVG");
    let tree = resvg::usvg::Tree::from_str(&text, &resvg::usvg::Options::default()).expect("valid data");
    assert!((tree.size().width() - once.0 as f32).abs() < 2.0);
    let [r, g, b, _] = Palette::LIGHT.query.to_array();
    assert!(text.contains(&format!("#{r:02x}{g:02x}{b:02x}")), "the query is a shape of its colour");
    assert!(
        text.contains("nearest to row ") && text.contains("data:image/png;base64,"),
        "text stays text; points are a picture"
    );
    assert!(
        !text.contains("Single colour") && !text.contains("Drag the ring"),
        "controls appear in the picture"
    );
}

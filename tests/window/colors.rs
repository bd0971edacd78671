//! Colours of points and projections, driven by accessible names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::selection::{SelectAction, SelectMode};
use warpscope::app::session::ColoringState;
use warpscope::app::state::{PaneKind, State, single_layout};
use warpscope::app::tokens::Theme;
use warpscope::app::{
    App, Channel, ColorBy, ColorMap, ColorView, Level, ProjectionKind, QueryKind, check_adapter,
};
use warpscope::cloud::{ColumnChoice, Source};
use warpscope::knn::EngineId;
use warpscope::run::{EngineChoice, RunRecord};

/// Plane alone, so that each of its parts exists once.
fn plane(state: &mut State) {
    small(state);
    state.tree = single_layout(PaneKind::Plane);
}

fn choose(window: &mut Window, combo: &str, entry: &str) {
    window.get_by_role_and_label(Role::ComboBox, combo).click();
    window.run_steps(3);
    window.get_by_label(entry).click();
    window.run_steps(3);
}

#[track_caller]
fn channel(window: &mut Window) -> Arc<Channel> {
    until(window, "colours", |app| matches!(app.session().colored, ColoringState::Ready(_)));
    let ColoringState::Ready(channel) = &window.state().session().colored else {
        panic!("the colours are not ready")
    };
    Arc::clone(channel)
}

fn values(channel: &Channel) -> Vec<f32> {
    channel.numbers.as_ref().expect("numbers").values.values.clone()
}

/// 78 rows of 12 categories: one row of the first, two of the second, …, and five numbers each.
fn kinds(folder: &Path) -> PathBuf {
    let path = folder.join("kinds.csv");
    let mut text = "a,b,c,d,e,kind,size\n".to_owned();
    for (at, kind) in (0..12).flat_map(|kind| std::iter::repeat_n(kind, kind + 1)).enumerate() {
        let x = at as f64 / 8.0;
        let size = if at == 5 { String::new() } else { (at * 3 + 1).to_string() };
        text += &format!(
            "{x},{},{},{},{},k{kind:02},{size}\n",
            2.0 * x,
            (at * 37) % 11,
            (at * 53) % 7,
            (at * 29) % 5
        );
    }
    std::fs::write(&path, text).expect("a file");
    path
}

fn open(window: &mut Window, path: &Path, columns: &[&str]) {
    let columns = ColumnChoice::Named(columns.iter().map(|&name| name.to_owned()).collect());
    let source = Source::File { path: path.to_owned(), columns };
    let cloud = warpscope::cloud::load(&source, false, &warpscope::progress::NoProgress).expect("a cloud");
    window.state_mut().show_loaded(Arc::new(cloud));
    until(window, "the columns", |app| app.session().columns.is_some());
}

#[test]
fn text_columns_colour_points_and_legends_select_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b"]);
    choose(&mut window, "Colour by", "a column");
    window.get_by_label("Choose a column.");
    choose(&mut window, "Column that colours", "kind");
    let channel = channel(&mut window);
    let categories = channel.categories.as_ref().expect("texts");
    assert_eq!(
        (categories.list.len(), categories.list[0].name.as_str(), categories.list[0].count),
        (12, "k11", 12)
    );
    window.run_steps(2);
    window.get_by_label("and 2 more share colours, 3 rows");
    window.get_by_role_and_label(Role::Button, "kind = k11, 12").click();
    until(&mut window, "a selection", |app| !app.session().selection.is_empty());
    let selection = &window.state().session().selection;
    assert_eq!(selection.rows().iter().copied().collect::<Vec<u32>>(), (66..78).collect::<Vec<u32>>());
    assert_eq!(selection.by(), "kind = k11");

    // Colours by numbers from the same file; one row lacks a value.
    choose(&mut window, "Column that colours", "size");
    until(
        &mut window,
        "sizes",
        |app| matches!(&app.session().colored, ColoringState::Ready(channel) if channel.title == "size"),
    );
    window.get_by_label("1 row have no value in this column");
    let sizes = driven_values(&window);
    assert!(sizes[5].is_nan() && sizes[77] == 232.0);
}

#[test]
fn dragging_over_the_histogram_selects_by_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b"]);
    choose(&mut window, "Colour by", "a column");
    choose(&mut window, "Column that colours", "size");
    channel(&mut window);
    window.run_steps(3);
    let bar = window.get_by_label("Histogram of size").rect();
    let at = |share: f32| egui::pos2(bar.left() + share * bar.width(), bar.center().y);
    let drag = |window: &mut Window, from: f32, to: f32| {
        window.drag_at(at(from));
        window.run_steps(2);
        window.hover_at(at((from + to) / 2.0));
        window.run_steps(2);
        window.hover_at(at(to));
        window.run_steps(2);
        window.drop_at(at(to));
        window.run_steps(3);
    };
    // Sizes from 1 to 232 in steps of 3; row 5 has no size.
    drag(&mut window, 0.5, 0.75);
    let sizes = driven_values(&window);
    let selection = &window.state().session().selection;
    let low = sizes[selection.rows()[0] as usize];
    let high = sizes[*selection.rows().last().expect("rows") as usize];
    assert!((115.0..121.0).contains(&low) && (170.0..176.0).contains(&high), "{low} to {high}");
    let between = sizes.iter().filter(|&&size| (low..=high).contains(&size)).count();
    assert_eq!(selection.rows().len(), between);
    assert!(selection.by().starts_with("size 11") && selection.by().contains(" to 17"), "{}", selection.by());
    // Dragging past the end of the bar selects everything beyond it.
    drag(&mut window, 0.9, 1.2);
    let selection = &window.state().session().selection;
    assert!(
        selection.rows().last() == Some(&77) && selection.by().starts_with("size ≥ 2"),
        "{}",
        selection.by()
    );

    // Types the same limits.
    window.get_by_label("Select…").click();
    window.run_steps(3);
    window.get_by_label("About the bottom 10 %").click();
    until(&mut window, "the lowest", |app| app.session().selection.rows().first() == Some(&0));
    assert_eq!(window.state().session().selection.by(), "size ≤ 28");
    assert_eq!(window.state().session().selection.rows()[..], [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    // Typing in a field does not close the menu.
    window.get_by_label("Select…").click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::SpinButton, "How many").click();
    window.run_steps(3);
    window.event(egui::Event::Text("5".to_owned()));
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    window.get_by_label("Highest").click();
    until(&mut window, "the five highest", |app| app.session().selection.rows().len() == 5);
    assert_eq!(window.state().session().selection.rows()[..], [73, 74, 75, 76, 77]);
}

#[test]
fn selected_rows_are_exported_with_all_columns_of_their_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b"]);
    choose(&mut window, "Colour by", "distance to the query");
    window.state_mut().send(SelectAction::rows(vec![5, 77], SelectMode::Replace, "two"));
    until(&mut window, "a selection", |app| app.session().selection.rows().len() == 2);
    window.state_mut().send(Command::ExportSelection);
    window.run_steps(3);
    let path = folder.path().join("two.csv");
    fill(&mut window, "File", &path.display().to_string());
    press(&mut window, "Save");
    until(&mut window, "the file", |_| path.exists());
    let text = std::fs::read_to_string(&path).expect("a file");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("row,a,b,c,d,e,kind,size"), "{text}");
    assert!(
        lines.len() == 3
            && lines[1].starts_with("5,0.625,1.25,9,")
            && lines[1].contains(",k02,")
            && lines[2].contains(",k11,232"),
        "{text}"
    );
}

#[test]
fn the_legend_names_the_query_and_the_hovered_point() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b"]);
    choose(&mut window, "Colour by", "a column");
    choose(&mut window, "Column that colours", "kind");
    channel(&mut window);
    window.state_mut().send(Action::PickRow(77));
    until(&mut window, "the query", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 77)
    });
    window.get_by_label("Query: k11");
    let here = warpscope::app::selection::HoverTarget {
        what: warpscope::app::session::PickedPoint::Row(1),
        pane: warpscope::app::state::PaneKind::Plane,
    };
    window.state_mut().send(SelectAction::Hover(Some(here)));
    window.step();
    window.step();
    window.get_by_label("Here: k01");
}

#[test]
fn rows_of_a_missing_file_are_exported_without_its_columns() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    let file = kinds(folder.path());
    open(&mut window, &file, &["a", "b"]);
    window.state_mut().send(SelectAction::rows(vec![5, 77], SelectMode::Replace, "two"));
    until(&mut window, "a selection", |app| app.session().selection.rows().len() == 2);
    std::fs::remove_file(&file).expect("it existed");
    window.state_mut().send(Command::ExportSelection);
    window.run_steps(3);
    let path = folder.path().join("two.csv");
    fill(&mut window, "File", &path.display().to_string());
    press(&mut window, "Save");
    until(&mut window, "the file", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.contains("cannot be read again"))
    });
    let log = &window.state().session().log;
    assert_eq!(log.problem(), log.last(), "missing in the status line");
    let text = std::fs::read_to_string(&path).expect("a file");
    assert!(text.starts_with("row,a,b") && !text.contains("kind") && text.lines().count() == 3, "{text}");
}

fn driven_values(window: &Window) -> Vec<f32> {
    let ColoringState::Ready(channel) = &window.state().session().colored else { panic!("no colours") };
    values(channel)
}

#[test]
fn query_counters_colour_their_rows_until_the_next_run() {
    let mut window = window(plane);
    press(&mut window, "Run");
    until_answered(&mut window);
    choose(&mut window, "Colour by", "candidates");
    let first = channel(&mut window);
    let agree = |window: &Window, channel: &Channel| {
        let record = window.state().session().record.clone().expect("a run");
        let values = values(channel);
        for (query, &row) in record.query_rows.iter().enumerate() {
            assert_eq!(
                values[row as usize],
                record.measured.column("candidates").expect("counters")[query] as f32
            );
        }
        assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 460);
    };
    agree(&window, &first);
    window.run_steps(2);
    window.get_by_label("460 rows are not queries");

    fill(&mut window, "k", "20");
    press(&mut window, "Run");
    until(&mut window, "the second run", |app| {
        app.session().record.as_ref().is_some_and(|record| record.spec.k == 20)
            && matches!(app.session().colored, ColoringState::Ready(_))
    });
    let second = channel(&mut window);
    assert!(!Arc::ptr_eq(&first, &second));
    agree(&window, &second);

    // A new cloud has no run.
    window.state_mut().send(Action::Load);
    until(&mut window, "another cloud", |app| matches!(app.session().colored, ColoringState::Missing(_)));
    window.get_by_label_contains("Press Run");
}

#[test]
fn colour_limits_can_be_typed_and_reset() {
    let mut window = window(plane);
    press(&mut window, "Run");
    until_answered(&mut window);
    choose(&mut window, "Colour by", "distance to the query");
    let whole = channel(&mut window).numbers.as_ref().expect("distances").whole;
    assert_eq!(whole.0, 0.0, "the query itself");
    window.get_by_role_and_label(Role::SpinButton, "High end of the colours").click();
    window.run_steps(3);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.run_steps(1);
    window.event(egui::Event::Text("0.25".to_owned()));
    window.run_steps(1);
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    let ends = |window: &mut Window| {
        let view = window.state().state().color.clone();
        channel(window).numbers.as_ref().expect("distances").ends(&view)
    };
    assert_eq!(ends(&mut window), (0.0, 0.25, false));
    // 0 has no logarithm: the scale starts at the next distance.
    window.get_by_label("Log").click();
    window.run_steps(3);
    let (low, high, log) = ends(&mut window);
    assert!(low > 0.0 && low < 0.1 && high == 0.25 && log, "{low} to {high}");
    window.get_by_label("Log").click();
    window.run_steps(3);
    window.get_by_label("Whole range").click();
    window.run_steps(3);
    assert_eq!(ends(&mut window), (whole.0, whole.1, false));
    choose(&mut window, "Colours", "cividis");
    assert_eq!(window.state().state().color.map, Some(ColorMap::Cividis));

    // Moving the query changes the distances.
    let before = driven_values(&window);
    window.state_mut().send(Command::NextQuery);
    until(&mut window, "distances to the next query", |app| {
        let ColoringState::Ready(channel) = &app.session().colored else { return false };
        let row = app.session().answered.as_ref().map(|answered| answered.row() as usize);
        row.is_some_and(|row| values(channel)[row] == 0.0) && values(channel) != before
    });
    let answered = window.state().session().answered.clone().expect("an answer");
    let values = driven_values(&window);
    for (row, squared) in answered.neighbors() {
        assert!((values[row as usize] - squared.sqrt()).abs() < 1e-6);
    }
}

#[test]
fn the_scrubber_shows_earlier_bounds() {
    let mut window = window(|state| {
        plane(state);
        state.draft.queries = QueryKind::All;
        state.color = ColorView { by: ColorBy::Moment, moment: 60, ..ColorView::default() };
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    let agree = |window: &Window, moment: u32| {
        let record = window.state().session().record.clone().expect("a run");
        let ColoringState::Ready(channel) = &window.state().session().colored else { panic!("no colours") };
        let values = values(channel);
        for (query, &row) in record.query_rows.iter().enumerate() {
            let (seen, bounds) = record.convergence.for_query(query);
            let bound = seen
                .iter()
                .zip(bounds)
                .take_while(|(seen, _)| **seen <= moment)
                .last()
                .map_or(f32::NAN, |(_, bound)| bound.sqrt());
            let shown = values[row as usize];
            assert!(
                shown == bound || (shown.is_nan() && !bound.is_finite()),
                "query {query}: {shown} for {bound}"
            );
        }
    };
    channel(&mut window);
    agree(&window, 60);
    window.get_by_role_and_label(Role::Slider, "Points seen");
    let view = window.state().state().color.clone();
    window
        .state_mut()
        .send(Action::Color(warpscope::app::ColorAction::Set(ColorView { moment: 500, ..view })));
    // Compare bits, because missing values are NaN.
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let before = bits(driven_values(&window));
    until(&mut window, "the end", |app| match &app.session().colored {
        ColoringState::Ready(channel) => bits(values(channel)) != before,
        _ => false,
    });
    agree(&window, 500);
    let shown = window.state().state().color.moment;
    window.run_steps(10);
    assert_eq!(window.state().state().color.moment, shown, "playback started unasked");
    press(&mut window, "Play");
    assert!(window.state().state().color.moment < 100, "playback restarts from the end");
    until(&mut window, "it plays", |app| app.state().color.moment > 3);
    press(&mut window, "Pause");
    assert!(window.state().session().playing.is_none());
}

#[test]
fn engines_without_counters_show_an_explanation() {
    let mut window = window(|state| {
        plane(state);
        state.draft.engine = EngineChoice::named(EngineId::new("kdtree"));
        state.color.by = ColorBy::Measure("merges".to_owned());
    });
    window.run_steps(2);
    press(&mut window, "Run");
    until_answered(&mut window);
    window.get_by_label("kdtree has no counters; run cuda, lockstep, bvh, step or step-exhaustive.");
    choose(&mut window, "Colour by", "a column");
    window.get_by_label("A generated cloud has only its axes as columns.");
}

#[test]
fn a_missing_file_is_reported_and_can_be_retried() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    let path = kinds(folder.path());
    open(&mut window, &path, &["a", "b"]);
    let aside = folder.path().join("aside.csv");
    std::fs::rename(&path, &aside).expect("renamed");
    window.state_mut().send(Action::Color(warpscope::app::ColorAction::Set(ColorView {
        by: ColorBy::Column("kind".to_owned()),
        ..ColorView::default()
    })));
    until(&mut window, "an error", |app| matches!(app.session().colored, ColoringState::Failed(_)));
    std::fs::rename(&aside, &path).expect("renamed");
    press(&mut window, "Try again");
    assert_eq!(channel(&mut window).title, "kind");
}

#[test]
fn points_use_file_colours_by_default() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("scan.csv");
    let mut text = "x,y,z,red,green,blue\n".to_owned();
    (0..60).for_each(|at| text += &format!("{},{},{},{},{},7\n", at % 7, at % 11, at, 4 * at, 255 - 4 * at));
    std::fs::write(&path, text).expect("a file");
    let mut window = window(plane);
    window.state_mut().send(Action::OpenPath(path.clone()));
    until(&mut window, "the file's colours", |app| app.state().color.by == ColorBy::FileColors);
    let shown = channel(&mut window);
    assert_eq!((shown.text(3).as_deref(), shown.missing), (Some("red 12, green 243, blue 7"), 0));
    // Choosing no colours is remembered when the file is reopened; another file shows its own.
    choose(&mut window, "Colour by", "nothing");
    window.state_mut().send(Action::OpenPath(path.clone()));
    window.run_steps(20);
    assert_eq!(window.state().state().color.by, ColorBy::Nothing);
    choose(&mut window, "Colour by", "the file's colours");
    channel(&mut window);
    let plain = folder.path().join("plain.csv");
    std::fs::write(&plain, "x,y\n0,1\n2,3\n4,5\n").expect("a file");
    window.state_mut().send(Action::OpenPath(plain));
    until(&mut window, "no colours", |app| app.state().color.by != ColorBy::FileColors);
    assert!(window.state().session().log.entries().iter().all(|entry| entry.level != Level::Error));
}

#[test]
fn scans_open_coloured_by_height_or_by_their_own_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    let vertices = |fields: &[&str], rows: &str| {
        let fields: String = fields.iter().map(|field| format!("property float {field}\n")).collect();
        format!("ply\nformat ascii 1.0\nelement vertex 4\n{fields}end_header\n{rows}")
    };
    let xyz = ["x", "y", "z"];
    let files = [
        ("scan.ply", vertices(&xyz, "0 0 5\n1 0 6\n0 1 7\n1 1 9\n"), ColorBy::Axis(2)),
        (
            "colored.ply",
            vertices(
                &[&xyz[..], &["red", "green", "blue"]].concat(),
                "0 0 5 1 2 3\n1 0 6 255 0 0\n0 1 7 0 9 0\n1 1 9 8 8 8\n",
            ),
            ColorBy::FileColors,
        ),
        ("few.csv", "x,y,z\n0,0,5\n1,0,6\n0,1,7\n1,1,9\n".to_owned(), ColorBy::Nothing),
    ];
    for (name, text, first) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        let mut window = window(plane);
        window.state_mut().send(Action::OpenPath(path));
        until(&mut window, name, |app| app.session().file_columns().is_some());
        window.run_steps(3);
        assert_eq!(window.state().state().color.by, first, "{name}");
    }
}

#[test]
fn a_new_cloud_resets_unavailable_colours_and_projections() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b", "c", "d", "e"]);
    choose(&mut window, "Colour by", "a column");
    choose(&mut window, "Column that colours", "kind");
    choose(&mut window, "Shown", "random directions");
    channel(&mut window);
    let scan = folder.path().join("scan.csv");
    std::fs::write(&scan, "a,b,c\n1,2,3\n4,5,6\n7,8,10\n").expect("a file");
    open(&mut window, &scan, &["a", "b", "c"]);
    until(&mut window, "no column", |app| app.state().color.by == ColorBy::Nothing);
    window.run_steps(3);
    assert!(matches!(window.state().session().colored, ColoringState::Nothing));
    let log = &window.state().session().log;
    assert!(
        log.entries().iter().all(|entry| entry.level != Level::Error),
        "nothing went wrong: {:?}",
        log.entries()
    );
    assert!(log.last().is_some_and(
        |last| last.text.contains("the file has no column kind") && last.text.ends_with("scan.csv")
    ));
    // The note about the file stays visible.
    window.get_by_label_contains("3 points of 3 dimensions");
    assert_eq!(window.state().state().projection.kind, ProjectionKind::Axes);
    // A projection chosen explicitly is kept when the same file is reopened.
    choose(&mut window, "Shown", "principal components");
    open(&mut window, &scan, &["a", "b", "c"]);
    assert_eq!(window.state().state().projection.kind, ProjectionKind::Pca);
    // Colours by a column of the next file are kept, and so is a projection that its dimensions allow.
    let by = |by| Action::Color(warpscope::app::ColorAction::Set(ColorView { by, ..ColorView::default() }));
    window.state_mut().send(by(ColorBy::Column("b".to_owned())));
    open(&mut window, &kinds(folder.path()), &["a", "b", "c", "d", "e"]);
    assert_eq!(channel(&mut window).title, "b");
    assert_eq!(window.state().state().projection.kind, ProjectionKind::Pca);
    window.state_mut().send(by(ColorBy::Axis(4)));
    until(
        &mut window,
        "a fifth axis",
        |app| matches!(&app.session().colored, ColoringState::Ready(channel) if channel.title == "e"),
    );
    open(&mut window, &scan, &["a", "b", "c"]);
    assert_eq!(window.state().state().color.by, ColorBy::Nothing, "there is no fifth axis");
}

#[test]
fn principal_components_are_shown_and_described() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(plane);
    open(&mut window, &kinds(folder.path()), &["a", "b", "c", "d", "e"]);
    let axes = window.state().state().plane.axes;
    choose(&mut window, "Shown", "principal components");
    until(&mut window, "components", |app| app.session().projected.is_some());
    window.run_steps(2);
    assert_eq!(window.state().state().plane.axes, [0, 1]);
    window.get_by_label("neighbours computed in all 5 dimensions");
    window.get_by_role_and_label(Role::ComboBox, "Shown").hover();
    window.run_steps(60);
    window.get_by_label_contains("variance: PC1 ");
    let scene = window.state().session().scene().expect("a cloud");
    let names: Vec<&str> = scene.data().axes().iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["PC1", "PC2", "PC3"]);

    // a and b lie on a line, which is the first component, so its coordinate is monotonic in the row.
    let along: Vec<f32> = (0..scene.data().len()).map(|row| scene.data().point(row)[0]).collect();
    let rises = along.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert!(!(17..=60).contains(&rises), "{rises} of 77 steps go up");

    // A click on a drawn row picks it; its neighbours use all dimensions.
    window.state_mut().send(Action::PickRow(40));
    until(&mut window, "an answer", |app| app.session().answered.is_some() && !app.is_busy());
    window.run_steps(3);
    let canvas = window.get_by_role_and_label(Role::Canvas, "Plane of points").rect();
    let place = warpscope::app::plane_position(window.state(), canvas).expect("a query in sight");
    window.state_mut().send(Action::PickRow(3));
    until(&mut window, "another answer", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 3) && !app.is_busy()
    });
    window.hover_at(place);
    window.run_steps(2);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: place,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        window.run_steps(2);
    }
    until(&mut window, "the clicked point", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.row() == 40)
    });
    let answered = window.state().session().answered.clone().expect("an answer");
    let cloud = &answered.record.cloud;
    let far =
        |row: usize| cloud.point(row).iter().zip(cloud.point(40)).map(|(p, q)| (p - q).powi(2)).sum::<f32>();
    let mut all: Vec<f32> = (0..cloud.len()).map(far).collect();
    all.sort_by(f32::total_cmp);
    let found: Vec<f32> = answered.neighbors().map(|(_, squared)| squared).collect();
    assert!(
        found.iter().zip(&all).all(|(found, expected)| (found - expected).abs() <= 1e-5 * expected.max(1.0))
    );

    choose(&mut window, "Shown", "random directions");
    until(&mut window, "random directions", |app| {
        app.session().scene().is_some_and(|scene| scene.data().axes()[0].name == "R1")
    });
    choose(&mut window, "Shown", "axes");
    until(&mut window, "the axes", |app| app.session().projected.is_none());
    assert_eq!(window.state().state().plane.axes, axes, "as they were before");
}

/// A run over three clusters, always the same.
fn record() -> Arc<RunRecord> {
    let mut window = window(|state| {
        state.draft.generator = "gaussian-mixture:n=3000,d=2,clusters=5".to_owned();
        state.draft.queries = QueryKind::Count;
        state.draft.query_count = "2000".to_owned();
        state.draft.engine = EngineChoice::named(EngineId::new("lockstep"));
        state.draft.repeats = "1".to_owned();
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    window.state().session().record.clone().expect("a run")
}

#[test]
fn coloured_planes_match_their_snapshots() {
    if let Err(error) = check_adapter() {
        panic!("{error:#}");
    }
    let record = record();
    let folder = tempfile::tempdir().expect("a folder");
    let path = kinds(folder.path());
    let choices: [(&str, ColorBy, u32); 3] = [
        ("merges", ColorBy::Measure("merges".to_owned()), 0),
        ("categories", ColorBy::Column("kind".to_owned()), 0),
        ("moment", ColorBy::Moment, 100),
    ];
    let mut failures = Vec::new();
    for (name, by, moment) in choices {
        for (look, theme) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
            let view = ColorView { by: by.clone(), moment, ..ColorView::default() };
            let mut window: Window =
                Harness::builder().with_size([560.0, 420.0]).wgpu().build_eframe(move |cc| {
                    let tree = single_layout(PaneKind::Plane);
                    let mut state = State {
                        look,
                        tree,
                        color: view,
                        show_problem: false,
                        show_selection: false,
                        ..State::default()
                    };
                    state.plane.point_size = 4.0;
                    App::with_state(cc, state).expect("a thread for the worker")
                });
            if name == "categories" {
                open(&mut window, &path, &["a", "c"]);
            } else {
                window.state_mut().show_record(Arc::clone(&record));
                until_answered(&mut window);
            }
            channel(&mut window);
            window.run_steps(4);
            until(&mut window, "all points", App::is_drawn);
            // The status line depends on the machine.
            window.mask(egui::Rect::from_min_max(egui::pos2(0.0, 390.0), egui::pos2(560.0, 420.0)));
            let options = egui_kittest::SnapshotOptions::new().max_failed_pixels(30);
            if let Err(error) = window.try_snapshot_options(format!("plane-{name}-{theme}"), &options) {
                failures.push(error.to_string());
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

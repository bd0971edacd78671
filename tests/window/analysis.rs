//! The pane Analysis: results over all rows as colours, selections and files.

use std::path::Path;

use crate::driven::{Window, fill, press, small, until, window};
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::session::{ColoringState, PickedPoint};
use warpscope::app::state::{PaneKind, single_layout};
use warpscope::app::{AnalysisAction, AnalysisKind};

/// Two clusters on a plane with a label each; one row of the first has the label of the second.
fn labelled(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("labelled.csv");
    let mut rows = String::from("a,b,class\n");
    for at in 0..200 {
        let (angle, far) = (f64::from(at) * 0.7, f64::from(at % 13));
        let [x, y] = [far * angle.cos(), far * angle.sin()];
        rows += &format!("{x:.3},{y:.3},{}\n{:.3},{y:.3},0\n", i32::from(at == 100), x + 500.0);
    }
    std::fs::write(&path, rows).expect("a file");
    path
}

/// The window with the file open and all its rows analysed.
fn analysed(path: &Path) -> Window {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Analysis);
    });
    window.state_mut().send(Action::OpenPath(path.to_owned()));
    until(&mut window, "the file", |app| app.session().columns.is_some() && app.session().cloud.is_some());
    until(&mut window, "the first answer", |app| app.session().answered.is_some() && !app.is_busy());
    assert!(window.state().session().analysed().is_none());
    press(&mut window, "Analyse every row's neighbours");
    until(&mut window, "the analysis", |app| app.session().analysed().is_some());
    window.run_steps(2);
    window
}

#[test]
fn one_click_analyses_all_rows() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = analysed(&labelled(folder.path()));
    let session = window.state().session();
    let analysed = session.analysed().expect("analysed");
    assert_eq!(analysed.labels.as_deref(), Some("class"), "a column that looks like labels must be chosen");
    assert!(window.query_by_label_contains("leave-one-out accuracy 99.75 % (399 of 400)").is_some());
    press(&mut window, "Colour by local outlier factor");
    until(&mut window, "the colours", |app| {
        matches!(
            &app.session().colored,
            ColoringState::Ready(channel) if channel.title == "local outlier factor"
        )
    });
    press(&mut window, "Select them");
    until(&mut window, "the selection", |app| app.session().selection.rows().len() == 1);
    assert_eq!(
        window.state().session().selection.rows()[..],
        [200],
        "the row with neighbours of another label"
    );
}

#[test]
fn menu_commands_open_the_pane_with_the_result() {
    let mut window = window(small);
    press(&mut window, "Run");
    until(&mut window, "the run", |app| app.session().answered.is_some() && !app.is_busy());
    assert!(
        window.query_by_label("Analyse every row's neighbours").is_none(),
        "the pane is hidden behind other tabs"
    );
    window.state_mut().send(Command::Analyse);
    until(&mut window, "the analysis", |app| app.session().analysed().is_some());
    window.get_by_label("Analyse every row's neighbours");
}

#[test]
fn a_new_cloud_discards_the_analysis() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = labelled(folder.path());
    let mut window = analysed(&path);
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "x,y\n0,1\n2,3\n4,4\n").expect("a file");
    window.state_mut().send(Action::OpenPath(other));
    until(&mut window, "the other cloud", |app| {
        app.session().cloud.as_ref().is_some_and(|cloud| cloud.len() == 3)
    });
    assert!(window.state().session().analysed().is_none());
}

#[test]
fn the_knn_graph_is_exported_in_three_formats() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = analysed(&labelled(folder.path()));
    let at = |name: &str| folder.path().join(name);
    let save = |window: &mut Window, name: &str| {
        fill(window, "File", at(name).to_str().expect("a plain path"));
        press(window, "Save");
        until(window, "the file", |app| app.session().export.is_none() && at(name).exists());
    };
    window.state_mut().send(Command::ExportGraph);
    window.run_steps(3);
    window.get_by_label("The 8 nearest neighbours of 400 rows, from Analysis.");
    save(&mut window, "edges.tsv");
    let edges = std::fs::read_to_string(at("edges.tsv")).expect("text");
    assert!(
        edges.starts_with("row\trank\tneighbor\tdistance\n0\t0\t") && edges.lines().count() == 1 + 400 * 8
    );

    // Changing k discards the analysis.
    fill(&mut window, "k", "5");
    for (form, name, array) in [("SciPy matrix", "csr.npz", "indptr"), ("umap-learn", "umap.npz", "indices")]
    {
        window.state_mut().send(Command::ExportGraph);
        window.run_steps(3);
        window.get_by_label(
            "The 5 nearest neighbours of 400 rows, searched first with k and metric on the left.",
        );
        window.get_by_role_and_label(egui::accesskit::Role::RadioButton, form).click();
        window.run_steps(3);
        let offered =
            window.state().session().export.as_ref().map(|dialog| dialog.path.clone()).expect("the dialog");
        assert!(offered.ends_with(".npz"), "the suggested name has another extension than {form}: {offered}");
        fill(&mut window, "File", at("graph.csv").to_str().expect("a plain path"));
        press(&mut window, "Save");
        window.get_by_label("It is not written as .csv; end it in .npz.");
        save(&mut window, name);
        let written = warpscope::cloud::formats::path_of(&at(name), array);
        let read =
            warpscope::cloud::formats::read(&written, &Default::default(), &warpscope::progress::NoProgress)
                .expect("an array");
        let expected = if form == "umap-learn" { 400 * 6 } else { 401 };
        assert_eq!(read.values.iter().count(), expected, "{form}");
    }
}

#[test]
fn rows_are_compared_with_another_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = labelled(folder.path());
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Analysis);
    });
    window.state_mut().send(Action::OpenPath(path.clone()));
    until(&mut window, "the first answer", |app| {
        app.session().columns.is_some() && app.session().answered.is_some() && !app.is_busy()
    });
    // The same rows, rotated, have the same neighbours.
    let text = std::fs::read_to_string(&path).expect("text");
    let turned: String = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).collect::<Vec<_>>())
        .map(|xy| format!("-{},{}\n", xy[1], xy[0]))
        .collect();
    let other = folder.path().join("turned.csv");
    std::fs::write(&other, format!("u,v\n{}", turned.replace("--", ""))).expect("a file");
    window.state_mut().send(AnalysisAction::Compare(AnalysisKind::Overlap, other));
    until(&mut window, "the overlap", |app| app.session().file_comparison(AnalysisKind::Overlap).is_some());
    assert!(window.query_all_by_label_contains("in common with turned.csv: mean 1").next().is_some());
    press(&mut window, "Colour by overlap with another file");
    until(&mut window, "the colours", |app| {
        matches!(
            &app.session().colored,
            ColoringState::Ready(channel) if channel.title.contains("turned.csv")
        )
    });

    // The test file has rows 0 and 1, and one row close to row 2.
    let test = folder.path().join("test.csv");
    let row = |line: usize| {
        text.lines()
            .nth(line + 1)
            .expect("a row")
            .split(',')
            .take(2)
            .map(|value| value.parse::<f64>().expect("a number"))
            .collect::<Vec<_>>()
    };
    let (a, b, c) = (row(0), row(1), row(2));
    std::fs::write(&test, format!("a,b\n{},{}\n{},{}\n{},{}\n", a[0], a[1], b[0], b[1], c[0] + 0.01, c[1]))
        .expect("a file");
    window.state_mut().send(AnalysisAction::Compare(AnalysisKind::Leaks, test));
    until(&mut window, "the leaks", |app| app.session().file_comparison(AnalysisKind::Leaks).is_some());
    assert!(window.query_all_by_label_contains("2 of 3 rows of test.csv").next().is_some());
    let leaking = |window: &Window| {
        window.state().session().file_comparison(AnalysisKind::Leaks).map(|leaks| leaks.leaking_rows().len())
    };
    let exactly = leaking(&window);
    fill(&mut window, "within", "0.05");
    until(&mut window, "the count", |app| {
        app.session().file_comparison(AnalysisKind::Leaks).is_some_and(|leaks| leaks.eps() == Some(0.05))
    });
    assert!(window.query_all_by_label_contains("3 of 3 rows of test.csv").next().is_some());
    assert!(leaking(&window) > exactly);
    let rows = leaking(&window).expect("leaks");
    press(&mut window, &format!("Select {rows} rows here"));
    until(&mut window, "the selection", |app| app.session().selection.rows().len() == rows);

    let fewer = folder.path().join("fewer.csv");
    std::fs::write(&fewer, "u,v\n0,1\n2,3\n").expect("a file");
    window.state_mut().send(AnalysisAction::Compare(AnalysisKind::Overlap, fewer));
    until(&mut window, "the reason", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.contains("the clouds have different rows"))
    });
}

#[test]
fn rows_that_disagree_are_seen_and_stepped_through() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pictures.csv");
    let names: Vec<String> = (0..16).map(|pixel| format!("pixel{pixel}")).collect();
    // Bright and dark pictures; three of them have the other's label.
    let rows: String = (0..120)
        .map(|row| {
            let bright = row % 2;
            let pixels: Vec<String> =
                (0..16).map(|pixel| (bright * 200 + (row * 7 + pixel * 5) % 31).to_string()).collect();
            format!("{},{}\n", pixels.join(","), (bright + i32::from([30, 61, 90].contains(&row))) % 2)
        })
        .collect();
    std::fs::write(&path, format!("{},label\n{rows}", names.join(","))).expect("a file");
    let mut window = analysed(&path);
    press(&mut window, "Select them");
    until(&mut window, "the selection", |app| app.session().selection.rows()[..] == [30, 61, 90]);
    // In the pane and in the right panel.
    assert_eq!(window.query_all_by_label("1 to 3 of 3 selected rows").count(), 2);
    let captions = ["0 among 1", "1 among 0"].map(|caption| window.query_all_by_label(caption).count());
    assert_eq!(captions, [2, 4], "row 61 is labelled 0, rows 30 and 90 are labelled 1");
    for row in [30, 61, 90, 30] {
        window.key_press(egui::Key::N);
        until(&mut window, "the next row", |app| app.session().picked == Some(PickedPoint::Row(row)));
    }
    window.key_press(egui::Key::P);
    until(&mut window, "the previous row", |app| app.session().picked == Some(PickedPoint::Row(90)));
}

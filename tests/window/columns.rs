//! Columns and rows of a file that is opened in the window.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::driven::{Window, fill, press, small, until, window};
use egui::accesskit::Role;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::{Action, Command};
use warpscope::app::selection::{SelectAction, SelectMode};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::PaneKind;
use warpscope::app::{ColorAction, ColorBy, ColorView};
use warpscope::knn::Metric;

fn shows(window: &mut Window, rows: usize, dims: usize) {
    until(window, "the cloud and its answer", |app| {
        let session = app.session();
        let is_it = session.cloud.as_ref().is_some_and(|cloud| (cloud.len(), cloud.dims()) == (rows, dims));
        is_it && session.columns.is_some() && session.listed_columns().is_some() && !app.is_busy()
    });
}

fn open(window: &mut Window, path: &Path, rows: usize, dims: usize) {
    window.state_mut().send(Action::OpenPath(path.to_owned()));
    shows(window, rows, dims);
}

/// 40 flowers: four numbers, a number with few values, and two texts with uninformative headings.
fn flowers(folder: &Path) -> PathBuf {
    let row = |at: usize| {
        let at_f = at as f64;
        let kind = ["red", "blue"][at % 2];
        format!(
            "{},{},{},{},{},{kind},flower {at}\n",
            at_f * 0.5,
            (at * 7 % 40) as f64 * 0.25,
            at_f.sin(),
            at_f.cos(),
            at % 3
        )
    };
    let path = folder.join("flowers.csv");
    std::fs::write(&path, format!("a,b,c,d,class,w,v\n{}", (0..40).map(row).collect::<String>()))
        .expect("a file");
    path
}

#[test]
fn column_roles_can_be_changed_and_are_remembered() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = flowers(folder.path());
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "x,y\n1,2\n3,4\n5,7\n").expect("a file");
    let mut window = window(small);
    open(&mut window, &path, 40, 4);
    press(&mut window, "Columns…");
    // Roles are inferred: a class by its heading, a name by its unique values.
    window.get_by_label_contains("4 coordinates, label class, name v");
    until(&mut window, "the first rows", |app| app.tasks() == 0);
    window.get_by_label("0, 0.5, 1, 1.5");
    window.get_by_label("red, blue, red, blue");
    assert!(
        window.get_by_role_and_label(Role::Button, "w: Coordinate").accesskit_node().is_disabled(),
        "text cannot be a coordinate"
    );

    press(&mut window, "w: Label");
    press(&mut window, "d: Coordinate");
    press(&mut window, "Use these");
    shows(&mut window, 40, 3);
    let check = |window: &Window| {
        let (state, session) = (window.state().state(), window.state().session());
        assert_eq!(state.draft.columns, "a,b,c");
        let axes: Vec<&str> =
            session.cloud.as_ref().expect("a cloud").axes().iter().map(|axis| axis.name.as_str()).collect();
        assert_eq!(axes, ["a", "b", "c"]);
        assert_eq!(session.roles.sentence().as_deref(), Some("label w, name v"));
        let said = session.answer_sentence().expect("an answer");
        assert!(
            said.contains("Nearest to flower ") && (said.contains(", red") || said.contains(", blue")),
            "{said}"
        );
        window.get_by_label("Label w, name v");
        // The column used for colours is the label.
        assert!(matches!(
            &session.colored,
            warpscope::app::session::ColoringState::Ready(channel) if channel.title == "w"
        ));
    };
    until(&mut window, "the colours", |app| {
        matches!(app.session().colored, warpscope::app::session::ColoringState::Ready(_))
    });
    check(&window);

    // Opens another file, then this one again.
    open(&mut window, &other, 3, 2);
    assert!(window.state().session().roles.sentence().is_none());
    open(&mut window, &path, 40, 3);
    until(&mut window, "the colours", |app| {
        matches!(app.session().colored, warpscope::app::session::ColoringState::Ready(_))
    });
    check(&window);

    // Typing the path has the same effect.
    open(&mut window, &other, 3, 2);
    fill(&mut window, "Path", path.to_str().expect("a plain path"));
    press(&mut window, "Load");
    shows(&mut window, 40, 3);
    until(&mut window, "the colours", |app| {
        matches!(app.session().colored, warpscope::app::session::ColoringState::Ready(_))
    });
    check(&window);

    // A session stores the roles, even without settings of the file.
    let kept = window.state().session_text().expect("a session");
    let mut again = crate::driven::window(small);
    again.state_mut().restore_session(&kept);
    shows(&mut again, 40, 3);
    until(&mut again, "the colours", |app| {
        matches!(app.session().colored, warpscope::app::session::ColoringState::Ready(_))
    });
    check(&again);

    press(&mut window, "Columns…");
    press(&mut window, "Guess again");
    shows(&mut window, 40, 4);
    assert!(window.state().state().file_roles.is_empty());
    assert_eq!(window.state().session().roles.sentence().as_deref(), Some("label class"));
}

#[test]
fn columns_and_questions_can_be_undone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = flowers(folder.path());
    let mut window = window(small);
    open(&mut window, &path, 40, 4);
    let do_it = |window: &mut Window, command: Command| {
        window.state_mut().send(command);
        window.run_steps(3);
    };
    let (k, columns) = (window.state().state().draft.k.clone(), window.state().state().draft.columns.clone());
    fill(&mut window, "k", "5");
    until(&mut window, "five neighbours", |app| {
        app.session().answered.as_ref().is_some_and(|answered| answered.record.spec.k == 5)
    });
    // A focused text field has its own undo.
    window.state_mut().send(Action::SelectRank(None));
    do_it(&mut window, Command::Undo);
    assert_eq!(window.state().state().draft.k, k);
    do_it(&mut window, Command::Redo);
    assert_eq!(window.state().state().draft.k, "5");

    press(&mut window, "Columns…");
    press(&mut window, "d: Coordinate");
    press(&mut window, "Use these");
    shows(&mut window, 40, 3);
    do_it(&mut window, Command::Undo);
    shows(&mut window, 40, 4);
    do_it(&mut window, Command::Redo);
    shows(&mut window, 40, 3);
    do_it(&mut window, Command::Undo);
    shows(&mut window, 40, 4);
    assert_eq!(window.state().state().draft.columns, columns);
}

#[test]
fn other_columns_of_the_same_rows_change_nothing_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("towns.csv");
    let row = |at: usize| format!("{},{},{}\n", at * 7 % 90, at * 11 % 80, at * at);
    std::fs::write(&path, format!("lon,lat,people\n{}", (0..40).map(row).collect::<String>()))
        .expect("a file");
    let mut window = window(small);
    open(&mut window, &path, 40, 2);
    fill(&mut window, "k", "5");
    press(&mut window, "L2");
    window.state_mut().send(Action::PickRow(9));
    window.state_mut().send(SelectAction::rows(vec![3, 4], SelectMode::Replace, "two"));
    let by = ColorBy::Axis(1);
    window.state_mut().send(ColorAction::Set(ColorView { by, ..ColorView::default() }));
    until(&mut window, "the answer", |app| {
        let session = app.session();
        let answered = session.answered.as_ref().map(|answered| (answered.row(), answered.record.spec.k));
        answered == Some((9, 5)) && session.selection.rows().len() == 2 && !app.is_busy()
    });
    let until_axes = |window: &mut Window, names: [&str; 2]| {
        until(window, "the columns", |app| {
            let session = app.session();
            let cloud = session.cloud.as_ref().filter(|_| session.answered.is_some() && !app.is_busy());
            cloud.is_some_and(|cloud| cloud.axes().iter().map(|axis| axis.name.as_str()).eq(names))
        });
    };
    let check = |window: &Window, by: ColorBy| {
        let (state, session) = (window.state().state(), window.state().session());
        assert_eq!((state.draft.k.as_str(), state.draft.metric), ("5", Metric::L2));
        assert_eq!((session.picked, &session.selection.rows()[..]), (Some(PickedPoint::Row(9)), &[3, 4][..]));
        assert_eq!(state.color.by, by);
    };
    press(&mut window, "Columns…");
    press(&mut window, "lon: Coordinate");
    press(&mut window, "people: Coordinate");
    press(&mut window, "Use these");
    until_axes(&mut window, ["lat", "people"]);
    check(&window, ColorBy::Axis(0));
    let undo = |window: &mut Window| {
        window.state_mut().send(Command::Undo);
        window.run_steps(3);
    };
    undo(&mut window);
    until_axes(&mut window, ["lon", "lat"]);
    check(&window, ColorBy::Axis(1));
    // The steps of before can still be undone.
    for _ in 0..4 {
        undo(&mut window);
    }
    let metric = window.state().state().draft.metric;
    assert_eq!((metric, window.state().session().selection.rows().len()), (Metric::Haversine, 0));
    for _ in 0..5 {
        window.state_mut().send(Command::Redo);
        window.run_steps(3);
    }
    until_axes(&mut window, ["lat", "people"]);
    check(&window, ColorBy::Axis(0));
}

#[test]
fn changing_the_label_does_not_reread_coordinates() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = flowers(folder.path());
    let mut window = window(small);
    open(&mut window, &path, 40, 4);
    let cloud = window.state().session().cloud.clone().expect("a cloud");
    press(&mut window, "Columns…");
    press(&mut window, "w: Name");
    press(&mut window, "class: Label");
    press(&mut window, "Use these");
    until(&mut window, "no colours", |app| {
        matches!(app.session().colored, warpscope::app::session::ColoringState::Nothing)
    });
    let session = window.state().session();
    assert!(std::sync::Arc::ptr_eq(&cloud, session.cloud.as_ref().expect("the same")));
    assert_eq!(session.roles.sentence().as_deref(), Some("name w"));
    assert!(
        session
            .answer_sentence()
            .is_some_and(|said| said.contains("Nearest to red") || said.contains("Nearest to blue"))
    );
    assert!(session.left_out.is_empty(), "the choice was lost");
}

#[test]
fn many_columns_can_be_set_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wide.csv");
    let row = |cell: &dyn Fn(usize) -> String| (0..784).map(cell).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..8).map(|at| row(&|column| (at * column).to_string())).collect();
    std::fs::write(&path, format!("{}\n{}\n", row(&|at| format!("pixel{at}")), rows.join("\n")))
        .expect("a file");
    let mut window = window(small);
    open(&mut window, &path, 8, 784);
    press(&mut window, "Columns…");
    let drawn = window
        .query_all_by_role(Role::Button)
        .filter(|button| button.accesskit_node().label().is_some_and(|label| label.ends_with(": Label")))
        .count();
    assert!((5..60).contains(&drawn), "{drawn} rows are drawn");
    press(&mut window, "pixel2: Coordinate");
    window.get_by_role_and_label(Role::Button, "pixel6: Coordinate").click_modifiers(egui::Modifiers::SHIFT);
    window.run_steps(3);
    window.get_by_label_contains("779 coordinates");
    press(&mut window, "Use these");
    shows(&mut window, 8, 779);
    assert_eq!(window.state().state().draft.columns, "0-1,7-783");
    press(&mut window, "Columns…");
    press(&mut window, "All numbers");
    window.get_by_label_contains("784 coordinates");
    // Closing the dialog changes nothing.
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(window.state().session().columns_dialog.is_none());
    assert_eq!(window.state().session().cloud.as_ref().map(|cloud| cloud.dims()), Some(779));
}

#[test]
fn files_with_unusable_rows_open_after_confirmation() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gaps.csv");
    let row = |at: usize| match at {
        3 => "nan,1\n".to_owned(),
        8 | 9 => "1,\n".to_owned(),
        15 => "inf,2\n".to_owned(),
        _ => format!("{},{}\n", at * at, at),
    };
    std::fs::write(&path, format!("x,y\n{}", (0..30).map(row).collect::<String>())).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path.clone()));
    until(&mut window, "the question", |app| app.session().unusable.is_some());
    window.get_by_label("4 of 30 rows cannot be used: open without them?");
    for reason in ["row 3 (line 5): x is missing or NaN", "row 8: y is missing or NaN", "row 15: x is ∞"] {
        window.get_by_label(reason);
    }
    assert!(window.state().session().log.problem().is_none(), "a question is not an error");

    // Closing the dialog shows the error, which names the other remedy.
    press(&mut window, "Close");
    assert!(window.state().session().unusable.is_none() && window.state().session().cloud.is_none());
    let said = window.state().session().log.problem().map(|entry| entry.text.clone()).expect("an error");
    assert!(
        said.contains("line 5, row 3, column `x`: the value is NaN; tick “Drop rows with NaN or ∞”"),
        "{said}"
    );

    press(&mut window, "Load");
    until(&mut window, "the question", |app| app.session().unusable.is_some());
    press(&mut window, "Open without them");
    shows(&mut window, 26, 2);
    assert!(window.state().state().draft.drop_nonfinite);
    assert!(window.state().session().log.problem().is_none());
    window.get_by_label("4 rows dropped: 3, 8 to 9, 15");
    // The run uses the shown columns.
    fill(&mut window, "Sample size", "2");
    press(&mut window, "Run");
    crate::driven::until_answered(&mut window);
    assert_eq!(
        window.state().session().record.as_ref().map(|record| (record.summary.n, record.spec.drop_nonfinite)),
        Some((26, true))
    );

    // If a run asked, the run starts afterwards; a file without usable rows is an error at once.
    let other = folder.path().join("other.csv");
    std::fs::write(&other, "x,y\n1,2\n3,nan\n4,5\n9,9\n").expect("a file");
    fill(&mut window, "Path", other.to_str().expect("a plain path"));
    assert!(!window.state().state().draft.drop_nonfinite, "the setting is for another file");
    press(&mut window, "Run");
    until(&mut window, "the question", |app| app.session().unusable.is_some());
    window.key_press(egui::Key::Enter);
    until(&mut window, "the run", |app| {
        app.session().record.as_ref().is_some_and(|record| record.summary.n == 3) && !app.is_busy()
    });
    std::fs::write(&other, "x,y\n1,nan\n3,nan\n").expect("a file");
    window.state_mut().send(Action::OpenPath(other));
    until(&mut window, "the end", |app| {
        app.session().log.problem().is_some()
            || app.session().unusable.is_some()
            || app.session().endings.load.is_some()
    });
}

#[test]
fn a_skipped_first_line_is_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cancer.csv");
    let row = |at: usize| {
        format!("{},{},{},{}\n", (at as f64).sin(), (at as f64).cos() * 3.0, at as f64 * 0.7, at % 2)
    };
    std::fs::write(&path, format!("20,3,malignant,benign\n{}", (0..20).map(row).collect::<String>()))
        .expect("a file");
    let mut window = window(small);
    open(&mut window, &path, 20, 3);
    window.get_by_label_contains(
        "the first line, `20,3,malignant,benign`, was not read: it counts rows and columns, and names \
         classes",
    );
    // The class is distinguished from the coordinates as in any table.
    assert_eq!(window.state().session().roles.sentence().as_deref(), Some("label d3"));
}

/// A file of 30 rows of 16 numbers and a digit, with headings that name pixels.
fn numbers(folder: &Path, name: &str) -> PathBuf {
    let cells = |cell: &dyn Fn(usize) -> String| (0..16).map(cell).collect::<Vec<_>>().join(",");
    let row =
        |at: usize| format!("{},{}\n", cells(&|column| ((at * 7 + column * 3) % 17).to_string()), at % 3);
    let path = folder.join(format!("{name}.csv"));
    std::fs::write(
        &path,
        format!("{},digit\n{}", cells(&|at| format!("{name}{at}")), (0..30).map(row).collect::<String>()),
    )
    .expect("a file");
    path
}

fn pictures(window: &Window) -> usize {
    let is_picture = |label: String| label.starts_with("Picture of row ");
    window
        .query_all_by_role(Role::Image)
        .filter(|image| image.accesskit_node().label().is_some_and(is_picture))
        .count()
}

#[test]
fn image_rows_are_shown_as_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = window(small);
    window.state_mut().send(Action::Command(Command::Show(PaneKind::Neighbors)));
    // The headings identify pixels.
    open(&mut window, &numbers(folder.path(), "pixel"), 30, 16);
    assert!(pictures(&window) > 1, "next to the neighbours");
    let first = window.state().session().answered.as_ref().expect("an answer").row();
    window.get_by_label(&format!("Picture of row {first}"));

    // Numbers alone imply nothing.
    let path = numbers(folder.path(), "feature");
    open(&mut window, &path, 30, 16);
    assert_eq!(pictures(&window), 0);
    press(&mut window, "Columns…");
    press(&mut window, "Rows are pictures of 4 × 4");
    press(&mut window, "Use these");
    window.run_steps(3);
    assert!(pictures(&window) > 1);
    // The choice is remembered with the file until it is changed.
    open(&mut window, &numbers(folder.path(), "pixel"), 30, 16);
    open(&mut window, &path, 30, 16);
    assert!(pictures(&window) > 1);
    press(&mut window, "Columns…");
    press(&mut window, "Rows are no pictures");
    press(&mut window, "Use these");
    window.run_steps(3);
    assert_eq!(pictures(&window), 0);
}

#[test]
fn rows_of_square_length_can_be_shown_as_pictures() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |at: usize| {
        (0..64).map(|column| ((at * 7 + column * 3) % 17).to_string()).collect::<Vec<_>>().join(",") + "\n"
    };
    let path = folder.path().join("digits.csv");
    std::fs::write(&path, (0..30).map(row).collect::<String>()).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::Command(Command::Show(PaneKind::Neighbors)));
    open(&mut window, &path, 30, 64);
    assert_eq!(pictures(&window), 0);
    window.get_by_label("Rows look like 8 × 8 pictures.");
    press(&mut window, "Show as pictures");
    window.run_steps(3);
    assert!(pictures(&window) > 1);
    assert!(window.query_by_label("Show as pictures").is_none());
}

#[test]
fn latitude_longitude_columns_are_searched_on_the_globe() {
    let folder = tempfile::tempdir().expect("a folder");
    let row = |at: u32| format!("{},{},{at}\n", 45.0 + f64::from(at * 7 % 12), 8.0 + f64::from(at * 5 % 12));
    let content = "lat,lon,v\n".to_owned() + &(0..12).map(row).collect::<String>();
    let mut window = window(small);
    // The second file has the same positions.
    for name in ["first.csv", "second.csv"] {
        let path = folder.path().join(name);
        std::fs::write(&path, &content).expect("a file");
        window.state_mut().send(Action::OpenPath(path.clone()));
        until(&mut window, "the file and its answer", |app| {
            let session = app.session();
            let shown = session.cloud.as_ref().is_some_and(|cloud| cloud.source().to_string().contains(name));
            shown && session.listed_columns().is_some() && !app.is_busy()
        });
        window.run_steps(3);
        assert_eq!(window.state().state().draft.metric, Metric::Haversine, "{name}");
        window.get_by_label_contains("Searches lon, lat (by name)");
        window.get_by_label("1 numeric column not used.");
    }
}

#[test]
fn a_file_is_searched_with_its_declared_metric() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = include_bytes!("../../crates/cloud/src/formats/tests/hdf5/earliest.hdf5.gz");
    let mut content = Vec::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut content).expect("it is unpacked");
    let at = content.windows(9).position(|bytes| bytes == b"euclidean").expect("the attribute");
    let mut declaring = |name: &str| {
        content[at..at + 9].copy_from_slice(format!("{name:9}").as_bytes());
        let path = folder.path().join(format!("{name}.hdf5"));
        std::fs::write(&path, &content).expect("a file");
        path
    };
    let mut window = window(small);
    let cases = [
        ("angular", Metric::Angular, "Metric angular, from the file's `distance` attribute"),
        (
            "dot",
            Metric::L2,
            "The file declares the inner product, which only `warpscope knn` supports; using l2",
        ),
        (
            "hamming",
            Metric::L2,
            "The file's `distance` attribute is `hamming`, which is not supported; using l2",
        ),
        // Its columns are not longitude and latitude.
        (
            "haversine",
            Metric::L2,
            "The file declares the metric haversine, which needs longitude and latitude; using l2",
        ),
    ];
    for (name, metric, note) in cases {
        let path = declaring(name);
        window.state_mut().send(Action::OpenPath(path.clone()));
        until(&mut window, "the file and its answer", |app| {
            let session = app.session();
            let shown = session.cloud.as_ref().is_some_and(|cloud| cloud.source().to_string().contains(name));
            shown && session.listed_columns().is_some() && !app.is_busy()
        });
        assert_eq!(window.state().state().draft.metric, metric, "{name}");
        window.get_by_label_contains(note);
    }
}

//! The second view: the same rows otherwise seen, or from another file.

use std::path::{Path, PathBuf};

use crate::driven::{Window, until, window};
use egui::Rect;
use egui::accesskit::Role;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::{PaneKind, Workspace};
use warpscope::app::{ProjectionKind, SecondAction, screen_position};

const ROWS: usize = 240;

/// Points on a spiral, and the same rows with one axis stretched, which changes neighbours.
fn files(folder: &Path) -> [PathBuf; 2] {
    let spiral = |row: usize| {
        let (angle, far) = (row as f64 * 0.37, 1.0 + row as f64 / 40.0);
        [far * angle.cos(), far * angle.sin(), row as f64 / 100.0]
    };
    [("first.csv", 1.0), ("other.csv", 9.0)].map(|(name, stretch)| {
        let rows: String = (0..ROWS)
            .map(|row| {
                let [x, y, z] = spiral(row);
                format!("{x:.4},{:.4},{z:.4}\n", y * stretch)
            })
            .collect();
        let path = folder.join(name);
        std::fs::write(&path, format!("x,y,z\n{rows}")).expect("a file");
        path
    })
}

/// The nearest rows of a file's row, itself excluded.
fn nearest(path: &Path, row: usize, k: usize) -> Vec<u32> {
    let text = std::fs::read_to_string(path).expect("text");
    let points: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|value| value.parse().expect("a number")).collect())
        .collect();
    let squared = |other: &[f64]| points[row].iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let mut rows: Vec<usize> = (0..points.len()).filter(|&other| other != row).collect();
    rows.sort_by(|&a, &b| squared(&points[a]).total_cmp(&squared(&points[b])));
    rows.into_iter().take(k).map(|row| row as u32).collect()
}

fn opened(path: &Path) -> Window {
    let mut window = window(|state| {
        state.switch_to(Workspace::Explore);
        (state.draft.k, state.draft.exclude_self) = ("6".to_owned(), true);
        state.keep_settings = true;
    });
    window.state_mut().send(Action::OpenPath(path.to_owned()));
    until(&mut window, "the first answer", |app| app.session().answered.is_some() && !app.is_busy());
    window
}

fn canvas(window: &Window, name: &str) -> Rect {
    window.get_by_role_and_label(Role::Canvas, name).rect()
}

#[test]
fn both_views_share_the_picked_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, _] = files(folder.path());
    let mut window = opened(&first);
    window.state_mut().send(Command::SideBySide);
    until(&mut window, "the projection", |app| app.session().second.projected.is_some());
    assert_eq!(window.state().state().second.projection.kind, ProjectionKind::Pca);
    let _ = window.get_by_role_and_label(Role::Canvas, "Space of points");
    let canvas = canvas(&window, "Second view of points");
    for row in [17, 203] {
        let at = screen_position(window.state(), PaneKind::Second, canvas, row).expect("in sight");
        assert!(canvas.contains(at), "{row}: {at:?}");
        window.hover_at(at);
        window.run_steps(2);
        window.drag_at(at);
        window.run_steps(1);
        window.drop_at(at);
        until(&mut window, "the pick", |app| app.session().picked == Some(PickedPoint::Row(row as u32)));
    }
    window.state_mut().send(Command::SideBySide);
    window.run_steps(3);
    assert!(window.query_by_role_and_label(Role::Canvas, "Second view of points").is_none());
}

#[test]
fn another_file_shows_its_own_neighbours_of_the_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let [first, other] = files(folder.path());
    let mut window = opened(&first);
    window.state_mut().send(SecondAction::Open(other.clone()));
    for row in [40, 120] {
        window.state_mut().send(Action::PickRow(row));
        until(&mut window, "both answers", |app| {
            let session = app.session();
            let answers = session.answered.as_ref().zip(session.second.answer_to(session.picked));
            answers.is_some_and(|(here, there)| [here.row(), there.row()] == [row; 2]) && !app.is_busy()
        });
        let session = window.state().session();
        let there: Vec<u32> = session
            .second
            .answer_to(session.picked)
            .expect("an answer")
            .neighbors()
            .map(|(row, _)| row)
            .collect();
        assert_eq!(there, nearest(&other, row as usize, 6));
        let here = nearest(&first, row as usize, 6);
        let common = there.iter().filter(|row| here.contains(row)).count();
        assert!(common < 6, "stretching changes neighbours");
        window.run_steps(2);
        let said = format!("{common} of 6 neighbours are the same.");
        assert!(window.query_by_label(&said).is_some(), "{said}");
    }
    window.get_by_label("Second view: other.csv");
    window.state_mut().send(SecondAction::Close);
    until(&mut window, "the same file", |app| app.session().second.other.is_none());

    let fewer = folder.path().join("fewer.csv");
    std::fs::write(&fewer, "x,y\n0,1\n2,3\n").expect("a file");
    window.state_mut().send(SecondAction::Open(fewer));
    until(&mut window, "the reason", |app| {
        app.session().log.last().is_some_and(|entry| entry.text.contains("the clouds have different rows"))
    });
    assert!(window.state().session().second.other.is_none());
}

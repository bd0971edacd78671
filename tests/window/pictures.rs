//! Pictures of panes for slides and papers, from the window and without one.

use std::path::{Path, PathBuf};

use crate::driven::{Window, fill, press, small, until, until_answered};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::state::{PaneKind, State, Workspace, single_layout};
use warpscope::app::tokens::{Palette, Theme};
use warpscope::app::{
    App, ExportKind, HeadlessOptions, PictureSize, SinglePane, check_adapter, render_headless,
};

/// Texts of controls, which no picture may contain.
const CONTROLS: [&str; 14] = [
    "Single colour",
    "Drag the ring",
    "Select",
    "Lasso",
    "More",
    "Options",
    "Log y axis",
    "Export",
    "Whole run",
    "Zoom in",
    "Drag a rectangle",
    "Esc:",
    "Tick “Profile”",
    "out of view",
];

fn drawn(pane: PaneKind) -> Window {
    check_adapter().unwrap_or_else(|error| panic!("{error:#}"));
    let mut window: Window = Harness::builder().with_size([900.0, 600.0]).wgpu().build_eframe(move |cc| {
        let mut state =
            State { look: Theme::Dark, hints: false, tree: single_layout(pane), ..State::default() };
        state.workspace = Workspace::Measure;
        small(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    window
}

/// Saves with the dialog's settings.
fn saved(window: &mut Window, path: &Path) {
    fill(window, "File", path.to_str().expect("a plain path"));
    press(window, "Save");
    until(window, "the file", |app| app.session().export.is_none() && path.is_file());
}

fn choose(window: &mut Window, size: &str) {
    window.get_by_role_and_label(Role::ComboBox, "Size").click();
    window.run_steps(3);
    window.get_by_role_and_label(Role::Button, size).click();
    window.run_steps(3);
}

#[test]
fn pictures_have_their_own_layout_without_controls() {
    let folder = tempfile::tempdir().expect("a folder");
    for pane in
        [PaneKind::Plane, PaneKind::Timings, PaneKind::Timeline, PaneKind::Merges, PaneKind::Convergence]
    {
        let mut window = drawn(pane);
        // An active tool shows a hint over the points.
        window.state_mut().send(Command::LassoTool);
        window.state_mut().send(Action::StartExport(ExportKind::Picture(pane)));
        window.run_steps(3);
        let title = window.get_by_role_and_label(Role::TextInput, "Title").value().unwrap_or_default();
        assert!(title.contains(" — "), "{pane:?}: {title}");
        choose(&mut window, "Slide 16:9");
        window.get_by_label("1920 × 1080 pixels");
        window.get_by_role_and_label(Role::RadioButton, "Light").click();
        window.run_steps(3);
        let png = folder.path().join(format!("{pane:?}.png"));
        saved(&mut window, &png);
        let picture = image::open(&png).expect("a PNG").into_rgb8();
        assert_eq!(picture.dimensions(), (1920, 1080));
        let [r, g, b, _] = Palette::LIGHT.canvas.to_array();
        assert_eq!(picture.get_pixel(2, 1077).0, [r, g, b], "{pane:?}: the background is not light");

        // The settings are remembered for the next picture.
        window.state_mut().send(Action::StartExport(ExportKind::Picture(pane)));
        window.run_steps(3);
        choose(&mut window, "Column 85 mm");
        fill(&mut window, "Title", "Mine & others");
        let svg = folder.path().join(format!("{pane:?}.svg"));
        saved(&mut window, &svg);
        let text = std::fs::read_to_string(&svg).expect("an SVG");
        resvg::usvg::Tree::from_str(&text, &resvg::usvg::Options::default()).expect("valid data");
        assert!(
            text.contains("width=\"85mm\" height=\"64mm\"") && text.contains(">Mine &amp; others</text>"),
            "{pane:?}"
        );
        assert!(text.contains("@font-face{font-family:Ubuntu;"), "{pane:?}: wrong font");
        assert!(text.contains(&format!("style=\"fill:#{r:02x}{g:02x}{b:02x}\"")), "{pane:?}: still light");
        for words in CONTROLS {
            assert!(!text.contains(words), "{pane:?} has “{words}” in it");
        }
        if pane == PaneKind::Plane {
            assert!(
                text.contains(">query</text>") && text.contains(">neighbours</text>"),
                "the legend is incomplete"
            );
            // Without a legend, the picture has no such texts.
            window.state_mut().send(Action::StartExport(ExportKind::Picture(pane)));
            window.run_steps(3);
            window.get_by_role_and_label(Role::CheckBox, "Legend").click();
            window.get_by_role_and_label(Role::CheckBox, "Names of the query and its neighbours").click();
            window.run_steps(3);
            let svg = folder.path().join("plain.svg");
            saved(&mut window, &svg);
            let text = std::fs::read_to_string(&svg).expect("an SVG");
            assert!(!text.contains(">query</text>"));
            let row = window.state().session().answered.as_ref().expect("an answer").row();
            assert!(text.contains(&format!(">{row}</text>")), "the query's row is not labelled");
            assert!(!window.state().state().plane.names, "the window changed");
        }
    }
}

#[test]
fn plane_pictures_show_the_same_region_at_any_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut window = drawn(PaneKind::Plane);
    // Zoomed in: the picture shows the visible region.
    window.state_mut().send(Command::FocusQuery);
    window.run_steps(10);
    let names = |window: &mut Window, size: &str, name: &str| {
        window.state_mut().send(Action::StartExport(ExportKind::Picture(PaneKind::Plane)));
        window.run_steps(3);
        choose(window, size);
        let path = folder.path().join(name);
        saved(window, &path);
        std::fs::read_to_string(path).expect("an SVG").matches("<circle").count()
    };
    let (usual, narrow) =
        (names(&mut window, "As in the window", "a.svg"), names(&mut window, "Column 85 mm", "b.svg"));
    assert!(usual > 8 && narrow >= usual, "{usual}, {narrow}: the query and its neighbours are circles");
}

#[test]
fn engines_are_compared_before_their_pane_is_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("engines.svg");
    let alone = SinglePane {
        pane: PaneKind::Engines,
        size: PictureSize::Window,
        title: None,
        legend: true,
        names: false,
    };
    let show = HeadlessOptions {
        generator: Some("uniform:n=500,d=4".to_owned()),
        queries: Some(20),
        repeats: Some(2),
        size: [1280, 800],
        look: Theme::Light,
        scale: 1.0,
        pane: Some(alone),
        ..HeadlessOptions::default()
    };
    render_headless(&show, std::slice::from_ref(&svg)).unwrap_or_else(|error| panic!("{error:#}"));
    let text = std::fs::read_to_string(&svg).expect("a picture");
    for said in [
        "20 queries among 500 points, d = 4",
        "engines gave the same neighbours, bit for bit.",
        ">equal<",
        ">radix-select<",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(!text.contains(">Run<") && !text.contains(">Show<"), "a picture has no buttons");
}

#[test]
fn a_single_pane_is_drawn_without_a_display() {
    check_adapter().unwrap_or_else(|error| panic!("{error:#}"));
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("towns.csv");
    let rows: Vec<String> =
        (0..400).map(|i| format!("{},{},Town {i}", (i * 37) % 101, (i * 61) % 97)).collect();
    std::fs::write(&data, format!("x,y,town\n{}\n", rows.join("\n"))).expect("a file");
    let alone =
        SinglePane { pane: PaneKind::Plane, size: PictureSize::Page, title: None, legend: true, names: true };
    let show = HeadlessOptions {
        file: Some(data),
        size: [1280, 800],
        look: Theme::Light,
        scale: 1.0,
        pane: Some(alone),
        ..HeadlessOptions::default()
    };
    let files: [PathBuf; 2] = ["a.png", "a.svg"].map(|name| folder.path().join(name));
    assert_eq!(render_headless(&show, &files).unwrap_or_else(|error| panic!("{error:#}")), files);
    let (width, _) = image::image_dimensions(&files[0]).expect("a PNG");
    assert_eq!(width, 2126, "180 mm at 300 dpi");
    let text = std::fs::read_to_string(&files[1]).expect("an SVG");
    assert!(
        text.contains("width=\"180mm\"") && text.contains(" — towns.csv</text>") && text.contains(">Town "),
        "its title and its names"
    );
}

//! The table of neighbours: columns, scrolling, clicks, and copying.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::driven::{Window, fill, press, small, until, until_answered, window};
use egui::{Modifiers, Pos2};
use egui_kittest::kittest::Queryable as _;
use warpscope::app::commands::{Action, Command};
use warpscope::app::session::PickedPoint;
use warpscope::app::state::PaneKind;
use warpscope::app::tokens::Palette;
use warpscope::app::{DataKind, ExportKind, screen_position};
use warpscope::run::EngineChoice;

const CTRL: Modifiers = Modifiers::COMMAND;

fn position_of(window: &Window, row: u32) -> Pos2 {
    let rect = window.get_by_role_and_label(egui::accesskit::Role::Canvas, "Plane of points").rect();
    screen_position(window.state(), PaneKind::Plane, rect, row as usize).expect("in sight")
}

fn selected(window: &Window) -> BTreeSet<u32> {
    window.state().session().selection.rows().iter().copied().collect()
}

fn click(window: &mut Window, pos: Pos2, modifiers: Modifiers) {
    window.event(egui::Event::ModifiersChanged(modifiers));
    window.hover_at(pos);
    window.run_steps(1);
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers,
        });
        window.run_steps(1);
    }
    window.event(egui::Event::ModifiersChanged(Modifiers::NONE));
    // Long enough that the next click is not part of a double click.
    window.run_steps(40);
}

fn palette(window: &Window) -> &'static Palette {
    Palette::for_look(window.state().state().look, &window.ctx.global_style().visuals)
}

#[test]
fn rows_of_neighbours_select_and_highlight_their_points() {
    let mut window = window(small);
    press(&mut window, "Run");
    until_answered(&mut window);
    press(&mut window, "Neighbours");
    window.run_steps(3);
    let neighbors: Vec<u32> = window
        .state()
        .session()
        .answered
        .as_ref()
        .expect("an answer")
        .neighbors()
        .map(|(row, _)| row)
        .collect();
    let rank = |window: &Window, rank: usize| {
        let texts = [format!("  {}", rank + 1), format!("● {}", rank + 1)];
        let node = texts.iter().find_map(|text| window.query_by_label(text));
        node.unwrap_or_else(|| panic!("no row of rank {rank}")).rect().center()
    };
    assert!(window.query_by_label("  0").is_none(), "ranks are from 1 on screen");
    let pos = rank(&window, 1);
    click(&mut window, pos, Modifiers::NONE);
    assert_eq!(selected(&window), [neighbors[1]].into());
    assert_eq!(window.state().session().rank, Some(1));
    let pos = rank(&window, 4);
    click(&mut window, pos, Modifiers::SHIFT);
    assert_eq!(selected(&window), neighbors[1..=4].iter().copied().collect());
    window.get_by_label("● 3");
    let pos = rank(&window, 2);
    click(&mut window, pos, CTRL);
    assert_eq!(selected(&window), [neighbors[1], neighbors[3], neighbors[4]].into());
    assert_eq!(window.state().session().rank, None, "what was taken away is not the chosen one");
    // Neighbours keep their colour inside the ring of a selection.
    let ringed = |row: u32| {
        let place = position_of(&window, row);
        window.output().shapes.iter().any(|shape| match shape.shape {
            egui::Shape::Circle(circle) => {
                circle.center.distance(place) < 0.5 && circle.stroke.color == palette(&window).selected
            }
            _ => false,
        })
    };
    assert_eq!([1, 3, 4, 5].map(|rank| ringed(neighbors[rank])), [true, true, true, false]);
    // The pointer is still there: its point is highlighted in the views.
    assert_eq!(
        window.state().session().hovered.map(|hovered| hovered.what),
        Some(PickedPoint::Row(neighbors[2]))
    );
}

/// 60 towns at distinct positions, with names and populations.
fn towns(folder: &Path) -> String {
    let path = folder.join("towns.csv");
    let rows: Vec<String> = (0..60)
        .map(|i| format!("town {i},{},{},{}", (i * 37) % 101, (i * 61) % 97, i * 1000 + 500))
        .collect();
    std::fs::write(&path, format!("name,x,y,people\n{}\n", rows.join("\n"))).expect("a file");
    path.display().to_string()
}

/// The contents of the clipboard.
fn copied(window: &mut Window) -> String {
    for _ in 0..20 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                return text.clone();
            }
        }
    }
    panic!("nothing was copied");
}

/// The ranks of the table's rows, from the top.
fn ranks(window: &Window, most: usize) -> Vec<usize> {
    let at = |rank: usize| {
        [format!("  {}", rank + 1), format!("● {}", rank + 1)]
            .iter()
            .find_map(|text| window.query_by_label(text))
            .map(|node| node.rect().top())
    };
    let mut ranks: Vec<(f32, usize)> = (0..most).filter_map(|rank| Some((at(rank)?, rank))).collect();
    ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranks.into_iter().map(|(_, rank)| rank).collect()
}

#[test]
fn heading_clicks_cycle_the_sort_order() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = towns(folder.path());
    let mut window = window(move |state| {
        small(state);
        (state.draft.data, state.draft.path, state.draft.columns) = (DataKind::File, path, "x,y".to_owned());
        (state.show_selection, state.show_problem) = (false, false);
        state.tree = warpscope::app::state::single_layout(PaneKind::Neighbors);
    });
    window.state_mut().send(warpscope::app::commands::Command::Run);
    until_answered(&mut window);
    until(&mut window, "the names", |app| app.session().listed_columns().is_some());
    let by_rank: Vec<usize> = (0..8).collect();
    assert_eq!(ranks(&window, 8), by_rank, "sorted by distance by default");
    let answered = window.state().session().answered.clone().expect("an answer");
    let rows: Vec<u32> = answered.neighbors().map(|(row, _)| row).collect();
    let mut expected = by_rank.clone();
    // The population grows with the row number.
    expected.sort_by_key(|&rank| rows[rank]);
    press(&mut window, "people");
    assert_eq!(ranks(&window, 8), expected);
    press(&mut window, "people, sorted ascending");
    expected.reverse();
    assert_eq!(ranks(&window, 8), expected);
    // Shift selects rows in the shown order.
    let at = |window: &Window, rank: usize| window.get_by_label(&format!("  {}", rank + 1)).rect().center();
    let first = at(&window, expected[1]);
    click(&mut window, first, Modifiers::NONE);
    let third = at(&window, expected[3]);
    click(&mut window, third, Modifiers::SHIFT);
    assert_eq!(selected(&window), expected[1..=3].iter().map(|&rank| rows[rank]).collect());
    // The sort order is kept for a new answer and can be changed by keyboard.
    press(&mut window, "people, sorted descending");
    assert_eq!(ranks(&window, 8), by_rank);
    window.get_by_role_and_label(egui::accesskit::Role::Button, "name").focus();
    window.run_steps(2);
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
    window.get_by_role_and_label(egui::accesskit::Role::Button, "name, sorted ascending");
}

/// The file rows of a table of points, from the top.
fn listed(window: &Window, most: u32) -> Vec<u32> {
    let at = |row: u32| {
        [format!("  {row}"), format!("● {row}")]
            .iter()
            .find_map(|text| window.query_by_label(text))
            .map(|node| node.rect().top())
    };
    let mut rows: Vec<(f32, u32)> = (0..most).filter_map(|row| Some((at(row)?, row))).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    rows.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn all_points_can_be_sorted_filtered_and_selected() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = towns(folder.path());
    let mut window = window(|state| {
        (state.show_selection, state.show_problem) = (false, false);
        state.tree = warpscope::app::state::single_layout(PaneKind::Points);
    });
    window.state_mut().send(Action::OpenPath(path.into()));
    until(&mut window, "the names", |app| {
        !app.is_busy() && app.session().points.page.as_ref().is_some_and(|page| page.cells().is_some())
    });
    window.run_steps(3);
    assert!(listed(&window, 60).starts_with(&[0, 1, 2, 3]), "in the file's order");
    let sorted = |app: &warpscope::app::App| {
        app.session().points.wait(app.session().table(PaneKind::Points)).is_none()
    };
    press(&mut window, "people");
    until(&mut window, "the order", sorted);
    press(&mut window, "people, sorted ascending");
    until(&mut window, "the order", sorted);
    assert!(listed(&window, 60).starts_with(&[59, 58, 57]));

    press(&mut window, "Filter");
    fill(&mut window, "Condition on people", "30,000..33,500");
    until(&mut window, "the rows", sorted);
    assert_eq!(listed(&window, 60), [33, 32, 31, 30]);
    window.get_by_label("4 of 60 rows");
    fill(&mut window, "Condition on name", "TÖWN 31");
    until(&mut window, "the rows", sorted);
    window.run_steps(3);
    assert_eq!(listed(&window, 60), [31]);
    window.get_by_label("town 31");
    fill(&mut window, "Condition on name", " ");
    until(&mut window, "the rows", sorted);
    press(&mut window, "Select these");
    assert_eq!(selected(&window), [30, 31, 32, 33].into());
    let saved = folder.path().join("listed");
    window.state_mut().send(Action::StartExport(ExportKind::Data(PaneKind::Points)));
    window.run_steps(3);
    fill(&mut window, "File", saved.to_str().expect("a plain path"));
    press(&mut window, "Save");
    let written = saved.with_extension("csv");
    until(&mut window, "the file", |app| app.session().export.is_none() && written.exists());
    let text = std::fs::read_to_string(&written).expect("a text");
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("row,x,y,name,people") && lines[1].contains("town 33"), "{text}");

    press(&mut window, "Show all");
    until(&mut window, "the rows", sorted);
    press(&mut window, "Columns of Points");
    window.get_by_role_and_label(egui::accesskit::Role::CheckBox, "people").click();
    window.run_steps(3);
    assert!(window.state().session().table(PaneKind::Points).toggled.contains("people"));
}

#[test]
fn extra_columns_of_the_file_are_joined() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = towns(folder.path());
    let mut window = window(move |state| {
        small(state);
        (state.draft.data, state.draft.path, state.draft.columns) = (DataKind::File, path, "x,y".to_owned());
        state.show_selection = false;
        state.tree = warpscope::app::state::single_layout(PaneKind::Neighbors);
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    for query in [0, 7] {
        window.state_mut().send(Action::PickQuery(query));
        until(&mut window, "the columns", |app| app.session().listed_columns().is_some() && !app.is_busy());
        let answered = window.state().session().answered.clone().expect("an answer");
        let rows: Vec<u32> = answered.neighbors().map(|(row, _)| row).collect();
        window.get_by_label("people");
        // Each value must be on the line of its row.
        let mut lines = Vec::new();
        for row in &rows {
            let name = window.get_by_label(&format!("town {row}")).rect();
            assert!(window.query_by_label(&format!("{}", row * 1000 + 500)).is_some(), "row {row}");
            lines.push(name.center().y);
        }
        assert!(lines.is_sorted(), "nearest first");

        window.state_mut().send(Action::CopyTable(PaneKind::Neighbors));
        let text = copied(&mut window);
        let copied: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(copied[0], ["rank", "index", "squared_distance", "distance", "x", "y", "name", "people"]);
        for (rank, row) in rows.iter().enumerate() {
            let line = &copied[rank + 1];
            assert_eq!((line[0], line[1]), (&*rank.to_string(), &*row.to_string()));
            assert_eq!((line[6], line[7]), (&*format!("town {row}"), &*(row * 1000 + 500).to_string()));
        }
        // The exported file has the rows and columns shown.
        let saved = folder.path().join(format!("found-{query}.tsv"));
        window.state_mut().send(Action::StartExport(ExportKind::Data(PaneKind::Neighbors)));
        window.run_steps(3);
        fill(&mut window, "File", saved.to_str().expect("a plain path"));
        press(&mut window, "Save");
        until(&mut window, "the file", |app| app.session().export.is_none() && saved.exists());
        assert_eq!(std::fs::read_to_string(&saved).expect("a text"), text);
    }
}

#[test]
fn incomplete_copies_and_changed_files_are_noted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = towns(folder.path());
    let file = path.clone();
    let mut window = window(move |state| {
        small(state);
        (state.draft.data, state.draft.path, state.draft.columns) = (DataKind::File, file, "x,y".to_owned());
        state.show_selection = false;
        state.tree = warpscope::app::state::single_layout(PaneKind::Neighbors);
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    until(&mut window, "the columns", |app| app.session().listed_columns().is_some());
    let said = |window: &mut Window| {
        window.state_mut().send(Action::CopyTable(PaneKind::Neighbors));
        let header = copied(window).lines().next().map(str::to_owned).expect("a header");
        (
            header.ends_with("\tname\tpeople"),
            window.state().session().log.entries().last().expect("an entry").text.clone(),
        )
    };
    assert_eq!(said(&mut window), (true, "copied: 8 rows of Neighbours".to_owned()));

    // The columns cannot be available in the frame after the answer.
    window.state_mut().send(Action::PickQuery(7));
    while window.state().session().answered.as_ref().is_none_or(|answered| answered.query != 7) {
        window.step();
    }
    let rows = "copied: 8 rows of Neighbours, without the file's other columns";
    assert_eq!(said(&mut window), (false, format!("{rows}, which are still being read")));

    // The same towns in another order, as after sorting in a spreadsheet.
    let text = std::fs::read_to_string(&path).expect("a text");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    std::fs::write(&path, lines.join("\n")).expect("a file");
    until(&mut window, "the columns", |app| app.session().listed_columns().is_some());
    window.state_mut().send(Action::PickQuery(11));
    let answered = |app: &warpscope::app::App| {
        app.session().answered.as_ref().is_some_and(|answered| answered.query == 11)
    };
    until(&mut window, "the columns", |app| answered(app) && app.session().listed_columns().is_some());
    let changed = format!("the file has changed since its points were read; load it again: {path}");
    window.get_by_label(&changed);
    assert!(window.query_by_label_contains("town ").is_none(), "a name is next to numbers of another row");
    assert_eq!(said(&mut window), (false, format!("{rows}: {changed}")));
}

#[test]
fn columns_are_never_partially_shown() {
    let mut window = window(|state| {
        small(state);
        state.draft.generator = "uniform:n=500,d=3".to_owned();
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    press(&mut window, "Neighbours");
    window.run_steps(5);
    let neighbors: Vec<u32> = window
        .state()
        .session()
        .answered
        .as_ref()
        .expect("an answer")
        .neighbors()
        .map(|(row, _)| row)
        .collect();
    let cloud = window.state().session().cloud.clone().expect("a cloud");
    // The last digits of each coordinate, in the order of the columns.
    let seen = |window: &Window| {
        (0..3)
            .map(|axis| {
                window
                    .query_by_label(&format!("{:.6}", cloud.coordinate(neighbors[3] as usize, axis)))
                    .is_some()
            })
            .collect::<Vec<_>>()
    };
    let cut = |window: &Window| {
        let pane = window.get_by_label_contains("neighbours of query row").rect().left() - 1.0;
        let cut = |shape: &&egui::epaint::ClippedShape| match &shape.shape {
            egui::Shape::Text(text) => {
                let rect = text.visual_bounding_rect();
                let seen = rect.left() > pane
                    && shape.clip_rect.intersects(rect)
                    && rect.top() > 60.0
                    && rect.bottom() < 390.0;
                seen && (rect.right() > shape.clip_rect.right() + 1.5
                    || rect.left() < shape.clip_rect.left() - 1.5)
            }
            _ => false,
        };
        window.output().shapes.iter().filter(cut).count()
    };
    assert_eq!((seen(&window), cut(&window)), (vec![false; 3], 0));
    let mut shown = BTreeSet::new();
    let over = window.get_by_label("squared distance").rect().center() + egui::vec2(0.0, 60.0);
    window.hover_at(over);
    for _ in 0..30 {
        window.event(egui::Event::MouseWheel {
            source: egui::MouseWheelSource::Unknown,
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(-9.0, 0.0),
            phase: egui::TouchPhase::Move,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(8);
        assert_eq!(cut(&window), 0);
        shown.insert(seen(&window));
    }
    assert!(shown.contains(&vec![true; 3]), "some columns never appear: {shown:?}");
}

/// A circle of places around Oslo: their distances are in km, and their map is half as wide as high in degrees.
#[test]
fn places_are_listed_in_km_and_drawn_in_true_proportions() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("stops.csv");
    let places = (0..60).map(|at| {
        let (sin, cos) = (f64::from(at) * 0.7).sin_cos();
        format!("stop {at},{},{}\n", 60.0 + 0.1 * sin, 10.7 + 0.2 * cos)
    });
    std::fs::write(&path, "stop,lat,lon\n".to_owned() + &places.collect::<String>()).expect("a file");
    let mut window = window(small);
    window.state_mut().send(Action::OpenPath(path));
    // No run: opening a file answers one query.
    until(&mut window, "the stops", |app| {
        let session = app.session();
        let is_open = session.cloud.as_ref().is_some_and(|cloud| cloud.len() == 60);
        is_open && session.answered.is_some() && !app.is_busy()
    });
    press(&mut window, "Neighbours");
    window.run_steps(3);
    window.get_by_label("distance (km)");
    assert!(window.query_by_label("squared distance").is_none(), "a squared chord says nothing");

    press(&mut window, "Plane");
    window.run_steps(3);
    let spots: Vec<Pos2> = (0..60).map(|row| position_of(&window, row)).collect();
    let extent = |along: fn(&Pos2) -> f32| {
        let ends =
            spots.iter().map(along).fold((f32::MAX, f32::MIN), |(low, high), at| (low.min(at), high.max(at)));
        ends.1 - ends.0
    };
    let (across, up) = (extent(|at| at.x), extent(|at| at.y));
    assert!(
        (across / up - 1.0).abs() < 0.02,
        "0.4° of longitude at 60° N are 0.2° of latitude: {across} × {up}"
    );
}

/// What a frame with an answer takes: the indices of its triangles, and the shortest of several times.
fn frame_cost(window: &mut Window) -> (usize, Duration) {
    let time = |window: &mut Window| {
        let began = Instant::now();
        window.step();
        began.elapsed()
    };
    let shortest = (0..6).map(|_| time(window)).min().expect("a frame");
    let shapes = window.output().shapes.clone();
    let indices = window.ctx.tessellate(shapes, 1.0).into_iter().map(|clipped| match clipped.primitive {
        egui::epaint::Primitive::Mesh(mesh) => mesh.indices.len(),
        egui::epaint::Primitive::Callback(_) => 0,
    });
    (indices.sum(), shortest)
}

#[test]
fn frames_of_many_neighbours_take_as_long_as_frames_of_few() {
    const ROWS: usize = 60_000;
    let mut window = window(|state| {
        small(state);
        (state.draft.generator, state.draft.engine) = (format!("uniform:n={ROWS},d=3"), EngineChoice::Auto);
        (state.plane.names, state.space.names) = (true, true);
    });
    press(&mut window, "Generate");
    let panes = [PaneKind::Plane, PaneKind::Space, PaneKind::Points, PaneKind::Neighbors];
    let mut costs = |k: usize| {
        fill(&mut window, "k", &k.to_string());
        until(&mut window, "the answer", |app| {
            let answered = app.session().answered.as_ref();
            answered.is_some_and(|answered| answered.record.spec.k == k) && !app.is_busy()
        });
        panes.map(|pane| {
            window.state_mut().send(Command::Show(pane));
            window.run_steps(3);
            let noted = window.output().shapes.iter().any(|shape| match &shape.shape {
                egui::Shape::Text(text) => text.galley.text() == "2,000 of 60,000 neighbours are drawn",
                _ => false,
            });
            assert_eq!(noted, k == ROWS && matches!(pane, PaneKind::Plane | PaneKind::Space), "{pane:?}");
            frame_cost(&mut window)
        })
    };
    let (few, many) = (costs(1_000), costs(ROWS));
    for ((pane, few), many) in panes.into_iter().zip(few).zip(many) {
        assert!(many.0 < few.0 + 2_000_000, "{pane:?}: {} and {} indices", few.0, many.0);
        assert!(many.1 < 4 * few.1 + Duration::from_millis(20), "{pane:?}: {:?} and {:?}", few.1, many.1);
    }
}

#[test]
fn other_columns_are_read_of_the_nearest_neighbours_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("many.csv");
    let rows = (0..10_200).map(|row| format!("place {row},{},{}\n", row * 37 % 10_201, row * 61 % 10_207));
    std::fs::write(&path, "name,x,y\n".to_owned() + &rows.collect::<String>()).expect("a file");
    let mut window = window(|state| {
        small(state);
        state.keep_settings = true;
        (state.draft.k, state.draft.engine) = ("10100".to_owned(), EngineChoice::Auto);
    });
    window.state_mut().send(Action::OpenPath(path));
    press(&mut window, "Neighbours");
    until(&mut window, "the names", |app| app.session().listed_columns().is_some() && !app.is_busy());
    let session = window.state().session();
    let answered = session.answered.as_ref().expect("an answer");
    let columns = session.listed_columns().expect("names");
    assert_eq!((answered.neighbors().len(), columns.rows.len()), (10_100, 10_000));
    assert!(columns.rows.iter().eq(&answered.neighbor_rows()[..10_000]), "by rank");
    window.get_by_label("other columns are read for the nearest 10,000 neighbours only");
    let out = folder.path().join("neighbours.csv");
    window.state_mut().send(Action::StartExport(ExportKind::Data(PaneKind::Neighbors)));
    window.run_steps(3);
    fill(&mut window, "File", out.to_str().expect("a plain path"));
    press(&mut window, "Save");
    let said = format!("10,100 rows written: {}", out.display());
    until(&mut window, "the file", |app| app.session().log.last().is_some_and(|entry| entry.text == said));
    let left_out = "neighbours written; other columns are read for the nearest 10,000 neighbours only";
    let log = window.state().session().log.entries();
    assert!(log.iter().any(|entry| entry.text == left_out), "{log:?}");
    let mut reader = csv::Reader::from_path(&out).expect("the file");
    let name = reader.headers().expect("a header").iter().position(|name| name == "name").expect("names");
    let mut named = 0;
    for (rank, row) in reader.records().enumerate() {
        let row = row.expect("a row");
        let expected = format!("place {}", &row[1]);
        assert_eq!(&row[name], if rank < 10_000 { &expected } else { "" }, "rank {rank}");
        named += usize::from(rank < 10_000);
    }
    assert_eq!(named, 10_000);
}

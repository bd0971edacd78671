//! Keyboard use of the window: the order of Tab, the visible focus, and Enter.

use crate::driven::{Window, small, until, until_answered};
use egui::accesskit::Role;
use egui::{Key, Modifiers, Rect, Shape};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use warpscope::app::commands::{Action, Command};
use warpscope::app::state::{PaneKind, State, Workspace};
use warpscope::app::tokens::{Palette, Theme};
use warpscope::app::{App, ColorBy};

/// A window in the layout of the first start.
fn window_of_size(size: [f32; 2], change: impl FnOnce(&mut State) + 'static) -> Window {
    let mut window = Harness::builder().with_size(size).build_eframe(move |cc| {
        let mut state = State::default();
        small(&mut state);
        change(&mut state);
        App::with_state(cc, state).expect("a thread for the worker")
    });
    window.state_mut().send(Command::Run);
    until_answered(&mut window);
    window.run_steps(5);
    window
}

/// The focused element: its name, its whole rectangle, and the visible part.
struct TabStop {
    name: String,
    rect: Rect,
    seen: Rect,
}

/// The stops of Tab, from the first to the last.
#[track_caller]
fn tab_through(window: &mut Window, mut at: impl FnMut(&Window, &TabStop)) -> Vec<TabStop> {
    let (mut stops, mut ids) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        window.key_press(Key::Tab);
        window.run_steps(6);
        let Some(id) = window.ctx.memory(|memory| memory.focused()) else { continue };
        if ids.first() == Some(&id) {
            return stops;
        }
        let response = window.ctx.read_response(id).expect("it is in the window");
        let node = window
            .query_all(egui_kittest::kittest::by().predicate(|node| node.is_focused()))
            .last()
            .expect("a node");
        let name = node.accesskit_node().label().or(node.accesskit_node().value()).unwrap_or_default();
        let stop = TabStop { name, rect: response.rect, seen: response.interact_rect };
        at(window, &stop);
        ids.push(id);
        stops.push(stop);
    }
    panic!(
        "Tab does not come back to the first: {:?}",
        stops.iter().map(|stop| &stop.name).collect::<Vec<_>>()
    );
}

#[test]
fn tab_follows_reading_order_with_a_visible_focus_ring() {
    for look in [Theme::Light, Theme::Dark, Theme::HighContrast] {
        let mut window = window_of_size([1280.0, 1500.0], move |state| {
            state.look = look;
            state.color.by = ColorBy::Axis(0);
        });
        let palette = Palette::for_look(look, &window.ctx.global_style().visuals);
        let stops = tab_through(&mut window, |window, stop| {
            let ring = |shape: &Shape| match shape {
                Shape::Rect(ring) => {
                    ring.stroke.color == palette.accent
                        && ring.stroke.width >= 2.0
                        && ring.rect.distance_to_pos(stop.seen.center()) == 0.0
                        && ring.rect.contains_rect(stop.seen)
                        && ring.rect.width() <= stop.seen.width() + 4.0
                }
                _ => false,
            };
            let shown = window
                .output()
                .shapes
                .iter()
                .any(|shape| ring(&shape.shape) && shape.clip_rect.contains_rect(stop.seen));
            assert!(shown, "{look:?}: no ring around “{}”, {:?}", stop.name, stop.seen);
            assert!(!stop.name.is_empty(), "{look:?}: no name at {:?}", stop.rect);
        });
        if look != Theme::Light {
            continue;
        }
        let left = window.get_by_role_and_label(Role::Button, "Run").rect().right() + 5.0;
        let right = window.get_by_label("Selection").rect().left() - 5.0;
        let region = |rect: &Rect| match rect.center() {
            place if place.y < 26.0 => 0,
            place if place.y > 1500.0 - 32.0 => 4,
            place if place.x < left => 1,
            place if place.x > right => 3,
            _ => 2,
        };
        let names = || stops.iter().map(|stop| (region(&stop.rect), &stop.name)).collect::<Vec<_>>();
        for pair in stops.windows(2) {
            let [a, b] = [&pair[0], &pair[1]];
            let (of_a, of_b) = (region(&a.rect), region(&b.rect));
            assert!(of_a <= of_b, "“{}” comes before “{}”: {:?}", a.name, b.name, names());
            if of_a != of_b || of_a == 2 || of_a == 4 {
                continue;
            }
            let beside = (a.rect.center().y - b.rect.center().y).abs() < 12.0;
            assert!(
                if beside { b.rect.left() >= a.rect.left() } else { b.rect.center().y > a.rect.center().y },
                "“{}” comes before “{}”",
                a.name,
                b.name
            );
        }
        let place = |name: &str| {
            stops
                .iter()
                .position(|stop| stop.name == name)
                .unwrap_or_else(|| panic!("{name} is skipped: {:?}", names()))
        };
        let panes = [
            "Plane",
            "Space",
            "Maximise Plane",
            "Export Plane",
            "Plane of points",
            "Timings",
            "Runs",
            "Maximise Timings",
        ];
        let places = panes.map(place);
        assert!(places.is_sorted(), "{:?}: {:?}", panes, names());
    }
}

#[test]
fn scrolling_follows_the_focus() {
    let mut window = window_of_size([1280.0, 520.0], |state| state.hints = false);
    tab_through(&mut window, |_, stop| {
        assert!(
            stop.seen.height() >= stop.rect.height().min(200.0) * 0.7,
            "“{}” is out of sight: {:?} of {:?}",
            stop.name,
            stop.seen,
            stop.rect
        );
    });
}

fn focus(window: &mut Window, role: Role, name: &str) {
    window.get_by_role_and_label(role, name).focus();
    window.run_steps(3);
}

fn key(window: &mut Window, key: Key) {
    window.key_press(key);
    window.run_steps(4);
}

#[test]
fn enter_and_arrows_work_like_clicks() {
    let mut window = window_of_size([1280.0, 900.0], |state| state.color.by = ColorBy::Axis(0));
    // In Plane, arrows move the view and Enter queries the point in its middle.
    let before = window.state().session().picked;
    focus(&mut window, Role::Canvas, "Plane of points");
    for _ in 0..2 {
        key(&mut window, Key::ArrowRight);
    }
    key(&mut window, Key::Enter);
    until(&mut window, "another query", |app| {
        app.session().picked != before && app.session().answered.is_some() && !app.is_busy()
    });
    assert!(window.state().state().plane.window.is_some(), "the arrows moved the view");

    // In a histogram, Enter selects the bin under the cursor.
    let histogram = window
        .get_all_by_role(Role::Button)
        .filter_map(|node| node.accesskit_node().label())
        .find(|name| name.starts_with("Histogram of"));
    focus(&mut window, Role::Button, &histogram.expect("a histogram"));
    key(&mut window, Key::Enter);
    until(&mut window, "a selection", |app| !app.session().selection.is_empty());
    let first = window.state().session().selection.by().to_owned();
    key(&mut window, Key::ArrowRight);
    key(&mut window, Key::Space);
    until(&mut window, "another part", |app| app.session().selection.by() != first);

    // In Neighbours, arrows select rows.
    window.state_mut().send(Command::SelectNone);
    window.state_mut().send(Command::Show(PaneKind::Neighbors));
    window.run_steps(5);
    let rows: Vec<u32> = window
        .state()
        .session()
        .answered
        .as_ref()
        .expect("an answer")
        .neighbors()
        .map(|(row, _)| row)
        .collect();
    let row = window
        .get_all_by_role(Role::Button)
        .filter_map(|node| node.accesskit_node().label())
        .find(|name| name.starts_with("Neighbour of rank 1,"));
    focus(&mut window, Role::Button, &row.expect("the first row"));
    key(&mut window, Key::Enter);
    assert_eq!(window.state().session().rank, Some(0));
    key(&mut window, Key::ArrowDown);
    key(&mut window, Key::ArrowDown);
    assert_eq!(
        (window.state().session().rank, window.state().session().selection.rows()[..].to_vec()),
        (Some(2), vec![rows[2]])
    );
    window.key_press_modifiers(Modifiers::SHIFT, Key::ArrowUp);
    window.run_steps(4);
    assert_eq!(window.state().session().selection.rows().len(), 2);

    // In Counts, Enter selects the queries of a bar.
    window.state_mut().send(Command::SelectNone);
    window.state_mut().send(Command::Show(PaneKind::Merges));
    window.run_steps(5);
    focus(&mut window, Role::Canvas, "Histogram of merges");
    key(&mut window, Key::ArrowRight);
    key(&mut window, Key::Enter);
    until(&mut window, "queries", |app| !app.session().selection.queries().is_empty());
}

#[test]
fn every_tab_is_reachable_at_a_large_scale() {
    // 1280 × 800 pixels at scales of 150 and 200 %, with and without side panels.
    for (size, panels) in
        [([853.0, 533.0], true), ([853.0, 533.0], false), ([640.0, 400.0], true), ([640.0, 400.0], false)]
    {
        let mut window = window_of_size(size, move |state| {
            (state.show_problem, state.show_selection, state.hints) = (panels, panels, false)
        });
        for pane in Workspace::Measure.panes() {
            let screen = window.ctx.content_rect();
            let tab =
                window.query_all_by_role_and_label(Role::Button, pane.title()).next().map(|tab| tab.rect());
            let more = window
                .query_all_by_role_and_label(Role::Button, "All tabs here")
                .map(|more| more.rect())
                .find(|more| tab.is_some_and(|tab| (tab.center().y - more.center().y).abs() < 8.0));
            let alone = window.query_by_role_and_label(Role::ComboBox, "Pane").is_some();
            match (tab, more) {
                _ if alone => window.get_by_role_and_label(Role::ComboBox, "Pane").click(),
                (Some(_), Some(more)) => window
                    .get_all_by_role_and_label(Role::Button, "All tabs here")
                    .find(|button| button.rect() == more)
                    .expect("it existed")
                    .click(),
                (Some(tab), None) => {
                    assert!(screen.contains_rect(tab), "{size:?}: {pane:?} is at {tab:?}");
                    continue;
                }
                (None, _) => panic!("{size:?}: no tab of {pane:?}"),
            }
            window.run_steps(4);
            let entry = window.get_all_by_label(pane.title()).last().expect("an entry");
            entry.click();
            window.run_steps(6);
            assert_eq!(window.state().state().pane, pane, "{size:?}");
            if !alone {
                let tab = window.get_by_role_and_label(Role::Button, pane.title()).rect();
                let more = window
                    .get_all_by_role_and_label(Role::Button, "All tabs here")
                    .map(|more| more.rect())
                    .find(|more| (tab.center().y - more.center().y).abs() < 8.0);
                assert!(
                    more.is_none_or(|more| tab.right() <= more.left() + 1.0),
                    "{size:?}: the tab of {pane:?} at {tab:?} is not in sight"
                );
            }
        }
    }
}

#[test]
fn run_does_not_move_when_an_error_appears() {
    for size in [[1280.0, 800.0], [853.0, 533.0], [640.0, 400.0]] {
        let mut window = window_of_size(size, |state| state.hints = false);
        let place = |window: &Window| window.get_by_role_and_label(Role::Button, "Run").rect().top();
        let before = place(&window);
        let mut draft = window.state().state().draft.clone();
        draft.query_count = "a hundred thousand, but no number".to_owned();
        window.state_mut().send(Action::SetDraft(Box::new(draft)));
        window.run_steps(5);
        assert_eq!(place(&window), before, "{size:?}");
    }
}

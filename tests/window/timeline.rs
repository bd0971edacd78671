//! The Timeline pane, driven by accessible names.

use std::sync::Arc;

use crate::driven::{Window, press, small, until, until_answered, window};
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use warpscope::app::state::{PaneKind, State, TimingsFigure, single_layout};
use warpscope::app::tokens::Theme;
use warpscope::app::{App, check_adapter};
use warpscope::knn::{DeviceId, Lane, MAX_STREAM_SPANS, Profile, StreamPhase, StreamSpan, WarpSpan, warp};
use warpscope::run::analysis::Roofline;
use warpscope::run::{Phase, RunRecord, Sample, Timeline, UnitKind};

/// A run of the twin with the profile of a device with two multiprocessors of three warps each, two queries
/// per warp.
fn profiled(window: &Window) -> Arc<RunRecord> {
    let mut record = RunRecord::clone(window.state().session().record.as_ref().expect("a run"));
    let began_ms =
        record.samples.iter().map(|sample| sample.start_ms + sample.duration_ms).fold(0.0, f64::max);
    let mut free = [[1_000u64; 3]; 2];
    let mut profile = Profile::new(&warp::PHASES);
    for query in 0..record.query_rows.len() {
        if query % 2 == 1 {
            profile.spans.push(WarpSpan {
                stop_ns: profile.spans[query - 1].stop_ns + 500,
                ..profile.spans[query - 1]
            });
        } else {
            let (sm, warp) = ((query / 2) % 2, (query / 4) % 3);
            let start_ns = free[sm][warp];
            let stop_ns = start_ns
                + 20_000
                + 700 * u64::from(record.measured.column("candidates").expect("counters")[query]);
            free[sm][warp] = stop_ns + 1_000;
            profile.spans.push(WarpSpan { start_ns, stop_ns, sm: sm as u32, warp: warp as u32 });
        }
        profile.cycles.extend([3_000, 14_000, 800, 5_000, 2_000, 300]);
    }
    let last = profile.spans.iter().map(|span| span.stop_ns).max().expect("queries");
    record.samples.push(Sample {
        phase: Phase::Profiled,
        repeat: 0,
        chunk: 0,
        start_ms: began_ms,
        duration_ms: last as f64 / 1e6,
    });
    record.profile = Some(profile);
    record.head.spec.profile = true;
    Arc::new(record)
}

/// The pane alone, with such a run.
fn shown() -> Window {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Timeline);
    });
    press(&mut window, "Run");
    until_answered(&mut window);
    let record = profiled(&window);
    window.state_mut().show_record(record);
    until(&mut window, "the timeline", |app| {
        app.session().derived.as_ref().is_some_and(|derived| !derived.timeline.multiprocessors.is_empty())
            && app.session().answered.is_some()
    });
    window
}

fn length(window: &Window) -> f64 {
    let session = window.state().session();
    let [from, to] = session.timeline.shown(&session.derived.as_ref().expect("a new file").timeline);
    to - from
}

fn key(window: &mut Window, key: egui::Key) {
    window.key_press(key);
    window.run_steps(3);
}

#[test]
fn keys_zoom_pan_and_fit_the_timeline() {
    let mut window = shown();
    let whole = length(&window);
    window.get_by_label_contains("The whole run");
    key(&mut window, egui::Key::W);
    assert!((length(&window) / whole - 0.5).abs() < 1e-6);
    let from = |window: &Window| window.state().session().timeline.window.expect("a part")[0];
    let before = from(&window);
    key(&mut window, egui::Key::D);
    assert!((from(&window) - before - whole / 8.0).abs() < 1e-6 * whole, "a quarter of what is shown");
    key(&mut window, egui::Key::A);
    assert!((from(&window) - before).abs() < 1e-6 * whole);
    key(&mut window, egui::Key::S);
    assert_eq!(window.state().session().timeline.window, None, "back to all of it");
    press(&mut window, "Zoom in on time");
    press(&mut window, "Whole run");
    assert_eq!(window.state().session().timeline.window, None);
}

#[test]
fn a_multiprocessor_expands_and_a_warp_selects_its_queries() {
    let mut window = shown();
    press(&mut window, "Show the warps of SM 1");
    window.get_by_role_and_label(Role::Button, "Hide the warps of SM 1");
    assert!(window.state().session().timeline.open.contains(&1));

    // F fits the picked query's warp to the pane: its middle is in the middle.
    let canvas = window.get_by_role_and_label(Role::Canvas, "Tracks of the run").rect();
    window.hover_at(canvas.center());
    window.run_steps(2);
    key(&mut window, egui::Key::F);
    let session = window.state().session();
    let timeline: &Timeline = &session.derived.as_ref().expect("a new file").timeline;
    let query = session.answered.as_ref().expect("picked").query as u32;
    let (at, track, place) = timeline.position_of(query).expect("it has a warp");
    let warp = &timeline.multiprocessors[at].tracks[track][place];
    let [from, to] = session.timeline.window.expect("a part");
    assert!(from < warp.start_us && warp.stop_us < to && (to - from) < 1.3 * (warp.stop_us - warp.start_us));
    assert!(session.timeline.open.contains(&timeline.multiprocessors[at].sm));
    assert!(warp.queries.len() == 2 && warp.queries.contains(&query));
    let queries: Vec<u32> = warp.queries.clone().collect();

    // Rows: other work, phases, the heading, SM 0 with three tracks, SM 1. The warp is on its slot's track.
    assert!(!timeline.untimed.is_empty());
    let above: f32 = (1 + timeline.phases.len()) as f32 * 22.0
        + 26.0
        + at as f32 * (22.0 + 3.0 * 16.0)
        + 22.0
        + track as f32 * 16.0;
    let canvas = window.get_by_role_and_label(Role::Canvas, "Tracks of the run").rect();
    let middle = egui::pos2(canvas.center().x, canvas.top() + above + 8.0);
    window.hover_at(middle);
    window.run_steps(2);
    window.get_by_label_contains("warp slot");
    for pressed in [true, false] {
        window.event(egui::Event::PointerButton {
            pos: middle,
            button: egui::PointerButton::Primary,
            pressed,
            modifiers: egui::Modifiers::NONE,
        });
        window.step();
    }
    until(&mut window, "the selection", |app| !app.session().selection.is_empty());
    assert_eq!(window.state().session().selection.queries()[..], queries[..]);
}

/// A run whose points are copied in tiles to two GPUs: while one stream of a GPU searches a tile, the other
/// copies the next.
fn streamed(window: &mut Window) -> RunRecord {
    press(window, "Run");
    until_answered(window);
    let mut record = RunRecord::clone(window.state().session().record.as_ref().expect("a run"));
    let sample = |phase, start_ms, duration_ms| Sample { phase, repeat: 0, chunk: 0, start_ms, duration_ms };
    record.samples = vec![sample(Phase::Search, 4.0, 68.0), sample(Phase::Download, 72.0, 0.5)];
    record.measured = Default::default();
    record.convergence = Default::default();
    let mut free_ms = [[4.0, 10.0], [5.0, 13.0]];
    for tile in 0..12 {
        let (gpu, stream) = (tile % 2, tile / 2 % 2);
        let lane = Lane { device: DeviceId::Gpu(gpu), stream: Some(stream) };
        let free = &mut free_ms[gpu as usize][stream as usize];
        let wait = if tile % 5 == 3 { 1.4 } else { 0.0 };
        for (phase, duration_ms) in [
            (StreamPhase::Copy, 6.5),
            (StreamPhase::Index, 1.5),
            (StreamPhase::Search, 9.0),
            (StreamPhase::Download, 1.0),
            (StreamPhase::Wait, wait),
            (StreamPhase::Merge, 0.8),
        ] {
            record.stream_spans.push(StreamSpan {
                lane,
                phase,
                tile: Some(tile),
                start_ms: *free,
                duration_ms,
            });
            *free += duration_ms;
        }
    }
    record
}

#[test]
fn streams_have_lanes_with_a_legend_and_tooltips() {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Timeline);
    });
    let mut record = streamed(&mut window);
    window.state_mut().show_record(Arc::new(record.clone()));
    let has_lanes =
        |app: &App| app.session().derived.as_ref().is_some_and(|derived| derived.timeline.lanes.len() == 4);
    until(&mut window, "the lanes", has_lanes);
    for phase in StreamPhase::ALL {
        window.get_by_label(phase.name());
    }
    assert!(window.query_by_label_contains("Tick “Profile”").is_none(), "streams cannot be profiled");
    // Rows: other work, search, download, the heading, and the lanes.
    let session = window.state().session();
    let timeline = &session.derived.as_ref().expect("the lanes").timeline;
    let track = &timeline.lanes[1];
    let search = track.spans.iter().find(|span| span.phase == StreamPhase::Search).expect("a search");
    let [from, to] = session.timeline.shown(timeline);
    let along = ((search.times_us()[0] + 4000.0 - from) / (to - from)) as f32;
    let above = (1 + timeline.phases.len()) as f32 * 22.0 + 26.0 + 1.5 * 22.0;
    let canvas = window.get_by_role_and_label(Role::Canvas, "Tracks of the run").rect();
    let left = canvas.left() + 112.0;
    window.hover_at(egui::pos2(left + along * (canvas.right() - left), canvas.top() + above));
    // Tooltips appear after a moment.
    window.run_steps(40);
    window.get_by_label("Search on GPU 0, stream 1");
    window.get_by_label_contains("among the points on the device");
    // A run with more spans says that later ones are missing.
    record.stream_spans = record.stream_spans.iter().cycle().take(MAX_STREAM_SPANS).copied().collect();
    window.state_mut().show_record(Arc::new(record));
    until(&mut window, "more spans", |app| {
        app.session().derived.as_ref().is_some_and(|derived| derived.timeline.lanes_are_cut())
    });
}

#[test]
fn lanes_match_their_snapshots() {
    check_adapter().unwrap_or_else(|error| panic!("{error:#}"));
    let mut run_by = window(small);
    let record = Arc::new(streamed(&mut run_by));
    let mut failures = Vec::new();
    for (look, name) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let mut window: Window =
            Harness::builder().with_size([900.0, 420.0]).wgpu().build_eframe(move |cc| {
                let tree = single_layout(PaneKind::Timeline);
                let mut state = State {
                    look,
                    tree,
                    hints: false,
                    show_problem: false,
                    show_selection: false,
                    ..State::default()
                };
                small(&mut state);
                App::with_state(cc, state).expect("a thread for the worker")
            });
        window.state_mut().show_record(Arc::clone(&record));
        until_answered(&mut window);
        window.run_steps(4);
        // The status line depends on the machine.
        window.mask(egui::Rect::from_min_max(egui::pos2(0.0, 390.0), egui::pos2(900.0, 420.0)));
        let options = egui_kittest::SnapshotOptions::new().max_failed_pixels(30);
        if let Err(error) = window.try_snapshot_options(format!("timeline-streams-{name}"), &options) {
            failures.push(error.to_string());
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn a_profile_on_the_cpu_shows_its_threads() {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Timeline);
    });
    window.run_steps(2);
    window.get_by_label("No timeline yet");
    press(&mut window, "Run");
    until_answered(&mut window);
    window.get_by_label_contains("Tick “Profile”");
    window.get_by_role_and_label(Role::CheckBox, "Profile").click();
    window.run_steps(3);
    press(&mut window, "Run");
    until(&mut window, "the run", |app| {
        !app.is_busy() && app.session().record.as_ref().is_some_and(|record| record.spec.profile)
    });
    until_answered(&mut window);
    until(&mut window, "the threads", |app| {
        app.session().derived.as_ref().is_some_and(|derived| !derived.timeline.multiprocessors.is_empty())
    });
    let timeline = window.state().session().derived.as_ref().expect("it exists").timeline.clone();
    assert_eq!(
        (timeline.unit, timeline.max_warps()),
        (UnitKind::Thread, 1),
        "a thread does one thing at a time"
    );
    let answered: usize = timeline
        .multiprocessors
        .iter()
        .flat_map(|thread| &thread.tracks[0])
        .map(|span| span.queries.len())
        .sum();
    assert_eq!(answered, window.state().session().record.as_ref().expect("a finished run").query_rows.len());
    window.run_steps(3);
    let first = timeline.multiprocessors[0].sm;
    window.get_by_label(&format!("Show the queries of thread {first}")).click();
    window.run_steps(3);
    window.get_by_label(&format!("Hide the queries of thread {first}"));
}

#[test]
fn a_run_is_drawn_below_the_devices_roofline() {
    let mut window = window(|state| {
        small(state);
        state.tree = single_layout(PaneKind::Timings);
    });
    window.run_steps(2);
    press(&mut window, "Run");
    until(&mut window, "the run", |app| !app.is_busy() && app.session().record.is_some());
    let record = window.state().session().record.clone().expect("a finished run");
    let peaks = record.peaks.expect("the device was measured after the run");
    let roofline = Roofline::of_run(&record).expect("lockstep tells what it computes");
    let said = roofline.sentence();
    assert!(said.contains("dist/s at FP32 peak: "), "{said}");
    window.run_steps(3);
    window.get_by_label_contains(&said);
    window.get_by_label("Roofline").click();
    window.run_steps(3);
    assert_eq!(window.state().state().timings.figure, TimingsFigure::Roofline);
    window.get_by_label_contains("% of the limit");

    // A second run does not measure the device again.
    press(&mut window, "Run");
    until(&mut window, "another run", |app| {
        !app.is_busy() && app.session().record.as_ref().is_some_and(|again| !Arc::ptr_eq(again, &record))
    });
    assert_eq!(window.state().session().record.as_ref().expect("a finished run").peaks, Some(peaks));
}

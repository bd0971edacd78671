//! What fields, choosers and menus of the window offer, to be found by name.

use std::path::PathBuf;

use crate::app::features::color::request::column_keys;
use crate::app::features::color::state::view::{ColorAction, ColorBy, ColorView};
use crate::app::features::lesson::state::LessonAction;
use crate::app::model::{Action, Draft, Look, PlaneView, SAMPLES, Sample, Session, SpaceView, State, file_name};
use crate::app::shell::finder::Found;
use crate::engines::registry;
use crate::knn::Descriptor;
use crate::lesson::lessons::{LESSONS, Lesson};
use crate::run::EngineChoice;
use crate::text;

/// The sizes of text and controls that are offered.
pub const SCALES: [f32; 7] = [0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0];

/// Looks, scales, motion, files that were opened lately, samples and lessons.
pub fn everywhere(state: &State) -> impl Iterator<Item = Found> {
    let look = |look: Look| Found::new(format!("Look: {}", look.text().to_lowercase()), "The colours of the window.", Action::SetLook(look));
    let scale = |scale: f32| Found::new(format!("Scale {:.0} %", scale * 100.0), "The size of all text and controls.", Action::SetScale(scale));
    let motion = match state.reduce_motion {
        true => Found::new("Motion: as usual", "In a lesson, keys move to their new places.", Action::ReduceMotion(false)),
        false => Found::new("Reduce motion", "Changes are shown at once.", Action::ReduceMotion(true)),
    };
    let opened = |path: &PathBuf| Found::new(format!("Open {}", file_name(path)), path.display().to_string(), Action::OpenPath(path.clone()));
    let sample = |sample: &'static Sample| Found::new(format!("Open the sample {}", sample.title), sample.about, Action::OpenSample(sample));
    let lesson = |lesson: &Lesson| {
        let text = format!("Lesson {}: {}", lesson.number, lesson.title);
        Found::new(text, "Watch it step by step.", LessonAction::Open(lesson.number))
    };
    let recent = state.recent.iter().map(opened);
    Look::ALL
        .into_iter()
        .map(look)
        .chain(SCALES.into_iter().map(scale))
        .chain([motion])
        .chain(recent)
        .chain(SAMPLES.iter().map(sample))
        .chain(LESSONS.iter().map(lesson))
}

/// Switches of the search, engines, and colours that need no column.
pub fn of_search<'a>(state: &'a State, session: &'a Session) -> impl Iterator<Item = Found> + 'a {
    let draft = |change: &dyn Fn(&mut Draft)| {
        let mut draft = state.draft.clone();
        change(&mut draft);
        Action::SetDraft(Box::new(draft))
    };
    let auto = Found::new(
        "Engine: auto",
        "Chosen for each run by the time that it should take.",
        draft(&|draft| (draft.engine, draft.device) = (EngineChoice::Auto, None)),
    );
    let engine = move |engine: &&'static Descriptor| {
        let missing = session.engine(engine.id, None).and_then(|status| status.device.as_ref()?.as_ref().err());
        let about = missing.map_or_else(|| engine.about.to_owned(), |why| format!("{} Not here: {}.", engine.about, why.trim_end_matches('.')));
        Found::new(format!("Engine: {}", engine.id), about, draft(&|draft| draft.choose_engine(engine)))
    };
    let plain = ColorBy::all().into_iter().filter(|by| !matches!(by, ColorBy::Axis(_) | ColorBy::Column(_)));
    let colors = plain.map(move |by| {
        let (text, about) = (format!("Colour by {}", by.text()), by.about());
        Found::new(text, about, color_by(state, by))
    });
    let switch = |name: &str, about: &str, on: bool, change: &dyn Fn(&mut Draft)| {
        Found::new(format!("{name}: turn {}", if on { "off" } else { "on" }), about, draft(change))
    };
    let switches = [
        switch("Profile", "Run the search once more, with clocks: what takes how long, and where and when.", state.draft.profile, &|draft| {
            draft.profile ^= true
        }),
        switch("Exclude the query itself", "Leave the query’s own row out of its neighbours.", state.draft.exclude_self, &|draft| {
            draft.exclude_self ^= true
        }),
    ];
    switches.into_iter().chain(std::iter::once(auto)).chain(registry::ENGINES.iter().map(engine)).chain(colors)
}

/// Columns that colour, and columns as axes of Plane and Space.
pub fn of_columns<'a>(state: &'a State, session: &'a Session) -> impl Iterator<Item = Found> + 'a {
    let axes = session.cloud.iter().flat_map(|cloud| cloud.axes().iter().enumerate());
    let axes =
        axes.map(|(at, axis)| Found::new(format!("Colour by axis {}", axis.name), ColorBy::Axis(at).about(), color_by(state, ColorBy::Axis(at))));
    let columns = session.file_columns().into_iter().flat_map(|known| column_keys(known.columns.iter().map(|column| column.name.as_str())));
    let columns = columns.map(move |(name, key)| {
        let name = if name.is_empty() { format!("column {key}") } else { name.to_owned() };
        let by = ColorBy::Column(key);
        Found::new(format!("Colour by {name}"), by.about(), color_by(state, by))
    });
    columns.chain(axes).chain(shown_along(state, session))
}

/// Rows by their names, as far as these are known and searched.
pub fn of_rows(session: &Session) -> impl Iterator<Item = Found> + '_ {
    session.row_names.iter().flat_map(|names| {
        session.name_search.rows().into_iter().map(|row| {
            let about = format!("Row {}: find its neighbours.", text::thousands(names.cloud.record(row as usize)));
            Found::new(names.called(row), about, Action::PickRow(row))
        })
    })
}

/// What is drawn along which axis: columns of the cloud, or directions of its projection.
fn shown_along<'a>(state: &'a State, session: &'a Session) -> impl Iterator<Item = Found> + 'a {
    let names: Vec<String> = session.scene().iter().flat_map(|scene| scene.data().axes().iter().map(|axis| axis.name.clone())).collect();
    let space = names.len() >= 3;
    let places = [("Plane", "right", 0), ("Plane", "up", 1), ("Space", "x", 0), ("Space", "y", 1), ("Space", "z", 2)];
    let places = places.into_iter().filter(move |(pane, ..)| space || *pane == "Plane");
    places.flat_map(move |(pane, axis, place)| {
        let entry = move |(at, name): (usize, &String)| {
            let action = if pane == "Plane" { plane_along(state.plane, place, at) } else { space_along(state.space, place, at) };
            Found::new(format!("{pane}, {axis}: {name}"), format!("Put {name} on this axis of {pane}."), action)
        };
        names.iter().enumerate().map(entry).collect::<Vec<_>>()
    })
}

fn plane_along(mut view: PlaneView, place: usize, axis: usize) -> Action {
    // Where the view looked says nothing of another axis.
    (view.axes[place], view.window) = (axis, None);
    Action::SetPlane(view)
}

fn space_along(mut view: SpaceView, place: usize, axis: usize) -> Action {
    view.axes[place] = axis;
    Action::SetSpace(view)
}

fn color_by(state: &State, by: ColorBy) -> ColorAction {
    let mut view: ColorView = state.color.clone();
    view.choose(by);
    ColorAction::Set(view)
}

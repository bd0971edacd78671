//! Handles clicks, regions and hovering.

use std::sync::Arc;

use super::lookup::{self, Lookup};
use super::state::{
    ExtraColumns, PaneCamera, PickAction, PickView, Purpose, Region, RegionSelection, RowColumns, Tool,
};
use crate::app::context::app::{App, Feature};
use crate::app::features::second;
use crate::app::features::selection::state::{HoverTarget, SelectAction, SelectionCriterion};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::WindowLayout;
use crate::app::prelude::*;
use crate::cloud::formats::FormatError;
use crate::progress::NoProgress;

/// Maximum distance of a click from a point, in screen points. A click farther away is on empty ground, in
/// Plane too, so it never picks a point across the pane or out of sight.
const CLICK_REACH: f64 = 24.0;

/// The same for hovering, and for a double click, which may also mean empty ground.
const HOVER_REACH: f64 = 9.0;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Pick(action) => app.pick_action(action),
            Action::Command(Command::MoveTool) => app.session.tool = Tool::Move,
            Action::Command(Command::RectangleTool) => app.session.tool = Tool::Rectangle,
            Action::Command(Command::LassoTool) => app.session.tool = Tool::Lasso,
            other => return Some(other),
        }
        None
    },
    update: App::want_neighbor_columns,
    leave_cloud: |app, _| {
        app.jobs.stop(&PICK);
        app.jobs.stop(&HOVER);
        app.jobs.stop(&LOOKUP);
        app.jobs.stop(&NEIGHBOR_COLUMNS);
        app.session.other_columns = None;
        (app.handles.lookup, app.handles.neighbor_lookup) = (Lookup::default(), Lookup::default());
    },
    ..Feature::NONE
};

/// The point of a click.
pub static PICK: TaskKind<App, (Purpose, PaneKind), Option<PickedPoint>> =
    TaskKind::new(TaskPurpose::Pick, "pick", App::picked);

/// The hovered point; a separate task, so that hovering never replaces a click.
pub static HOVER: TaskKind<App, (Purpose, PaneKind), Option<PickedPoint>> =
    TaskKind::new(TaskPurpose::Hover, "pick", App::picked);

/// The file's other columns for the hovered point.
pub static LOOKUP: TaskKind<App, lookup::LookupRequest, Result<RowColumns, FormatError>> =
    TaskKind::new(TaskPurpose::Lookup, "record", |app, asked, outcome| {
        app.handles.lookup.take(&asked, outcome)
    });

/// The file's other columns for the listed neighbours.
pub static NEIGHBOR_COLUMNS: TaskKind<App, lookup::LookupRequest, Result<RowColumns, FormatError>> =
    TaskKind::new(TaskPurpose::NeighborColumns, "record", |app, asked, outcome| {
        app.handles.neighbor_lookup.take(&asked, outcome)
    });

impl App {
    fn pick_action(&mut self, action: PickAction) {
        match action {
            PickAction::Tool(tool) => self.session.tool = tool,
            PickAction::At { eye, pointer, purpose } => self.search(eye, pointer, purpose),
            PickAction::Region { eye, region, how } => {
                let kind = match region {
                    Region::Rectangle(_) => "rectangle",
                    Region::Lasso(_) => "lasso",
                };
                let by = format!("{kind} in {}", eye.pane().title());
                let Some(sight) = self.sight(eye) else { return };
                self.select(SelectAction::Choose {
                    what: SelectionCriterion::Region(Box::new(RegionSelection { sight, region })),
                    how,
                    by,
                });
            }
        }
    }

    fn sight(&self, eye: PaneCamera) -> Option<PickView> {
        let session = &self.session;
        if eye.pane() == PaneKind::Second {
            let session = second::session_of(session);
            return Some(PickView { eye, scene: session.scene()?, record: session.record });
        }
        Some(PickView { eye, scene: session.scene()?, record: session.record.clone() })
    }

    fn search(&mut self, eye: PaneCamera, pointer: Pos2, purpose: Purpose) {
        let Some(sight) = self.sight(eye) else { return };
        let reach = match purpose {
            Purpose::Query | Purpose::Select(_) => CLICK_REACH,
            Purpose::Focus | Purpose::Hover => HOVER_REACH,
        };
        let pane = eye.pane();
        if sight.is_small() {
            let found = sight.nearest(pointer, reach, &NoProgress);
            return self.found(found, purpose, pane);
        }
        // The latest request wins, but hovering never replaces a click.
        let kind = if purpose == Purpose::Hover { &HOVER } else { &PICK };
        self.jobs.start(kind, (purpose, pane), move |progress| sight.nearest(pointer, reach, progress));
    }

    /// Handles the end of a search for the point.
    fn picked(&mut self, (purpose, pane): (Purpose, PaneKind), found: Outcome<Option<PickedPoint>>) {
        match found {
            Ok(found) => self.found(found, purpose, pane),
            Err(stopped) => self.session.log.error(Subject::Query, format!("cannot pick: {stopped}")),
        }
    }

    fn found(&mut self, found: Option<PickedPoint>, purpose: Purpose, pane: PaneKind) {
        match (purpose, found) {
            (Purpose::Query, Some(picked)) => self.pick_found(picked),
            (Purpose::Select(how), Some(picked)) => {
                let by = format!("click in {}", pane.title());
                match picked {
                    PickedPoint::Row(row) => self.select(SelectAction::rows(vec![row], how, by)),
                    PickedPoint::Query(query) => {
                        self.select(SelectAction::queries(vec![query as u32], how, by))
                    }
                    // A query at arbitrary coordinates cannot be selected.
                    PickedPoint::Coordinates => {}
                }
            }
            (Purpose::Focus, Some(picked)) => {
                self.handles.focus_when_answered = true;
                self.pick_found(picked);
                self.focus_if_answered();
            }
            (Purpose::Focus, None) if pane == PaneKind::Second => self.state.second.plane.window = None,
            (Purpose::Focus, None) => self.apply(Command::FitView.into()),
            (Purpose::Hover, found) => {
                self.select(SelectAction::Hover(found.map(|what| HoverTarget { what, pane })))
            }
            (Purpose::Query | Purpose::Select(_), None) => {}
        }
    }

    fn pick_found(&mut self, picked: PickedPoint) {
        match picked {
            PickedPoint::Row(row) => self.pick_row(row),
            PickedPoint::Query(query) => self.pick_query(query),
            PickedPoint::Coordinates => {}
        }
    }

    /// Zooms to the picked point once its neighbours are known.
    pub(in crate::app) fn focus_if_answered(&mut self) {
        if self.handles.focus_when_answered && self.session.answered.is_some() {
            self.handles.focus_when_answered = false;
            self.focus_query();
        }
    }
}

impl App {
    /// Starts reading the neighbours' other columns if the answer, Neighbours, or names in Plane and Space
    /// show them; not for every position of a dragged query.
    fn want_neighbor_columns(&mut self) {
        let shown = self.shows_neighbor_columns() && !self.session.live.is_held();
        let Some(answered) =
            self.session.answered.as_ref().filter(|_| shown && self.session.listed_columns().is_none())
        else {
            return;
        };
        let (cloud, rows) = (&answered.record.cloud, answered.rows_to_look_up());
        match self.handles.neighbor_lookup.known(cloud, &rows) {
            Some(found) => {
                self.session.other_columns =
                    Some(ExtraColumns { cloud: Arc::clone(cloud), rows, found: Arc::clone(found) })
            }
            None => {
                if let Some(asked) = self.handles.neighbor_lookup.ask(cloud, &rows) {
                    self.jobs.start(&NEIGHBOR_COLUMNS, asked.clone(), move |progress| asked.read(progress));
                }
            }
        }
    }

    fn shows_neighbor_columns(&self) -> bool {
        let room = WindowLayout::for_width(self.handles.ctx.content_rect().width());
        let panel = self.state.shows_answer(room);
        let names = [(PaneKind::Plane, self.state.plane.names), (PaneKind::Space, self.state.space.names)];
        let named = names.iter().any(|(pane, names)| *names && self.pane_rects.contains_key(pane));
        // A picture being set up may show names.
        let in_picture = self
            .session
            .export
            .as_ref()
            .is_some_and(|dialog| dialog.picture.as_ref().is_some_and(|picture| picture.names));
        panel || named || in_picture || self.pane_rects.contains_key(&PaneKind::Neighbors)
    }

    /// Whether the neighbours' other columns are visible and still being read.
    pub(in crate::app) fn is_reading_neighbor_columns(&self) -> bool {
        self.shows_neighbor_columns() && self.jobs.has(&NEIGHBOR_COLUMNS)
    }
}

//! What comes of clicks, regions and rests of the pointer.

use egui::Pos2;

use crate::app::context::app::App;
use crate::app::jobs::task::Outcome;
use crate::app::model::{About, Choice, Command, Eye, Hovered, PaneKind, PickAction, Picked, Purpose, Region, SelectAction, Sight, Within};
use crate::app::shell::tasks::{HOVER, PICK};
use crate::progress::Silent;

/// Points of the screen within which a click means a point. Beyond is empty ground, in Plane too: whoever clicks there does not mean
/// a point at the other end of the pane, and still less one that is out of sight.
const REACH: f64 = 24.0;

/// The same for a pointer that only rests, and for a double click that may also mean empty ground.
const TOUCH: f64 = 9.0;

impl App {
    /// Carries out what panes ask for.
    pub(in crate::app) fn pick_action(&mut self, action: PickAction) {
        match action {
            PickAction::Tool(tool) => self.session.tool = tool,
            PickAction::At { eye, pointer, purpose } => self.search(eye, pointer, purpose),
            PickAction::Within { eye, region, how } => {
                let kind = match region {
                    Region::Rectangle(_) => "rectangle",
                    Region::Lasso(_) => "lasso",
                };
                let by = format!("{kind} in {}", eye.pane().title());
                let Some(sight) = self.sight(eye) else { return };
                self.select(SelectAction::Choose { what: Choice::Within(Box::new(Within { sight, region })), how, by });
            }
        }
    }

    fn sight(&self, eye: Eye) -> Option<Sight> {
        Some(Sight { eye, scene: self.session.scene()?, record: self.session.record.clone() })
    }

    fn search(&mut self, eye: Eye, pointer: Pos2, purpose: Purpose) {
        let Some(sight) = self.sight(eye) else { return };
        let reach = match purpose {
            Purpose::Query | Purpose::Select(_) => REACH,
            Purpose::Focus | Purpose::Hover => TOUCH,
        };
        let pane = eye.pane();
        if sight.is_small() {
            let found = sight.nearest(pointer, reach, &Silent);
            return self.found(found, purpose, pane);
        }
        // The newest wins, but a rest of the pointer never takes a click's place.
        let kind = if purpose == Purpose::Hover { &HOVER } else { &PICK };
        self.jobs.start(kind, (purpose, pane), move |progress| sight.nearest(pointer, reach, progress));
    }

    /// What the pointer means is found.
    pub(in crate::app) fn picked(&mut self, (purpose, pane): (Purpose, PaneKind), found: Outcome<Option<Picked>>) {
        match found {
            Ok(found) => self.found(found, purpose, pane),
            Err(stopped) => self.session.log.error(About::Query, format!("cannot pick: {stopped}")),
        }
    }

    fn found(&mut self, found: Option<Picked>, purpose: Purpose, pane: PaneKind) {
        match (purpose, found) {
            (Purpose::Query, Some(picked)) => self.pick_found(picked),
            (Purpose::Select(how), Some(picked)) => {
                let by = format!("click in {}", pane.title());
                match picked {
                    Picked::Row(row) => self.select(SelectAction::rows(vec![row], how, by)),
                    Picked::Query(query) => self.select(SelectAction::queries(vec![query as u32], how, by)),
                    // Neither a row nor a query of the run: nothing of it is selected.
                    Picked::Coordinates => {}
                }
            }
            (Purpose::Focus, Some(picked)) => {
                self.handles.focus_when_answered = true;
                self.pick_found(picked);
                self.focus_if_answered();
            }
            (Purpose::Focus, None) => self.apply(Command::FitView.into()),
            (Purpose::Hover, found) => self.select(SelectAction::Hover(found.map(|what| Hovered { what, pane }))),
            (Purpose::Query | Purpose::Select(_), None) => {}
        }
    }

    fn pick_found(&mut self, picked: Picked) {
        match picked {
            Picked::Row(row) => self.pick_row(row),
            Picked::Query(query) => self.pick_query(query),
            Picked::Coordinates => {}
        }
    }

    /// Shows the picked point large, once its neighbours are known.
    pub(in crate::app) fn focus_if_answered(&mut self) {
        if self.handles.focus_when_answered && self.session.answered.is_some() {
            self.handles.focus_when_answered = false;
            self.focus_query();
        }
    }
}

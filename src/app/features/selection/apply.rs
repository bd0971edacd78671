//! Changes the selection: small changes at once, larger ones in the background, one after another.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Change;
use super::state::facts::SelectionStats;
use super::state::{HoverTarget, NamedSets, SelectAction, Selection, SelectionCriterion};
use crate::app::context::app::{App, Feature};
use crate::app::features::errors::run_error;
use crate::app::features::picking::apply::{HOVER, LOOKUP};
use crate::app::jobs::table::{CancelMethod, TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::answer_summary::query_name;
use crate::app::model::select_mode::SelectMode;
use crate::app::model::{MapAxes, PlaneWindow, QueryKind, SHOWN_AFTER, camera};
use crate::app::prelude::*;
use crate::cloud::Source;
use crate::run::{RunError, analysis};
use crate::text;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Select(action) => app.select(action),
            Action::TypeRadius(typed) => (app.session.nearby.typed, app.session.nearby.wrong) = (typed, None),
            Action::SelectNearby => app.select_nearby(),
            Action::Command(Command::SelectAll) => app.select_all(),
            Action::Command(Command::SelectNone) => app.select(SelectAction::Clear),
            Action::Command(Command::InvertSelection) => app.select(SelectAction::Choose {
                what: SelectionCriterion::Rest,
                how: SelectMode::Replace,
                by: "inverted".to_owned(),
            }),
            Action::Command(Command::GrowSelection) => app.grow_selection(),
            Action::Command(Command::ZoomToSelection) => app.select(SelectAction::ZoomTo),
            Action::Command(Command::UseAsQueries) => app.select(SelectAction::UseAsQueries),
            other => return Some(other),
        }
        None
    },
    leave_cloud: |app, _| {
        app.jobs.stop(&NEARBY);
        app.forget_selection();
    },
    give_up: App::cancel_selecting,
    ..Feature::NONE
};

/// A change of the selection, with changes queued after it.
pub struct SelectTask {
    /// Whether it only recomputes the selection, and is not an undo step.
    pub quiet: bool,
    pub waiting: VecDeque<Change>,
}

pub static SELECT: TaskKind<App, SelectTask, Option<(Selection, SelectionStats)>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, _| Some(Activity::Selecting),
    cancel: CancelMethod::By(App::cancel_selecting),
    ..TaskKind::new(TaskPurpose::Select, "select", App::selected)
};

/// Rows; `None` if cancelled.
pub type Rows = Result<Option<Vec<u32>>, RunError>;

/// All rows within a distance of an answer's query.
pub static NEARBY: TaskKind<App, (QueryAnswer, f64), Rows> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, fraction| {
        Some(Activity::Preparing { what: "Finding rows within a distance".to_owned(), fraction })
    },
    ..TaskKind::new(TaskPurpose::Nearby, "nearby", App::nearby_found)
};

impl App {
    pub(in crate::app) fn select(&mut self, action: SelectAction) {
        match action {
            SelectAction::Choose { what, how, by } => self.choose(what, how, by),
            SelectAction::Clear => {
                self.jobs.stop(&SELECT);
                self.set_selection(Selection::default(), SelectionStats::default());
            }
            SelectAction::Hover(hovered) => self.hover(hovered),
            SelectAction::TypeName(typed) => self.session.sets.typed = typed,
            SelectAction::Keep => self.keep_selection(),
            SelectAction::Forget(name) => self.session.sets.forget(&name),
            SelectAction::ZoomTo => self.zoom_to_selection(),
            SelectAction::UseAsQueries => self.selection_as_queries(),
        }
    }

    fn select_all(&mut self) {
        let [before, all] =
            [self.session.selection.rows().len(), self.session.cloud.as_ref().map_or(0, |cloud| cloud.len())];
        self.select(SelectAction::Choose {
            what: SelectionCriterion::All,
            how: SelectMode::Replace,
            by: "everything".to_owned(),
        });
        if before > 0 && before < all {
            let selected = text::count(all as u64, "row is selected", "rows are selected");
            let before = text::thousands(before as u64);
            self.session.log.info(format!("{selected}, {before} before; Edit, Undo restores these"));
        }
    }

    fn keep_selection(&mut self) {
        let session = &mut self.session;
        match session.sets.keep(&session.selection.rows, &session.selection.by) {
            Ok(set) => session.log.info(format!(
                "{} saved as “{}”",
                text::count(set.rows.len() as u64, "row", "rows"),
                set.name
            )),
            Err(why) => session.log.info(why),
        }
    }

    fn hover(&mut self, hovered: Option<HoverTarget>) {
        // A pending search is for an earlier pointer position.
        self.jobs.stop(&HOVER);
        let session = &mut self.session;
        session.hovered = hovered;
        session.hovered_query = match hovered.map(|hovered| hovered.what) {
            Some(PickedPoint::Row(row)) => session.query_of_row(row),
            Some(PickedPoint::Query(query)) => Some(query),
            Some(PickedPoint::Coordinates) | None => None,
        };
        if let Some((cloud, row)) = hovered.and_then(|hovered| session.point(hovered.what))
            && let Some(asked) = self.handles.lookup.ask(cloud, &[row as u32])
        {
            self.jobs.start(&LOOKUP, asked.clone(), move |progress| asked.read(progress));
        }
    }

    /// Zooms Plane and Space to the selected rows.
    fn zoom_to_selection(&mut self) {
        let Some(scene) = self.session.scene() else { return };
        let drawn = scene.data();
        let known = &self.session.selected.extremes;
        let extremes = if scene.is_projected() {
            crate::app::features::selection::state::facts::extremes(self.session.selection.rows(), drawn)
        } else {
            known.clone()
        };
        let range = |axis: usize| {
            let (least, largest) = extremes.get(axis).copied()?;
            Some((camera::along(drawn, least as usize, axis), camera::along(drawn, largest as usize, axis)))
        };
        let middle = |axis: usize| range(axis).map_or(0.0, |(low, high)| (low + high) / 2.0);
        let half = |axis: usize| range(axis).map_or(0.0, |(low, high)| (high - low) / 2.0);
        if extremes.is_empty() {
            return self.session.log.info("nothing to zoom to: no rows are selected");
        }
        let axes = self.state.plane.axes;
        let size = self
            .pane_rects
            .get(&PaneKind::Plane)
            .map_or(Vec2::splat(400.0), |rect| rect.size())
            .max(Vec2::splat(80.0));
        let (center, map) = (axes.map(middle), MapAxes::of(drawn, axes));
        let units = camera::units_to_show(axes.map(half), center, size, map) * 1.25;
        // A single position keeps the current scale.
        let units = if units > 0.0 {
            Some(units)
        } else {
            self.state.plane.window.map(|window| window.units_per_point)
        };
        if let Some(units_per_point) = units {
            self.state.plane.window = Some(PlaneWindow { center, units_per_point });
        }
        let axes = self.state.space.axes;
        let radius = axes.iter().map(|&axis| half(axis).powi(2)).sum::<f64>().sqrt();
        let (target, distance) = camera::focus(drawn, axes, axes.map(middle), radius);
        self.state.space.target = target;
        if radius > 0.0 {
            self.state.space.distance = distance;
        }
    }

    /// Makes the selected rows the queries of the next run.
    fn selection_as_queries(&mut self) {
        let Some(cloud) = &self.session.cloud else { return };
        let rows = self.session.selection.rows();
        if rows.is_empty() {
            return self.session.log.info("no queries: no rows are selected");
        }
        let records = rows.iter().map(|&row| cloud.record(row as usize));
        let draft = &mut self.state.draft;
        match crate::app::model::fields::typed_rows(records.clone()) {
            Some(typed) => (draft.queries, draft.query_rows) = (QueryKind::Rows, typed),
            None => (draft.queries, draft.selected_rows) = (QueryKind::Selected, records.collect()),
        }
        self.state.switch_to(Workspace::Measure);
        (self.state.show_problem, self.state.selection_first) = (true, false);
        let queries = text::count(rows.len() as u64, "selected row is a query", "selected rows are queries");
        self.session.log.info(format!("{queries} of the next run; press Run"));
    }

    fn choose(&mut self, what: SelectionCriterion, how: SelectMode, by: String) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let change = Change {
            what,
            how,
            by,
            cloud,
            record: self.session.record.clone(),
            answered: self.session.answered.clone(),
        };
        let builds_on = how != SelectMode::Replace
            || matches!(change.what, SelectionCriterion::Rest | SelectionCriterion::Neighbors);
        match self.jobs.params_mut(&SELECT) {
            Some(selecting) if builds_on => selecting.waiting.push_back(change),
            // The running change is replaced and need not finish.
            _ => self.change_selection(change, VecDeque::new(), false),
        }
    }

    /// Adds the neighbours of the selected queries, or says why there are none.
    fn grow_selection(&mut self) {
        let session = &mut self.session;
        let sentence = match (session.selection.is_empty(), &session.record) {
            (true, _) if session.answered.is_none() => {
                Some("no neighbours to add: select points, or pick a query")
            }
            (false, None) => Some("no neighbours to add: press Run first"),
            (false, Some(_)) if session.selection.queries().is_empty() => Some(
                "no neighbours to add: no selected row is a query of the run; press Use as queries, then Run",
            ),
            _ => None,
        };
        match sentence {
            Some(sentence) => session.log.info(sentence),
            None => {
                let by =
                    if session.selection.is_empty() { "neighbours of the query" } else { "their neighbours" };
                self.choose(SelectionCriterion::Neighbors, SelectMode::Add, by.to_owned());
            }
        }
    }

    fn change_selection(&mut self, change: Change, waiting: VecDeque<Change>, quiet: bool) {
        self.jobs.stop(&SELECT);
        let base = self.session.selection.clone();
        if !change.is_large(&base) {
            if let Some((selection, facts)) = change.apply(&base, &crate::progress::NoProgress) {
                self.set_selection(selection, facts);
            }
            return self.next_change(waiting);
        }
        self.jobs
            .start(&SELECT, SelectTask { quiet, waiting }, move |progress| change.apply(&base, progress));
    }

    fn cancel_selecting(&mut self) {
        if self.jobs.stop(&SELECT) {
            self.session.log.info("cancelled");
        }
    }

    fn next_change(&mut self, mut waiting: VecDeque<Change>) {
        if let Some(next) = waiting.pop_front() {
            self.change_selection(next, waiting, false);
        }
    }

    /// Handles a computed change.
    fn selected(
        &mut self,
        SelectTask { quiet, waiting }: SelectTask,
        result: Outcome<Option<(Selection, SelectionStats)>>,
    ) {
        if quiet {
            self.history.skip();
        }
        match result {
            Ok(Some((selection, facts))) => self.set_selection(selection, facts),
            Ok(None) => {}
            Err(stopped) => self.session.log.error(Subject::Selection, format!("cannot select: {stopped}")),
        }
        self.next_change(waiting);
    }

    fn set_selection(&mut self, selection: Selection, facts: SelectionStats) {
        self.session.selection = selection;
        self.session.selected = Arc::new(facts);
        self.session.log.resolve(Subject::Selection);
    }

    /// Recomputes the selected queries for another run; the rows stay.
    pub(in crate::app) fn reselect(&mut self) {
        self.history.skip();
        self.hover(self.session.hovered);
        let (selection, facts) = (self.session.selection.clone(), Arc::clone(&self.session.selected));
        self.select_again(&selection, &facts);
    }

    /// Restores a selection, recomputing its queries if another run is shown.
    pub(in crate::app) fn restore_selection(
        &mut self,
        selection: &Selection,
        facts: &Arc<SelectionStats>,
        same_run: bool,
    ) {
        if same_run {
            self.jobs.stop(&SELECT);
            (self.session.selection, self.session.selected) = (selection.clone(), Arc::clone(facts));
        } else {
            self.select_again(selection, facts);
        }
    }

    /// Restores selected rows and queries without an undo step.
    pub(in crate::app) fn select_these(&mut self, rows: Vec<u32>, queries: Vec<u32>, by: String) {
        self.replace_selection(SelectionCriterion::These { rows, queries }, by);
    }

    fn replace_selection(&mut self, what: SelectionCriterion, by: String) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let change = Change {
            what,
            how: SelectMode::Replace,
            by,
            cloud,
            record: self.session.record.clone(),
            answered: None,
        };
        self.change_selection(change, VecDeque::new(), true);
    }

    fn select_again(&mut self, selection: &Selection, facts: &SelectionStats) {
        self.jobs.stop(&SELECT);
        // The rows stay visible while queries are computed.
        let rows = Selection { queries: Arc::default(), ..selection.clone() };
        let rows = if rows.is_empty() { Selection::default() } else { rows };
        self.set_selection(rows, SelectionStats { extremes: facts.extremes.clone(), measures: Vec::new() });
        if !selection.rows().is_empty() {
            let rows = selection.rows().to_vec();
            let what = match selection.center.clone() {
                Some(of) => SelectionCriterion::Within(rows, Box::new(of)),
                None => SelectionCriterion::Rows(rows),
            };
            self.replace_selection(what, selection.by().to_owned());
        }
    }

    /// Clears the selection and the named sets, because another cloud is shown.
    fn forget_selection(&mut self) {
        self.jobs.stop(&SELECT);
        self.history.clear();
        self.hover(None);
        self.session.sets = NamedSets::default();
        self.set_selection(Selection::default(), SelectionStats::default());
    }
}

impl App {
    /// Starts finding rows within the typed distance.
    fn select_nearby(&mut self) {
        let Some(of) = self.session.answered.clone() else { return };
        let radius = self.session.nearby.radius(of.record.spec.metric);
        self.session.nearby.wrong = radius.as_ref().err().cloned();
        let Ok(radius) = radius else { return };
        let (QueryAnswer { record, query }, resident) = (of.clone(), self.handles.worker.resident().clone());
        self.jobs.start(&NEARBY, (of, radius), move |progress| {
            analysis::rows_within(&record, query, radius, &resident, progress)
        });
    }

    /// The name of an answer's query, also after another one is picked.
    fn name_of(&self, of: &QueryAnswer) -> String {
        let session = &self.session;
        let is_shown = session.answered.as_ref() == Some(of);
        let columns = session.listed_columns().filter(|_| is_shown);
        match of.query_cloud().source() {
            Source::Coordinates(at) => at.clone(),
            _ => query_name(of, session.picked.filter(|_| is_shown), columns, &session.roles),
        }
    }

    fn nearby_found(&mut self, (of, radius): (QueryAnswer, f64), rows: Outcome<Rows>) {
        let unit = of.record.spec.metric.unit().map_or_else(String::new, |unit| format!(" {unit}"));
        let within = format!("{}{unit}", text::ExactFloat(radius));
        match self.done("radius", rows) {
            None => {}
            Some(Err(why)) => self.session.log.error(Subject::Selection, run_error(&why)),
            Some(Ok(None)) => self.session.log.info("cancelled"),
            Some(Ok(Some(rows))) => {
                let found = text::count(rows.len() as u64, "row is", "rows are");
                let by = format!("within {within} of {}", self.name_of(&of));
                self.session.log.info(format!("{found} {by}"));
                let what = SelectionCriterion::Within(rows, Box::new(of));
                self.select(SelectAction::Choose { what, how: SelectMode::Replace, by });
            }
        }
    }
}

//! Opens another file for the second view, projects its rows, and searches the picked row in it.

use std::path::PathBuf;
use std::sync::Arc;

use super::state::{SecondAction, SecondCloud};
use crate::app::context::app::{App, Feature};
use crate::app::features::analysis::{CloudSearch, not_used_there, open_same_rows};
use crate::app::features::chooser::state::FilePurpose;
use crate::app::features::live::apply::same_question;
use crate::app::features::opening::LoadedCloud;
use crate::app::features::picking::lookup::{Lookup, LookupRequest};
use crate::app::features::picking::state::{ExtraColumns, RowColumns};
use crate::app::features::projection::apply::{ProjectionOf, is_of, same};
use crate::app::features::projection::state::{CloudProjection, ProjectionKind};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::workspace::side_by_side;
use crate::app::model::{PlaneView, SHOWN_AFTER, absolute, file_name};
use crate::app::prelude::*;
use crate::cloud::formats::FormatError;
use crate::cloud::{CloudError, ColumnChoice, Source};
use crate::run::{EngineChoice, QuerySpec, ResidentPoints, RunRecord, RunSpec};

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::Second(action) => app.second_action(action),
            Action::Command(Command::SideBySide) => app.show_side_by_side(true),
            Action::Command(Command::OpenSecond) => app.second_action(SecondAction::Browse),
            other => return Some(other),
        }
        None
    },
    update: App::want_second,
    leave_cloud: |app, _| app.forget_second(),
    ..Feature::NONE
};

/// Opens the other file; `None` if cancelled.
pub static OPEN: TaskKind<App, PathBuf, Result<Option<LoadedCloud>, String>> = TaskKind {
    purpose: |path, fraction| Some(Activity::Loading { what: file_name(path), fraction }),
    ..TaskKind::new(TaskPurpose::OpenSecond, "second", App::second_opened)
};

pub static PROJECT: TaskKind<App, ProjectionOf, Result<CloudProjection, CloudError>> = TaskKind {
    purpose: |_, fraction| {
        Some(Activity::Preparing { what: "Projecting the second view".to_owned(), fraction })
    },
    ..TaskKind::new(TaskPurpose::ProjectSecond, "project", App::second_projected)
};

/// Searches the picked row in the other file; `None` if cancelled.
pub static ANSWER: TaskKind<App, RunSpec, Result<Option<Arc<RunRecord>>, String>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, fraction| {
        Some(Activity::Preparing { what: "Searching the second file".to_owned(), fraction })
    },
    ..TaskKind::new(TaskPurpose::AnswerSecond, "answer", App::second_answered)
};

/// The file's other columns for the neighbours in the other file.
pub static COLUMNS: TaskKind<App, LookupRequest, Result<RowColumns, FormatError>> =
    TaskKind::new(TaskPurpose::SecondColumns, "record", |app, asked, outcome| {
        app.handles.second_lookup.take(&asked, outcome)
    });

impl App {
    fn second_action(&mut self, action: SecondAction) {
        match action {
            SecondAction::SetPlane(view) => self.state.second.plane = view,
            SecondAction::SetProjection(view) => self.state.second.projection = view,
            SecondAction::Browse => self.browse(FilePurpose::Second, PathBuf::new()),
            SecondAction::Open(path) => self.open_second(path),
            SecondAction::Close => self.forget_second(),
        }
    }

    /// Shows Plane and the second view side by side, or restores the layout if `toggles`.
    fn show_side_by_side(&mut self, toggles: bool) {
        self.switch_to(Workspace::Explore);
        let [first, space, shown] = [PaneKind::Plane, PaneKind::Space, PaneKind::Second]
            .map(|pane| self.pane_rects.contains_key(&pane));
        if !toggles && shown && (first || space) {
            return;
        }
        self.state.tree = if shown && toggles {
            self.handles.tree_before_second.take().unwrap_or_else(|| Workspace::Explore.layout())
        } else {
            self.handles.tree_before_second = Some(self.state.tree.clone());
            side_by_side()
        };
        self.show(if space { PaneKind::Space } else { PaneKind::Plane });
        if !toggles {
            self.show(PaneKind::Second);
        }
    }

    fn forget_second(&mut self) {
        self.jobs.stop(&OPEN);
        self.jobs.stop(&PROJECT);
        self.jobs.stop(&ANSWER);
        self.jobs.stop(&COLUMNS);
        (self.session.second, self.state.second.plane.window) = (SecondCloud::default(), None);
        (self.handles.second_points, self.handles.second_lookup) =
            (ResidentPoints::default(), Lookup::default());
    }

    pub(in crate::app) fn open_second(&mut self, path: PathBuf) {
        let Some(cloud) = self.session.cloud.clone() else {
            return self.session.log.error(Subject::File, "There are no rows yet; open a file first.");
        };
        let path = absolute(&path);
        // Uses the columns chosen when that file was last opened.
        let source = Source::File { path: path.clone(), columns: ColumnChoice::Default };
        let kept = self.state.roles_of(&source).and_then(|kept| kept.columns.parse().ok());
        let columns: ColumnChoice = kept.unwrap_or_default();
        let of = path.clone();
        self.jobs.start(&OPEN, path, move |progress| open_same_rows(&cloud, &of, &columns, progress));
    }

    fn second_opened(&mut self, path: PathBuf, outcome: Outcome<Result<Option<LoadedCloud>, String>>) {
        match self.done("second view", outcome) {
            Some(Ok(Some(LoadedCloud { cloud, left_out, note, .. }))) => {
                let unused = not_used_there(&left_out);
                let note = note.map_or_else(String::new, |note| format!("; {note}"));
                let said = format!("{} shown side by side{unused}{note}", file_name(&path));
                self.session.log.done(Subject::File, said);
                self.forget_second();
                self.session.second.other = Some(cloud);
                self.show_side_by_side(false);
            }
            Some(Ok(None)) => self.session.log.info("cancelled"),
            Some(Err(why)) => {
                self.session.log.error(Subject::File, format!("cannot show the file side by side: {why}"))
            }
            None => {}
        }
    }

    /// Starts what the visible second view lacks.
    fn want_second(&mut self) {
        if self.pane_rects.contains_key(&PaneKind::Second) {
            self.want_second_projection();
            self.want_second_answer();
        }
    }

    fn want_second_projection(&mut self) {
        let second = &self.session.second;
        let Some(cloud) = second.cloud(self.session.cloud.as_ref()).cloned() else { return };
        let wanted = self.state.second.projection_of(&cloud);
        // The query file is drawn with the cloud that it belongs to.
        let record = self.session.record.as_ref().filter(|_| second.other.is_none());
        let queries = record.and_then(|record| record.query_cloud.clone());
        let shown = second.projected.as_ref().filter(|shown| Arc::ptr_eq(&shown.data.cloud, &cloud));
        let is_shown = |view| shown.is_some_and(|shown| is_of(shown, view, queries.as_ref()));
        if wanted.map_or(shown.is_none(), is_shown) {
            self.jobs.stop(&PROJECT);
            if wanted.is_none() && self.state.second.plane.axes.iter().any(|&axis| axis >= cloud.dims()) {
                self.show_second(None, [0, 1]);
            }
            return;
        }
        match wanted {
            None => self.show_second(None, [0, 1]),
            // The first view's projection, along other axes.
            Some(view) if second.other.is_none() && view == self.state.projection => {
                let first =
                    self.session.projected.clone().filter(|first| is_of(first, view, queries.as_ref()));
                if first.is_some() {
                    self.show_second(first, [0, 2]);
                }
            }
            Some(view) => {
                let is_asked =
                    |(asked, with): &ProjectionOf| *asked == view && same(with.as_ref(), queries.as_ref());
                if !self.jobs.params(&PROJECT).is_some_and(is_asked) {
                    self.jobs.start(&PROJECT, (view, queries.clone()), move |progress| {
                        CloudProjection::new(view, cloud, queries, progress)
                    });
                }
            }
        }
    }

    /// Shows a projection, or the axes of the cloud; another projection starts along `axes`.
    fn show_second(&mut self, projected: Option<Arc<CloudProjection>>, axes: [usize; 2]) {
        let before = self.session.second.projected.take().map(|before| before.view);
        let is_same = before.is_some() && before == projected.as_ref().map(|projected| projected.view);
        self.session.second.projected = projected;
        if !is_same {
            self.state.second.plane = PlaneView { axes, window: None, ..self.state.second.plane };
        }
    }

    fn second_projected(&mut self, _: ProjectionOf, outcome: Outcome<Result<CloudProjection, CloudError>>) {
        match self.done("second view", outcome) {
            Some(Ok(projected)) => return self.show_second(Some(Arc::new(projected)), [0, 1]),
            Some(Err(CloudError::Cancelled)) => self.session.log.info("cancelled"),
            Some(Err(why)) => self.session.log.error(Subject::Projection, format!("cannot project: {why}")),
            None => {}
        }
        self.state.second.projection.kind = ProjectionKind::Axes;
    }

    /// Searches the picked row in the other file with k and metric of its answer in the first.
    fn want_second_answer(&mut self) {
        let second = &self.session.second;
        let (Some(other), Some(PickedPoint::Row(row))) = (second.other.clone(), self.session.picked) else {
            self.session.second.answered = None;
            return;
        };
        let Some(here) = self.session.answered.clone().filter(|here| here.row() == row) else { return };
        // A dragged query changes its row too often.
        if row as usize >= other.len() || self.session.live.is_held() || here.record.query_cloud.is_some() {
            return;
        }
        // Invalid fields show their own errors.
        let Ok(mut spec) = self.question(&other, QuerySpec::Rows(vec![other.record(row as usize)])) else {
            return;
        };
        (spec.engine, spec.device) = (EngineChoice::Auto, None);
        let RunSpec { k, metric, order, exclude_self, .. } = here.record.spec;
        (spec.k, spec.metric, spec.order, spec.exclude_self) = (k, metric, order, exclude_self);
        let same = |known: &RunSpec| same_question(known, &spec) && known.queries == spec.queries;
        if second.answered.as_ref().is_some_and(|(known, _)| same(known)) {
            return self.want_second_columns();
        }
        // The newest row waits for the running search.
        if self.jobs.has(&ANSWER) {
            return;
        }
        let (asked, points) = (spec.clone(), self.handles.second_points.clone());
        self.jobs.start(&ANSWER, spec, move |progress| {
            CloudSearch { cloud: other, spec: asked }.answer_unless_cancelled(&points, progress)
        });
    }

    fn second_answered(&mut self, spec: RunSpec, outcome: Outcome<Result<Option<Arc<RunRecord>>, String>>) {
        let answered = match self.done("second view", outcome) {
            Some(Ok(Some(record))) => Ok(record),
            Some(Ok(None)) => Err("Cancelled.".to_owned()),
            Some(Err(why)) => Err(why),
            None => Err("Not answered.".to_owned()),
        };
        self.session.second.answered = Some((spec, answered));
    }

    fn want_second_columns(&mut self) {
        let answer = self.session.second.answer_to(self.session.picked);
        let (Some(answer), Some(cloud)) = (answer, self.session.cloud.clone()) else {
            return;
        };
        let rows = answer.rows_to_look_up();
        let second = &mut self.session.second;
        if second.columns.as_ref().is_some_and(|known| known.is_of(&cloud, &rows)) {
            return;
        }
        second.columns = None;
        if let Some(found) = self.handles.second_lookup.known(&cloud, &rows) {
            second.columns = Some(ExtraColumns { found: Arc::clone(found), cloud, rows });
        } else if let Some(asked) = self.handles.second_lookup.ask(&cloud, &rows) {
            self.jobs.start(&COLUMNS, asked.clone(), move |progress| asked.read(progress));
        }
    }
}

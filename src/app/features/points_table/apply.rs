//! Reads the cells of visible points, and sorts and filters all points, in the background.

use std::sync::Arc;

use super::state::PointsTable;
use crate::app::context::app::{App, Feature};
use crate::app::features::picking::lookup::{Lookup, LookupRequest, all_rows};
use crate::app::features::picking::state::{ExtraColumns, RowColumns};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{SHOWN_AFTER, TableView};
use crate::app::panes::rows::{RowsTable, columns_of};
use crate::app::prelude::*;
use crate::cloud::PointCloud;
use crate::cloud::formats::{Cell, FormatError};
use crate::progress::Progress;

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::SetTable(pane, view) => drop(app.session.tables.insert(pane, *view)),
            Action::ShowPoints(visible) => app.session.points.visible = visible,
            other => return Some(other),
        }
        None
    },
    update: App::want_points,
    leave_cloud: |app, _| {
        app.jobs.stop(&WHOLE);
        app.jobs.stop(&ORDER);
        app.jobs.stop(&PAGE);
        app.handles.point_lookup = Lookup::default();
        app.session.points = PointsTable::default();
        app.session.tables.remove(&PaneKind::Points);
        // Conditions on neighbours name columns of this file.
        app.session.tables.remove(&PaneKind::Neighbors);
    },
    ..Feature::NONE
};

/// The other columns of visible points.
static PAGE: TaskKind<App, LookupRequest, Result<RowColumns, FormatError>> =
    TaskKind::new(TaskPurpose::PointColumns, "points", App::page_read);

/// The cells of a column by row of the cloud, or why rows are missing.
type ColumnCells = Result<Vec<Cell>, String>;

/// A column that orders or selects points.
static WHOLE: TaskKind<App, String, Result<ColumnCells, FormatError>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |name, fraction| Some(Activity::Preparing { what: format!("Reading column {name}"), fraction }),
    ..TaskKind::new(TaskPurpose::Order, "column", App::column_read)
};

/// The points that meet the conditions of a view, in its order; `None` if cancelled.
static ORDER: TaskKind<App, TableView, Option<Vec<u32>>> = TaskKind {
    shown_after: SHOWN_AFTER,
    purpose: |_, fraction| Some(Activity::Preparing { what: "Sorting points".to_owned(), fraction }),
    ..TaskKind::new(TaskPurpose::Order, "order", App::ordered)
};

impl App {
    /// Starts what the visible table lacks.
    fn want_points(&mut self) {
        let Some(cloud) =
            self.session.cloud.clone().filter(|_| self.pane_rects.contains_key(&PaneKind::Points))
        else {
            return;
        };
        self.want_order(&cloud);
        let points = &self.session.points;
        let rows = points.wanted(cloud.len());
        if rows.is_empty() || points.page.as_ref().is_some_and(|page| page.is_of(&cloud, &rows)) {
            return;
        }
        if let Some(found) = self.handles.point_lookup.known(&cloud, &rows) {
            let found = Arc::clone(found);
            self.session.points.page = Some(ExtraColumns { cloud, rows, found });
        } else if let Some(asked) = self.handles.point_lookup.ask(&cloud, &rows) {
            self.jobs.start(&PAGE, asked.clone(), move |progress| asked.read(progress));
        }
    }

    fn page_read(&mut self, asked: LookupRequest, outcome: Outcome<Result<RowColumns, FormatError>>) {
        self.handles.point_lookup.take(&asked, outcome);
    }

    /// Starts reading a whole column, or sorting, if the view needs it.
    fn want_order(&mut self, cloud: &Arc<PointCloud>) {
        let view = self.session.table(PaneKind::Points).of_rows();
        let points = &mut self.session.points;
        // Columns that neither sort nor filter need no memory; a failed one can be tried again.
        points.whole.retain(|name, _| view.keys().any(|key| key == name));
        if view.keys().next().is_none() {
            points.ordered = None;
            self.jobs.stop(&ORDER);
            return;
        }
        if points.ordered.as_ref().is_some_and(|(known, _)| *known == view) {
            return;
        }
        let is_other = |name: &&str| {
            let others = points.page.as_ref().and_then(ExtraColumns::cells);
            others.is_some_and(|others| others.columns.iter().any(|other| other == name))
        };
        let missing = view.keys().filter(is_other).find(|name| !points.whole.contains_key(*name));
        if let Some(name) = missing.map(str::to_owned) {
            if self.jobs.params_mut(&WHOLE).is_none_or(|reading| *reading != name) {
                let (cloud, headings) = (Arc::clone(cloud), [name.clone()]);
                self.jobs.start(&WHOLE, name, move |progress| whole_column(&cloud, &headings, progress));
            }
            return;
        }
        if self.jobs.params_mut(&ORDER).is_some_and(|ordering| *ordering == view) {
            return;
        }
        let (page, whole) = (self.session.points.page.clone(), self.session.points.whole.clone());
        let (cloud, roles, asked) = (Arc::clone(cloud), self.session.roles.clone(), view.clone());
        self.jobs.start(&ORDER, view, move |progress| {
            let columns = columns_of(&roles, &cloud, None, page.as_ref());
            let table = RowsTable::new(&cloud, None, (None, false), &whole, columns, &asked);
            let rows = table.items(&asked, || progress.cancelled());
            (!progress.cancelled()).then_some(rows)
        });
    }

    fn column_read(&mut self, name: String, outcome: Outcome<Result<ColumnCells, FormatError>>) {
        let read = match outcome {
            Ok(Err(FormatError::Cancelled)) => return self.show_all_points(),
            Ok(read) => read.map_err(|why| why.to_string()).flatten(),
            Err(stopped) => Err(stopped.to_string()),
        };
        self.session.points.whole.insert(name, Arc::new(read));
    }

    fn ordered(&mut self, view: TableView, rows: Outcome<Option<Vec<u32>>>) {
        match self.done("order", rows).flatten() {
            Some(rows) => self.session.points.ordered = Some((view, Arc::new(rows))),
            None => self.show_all_points(),
        }
    }

    /// Restores the order of the file, because sorting was cancelled.
    fn show_all_points(&mut self) {
        if let Some(view) = self.session.tables.get_mut(&PaneKind::Points) {
            (view.sort, view.filters) = Default::default();
        }
    }
}

/// Reads a whole column of the file.
fn whole_column(
    cloud: &PointCloud,
    headings: &[String],
    progress: &dyn Progress,
) -> Result<ColumnCells, FormatError> {
    let mut all = Vec::with_capacity(cloud.len());
    let why = all_rows(cloud, headings, false, progress, &mut |rows| {
        progress.update(all.len() as u64, cloud.len() as u64);
        all.extend(rows.into_iter().map(|mut cells| cells.pop().unwrap_or(Cell::Missing)));
    })?;
    Ok(why.map_or(Ok(all), Err))
}

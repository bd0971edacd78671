//! Computes projections in the background, and caches them for the shown cloud.

use std::sync::Arc;

use super::ProjectionCache;
use super::state::{CloudProjection, ProjectionKind, ProjectionView};
use crate::app::context::app::{App, Feature};
use crate::app::jobs::table::{TaskKind, TaskPurpose};
use crate::app::jobs::task::Outcome;
use crate::app::model::{PlaneView, SpaceView};
use crate::app::prelude::*;
use crate::cloud::{CloudError, PointCloud};

/// Maximum number of cached projections: each uses 12 bytes per point.
const MAX_CACHED: usize = 2;

/// Whether this is a view's projection of a cloud with its query file, if any.
pub fn is_of(projected: &CloudProjection, view: ProjectionView, queries: Option<&Arc<PointCloud>>) -> bool {
    projected.view == view && same(projected.queries.as_ref().map(|queries| &queries.cloud), queries)
}

/// Whether two clouds are identical, or both missing.
pub fn same(a: Option<&Arc<PointCloud>>, b: Option<&Arc<PointCloud>>) -> bool {
    a.map(Arc::as_ptr) == b.map(Arc::as_ptr)
}

pub static FEATURE: Feature = Feature {
    apply: |app, action| {
        match action {
            Action::SetProjection(view) => app.choose_projection(view),
            other => return Some(other),
        }
        None
    },
    update: App::want_projection,
    leave_cloud: |app, cloud| {
        app.jobs.stop(&PROJECT);
        (app.session.projected, app.handles.projecting) = (None, ProjectionCache::default());
        // A cloud with up to three dimensions needs no projection.
        if !app.shows(cloud) && cloud.dims() <= 3 {
            app.state.projection.kind = ProjectionKind::Axes;
        }
    },
    ..Feature::NONE
};

pub static PROJECT: TaskKind<App, ProjectionOf, Result<CloudProjection, CloudError>> = TaskKind {
    purpose: |(view, _), fraction| {
        let what = match view.kind {
            ProjectionKind::Random => "Projecting on random directions",
            ProjectionKind::Axes | ProjectionKind::Pca => "Finding principal components",
        };
        Some(Activity::Preparing { what: what.to_owned(), fraction })
    },
    ..TaskKind::new(TaskPurpose::Project, "project", App::projected)
};

/// The chosen projection, and the query file that is projected with the cloud.
pub type ProjectionOf = (ProjectionView, Option<Arc<PointCloud>>);

impl App {
    /// The views of Plane and Space after the chosen projection is shown.
    pub(in crate::app) fn views(&self) -> (PlaneView, SpaceView) {
        let (plane, space) = (self.state.plane, self.state.space);
        self.handles.projecting.awaited.map_or((plane, space), |(to_plane, to_space)| {
            (plane.with_position_of(&to_plane), space.with_position_of(&to_space))
        })
    }

    /// Sets the views of Plane and Space. While the chosen projection is pending, axes and position wait for
    /// it, because axes refer to its directions.
    pub(in crate::app) fn set_views(&mut self, plane: PlaneView, space: SpaceView) {
        let shown = self.session.projected.as_ref().map(|shown| shown.view);
        if shown == self.wanted_projection() {
            self.handles.projecting.awaited = None;
            (self.state.plane, self.state.space) = (plane, space);
        } else {
            self.handles.projecting.awaited = Some((plane, space));
            // Switches apply at once; only axes and position wait.
            self.state.plane = plane.with_position_of(&self.state.plane);
            self.state.space = space.with_position_of(&self.state.space);
        }
    }

    /// Runs `show`, which shows the same points reloaded, and restores the views.
    pub(in crate::app) fn keeping_views(&mut self, show: impl FnOnce(&mut Self)) {
        let (plane, space) = self.views();
        let axes = self.handles.projecting.axes;
        show(self);
        if let Some((of_plane, of_space)) = axes {
            (self.state.plane.axes, self.state.space.axes) = (of_plane, of_space);
        }
        self.set_views(plane, space);
    }

    /// The chosen projection, if the cloud can be projected.
    fn wanted_projection(&self) -> Option<ProjectionView> {
        let view = self.state.projection;
        (view.kind != ProjectionKind::Axes
            && self.session.cloud.as_ref().is_some_and(|cloud| cloud.dims() >= 3))
        .then_some(view)
    }

    pub(in crate::app) fn choose_projection(&mut self, view: ProjectionView) {
        self.handles.projecting.awaited = None;
        self.state.projection = view;
    }

    /// Shows the chosen projection, and starts computing it if necessary.
    fn want_projection(&mut self) {
        let Some(cloud) = self.session.cloud.clone() else { return };
        let Some(view) = self.wanted_projection() else {
            self.jobs.stop(&PROJECT);
            self.show_projection(None);
            return;
        };
        let queries = self.session.record.as_ref().and_then(|record| record.query_cloud.clone());
        if self.session.projected.as_ref().is_some_and(|shown| is_of(shown, view, queries.as_ref())) {
            return;
        }
        if let Some(cached) =
            self.handles.projecting.cached.iter().find(|known| is_of(known, view, queries.as_ref())).cloned()
        {
            self.jobs.stop(&PROJECT);
            return self.show_projection(Some(cached));
        }
        if self
            .jobs
            .params(&PROJECT)
            .is_some_and(|(of, with)| *of == view && same(with.as_ref(), queries.as_ref()))
        {
            return;
        }
        let directions = self.handles.projecting.cached.iter().find(|cached| cached.view == view).cloned();
        let asked = queries.clone();
        self.jobs.start(&PROJECT, (view, queries), move |progress| match directions {
            Some(directions) => directions.with_queries(asked, progress),
            None => CloudProjection::new(view, cloud, asked, progress),
        });
    }

    fn projected(&mut self, _: ProjectionOf, outcome: Outcome<Result<CloudProjection, CloudError>>) {
        let cached = &mut self.handles.projecting.cached;
        match outcome {
            Ok(Ok(projected)) => {
                cached.retain(|cached| cached.view != projected.view);
                cached.insert(0, Arc::new(projected));
                cached.truncate(MAX_CACHED);
                self.session.log.resolve(Subject::Projection);
            }
            Ok(Err(CloudError::Cancelled)) => {
                self.session.log.info("cancelled");
                self.back_to_shown();
            }
            Ok(Err(why)) => self.give_up(format!("cannot project: {why}")),
            Err(stopped) => self.give_up(format!("cannot project: {stopped}")),
        }
    }

    fn give_up(&mut self, why: String) {
        self.session.log.error(Subject::Projection, why);
        self.back_to_shown();
    }

    /// Resets the choice to the projection shown.
    fn back_to_shown(&mut self) {
        self.handles.projecting.awaited = None;
        self.state.projection =
            self.session.projected.as_ref().map_or_else(ProjectionView::default, |shown| shown.view);
    }

    /// Shows a projection or axes; switching back to axes restores the previous ones.
    fn show_projection(&mut self, projected: Option<Arc<CloudProjection>>) {
        let before = self.session.projected.as_ref().map(|shown| shown.view);
        let after = projected.as_ref().map(|shown| shown.view);
        self.session.projected = projected;
        if before == after {
            return;
        }
        // The views follow the projection: not an undo step.
        self.history.skip();
        let (plane, space) = (&mut self.state.plane, &mut self.state.space);
        let axes = &mut self.handles.projecting.axes;
        match (before, after) {
            (None, Some(_)) => {
                *axes = Some((plane.axes, space.axes));
                (plane.axes, space.axes) = ([0, 1], [0, 1, 2]);
            }
            (Some(_), None) => (plane.axes, space.axes) = axes.take().unwrap_or(([0, 1], [0, 1, 2])),
            _ => {}
        }
        plane.window = None;
        let fresh = SpaceView::default();
        (space.target, space.distance) = (fresh.target, fresh.distance);
        if let Some((to_plane, to_space)) = self.handles.projecting.awaited.take() {
            (*plane, *space) = (plane.with_position_of(&to_plane), space.with_position_of(&to_space));
        }
    }
}

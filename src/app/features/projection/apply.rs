//! Projections are worked out on a thread, and kept while their cloud is shown.

use std::sync::Arc;

use super::Projecting;
use super::state::{Projected, ProjectionKind, ProjectionView};
use crate::app::context::app::{App, Feature};
use crate::app::jobs::table::{Kind, Slot};
use crate::app::jobs::task::Outcome;
use crate::app::model::{PlaneView, SpaceView};
use crate::app::prelude::*;
use crate::cloud::{CloudError, PointCloud};

/// Projections that are kept at most: each is 12 bytes a point.
const KEPT: usize = 2;

fn is_of(projected: &Projected, view: ProjectionView, queries: Option<&Arc<PointCloud>>) -> bool {
    projected.view == view && same(projected.queries.as_ref().map(|queries| &queries.cloud), queries)
}

/// Whether two clouds are one, or neither is there.
fn same(a: Option<&Arc<PointCloud>>, b: Option<&Arc<PointCloud>>) -> bool {
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
        (app.session.projected, app.handles.projecting) = (None, Projecting::default());
        // A cloud that its own axes show whole needs none.
        if !app.shows(cloud) && cloud.dims() <= 3 {
            app.state.projection.kind = ProjectionKind::Axes;
        }
    },
    ..Feature::NONE
};

pub static PROJECT: Kind<App, ProjectionOf, Result<Projected, CloudError>> = Kind {
    purpose: |(view, _), fraction| {
        let what = match view.kind {
            ProjectionKind::Random => "Projecting on random directions",
            ProjectionKind::Axes | ProjectionKind::Pca => "Finding principal components",
        };
        Some(Activity::Preparing { what: what.to_owned(), fraction })
    },
    ..Kind::new(Slot::Project, "project", App::projected)
};

/// What is chosen, and the file of queries that is projected along with the cloud.
pub type ProjectionOf = (ProjectionView, Option<Arc<PointCloud>>);

impl App {
    /// The views of Plane and Space, as they will be once the chosen projection is shown.
    pub(in crate::app) fn views(&self) -> (PlaneView, SpaceView) {
        let (plane, space) = (self.state.plane, self.state.space);
        self.handles.projecting.awaited.map_or((plane, space), |(to_plane, to_space)| {
            (plane.looking(&to_plane), space.looking(&to_space))
        })
    }

    /// Has Plane and Space look so: now, or once the chosen projection, whose directions the axes are, is
    /// shown.
    pub(in crate::app) fn set_views(&mut self, plane: PlaneView, space: SpaceView) {
        let shown = self.session.projected.as_ref().map(|shown| shown.view);
        if shown == self.wanted_projection() {
            self.handles.projecting.awaited = None;
            (self.state.plane, self.state.space) = (plane, space);
        } else {
            self.handles.projecting.awaited = Some((plane, space));
            // What is switched is switched at once; only where they look waits.
            self.state.plane = plane.looking(&self.state.plane);
            self.state.space = space.looking(&self.state.space);
        }
    }

    /// Shows the same points, read again, as they were shown: `show` shows them.
    pub(in crate::app) fn keeping_views(&mut self, show: impl FnOnce(&mut Self)) {
        let (plane, space) = self.views();
        let axes = self.handles.projecting.axes;
        show(self);
        if let Some((of_plane, of_space)) = axes {
            (self.state.plane.axes, self.state.space.axes) = (of_plane, of_space);
        }
        self.set_views(plane, space);
    }

    /// The projection that is chosen, where the cloud can be projected.
    fn wanted_projection(&self) -> Option<ProjectionView> {
        let view = self.state.projection;
        (view.kind != ProjectionKind::Axes
            && self.session.cloud.as_ref().is_some_and(|cloud| cloud.dims() >= 3))
        .then_some(view)
    }

    /// Another projection is chosen.
    pub(in crate::app) fn choose_projection(&mut self, view: ProjectionView) {
        self.handles.projecting.awaited = None;
        self.state.projection = view;
    }

    /// Shows what is chosen once it is there, and has it worked out where it is not.
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
        if let Some(kept) =
            self.handles.projecting.kept.iter().find(|kept| is_of(kept, view, queries.as_ref())).cloned()
        {
            self.jobs.stop(&PROJECT);
            return self.show_projection(Some(kept));
        }
        if self
            .jobs
            .about(&PROJECT)
            .is_some_and(|(of, with)| *of == view && same(with.as_ref(), queries.as_ref()))
        {
            return;
        }
        let directions = self.handles.projecting.kept.iter().find(|kept| kept.view == view).cloned();
        let asked = queries.clone();
        self.jobs.start(&PROJECT, (view, queries), move |progress| match directions {
            Some(directions) => directions.with_queries(asked, progress),
            None => Projected::new(view, cloud, asked, progress),
        });
    }

    /// A projection is worked out.
    fn projected(&mut self, _: ProjectionOf, outcome: Outcome<Result<Projected, CloudError>>) {
        let kept = &mut self.handles.projecting.kept;
        match outcome {
            Ok(Ok(projected)) => {
                kept.retain(|kept| kept.view != projected.view);
                kept.insert(0, Arc::new(projected));
                kept.truncate(KEPT);
                self.session.log.settle(About::Projection);
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
        self.session.log.error(About::Projection, why);
        self.back_to_shown();
    }

    /// Back to what is shown.
    fn back_to_shown(&mut self) {
        self.handles.projecting.awaited = None;
        self.state.projection =
            self.session.projected.as_ref().map_or_else(ProjectionView::default, |shown| shown.view);
    }

    /// Shows a projection, or axes; those that were shown before come back.
    fn show_projection(&mut self, projected: Option<Arc<Projected>>) {
        let before = self.session.projected.as_ref().map(|shown| shown.view);
        let after = projected.as_ref().map(|shown| shown.view);
        self.session.projected = projected;
        if before == after {
            return;
        }
        // The views follow the projection: not a step for undo.
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
            (*plane, *space) = (plane.looking(&to_plane), space.looking(&to_space));
        }
    }
}

//! What happens in each frame before anything is drawn: events of the worker, of loads and of threads.

use crate::app::context::app::App;
use crate::app::features::table::FEATURES;
use crate::app::model::Activity;
use crate::cloud::PointCloud;

impl App {
    /// Takes in what was done in the background, and has done what is wanted now.
    pub(in crate::app) fn poll(&mut self) {
        while let Some(said) = self.jobs.next() {
            said(self);
        }
        for feature in FEATURES {
            (feature.update)(self);
        }
        let (named, later) = self.jobs.activity(&self.session);
        if let Some(later) = later {
            // Anew in each frame: a window keeps only the nearest time that it was asked for, and forgets the rest.
            self.handles.ctx.request_repaint_after(later);
        }
        self.session.activity = named.map_or(Activity::Idle, |(_, activity)| activity);
    }

    /// Tells the features of the cloud that takes the place of the one that is still shown.
    pub(in crate::app) fn leave_cloud(&mut self, to: &PointCloud) {
        for feature in FEATURES {
            (feature.leave_cloud)(self, to);
        }
    }

    /// Tells the features that it is shown.
    pub(in crate::app) fn enter_cloud(&mut self) {
        for feature in FEATURES {
            (feature.enter_cloud)(self);
        }
    }

    /// How many background tasks are under way, also short ones; without runs and asks.
    pub fn tasks(&self) -> usize {
        self.jobs.tasks()
    }
}

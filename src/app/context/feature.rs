//! A feature as the shell sees it.

use egui::Ui;

use crate::app::context::app::App;
use crate::app::look::Palette;
use crate::app::model::Action;
use crate::cloud::PointCloud;

/// A row of the table of features. The shell goes through the table, and knows none of them.
pub struct Feature {
    /// Carries out an action, or gives back one that is not the feature's.
    pub apply: fn(&mut App, Action) -> Option<Action>,
    /// Starts work that is wanted now: once a frame, before anything is drawn.
    pub update: fn(&mut App),
    /// Forgets what belongs to the cloud that is still in the session: this one takes its place.
    pub leave_cloud: fn(&mut App, &PointCloud),
    /// Takes up the cloud that is shown now.
    pub enter_cloud: fn(&mut App),
    /// Draws the feature's dialogs, over everything else.
    pub dialogs: fn(&mut App, &Ui, &Palette),
}

impl Feature {
    /// A feature that does nothing: what rows begin with.
    pub const NONE: Self =
        Self { apply: |_, action| Some(action), update: |_| {}, leave_cloud: |_, _| {}, enter_cloud: |_| {}, dialogs: |_, _, _| {} };
}

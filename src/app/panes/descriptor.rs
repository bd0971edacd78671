//! What a pane is to the tiles that hold it: one value, in the pane's own file.

use egui::Ui;

use crate::app::features::export::PaneData;
use crate::app::features::export::state::ExportKind;
use crate::app::features::picking::lookup::Lookup;
use crate::app::gpu::Gpu;
use crate::app::look::tokens::Palette;
use crate::app::model::{Actions, PaneKind, Session, State};

/// A pane: with [`PaneKind::words`], all that the rest of the window knows of it.
pub struct Pane {
    pub kind: PaneKind,
    pub draw: fn(&mut Ui, &mut PaneContext<'_>),
    /// What its export writes; `None` while there is nothing.
    pub data: fn(&Session) -> Option<PaneData>,
    /// What its menu exports beside its data and its picture.
    pub more: &'static [More],
}

/// An entry of a pane's export menu.
pub struct More {
    pub kind: ExportKind,
    /// As the menu says it.
    pub text: &'static str,
    /// What it is, where the text does not say it.
    pub about: &'static str,
}

/// What a pane reads, and where it asks for changes.
pub struct PaneContext<'a> {
    pub state: &'a State,
    pub session: &'a Session,
    /// The points on the GPU; `None` where nothing is drawn.
    pub gpu: Option<&'a mut Gpu>,
    /// What files have of points beside their coordinates.
    pub lookup: &'a Lookup,
    pub palette: &'static Palette,
    pub actions: &'a mut Actions,
}

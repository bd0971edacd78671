//! What is asked of runs and recordings.

use crate::app::model::runs::RunsView;
use crate::app::model::runs::list::RunId;

/// What the pane asks for.
#[derive(Clone, Debug)]
pub enum RunsAction {
    /// A run is to be shown in all panes.
    Show(RunId),
    /// It stays when the list gets long, or not.
    Pin(RunId, bool),
    /// A name is being typed; `None` leaves the old one.
    Rename(Option<(RunId, String)>),
    /// The name is to be taken as it is typed.
    TakeName,
    /// It is to be taken out of the list.
    Delete(RunId),
    /// What was deleted last is to come back.
    Undelete,
    /// It is to be compared, or no more.
    Choose(RunId),
    /// Exchanges A and B of the comparison.
    Swap,
    /// Nothing is to be compared.
    ChooseNone,
    SetView(RunsView),
}

//! What happens once a cloud is loaded.

use crate::app::features::saved::state::SavedSession;
use crate::run::RunSpec;

/// What happens after a load.
#[derive(Clone, Debug)]
pub enum Then {
    Show,
    /// It is shown, and this is run.
    Run(RunSpec),
    /// It holds the queries of this.
    RunQueries(RunSpec),
    /// It is shown, and this session is restored.
    Resume(Box<SavedSession>),
}
